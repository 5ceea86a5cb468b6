"""Values of what no question has by itself: groups of paraphrases, and repeats of one question. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.gate.evidence import Evidence
from ragassay.measures import Measure
from ragassay.records.case import Case
from ragassay.score.aggregate import flip
from ragassay.score.derived import GROUPED, passed
from ragassay.score.paraphrases import groups, summary_of, told_of, variants
from ragassay.score.summary import Summary, summarise

OF_REPEATS = frozenset({"pass_k", "flip_rate"})
OF_MANY = GROUPED | OF_REPEATS
"""Measures of which a group, or a question with all its repeats, has one value: their mean has a bound as any other."""


def base_of(measure: Measure) -> Measure:
    """The measure whose rows say it: the one in `of`, else itself."""
    return measure.inner or measure if measure.name in OF_MANY else measure


def repeats_of(measure: Measure) -> int:
    """How many repeats a question needs in order to have a value of it."""
    return int(measure.get("k") or 1) if measure.name == "pass_k" else 2


def noun_of(measure: Measure) -> str:
    """What has a value of it."""
    return "group" if measure.name in GROUPED else "question"


def units(
    evidence: Evidence, measure: Measure, place: str | None, own: Sequence[Case]
) -> Iterator[tuple[Case, Summary]]:
    """Each group of paraphrases among these questions (its first stands for it), or each question, with its value."""
    rows = evidence.observed.at(str(base_of(measure)), place)
    if measure.name in GROUPED:
        for _, members in sorted(groups(own).items()):
            yield members[0], summary_of(told_of(measure, variants(measure, members, rows)))
        return
    inner = base_of(measure).declared
    for case in own:
        mine = rows.get(case.query_id, [])
        if not mine:
            continue
        yield case, passed(measure, mine) if measure.name == "pass_k" else flip(summarise(mine, inner.low, inner.high))
