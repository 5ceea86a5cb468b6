"""Records as canonical JSON lines under zstd, and back with a cap on each line. Does no I/O of its own."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec
import zstandard

from ragassay.errors import IntegrityError, RecordError
from ragassay.records.base import Record
from ragassay.records.canonical import MAX_BYTES, canonical_bytes, load_json, parse

T = TypeVar("T", bound=Record)
LEVEL = 3
_CHUNK = 256 * 1024
_WINDOW = 2**27


def pack(records: Iterable[Record | dict[str, Any] | bytes]) -> Iterator[bytes]:
    """Pieces of one zstd frame with one canonical JSON line a record; bytes are such a line already."""
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=False, threads=0).compressobj()
    for record in records:
        line = record if isinstance(record, bytes) else canonical_bytes(record)
        if len(line) > MAX_BYTES:
            raise RecordError(
                f"a record of {len(line)} bytes; the most is {MAX_BYTES}", hint="store its text as a blob"
            )
        if piece := compressor.compress(line + b"\n"):
            yield piece
    yield compressor.flush()


def unpack(data: bytes | io.RawIOBase, *, name: str, most: int = MAX_BYTES) -> Iterator[bytes]:
    """The lines of a frame without their ends; never holds more than `most` bytes and a piece decompressed.

    Of a stream no more than a piece is in memory at a time; it is not closed here.

    Raises IntegrityError if this is not zstd, if a line is longer than `most`, or if the last line has no end.
    """
    rest = bytearray()
    reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(
        io.BytesIO(data) if isinstance(data, bytes) else io.BufferedReader(data, _CHUNK),
        read_across_frames=True,
        closefd=False,
    )
    try:
        while chunk := reader.read(_CHUNK):
            start = 0
            while (end := chunk.find(b"\n", start)) >= 0:
                rest += chunk[start:end]
                if len(rest) > most:
                    raise _too_long(name, most)
                yield bytes(rest)
                rest.clear()
                start = end + 1
            rest += chunk[start:]
            if len(rest) > most:
                raise _too_long(name, most)
    except zstandard.ZstdError as cause:
        raise IntegrityError(
            f"{name} is not zstd: {cause}", hint="this blob holds no lines; is it the right digest?"
        ) from cause
    if rest:
        raise IntegrityError(f"{name} ends in the middle of a line", hint="it was not written by this product")


def _too_long(name: str, most: int) -> IntegrityError:
    return IntegrityError(f"{name} has a line of more than {most} bytes", hint="it was not written by this product")


def read_record(kind: type[T], line: bytes, *, name: str, number: int) -> T:
    """One record from a stored line: at full speed, with the strict parser as the one that explains a refusal."""
    try:
        return msgspec.json.decode(line, type=kind, strict=True)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return parse(kind, line, file=name, line=number)


def read_object(line: bytes, *, name: str, number: int) -> dict[str, Any]:
    """One plain JSON object from a stored line."""
    try:
        value = load_json(line)
    except RecordError as error:
        raise error.at(file=name, line=number)  # noqa: B904  the same error, with its place
    if not isinstance(value, dict):
        raise RecordError("not a JSON object", file=name, line=number, hint="each line holds one object")
    return value
