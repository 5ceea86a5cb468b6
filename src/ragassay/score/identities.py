"""The five identities of a run, part by part: its value, that there is none, or that nobody recorded it. Scores none.

Benchmark, retrieval, generation, evaluation, and the trace of each question. What a system could have reported and did
not is *unrecorded*; it is counted, shown, and a policy may refuse it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from ragassay.records.canonical import digest_of, digest_set
from ragassay.records.case import Benchmark, Case
from ragassay.records.document import Segmentation
from ragassay.records.judgement import JudgeIdentity, JudgementSet
from ragassay.records.policy import IdentityName
from ragassay.records.protocol import Envelope, Run, Stated, Subject, SystemIdentity
from ragassay.records.score import ScoreTable
from ragassay.records.text import many
from ragassay.records.trace import Item, Measurements, TraceContent
from ragassay.store import Store

NOT_SAID = "the system does not say"
OWN = frozenset({"reference", "pipeline"})
"""Adapters of this package, which say all that they do: what they do not name, they do not have."""
KEYS: Mapping[str, tuple[str, ...]] = {
    "index": ("index", "index_id", "index_version"),
    "index built at": ("index_built_at", "index_build_time"),
    "embedding model": ("embedding_model", "embedder"),
    "chunking": ("chunking", "chunker"),
    "filters": ("filters", "filter", "where"),
    "reranker": ("reranker", "rerank"),
    "tools": ("tools",),
    "tenant scope": ("tenant_scope",),
}
"""Part -> names under which a system may declare it: in its settings, or in the `versions` of a response."""
_PROMPTED = frozenset({"prompt", "sampling"})
_LISTS = frozenset({"lexical", "vector", "fetch", "fuse", "rerank", "dedup", "assemble"})
"""Steps whose work is a list; a tool, a guard or a mark of a citation may have none."""
_HANDS_ON = frozenset({"dedup", "assemble", "guard", "cite"})
"""Steps that hand items on as they are: what they were ranked by was said before."""


class Part(NamedTuple):
    """One part of an identity. `told` is its value, or why there is none, or what was not recorded."""

    name: str
    state: Literal["recorded", "none", "unrecorded"]
    told: str


class Identity(NamedTuple):
    """One of the five."""

    name: IdentityName
    parts: tuple[Part, ...]

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """The names of its parts that nobody recorded."""
        return tuple(one.name for one in self.parts if one.state == "unrecorded")


class Judged(NamedTuple):
    """A judge whose verdicts a score table reads."""

    verdicts: JudgementSet
    judge: JudgeIdentity


class Reported:
    """What the traces of a run say, counted one by one; failed questions are not held against the system."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self.traces = 0
        self.scoped = 0
        self.has: Counter[str] = Counter()
        self.versions: dict[str, set[str]] = {}
        self.kinds: set[str] = set()
        self._with_principal = {one.query_id for one in cases if one.principal is not None}

    def add(self, content: TraceContent, measured: Measurements | None) -> None:
        """One question."""
        if content.failure is not None:
            return
        self.traces += 1
        scoped = content.query_id in self._with_principal
        self.scoped += scoped
        for key, value in content.versions.items():
            self.versions.setdefault(key, set()).add(value)
        self.kinds |= {one.kind for one in content.steps}
        silent = any(one.items_out is None and one.error is None and one.kind in _LISTS for one in content.steps)
        lists: list[tuple[Item, ...] | None] = [one.items_out for one in content.steps if one.items_out is not None]
        lists = lists or [content.context]
        ranked = [one.items_out for one in content.steps if one.items_out is not None and one.kind not in _HANDS_ON]
        answer = content.answer
        self.has.update(
            name
            for name, there in (
                ("steps", None not in lists and not silent),
                ("scores", all(one is not None and _scored(one) for one in ranked or lists)),
                ("filters", any(one.filter is not None for one in content.steps)),
                ("answer", answer is not None),
                ("citations", answer is not None and answer.citations is not None),
                ("principal", scoped and any(one.principal_seen is not None for one in content.steps)),
                ("access", scoped and _access(content)),
                ("latency", measured is not None and measured.latency_ms is not None),
            )
            if there
        )


def _scored(items: Sequence[Item]) -> bool:
    return all(one.score is not None for one in items)


def _access(content: TraceContent) -> bool:
    """Whether it says who was let in: by item, by step, or in its context."""
    items = [one for step in content.steps for one in step.items_out or ()] + list(content.context or ())
    seen = any(step.principal_seen is not None or step.credential_status is not None for step in content.steps)
    return seen or any(one.access is not None for one in items)


