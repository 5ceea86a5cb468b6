"""Which marks of an answer it copied, words and all, from a text that it was shown. Says nothing of the others."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ragassay.claims.forms import CitationForm, Mark

RULE = "marks copied with 3 words beside them are none/1"
"""What is sealed of it; another number where the rule is another one."""
_WORDS = 3
_WORD = re.compile(r"\w+")
_Key = tuple[tuple[str, ...], str, tuple[str, ...]]


class Told(NamedTuple):
    """The marks of an answer: its own ones, and those that it copied."""

    own: list[Mark]
    copied: list[Mark]


def told(text: str, marks: Sequence[Mark], shown: Iterable[str], form: CitationForm) -> Told:
    """Marks that are the answer's own, and those that stand in a text of `shown` in the same words.

    A mark is copied if it stands in one of these texts with the same three words in a row beside it (so many before it,
    the others behind it), or with all words of the answer where it has one or two. White space, punctuation and case
    do not count, marks beside it count as words. An answer that is a mark and nothing else copies nothing.

    >>> form = CitationForm("[n]")
    >>> answer = "The keep was built in 1080 [3]. It still stands [1]."
    >>> found = told(answer, form.marks(answer, ["p1", "p2", "p3"]), ["... was built in 1080 [3] by monks."], form)
    >>> [one.name for one in found.own], [one.name for one in found.copied]
    (['p1'], ['p3'])
    """
    spans = list(dict.fromkeys((one.start, one.end) for one in marks))
    answer = _Words(text)
    most = min(_WORDS, max((answer.beside(*one) for one in spans), default=0))
    there = {key for one in shown for key in _keys_of(one, form, most)} if most else set()
    copied = {span for span in spans if any(key in there for key in answer.keys(*span, most))}
    return Told(
        [one for one in marks if (one.start, one.end) not in copied],
        [one for one in marks if (one.start, one.end) in copied],
    )


def _keys_of(shown: str, form: CitationForm, most: int) -> Iterator[_Key]:
    """What stands around each mark of a text that was shown."""
    spans = form.spans(shown)
    if spans:
        words = _Words(shown)
        for span in spans:
            yield from words.keys(*span, most)


class _Words:
    """The words of a text, by place."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = [(one.start(), one.end(), one[0].casefold()) for one in _WORD.finditer(text)]
        self._starts, self._ends = [one[0] for one in found], [one[1] for one in found]
        self._words = tuple(one[2] for one in found)

    def beside(self, start: int, end: int) -> int:
        """How many words stand before and behind a mark."""
        before, behind = self._places(start, end)
        return before + len(self._words) - behind

    def keys(self, start: int, end: int, most: int) -> Iterator[_Key]:
        """The mark with `most` words in a row beside it, in every way."""
        before, behind = self._places(start, end)
        mark = "".join(self._text[start:end].split())
        for left in range(most + 1):
            right = most - left
            if left <= before and behind + right <= len(self._words):
                yield self._words[before - left : before], mark, self._words[behind : behind + right]

    def _places(self, start: int, end: int) -> tuple[int, int]:
        """How many words end before a mark, and the place of the first one that begins behind it."""
        return bisect_right(self._ends, start), bisect_left(self._starts, end)
