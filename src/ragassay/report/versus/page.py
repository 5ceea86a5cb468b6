"""The page of a comparison. Computes no number and writes no file."""

from __future__ import annotations

from collections import Counter
from functools import cache

import jinja2

from ragassay.records.comparison import Effect, Move
from ragassay.report import page
from ragassay.report.compared.cells import DOUBTS, doubts
from ragassay.report.dimensions import unit_of
from ragassay.report.versus import say
from ragassay.report.versus.forest import MOST, RATIOS, forest, plotted, strip
from ragassay.report.versus.model import Versus
from ragassay.report.words import short, value_text

FLAG_WORDS = {
    "changed": "Changed",
    "regressed": "Regressed",
    "improved": "Improved",
    "error": "Errors",
    "undefined": "Undefined",
    "missing": "Missing",
    "unjudged": "Unjudged",
}
KIND_WORDS = {
    "improved": "better",
    "regressed": "worse",
    "changed": "other",
    "appeared": "has a value now",
    "disappeared": "has no value now",
}
MOST_EFFECTS = 500
"""Rows of the table of all other effects."""
MOST_CHANGES = 200
MOST_STATED = 300


def html(made: Versus) -> str:
    """One page with every question; the list opens on those that changed."""
    rows = _environment().get_template("versus_question.html.j2").module
    listing = page.Listing(
        rows=[
            rows.line(one, number) if one.pairs is None else rows.question(one, number)  # type: ignore[attr-defined]
            for number, one in enumerate(made.questions)
        ],
        total=len(made.questions),
        flags={str(name): count for name, count in made.flags.items() if count or name != "missing"},
        outcomes={},
        classes=dict(Counter(one.class_ for one in made.questions)),
    )
    template = _environment().get_template("versus.html.j2")
    return template.render(card=made, listing=listing, **page.frame())


@cache
def _environment() -> jinja2.Environment:
    made = page.environment().overlay()
    made.globals = {
        **page.environment().globals,
        "forest": forest,
        "plotted": plotted,
        "strip": strip,
        "most_plotted": MOST,
        "most_effects": MOST_EFFECTS,
        "most_changes": MOST_CHANGES,
        "signed": signed,
        "side": side,
        "apart": say.apart,
        "better": say.better,
        "moved_words": FLAG_WORDS,
        "kind_words": KIND_WORDS,
        "value_of": value_of,
        "move_words": move_words,
        "failed_words": failed_words,
        "difference": difference,
        "stated": stated,
        "doubts": doubts,
        "doubt_words": DOUBTS,
        "at_floor": at_floor,
    }
    return made


def signed(value: float | None, one: Effect) -> str:
    """A difference of an effect's measure with its sign."""
    return say.signed(value, say.unit_for(one))


def side(value: float | None, one: Effect) -> str:
    """A mean of one arm."""
    return "" if value is None else value_text(value, say.unit_for(one))


def value_of(value: float | None, status: str, measure: str) -> str:
    """A question's value on one side, or why there is none."""
    unit = unit_of(measure)
    return status if value is None else value_text(value, "ratio" if unit in RATIOS else unit)


def failed_words(failed: tuple[str | None, str | None]) -> list[str]:
    """`failed: timeout at rerank, now`; nothing for a question that has an answer on both sides."""
    if failed[0] == failed[1]:
        return [f"{failed[0]}, before and now"] if failed[0] else []
    return [f"{one}, {when}" for one, when in zip(failed, ("before", "now"), strict=True) if one]


def difference(one: Move) -> str:
    """A question's difference in its unit; nothing where a side has no value."""
    return say.signed(one.difference, unit_of(one.measure))


def move_words(one: Move) -> str:
    """`0.500 → 0.250`."""
    before = value_of(one.baseline, one.baseline_status, one.measure)
    return f"{before} → {value_of(one.candidate, one.candidate_status, one.measure)}"


def stated(value: str) -> str:
    """What a changed artefact was: a digest short enough to read, anything else whole up to 300 characters."""
    return short(value) if value.startswith("sha256:") else value[:MOST_STATED]


def at_floor(one: Effect) -> bool:
    """Whether no data of this size could have given a lower p, though a higher one."""
    return one.test is not None and one.test.p <= one.test.floor * (1 + 1e-9) < 1
