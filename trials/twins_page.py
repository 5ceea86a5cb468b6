"""The page about the twins, from the results that `trials/twins.py` keeps. Asks nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def page(results: list[dict[str, Any]], missing: Callable[[dict[str, Any]], str]) -> str:
    """Markdown."""
    lines = ["# Twins", ""]
    for one in results:
        lines.append(f"- {one['what']}: {missing(one)}")
    return "\n".join([*lines, ""])
