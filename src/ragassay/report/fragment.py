"""A scorecard as a small HTML fragment for notebooks. Holds no style, script or id that could touch its page."""

from __future__ import annotations

from ragassay.report.model import Scorecard
from ragassay.report.page import environment


def notebook(card: Scorecard) -> str:
    """Verdict, survival and dimensions; plain elements, so that the notebook's own style holds."""
    return environment().get_template("notebook.html.j2").render(card=card)
