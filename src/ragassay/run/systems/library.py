"""What the adapters of LangChain, LlamaIndex and Haystack share: an object of a library, asked in a thread.

An entry says what the library says; what it does not say is left out. Resolves nothing.
"""

from __future__ import annotations

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ragassay.errors import MissingExtraError, UsageError
from ragassay.records.base import Metadata
from ragassay.records.canonical import canonical_bytes
from ragassay.records.case import Turn
from ragassay.records.protocol import SystemIdentity
from ragassay.records.trace import SOURCE_KINDS, Failure
from ragassay.run.contract import Reply, Request, request_value
from ragassay.run.foreign import foreign
from ragassay.run.mapping import ABSENT, check_template, fill, follow, parse_path
from ragassay.run.systems.python import PythonSystem, load_object, module_digest, spelling, stated

FIELDS = ("id", "document_id", "version", "start", "end", "score", "tenant", "access")
"""What an entry's metadata may say, by the key that `fields` names for it."""
Entry = dict[str, Any]


class Found(NamedTuple):
    """What an object returned, in the contract's parts; None is what it did not say."""

    documents: list[Entry] | None = None
    answer: str | None = None
    extra: Mapping[str, Any] = {}
    """usage, versions, finish_reason, ..."""


class UnreadableError(Exception):
    """The object returned something that is neither documents nor an answer."""


class LibrarySystem(ABC):
    """An object of a library as a system: a retriever, or something that answers.

    `target` is the object, a function without arguments that makes it, or `module:name` of either. A retriever's list
    is one step of kind `step`; no context is claimed, since nothing was generated. Documents that come with an answer
    are its context. `fields` names the metadata keys of an entry's id, place and score; `score_direction` says whether
    scores are better when `higher` or `lower`, which no library says. `input` is a template of what the object takes
    (`$.query`, `$.history` as the library's messages); without it a text: `history_turns` earlier user turns and the
    query. `answer` and `documents` are paths into what it returns.
    """

    kind: ClassVar[str]
    distribution: ClassVar[str]
    module: ClassVar[str]
    defaults: ClassVar[Mapping[str, tuple[str, ...]]]
    """Metadata keys by what they say; the first that is there counts."""

    def __init__(
        self,
        target: Any,
        *,
        folder: Path | None = None,
        name: str = "",
        mode: str = "sync",
        step: str = "fetch",
        step_name: str = "retriever",
        input: Any = None,  # noqa: A002  the key of the settings
        answer: str | None = None,
        documents: str | None = None,
        fields: Mapping[str, str] | None = None,
        score_direction: str | None = None,
        history_turns: int = 0,
        retriever_version: str | None = None,
        generator: str | None = None,
        prompt: str | None = None,
        settings: Metadata | None = None,
    ) -> None:
        self.load()
        spec = target if isinstance(target, str) else ""
        self.target = self._made(load_object(target, folder=folder, field="retriever") if spec else target, spec)
        _check(mode, ("sync", "async"), "mode")
        _check(step, sorted(SOURCE_KINDS), "step")
        if score_direction is not None:
            _check(score_direction, ("higher", "lower"), "score_direction")
        check_template(input, "input")
        for path in (answer, documents):
            if path is not None:
                parse_path(path)
        if isinstance(history_turns, bool) or not isinstance(history_turns, int) or history_turns < 0:
            raise UsageError(f"{history_turns!r} turns", field="history_turns", hint="0 or more")
        self.mode, self.step, self.step_name, self.input = mode, step, step_name, input
        self.answer, self.documents, self.direction = answer, documents, score_direction
        self.fields, self.turns = _checked_fields(fields or {}, self.defaults), history_turns
        self._python = PythonSystem(self._ask_async if mode == "async" else self._ask_sync, own_loop=True)
        self.identity = SystemIdentity(
            name=name or spec or spelling(self.target),
            adapter=self.kind,
            retriever=stated(retriever_version),
            generator=stated(generator),
            prompt=stated(prompt),
            settings={**self._settings(spec), **(settings or {})},
            code=module_digest(spec) if spec else None,
        )

    @classmethod
    def load(cls) -> Any:
        """The library; MissingExtraError says how to install it."""
        try:
            return importlib.import_module(cls.module)
        except ImportError as cause:
            raise MissingExtraError(
                f"kind = {cls.kind!r} needs {cls.distribution}: {cause}",
                field="kind",
                hint=f"pip install 'ragassay[{cls.kind}]'",
            ) from None

    def _made(self, found: Any, spec: str) -> Any:
        """The object, or what the function without arguments makes."""
        if self.accepts(found) and not inspect.isclass(found):
            return found
        if callable(found):
            named = spec or spelling(found)
            with foreign(named, "retriever"):
                try:
                    made = found()
                except TypeError as cause:
                    raise UsageError(f"{named} cannot be called: {cause}", field="retriever") from None
            if self.accepts(made):
                return made
            found = made
        raise UsageError(
            f"{spec or 'the object'} is a {type(found).__name__}", field="retriever", hint=f"expected {self.expected}"
        )

    expected: ClassVar[str]

    @abstractmethod
    def accepts(self, found: Any) -> bool:
        """Whether this is an object that the adapter can ask."""

    @abstractmethod
    def call(self, request: Request) -> Any:
        """Ask the object; what it returns."""

    @abstractmethod
    async def call_async(self, request: Request) -> Any:
        """The same, awaited."""

    @abstractmethod
    def read(self, value: Any) -> Found:
        """What the object returned, in parts; UnreadableError if it is nothing known."""

    @abstractmethod
    def messages(self, history: Sequence[Turn]) -> list[Any]:
        """Earlier turns as the library's messages."""

    @property
    def takes_messages(self) -> bool:
        """Whether earlier turns go in as messages."""
        return "$.history" in canonical_bytes(self.input).decode() if self.input is not None else False

    def _settings(self, spec: str) -> Metadata:
        try:
            library = f"{self.distribution} {version(self.distribution)}"
        except PackageNotFoundError:
            library = self.distribution
        history = "not passed: the object takes one text"
        if self.takes_messages:
            history = "as messages"
        elif self.turns:
            history = f"the last {self.turns} user turns before the query"
        elif self.input is not None:
            history = "not passed: the input has no $.history"
        return {
            "object": spec or spelling(self.target),
            "library": library,
            "input": canonical_bytes(self.input).decode() if self.input is not None else "the query as a text",
            "answer": self.answer or "as the library returns it",
            "documents": self.documents or "as the library returns them",
            "fields": sorted(f"{key}={' or '.join(names)}" for key, names in self.fields.items()),
            "step": f"{self.step} {self.step_name}",
            "history": history,
            "mode": self.mode,
        }

    def query(self, request: Request) -> str:
        """The text that is asked: the last user turns, if that is declared, and the query."""
        turns = [one.text for one in request.history if one.role == "user"][-self.turns :] if self.turns else []
        return " ".join([*turns, request.query])

    def filled(self, request: Request, template: Any = None) -> Any:
        """The input: a template with the request's values in it, or the text."""
        wanted = self.input if template is None else template
        if wanted is None:
            return self.query(request)
        value = {**request_value(request, with_credential=True), "query": self.query(request)}
        return fill(wanted, {**value, "history": self.messages(request.history)})

    async def ask(self, request: Request) -> Any:
        """The response of the contract, or the failure that what came is nothing known."""
        return await self._python.ask(request)

    def _ask_sync(self, request: Request) -> Any:
        return self._response(request, self.call(request))

    async def _ask_async(self, request: Request) -> Any:
        return self._response(request, await self.call_async(request))

    def _response(self, request: Request, value: Any) -> Any:
        secrets = (request.credential,) if request.credential else ()
        try:
            found = self.read(value)
        except UnreadableError as cause:
            return Reply(failure=Failure(cause="invalid_response", code="response"), detail=str(cause), secrets=secrets)
        response = dict(found.extra)
        if found.documents is not None and found.answer is None:
            step: Entry = {"kind": self.step, "name": self.step_name, "parents": [], "items_out": found.documents}
            if self.input is None:
                step["query_text"] = self.query(request)
            if self.direction:
                step["score_direction"] = self.direction
            response["steps"] = [step]
        elif found.documents is not None:
            response["contexts"] = found.documents
        if found.answer is not None:
            response["answer"] = found.answer
        return response

    async def aclose(self) -> None:
        """Let go of the loop, if there was one."""
        await self._python.aclose()

    def entry(self, *, text: str | None, metadata: Mapping[str, Any], **said: Any) -> Entry:
        """One item: what the library's own attributes say, and what the metadata say under the declared keys."""
        found: Entry = {key: one for key, one in said.items() if one is not None}
        if text is not None:
            found["text"] = text
        for key, names in self.fields.items():
            values = (metadata[name] for name in names if metadata.get(name) is not None)
            if (value := next(values, None)) is not None:
                found[key] = value
        return placed(found)

    def at(self, path: str, value: Any) -> Any:
        """What stands at a declared path of what came; UnreadableError if nothing does."""
        found = follow(path, value)
        if found is ABSENT:
            raise UnreadableError(f"nothing stands at {path} of what came ({shape(value)})")
        return found


