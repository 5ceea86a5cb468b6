"""A requirement that nothing could break is refused before a score is read."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ragassay.errors import UsageError
from ragassay.report.requirement import require

NOBODY: Any = None


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
