"""What judges said of one run, as scoring reads it: a ruling an item, under the sealed threshold. Asks no judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragassay.errors import IntegrityError
from ragassay.measures import Measure
from ragassay.records.document import Span
from ragassay.records.judgement import About, AnswerClaims, Judgement, JudgementSet
from ragassay.records.protocol import Run, Scoring
from ragassay.records.score import Status
from ragassay.store import Store

Key = tuple[str, int]
NOT_JUDGED = "not_judged"
NO_MAJORITY = "no_majority"
NO_SCORE = "no_score"


class Ruling(NamedTuple):
    """What one judge says of one item, its repeats taken together."""

    status: Status
    label: str | None = None
    reason: str | None = None
    score: float | None = None
    """Mean over the repeats that have one."""
    spans: tuple[Span, ...] = ()
    rationale: str | None = None
    repeats: int = 1
    """Verdicts that have a label."""
    flipped: bool = False
    """Two of them have other labels."""


class Given(NamedTuple):
    """All that one judge said of one answer."""

    claims: AnswerClaims | None
    rulings: Mapping[tuple[About, str], Ruling]


class Verdicts:
    """One judge's set on one run."""

    def __init__(
        self, record: JudgementSet, claims: Iterable[AnswerClaims], judgements: Iterable[Judgement],
        threshold: float | None = None,
    ) -> None:  # fmt: skip
        """`threshold`: the least score of *supported*, in place of the judge's own."""
        self.record = record
        cut: dict[Key, AnswerClaims] = {(one.query_id, one.repeat): one for one in claims}
        found: dict[Key, dict[tuple[About, str], list[Judgement]]] = defaultdict(lambda: defaultdict(list))
        for one in judgements:
            found[one.query_id, one.repeat][one.about, one.target].append(relabelled(one, threshold))
        self._given = {
            key: Given(cut.get(key), {item: united(own) for item, own in found.get(key, {}).items()})
            for key in {*cut, *found}
        }

    def rulings(self) -> Iterator[Ruling]:
        """Every ruling, in no order."""
        for one in self._given.values():
            yield from one.rulings.values()

    def items(self, about: str) -> Iterator[tuple[Key, str, Ruling]]:
        """Every item of one kind: question and repeat, target, ruling."""
        for key, given in self._given.items():
            for (kind, target), ruling in given.rulings.items():
                if kind == about:
                    yield key, target, ruling

    def claims(self) -> Iterator[AnswerClaims]:
        """Every answer that was cut into claims."""
        for given in self._given.values():
            if given.claims is not None:
                yield given.claims

    @property
    def disqualified(self) -> bool:
        """Whether the judge failed its controls, so that nothing that it said counts."""
        return self.record.state == "disqualified"

    @property
    def absent(self) -> str:
        """Why an answer has no verdicts."""
        return (self.record.stopped if self.record.state == "partial" else None) or NOT_JUDGED

    def given(self, query_id: str, repeat: int) -> Given | None:
        """What was said of one answer; None where nothing was."""
        return self._given.get((query_id, repeat))


def relabelled(one: Judgement, threshold: float | None) -> Judgement:
    """A verdict on support under another threshold. A contradiction stays one; a verdict without score is missing."""
    if threshold is None or one.label is None or one.scale != "support/1" or one.label == "contradicted":
        return one
    if one.score is None:
        return _with(one, status="missing", label=None, reason=NO_SCORE)
    return _with(one, label="supported" if one.score >= threshold - 1e-12 else "unsupported")


def _with(one: Judgement, **changed: object) -> Judgement:
    fields = {name: getattr(one, name) for name in one.__struct_fields__}
    return Judgement(**{**fields, **changed})


def united(own: Sequence[Judgement]) -> Ruling:
    """The ruling of a judge that was asked once or several times: the label of more than half of all its repeats.

    Without one it is missing(no_majority); where no repeat has a label, what the first says of that.
    """
    own = sorted(own, key=lambda one: one.judge_repeat or 0)
    labels = Counter(one.label for one in own if one.label is not None)
    scores = [one.score for one in own if one.score is not None]
    score = sum(scores) / len(scores) if scores else None
    if not labels:
        return Ruling(own[0].status, None, own[0].reason, score, repeats=0)
    repeats, flipped = sum(labels.values()), len(labels) > 1
    label, count = min(labels.items(), key=lambda one: (-one[1], one[0]))
    if 2 * count <= len(own):
        return Ruling("missing", None, NO_MAJORITY, score, repeats=repeats, flipped=flipped)
    first = next(one for one in own if one.label == label)
    return Ruling("value", label, None, score, first.spans, first.rationale, repeats, flipped)


def judges_of(scoring: Scoring, measures: Iterable[Measure]) -> tuple[str, ...]:
    """The judges whose sets are read: those of the scoring layer, then those that a measure names."""
    named = [str(by) for one in measures for by in (one.get("by"), one.inner and one.inner.get("by")) if by]
    return tuple(dict.fromkeys((*scoring.judges, *named)))


def read(
    store: Store, run: Run, scoring: Scoring, judges: Iterable[str], judged: Mapping[str, str]
) -> dict[str, Verdicts]:
    """The sets of these judges, each once; a judge without a set is left out.

    Raises IntegrityError for a set of another run, or one that goes under another name.
    """
    made = {}
    for name in judges:
        if name not in judged:
            continue
        record = store.get_record(JudgementSet, judged[name])
        if record.run != run.identity() or record.name != name:
            what = f"judge {record.name}" if record.name != name else "another run"
            raise IntegrityError(
                f"the judgements given for {name} are of {what}",
                field=f"judged.{name}",
                hint="judge this run, or score the run that was judged",
            )
        made[name] = verdicts_of(store, record, scoring.judge_thresholds.get(name))
    return made


def verdicts_of(store: Store, record: JudgementSet, threshold: float | None = None) -> Verdicts:
    """A set out of the store."""
    claims, judgements = store.get_lines(AnswerClaims, record.claims), store.get_lines(Judgement, record.judgements)
    return Verdicts(record, claims, judgements, threshold)
