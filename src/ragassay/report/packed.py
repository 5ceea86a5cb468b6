"""The questions of a scorecard, packed one by one: ten thousand of them fit into memory. Shows and counts nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import msgspec
import zstandard

from ragassay.report.model import Question

LEVEL = 1


class Packed:
    """Packs questions with one compressor; what it gives is read by `Questions`."""

    def __init__(self) -> None:
        self._encode = msgspec.msgpack.Encoder().encode
        self._compress = zstandard.ZstdCompressor(level=LEVEL).compress

    def __call__(self, question: Question) -> bytes:
        """The question as bytes, a tenth of its JSON."""
        return bytes(memoryview(self._compress(self._encode(question))))  # copied: it keeps room for the worst case


class Questions(Sequence[Question]):
    """A sequence that reads and compares like a tuple. Each access unpacks, so equal questions are other objects."""

    def __init__(self, packs: Sequence[bytes]) -> None:
        self._packs = tuple(packs)
        self._decode = msgspec.msgpack.Decoder(Question).decode
        self._decompress = zstandard.ZstdDecompressor().decompress

    def __len__(self) -> int:
        return len(self._packs)

    @overload
    def __getitem__(self, at: int) -> Question: ...
    @overload
    def __getitem__(self, at: slice) -> Questions: ...
    def __getitem__(self, at: int | slice) -> Question | Questions:
        if isinstance(at, slice):
            return Questions(self._packs[at])
        return self._decode(self._decompress(self._packs[at]))

    def __iter__(self) -> Iterator[Question]:
        return (self._decode(self._decompress(one)) for one in self._packs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == yours for mine, yours in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return len(self._packs)  # the same in every process

    def __repr__(self) -> str:
        return f"<Questions: {len(self)}>"