def identities(
    *,
    subject: Subject,
    benchmark: Benchmark,
    cases: Sequence[Case],
    envelope: Envelope,
    segmentation: Segmentation | None,
    reported: Reported,
    judges: Sequence[Judged] = (),
    verdicts: bool | None = None,
) -> tuple[Identity, ...]:
    """The five identities of a run. `verdicts`: whether a decision gave each question one; None: it is being made."""
    system = _retrieving(subject.system)
    return (
        Identity("benchmark", tuple(_benchmark(subject, benchmark, cases))),
        Identity("retrieval", tuple(_retrieval(subject, system, envelope, segmentation, reported))),
        Identity("generation", tuple(_generation(subject.system, reported))),
        Identity("evaluation", tuple(_evaluation(judges))),
        Identity("trace", tuple(_trace(reported, verdicts))),
    )


def of_table(store: Store, table: ScoreTable, *, cases: Sequence[Case], benchmark: Benchmark) -> tuple[Identity, ...]:
    """The five identities of the run of a score table, read from the store, for the decision that is being made."""
    from ragassay.records.protocol import Protocol

    run = store.get_record(Run, table.run_record)
    protocol = store.get_record(Protocol, run.protocol)
    cut = protocol.objects.get("segmentation")
    reported = Reported(cases)
    pairs = zip(
        store.get_lines(TraceContent, run.contents), store.get_lines(Measurements, run.measurements), strict=True
    )
    for content, measured in pairs:
        reported.add(content, measured)
    return identities(
        subject=store.get_record(Subject, run.subject),
        benchmark=benchmark,
        cases=cases,
        envelope=store.get_record(Envelope, run.envelope),
        segmentation=None if cut is None else store.get_record(Segmentation, cut),
        reported=reported,
        judges=judges_of(store, table),
    )


def judges_of(store: Store, table: ScoreTable) -> tuple[Judged, ...]:
    """The judges whose verdicts a score table reads, by name."""
    sets = [store.get_record(JudgementSet, digest) for _, digest in sorted(table.judged.items())]
    return tuple(Judged(one, store.get_record(JudgeIdentity, one.judge)) for one in sets)


def _benchmark(subject: Subject, benchmark: Benchmark, cases: Sequence[Case]) -> Iterator[Part]:
    yield Part("query set", "recorded", f"{benchmark.name} {benchmark.version}, {subject.benchmark}")
    yield Part("corpus", "recorded", subject.corpus)
    labels = digest_set(digest_of([one.query_id, one.evidence or "absent", one.facts]) for one in cases)
    yield Part("labels", "recorded", labels)
    silent = sum(bool(one.evidence) and not labelled_by(one) for one in cases)
    labelled = sum(bool(one.evidence) for one in cases)
    if silent:
        yield Part("who labelled", "unrecorded", f"{silent:,} of {many(labelled, 'labelled question')} do not say")
    elif labelled:
        kinds = Counter(kind for one in cases for kind in labelled_by(one))
        yield Part("who labelled", "recorded", ", ".join(f"{kind}" for kind, _ in sorted(kinds.items())))
    else:
        yield Part("who labelled", "none", "no question is labelled")
    if benchmark.rubric.grades:
        yield Part("rubric", "recorded", f"{benchmark.rubric.name}, {digest_of(benchmark.rubric)}")
    else:
        yield Part("rubric", "unrecorded", f"{benchmark.rubric.name}: what the grades mean is not said")


def labelled_by(case: Case) -> set[str]:
    """Who labelled a case: its own word, else that of each of its labels; nobody if one of them says nothing."""
    if case.label is not None:
        return {case.label.kind}
    said = [one.provenance.kind if one.provenance is not None else None for one in case.evidence or ()]
    return {one for one in said if one is not None} if None not in said else set()


def _retrieving(system: SystemIdentity) -> SystemIdentity:
    """The system that finds: of a chat, the one behind it."""
    nested = system.settings.get("retrieval")
    try:
        return msgspec.json.decode(str(nested), type=SystemIdentity) if nested is not None else system
    except (msgspec.MsgspecError, RecursionError):
        return system


def _retrieval(
    subject: Subject, system: SystemIdentity, envelope: Envelope, cut: Segmentation | None, reported: Reported
) -> Iterator[Part]:
    own = system.adapter in OWN
    yield _stated("retriever", system.retriever, reported, ("retriever", "retriever_version"))
    built = envelope.indexes
    if built:
        ids = "; ".join(f"{one.step or 'vectors'} {one.content.index}" for one in built)
        yield Part("index", "recorded", ids)
        yield Part("index built at", "recorded", ", ".join(dict.fromkeys(one.envelope.built_at for one in built)))
        yield Part("embedding model", "recorded", ", ".join(dict.fromkeys(one.content.embedder for one in built)))
    elif own and cut is not None:
        yield Part("index", "recorded", f"words of the sealed passages {cut.passages_digest}")
        yield Part("index built at", "recorded", f"{envelope.started_at}, with the run")
        yield Part("embedding model", "none", "no vectors are searched")
    else:
        for name in ("index", "index built at", "embedding model"):
            yield _declared(name, system, reported)
    if own and cut is not None:
        yield Part("chunking", "recorded", f"{cut.chunker} {cut.chunker_version}, {subject.segmentation.value}")
    else:
        yield _declared("chunking", system, reported)
    yield Part("top k", "recorded", str(subject.top_k))
    if own or (reported.traces and reported.has["filters"] == reported.traces):
        yield Part("filters", "recorded", _given("filters", system, reported) or "in each trace, step by step")
    else:
        yield _declared("filters", system, reported)
    if _given("reranker", system, reported) is None and (own or "rerank" in reported.kinds):
        state: Literal["recorded", "none"] = "recorded" if "rerank" in reported.kinds else "none"
        yield Part("reranker", state, "a step of the traces" if state == "recorded" else "nothing is reranked")
    else:
        yield _declared("reranker", system, reported)


