"""Tables of a benchmark, printed and put into the page that shows them; measures nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

MARK = "<!-- tables -->"


def put_out(lines: Sequence[str], page: Path | None) -> None:
    """Print the lines; with a page, put them below its mark, and leave what stands above it."""
    print("\n".join(lines))
    if page:
        before = page.read_text("utf-8").partition(MARK)[0] if page.exists() else ""
        page.write_text(f"{before}{MARK}\n\n" + "\n".join(lines) + "\n", "utf-8")
