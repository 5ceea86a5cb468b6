"""Ranks of the judged items of whole lists, from scores and ids: ties, duplicates, any order; it reads no file.

The order is trec_eval's: score descending, then item id descending by bytes; the order of the rows is not read.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError
from ragassay.measures.lists import Floats, Ints
from ragassay.measures.trec.labels import Labels
from ragassay.measures.trec.texts import Texts, Words, descending, equal, greater, hashes

Precision = Literal["double", "single"]
_PAIRS = 1 << 20
_ROOM = 31
_HALF, _SIEVE, _FEW = 32, 16, 1024
_NONE: Ints = np.zeros(0, np.int64)


class Block(NamedTuple):
    """Rows of whole lists: list b has the rows start[b] to start[b + 1], and is of question query[b], -1 for none."""

    start: Ints
    query: Ints
    items: Texts
    scores: Floats


class Ranked(NamedTuple):
    """Judged rows of one precision: question, rank, label, and the first and last rank of the row's tie."""

    query: Ints
    rank: Ints
    first: Ints
    last: Ints
    label: Ints
    tied: Ints
    """Items of each list that share their score with another; shape (lists,)."""


class Judged(NamedTuple):
    """What one block gives. Arrays of shape (lists,) unless said otherwise."""

    query: Ints
    retrieved: Ints
    duplicates: Ints
    ranked: dict[Precision, Ranked]


def rank(block: Block, labels: Labels, precisions: tuple[Precision, ...], *, strict: bool = False) -> Judged:
    """Ranks of the judged items of the block's lists; a duplicate counts once, at its highest score.

    Raises:
        InputError: with `strict`, a list holds an item twice; `line` is the row of the second.
    """
    sizes = np.diff(np.append(block.start, len(block.items)))
    item_hashes = hashes(block.items)
    keys = labels.keys(block.query, sizes, item_hashes)
    doubled = _doubled(block, keys, sizes, labels) if _may_repeat(keys, item_hashes, sizes) else _NONE
    duplicates = np.zeros(len(sizes), np.int64)
    if len(doubled):
        if strict:
            row = int(doubled.min())
            name = block.items.text(row).decode("utf-8", "replace")
            raise InputError(
                f"{name!r} stands twice in one list",
                hint="trec_eval refuses this; mode=native counts it once",
                line=row,
            )
        kept = np.ones(len(keys), bool)
        kept[doubled] = False
        row_list = np.repeat(np.arange(len(sizes)), sizes)
        duplicates = np.bincount(row_list[doubled], minlength=len(sizes))
        sizes = sizes - duplicates
        block = Block(np.cumsum(sizes) - sizes, block.query, block.items.take(kept), block.scores[kept])
        keys = keys[kept]
    found = _Found(*labels.find(block.query, sizes, block.items, keys))
    ranked = {
        one: _ranked(block, block.scores if one == "double" else block.scores.astype(np.float32), found)
        for one in precisions
    }
    return Judged(block.query, sizes, duplicates, ranked)


class _Found(NamedTuple):
    """Judged rows, their labels, and the list that each is in."""

    rows: Ints
    label: Ints
    list_of: Ints


def _ranked(block: Block, scores: NDArray[np.floating], found: _Found) -> Ranked:
    rows, label, list_of = found
    order, scores = _sorted(block.start, scores)
    fresh = np.ones(len(scores) + 1, bool)
    np.not_equal(scores[1:], scores[:-1], out=fresh[1:-1])
    fresh[block.start] = True
    run = np.flatnonzero(fresh)
    alone = np.flatnonzero(fresh[1:] & fresh[:-1])
    edges = np.append(block.start, len(scores))
    tied = np.diff(edges) - np.diff(np.searchsorted(alone, edges))
    spot = rows if order is None else _inverse(order)[rows]
    at = np.searchsorted(run, spot, side="right") - 1
    first = run[at]
    count = run[at + 1] - first
    place = first.copy()
    shared = np.flatnonzero(count > 1)
    if len(shared):
        place[shared] += _above(block.items, order, rows[shared], first[shared], count[shared])
    base = block.start[list_of] - 1
    return Ranked(block.query[list_of], place - base, first - base, first + count - 1 - base, label, tied)


def _sorted(start: Ints, scores: NDArray[np.floating]) -> tuple[Ints | None, NDArray[np.floating]]:
    """Rows by descending score within each list, None if they are so already; and the scores in that order."""
    rises = scores[1:] > scores[:-1]
    rises[start[1:] - 1] = False
    if not rises.any():
        return None, scores
    list_of = np.repeat(np.arange(len(start)), np.diff(np.append(start, len(scores))))
    bits = len(scores).bit_length()
    if bits + len(start).bit_length() > _ROOM:
        order = np.lexsort((-scores, list_of))
        return order, scores[order]
    order = _by_single(list_of, scores, bits)
    ranked = scores[order]
    if scores.dtype != np.float32:
        _settle_doubles(order, ranked, list_of)
    return order, ranked


