"""From documents, questions and a system to a scorecard: the one path that the command line and Python both walk.

Each step is a function that calls one room and hands on records. Prints nothing and decides nothing.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
from anyio.from_thread import start_blocking_portal

import ragassay.benchmark
import ragassay.corpus
import ragassay.report
import ragassay.run
import ragassay.score
import ragassay.seal
from ragassay.benchmark import Built
from ragassay.corpus import Reading
from ragassay.errors import RagassayError, UsageError
from ragassay.measures import parse as parse_measure
from ragassay.measures import version_of
from ragassay.measures.text import normaliser
from ragassay.records.base import Digest, DocumentId
from ragassay.records.case import CaseLine
from ragassay.records.document import Corpus, Document, Passage, Segmentation
from ragassay.records.protocol import Policy, Run, Scoring, Stated, Subject, SystemIdentity
from ragassay.records.provenance import Provenance
from ragassay.records.text import instant
from ragassay.redact import Redaction
from ragassay.redact.patterns import compile_patterns
from ragassay.report import Scorecard
from ragassay.run import System
from ragassay.run.ceiling import Ceiling
from ragassay.run.clock import SYSTEM_CLOCK
from ragassay.run.systems.python import PythonSystem
from ragassay.seal import Sealed
from ragassay.store import Store

DEFAULT_MEASURES = (
    "recall(rel=2)@5", "recall(rel=2)@20", "recall(rel=2,unit=document)@20", "hit(rel=2)@5", "precision(rel=2)@5",
    "rr(rel=2)@20", "ndcg@5", "ndcg@10", "judged@10", "fact_coverage", "empty_retrieval", "context_precision(rel=2)",
    "context_recall(rel=2)", "evidence_density(rel=2)", "unique_parents", "overlap_ratio", "context_tokens",
    "dedup_coverage", "exact_match", "token_f1", "outcome", "abstention_rate", "false_refusal", "unsupported_answer",
    "latency", "first_token", "tokens", "cost", "calls", "cache_hits", "error_rate",
)  # fmt: skip

GROUNDING_MEASURES = (
    "faithfulness", "citation_precision", "citation_recall", "vital_nuggets", "context_utilisation",
    "noise_sensitivity",
)  # fmt: skip
"""Taken besides where a judge is declared."""

PUBLIC = ("*",)
T = TypeVar("T")


class Frozen(NamedTuple):
    """A corpus in the store and how it is cut."""

    documents: list[Document]
    corpus: Corpus
    corpus_digest: Digest
    segmentation: Segmentation
    segmentation_digest: Digest
    passages: list[Passage]
    reading: Reading | None = None
    """What the reader said besides the documents, if one read them."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is declared before a run, beyond documents, questions and the system."""

    as_of: str
    name: str = "latest"
    seed: int = 0
    repeats: int = 1
    top_k: int = 20
    history: str = "gold"
    timeout_s: float = 60.0
    alignment: float = ragassay.corpus.FLOOR
    concurrency: int = 4
    max_error_rate: float = 0.2
    measures: Sequence[str] = ()
    hold: float = 1.0
    normalisation: str = "squad"
    level: float = 0.95
    abstention_rules: Sequence[str] = ()
    judges: Sequence[str] = ()
    """Whose judgements are read; a measure that names no judge is taken for each of them."""
    judge_thresholds: Mapping[str, float] = field(default_factory=dict)
    """Judge -> least score of *supported*, in place of its own."""
    redaction: Redaction = field(default_factory=Redaction)
    policy: Policy = field(default_factory=lambda: Policy(name="none"))
    """What a gate will demand; without rules nothing can pass."""
    ceiling: Ceiling | None = None
    """The most that the run may use (`ragassay.run.ceiling`); not sealed, so that it may be raised."""


def freeze_corpus(
    store: Store,
    documents: list[Document],
    *,
    name: str,
    chunker: str,
    provenance: Provenance | None = None,
    **sizes: int,
) -> Frozen:
    """Documents as a corpus, cut into passages; refs `corpus/NAME` and `segmentation/NAME`."""
    corpus, corpus_digest = ragassay.corpus.build(store, documents, name=name, provenance=provenance)
    kept = ragassay.corpus.load(store, corpus)
    cut, cut_digest = ragassay.corpus.segment(store, corpus, kept, chunker=chunker, name=name, **sizes)
    passages = ragassay.corpus.load_passages(store, cut)
    reading = documents if isinstance(documents, Reading) else None
    return Frozen(kept, corpus, corpus_digest, cut, cut_digest, passages, reading)


