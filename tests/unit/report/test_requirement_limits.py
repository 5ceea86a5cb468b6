"""A requirement that nothing could break is refused before a score is read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ragassay.errors import UsageError
from ragassay.records.score import Estimate, Population
from ragassay.report.requirement import RequirementNotMet, require

NOBODY: Any = None
RISK = "selective_risk(coverage=0.8,least=0.5,of=token_f1)"


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({}, "needs a limit"),
        ({"at_least": float("nan")}, "at_least is nan"),
        ({"at_most": float("inf")}, "at_most is inf"),
        ({"at_least": float("-inf")}, "at_least is -inf"),
        ({"at_least": 0.5, "side": "intervall"}, "side is 'intervall'"),
    ],
)
def test_a_limit_that_holds_of_anything_is_no_limit(limits: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        require(NOBODY, "recall@20", **cast(Any, limits))
    assert caught.value.hint


def _risk(class_: str, value: float | None, scored: int, reason: str | None = None) -> Estimate:
    return Estimate(
        measure=RISK, population=Population(class_=cast(Any, class_)), aggregation="set", value=value, reason=reason,
        status="undefined" if value is None else "value", attempted=10, scored=scored, undefined=10 - scored, missing=0,
        error=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("scored", "reason", "holds"),
    [
        (3, "coverage_not_reached", False),  # three of ten were answered, eight are asked for
        (0, "coverage_not_reached", False),  # none was answered: the coverage is not reached either
        (4, "one_side_only", False),
        (0, "nothing_scored", True),  # the measure says nothing of this class; the other one holds
    ],
)
def test_a_class_whose_figure_has_no_value_is_not_passed_over(scored: int, reason: str, holds: bool) -> None:
    rows = (_risk("answerable", 0.05, 8), _risk("multi_hop", None, scored, reason))
    card = cast(Any, SimpleNamespace(estimates=rows, questions=(), steps=(), rel=2))
    if holds:
        assert [one.class_ for one in require(card, RISK, at_most=0.1)] == ["answerable"]
        return
    with pytest.raises(RequirementNotMet, match="multi-hop: no value"):
        require(card, RISK, at_most=0.1)
