"""The bytes of a reply: bounded in number and time, unpacked by ourselves, read in their own encoding. Judges nothing.

A service under probe may be broken or hostile: a reply that never ends, that unpacks to a thousand times its size, or
that is sent letter by letter must cost no more than one that is refused.
"""

from __future__ import annotations

import json
import socket
import threading
import zlib
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

import httpx2

MOST_BYTES = 4_000_000
"""Of a reply, packed and unpacked."""


def text_of(headers: Mapping[str, str], data: bytes) -> str:
    """The text of a body, at most MOST_BYTES of it; httpx2.DecodingError for a packing that was not asked for."""
    return _decoded(headers.get("content-type", ""), _unpacked(headers.get("content-encoding", ""), data))


def _unpacked(packing: str, data: bytes) -> bytes:
    """`identity` was asked for; gzip and deflate are unpacked all the same, up to the bound."""
    name = packing.strip().lower()
    if name in ("", "identity"):
        return data
    if name not in ("gzip", "x-gzip", "deflate"):
        raise httpx2.DecodingError(f"a body packed as {name[:40]!r}")
    for window in (47, -15) if name == "deflate" else (47,):  # 47: zlib or gzip, as the head says; -15: no head
        with suppress(zlib.error):
            return zlib.decompressobj(window).decompress(data, MOST_BYTES)
    raise httpx2.DecodingError("a body that does not unpack")


def _decoded(content_type: str, data: bytes) -> str:
    """By the charset that is declared, else by its first bytes, as JSON is; what does not fit is replaced."""
    named = content_type.lower().partition("charset=")[2].partition(";")[0].strip(" \t\"'")
    with suppress(LookupError, ValueError):  # no such encoding, or none of texts
        if named:
            return data.decode(named, "replace")
    return data.decode(json.detect_encoding(data), "replace")


class Line:
    """The socket of the newest connection, as the client's own trace tells of it."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        """What the client does, step by step."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")

    def cut(self) -> None:
        """End what is being read or written."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


class Deadline:
    """A whole exchange within so many seconds; the client's own timeout begins anew with every byte."""

    def __init__(self, seconds: float, line: Line) -> None:
        self._line = line
        self._late = False
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def _end(self) -> None:
        self._late = True
        self._line.cut()

    def check(self) -> None:
        """httpx2.ReadTimeout if the time is over."""
        if self._late:
            raise httpx2.ReadTimeout("the reply took too long")

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if isinstance(error, httpx2.HTTPError | OSError):
            self.check()
