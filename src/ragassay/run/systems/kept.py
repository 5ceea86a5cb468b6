"""Many traces in little memory: packed as bytes, one made when it is asked for. Reads no file."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

import msgspec

from ragassay.records.trace import Trace

_LEVEL = 1
_DECODER = msgspec.json.Decoder(Trace)


class KeptTraces:
    """Traces by question and repeat; of one key twice the last stays.

    A trace of the demo's kind takes about a fortieth of what it takes as an object. They stay in memory: a file of
    what may still hold secrets is not written.
    """

    def __init__(self) -> None:
        self._packed: dict[str, dict[int, bytes]] = {}

    def __len__(self) -> int:
        """How many questions."""
        return len(self._packed)

    def add(self, trace: Trace) -> None:
        """Keep a trace."""
        own = self._packed.setdefault(trace.content.query_id, {})
        own[trace.content.repeat] = zlib.compress(msgspec.json.encode(trace), _LEVEL)

    def of(self, query_id: str) -> Mapping[int, Trace]:
        """What is kept of a question, by repeat; each is made when it is read. Empty if nothing is."""
        return _Repeats(self._packed.get(query_id, {}))


class _Repeats(Mapping[int, Trace]):
    def __init__(self, packed: Mapping[int, bytes]) -> None:
        self._packed = packed

    def __getitem__(self, repeat: int) -> Trace:
        return _DECODER.decode(zlib.decompress(self._packed[repeat]))

    def __iter__(self) -> Iterator[int]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)
