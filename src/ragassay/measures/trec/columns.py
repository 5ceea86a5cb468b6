"""Judgements and runs that are in memory, as columns or dictionaries, in the form that files are read to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import InputError
from ragassay.measures.lists import Floats, Ints
from ragassay.measures.trec.labels import DuplicateLabelError, Labels
from ragassay.measures.trec.parts import in_order
from ragassay.measures.trec.ranks import Block, Precision, rank
from ragassay.measures.trec.run import Piece, RunRows, together
from ragassay.measures.trec.texts import PAD, Texts, changes, keep_freed_memory

Column = NDArray[np.generic] | Sequence[object] | Texts
_ROWS = 1 << 18


def texts_of(column: Column, name: str) -> Texts:
    """A column of ids as texts: arrays of bytes, strings or whole numbers, lists of str, or texts already."""
    if isinstance(column, Texts):
        return column
    array = column if isinstance(column, np.ndarray) else np.asarray(column, dtype=object)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {array.shape}", field=name)
    if array.dtype.kind in "iu":
        array = array.astype("S21")
    elif array.dtype.kind == "U":
        try:
            array = array.astype(f"S{max(1, array.dtype.itemsize // 4)}")
        except UnicodeEncodeError:
            array = array.astype(object)
    if array.dtype.kind == "S":
        return _fixed_width(array.astype(np.bytes_, copy=False))
    if array.dtype.kind != "O":
        raise InputError(f"{name} has the type {array.dtype}", hint="ids are str, bytes or whole numbers", field=name)
    return Texts.pack(_encoded(one, name) for one in array.tolist())


def _fixed_width(array: NDArray[np.bytes_]) -> Texts:
    width = max(1, array.dtype.itemsize)
    buffer = np.zeros(len(array) * width + 2 * PAD, np.uint8)
    body = buffer[PAD : PAD + len(array) * width].reshape(-1, width)
    body[:] = np.ascontiguousarray(array).view(np.uint8).reshape(-1, width)
    start = PAD + np.arange(len(array), dtype=np.int64) * width
    full = len(array) > 0 and bool(body[:, -1].all())
    return Texts(buffer, start, start + (width if full else np.char.str_len(array)), width)


def _encoded(value: object, name: str) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value).encode()
    raise InputError(f"{name} holds {value!r}", hint="ids are str, bytes or whole numbers", field=name)


def labels_of(queries: Column, items: Column, grades: Column) -> Labels:
    """Judgements from three columns of equal length.

    Raises:
        InputError: grades that are not whole numbers, or an item judged twice for one question.
    """
    values = _numbers(grades, "grade")
    if np.any(values != np.floor(values)):
        raise InputError("grades must be whole numbers", field="grade")
    texts = texts_of(queries, "query"), texts_of(items, "item")
    if not len(texts[0]) == len(texts[1]) == len(values):
        raise _lengths(len(texts[0]), len(texts[1]), len(values))
    try:
        return Labels.of(*texts, values.astype(np.int64))
    except DuplicateLabelError as error:
        error.field, error.line = f"row {error.line}", None
        raise


def labels_from_dict(qrels: Mapping[str, Mapping[str, int]]) -> Labels:
    """Judgements from {query: {item: grade}}."""
    names = [query for query, own in qrels.items() for _ in own]
    items = [item for own in qrels.values() for item in own]
    grades = np.array([grade for own in qrels.values() for grade in own.values()])
    return labels_of(names, items, grades.astype(np.float64) if len(grades) else np.zeros(0))


def run_from_dict(
    run: Mapping[str, Mapping[str, float]], labels: Labels, precisions: tuple[Precision, ...] = ("double",)
) -> RunRows:
    """The judged rows of {query: {item: score}}."""
    held = [(query, own) for query, own in run.items() if own]
    sizes = np.array([len(own) for _, own in held], np.int64)
    names = [_encoded(query, "query") for query, _ in held]
    items = [item for _, own in held for item in own]
    scores = np.fromiter((score for _, own in held for score in own.values()), np.float64, len(items))
    rows = _Rows(np.cumsum(sizes) - sizes, names, items, _finite(scores))
    return _ranked(rows, labels, precisions, strict=False, threads=None)


def run_of(
    queries: Column,
    items: Column,
    scores: Column,
    labels: Labels,
    precisions: tuple[Precision, ...] = ("double",),
    *,
    strict: bool = False,
    threads: int | None = None,
) -> RunRows:
    """The judged rows of three columns of equal length, in any order of rows.

    Raises:
        InputError: a score that is not finite, or with `strict` an item that stands twice in a list.
    """
    values = _finite(_numbers(scores, "score"))
    start, names = _blocks(queries)
    if not len(queries) == len(items) == len(values):
        raise _lengths(len(queries), len(items), len(values))
    if len(set(names)) < len(names):
        start, names, order = _sorted(start, names, len(values))
        values = values[order]
        items = items.take(order) if isinstance(items, Texts) else np.asarray(items, dtype=_kind(items))[order]
    rows = _Rows(start, names, items, values)
    return _ranked(rows, labels, precisions, strict=strict, threads=threads)


class _Rows(NamedTuple):
    """Whole lists one after another: where each begins, its query, and the rows' items and scores."""

    start: Ints
    names: list[bytes]
    items: Column
    scores: Floats

    def texts(self, low: int, high: int) -> Texts:
        """Items of the rows low to high."""
        if isinstance(self.items, Texts):
            return self.items.part(low, high)
        return texts_of(self.items[low:high], "item")


