"""What a scorecard is about and what must be said before its numbers are read. Verifies no digest."""

from __future__ import annotations

from ragassay.records.canonical import digest_of
from ragassay.records.index import IndexArtefact
from ragassay.records.protocol import Envelope
from ragassay.records.protocol import Stated as Identified
from ragassay.records.text import shown
from ragassay.report import edits, tried
from ragassay.report.material import Material
from ragassay.report.model import Identity, Stated
from ragassay.report.seen import Seen
from ragassay.report.words import many

_NOTES = 20
"""How many lines of a benchmark's notes stand among the caveats."""


def identity(material: Material) -> Identity:
    """Digests of all that is sealed, the settings that they seal, and the circumstances beside them."""
    subject, protocol, run, table = material.subject, material.protocol, material.run, material.table
    system, benchmark, corpus = subject.system, material.benchmark, material.corpus
    sealed = [
        Stated(label="score table", value=material.scores),
        Stated(label="score content", value=table.content),
        Stated(label="run", value=table.run),
        Stated(label="run content", value=run.content),
        Stated(label="protocol", value=run.protocol),
        Stated(label="subject", value=protocol.subject),
        Stated(label="scoring", value=protocol.scoring),
        Stated(label="policy", value=protocol.policy),
        _said("corpus hash", protocol.corpus_hash),
        Stated(label="benchmark", value=subject.benchmark),
        _said("segmentation", subject.segmentation),
        _said("retriever", protocol.retriever_version),
        _said("prompt hash", protocol.prompt_hash),
        _said("judge model", protocol.judge_model),
    ]
    if table.scoring != protocol.scoring:
        sealed.append(Stated(label="scoring of this table (not the protocol's)", value=table.scoring))
    cut = material.segmentation
    settings = [
        Stated(label="system", value=f"{system.name} ({system.adapter} adapter)"),
        _said("retriever", system.retriever),
        _said("generator", system.generator),
        _said("prompt", system.prompt),
        Stated(label="benchmark", value=f"{benchmark.name} {benchmark.version}, {many(benchmark.cases, 'case')}"),
        Stated(
            label="labels",
            value=f"{benchmark.completeness}, rubric {benchmark.rubric.name}, relevant from grade {benchmark.rel}",
        ),
        Stated(label="corpus", value=f"{many(corpus.documents, 'document')} ({corpus.mode})"),
        Stated(label="cut into", value=f"{many(cut.passages, 'passage')} by {cut.chunker} {cut.chunker_version}")
        if cut
        else Stated(label="cut into", absent="no segmentation is part of the protocol"),
        Stated(label="as of", value=subject.as_of),
        Stated(label="seed", value=str(subject.seed)),
        Stated(label="repeats", value=str(subject.repeats)),
        Stated(label="top k", value=str(subject.top_k)),
        Stated(label="history", value=subject.history),
        _tying(subject.resolution),
        Stated(label="timeout", value=f"{subject.timeout_s:g} s"),
        Stated(label="holding", value=_hold(material.scoring.hold)),
        Stated(label="intervals", value=f"{material.scoring.level:g} confidence"),
        Stated(label="redaction", value=subject.redaction),
        Stated(label="tokenizer", value=material.scoring.tokenizer),
        Stated(label="measures", value=", ".join(material.scoring.measures)),
    ]
    return Identity(sealed=tuple(sealed), settings=tuple(settings), circumstances=_circumstances(material))


def _circumstances(material: Material) -> tuple[Stated, ...]:
    around = material.envelope
    return (
        Stated(label="started", value=around.started_at),
        Stated(label="finished", value=around.finished_at)
        if around.finished_at
        else Stated(label="finished", absent="the run did not finish"),
        _said("code revision", around.code_revision),
        Stated(label="working tree", value="changed since that revision" if around.code_dirty else "clean")
        if around.code_dirty is not None
        else Stated(label="working tree", absent="not known"),
        Stated(label="ragassay", value=around.ragassay_version),
        Stated(label="python", value=around.python),
        Stated(label="platform", value=around.platform),
        Stated(label="machine", value=f"{around.machine}, {many(around.cpu_count, 'core')}"),
        Stated(label="concurrency", value=_pace(around)),
        *([Stated(label="counted under the ceiling", value=_spent(around))] if around.spent else ()),
        Stated(label="resumed", value=many(around.resumed, "time")),
        Stated(label="packages", value=f"{len(around.packages)}, digest {digest_of(list(around.packages))}"),
        *(Stated(label=f"index of {one.step or 'vectors'}", value=_index(one)) for one in around.indexes),
        *tried.choices(material.tried),
        *edits.told(material.edits),
    )


def _index(found: IndexArtefact) -> str:
    """Which index of vectors it is, when and of what it was made."""
    content, built = found.content, found.envelope
    how = "found" if built.reused else f"{built.computed:,} computed, {built.cache_hits:,} from the cache"
    where = f", {built.server}" if built.server else ""
    made = f"built {built.built_at} in {built.duration_ms / 1000:,.1f} s ({how}){where}"
    vectors = f"{many(content.passages, 'passage')} as {content.dimensions} numbers"
    return f"{content.index[:23]}: {vectors} by {shown(content.embedder, limit=200)}; {made}"


def _tying(rule: str | None) -> Stated:
    if rule is None:
        return Stated(label="texts tied to documents", value="letter for letter only")
    return Stated(label="texts tied to documents", value=f"letter for letter, else {rule}")


