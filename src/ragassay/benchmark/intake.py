"""Files that others wrote to lines, with caps, and everything that is wrong with them in one message. Knows no format.

A line that is wrong ends the reading (`stop`) or is left out and listed (`skip`); it never goes unsaid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from ragassay.corpus.lines import OTHER_KINDS, check_beginning, raw_lines, read_whole, refuse
from ragassay.errors import InputError, RagassayError, UsageError
from ragassay.records.text import many, shown

OnError = Literal["stop", "skip"]
MOST_NAMED = 20
"""How many problems one message names; in `stop` the reading ends there."""
_BOM = b"\xef\xbb\xbf"
_OTHER_KINDS = (*OTHER_KINDS, (b"PAR1", "a Parquet file", "name it with the ending .parquet"))


class Problem(NamedTuple):
    """One thing that could not be read, and where."""

    file: str
    line: int | None
    field: str
    message: str

    @property
    def place(self) -> str:
        """`line 7: field`, as far as known."""
        return ": ".join(part for part in (f"line {self.line}" if self.line else "", self.field) if part)

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (where, self.field, shown(self.message, limit=200)) if part)


class Problems:
    """What was wrong while a file was read. Call `settle` at its end."""

    def __init__(self, on_error: OnError = "stop") -> None:
        if on_error not in get_args(OnError):
            raise UsageError(
                f"on_error is {on_error!r}", field="on_error", hint="stop (say all that is wrong) or skip (leave out)"
            )
        self.on_error = on_error
        self.found: list[Problem] = []
        self._first: RagassayError | None = None

    @property
    def skipped(self) -> tuple[Problem, ...]:
        """What was left out; empty unless that was asked for."""
        return tuple(self.found) if self.on_error == "skip" else ()

    @contextmanager
    def at(self, file: str | Path, line: int | None = None) -> Iterator[None]:
        """An error within is kept with this place; what follows in the block is left out."""
        try:
            yield
        except InputError as error:
            self.add(error, file, line)

    def add(self, error: RagassayError, file: str | Path, line: int | None = None) -> None:
        """Keep an error. Raises it, with all earlier ones, once as many are kept as one message names."""
        error.at(file=str(file), line=line)
        self.found.append(Problem(error.file, error.line, error.field, error.message))
        self._first = self._first or error
        if self.on_error == "stop" and len(self.found) >= MOST_NAMED:
            raise self._all("; reading ended here")

    def settle(self, read: int) -> None:
        """Raise what was found: in `stop` anything at all, in `skip` if nothing else was read."""
        if self._first is not None and (self.on_error == "stop" or not read):
            raise self._all("")

    def _all(self, end: str) -> RagassayError:
        first = self._first
        assert first is not None
        if len(self.found) > 1:
            named = "".join(f"\n  also {one}" for one in self.found[1:MOST_NAMED])
            more = len(self.found) - MOST_NAMED
            rest = f"\n  and {more} more" if more > 0 else ""
            first.message = f"{first.message}{named}{rest}\n  {many(len(self.found), 'problem')}{end}"
            if self.on_error == "stop" and "on_error" not in first.hint:
                first.hint = f'{first.hint}; or on_error = "skip" leaves such lines out and lists them'.lstrip("; ")
        return first


def listed(problems: Iterable[Problem]) -> list[str]:
    """Skipped lines by file, each one named: `3 left out of a.jsonl: lines 4, 7-8`."""
    files: dict[str, list[Problem]] = {}
    for one in problems:
        files.setdefault(one.file, []).append(one)
    out = []
    for file, found in files.items():
        lines = sorted({one.line for one in found if one.line is not None})
        places = [f"lines {_ranges(lines)}" if len(lines) > 1 else f"line {lines[0]}"] if lines else []
        places += [one.field for one in found if one.line is None and one.field]
        where = f": {', '.join(places)}" if places else ""
        out.append(f"{len(found)} left out of {Path(file).name} (on_error = skip){where}; first: {_why(found[0])}")
    return out


def _why(problem: Problem) -> str:
    return ": ".join(part for part in (problem.field, shown(problem.message, limit=160)) if part)


def _ranges(lines: list[int]) -> str:
    groups: list[list[int]] = []
    for one in lines:
        if groups and one == groups[-1][-1] + 1:
            groups[-1].append(one)
        else:
            groups.append([one])
    return ", ".join(str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}" for group in groups)


def lines_in(path: Path, *, longest: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Number and bytes (without line end) of each line that is not blank, unpacked if gzip packed it.

    A byte order mark is passed over. Raises InputError as `corpus.lines.raw_lines` does, for a line longer than
    `longest` bytes (MAX_BYTES), and for a carriage return inside a line.
    """
    for number, raw in raw_lines(path, refuse, kinds=_OTHER_KINDS, longest=longest, hint="one record a line"):
        line = (raw.removeprefix(_BOM) if number == 1 else raw).rstrip(b"\r\n")
        if b"\r" in line:
            raise InputError(
                "a carriage return inside a line",
                file=str(path),
                line=number,
                hint="end lines with LF or CR LF, not with CR alone",
            )
        if line.strip():
            yield number, line


def whole_file(path: Path) -> bytes:
    """All bytes of a file, unpacked if gzip packed it, without a byte order mark; InputError if more than MAX_BYTES."""
    data = read_whole(path, packed=True, hint="split it, or write one record a line")
    check_beginning(data, path, _OTHER_KINDS)
    return data.removeprefix(_BOM)
