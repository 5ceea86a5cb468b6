"""Marks by which an answer cites, in a declared form. Looks nothing up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ragassay.errors import UsageError


class Mark(NamedTuple):
    """A citation in an answer: where it stands, and what stands in it."""

    start: int
    end: int
    name: str


class CitationForm:
    """How an answer cites: `n`, the number of an item in the context, or `id`, its id, between two marks.

    `[n]` reads [2], [1][3], [1, 3] and [1-3]; `(id)` reads (doc-7) where doc-7 is in the context.
    """

    def __init__(self, form: str) -> None:
        found = re.fullmatch(r"(\W+)(n|id)(\W+)", form.strip()) if isinstance(form, str) else None
        if found is None:
            raise UsageError(
                f"{form!r} is no form of citations",
                field="citations",
                hint='"[n]", "(n)", "[id]"; "" for none',
            )
        self.form, self._by_number = form.strip(), found[2] == "n"
        inner = r"\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*" if self._by_number else r"[^\n]{1,256}?"
        self._mark = re.compile(f"{re.escape(found[1])}({inner}){re.escape(found[3])}")

    def marks(self, text: str, ids: Sequence[str]) -> list[Mark]:
        """The citations of an answer in their order: an id of the context, or the mark itself if it names none.

        A mark in the form `id` that names nothing in the context is taken for ordinary text.

        >>> CitationForm("[n]").marks("It rains [2], often [1, 7].", ["p1", "p2"])
        [Mark(start=9, end=12, name='p2'), Mark(start=20, end=26, name='p1'), Mark(start=20, end=26, name='[7]')]
        """
        made: list[Mark] = []
        for found in self._mark.finditer(text):
            for name in self._names(found[1], ids):
                made.append(Mark(found.start(), found.end(), name))
        return made

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where anything in this form stands, whatever it names."""
        return [one.span() for one in self._mark.finditer(text)]

    def _names(self, inner: str, ids: Sequence[str]) -> list[str]:
        if not self._by_number:
            return [one for one in (part.strip() for part in inner.split(",")) if one in ids]
        numbers: list[int] = []
        for part in re.split(r"[,;]", inner):
            ends = [int(one) for one in re.split(r"[–-]", part)]
            span = range(ends[0], ends[-1] + 1)
            numbers += span if len(ends) == 2 and 0 < len(span) <= len(ids) else ends
        left, right = self.form.split("n", 1)
        return [ids[one - 1] if 1 <= one <= len(ids) else f"{left}{one}{right}" for one in dict.fromkeys(numbers)]
