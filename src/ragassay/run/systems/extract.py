"""An answer copied from passages: the sentences that cover the question best, each cited. Writes no text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragassay.run.systems.bm25 import terms

_LONGEST_SENTENCE = 1000
_LEAST_GAIN = 0.1


class Sentence(NamedTuple):
    """A sentence of the context: where it stands, and how much of the question it covers, 0 to 1."""

    item_id: str
    text: str
    terms: frozenset[str]
    coverage: float


class Extract(NamedTuple):
    """An answer, what it cites as (start, end, item id), and the coverage of its best sentence."""

    text: str
    citations: list[tuple[int, int, str]]
    coverage: float


def sentences(text: str) -> list[str]:
    """Sentences by their end marks and line ends, white space at the ends off; the longest is cut at 1000 characters.

    >>> sentences("It rains 3.5 mm. Bring a coat!\\nNow")
    ['It rains 3.5 mm.', 'Bring a coat!', 'Now']
    """
    found: list[str] = []
    for line in text.splitlines():
        start = 0
        for mark in re.finditer(r"[.!?]+[\"')\]]*(?=\s)|[。！？؟।]", line):
            found.append(line[start : mark.end()].strip())
            start = mark.end()
        found.append(line[start:].strip())
    return [one[:_LONGEST_SENTENCE] for one in found if one]


def extract(query: str, context: Sequence[tuple[str, str]], *, idf: Callable[[str], float], most: int) -> Extract:
    """The best sentences of a context of (item id, text) for a query; no text if nothing covers any of it.

    Coverage is the idf mass of the query's words that a sentence holds, over that of all of them. The first sentence
    is the one with the highest coverage (ties: context order); each further one must add a tenth or more.
    """
    wanted = {one: idf(one) for one in terms(query)}
    total = sum(wanted.values())
    if not total:
        return Extract("", [], 0.0)
    pool = [
        Sentence(item_id, text, held, round(sum(wanted[one] for one in sorted(held)) / total, 6))
        for item_id, passage in context
        for text in sentences(passage)
        if (held := frozenset(terms(text)) & wanted.keys())
    ]
    chosen: list[Sentence] = []
    covered: set[str] = set()
    while pool and len(chosen) < most:
        gains = [sum(wanted[one] for one in sorted(each.terms - covered)) / total for each in pool]
        best = max(range(len(pool)), key=lambda number: (round(gains[number], 6), -number))
        if chosen and gains[best] < _LEAST_GAIN:
            break
        chosen.append(pool.pop(best))
        covered |= chosen[-1].terms
    return _joined(chosen)


def _joined(chosen: Sequence[Sentence]) -> Extract:
    text, citations = "", []
    for one in chosen:
        start = len(text) + 1 if text else 0
        text = f"{text} {one.text}" if text else one.text
        citations.append((start, len(text), one.item_id))
    return Extract(text, citations, chosen[0].coverage if chosen else 0.0)