def _pace(around: Envelope) -> str:
    """The declared limit, and what the run did about overload."""
    cuts = [one for one in around.pace if one.kind == "cut"]
    held = sum(one.seconds or 0.0 for one in around.pace if one.kind == "held")
    told = [f"{around.concurrency} at once"]
    if cuts:
        causes = ", ".join(dict.fromkeys(one.cause for one in cuts))
        back = sum(one.kind == "recovered" for one in around.pace)
        lowest = min(one.limit for one in cuts)
        told.append(f"cut {many(len(cuts), 'time')} ({causes}), to {lowest} at the lowest, back {many(back, 'time')}")
    if held:
        told.append(f"held for {held:.0f} s by Retry-After")
    if around.pace_left_out:
        told.append(f"{many(around.pace_left_out, 'further event')}")
    return "; ".join(told)


def _spent(around: Envelope) -> str:
    said = around.spent
    worst = f", {said['assumed_calls']} of the calls at their declared worst" if said.get("assumed_calls") else ""
    calls = _counted(said["calls"], "call")
    return f"{calls}, {_counted(said['tokens'], 'token')}, {said['cost']} {said['currency']}{worst}"


def _counted(value: object, noun: str) -> str:
    return many(value, noun) if isinstance(value, int) else f"{value} {noun}s"


def _hold(share: float) -> str:
    much = "all" if share == 1 else f"at least {share:g}"
    return f"evidence is held where {much} of its characters are there, white space aside"


def _said(label: str, given: Identified) -> Stated:
    return Stated(label=label, value=given.value, absent=given.absent)


def caveats(material: Material, seen: Seen) -> tuple[str, ...]:
    """What a reader must know before believing a number, worst first."""
    told = []
    run, benchmark = material.run, material.benchmark
    if run.state != "complete":
        why = f" ({run.stopped.replace('_', ' ')})" if run.stopped else ""
        told.append(
            f"This run was ended early{why}: {run.answered:,} of {many(run.questions, 'question')} were asked, "
            + (f"{run.failures:,} of them failed, " if run.failures else "")
            + ("the others are missing. " if run.answered < run.questions else "none is missing. ")
            + "It is not a complete run of its protocol."
        )
    if run.mixed:
        told.append(f"Mixed run: {', '.join(run.mixed)} had more than one value while it ran. No gate accepts it.")
    if material.table.scoring != material.protocol.scoring:
        told.append("Scored under another scoring layer than the protocol names: a protocol variation.")
    if material.envelope.code_dirty:
        told.append("The code had uncommitted changes, so its revision does not name it.")
    if benchmark.completeness != "complete":
        told.append(
            f"Labels are {benchmark.completeness}: what nobody judged counts as not relevant; "
            "the measure judged says how much that is."
        )
    passage = sum(1 for case in material.cases if case.answerable == "no" and case.answerability_scope == "passage")
    if passage:
        told.append(
            f"{many(passage, 'unanswerable question')} {'is' if passage == 1 else 'are'} "
            "known to be so for one passage only, not for this corpus."
        )
    if benchmark.dangling:
        told.append(
            f"{many(benchmark.dangling, 'piece of evidence points', 'pieces of evidence point')} to documents that are "
            "not in the corpus; all stay in the denominators."
        )
    if material.corpus.skipped_lines:
        told.append(
            f"{many(material.corpus.skipped_lines, 'line')} of the documents' source could not be read and "
            f"{'is' if material.corpus.skipped_lines == 1 else 'are'} not in the corpus (on_error = skip)."
        )
    told += tried.warnings(material.tried)
    told += _noted(benchmark.notes)
    told += [f"Of the system: {shown(one, limit=600)}" for one in material.envelope.notes[:_NOTES]]
    if seen.inferred:
        told.append(
            f"{many(seen.inferred, 'step')} named no parents; "
            "where evidence was lost is inferred from their order there."
        )
    if seen.coarse:
        told.append(
            f"{many(seen.coarse, 'score')} {'rests' if seen.coarse == 1 else 'rest'} "
            "on labels of whole documents (coarse)."
        )
    return tuple(told + _reported(material, seen))


def _noted(notes: str | None) -> list[str]:
    """What is sealed with the benchmark: what its data set does not say, and what was left out of it."""
    lines = [one for one in (notes or "").split("\n") if one.strip()]
    more = [f"Of the benchmark: {many(len(lines) - _NOTES, 'further note')}."] if len(lines) > _NOTES else []
    return [f"Of the benchmark: {shown(one, limit=600)}" for one in lines[:_NOTES]] + more


def _reported(material: Material, seen: Seen) -> list[str]:
    """What the system said too little about, and what it could say so that the measures that need it have a value."""
    told = []
    items = many(seen.items, "item")
    if seen.loose:
        told.append(
            f"{seen.loose:,} of {items} in the contexts could not be tied to a document, so what they "
            "hold cannot be told: report document_id, start and end, or the text letter for letter."
        )
    spans = any(not label.coarse for case in material.cases for label in case.evidence or ())
    if seen.whole and spans:
        told.append(
            f"Of {items} in the contexts, {many(seen.whole, 'names', 'name')} a document and no part of "
            "it, so whether a labelled span is held there cannot be told: report start and end, or the text."
        )
    if seen.silent and not material.scoring.abstention_rules:
        told.append(
            f"Of {many(seen.answers, 'answer')}, {many(seen.silent, 'says', 'say')} not whether the question was "
            "answered or declined: report an outcome, or declare abstention_rules; without them refusals are not "
            "measured."
        )
    return told
