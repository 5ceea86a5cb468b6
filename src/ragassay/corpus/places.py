"""Where a dense text stands in many dense texts, and what parts of it do. Knows no document and decides nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

BREAK = "\ud800"
"""Stands between texts: a lone surrogate is in no dense text."""
GRAM = 12
STEP = 4
"""The index holds a hash of GRAM characters at every STEP-th place: 13 to 14 bytes a place, so 3.5 a character."""
LEAST = GRAM + STEP - 1
"""Every text of this length, wherever it stands, holds a place of the index; shorter ones are looked for in order."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MOST_PLACES = 1000
_MOST_TRIED = 4000
_MOST_OFFSETS = 4096
_MOST_COMPARED = 50_000_000
_AT_ONCE = 1 << 22
_FREQUENT = 64
_MOST_SEEDS = 50_000

Hashes = npt.NDArray[np.uint64]
Ranks = npt.NDArray[np.int64]


class Block(NamedTuple):
    """Characters `start` to `end` of the wanted text stand in text `text` from `at` on, and no longer stretch does."""

    start: int
    end: int
    text: int
    at: int


class Places:
    """An index over dense texts. Answers are complete and exact: hashes only say where to compare.

    Time: linear in the texts to build. Looking up costs about 0.1 ms; a text shorter than LEAST, or made of what stands
    everywhere, costs a pass over all texts.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._joined = BREAK.join(texts)
        ends = np.cumsum([len(one) + 1 for one in texts], dtype=np.int64)
        self._starts: list[int] = [0, *ends[:-1].tolist()] if len(texts) else []
        self._hashes, self._at = _index(self._joined)
        self._filter = _filter(self._hashes)

    def text(self, number: int) -> str:
        """One of the texts."""
        start = self._starts[number]
        end = self._starts[number + 1] - 1 if number + 1 < len(self._starts) else len(self._joined)
        return self._joined[start:end]

    def char(self, number: int, at: int) -> str:
        """One character of one of the texts; behind its end there is none."""
        char = self._joined[self._starts[number] + at : self._starts[number] + at + 1]
        return "" if char == BREAK else char

    def find(self, wanted: str) -> list[tuple[int, int]]:
        """(text, start) of the places of a text in order, overlapping ones too; of very many only the first ones."""
        if not wanted or BREAK in wanted:
            return []
        starts = None if len(wanted) < LEAST else self._candidates(wanted)
        if starts is None:
            return [self._local(at) for at in self._scan(wanted)]
        most = most_places(wanted)
        found = []
        for at in starts:
            if self._joined.startswith(wanted, at):
                found.append(self._local(at))
                if len(found) >= most:
                    break
        return found

    def _scan(self, wanted: str) -> list[int]:
        found: list[int] = []
        most = most_places(wanted)
        at = self._joined.find(wanted)
        while at >= 0 and len(found) < most:
            found.append(at)
            at = self._joined.find(wanted, at + 1)
        return found

    def _candidates(self, wanted: str) -> list[int] | None:
        """Places at which the rarest STEP neighbouring grams could stand; None if even these stand everywhere.

        Eight groups spread over the text are looked at, and all of its beginning if these are frequent.
        """
        last = min(len(wanted), _MOST_OFFSETS) - GRAM - STEP + 1
        groups = sorted({last * number // 7 for number in range(8)})
        for firsts in (groups, range(last + 1)):
            offsets = [first + number for first in firsts for number in range(STEP)]
            low, high = self._ranges(_hashes(_codes(wanted[: last + GRAM + STEP - 1]), 1)[offsets])
            totals = (high - low).reshape(-1, STEP).sum(axis=1)
            rarest = int(np.argmin(totals))
            if int(totals[rarest]) <= _MOST_TRIED:
                chosen = range(rarest * STEP, rarest * STEP + STEP)
                found = [self._at[low[one] : high[one]].astype(np.int64) - offsets[one] for one in chosen]
                starts = np.unique(np.concatenate(found))
                kept: list[int] = starts[starts >= 0].tolist()
                return kept
        return None

    def _ranges(self, hashes: Hashes) -> tuple[Ranks, Ranks]:
        """Where in the index each hash begins and ends; most hashes are not in it, which the filter knows."""
        low = np.zeros(len(hashes), np.int64)
        high = low.copy()
        slots = hashes & np.uint64(8 * len(self._filter) - 1)
        bits = self._filter[(slots >> np.uint64(3)).astype(np.int64)] >> (7 - (slots & np.uint64(7))).astype(np.uint8)
        near = np.flatnonzero(bits & 1)
        order = near[np.argsort(hashes[near])]
        low[order] = np.searchsorted(self._hashes, hashes[order], "left")
        high[order] = np.searchsorted(self._hashes, hashes[order], "right")
        return low, high

    def _local(self, at: int) -> tuple[int, int]:
        number = bisect_right(self._starts, at) - 1
        return number, at - self._starts[number]

    def blocks(self, wanted: str) -> list[Block]:
        """The longest stretches that stand somewhere, of at least GRAM characters; all those of LEAST that are rare."""
        if len(wanted) < GRAM:
            return []
        hashes = _hashes(_codes(wanted), 1)
        low, high = self._ranges(hashes)
        counts = high - low
        counts[counts > _FREQUENT] = 0
        offsets = np.repeat(np.arange(len(hashes)), counts)[:_MOST_SEEDS]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        places = self._at[(np.repeat(low, counts) + within)[:_MOST_SEEDS]].astype(np.int64)
        reached: dict[int, int] = {}
        found = []
        for offset, place in zip(offsets.tolist(), places.tolist(), strict=True):
            if offset < reached.get(place - offset, 0):
                continue
            back = self._alike(wanted, offset, place, -1)
            ahead = self._alike(wanted, offset, place, 1)
            if back + ahead < GRAM:
                continue
            reached[place - offset] = offset + ahead
            found.append(Block(offset - back, offset + ahead, *self._local(place - back)))
        return found

    def _alike(self, wanted: str, offset: int, place: int, way: int) -> int:
        """How many characters agree from here on (way 1) or before here (way -1)."""
        texts, length, step = self._joined, 0, 64
        room = len(wanted) - offset if way > 0 else min(offset, place)
        while step and length < room:
            part = min(step, room - length)
            if way > 0:
                same = texts.startswith(wanted[offset + length : offset + length + part], place + length)
            else:
                end = offset - length
                same = texts.startswith(wanted[end - part : end], place - length - part)
            if same:
                length += part
                step = min(step * 2, 1 << 16)
            else:
                step = min(step, part) // 2
        return length


def most_places(wanted: str) -> int:
    """How many places are looked at: fewer of a long text, so that no text costs more than a fixed time."""
    return max(2, min(_MOST_PLACES, _MOST_COMPARED // len(wanted)))


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _hashes(codes: npt.NDArray[np.uint32], step: int) -> Hashes:
    """A hash of the GRAM characters at every `step`-th place."""
    count = len(codes) - GRAM + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    made = np.zeros(-(-count // step), np.uint64)
    for number in range(GRAM):
        made *= _FACTOR
        made += codes[number : number + count : step]
    made ^= made >> np.uint64(29)
    return made


def _index(joined: str) -> tuple[Hashes, npt.NDArray[np.uint32] | npt.NDArray[np.int64]]:
    hashes: list[Hashes] = []
    for start in range(0, len(joined), _AT_ONCE):
        hashes.append(_hashes(_codes(joined[start : start + _AT_ONCE + GRAM - 1]), STEP))
    every = np.concatenate(hashes) if hashes else np.zeros(0, np.uint64)
    order = np.argsort(every, kind="stable")
    at = order * STEP
    return every[order], at.astype(np.uint32) if len(joined) < 1 << 32 else at


def _filter(hashes: Hashes) -> npt.NDArray[np.uint8]:
    """One bit for each value of the lowest bits: whether a hash has it; eight bits or more for each hash."""
    size = 1 << max(3, (8 * max(1, len(hashes)) - 1).bit_length())
    seen = np.zeros(size, np.bool_)
    seen[(hashes & np.uint64(size - 1)).astype(np.int64)] = True
    return np.packbits(seen)
