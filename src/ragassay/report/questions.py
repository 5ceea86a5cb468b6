"""One question with all that is known about it and all that became of it, ready to be shown. Aggregates nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragassay.corpus import visible
from ragassay.records.case import Case, Evidence
from ragassay.records.score import ClaimFailure, FactFate, Observation
from ragassay.records.trace import Citation, Item, Measurements, TraceContent
from ragassay.report.data.build import citation_view
from ragassay.report.data.model import CitationView
from ragassay.report.dimensions import is_runtime
from ragassay.report.grounding.build import claim_views
from ragassay.report.lists import (
    Column,
    Library,
    columns,
    context_items,
    evidence_places,
    failure_text,
    item_table,
    label,
)
from ragassay.report.model import (
    Cut,
    EvidenceView,
    FactView,
    FateView,
    Flag,
    Question,
    RepeatView,
    ScoreView,
)
from ragassay.report.words import cut
from ragassay.score.cited import citations_of, cited
from ragassay.score.verdicts import Given

QUERY_TEXT = 2_000
ANSWER_TEXT = 4_000
QUOTE_TEXT = 800
TURN_TEXT = 800
LOST = ("lost_whole", "lost_in_parts", "between")


def question(
    case: Case,
    *,
    class_: str,
    expect: tuple[str, ...],
    library: Library,
    repeats: Sequence[RepeatView],
) -> Question:
    """The view of one case with its repeats."""
    turns = case.conversation.history if case.conversation else ()
    return Question(
        query_id=case.query_id,
        query=cut(case.query, QUERY_TEXT),
        class_=class_,
        language=language(case),
        slices=case.slice,
        answerable=case.answerable,
        scope=case.answerability_scope,
        expect=expect,
        threats=case.threats,
        risk=case.risk,
        principal=None if case.principal is None else _principal(case),
        notes=_cut(case.notes, TURN_TEXT),
        history=tuple((turn.role, cut(turn.text, TURN_TEXT)) for turn in turns),
        references=tuple(cut(one.text, QUOTE_TEXT) for one in case.answers),
        evidence=None if case.evidence is None else tuple(_evidence(one, case, library) for one in case.evidence),
        facts=tuple(
            FactView(id=one.id, text=_cut(one.text, QUOTE_TEXT), required=one.required, any_of=one.any_of)
            for one in case.facts
        ),
        flags=_flags(repeats, labelled=case.evidence is not None),
        repeats=tuple(repeats),
    )


def repeat(
    case: Case,
    content: TraceContent,
    measurements: Measurements | None,
    observations: Iterable[Observation],
    fates: Iterable[FactFate],
    library: Library,
    given: Mapping[str, Given | None] | None = None,
    failures: Sequence[ClaimFailure] = (),
) -> RepeatView:
    """What the system did with a case, once, beside what that scored and what judges (`given`) said of it."""
    observations = tuple(observations)
    ruled = [one.target for one in observations if one.measure.partition("(")[0] == "outcome" and one.target]
    lists = columns(content, measurements.steps if measurements else ())
    items, total = item_table(case, lists, library)
    answer = content.answer
    context = context_items(content)
    return RepeatView(
        repeat=content.repeat,
        outcome=answer.outcome if answer and answer.outcome else ruled[0] if ruled else None,
        outcome_source=answer.outcome_source if answer and answer.outcome else "scoring rule" if ruled else None,
        failure=failure_text(content.failure),
        failure_detail=_cut(measurements.failure_detail, TURN_TEXT) if measurements else None,
        latency_ms=measurements.latency_ms if measurements else None,
        answer=None if answer is None else cut(answer.text, ANSWER_TEXT),
        citations=_citations(content, case, lists, context, library, given or {}),
        claims=claim_views(content, given or {}, failures),
        steps=tuple(column.view for column in lists),
        context=None if context is None else len(context),
        items=items,
        items_total=total,
        evidence=evidence_places(case, lists, library),
        fates=tuple(_fate(one) for one in fates),
        scores=tuple(_score(one) for one in observations),
    )


def absent_repeat(
    number: int, observations: Iterable[Observation], fates: Iterable[FactFate], stopped: str | None = None
) -> RepeatView:
    """A key that has no trace: it stays in the table, with what was recorded about it.

    `stopped` is why the run ended before every question was asked: such a key was never asked, and did not fail.
    """
    why = f"not asked ({stopped.replace('_', ' ')})" if stopped else "no trace"
    return RepeatView(
        repeat=number, outcome=None, outcome_source=None, failure=why, failure_detail=None, latency_ms=None,
        answer=None, citations=None, claims=(), steps=(), context=None, items=(), items_total=0, evidence=(),
        fates=tuple(_fate(one) for one in fates), scores=tuple(_score(one) for one in observations),
    )  # fmt: skip


def language(case: Case) -> str:
    """The language that a slice names (`language=de`), else empty: unknown."""
    named = [one.partition("=")[2] for one in case.slice if one.startswith("language=")]
    tag = named[0] if named else ""
    return tag if tag.replace("-", "").isalnum() and tag.isascii() else ""


def _principal(case: Case) -> str:
    who = case.principal
    assert who is not None
    parts = [who.id]
    for name, values in (("tenants", who.tenants), ("roles", who.roles), ("groups", who.groups)):
        if values:
            parts.append(f"{name} {', '.join(values)}")
    return "; ".join(parts)


def _evidence(one: Evidence, case: Case, library: Library) -> EvidenceView:
    versions = library.named(one.document_id, one.version)
    quote = one.quote
    if quote is None and one.start is not None and versions:
        quote = versions[0].text[one.start : one.end]
    allowed = None
    if case.principal is not None and versions:
        allowed = any(visible(document, case.principal) for document in versions)
    return EvidenceView(
        id=one.id,
        document_id=one.document_id,
        version=one.version,
        start=one.start,
        end=one.end,
        grade=one.grade,
        role=one.role,
        quote=_cut(quote, QUOTE_TEXT),
        provenance=one.provenance.kind if one.provenance else None,
        visible=allowed,
        dangling=not versions,
    )


def _citations(
    content: TraceContent, case: Case, lists: Sequence[Column], context: tuple[Item, ...] | None, library: Library,
    given: Mapping[str, Given | None],
) -> tuple[CitationView, ...] | None:  # fmt: skip
    """The citations of an answer, each with what stands behind it."""
    behind = cited(content, case, library.documents, given)
    if behind is None:
        return None
    known = {item.item_id: item for column in lists for item in column.items or ()}
    views = []
    for found, one in zip(behind, citations_of(content, given) or (), strict=True):
        item = known.get(one.item_id) if one.item_id is not None else None
        if one.source is not None:
            target = f"{one.source.document_id} [{one.source.start}:{one.source.end}]"
        else:
            target = label(item) if item is not None else f"{one.item_id} (no item of this trace)"
        end = one.answer_end if one.answer_end is not None and one.answer_end <= ANSWER_TEXT else None
        inside = None if context is None else _inside(one, item, context)
        views.append(citation_view(found, points_to=target, in_context=inside, end=end))
    return tuple(views)


def _inside(one: Citation, item: Item | None, context: tuple[Item, ...]) -> bool:
    """Whether what is cited is in the context."""
    if one.source is None:
        same = item.identity if item is not None else None
        return any(each.item_id == one.item_id or each.identity == same for each in context)
    span = one.source
    return any(
        (s.document_id, s.version) == (span.document_id, span.version)
        and s.start < max(span.end, span.start + 1)
        and span.start < max(s.end, s.start + 1)
        for each in context
        for s in each.sources
    )


def _fate(one: FactFate) -> FateView:
    return FateView(
        fact_id=one.fact_id, required=one.required, fate=one.fate, steps=one.steps, found_at=one.found_at,
        inferred=one.inferred,
    )  # fmt: skip


def _score(one: Observation) -> ScoreView:
    return ScoreView(
        measure=one.measure, step=one.step, target=one.target, status=one.status, value=one.value,
        numerator=one.numerator, denominator=one.denominator, reason=one.reason, bounds=one.bounds,
        unjudged=one.unjudged, coarse=one.coarse,
        inferred=one.inferred,
    )  # fmt: skip


def _flags(repeats: Sequence[RepeatView], *, labelled: bool) -> tuple[Flag, ...]:
    """What a reader filters by. Unreported times and tokens raise no flag: else every question would be *missing*."""
    found: list[Flag] = []
    fates = [fate.fate for one in repeats for fate in one.fates if fate.required]
    if any(fate in LOST for fate in fates):
        found.append("lost")
    if "never_found" in fates:
        found.append("never_found")
    if any(one.failure for one in repeats):
        found.append("failed")
    scores = [score for one in repeats for score in one.scores]
    states = {score.status for score in scores if not is_runtime(score.measure)}
    if any(score.status == "error" for score in scores):
        found.append("error")
    if "undefined" in states:
        found.append("undefined")
    if "missing" in states:
        found.append("missing")
    if not labelled or any(_unjudged(one) for one in repeats):
        found.append("unjudged")
    if any(_denied(one) for one in repeats):
        found.append("denied")
    return tuple(found)


def _unjudged(one: RepeatView) -> bool:
    """Whether nobody ever judged any item of the list nearest to the answer: its zeros may be holes in the labels."""
    order = {step.name: place for place, step in enumerate(one.steps)}
    judged = [
        (order.get(score.step or "", -1), score.value)
        for score in one.scores
        if score.measure.partition("(")[0].partition("@")[0] == "judged" and score.value is not None
    ]
    last = max((place for place, _ in judged), default=0)
    return bool(judged) and not any(value for place, value in judged if place == last)


def _denied(one: RepeatView) -> bool:
    last = len(one.steps) - 1
    return one.context is not None and any(item.access == "denied" and item.places[last] for item in one.items)


def _cut(text: str | None, most: int) -> Cut | None:
    return None if text is None else cut(text, most)