def _by_single(list_of: Ints, scores: NDArray[np.floating], bits: int) -> Ints:
    """Rows by list, then by descending score as float32: one sort of numbers that hold list, score and row."""
    with np.errstate(over="ignore"):
        single = (scores.astype(np.float32) + np.float32(0)).view(np.int32)  # -0 becomes 0
    single ^= (single >> 31) & np.int32(0x7FFFFFFF)  # whole numbers in the order of the floats
    keys: Ints = (list_of << 32) - single
    keys <<= bits
    keys += np.arange(len(scores))
    keys.sort()
    keys &= (1 << bits) - 1
    return keys


def _settle_doubles(order: Ints, scores: NDArray[np.floating], list_of: Ints) -> None:
    """Sort again, in place, where doubles that are one float32 are not in their order."""
    wrong = np.flatnonzero((scores[1:] > scores[:-1]) & (list_of[order[1:]] == list_of[order[:-1]]))
    if not len(wrong):
        return
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    run = np.cumsum(np.append(False, (single[1:] != single[:-1]) | (list_of[order[1:]] != list_of[order[:-1]])))
    unsettled = np.zeros(run[-1] + 1, bool)
    unsettled[run[wrong]] = True
    spots = np.flatnonzero(unsettled[run])
    again = spots[np.lexsort((-scores[spots], run[spots]))]
    order[spots], scores[spots] = order[again], scores[again]


def _inverse(order: Ints) -> Ints:
    inverse: Ints = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _above(items: Texts, order: Ints | None, rows: Ints, first: Ints, count: Ints) -> Ints:
    """How many items of its tie stand above each row: those whose id is greater by bytes."""
    if count.sum() > _PAIRS:
        runs, which = np.unique(first, return_inverse=True)
        sizes = np.zeros(len(runs), np.int64)
        sizes[which] = count
        if count.sum() > 32 * sizes.sum():
            return _above_by_sorting(items, order, rows, runs, sizes, which)
    above = np.zeros(len(rows), np.int64)
    stop = np.cumsum(count)
    begin = 0
    while begin < len(rows):
        done = stop[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(stop, done + _PAIRS, side="right")))
        part = slice(begin, end)
        owner = np.repeat(np.arange(begin, end), count[part])
        spot = spread(first[part], count[part])
        other = spot if order is None else order[spot]
        above[part] = np.bincount(owner - begin, weights=greater(items, other, rows[owner]), minlength=end - begin)
        begin = end
    return above


def _above_by_sorting(items: Texts, order: Ints | None, rows: Ints, runs: Ints, sizes: Ints, which: Ints) -> Ints:
    """As `_above`, by sorting each tie once: for ties that many judged rows share."""
    spot = spread(runs, sizes)
    other = spot if order is None else order[spot]
    group = np.repeat(np.arange(len(runs)), sizes)
    place = _inverse(descending(items, other, group))
    position = np.full(int(other.max()) + 1, -1)
    position[other] = place
    result: Ints = position[rows] - (np.cumsum(sizes) - sizes)[which]
    return result


def spread(first: Ints, count: Ints) -> Ints:
    """first[0], first[0] + 1, ... for count[0] numbers, then first[1], and so on."""
    total = int(count.sum())
    offset = np.repeat(first - (np.cumsum(count) - count), count)
    result: Ints = np.arange(total) + offset
    return result


def _may_repeat(keys: Words, item_hashes: Words, sizes: Ints) -> bool:
    """False if no item stands twice in its list: a sort of half words, in half of the time of one of the keys.

    The rows of the few that share a half word, and some more, are then compared by their keys.
    """
    bits = len(sizes).bit_length()
    if bits >= _HALF:
        return True
    half = (item_hashes >> np.uint64(_HALF + bits)).astype(np.uint32)
    half |= np.repeat(np.arange(len(sizes), dtype=np.uint32) << np.uint32(_HALF - bits), sizes)
    ascending = np.sort(half)
    twice = ascending[1:][ascending[1:] == ascending[:-1]]
    if not len(twice) or len(twice) > _FEW:
        return len(twice) > 0
    sieve = np.zeros(1 << _SIEVE, bool)
    sieve[twice >> np.uint32(_HALF - _SIEVE)] = True
    found = np.sort(keys[sieve[half >> np.uint32(_HALF - _SIEVE)]])
    return bool(np.any(found[1:] == found[:-1]))


def _doubled(block: Block, keys: Words, sizes: Ints, labels: Labels) -> Ints:
    """Rows that repeat an item of their list which has a higher score, or the same and stands before."""
    ascending = np.sort(keys)
    twice = ascending[1:][ascending[1:] == ascending[:-1]]
    suspects = np.flatnonzero(np.isin(block.query, labels.question_of(twice)))
    if not len(suspects):
        return suspects
    row_list = np.repeat(np.arange(len(sizes)), sizes)
    rows = np.flatnonzero(np.isin(row_list, suspects))
    order = rows[np.lexsort((-block.scores[rows], keys[rows], row_list[rows]))]
    doubled: set[int] = set()
    alike = np.flatnonzero((keys[order[1:]] == keys[order[:-1]]) & (row_list[order[1:]] == row_list[order[:-1]]))
    kept: list[int] = []
    last = -2
    for at in alike.tolist():
        if at != last + 1:
            kept = [int(order[at])]
        last, row = at, int(order[at + 1])
        if equal(block.items, np.full(len(kept), row), block.items, np.array(kept)).any():
            doubled.add(row)
        else:
            kept.append(row)
    return np.array(sorted(doubled), np.int64)
