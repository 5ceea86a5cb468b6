"""The page of a comparison. Computes no number and writes no file."""

from __future__ import annotations

from collections import Counter
from functools import cache

import jinja2

from ragassay.records.comparison import Effect
from ragassay.report import page
from ragassay.report.dimensions import unit_of
from ragassay.report.versus import say
from ragassay.report.versus.forest import MOST, RATIOS, forest, plotted
from ragassay.report.versus.model import Versus
from ragassay.report.words import value_text

FLAG_WORDS = {
    "changed": "Changed",
    "regressed": "Regressed",
    "improved": "Improved",
    "error": "Errors",
    "undefined": "Undefined",
    "unjudged": "Unjudged",
}
KIND_WORDS = {
    "improved": "better",
    "regressed": "worse",
    "changed": "other",
    "appeared": "has a value now",
    "disappeared": "has no value now",
}


def html(made: Versus) -> str:
    """One page with every question; the list opens on those that changed."""
    template = _environment().get_template("versus.html.j2")
    row = _environment().get_template("versus_question.html.j2").module.question  # type: ignore[attr-defined]
    listing = page.Listing(
        rows=[row(one, number, made) for number, one in enumerate(made.questions)],
        total=len(made.questions),
        flags={str(name): count for name, count in made.flags.items()},
        outcomes={},
        classes=dict(Counter(one.class_ for one in made.questions)),
    )
    return template.render(card=made, listing=listing, **page.frame())


@cache
def _environment() -> jinja2.Environment:
    made = page.environment().overlay()
    made.globals = {
        **page.environment().globals,
        "forest": forest,
        "plotted": plotted,
        "most_plotted": MOST,
        "signed": signed,
        "side": side,
        "apart": say.apart,
        "moved_words": FLAG_WORDS,
        "kind_words": KIND_WORDS,
        "value_of": value_of,
    }
    return made


def unit_for(one: Effect) -> str:
    """The unit to print an effect in."""
    return one.unit or unit_of(one.measure)


def signed(value: float | None, one: Effect) -> str:
    """A difference of an effect's measure with its sign."""
    return say.signed(value, unit_for(one))


def side(value: float | None, one: Effect) -> str:
    """A mean of one arm."""
    return "" if value is None else value_text(value, unit_for(one))


def value_of(value: float | None, status: str, measure: str) -> str:
    """A question's value on one side, or why there is none."""
    unit = unit_of(measure)
    return status if value is None else value_text(value, "ratio" if unit in RATIOS else unit)