def _generation(system: SystemIdentity, reported: Reported) -> Iterator[Part]:
    yield _stated("model", system.generator, reported, ("model", "generator"))
    yield _stated("prompt", system.prompt, reported, ("prompt", "prompt_hash", "prompt_version"))
    own = system.adapter in OWN or system.adapter == "chat"
    if own and _given("tools", system, reported) is None:
        yield Part("tools", "none", "nothing but text is generated")
    else:
        yield _declared("tools", system, reported)
    if not reported.scoped:
        yield Part("tenant scope", "none", "no question is asked by a principal")
    elif reported.has["principal"] == reported.scoped:
        yield Part("tenant scope", "recorded", "the principal that each trace says was seen")
    else:
        found = _declared("tenant scope", system, reported)
        seen = f"{reported.has['principal']:,} of {many(reported.scoped, 'trace')} name the principal that was seen"
        yield found._replace(told=seen) if found.state == "unrecorded" else found


def _evaluation(judges: Sequence[Judged]) -> Iterator[Part]:
    if not judges:
        for name in ("judge", "prompt", "rubric", "sampling", "outputs"):
            yield Part(name, "none", "no measure reads a judge")
    several = len(judges) > 1
    for verdicts, judge in judges:
        of = f" of {verdicts.name}" if several else ""
        model = f", {judge.model}" if judge.model else ""
        yield Part(f"judge{of}", "recorded", f"{judge.name} ({judge.kind}{model}), {verdicts.judge}")
        asked = judge.kind == "model"
        sampling = ", ".join(f"{key} {value}" for key, value in sorted(judge.sampling.items()))
        for name, value in (("prompt", judge.prompt), ("rubric", judge.rubric), ("sampling", sampling)):
            if value:
                yield Part(f"{name}{of}", "recorded", value)
            elif name in _PROMPTED and not asked:
                yield Part(f"{name}{of}", "none", f"a judge of kind {judge.kind} has none")
            else:
                yield Part(f"{name}{of}", "unrecorded", "the judge does not say")
        yield Part(f"outputs{of}", "recorded", verdicts.content)


def _trace(reported: Reported, verdicts: bool | None) -> Iterator[Part]:
    yield Part("query", "recorded", "with each question")
    for name, has in (("lists of each step", "steps"), ("scores of their items", "scores"), ("answer", "answer"),
                      ("citations", "citations")):  # fmt: skip
        yield _counted(name, reported.has[has], reported.traces)
    if reported.scoped:
        yield _counted("access decisions", reported.has["access"], reported.scoped)
    else:
        yield Part("access decisions", "none", "no question is asked by a principal")
    yield _counted("latency", reported.has["latency"], reported.traces)
    if verdicts is None:
        yield Part("verdict", "none", "this decision gives it")
    elif verdicts:
        yield Part("verdict", "recorded", "with the decision")
    else:
        yield Part("verdict", "unrecorded", "no gate has decided on these scores")


def _counted(name: str, count: int, of: int) -> Part:
    if not of:
        return Part(name, "unrecorded", "no question was answered")
    if count == of:
        return Part(name, "recorded", f"in all {many(of, 'trace')}")
    return Part(name, "unrecorded", f"in {count:,} of {many(of, 'trace')}")


def _stated(name: str, stated: Stated, reported: Reported, keys: tuple[str, ...]) -> Part:
    if stated.value is not None:
        return Part(name, "recorded", stated.value)
    said = _version(reported, keys)
    if said is not None:
        return Part(name, "recorded", said)
    absent = stated.absent or NOT_SAID
    return Part(name, "unrecorded" if absent == NOT_SAID else "none", absent)


def _declared(name: str, system: SystemIdentity, reported: Reported) -> Part:
    found = _given(name, system, reported)
    return Part(name, "unrecorded", NOT_SAID) if found is None else Part(name, "recorded", found)


def _given(name: str, system: SystemIdentity, reported: Reported) -> str | None:
    for key in KEYS[name]:
        if system.settings.get(key) not in (None, ""):
            return str(system.settings[key])
    return _version(reported, KEYS[name])


def _version(reported: Reported, keys: tuple[str, ...]) -> str | None:
    found = [value for key in keys for value in sorted(reported.versions.get(key, ()))]
    return " | ".join(found) or None
