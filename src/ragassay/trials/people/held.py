"""One item with what people say of it and what a judge says. Aggregates nothing."""

from __future__ import annotations

from typing import NamedTuple

from ragassay.records.case import CaseClass
from ragassay.records.judgement import SCALES, About
from ragassay.records.score import Interval
from ragassay.score.verdicts import Ruling
from ragassay.stats.intervals import Interval as Found


class Held(NamedTuple):
    """An item on which people have a label."""

    about: About
    scale: str
    class_: CaseClass
    cluster: str
    people: str
    ruling: Ruling
    length: int
    """Code points of what was judged."""
    place: float | None
    """Of a claim in its answer, from 0."""

    @property
    def good(self) -> bool:
        """Whether people give the good label of the scale."""
        return self.people == SCALES[self.scale][0]

    @property
    def judge_good(self) -> bool:
        """Whether the judge does."""
        return self.ruling.label == SCALES[self.scale][0]


def record_interval(found: Found) -> Interval | None:
    """An interval as a record; None where it has no ends."""
    if found.low is None or found.high is None:
        return None
    return Interval(low=found.low, high=found.high, level=found.level, method=found.method, clusters=found.clusters)
