"""Demands that no value of a measure could break: whatever was measured, or was not, they would hold. Reads no value.

`ragassay policy check` refuses them before a run; where one was sealed all the same, it passes nothing.
"""

from __future__ import annotations

import math
from typing import Any

from ragassay.gate.bounds import TOLERANCE

REASON = "nothing_could_break_it"


def idle(row: Any, within: tuple[float, float] | None) -> str | None:
    """Why a demand with `at_least`, `at_most` or `margin` is kept by every value; None where one could break it.

    `within` is the range of one value; None: from 0 on, without a greatest. The key that is idle is the first word of
    what is told.
    """
    least, greatest = within or (0.0, math.inf)
    floor, ceiling, margin = (getattr(row, key, None) for key in ("at_least", "at_most", "margin"))
    if floor is not None and floor <= least + TOLERANCE:
        return f"at_least = {floor:g}: values lie in [{least:g}, {greatest:g}]"
    if ceiling is not None and ceiling >= greatest - TOLERANCE:
        return f"at_most = {ceiling:g}: values lie in [{least:g}, {greatest:g}]"
    if margin is not None and margin >= greatest - least - TOLERANCE:
        return f"margin = {margin:g}: differences lie in [{least - greatest:g}, {greatest - least:g}]"
    return None
