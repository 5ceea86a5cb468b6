"""Judges of a score table and the claims of an answer, from records. Renders nothing and asks no judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragassay.claims import statement_of
from ragassay.records.judgement import Calibration, Judgement
from ragassay.records.score import CLASS_ORDER, ClaimFailure, FailureKind
from ragassay.records.text import many
from ragassay.records.trace import TraceContent
from ragassay.report.grounding.material import JudgeRead
from ragassay.report.grounding.model import ClaimVerdict, ClaimView, Corrected, FailureRow, JudgeView
from ragassay.report.grounding.words import CANNOT_SEE, UNCALIBRATED
from ragassay.score.failures import WORST_FIRST
from ragassay.score.verdicts import Given, Ruling
from ragassay.stats.corrected import Sampled, ppi, stratified

Key = tuple[str, int]
CORRECTED: Mapping[str, str] = {"claim": "faithfulness", "citation": "citation_precision", "fact": "vital_nuggets"}
"""Kind of item -> the measure whose share over items it corrects."""
CLAIM_TEXT, RATIONALE, SPANS = 600, 400, 6


def judge_view(
    read: JudgeRead, failures: Iterable[ClaimFailure], class_of: Mapping[str, str], level: float
) -> JudgeView:
    """One judge: how far it is to be believed, what people make of its numbers, what is wrong with claims by it."""
    record, calibration = read.record, read.calibration
    why = _uncalibrated(read)
    corrected, not_corrected = _corrections(read, class_of, level)
    causes: Counter[str] = Counter(one.reason or one.status for one in read.verdicts.rulings() if one.label is None)
    return JudgeView(
        name=read.name,
        kind=read.identity.kind,
        model=read.identity.model,
        state=record.state,
        stopped=record.stopped,
        threshold=read.threshold,
        asked=record.asked,
        valued=record.valued,
        causes=dict(sorted(causes.items())),
        controls=(sum(one.passed for one in record.controls), len(record.controls)) if record.controls else None,
        calibrated=not why,
        calibration=why or _calibration_told(calibration),
        agreements=calibration.agreements if calibration else (),
        biases=calibration.biases if calibration else (),
        cost=calibration.cost if calibration else (),
        corrected=tuple(corrected),
        not_corrected=not_corrected,
        failures=tuple(_failure_rows((one for one in failures if one.judge == read.name), class_of)),
        claims=sum(len(one.claims) for one in read.verdicts.claims()),
        cannot_see=CANNOT_SEE[read.identity.kind],
    )


def _uncalibrated(read: JudgeRead) -> str:
    """Why a judge counts as uncalibrated; empty where it does not, and for people."""
    if read.identity.kind == "person":
        return ""
    if read.calibration is None or read.calibration.judge != read.record.judge:
        return f"{UNCALIBRATED}: nobody has held this judge, as it is, against people; its numbers satisfy no rule"
    if read.calibration.threshold != read.threshold:
        return f"{UNCALIBRATED}: it was held against people under another threshold; its numbers satisfy no rule"
    return ""


def _calibration_told(calibration: Calibration | None) -> str:
    if calibration is None:
        return "verdicts of a person, which need no calibration"
    whole = [f"{one.about}: {many(one.items, 'item')}" for one in calibration.agreements if one.class_ is None]
    people = "1 person" if calibration.raters == 1 else f"{calibration.raters} people"
    return f"held against {people} under {calibration.rubric}; {', '.join(whole)}, drawn {calibration.drawn}"


def _corrections(read: JudgeRead, class_of: Mapping[str, str], level: float) -> tuple[list[Corrected], str | None]:
    """A row a kind of item and class; or why there is none."""
    if read.calibration is None:
        return [], "nobody has ruled on a sample"
    if read.calibrated_on != read.record.run:
        return [], "people ruled on items of another run"
    if read.calibration.drawn != "random":
        return [], f"the items that people saw were drawn {read.calibration.drawn}, not at random"
    said = _majority(read.people)
    made = [
        one for about, measure in CORRECTED.items() for one in _corrected(read, about, measure, said, class_of, level)
    ]
    return made, None if made else "people and judge have no item in common"


def _corrected(
    read: JudgeRead,
    about: str,
    measure: str,
    said: Mapping[tuple[str, int, str, str], str],
    class_of: Mapping[str, str],
    level: float,
) -> Iterator[Corrected]:
    """One kind of item, by class: the judge's own share, and what people would have said of all."""
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    cells: dict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for key, target, one in read.verdicts.items(about):
        if one.label is None:
            continue
        class_, good = class_of.get(key[0], "answerable"), one.label == "supported"
        counts[class_][good] += 1
        label = said.get((*key, about, target))
        if label is not None:
            cells[class_][label == "supported", good] += 1
    for class_ in sorted(counts, key=_class_rank):
        found, yes, no = cells[class_], counts[class_][True], counts[class_][False]
        sample = Sampled(found[True, True], found[False, True], found[True, False], found[False, False])
        interval = stratified(yes, no, sample, level=level)
        if interval.estimate is None or interval.low is None or interval.high is None:
            continue
        tuned = ppi(yes, no, sample, level=level)
        yield Corrected(
            measure=f"{measure}(by={read.name})",
            class_=class_,
            raw=yes / (yes + no),
            items=yes + no,
            people=sample.n,
            estimate=interval.estimate,
            low=interval.low,
            high=interval.high,
            method=interval.method,
            ppi=(tuned.estimate or 0.0, tuned.low or 0.0, tuned.high or 0.0) if tuned else None,
        )