def seal(store: Store, plan: Plan, frozen: Frozen, built: Built, identity: SystemIdentity) -> Sealed:
    """The three layers of the protocol, frozen under the ref `protocol/NAME`."""
    subject = Subject(
        corpus=frozen.corpus.digest,
        segmentation=Stated(value=frozen.segmentation.identity()),
        benchmark=built.benchmark.identity(),
        system=identity,
        as_of=instant(plan.as_of),
        seed=plan.seed,
        repeats=plan.repeats,
        top_k=plan.top_k,
        history=cast(Any, plan.history),
        timeout_s=plan.timeout_s,
        redaction=plan.redaction.digest,
        resolution=ragassay.corpus.rule(plan.alignment),
    )
    sealed = ragassay.seal.freeze(
        store,
        name=plan.name,
        subject=subject,
        scoring=scoring_of(plan, built),
        policy=plan.policy,
        objects={
            "corpus": frozen.corpus_digest,
            "segmentation": frozen.segmentation_digest,
            "benchmark": built.digest,
        },
        redaction=plan.redaction,
    )
    store.ledger.record("sealed", {"protocol": sealed.digest}, SYSTEM_CLOCK.now(), name=plan.name)
    return sealed


def scoring_of(plan: Plan, built: Built) -> Scoring:
    """The scoring layer: the plan's measures, or the default ones at the benchmark's least relevant grade."""
    check_scoring(plan.normalisation, plan.abstention_rules)
    least = built.benchmark.rel
    usual = (*DEFAULT_MEASURES, *(GROUNDING_MEASURES if plan.judges else ()))
    wanted = plan.measures or [one.replace("rel=2", f"rel={least}") for one in usual]
    measures = [parse_measure(one) for one in wanted]
    return Scoring(
        measures=tuple(dict.fromkeys(str(one) for one in measures)),
        measure_versions={one.name: version_of(one.name) for one in measures},
        hold=plan.hold,
        tokenizer="word/1",
        normalisation=plan.normalisation,
        level=plan.level,
        ties="list_order",
        judges=tuple(plan.judges),
        judge_thresholds=dict(plan.judge_thresholds),
        abstention_rules=tuple(plan.abstention_rules),
    )


def check_scoring(normalisation: str, abstention_rules: Sequence[str]) -> None:
    """UsageError for a normalisation that there is not, or a rule that is no safe regular expression."""
    try:
        normaliser(normalisation)
    except UsageError as error:
        raise error.at(field="scoring.normalisation")  # noqa: B904  the same error, with its place
    for number, rule in enumerate(abstention_rules):
        try:
            compile_patterns({str(number): rule})
        except UsageError as error:
            error.field = f"scoring.abstention_rules[{number}]"
            raise


async def perform(
    store: Store,
    plan: Plan,
    sealed: Sealed,
    system: System,
    *,
    progress: Any = None,
    resume: bool = True,
    reuse: bool = True,
) -> tuple[Any, Digest]:
    """Ask every question of a sealed protocol; the Run and its digest, ref `run/NAME`; the ledger says when."""
    store.ledger.record("began", {"protocol": sealed.digest}, SYSTEM_CLOCK.now())
    run, digest = await ragassay.run.execute(
        store,
        sealed.digest,
        system,
        name=plan.name,
        concurrency=plan.concurrency,
        error_budget=plan.max_error_rate,
        ceiling=plan.ceiling,
        progress=progress,
        resume=resume,
        reuse=reuse,
        redaction=plan.redaction,
    )
    store.ledger.record("ran", {"run": digest, "protocol": sealed.digest}, SYSTEM_CLOCK.now(), name=plan.name)
    return run, digest


def measure(store: Store, run: Digest, scoring: Digest, *, name: str) -> Digest:
    """The score table of a run under a scoring layer, ref `scores/NAME`, with the judgements that are in force."""
    found = ragassay.score.in_force(store, store.get_record(Run, run), store.get_record(Scoring, scoring))
    _, digest = ragassay.score.table(store, run, scoring, judged=found.judged, calibrations=found.calibrations)
    store.set_ref(f"past/{digest[7:23]}", digest, kind="scores")  # stays in the list when another run takes the name
    store.set_ref(f"scores/{name}", digest, kind="scores")
    store.ledger.record("scored", {"scores": digest, "run": run}, SYSTEM_CLOCK.now(), name=name)
    return digest


@dataclass(frozen=True)
class Assayed:
    """What `evaluate` returns: the scorecard, and the digests under which everything was sealed."""

    scorecard: Scorecard
    protocol: Digest
    run: Digest
    scores: Digest

    def html(self) -> str:
        """The whole report as one HTML file."""
        return ragassay.report.html(self.scorecard)

    def markdown(self) -> str:
        """The report as Markdown."""
        return ragassay.report.markdown(self.scorecard)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return ragassay.report.to_json(self.scorecard)

    def __str__(self) -> str:
        return "\n".join(ragassay.report.summary(self.scorecard))

    def _repr_html_(self) -> str:
        return ragassay.report.notebook(self.scorecard)


Cases = str | Path | Iterable[Mapping[str, Any] | CaseLine]
Documents = str | Path | Mapping[str, str] | Iterable[Mapping[str, Any] | Document]


