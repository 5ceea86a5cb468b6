"""`[system]` of the settings to an adapter. Asks nothing."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ragassay.assay import Frozen
from ragassay.errors import RagassayError, UsageError
from ragassay.run import System
from ragassay.run.systems.http import HttpSystem
from ragassay.run.systems.python import PythonSystem, load_callable
from ragassay.run.systems.reference import ReferenceSystem

GIVEN = frozenset({"documents", "passages", "function", "clock", "own_loop"})
"""Parameters that no settings file can hold."""
KINDS: dict[str, Callable[..., System]] = {"reference": ReferenceSystem, "python": PythonSystem, "http": HttpSystem}
"""The adapters by `kind`."""


def make_system(settings: Mapping[str, Any], folder: Path, frozen: Frozen) -> System:
    """The adapter that `[system]` describes; UsageError names the key that is wrong."""
    rest = dict(settings)
    kind = rest.pop("kind", None)
    makers: dict[str, Callable[[], System]] = {
        "reference": lambda: _make(ReferenceSystem, rest, frozen.documents, frozen.passages, given=GIVEN),
        "python": lambda: _python(rest, folder),
        "http": lambda: _make(HttpSystem, rest),
    }
    if kind not in makers:
        close = difflib.get_close_matches(str(kind), makers, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"kinds: {', '.join(makers)}"
        raise UsageError(
            "the system needs a kind" if kind is None else f"there is no kind of system {kind!r}",
            field="system.kind",
            hint=hint,
        )
    try:
        return makers[kind]()
    except RagassayError as error:
        error.field = f"system.{error.field}" if error.field and not error.field.startswith("system") else error.field
        raise


def _python(rest: dict[str, Any], folder: Path) -> System:
    spec = rest.pop("callable", None)
    if not isinstance(spec, str):
        raise UsageError("a python system needs its callable", field="callable", hint='callable = "my_module:answer"')
    return _make(partial(PythonSystem, own_loop=True), rest, load_callable(spec, folder=folder), given=GIVEN)


def _make(
    kind: Callable[..., System], rest: Mapping[str, Any], *arguments: Any, given: frozenset[str] = frozenset()
) -> System:
    """`kind` called with the rest of the section, each key checked against its parameters."""
    parameters = inspect.signature(kind).parameters
    known = [name for name in parameters if name not in given]
    for key in rest:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(sorted(known))}"
            other = next((name for name, one in KINDS.items() if key in inspect.signature(one).parameters), None)
            if other is not None and not close:
                hint = f"it belongs to kind = {other!r}: take the line out; {hint}"
            raise UsageError(f"unknown key {key!r}", field=key, hint=hint)
    needed = [name for name in known if parameters[name].default is inspect.Parameter.empty and name not in rest]
    if needed:
        raise UsageError(f"the key {needed[0]!r} is missing", field=needed[0], hint="`ragassay init` shows an example")
    try:
        return kind(*arguments, **{key: _frozen(value) for key, value in rest.items()})
    except (TypeError, ValueError, AttributeError) as cause:
        raise UsageError(f"the settings do not fit: {cause}", field="system", hint="see docs/systems.md") from None


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
