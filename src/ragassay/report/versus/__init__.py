"""A comparison as one HTML page: what moved, by how much and how surely, at which step, and why. Compares nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragassay.records.base import Digest
from ragassay.report.model import Verdict
from ragassay.report.versus.model import Versus

if TYPE_CHECKING:
    from ragassay.store import Store

__all__ = ["Versus", "html", "versus"]


def versus(store: Store, comparison: Digest, decision: Verdict | None = None, bodies: int = 200) -> Versus:
    """Everything that there is to show about a stored comparison.

    `decision` is the first thing said; without one the page says that nothing was decided. At most `bodies` questions
    show both answers and both lists, those with new losses and the largest differences first; the others are rows.
    Raises IntegrityError if a blob on the way is damaged or missing.
    """
    from ragassay.report.versus.build import build

    return build(store, comparison, decision, bodies)


def html(made: Versus) -> str:
    """One HTML file: no script needed, no network, strict content security policy. Equal records, equal bytes."""
    from ragassay.report.versus.page import html as render

    return render(made)