async def evaluate(
    cases: Cases,
    system: Callable[..., Any] | System,
    *,
    documents: Documents | None = None,
    as_of: str | None = None,
    store: str | Path | None = None,
    name: str = "evaluate",
    chunker: str = "tokens",
    **plan: Any,
) -> Assayed:
    """Seal, run, score: questions and a system to a scorecard.

    Parameters
    ----------
    cases
        A JSON-lines file, or mappings in the native case format (`docs/cases.md`).
    system
        A function of one request, sync or async, that returns an answer with contexts, a list of ids, or steps
        (`ragassay schema system`); or any adapter of `ragassay.run`.
    documents
        A JSON-lines file, a folder, a mapping of id to text, or mappings with document_id and text. Documents that
        name no tenant are public here. Without it the documents are those that the labels name, without text: then
        only labels on whole documents can be held, and what the system returns beyond them is unresolved.
    as_of
        The day on which validity is judged; today if left out. It is sealed either way.
    store
        A folder in which everything is kept. Without it a temporary one is used and removed. An interrupted run is
        gone on with; a finished one of a function is asked anew, since nobody can tell that a function is the same.
    name
        Name of the run in the store.
    chunker
        How documents are cut for measures with unit=passage: tokens or markdown.
    **plan
        Any field of `Plan`: seed, repeats, top_k, timeout_s, concurrency, measures, hold, abstention_rules, ...

    Raises RagassayError for wrong input; a question that fails is a row of the scorecard, not an exception.
    """
    unknown = set(plan) - set(Plan.__dataclass_fields__)
    if unknown:
        known = ", ".join(sorted(Plan.__dataclass_fields__))
        raise UsageError(f"evaluate has no setting {sorted(unknown)[0]!r}", hint=f"settings: {known}")
    chosen = Plan(as_of=as_of or SYSTEM_CLOCK.now()[:10], name=name, **plan)
    with tempfile.TemporaryDirectory(prefix="ragassay-") as folder:
        scratch = Path(folder)
        lines = _cases(cases, scratch)
        read = _documents(documents, lines, scratch)
        opened = Store.open(store or scratch / "store", create=True)
        frozen = freeze_corpus(opened, read, name=name, chunker=chunker)
        built = ragassay.benchmark.build(
            opened, lines, frozen.corpus, frozen.documents, name=name, version="1", as_of=instant(chosen.as_of)
        )
        asked = cast(System, system) if hasattr(system, "ask") else PythonSystem(system)
        sealed = seal(opened, chosen, frozen, built, asked.identity)
        # Two functions of one source file may still be two systems (another model behind the same code), so a finished
        # run never answers for this one; an interrupted one is gone on with.
        _, run = await perform(opened, chosen, sealed, asked, reuse=not isinstance(asked, PythonSystem))
        scores = measure(opened, run, sealed.protocol.scoring, name=name)
        return Assayed(ragassay.report.scorecard(opened, scores), sealed.digest, run, scores)


def evaluate_sync(cases: Cases, system: Callable[..., Any] | System, **arguments: Any) -> Assayed:
    """`evaluate` for code that cannot await; works inside a running event loop and in a notebook.

    The work runs in a loop of its own in another thread; no running loop is patched. An async system runs in a third
    loop, so that one that blocks its loop cannot stop the run.
    """
    if not hasattr(system, "ask"):
        system = PythonSystem(system, own_loop=True)
    with start_blocking_portal() as portal:
        return portal.call(partial(evaluate, cases, system, **arguments))


def _cases(cases: Cases, scratch: Path) -> list[CaseLine]:
    if isinstance(cases, str | Path):
        return ragassay.benchmark.read_cases(cases)
    return _read_values("cases", cases, scratch, ragassay.benchmark.read_cases)


def _documents(documents: Documents | None, lines: list[CaseLine], scratch: Path) -> list[Document]:
    if isinstance(documents, str | Path):
        return ragassay.corpus.read(documents, default_tenants=PUBLIC)
    read_public = partial(ragassay.corpus.read_jsonl, default_tenants=PUBLIC)
    if documents is None:
        named = [one.document_id for line in lines for one in line.evidence or ()]
        named += [one.document_id for line in lines for one in line.relevant or ()]
        return _read_values(
            "documents",
            [{"document_id": one, "text": ""} for one in sorted({*named}) or [DocumentId("none")]],
            scratch,
            read_public,
        )
    if isinstance(documents, Mapping):
        documents = [{"document_id": key, "text": text} for key, text in documents.items()]
    return _read_values("documents", documents, scratch, read_public)


def _read_values(what: str, values: Iterable[Any], scratch: Path, read: Callable[[Path], T]) -> T:
    """Values in memory through the reader of files, so that both obey one set of rules."""
    if not isinstance(values, Iterable):
        raise UsageError(
            f"{type(values).__name__} is no list of {what}", field=what, hint="a file, or a list of mappings"
        )
    path = scratch / f"{what}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, one in enumerate(values, 1):
            try:
                file.write(json.dumps(msgspec.to_builtins(one)) + "\n")
            except (TypeError, ValueError, RecursionError) as cause:
                raise UsageError(
                    f"not JSON: {cause}", file=what, line=number, hint="text, numbers, lists and mappings only"
                ) from None
    try:
        found = read(path)
    except RagassayError as error:
        error.file = what
        raise
    if isinstance(found, Reading):  # the scratch file is no source
        found[:] = [msgspec.structs.replace(one, source=None) for one in found]
        found.sources = []
    places: dict[str, Any] = getattr(found, "places", {})
    places.update({key: place._replace(file=what) for key, place in places.items()})
    return found
