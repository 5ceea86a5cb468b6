"""Judgements of many questions as arrays, and the quick question "is this item judged?"; it ranks nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.lists import Bools, Ints, by_query
from ragassay.measures.trec.decimals import parse_decimals
from ragassay.measures.trec.scan import padded, scan
from ragassay.measures.trec.source import Range, Source
from ragassay.measures.trec.texts import PAD, Texts, Words, changes, equal, hashes, joined

_GREATEST_GRADE = 2**53
_SIEVE, _WIDEST = 5, 25


class DuplicateLabelError(InputError):
    """One item has two judgements for one question; `line` is the row of the second."""


@dataclass(frozen=True)
class Labels:
    """Judgements. `names` ascend by bytes, the order in which trec_eval adds; arrays have shape (labels,)."""

    names: tuple[bytes, ...]
    query: Ints
    items: Texts
    grade: Ints

    @classmethod
    def of(cls, queries: Texts, items: Texts, grade: Ints) -> Labels:
        """Judgements from columns in any order.

        Raises:
            DuplicateLabelError: an item is judged twice for one question.
        """
        index, names = numbered(queries)
        order = sorted(range(len(names)), key=names.__getitem__)
        place = np.empty(len(names), np.int64)
        place[order] = np.arange(len(names))
        labels = cls(tuple(names[one] for one in order), place[index], items, grade)
        labels.refuse_duplicates()
        return labels

    @cached_property
    def number(self) -> dict[bytes, int]:
        """The index of each question by its name."""
        return {name: index for index, name in enumerate(self.names)}

    @cached_property
    def _bits(self) -> np.uint64:
        """How many leading bits of a key are the question; one question more is none."""
        return np.uint64(max(1, len(self.names).bit_length()))

    def keys(self, question: Ints, sizes: Ints | int, item_hashes: Words) -> Words:
        """The question, -1 for none, and behind it as much of the item's hash as has room.

        List b has the next sizes[b] rows and is of question[b].
        """
        leading = np.where(question < 0, len(self.names), question).astype(np.uint64) << (np.uint64(64) - self._bits)
        keys: Words = item_hashes >> self._bits
        keys |= np.repeat(leading, sizes)
        return keys

    def question_of(self, keys: Words) -> Ints:
        """The question of each key; one more than the last for none."""
        question: Ints = (keys >> (np.uint64(64) - self._bits)).astype(np.int64)
        return question

    @cached_property
    def _sorted(self) -> tuple[Words, Ints]:
        """Keys in ascending order, and the label of each."""
        keys = self.keys(self.query, 1, hashes(self.items))
        order = np.argsort(keys)
        return keys[order], order

    @cached_property
    def _sieve(self) -> tuple[Bools, np.uint64]:
        """A table that is True at the leading bits of every key, and how far to shift a key to get them.

        What one question needs of it lies together, so that the rows of a list look into a few hundred bytes.
        """
        each = (len(self.grade) // max(1, len(self.names))).bit_length() + _SIEVE
        shift = np.uint64(64 - min(_WIDEST, int(self._bits) + each))
        table = np.zeros(1 << (64 - int(shift)), bool)
        table[self._sorted[0] >> shift] = True
        return table, shift

    @cached_property
    def _longest_run(self) -> int:
        """The most labels that share one hash; 1 unless ids were made to collide."""
        keys = self._sorted[0]
        return int(np.unique(keys, return_counts=True)[1].max(initial=1))

    def prepare(self) -> None:
        """Build the tables now, before threads ask for them."""
        _ = self._sieve, self._longest_run, self.number

    def find(self, question: Ints, sizes: Ints, items: Texts, keys: Words) -> tuple[Ints, Ints, Ints]:
        """Rows that are judged, ascending, the label of each, and the list that it is in.

        List b has the next sizes[b] rows and is of question[b], -1 for none; `keys` are those of the rows.
        """
        table, shift = self._sieve
        rows = np.flatnonzero(table[(keys >> shift).view(np.int64)])
        list_of = np.searchsorted(np.cumsum(sizes), rows, side="right")
        asked = question[list_of] >= 0
        rows, list_of = rows[asked], list_of[asked]
        query = question[list_of]
        sought, (known, label) = keys[rows], self._sorted
        at = np.searchsorted(known, sought)
        found = np.full(len(rows), -1)
        for step in range(self._longest_run):
            spot = np.minimum(at + step, len(known) - 1)
            match = np.flatnonzero((known[spot] == sought) & (found < 0))
            own = label[spot[match]]
            same = (self.query[own] == query[match]) & equal(items, rows[match], self.items, own)
            found[match[same]] = own[same]
        hit = found >= 0
        return rows[hit], found[hit], list_of[hit]

    def refuse_duplicates(self) -> None:
        """An error if one item is judged twice for one question."""
        keys, order = self._sorted
        second = len(keys)
        for step in range(1, min(self._longest_run, len(keys) - 1) + 1):
            first = np.flatnonzero(keys[step:] == keys[:-step])
            a, b = order[first], order[first + step]
            same = (self.query[a] == self.query[b]) & equal(self.items, a, self.items, b)
            second = int(np.maximum(a, b)[same].min(initial=second))
        if second < len(keys):
            name = self.items.text(second).decode("utf-8", "replace")
            query = self.names[self.query[second]].decode("utf-8", "replace")
            raise DuplicateLabelError(
                f"{name!r} is judged twice for query {query!r}", hint="keep one judgement an item", line=second
            )

    @cached_property
    def by_grade(self) -> tuple[Ints, Ints]:
        """Question and grade of each label, by question ascending and grade descending."""
        order = by_query(self.query, -self.grade)
        return self.query[order], self.grade[order]


def numbered(texts: Texts) -> tuple[Ints, list[bytes]]:
    """A number for each text, equal for equal ones, in order of first appearance; and the texts by number."""
    starts = changes(texts)
    seen: dict[bytes, int] = {}
    block = [seen.setdefault(name, len(seen)) for name in texts.listed(starts)]
    sizes = np.diff(np.append(starts, len(texts)))
    return np.repeat(np.array(block, np.int64), sizes), list(seen)


def read_labels(path: str) -> Labels:
    """Judgements from a qrels file: query, iteration (ignored), item and whole grade in each line.

    Raises:
        InputError: with file and line, for a line that is broken, a grade that is not a whole number, or an item
            that is judged twice for one question.
    """
    queries, items, grades, offsets = [], [], [], []
    with Source(path) as source:
        _refuse_run(source)
        for piece in source.pieces():
            buffer = padded(source.read(piece))
            try:
                fields = scan(buffer, 4, (0, 2, 3))
                grade = _grades(fields.texts[2], fields.line)
            except InputError as error:
                raise placed(error, source, piece.start) from None
            queries.append(fields.texts[0])
            items.append(fields.texts[1])
            grades.append(grade)
            offsets.append(fields.line - PAD + piece.start)
        try:
            return Labels.of(joined(queries), joined(items), np.concatenate(grades))
        except DuplicateLabelError as error:
            error.line = source.line_number(int(np.concatenate(offsets)[error.line or 0]))
            raise error.at(file=source.name) from None


def _refuse_run(source: Source) -> None:
    """An error if the first line is one of a run: its fourth field, the rank, would pass for a grade."""
    first = source.read(Range(source.start, min(source.size, source.start + 4096))).split(b"\n", 1)[0].split()
    if len(first) == 6 and first[1].upper() == b"Q0":
        raise InputError(
            "this looks like a run, not judgements",
            hint="each line of judgements is: query 0 document grade; the order is QRELS RUN...",
            file=source.name,
            line=1,
        )


def placed(error: InputError, source: Source, start: int) -> InputError:
    """The error with its buffer offset made the line number of the file, for a buffer that begins at `start`."""
    if error.line is not None and not error.file:
        error.line = source.line_number(start + error.line - PAD)
        error.file = source.name
    return error


def _grades(texts: Texts, line: Ints) -> Ints:
    value, bad = parse_decimals(texts)
    wrong = (value != np.floor(value)) | (np.abs(value) >= _GREATEST_GRADE)
    wrong[bad] = True
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"the grade {texts.text(row).decode('utf-8', 'replace')!r} is not a whole number",
            hint="each line is: query 0 document grade; is this a run given as qrels?",
            line=int(line[row]),
        )
    return value.astype(np.int64)
