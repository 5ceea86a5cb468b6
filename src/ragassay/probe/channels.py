"""A reply taken apart: every text, number and document in it, with its channel, its step and its path. Judges nothing.

The reply may be in the form of the system contract or any other JSON: what a key is called says which channel it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ragassay.records.probe import CallReply, Channel

MAX_DEPTH = 40
LEAST_KEY = 5
"""Letters of a key that is looked at as a text, if it names no channel."""
_KEYS: dict[str, Channel] = {
    "answer": "answer", "answers": "answer", "response": "answer", "output": "answer",
    "contexts": "context", "context": "context",
    "citations": "citation", "citation": "citation", "sources": "citation", "references": "citation",
    "title": "title", "titles": "title", "related_titles": "title", "headline": "title",
    "snippet": "snippet", "snippets": "snippet", "summary": "snippet", "preview": "snippet", "highlight": "snippet",
    "error": "error", "errors": "error", "detail": "error", "details": "error", "message": "error",
    "exception": "error", "traceback": "error",
    "debug": "log", "trace": "log", "log": "log", "logs": "log", "prompt": "log", "messages": "log",
    "arguments": "tool", "tool": "tool", "tool_calls": "tool", "query_text": "tool",
    "filter": "filter", "filters": "filter",
    "items_in": "items", "items_out": "items", "items": "items", "results": "items", "documents": "items",
    "hits": "items", "passages": "items", "chunks": "items", "candidates": "items",
    "score": "score", "scores": "score", "confidence": "score", "distance": "score", "similarity": "score",
    "total": "count", "count": "count", "counts": "count", "total_hits": "count",
    "headers": "header",
}  # fmt: skip
_STRONG: frozenset[Channel] = frozenset({"title", "snippet", "error", "log", "tool", "filter", "score", "count"})
"""Channels that a key names wherever it stands; the others are named by the outermost key."""
_ITEM_LISTS: frozenset[Channel] = frozenset({"items", "context", "citation", "log"})
_IDS = ("document_id", "documentId", "doc_id", "item_id", "id", "source", "passage_id")
_TENANTS = ("tenant", "tenant_id", "tenantId", "tenants", "owner")
_ASKER = ("principal_seen", "principal")
"""Under these a tenant is the asker's, not a document's."""


class Text(NamedTuple):
    """One text of a reply."""

    channel: Channel
    step: str | None
    path: str
    text: str


class Number(NamedTuple):
    """One number of a reply, or the length of a list (its path ends in `#`)."""

    channel: Channel
    path: str
    value: float


class Shown(NamedTuple):
    """One document that a list of the reply holds, as far as the reply says which."""

    channel: Channel
    step: str | None
    path: str
    ids: tuple[str, ...]
    tenants: tuple[str, ...]


class Step(NamedTuple):
    """One retrieving step of a reply: its filter as text, and whether it shows candidates."""

    name: str
    filter: str | None
    candidates: bool


class Parts(NamedTuple):
    """All that one reply holds."""

    texts: list[Text]
    numbers: list[Number]
    shown: list[Shown]
    steps: list[Step]
    lengths: list[tuple[str, int]]
    """Of the lists that a retrieving step or a guard hands on, or of the reply's own lists of items, by name."""
    lists: bool
    """Whether it has any list of documents, were it empty."""
    answer: str | None
    outcome: str | None
    channels: frozenset[Channel]
    cached: bool


def parts_of(reply: CallReply) -> Parts:
    """The parts of one reply; of a body that is not JSON, its text."""
    walk = _Walk()
    for name, text in reply.headers.items():
        walk.texts.append(Text("header", None, f"headers.{name}", text))
    value: Any = reply.body or ""
    try:
        value = json.loads(value)
    except (ValueError, RecursionError):
        failed = reply.status is not None and reply.status >= 400
        walk.texts.append(Text("error" if failed else "answer", None, "body", str(value)))
        value = {}
    failed = reply.status is not None and reply.status >= 400
    walk.value(value, "error" if failed else "other", None, "", 0)
    outer = value if isinstance(value, Mapping) else {}
    if not failed and not walk.lists and isinstance(outer.get("document_id"), str):
        walk.lists = True  # one document, fetched by its id
        walk.shown.append(walk.document(outer, "items", None, ""))
    seen = {one.channel for one in walk.texts} | {one.channel for one in walk.numbers}
    seen |= {one.channel for one in walk.shown} | walk.channels
    cached = outer.get("cached") is True
    return Parts(
        walk.texts, walk.numbers, walk.shown, walk.steps, walk.lengths, walk.lists, *_answer(outer),
        frozenset({*seen, *(("cache",) if cached else ())}), cached,
    )  # fmt: skip