def _class_rank(name: str) -> int:
    return CLASS_ORDER.index(name)


def _majority(people: Sequence[Judgement]) -> dict[tuple[str, int, str, str], str]:
    votes: dict[tuple[str, int, str, str], Counter[str]] = defaultdict(Counter)
    for one in people:
        if one.label is not None:
            votes[one.key[:4]][one.label] += 1
    made = {}
    for key, found in votes.items():
        ranked = found.most_common(2)
        if len(ranked) == 1 or ranked[0][1] > ranked[1][1]:
            made[key] = ranked[0][0]
    return made


def _failure_rows(failures: Iterable[ClaimFailure], class_of: Mapping[str, str]) -> Iterator[FailureRow]:
    found: dict[tuple[str, FailureKind], list[ClaimFailure]] = defaultdict(list)
    for one in failures:
        found[class_of.get(one.query_id, "answerable"), one.failure].append(one)
    for class_, kind in sorted(found, key=lambda key: (_class_rank(key[0]), WORST_FIRST.index(key[1]))):
        own = found[class_, kind]
        yield FailureRow(
            class_=class_,
            failure=kind,
            claims=len(own),
            told_by=dict(sorted(Counter(one.told_by for one in own).items())),
            lost_at=dict(sorted(Counter(step for one in own for step in one.steps).items())),
        )


def claim_views(
    content: TraceContent, given: Mapping[str, Given | None], failures: Sequence[ClaimFailure]
) -> tuple[ClaimView, ...]:
    """The claims of one answer with what each judge says of them; none where no judge cut it."""
    if content.answer is None:
        return ()
    cuts = [one.claims.claims for one in given.values() if one is not None and one.claims is not None]
    # Judges that took the claims of a model have others than those that took sentences; no two have one id.
    claims = {one.claim_id: one for cut in cuts for one in cut}
    wrong = {(one.judge, one.claim_id): one for one in failures}
    text = content.answer.text
    return tuple(
        ClaimView(
            claim_id=claim.claim_id,
            text=(statement_of(text, claim) if claim.subject else text[claim.start : claim.end])[:CLAIM_TEXT],
            citations=tuple(place + 1 for place in claim.citations),
            verdicts=tuple(
                _verdict(name, one.rulings.get(("claim", claim.claim_id)), wrong.get((name, claim.claim_id)))
                for name, one in given.items()
                if one is not None and (one.claims is None or claim in one.claims.claims)
            ),
        )
        for claim in claims.values()
    )


def _verdict(judge: str, ruling: Ruling | None, wrong: ClaimFailure | None) -> ClaimVerdict:
    said = "[not judged]"
    if ruling is not None:
        said = ruling.label or f"[{(ruling.reason or ruling.status).replace('_', ' ')}]"
    spans = ruling.spans[:SPANS] if ruling else ()
    return ClaimVerdict(
        judge=judge,
        said=said,
        score=ruling.score if ruling else None,
        spans=tuple(f"{one.document_id} {one.start}-{one.end}" for one in spans),
        rationale=ruling.rationale[:RATIONALE] if ruling and ruling.rationale else None,
        failure=wrong.failure if wrong else None,
        also=wrong.also if wrong else (),
        told_by=wrong.told_by if wrong else None,
        label=wrong.label if wrong else None,
        steps=wrong.steps if wrong else (),
    )


def by_key(failures: Iterable[ClaimFailure]) -> dict[Key, list[ClaimFailure]]:
    """Failures by question and repeat."""
    made: dict[Key, list[ClaimFailure]] = defaultdict(list)
    for one in failures:
        made[one.query_id, one.repeat].append(one)
    return made
