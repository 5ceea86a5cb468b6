"""A whole run file to judged rows, piece by piece on all cores; memory stays that of a few pieces.

A query may stand in several places of the file: its parts are put together again. Nothing is scored here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.lists import Ints
from ragassay.measures.trec.decimals import parse_decimals
from ragassay.measures.trec.labels import Labels
from ragassay.measures.trec.ranks import Block, Judged, Precision, Ranked, rank
from ragassay.measures.trec.scan import first_fields, scan
from ragassay.measures.trec.source import PIECE, Range, Source
from ragassay.measures.trec.texts import PAD, changes, keep_freed_memory
from ragassay.stats.cores import cores

Progress = Callable[[int, int], None]
Part_ = TypeVar("Part_")
Result = TypeVar("Result")
_SAMPLES = 256


class Part(NamedTuple):
    """Text to work on: ranges of the file, put together in this order."""

    ranges: tuple[Range, ...]


class Piece(NamedTuple):
    """What one part gave: its judged rows, and where each list lies in the file."""

    judged: Judged
    names: tuple[bytes, ...]
    """The query of each list, in the order of the rows."""
    ranges: tuple[Range, ...]
    """The bytes of each list; empty where the part was already put together from several places."""


@dataclass
class RunRows:
    """Judged rows of a whole run. Arrays over questions have shape (questions of the labels,)."""

    labels: Labels
    retrieved: Ints
    """Items of each question's list, duplicates once; -1 where the run does not have the question."""
    duplicates: Ints
    tied: dict[Precision, Ints]
    ranked: dict[Precision, Ranked]
    unknown: int = 0
    """Queries of the run that have no judgements; they are ignored."""
    tag: str = field(default="")
    """The run's name, from the last field of its first line."""


def read_run(
    path: str,
    labels: Labels,
    precisions: tuple[Precision, ...] = ("double",),
    *,
    strict: bool = False,
    threads: int | None = None,
    piece: int = PIECE,
    progress: Progress | None = None,
) -> RunRows:
    """The judged rows of a run file: query, Q0, item, rank (ignored), score and tag in each line.

    Args:
        path: the file; `-` is standard input; gzip is unpacked.
        labels: the judgements.
        precisions: *double* ranks by the scores as they are, *single* by their nearest float32 (trec_eval 9).
        strict: an item that stands twice in a list is an error, as in trec_eval; else it counts once.
        threads: workers; the result does not depend on it.
        piece: bytes of text per step; the result does not depend on it.
        progress: called with bytes done and all bytes.

    Raises:
        InputError: with file and line.
    """
    labels.prepare()
    keep_freed_memory()
    with Source(path) as source:
        scattered = source.size > 2 * piece and _is_scattered(source)
        parts = _gathered(source, piece, threads) if scattered else _plain(source, piece)

        def work(part: Part) -> Piece:
            return _piece(source, part, labels, precisions, strict)

        told = _Told(progress, source.size) if progress is not None else None
        pieces = list(in_order(work, parts, source.size > 2 * PIECE, threads, told))
        again = set() if scattered else _repeated(pieces)
        if again:
            ranges = _ranges_of(pieces, again)
            pieces += [work(Part(tuple(ranges[name]))) for name in sorted(ranges)]
        run = together(pieces, labels, precisions, again)
        run.tag = _tag(source)
        return run


def _plain(source: Source, size: int) -> Iterator[Part]:
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


class _Told:
    """Counts the bytes done and passes them on."""

    def __init__(self, progress: Progress, size: int) -> None:
        self.progress, self.size, self.done = progress, size, 0

    def __call__(self, part: Part) -> None:
        self.done += sum(one.end - one.start for one in part.ranges)
        self.progress(self.done, self.size)


def _piece(source: Source, part: Part, labels: Labels, precisions: tuple[Precision, ...], strict: bool) -> Piece:
    """Parse and rank one part."""
    buffer = source.text(part.ranges)
    offsets = _Offsets(part, source.size)
    try:
        fields = scan(buffer, 6, (0, 2, 4))
    except InputError as error:
        raise _placed(error, source, offsets) from None
    queries, items, score_texts = fields.texts
    scores, bad = parse_decimals(score_texts)
    if len(bad):
        row = int(bad[0])
        text = score_texts.text(row).decode("utf-8", "replace")
        hint = "the fifth field is a finite decimal number, as in 12.5 or 1.25e+01"
        no_number = InputError(f"the score {text!r} is not a number", hint=hint, line=int(fields.line[row]))
        raise _placed(no_number, source, offsets)
    start = changes(queries)
    names = tuple(queries.text(row) for row in start.tolist())
    number = labels.number
    block = Block(start, np.array([number.get(name, -1) for name in names], np.int64), items, scores)
    try:
        judged = rank(block, labels, precisions, strict=strict)
    except InputError as error:
        error.line = int(fields.line[error.line or 0])
        raise _placed(error, source, offsets) from None
    if len(part.ranges) > 1:
        return Piece(judged, names, ())
    edges = [*(fields.line[start] - PAD + part.ranges[0].start).tolist(), part.ranges[0].end]
    return Piece(judged, names, tuple(map(Range, edges[:-1], edges[1:])))


