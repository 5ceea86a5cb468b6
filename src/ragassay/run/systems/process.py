"""One running program that answers JSON lines: who is owed a reply, what it said last, how it ended. Starts no second.

A line that cannot be read is the failure of the question that it names. If it names none, it belongs to one of those
that were waiting when it came, and as soon as only one of them is left, it is that one's.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.records.text import clean
from ragassay.records.trace import Failure

_PIECE_BYTES = 64 * 1024
_STDERR_BYTES = 8 * 1024
"""The end of standard error that is kept."""
_STDERR_SHOWN = 1000
_POLITE_S = 1.0
"""How long a program has to end by itself after its standard input was closed, and again after SIGTERM."""
_NAMED = re.compile(rb'"query_id"\s*:\s*("(?:[^"\\]|\\.){0,2048}")')


class Heard(NamedTuple):
    """What came of one question."""

    value: Any = None
    failure: Failure | None = None
    detail: str | None = None
    raw: bytes | None = None
    shared: bool = False
    """The program ended while others waited too: whose fault it was cannot be told."""


class Process:
    """A started program and the questions that wait for its replies."""

    def __init__(self, process: asyncio.subprocess.Process, *, max_line_bytes: int) -> None:
        self._process, self._most = process, max_line_bytes
        self._waiting: dict[str, asyncio.Future[Heard]] = {}
        self._asked: set[str] = set()
        self._suspects: list[tuple[set[str], Heard]] = []
        self._stderr = bytearray()
        self._why = ""
        self.ended = False
        self._finalizer = weakref.finalize(self, _kill_group, process.pid, signal.SIGKILL)
        self._tasks = [asyncio.ensure_future(self._listen()), asyncio.ensure_future(self._overhear())]

    @classmethod
    async def start(cls, argv: Sequence[str], *, env: Mapping[str, str], folder: Path, max_line_bytes: int) -> Process:
        """A program in a session of its own, with this environment and no other; OSError if it cannot be started."""
        pipe = asyncio.subprocess.PIPE
        started = await asyncio.create_subprocess_exec(
            *argv, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(env), cwd=folder, start_new_session=True
        )
        return cls(started, max_line_bytes=max_line_bytes)

    async def ask(self, query_id: str, line: bytes) -> Heard:
        """Write one line and wait for the reply that names this question."""
        future: asyncio.Future[Heard] = asyncio.get_running_loop().create_future()
        self._waiting[query_id] = future
        self._asked.add(query_id)
        try:
            stdin = self._process.stdin
            if self.ended or stdin is None:
                return self._end()
            with suppress(BrokenPipeError, ConnectionResetError):  # it has ended; who listens will say how
                stdin.write(line + b"\n")
                await stdin.drain()
            return await future
        finally:
            self._waiting.pop(query_id, None)
            self._clear(query_id)

    async def _listen(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        buffer = bytearray()
        while piece := await stdout.read(_PIECE_BYTES):
            buffer += piece
            if b"\n" in piece:
                *lines, rest = bytes(buffer).split(b"\n")
                buffer = bytearray(rest)
                for line in lines:
                    self._line(line)
            if len(buffer) > self._most:
                self._unreadable(bytes(buffer[:_PIECE_BYTES]), "too_large", f"a line of more than {self._most} bytes")
                self._why = "it was ended because of that line"
                break
        else:
            self._line(bytes(buffer))
        await self._finish()

    def _line(self, line: bytes) -> None:
        if not line.strip():
            return
        if len(line) > self._most:
            self._unreadable(line[:_PIECE_BYTES], "too_large", f"a line of more than {self._most} bytes")
            return
        try:
            value = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as cause:
            self._unreadable(line, "encoding", f"a line that is not UTF-8: {cause.reason} at byte {cause.start}")
        except (ValueError, RecursionError) as cause:
            self._unreadable(line, "json", f"a line that is not JSON: {cause}")
        else:
            self._reply(value, line)

    def _reply(self, value: Any, line: bytes) -> None:
        named = value.get("query_id") if isinstance(value, dict) else None
        query_id = str(named) if isinstance(named, str | int) and not isinstance(named, bool) else None
        if query_id is None:
            self._unreadable(b"", "query_id", "a reply that names no query_id", line)
        elif query_id in self._waiting:
            self._settle(query_id, Heard(value={key: one for key, one in value.items() if key != "query_id"}, raw=line))
        elif query_id not in self._asked:
            self._unreadable(b"", "query_id", f"a reply to {query_id[:100]!r}, which was not asked", line)

    def _unreadable(self, line: bytes, code: str, detail: str, raw: bytes = b"") -> None:
        """Find out whose failure a line is."""
        start = clean((raw or line)[:120].decode("utf-8", "replace")).text
        words = f"{detail}: {start!r} (standard output is for replies only; logs belong on standard error)"
        heard = Heard(failure=Failure(cause="invalid_response", code=code), detail=words, raw=raw or line)
        named = {one for one in _ids_in(line) if one in self._waiting}
        suspects = named if len(named) == 1 else set(self._waiting)
        if suspects:
            self._suspects.append((suspects, heard))
            self._convict()

    def _clear(self, query_id: str) -> None:
        """This question has its own outcome: the lines that nobody could assign are not its."""
        for suspects, _ in self._suspects:
            suspects.discard(query_id)
        self._convict()

    def _convict(self) -> None:
        for suspects, heard in self._suspects:
            if len(suspects) == 1:
                self._settle(next(iter(suspects)), heard)
        self._suspects = [one for one in self._suspects if len(one[0]) > 1]

    def _settle(self, query_id: str, heard: Heard) -> None:
        future = self._waiting.get(query_id)
        if future is not None and not future.done():
            future.set_result(heard)

    async def _finish(self) -> None:
        """Take the whole group down, and tell everybody who waits how the program ended."""
        self.ended = True
        if not self._why:
            with suppress(TimeoutError):  # it closed its standard output: a moment later it will have ended
                async with asyncio.timeout(_POLITE_S):
                    await self._process.wait()
        if self._process.returncode is None:
            self._why = self._why or "it closed its standard output"
        _kill_group(self._process.pid, signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLITE_S):
                await self._process.wait()
                await asyncio.wait({self._tasks[1]}, timeout=_POLITE_S)
        self._finalizer.detach()
        shared = sum(not one.done() for one in self._waiting.values()) > 1
        for future in list(self._waiting.values()):
            if not future.done():
                future.set_result(self._end(shared=shared))

    def _end(self, *, shared: bool = False) -> Heard:
        code = self._process.returncode
        how = self._why or _how(code)
        others = "; others were waiting too" if shared else ""
        failure = Failure(cause="process", code=f"exit {code}" if code is not None and code >= 0 else "ended")
        return Heard(failure=failure, detail=f"the program ended: {how}{others}", shared=shared)

    async def _overhear(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while piece := await stderr.read(_PIECE_BYTES):
            self._stderr += piece
            del self._stderr[:-_STDERR_BYTES]

    @property
    def last_words(self) -> str:
        """The end of what it wrote to standard error, one line, control characters made harmless elsewhere."""
        return clean(bytes(self._stderr).decode("utf-8", "replace")).text.strip()[-_STDERR_SHOWN:]

    async def close(self, *, politely: bool = True) -> None:
        """End the program and everything that it started: standard input closed, then SIGTERM, then SIGKILL."""
        if politely and not self.ended and self._process.stdin is not None:
            self._process.stdin.close()
            await asyncio.wait({self._tasks[0]}, timeout=_POLITE_S)
        for number in (signal.SIGTERM, signal.SIGKILL) if politely else (signal.SIGKILL,):
            if not self._tasks[0].done():
                _kill_group(self._process.pid, number)
                await asyncio.wait({self._tasks[0]}, timeout=_POLITE_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        self.ended = True
        if self._finalizer.detach():
            _kill_group(self._process.pid, signal.SIGKILL)
        transport: Any = vars(self._process)["_transport"]  # no public way to let go of pipes that others hold
        transport.close()


def _ids_in(line: bytes) -> set[str]:
    """The query ids that a line names, as far as it can be told from a line that is broken."""
    found = set()
    for one in _NAMED.findall(line[: 4 * _PIECE_BYTES]):
        with suppress(ValueError):
            found.add(json.loads(one.decode("utf-8", "replace")))
    return found


def _how(code: int | None) -> str:
    if code is None:
        return "nobody knows how"
    if code >= 0:
        return f"exit status {code}" + ("; it must stay and read the next line" if code == 0 else "")
    with suppress(ValueError):
        return f"by {signal.Signals(-code).name}"
    return f"by signal {-code}"


def _kill_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