def _answer(outer: Mapping[str, Any]) -> tuple[str | None, str | None]:
    said = outer.get("answer")
    outcome = outer.get("outcome")
    if isinstance(said, Mapping):
        outcome = said.get("outcome", outcome)
        said = said.get("text")
    return said if isinstance(said, str) else None, outcome if isinstance(outcome, str) else None


class _Walk:
    def __init__(self) -> None:
        self.texts: list[Text] = []
        self.numbers: list[Number] = []
        self.shown: list[Shown] = []
        self.steps: list[Step] = []
        self.lengths: list[tuple[str, int]] = []
        self.channels: set[Channel] = set()
        self.lists = False

    def value(self, value: Any, channel: Channel, step: str | None, path: str, depth: int) -> None:
        """Any JSON value at its place."""
        if depth > MAX_DEPTH:  # looked at as one text, so that nothing hides there
            self.texts.append(Text(channel, step, path, _flat(value)))
            return
        if isinstance(value, str):
            self.texts.append(Text(channel, step, path, value))
        elif isinstance(value, bool) or value is None:
            return
        elif isinstance(value, int | float):
            named: Channel = "latency" if path.endswith(("_ms", "_s")) else channel if channel == "score" else "count"
            self.numbers.append(Number(named, path, float(value)))
        elif isinstance(value, list):
            self._list(value, channel, step, path, depth)
        elif isinstance(value, dict):
            self._object(value, channel, step, path, depth)

    def _list(self, value: list[Any], channel: Channel, step: str | None, path: str, depth: int) -> None:
        self.channels.add(channel)
        self.numbers.append(Number("count", f"{path}#", float(len(value))))
        if channel == "items" and "." not in path:
            self.lengths.append((path, len(value)))
        if channel in _ITEM_LISTS:
            self.lists = True
            self.shown += [self.document(one, channel, step, path) for one in value if isinstance(one, str | dict)]
        steps = path == "steps" or path.endswith(".steps")  # a batch has them in each of its replies
        for one in value:
            name = step
            if steps and isinstance(one, dict):
                name = str(one.get("name") or one.get("kind") or "step")
                self._step(one, name)
            self.value(one, channel, name, f"{path}.{name}" if steps else path, depth + 1)

    def _step(self, step: Mapping[str, Any], name: str) -> None:
        handed_on = step.get("items_out", step.get("itemsOut"))
        if step.get("kind") in ("lexical", "vector", "fetch", "guard") and isinstance(handed_on, list):
            self.lengths.append((name, len(handed_on)))
        if step.get("kind") in ("lexical", "vector", "fetch"):
            given = step.get("filter")
            shown = json.dumps(given, ensure_ascii=False) if given not in (None, {}) else None
            self.steps.append(Step(name, shown, "items_out" in step or "itemsOut" in step))

    def _object(self, value: dict[str, Any], channel: Channel, step: str | None, path: str, depth: int) -> None:
        for key, one in value.items():
            named = _KEYS.get(_snake(key))
            here = channel
            within = channel == "answer" and named in ("citation", "context")  # the text of an answer is none of both
            if named is not None and (channel in ("other", "error") or named in _STRONG or within):
                here = named
            if _snake(key) in _ASKER:
                continue
            if named is None and len(key) >= LEAST_KEY:
                self.texts.append(Text(channel, step, f"{path}.(key)" if path else "(key)", key))
            self.value(one, here, step, f"{path}.{key}" if path else key, depth + 1)

    @staticmethod
    def document(one: Any, channel: Channel, step: str | None, path: str) -> Shown:
        """What an entry of a list says of the document that it is, or is a part of."""
        if isinstance(one, str):
            return Shown(channel, step, path, (one,), ())
        ids = tuple(str(one[key]) for key in _IDS if isinstance(one.get(key), str | int))
        source = one.get("source")
        if isinstance(source, dict) and isinstance(source.get("document_id"), str):
            ids += (source["document_id"],)
        tenants: list[str] = []
        for key in _TENANTS:
            said = one.get(key)
            tenants += [said] if isinstance(said, str) and said else []
            tenants += [str(each) for each in said] if isinstance(said, list) else []
        return Shown(channel, step, path, ids, tuple(dict.fromkeys(tenants)))


def _flat(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except RecursionError:  # it was read by a machine with more room
        return ""


def _snake(key: str) -> str:
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in key).lstrip("_").replace("-", "_")


def features(parts: Parts) -> Iterator[tuple[Channel, str, float]]:
    """One number a path, for comparison between replies: the greatest of scores, the sum of the others."""
    found: dict[tuple[Channel, str], float] = {}
    for channel, path, value in parts.numbers:
        key = (channel, path)
        if key not in found:
            found[key] = value
        else:
            found[key] = max(found[key], value) if channel == "score" else found[key] + value
    for (channel, path), value in found.items():
        yield channel, path, value
