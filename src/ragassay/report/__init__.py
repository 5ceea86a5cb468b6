"""One scorecard from stored records, and the same numbers as HTML, Markdown, JSON, notebook and terminal text.

Shows what the score table holds. Scores nothing, judges nothing, opens no socket and reads no clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragassay.records.base import Digest
from ragassay.report.build import build
from ragassay.report.material import Material, load
from ragassay.report.model import Scorecard

if TYPE_CHECKING:
    from ragassay.store import Store

__all__ = [
    "Material",
    "Scorecard",
    "build",
    "html",
    "markdown",
    "notebook",
    "scorecard",
    "summary",
    "to_json",
    "weight_warning",
]


def scorecard(store: Store, scores_digest: Digest) -> Scorecard:
    """Everything that there is to show about one score table, loaded from the store and nothing else.

    Raises IntegrityError if a blob on the way is damaged or missing.
    """
    return build(load(store, scores_digest))


def html(scorecard: Scorecard) -> str:
    """One HTML file: no script needed, no network, strict content security policy. Equal scorecards, equal bytes."""
    from ragassay.report import page

    return page.html(scorecard)


def weight_warning(page_text: str) -> str | None:
    """A warning for an HTML report above 20 MB, else None."""
    from ragassay.report import page

    return page.weight_warning(page_text)


def notebook(scorecard: Scorecard) -> str:
    """A small HTML fragment for `_repr_html_`: verdict, survival, dimensions; without style, script or ids."""
    from ragassay.report import fragment

    return fragment.notebook(scorecard)


def markdown(scorecard: Scorecard) -> str:
    """The same numbers as Markdown, without escape sequences, HTML or links out of untrusted text."""
    from ragassay.report import text

    return text.markdown(scorecard)


def summary(scorecard: Scorecard) -> list[str]:
    """A few plain lines for the terminal, the verdict last."""
    from ragassay.report import text

    return text.summary(scorecard)


def to_json(scorecard: Scorecard) -> dict[str, Any]:
    """The scorecard as plain JSON values, every key present, every number as in the page."""
    import msgspec

    made: dict[str, Any] = msgspec.to_builtins(scorecard)
    return made