def placed(entry: Entry) -> Entry:
    """The entry with a whole place or none: `start` and `end` are code points from 0; a text's length gives the end."""
    start, end, text = _count(entry.get("start")), _count(entry.get("end")), entry.get("text")
    if end is None and start is not None and isinstance(text, str):
        end = start + len(text)
    rest = {key: one for key, one in entry.items() if key not in ("start", "end")}
    whole = start is not None and end is not None and start <= end and "document_id" in rest
    return {**rest, "start": start, "end": end} if whole else rest


def _count(value: Any) -> int | None:
    """A whole number of 0 or more (LangChain says -1 for a place that it did not find), else nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1 or value < 0:
        return None
    return int(value)


def shape(value: Any) -> str:
    """What something is, in a few words, for a message."""
    if isinstance(value, Mapping):
        return f"a mapping with {', '.join(sorted(map(str, value))[:10]) or 'nothing'}"
    return f"a {type(value).__name__}"


def each(values: Any, kinds: tuple[type, ...]) -> Iterable[Any]:
    """The entries of a list, which must all be of these kinds."""
    if not isinstance(values, list | tuple):
        raise UnreadableError(f"documents are a list, got {shape(values)}")
    for one in values:
        if not isinstance(one, kinds):
            raise UnreadableError(f"a {type(one).__name__} among the documents")
        yield one


def _checked_fields(fields: Mapping[str, str], defaults: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    for key, one in fields.items():
        if key not in FIELDS or not isinstance(one, str):
            raise UsageError(
                f"{key!r} is not what an entry says", field="fields", hint=f"{', '.join(FIELDS)} = metadata keys"
            )
    return {**defaults, **{key: (one,) for key, one in fields.items()}}


def _check(value: str, allowed: Sequence[str], field: str) -> None:
    if value not in allowed:
        raise UsageError(f"{value!r} is none of {', '.join(allowed)}", field=field)