def _kind(items: Sequence[object] | NDArray[np.generic]) -> np.dtype[np.generic]:
    return items.dtype if isinstance(items, np.ndarray) else np.dtype(object)


def _blocks(queries: Column) -> tuple[Ints, list[bytes]]:
    """Where a query begins that differs from the row before, and its name."""
    if isinstance(queries, np.ndarray) and queries.dtype.kind == "S" and queries.ndim == 1 and len(queries):
        start = _new_rows(np.ascontiguousarray(queries))
        return start, queries[start].tolist()
    texts = texts_of(queries, "query")
    start = changes(texts)
    return start, texts.listed(start)


def _new_rows(names: NDArray[np.generic]) -> Ints:
    """The first row, and those whose bytes differ from the row before."""
    width = names.dtype.itemsize
    flat = names.view(np.uint8)
    row = np.flatnonzero(flat[width:] != flat[:-width]) // width + 1
    first = np.ones(len(row), bool)
    np.not_equal(row[1:], row[:-1], out=first[1:])
    return np.concatenate((np.zeros(1, np.int64), row[first]))


def _sorted(start: Ints, names: list[bytes], rows: int) -> tuple[Ints, list[bytes], Ints]:
    """Starts and names with each query in one place, and the order of rows that puts it there."""
    seen: dict[bytes, int] = {}
    block = np.array([seen.setdefault(name, len(seen)) for name in names], np.int64)
    index = np.repeat(block, np.diff(np.append(start, rows)))
    sizes = np.bincount(index, minlength=len(seen))
    return np.cumsum(sizes) - sizes, list(seen), np.argsort(index, kind="stable")


def _ranked(
    rows: _Rows, labels: Labels, precisions: tuple[Precision, ...], *, strict: bool, threads: int | None
) -> RunRows:
    """Rank whole lists, many thousand rows at a time."""
    labels.prepare()
    keep_freed_memory()
    total = len(rows.scores)
    number = np.array([labels.number.get(name, -1) for name in rows.names], np.int64)
    edges = np.append(rows.start, total)

    def cuts() -> Iterator[tuple[int, int]]:
        low = 0
        while low < len(rows.names):
            high = max(low + 1, int(np.searchsorted(edges, edges[low] + _ROWS, side="right")) - 1)
            yield low, min(high, len(rows.names))
            low = min(high, len(rows.names))

    def work(cut: tuple[int, int]) -> Piece:
        low, high = cut
        first, last = int(edges[low]), int(edges[high])
        block = Block(rows.start[low:high] - first, number[low:high], rows.texts(first, last), rows.scores[first:last])
        return Piece(rank(block, labels, precisions, strict=strict), tuple(rows.names[low:high]), np.zeros(0, np.int64))

    pieces = list(in_order(work, cuts(), total > 2 * _ROWS, threads))
    return together(pieces, labels, precisions, set())


def _numbers(column: Column, name: str) -> Floats:
    if isinstance(column, Texts):
        raise InputError(f"{name} must be numbers", field=name)
    array = np.asarray(column)
    if array.dtype.kind not in "iuf" and len(array):
        raise InputError(f"{name} has the type {array.dtype}", hint="numbers are expected", field=name)
    return array.astype(np.float64, copy=False)


def _finite(scores: Floats) -> Floats:
    bad = ~np.isfinite(scores)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(f"the score in row {row} is {scores[row]}", hint="scores are finite numbers", field="score")
    return scores


def _lengths(queries: int, items: int, values: int) -> InputError:
    return InputError(
        f"columns of different lengths: {queries}, {items} and {values}",
        hint="query, item and grade or score have one row each",
    )
