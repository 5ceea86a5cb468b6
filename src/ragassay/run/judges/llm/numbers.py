"""Whether the numbers and dates of a statement stand in what a model quotes from: a check that no model can talk over.

It sees figures only: a number that follows from others (a sum, an age) is not there, and one that is there may belong
to something else.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.claims import language_of
from ragassay.run.judges.lexical.quantities import Quantity, comparable, equal, quantities

RULE = "numbers/1"
_COUNTED = 4
"""Numbers below it that are written in words are counted off by a reader (`the other two`), and not looked for."""
_LONGEST = 200_000


def absent(statement: str, texts: Sequence[str], language: str | None = None) -> str | None:
    """The first number or date of a statement that stands in none of the texts, as it is written; None if all do.

    Equal is what has the same value, whatever its unit; dates in all parts that both give. Fractions and small numbers
    in words are passed over.
    """
    wanted = [one for one in quantities(statement, language or language_of(statement)) if _looked_for(one, statement)]
    if not wanted:
        return None
    there = [one for text in texts for one in quantities(text[:_LONGEST], language or language_of(text[:600]))]
    for one in wanted:
        if not any(_same(one, other) for other in there):
            return statement[one.start : one.end]
    return None


def _looked_for(one: Quantity, text: str) -> bool:
    in_words = not any(sign.isdecimal() for sign in text[one.start : one.end])
    return not (in_words and one.kind != "date" and one.value < _COUNTED)


def _same(one: Quantity, other: Quantity) -> bool:
    if "date" in (one.kind, other.kind):
        return comparable(one, other) and equal(one, other)
    return equal(one._replace(kind="count"), other._replace(kind="count"))