class _Offsets:
    """From an offset in a part's buffer to the offset in the file."""

    def __init__(self, part: Part, size: int) -> None:
        self.start = [one.start for one in part.ranges]
        # Only the range at the end of the file can lack a newline, which is then added and shifts what follows.
        self.begin = np.cumsum([0, *(one.end - one.start + (one.end == size) for one in part.ranges[:-1])])

    def __call__(self, offset: int) -> int:
        at = int(np.searchsorted(self.begin, offset - PAD, side="right")) - 1
        return self.start[at] + offset - PAD - int(self.begin[at])


def _placed(error: InputError, source: Source, offsets: _Offsets) -> InputError:
    if error.line is not None:
        error.line = source.line_number(offsets(error.line))
    error.file = source.name
    return error


def _repeated(pieces: list[Piece]) -> set[bytes]:
    """Judged queries whose lists stand in more than one place."""
    seen: set[int] = set()
    twice: set[bytes] = set()
    for one in pieces:
        for query, name in zip(one.judged.query.tolist(), one.names, strict=True):
            if query >= 0:
                if query in seen:
                    twice.add(name)
                seen.add(query)
    return twice


def _ranges_of(pieces: list[Piece], names: set[bytes]) -> dict[bytes, list[Range]]:
    found: dict[bytes, list[Range]] = {name: [] for name in names}
    for one in pieces:
        for name, where in zip(one.names, one.ranges, strict=True):
            if name in found:
                found[name].append(where)
    return found


def together(pieces: list[Piece], labels: Labels, precisions: tuple[Precision, ...], again: set[bytes]) -> RunRows:
    """One run from all pieces; of the queries in `again`, only what was put together afterwards counts."""
    questions = len(labels.names)
    dropped = np.zeros(questions + 1, bool)
    dropped[[labels.number[name] for name in again]] = True
    counts = {name: np.full(questions + 1, -1 if name == "retrieved" else 0) for name in ("retrieved", "duplicates")}
    tied = {one: np.zeros(questions + 1, np.int64) for one in precisions}
    rows: dict[Precision, list[list[Ints]]] = {one: [[] for _ in range(5)] for one in precisions}
    unknown: set[bytes] = set()
    for one in pieces:
        whole = not one.ranges
        query = one.judged.query
        use = np.flatnonzero((query >= 0) & (whole | ~dropped[query]))
        unknown.update(name for name, at in zip(one.names, query.tolist(), strict=True) if at < 0)
        counts["retrieved"][query[use]] = one.judged.retrieved[use]
        counts["duplicates"][query[use]] = one.judged.duplicates[use]
        for precision, ranked in one.judged.ranked.items():
            tied[precision][query[use]] = ranked.tied[use]
            kept = slice(None) if whole or not again else ~dropped[ranked.query]
            for target, values in zip(rows[precision], ranked[:5], strict=True):
                target.append(values[kept])
    return RunRows(
        labels,
        counts["retrieved"][:-1],
        counts["duplicates"][:-1],
        {one: values[:-1] for one, values in tied.items()},
        {one: _by_rank(rows[one]) for one in precisions},
        len(unknown),
    )


def _by_rank(columns: list[list[Ints]]) -> Ranked:
    """The rows of all pieces by question, then rank."""
    none = [np.zeros(0, np.int64)]
    query, ranks, *rest = (np.concatenate(parts or none) for parts in columns)
    order = np.lexsort((ranks, query))
    first, last, label = (values[order] for values in rest)
    return Ranked(query[order], ranks[order], first, last, label, np.zeros(0, np.int64))


def _tag(source: Source) -> str:
    head = source.read(Range(source.start, min(source.size, source.start + (1 << 16))))
    for line in head.splitlines():
        words = line.split()
        if len(words) >= 6 and not line.startswith(b"#"):
            return words[5].decode("utf-8", "replace")
    return ""


def _is_scattered(source: Source) -> bool:
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


def _gathered(source: Source, size: int, threads: int | None) -> Iterator[Part]:
    """Parts of whole queries whose lines may be anywhere, from an index of all blocks of lines."""
    number: dict[bytes, int] = {}
    owners, starts, ends = [], [], []

    def index(piece: Range) -> tuple[list[bytes], Ints, int]:
        queries, line = first_fields(source.text((piece,)))
        first = changes(queries)
        return [queries.text(row) for row in first.tolist()], line[first] - PAD + piece.start, piece.end

    for names, begin, last in in_order(index, source.pieces(size), source.size > 2 * PIECE, threads):
        owners.append(np.array([number.setdefault(name, len(number)) for name in names], np.int64))
        starts.append(begin)
        ends.append(np.append(begin[1:], last))
    owner, start, end = (np.concatenate(parts) for parts in (owners, starts, ends))
    order = np.argsort(owner, kind="stable")
    owner, start, end = owner[order], start[order], end[order]
    ranges: list[Range] = []
    filled = 0
    for at, (who, low, high) in enumerate(zip(owner.tolist(), start.tolist(), end.tolist(), strict=True)):
        if filled >= size and at and who != int(owner[at - 1]):
            yield Part(tuple(ranges))
            ranges, filled = [], 0
        if ranges and ranges[-1].end == low:
            ranges[-1] = Range(ranges[-1].start, high)
        else:
            ranges.append(Range(low, high))
        filled += high - low
    if ranges:
        yield Part(tuple(ranges))
