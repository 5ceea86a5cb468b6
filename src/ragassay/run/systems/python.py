"""A Python callable as the system under test, sync in a thread or async awaited. Says nothing about what it does."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ragassay.errors import UsageError
from ragassay.records.base import Digest, Metadata
from ragassay.records.canonical import digest_bytes
from ragassay.records.protocol import Stated, SystemIdentity
from ragassay.redact import Redaction
from ragassay.run.contract import Request
from ragassay.run.threads import LoopThread, in_thread, words_of

UNSTATED = "the system does not say"


class PythonSystem:
    """`function(request)` for each question; it returns anything that `Response` allows.

    A plain function runs in a thread that nobody waits for after the timeout. A coroutine function is awaited in the
    loop of the run, or with `own_loop` in a loop of its own, where it may block without stopping the run.
    The identity holds the digest of the source file and of plain values in the closure; give retriever, generator and
    prompt if you know them.
    """

    def __init__(
        self,
        function: Callable[[Request], Any],
        *,
        name: str = "",
        retriever: str | None = None,
        generator: str | None = None,
        prompt: str | None = None,
        settings: Metadata | None = None,
        own_loop: bool = False,
    ) -> None:
        if not callable(function):
            raise UsageError(
                f"a system must be callable, got {type(function).__name__}",
                hint="def answer(request) -> {'answer': '...', 'contexts': ['...']}",
            )
        self._function = function
        self._async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004  an object with an async __call__
        )
        self._own_loop = own_loop
        self._loop: LoopThread | None = None
        spelled = spelling(function)
        self.identity = SystemIdentity(
            name=(name or spelled)[:512],
            adapter="python",
            retriever=stated(retriever),
            generator=stated(generator),
            prompt=stated(prompt),
            settings={"callable": spelled, **_state(function), **(settings or {})},
            code=source_digest(function),
        )

    async def ask(self, request: Request) -> Any:
        """Whatever the callable returns; it may raise."""
        if self._async and self._own_loop:
            return await self._other_loop().run(self._function, request)
        if self._async:
            return await self._function(request)
        found = await in_thread(self._function, request)
        if not inspect.isawaitable(found):
            return found
        return await self._other_loop().run(_wait_for, found) if self._own_loop else await found

    def _other_loop(self) -> LoopThread:
        """The loop of its own; a new one if something blocks the last."""
        if self._loop is not None and self._loop.blocked:
            self._loop.abandon()
            self._loop = None
        self._loop = self._loop or LoopThread()
        return self._loop

    async def aclose(self) -> None:
        """End the loop of its own, if there is one."""
        if self._loop is not None:
            loop, self._loop = self._loop, None
            await loop.close()


async def _wait_for(awaitable: Any) -> Any:
    return await awaitable


def stated(value: str | None) -> Stated:
    """What is declared about a part of a system, or that nothing is."""
    return Stated(value=value) if value else Stated(absent=UNSTATED)


def spelling(function: Callable[..., Any]) -> str:
    """`module:name` of a callable, or of the class of a callable object."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(named, '__module__', None) or '?'}:{getattr(named, '__qualname__', '?')}"


def source_digest(function: Callable[..., Any]) -> Digest | None:
    """The digest of the source file of a callable, else of its source text, else None."""
    target = inspect.unwrap(function)
    while hasattr(target, "func") and callable(target.func):  # functools.partial
        target = target.func
    if not (inspect.isfunction(target) or inspect.ismethod(target) or inspect.isclass(target)):
        target = type(target)
    with suppress(OSError, TypeError):
        if (file := inspect.getsourcefile(target)) and Path(file).is_file():
            return digest_bytes(Path(file).read_bytes())
    with suppress(OSError, TypeError):
        return digest_bytes(inspect.getsource(target).encode("utf-8", "surrogatepass"))
    return None


def captured(function: Callable[..., Any]) -> dict[str, Any]:
    """Plain values that a callable keeps beside its source and does not change: closure, defaults, partial arguments.

    What is no text, number or tuple of them is left out, and so are attributes of objects, which often count or cache.
    Nothing is called.
    """
    arguments: list[Any] = []
    target: Any = function
    while isinstance(target, functools.partial):
        arguments.append([[one for one in target.args if _is_plain(one)], _plain(target.keywords)])
        target = target.func
    cells = zip(_of(target, "__code__", "co_freevars"), _of(target, "__closure__"), strict=False)
    closure: dict[str, Any] = {}
    for name, cell in cells:
        with suppress(ValueError):  # a cell that is still empty
            closure[name] = cell.cell_contents
    found = {
        "partial": [one for one in arguments if any(one)],
        "closure": _plain(closure),
        "defaults": [one for one in _of(target, "__defaults__") if _is_plain(one)],
        "keyword defaults": _plain(getattr(target, "__kwdefaults__", None) or {}),
    }
    return {name: one for name, one in found.items() if one}


def _of(target: Any, *names: str) -> tuple[Any, ...]:
    for name in names:
        target = getattr(target, name, None)
    return target if isinstance(target, tuple) else ()


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in values.items() if _is_plain(one)}


def _is_plain(value: Any, depth: int = 8) -> bool:
    if type(value) is tuple and depth:
        return all(_is_plain(one, depth - 1) for one in value)
    return value is None or type(value) in (str, bool, float, int)


def _state(function: Callable[..., Any]) -> Metadata:
    """The digest of what a callable keeps, less credentials: the same code with another model is another system."""
    values, _ = Redaction().value(captured(function))
    if not values:
        return {}
    return {"state": digest_bytes(json.dumps(values, sort_keys=True).encode("utf-8", "surrogatepass"))}


def load_callable(spec: str, *, folder: Path | None = None) -> Callable[[Request], Any]:
    """The callable that `module:name` means, with `folder` (default: the current one) importable.

    UsageError says what was looked for and what is there instead.
    """
    found = load_object(spec, folder=folder)
    if not callable(found):
        raise UsageError(f"{spec} is not callable", field="callable", hint="def answer(request): ...")
    return found  # type: ignore[no-any-return]


def load_object(spec: str, *, folder: Path | None = None, field: str = "callable") -> Any:
    """Whatever `module:name` means, with `folder` importable; UsageError about `field` otherwise."""
    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise UsageError(f"{spec!r} is not module:name", field=field, hint='for example "my_module:answer"')
    place = str((folder or Path.cwd()).resolve())
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        module = importlib.import_module(module_name)
    except ImportError as cause:
        raise UsageError(
            f"{module_name} cannot be imported: {words_of(cause)}",
            field=field,
            hint=f"modules are looked for in {place}",
        ) from cause
    except (Exception, SystemExit) as cause:
        raise UsageError(
            f"{module_name} raised {type(cause).__name__} while it was loaded: {words_of(cause)}",
            field=field,
            hint="import it by itself in Python to see where",
        ) from cause
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            close = difflib.get_close_matches(part, dir(found), n=1)
            raise UsageError(
                f"{module_name} has no {name}", field=field, hint=f"did you mean {close[0]!r}?" if close else ""
            )
        found = getattr(found, part)
    return found


def module_digest(spec: str) -> Digest | None:
    """The digest of the source file of a loaded `module:name`."""
    file = getattr(sys.modules.get(spec.partition(":")[0]), "__file__", None)
    with suppress(OSError):
        return digest_bytes(Path(file).read_bytes()) if file else None
    return None
