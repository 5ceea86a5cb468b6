"""A whole run file to judged rows, piece by piece on all cores; memory stays that of a few pieces.

A query may stand in several places of the file: its parts are put together again. Nothing is scored here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.lists import Ints, by_query
from ragassay.measures.trec.decimals import parse_decimals
from ragassay.measures.trec.labels import Labels
from ragassay.measures.trec.parts import Part, gathered, in_order, is_scattered, plain
from ragassay.measures.trec.ranks import Block, Judged, Precision, Ranked, rank
from ragassay.measures.trec.scan import scan
from ragassay.measures.trec.source import PIECE, Range, Source
from ragassay.measures.trec.texts import PAD, changes, keep_freed_memory

Progress = Callable[[int, int], None]
_NOWHERE: Ints = np.zeros(0, np.int64)


class Piece(NamedTuple):
    """What one part gave: its judged rows, and where each list lies in the file."""

    judged: Judged
    names: tuple[bytes, ...]
    """The query of each list, in the order of the rows."""
    edges: Ints
    """Where in the file each list begins, and the last ends; empty where the part came from several places."""
    unlike: bool = False
    """It holds other queries than the index says."""


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

        def work(part: Part) -> Piece:
            return _piece(source, part, labels, precisions, strict)

        def read(parts: Iterable[Part]) -> list[Piece] | None:
            told = _Told(progress, source.size) if progress is not None else None
            pieces = []
            for one in in_order(work, parts, source.size > 2 * PIECE, threads, told):
                if one.unlike:
                    return None
                pieces.append(one)
            return pieces

        scattered = source.size > 2 * piece and is_scattered(source)
        pieces = read(gathered(source, piece, threads) if scattered else plain(source, piece))
        if pieces is None:
            pieces = read(gathered(source, piece, threads, every_line=True)) or []
        again = set() if scattered else _repeated(pieces)
        if again:
            ranges = _ranges_of(pieces, again)
            pieces += [work(Part(tuple(ranges[name]))) for name in sorted(ranges)]
        run = together(pieces, labels, precisions, again)
        run.tag = _tag(source)
        return run


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
    try:
        fields = scan(buffer, 6, (0, 2, 4))
    except InputError as error:
        raise _placed(error, source, part) from None
    queries, items, score_texts = fields.texts
    scores, bad = parse_decimals(score_texts)
    if len(bad):
        row = int(bad[0])
        text = score_texts.text(row).decode("utf-8", "replace")
        hint = "the fifth field is a finite decimal number, as in 12.5 or 1.25e+01"
        no_number = InputError(f"the score {text!r} is not a number", hint=hint, line=int(fields.line[row]))
        raise _placed(no_number, source, part)
    start = changes(queries)
    names = tuple(queries.listed(start))
    unlike = part.queries is not None and names != part.queries
    number = labels.number
    block = Block(start, np.array([number.get(name, -1) for name in names], np.int64), items, scores)
    try:
        judged = rank(block, labels, precisions, strict=strict)
    except InputError as error:
        error.line = int(fields.line[error.line or 0])
        raise _placed(error, source, part) from None
    if len(part.ranges) > 1:
        return Piece(judged, names, _NOWHERE, unlike)
    edges = np.append(fields.line[start] - PAD + part.ranges[0].start, part.ranges[0].end)
    return Piece(judged, names, edges, unlike)


def _placed(error: InputError, source: Source, part: Part) -> InputError:
    """The error with its offset in the part's buffer made the line number of the file."""
    if error.line is not None:
        added = [one.end == source.size and source.unended for one in part.ranges[:-1]]
        sizes = [one.end - one.start + new for one, new in zip(part.ranges, added, strict=False)]
        begin = np.cumsum([PAD, *sizes])
        at = int(np.searchsorted(begin, error.line, side="right")) - 1
        error.line = source.line_number(part.ranges[at].start + error.line - int(begin[at]))
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
        edges = one.edges.tolist()
        for name, low, high in zip(one.names, edges[:-1], edges[1:], strict=True):
            if name in found:
                found[name].append(Range(low, high))
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
        whole = not len(one.edges)
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
    order = by_query(query, ranks)
    first, last, label = (values[order] for values in rest)
    return Ranked(query[order], ranks[order], first, last, label, np.zeros(0, np.int64))


def _tag(source: Source) -> str:
    head = source.read(Range(source.start, min(source.size, source.start + (1 << 16))))
    for line in head.splitlines():
        words = line.split()
        if len(words) >= 6 and not line.startswith(b"#"):
            return words[5].decode("utf-8", "replace")
    return ""
