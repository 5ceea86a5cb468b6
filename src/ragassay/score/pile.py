"""Bytes put aside in a temporary file without a name, and rows of measures in it. Memory does not grow with them."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import NewType, Self

import msgspec

from ragassay.records.score import Observation

_IN_MEMORY = 1024 * 1024
"""Bytes up to which nothing is written to a disk."""
_ROWS = msgspec.json.Decoder(list[Observation])


Place = NewType("Place", int)
"""Where in a pile something was put: its start and its length in one number, since there are many of them."""
_LENGTH = 32
"""Bits of the length."""


class Pile:
    """A temporary file that is gone when this is closed; it never has a name in a folder once it is on a disk."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  closed with the pile
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def put(self, data: bytes) -> Place:
        """Put bytes aside."""
        self._file.seek(self._end)
        self._file.write(data)
        place = Place(self._end << _LENGTH | len(data))
        self._end += len(data)
        return place

    def get(self, place: Place) -> bytes:
        """What was put there."""
        self._file.seek(place >> _LENGTH)
        return self._file.read(place & ((1 << _LENGTH) - 1))


class Columns(Mapping[tuple[str, str], Sequence[Observation]]):
    """Rows by measure and step (`""`: of the whole question), in the order in which they came. Read one at a time."""

    def __init__(self, pile: Pile) -> None:
        self._pile = pile
        self._blocks: dict[tuple[str, str], list[Place]] = {}
        self._waiting: dict[tuple[str, str], list[bytes]] = defaultdict(list)
        self._size = 0

    def add(self, measure: str, step: str, line: bytes) -> None:
        """One row, as its canonical JSON."""
        self._blocks.setdefault((measure, step), [])
        self._waiting[measure, step].append(line)
        self._size += len(line)
        if self._size > _IN_MEMORY:
            self._put()

    def _put(self) -> None:
        for key, lines in self._waiting.items():
            self._blocks[key].append(self._pile.put(b",".join(lines)))
        self._waiting.clear()
        self._size = 0

    def __getitem__(self, key: tuple[str, str]) -> list[Observation]:
        return list(self.each(key))

    def each(self, key: tuple[str, str]) -> Iterator[Observation]:
        """The rows of one measure and step, of which a piece is in memory at a time."""
        for one in self._blocks[key]:
            yield from _ROWS.decode(b"[" + self._pile.get(one) + b"]")
        yield from _ROWS.decode(b"[" + b",".join(self._waiting.get(key, ())) + b"]")

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)
