"""Which bytes of a run file are worked on together, and by how many workers; no line is parsed.

Where a file's queries are scattered, an index of its blocks of lines puts each query together first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from ragassay.measures.lists import Ints
from ragassay.measures.trec.scan import first_fields, sampled_fields
from ragassay.measures.trec.source import PIECE, Range, Source
from ragassay.measures.trec.texts import PAD, changes
from ragassay.stats.cores import cores

Part_ = TypeVar("Part_")
Result = TypeVar("Result")
_SAMPLES = 256


class Part(NamedTuple):
    """Text to work on: ranges of the file, put together in this order."""

    ranges: tuple[Range, ...]
    queries: tuple[bytes, ...] | None = None
    """The queries that it has, in their order, as a sampled index says: to be checked. None: nothing is said."""


def plain(source: Source, size: int) -> Iterator[Part]:
    """The file as it stands."""
    return (Part((one,)) for one in source.pieces(size))


def in_order(
    work: Callable[[Part_], Result],
    parts: Iterable[Part_],
    many: bool,
    threads: int | None,
    done: Callable[[Part_], None] | None = None,
) -> Iterator[Result]:
    """The parts' results in their order, worked on by `threads` workers (default: the cores) if there are `many`.

    Only a few parts are in work at once, so that memory stays flat.
    """
    workers = threads or min(8, cores())
    if workers == 1 or not many:
        for part in parts:
            yield work(part)
            if done:
                done(part)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="measure") as pool:
        waiting: deque[tuple[Part_, Future[Result]]] = deque()
        try:
            for part in parts:
                waiting.append((part, pool.submit(work, part)))
                if len(waiting) > 2 * workers:
                    first, future = waiting.popleft()
                    yield future.result()
                    if done:
                        done(first)
            while waiting:
                first, future = waiting.popleft()
                yield future.result()
                if done:
                    done(first)
        finally:
            pool.shutdown(cancel_futures=True)


def is_scattered(source: Source) -> bool:
    """Whether a sample of lines meets one query again after others: then an index is made first, not afterwards."""
    step = max(1, (source.size - source.start) // _SAMPLES)
    seen: set[bytes] = set()
    last, again = b"", 0
    for at in range(source.start, source.size, step):
        lines = source.read(Range(at, min(at + 2048, source.size))).splitlines()
        token = lines[1].split(None, 1)[:1] if len(lines) > 2 else []
        if token and token[0] != last:
            again += token[0] in seen
            last = token[0]
            seen.add(last)
    return again > 2


def gathered(source: Source, size: int, threads: int | None, *, every_line: bool = False) -> Iterator[Part]:
    """Parts of whole queries whose lines may be anywhere, from an index of all blocks of lines.

    Without `every_line` the index is made from a sample, and each part says which queries it must turn out to have.
    """
    number: dict[bytes, int] = {}
    owners, starts, ends = [], [], []

    def index(piece: Range) -> tuple[list[bytes], Ints, int]:
        buffer = source.text((piece,))
        sample = None if every_line else sampled_fields(buffer)
        queries, line = sample or first_fields(buffer)
        first = changes(queries)
        return queries.listed(first), line[first] - PAD + piece.start, piece.end

    for names, begin, last in in_order(index, source.pieces(size), source.size > 2 * PIECE, threads):
        owners.append(np.array([number.setdefault(name, len(number)) for name in names], np.int64))
        starts.append(begin)
        ends.append(np.append(begin[1:], last))
    owner, start, end = (np.concatenate(parts) for parts in (owners, starts, ends))
    order = np.argsort(owner, kind="stable")
    for part in _parts(list(number), owner[order], start[order], end[order], size):
        yield Part(part.ranges) if every_line else part


def _parts(names: list[bytes], owner: Ints, start: Ints, end: Ints, size: int) -> Iterator[Part]:
    """Parts of at least `size` bytes, but for the last, from blocks in the order of their queries."""
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    filled = np.cumsum(end - start)[first] - (end - start)[first]
    edges = np.append(first, len(owner))
    low = 0
    while low < len(first):
        high = int(np.searchsorted(filled, filled[low] + size))
        begin, stop = start[edges[low] : edges[high]], end[edges[low] : edges[high]]
        apart = np.flatnonzero(begin[1:] != stop[:-1])
        ranges = map(Range, begin[np.append(0, apart + 1)].tolist(), stop[np.append(apart, -1)].tolist())
        own = [names[who] for who in owner[first[low:high]].tolist()]
        yield Part(tuple(ranges), tuple(name for name in own if name and not name.startswith(b"#")))
        low = high  # blank lines and comments were no query's
