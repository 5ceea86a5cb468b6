"""Foreign code in threads that nobody waits for: a call that never returns costs a thread, never a run."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ragassay.records.text import clean

_LONGEST_NAME = 256


class CallEndedError(Exception):
    """Foreign code raised something that may not pass through a future (SystemExit, StopIteration, ...)."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(words_of(cause))
        self.kind = type(cause).__name__


def name_of(error: BaseException) -> str:
    """The class name of an exception, fit for a record."""
    return clean(error.kind if isinstance(error, CallEndedError) else type(error).__name__).text[:_LONGEST_NAME]


def words_of(error: BaseException) -> str:
    """What an exception of foreign code says; its own `__str__` may fail, and that must not fail anything else."""
    try:
        return str(error)
    except BaseException:  # noqa: BLE001  foreign code may raise anything
        return "(its message cannot be read)"


async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a blocking call, made in a daemon thread of its own.

    If the caller stops waiting, the thread is abandoned: it can delay neither the run nor the end of the process.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        elif isinstance(error, Exception) and not isinstance(error, StopIteration):
            future.set_exception(error)
        else:
            future.set_exception(CallEndedError(error))

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(function, *arguments)
        except BaseException as cause:  # noqa: BLE001  foreign code may raise anything
            error = cause
        with suppress(RuntimeError):  # the loop is gone: nobody is waiting any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="ragassay-call", daemon=True).start()
    return await future


class Writer:
    """One daemon thread for everything that must reach the disk, in order, so that no question's clock waits for it."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._live, name="ragassay-writer", daemon=True).start()

    def _live(self) -> None:
        while (work := self._queue.get()) is not None:
            work()

    def begin(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Queue a write; its result, for the running loop. Nothing takes it out of the queue again."""
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()

        def work() -> None:
            try:
                future.set_result(function(*arguments))
            except BaseException as cause:  # noqa: BLE001  it belongs to whoever waits for it
                future.set_exception(cause)

        self._queue.put(work)
        return asyncio.wrap_future(future)

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a write. Being cancelled does not leave it half done: it is waited for first."""
        writing = self.begin(function, *arguments)
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait({writing})
            if not writing.cancelled():
                writing.exception()
            raise

    def close(self) -> None:
        """Let the thread end after what is queued."""
        self._queue.put(None)


class LoopThread:
    """An event loop of its own in a daemon thread, for coroutines that might block or refuse to be cancelled."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._silent_since_cancel = False
        self._thread = threading.Thread(target=self._live, name="ragassay-loop", daemon=True)
        self._thread.start()

    def _live(self) -> None:
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            if tasks:
                self._loop.run_until_complete(asyncio.wait(tasks, timeout=1.0))
        finally:
            self._loop.close()

    @property
    def blocked(self) -> bool:
        """Whether the loop has given no sign of life since somebody gave up waiting."""
        return self._silent_since_cancel

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a coroutine function that runs in the other loop; giving up asks it to stop, no more."""
        future = asyncio.run_coroutine_threadsafe(_guarded(function, arguments), self._loop)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._silent_since_cancel = True
            self._loop.call_soon_threadsafe(self._heard)
            raise

    def result(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a coroutine function that runs in the other loop, for callers that have none and block."""
        return asyncio.run_coroutine_threadsafe(_guarded(function, arguments), self._loop).result()

    def _heard(self) -> None:
        self._silent_since_cancel = False

    def abandon(self) -> None:
        """Ask the loop to end whenever it can."""
        with suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._loop.stop)

    async def close(self, timeout_s: float = 2.0) -> None:
        """End the loop; if something in it blocks for longer than the timeout, the thread is abandoned."""
        self.abandon()
        await in_thread(self._thread.join, timeout_s)


async def _guarded(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The awaited result; what would end a loop becomes an exception of the call."""
    try:
        return await function(*arguments)
    except (SystemExit, KeyboardInterrupt) as cause:
        raise CallEndedError(cause) from None
