"""`[system]` of the settings to an adapter. Asks nothing."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

from ragassay.assay import Frozen
from ragassay.corpus import FLOOR
from ragassay.errors import RagassayError, UsageError
from ragassay.extensions import extension_names, load_extension, unknown_name
from ragassay.records.base import Instant
from ragassay.run import System
from ragassay.run.foreign import foreign
from ragassay.run.systems.chat import ChatSystem
from ragassay.run.systems.command import CommandSystem
from ragassay.run.systems.completions import TRANSPORT
from ragassay.run.systems.extension import ADAPTERS, ExtensionSystem
from ragassay.run.systems.haystack import HaystackSystem
from ragassay.run.systems.http import HttpSystem
from ragassay.run.systems.langchain import LangChainSystem
from ragassay.run.systems.library import LibrarySystem
from ragassay.run.systems.llamaindex import LlamaIndexSystem
from ragassay.run.systems.pipeline.parts import LaterCache
from ragassay.run.systems.pipeline.system import PipelineSystem
from ragassay.run.systems.python import PythonSystem, load_callable
from ragassay.run.systems.reference import ReferenceSystem
from ragassay.run.systems.replay import ReplaySystem
from ragassay.run.systems.retrieved import Texts
from ragassay.traces.run_file import RunFormat

GIVEN = frozenset({"function", "clock", "own_loop", "folder", "as_of", "kind", "texts", "target", "retrieval",
                   "alignment"})  # fmt: skip
"""Parameters that no settings file can hold, or not as they are."""
KINDS: dict[str, Callable[..., System]] = {
    "reference": ReferenceSystem,
    "python": PythonSystem,
    "http": HttpSystem,
    "command": CommandSystem,
    "chat": ChatSystem,
    "traces": ReplaySystem,
    "trec": ReplaySystem,
    "ragas": ReplaySystem,
    "deepeval": ReplaySystem,
    "langchain": LangChainSystem,
    "llamaindex": LlamaIndexSystem,
    "haystack": HaystackSystem,
    "pipeline": PipelineSystem,
}
"""The adapters by `kind`."""
OBJECTS = {"langchain": "runnable", "llamaindex": "engine", "haystack": "pipeline"}
"""The key of an object that answers, beside `retriever`."""


class Place(NamedTuple):
    """What a system may be made of, beside its settings."""

    folder: Path
    frozen: Frozen
    as_of: Instant | None
    alignment: float = FLOOR
    """From which share of a text on it is tied to a place, as `[run] alignment` says."""
    store: Path | None = None
    """Where vectors are cached; in memory only if there is none."""


def make_system(
    settings: Mapping[str, Any],
    folder: Path,
    frozen: Frozen,
    as_of: Instant | None = None,
    *,
    alignment: float = FLOOR,
    store: Path | None = None,
) -> System:
    """The adapter that `[system]` describes; UsageError names the key that is wrong."""
    return _of_section(settings, Place(folder, frozen, as_of, alignment, store), "system")


def _of_section(settings: Mapping[str, Any], place: Place, section: str) -> System:
    rest = dict(settings)
    kind = rest.pop("kind", None)
    try:
        return _of_kind(kind, rest, place)
    except RagassayError as error:
        if not error.field.startswith("system"):
            error.field = f"{section}.{error.field}" if error.field else error.field
        raise


def _of_kind(kind: Any, rest: dict[str, Any], place: Place) -> System:
    documents, passages = place.frozen.documents, place.frozen.passages
    if kind == "reference":
        return _make(ReferenceSystem, rest, documents, passages)
    if kind == "python":
        function = load_callable(_needed(rest, "callable", '"my_module:answer"'), folder=place.folder)
        return _make(partial(PythonSystem, own_loop=True), rest, function)
    if kind == "http":
        return _make(HttpSystem, rest)
    if kind == "command":
        return _make(partial(CommandSystem, folder=place.folder), rest)
    if kind in get_args(RunFormat):
        file = _needed(rest, "file", '"run.jsonl"')
        kept = partial(ReplaySystem, folder=place.folder, as_of=place.as_of, alignment=place.alignment)
        return _make(kept, rest, kind, file, documents, passages)
    if kind in OBJECTS:
        return _library(kind, rest, place)
    if kind == "chat":
        return _chat(rest, place)
    if kind == "pipeline":
        cache = None if place.store is None else LaterCache(place.store)
        return PipelineSystem(documents, passages, rest, folder=place.folder, cache=cache)
    return _extension(kind, rest, place)


def _library(kind: str, rest: dict[str, Any], place: Place) -> System:
    keys = [key for key in ("retriever", OBJECTS[kind]) if key in rest]
    if len(keys) != 1:
        raise UsageError(
            f"give either `retriever` or `{OBJECTS[kind]}`", field="retriever", hint='retriever = "my_module:retriever"'
        )
    maker: Any = KINDS[kind]
    return _make(partial(maker, folder=place.folder), rest, _needed(rest, keys[0], '"my_module:name"'))


def _chat(rest: dict[str, Any], place: Place) -> System:
    described = rest.pop("retrieval", None)
    if not isinstance(described, Mapping):
        raise UsageError(
            "a chat system needs its retrieval",
            field="retrieval",
            hint='retrieval = { kind = "trec", file = "bm25.txt" }',
        )
    if (file := rest.pop("prompt_file", None)) is not None:
        if "prompt" in rest:
            raise UsageError("give either `prompt` or `prompt_file`", field="prompt_file")
        rest["prompt"] = _read(place.folder / str(file))
    retrieval = _of_section(described, place, "retrieval")
    texts = Texts(place.frozen.documents, place.frozen.passages, as_of=place.as_of)
    transport = {key: one for key, one in _parameters(HttpSystem).items() if key in TRANSPORT}
    return _make(partial(ChatSystem, texts=texts), rest, retrieval, more=transport)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise UsageError(
            f"{path.name} cannot be read: {cause}", field="prompt_file", hint="a UTF-8 text file"
        ) from None


def _extension(kind: Any, rest: dict[str, Any], place: Place) -> System:
    name = kind.removeprefix("ext:") if isinstance(kind, str) else ""
    found = load_extension(ADAPTERS, name) if name else None
    if found is None:
        raise _unknown_kind(kind)
    if not callable(found.value):
        raise UsageError(
            f"{found.identity} is not callable", field="kind", hint="a class, or a function that makes one"
        )
    values = {"folder": place.folder, "documents": place.frozen.documents, "passages": place.frozen.passages,
              "as_of": place.as_of}  # fmt: skip
    wanted = inspect.signature(found.value).parameters
    given = {key: one for key, one in values.items() if key in wanted}
    with foreign(f"{name!r} of {found.distribution}, as it was made,", "kind"):
        return ExtensionSystem(_make(partial(found.value, **given), rest), found)


def _unknown_kind(kind: Any) -> UsageError:
    names = [*KINDS, *extension_names(ADAPTERS)]
    if kind is None:
        return UsageError("the system needs a kind", field="kind", hint=f"kinds: {', '.join(names)}")
    error = unknown_name("kind", str(kind), names, ADAPTERS)
    error.message = f"there is no kind of system {kind!r}"
    return error


def _needed(rest: dict[str, Any], key: str, example: str) -> str:
    found = rest.pop(key, None)
    if not isinstance(found, str) or not found:
        raise UsageError(f"a system of this kind needs its {key}", field=key, hint=f"{key} = {example}")
    return found


def _make(
    kind: Callable[..., System],
    rest: Mapping[str, Any],
    *arguments: Any,
    more: Mapping[str, inspect.Parameter] | None = None,
) -> System:
    """`kind` called with the rest of the section, each key checked against its parameters and `more`."""
    parameters = dict(_parameters(kind))
    for _ in arguments:  # what is given by place no key may give again
        parameters.pop(next(iter(parameters)))
    parameters |= more or {}
    bound = kind.keywords if isinstance(kind, partial) else {}
    known = [name for name in parameters if name not in GIVEN and name not in bound]
    takes_any = more is None and _is_open(kind)
    for key in rest:
        if key not in known and not takes_any:
            raise _unknown_key(key, known)
    needed = [name for name in known if parameters[name].default is inspect.Parameter.empty and name not in rest]
    if needed:
        raise UsageError(f"the key {needed[0]!r} is missing", field=needed[0], hint="`ragassay init` shows an example")
    try:
        return kind(*arguments, **{key: _frozen(value) for key, value in rest.items()})
    except (TypeError, ValueError, AttributeError) as cause:
        raise UsageError(f"the settings do not fit: {cause}", field="system", hint="see docs/systems.md") from None


def _parameters(kind: Any) -> dict[str, inspect.Parameter]:
    """What may be given by name: of a class that hands the rest on to its parent, also what the parent takes."""
    bare: Any = kind.func if isinstance(kind, partial) else kind
    found = {key: one for key, one in inspect.signature(kind).parameters.items() if not _is_rest(one)}
    if _hands_on(bare):
        found |= {key: one for key, one in _parameters(bare.__base__).items() if key not in found}
    return found


def _is_open(kind: Any) -> bool:
    """Whether it takes keys that its signature does not name."""
    bare: Any = kind.func if isinstance(kind, partial) else kind
    return any(map(_is_rest, inspect.signature(bare).parameters.values())) and not _hands_on(bare)


def _hands_on(kind: Any) -> bool:
    return isinstance(kind, type) and kind.__base__ is LibrarySystem


def _is_rest(parameter: inspect.Parameter) -> bool:
    return parameter.kind is inspect.Parameter.VAR_KEYWORD


def _unknown_key(key: str, known: list[str]) -> UsageError:
    close = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(sorted(known))}"
    other = next((name for name, one in KINDS.items() if key not in GIVEN and key in _parameters(one)), None)
    if other is not None and not close:
        hint = f"it belongs to kind = {other!r}: take the line out; {hint}"
    return UsageError(f"unknown key {key!r}", field=key, hint=hint)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
