"""A file that is only ever written forward, so that what is written has one layout; and its comparison with one that
is there."""

from __future__ import annotations

import io
from typing import IO, Any


class Forward(io.RawIOBase):
    """A file that is only ever written forward, so that every archive is laid out in the same way."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.size = out, 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any) -> int:
        """Hand the piece on."""
        piece = bytes(data)
        self.put(piece)
        self.size += len(piece)
        return len(piece)

    def put(self, piece: bytes) -> None:
        """To the file."""
        self.out.write(piece)

    def tell(self) -> int:
        """So many bytes were written."""
        return self.size


class Compared(Forward):
    """Written nowhere: each piece is compared with what stands in a file at that place."""

    same = True

    def put(self, piece: bytes) -> None:
        """Against the file."""
        self.same = self.same and self.out.read(len(piece)) == piece
