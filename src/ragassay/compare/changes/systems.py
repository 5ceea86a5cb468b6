"""Two system identities, setting by setting, each setting under the artefact that it belongs to. Runs no system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from ragassay.compare.changes.shown import change, text_of
from ragassay.records.comparison import Artefact, Change
from ragassay.records.protocol import Stated, SystemIdentity

SETTINGS: Mapping[str, Artefact] = {
    # what finds
    "where": "filter",
    "fusion": "fusion",
    "rerank": "reranker",
    "agentic": "retriever",
    "dedup": "dedup",
    "rewrite": "rewrite",
    "history_turns": "rewrite",
    "retrieval": "retriever",
    # what generation sees
    "context_tokens": "assembly",
    "context_top": "assembly",
    "context_item": "assembly",
    "context_separator": "assembly",
    "context_order": "assembly",
    "tokenizer": "assembly",
    # what it is told
    "engine": "prompt",
    "prompt": "prompt",
    "system_prompt": "prompt",
    "history": "prompt",
    # what answers, when it declines, and how its reply is read
    "evidence_floor": "generator",
    "insufficient": "generator",
    "abstention": "generator",
    "max_sentences": "generator",
    "options": "generator",
    "stream": "generator",
    "send_seed": "generator",
    "citations": "generator",
    "markers": "generator",
    "outcome": "generator",
    "answer_form": "generator",
    "tools": "generator",
}
"""Settings of the reference, pipeline and chat systems. A key that stands nowhere here is `system`: those of http,
command, python, of libraries, of stored traces and of extensions say how a whole system is asked."""
PREFIXES: Mapping[str, Artefact] = {"rewrite_": "rewrite", "follow_": "rewrite", "generate_": "generator"}
"""Settings of the models behind the steps of a pipeline."""
RETRIEVER = "retriever "
"""Before the name of a retriever of a pipeline, in its settings and in the names of changes."""
_ALL_OF_ONE: Mapping[str, tuple[str, ...]] = {
    "callable": ("state",),
    "content": ("questions", "lines_left_out"),
}
"""Setting -> settings that say nothing more where this one differs: another function, another file."""
_COUNTED = re.compile(r"(top_k|[0-9]+) by (.*)", re.DOTALL)
_DENSE = re.compile(
    r"(?P<method>.{1,300}?) cosine (?P<index>sha256:[0-9a-f]{16}); (?P<embedder>.*?)"
    r"(?:; questions by (?P<asked>.*))?; (?P<filters>principal, validity and metadata before ranking)",
    re.DOTALL,
)
_NESTED: frozenset[Artefact] = frozenset({"generator", "prompt", "assembly", "dedup"})
_DEPTH = 4


class Line(NamedTuple):
    """What a retriever says of itself, in parts."""

    candidates: str | None
    rest: str
    method: str = ""
    content: str = ""
    embedder: str = ""
    asked: str = ""
    filters: str = ""


def artefact_of(key: str) -> Artefact:
    """The artefact that a setting belongs to; `system` where nothing says so."""
    if key.startswith(RETRIEVER):
        return "retriever"
    if key in SETTINGS:
        return SETTINGS[key]
    return next((kind for start, kind in PREFIXES.items() if key.startswith(start)), "system")


def system_changes(a: SystemIdentity, b: SystemIdentity, *, passages_same: bool = True) -> list[Change]:
    """What of a system differs. `passages_same`: both were given the same passages, so that an index id that moved
    although the embedder did not is a change of the index and not of what stands in it.

    A name is a label: it is named only where it is all that differs.
    """
    found = list(_differences(a, b, passages_same, 0))
    if not found and a.name != b.name:
        found.append(change("system", "name", a.name, b.name))
    return found


def _differences(a: SystemIdentity, b: SystemIdentity, passages_same: bool, depth: int) -> Iterator[Change]:
    if a.adapter != b.adapter:
        yield change("system", "adapter", a.adapter, b.adapter)
    keys = [key for key in sorted({*a.settings, *b.settings}) if a.settings.get(key) != b.settings.get(key)]
    if a.adapter != b.adapter:  # what only one kind of system has is part of its being another kind
        keys = [key for key in keys if key in a.settings and key in b.settings]
    left = _causes(keys, a, b)
    for key in left:
        yield from _setting(key, a, b, passages_same, depth)
    yield from _stated(a, b, keys, passages_same)
    follows = "callable" in keys or ("retrieval" in a.settings and "retrieval" in b.settings)
    if a.adapter == b.adapter and a.code != b.code and not follows:
        yield change("system", "code", a.code, b.code)


def _causes(keys: list[str], a: SystemIdentity, b: SystemIdentity) -> list[str]:
    """The keys without those that follow from another one that differs."""
    gone: set[str] = set()
    for cause, follow in _ALL_OF_ONE.items():
        if cause in keys:
            gone.update(follow)
    one_sided = {key for key in keys if (key in a.settings) != (key in b.settings)}
    for line, prefix in (("rewrite", "rewrite_"), ("agentic", "follow_")):
        if line not in keys:
            continue
        own = [key for key in keys if key.startswith(prefix)]
        if line in one_sided or any(key in one_sided for key in own):
            gone.update(own)  # another kind of step: its model and prompt come and go with it
        elif own and _without_model(a, line, prefix) == _without_model(b, line, prefix):
            gone.add(line)
    if a.generator != b.generator:
        gone.update(key for key in one_sided if artefact_of(key) in ("generator", "prompt"))
    return [key for key in keys if key not in gone]


def _without_model(identity: SystemIdentity, line: str, prefix: str) -> str:
    """The line of a step without its model and the version of its prompt, which have keys of their own."""
    said = str(identity.settings.get(line, "")).partition(", prompt ")[0]
    return said.replace(f"by {identity.settings.get(f'{prefix}model')}", "by", 1)


def _setting(key: str, a: SystemIdentity, b: SystemIdentity, passages_same: bool, depth: int) -> Iterator[Change]:
    before, after = a.settings.get(key), b.settings.get(key)
    if key.startswith(RETRIEVER) and before is not None and after is not None:
        yield from retriever_changes(key, str(before), str(after), passages_same)
        return
    if key == "retrieval" and depth < _DEPTH:
        nested = _nested(before), _nested(after)
        if nested[0] is not None and nested[1] is not None:
            for one in _differences(nested[0], nested[1], passages_same, depth + 1):
                kind: Artefact = "retriever" if one.artefact in _NESTED else one.artefact
                yield change(kind, f"retrieval {one.name}", one.before, one.after)
            return
    yield change(artefact_of(key), key, text_of(before), text_of(after))


def _stated(a: SystemIdentity, b: SystemIdentity, keys: list[str], passages_same: bool) -> Iterator[Change]:
    """The three identities that every system states, where its settings do not say the same in more detail."""
    for name, one, other in (("generator", a.generator, b.generator), ("prompt", a.prompt, b.prompt)):
        told = {"generator": {"generate_model"}, "prompt": {"prompt", "engine"}}[name] & set(keys)
        both = [key for key in told if key in a.settings and key in b.settings]
        switched = name == "prompt" and a.generator != b.generator and (one.value is None) != (other.value is None)
        if one != other and (one.value or other.value) and not both and not switched:
            yield change(name, name, _value(one), _value(other))  # type: ignore[arg-type]
    in_parts = any(key == "retrieval" or key.startswith(RETRIEVER) for key in (*a.settings, *b.settings))
    if a.retriever != b.retriever and not in_parts and (a.retriever.value or b.retriever.value):
        if a.retriever.value and b.retriever.value:
            yield from retriever_changes("retriever", a.retriever.value, b.retriever.value, passages_same)
        else:
            yield change("retriever", "retriever", _value(a.retriever), _value(b.retriever))


def retriever_changes(name: str, before: str, after: str, passages_same: bool) -> Iterator[Change]:
    """What differs between two lines of one retriever: how many it finds, its index, its embedder, its filters, or it.

    An index id covers passages and embedder: where one of these moved, the id says nothing of its own.
    """
    a, b = read_line(before), read_line(after)
    if a.candidates != b.candidates:
        yield change("retriever", f"{name} candidates", a.candidates, b.candidates)
    if not (a.content and b.content):
        if a.rest != b.rest:
            yield change("retriever", name, a.rest, b.rest)
        return
    for kind, part, one, other in (
        ("embedder", "embedder", a.embedder, b.embedder),
        ("embedder", "query embedder", a.asked, b.asked),
        ("filter", "filters", a.filters, b.filters),
    ):
        if one != other:
            yield change(kind, f"{name} {part}", one or None, other or None)  # type: ignore[arg-type]
    if a.method != b.method:
        yield change("index", f"{name} index", a.method, b.method)
    elif a.content != b.content and passages_same and a.embedder == b.embedder:
        yield change("index", f"{name} index", f"{a.method} {a.content}", f"{b.method} {b.content}")


def read_line(line: str) -> Line:
    """The line of a retriever in parts; what is in no known form is all `rest`."""
    counted = _COUNTED.fullmatch(line)
    candidates, rest = (counted[1], counted[2]) if counted else (None, line)
    dense = _DENSE.fullmatch(rest)
    if dense is None:
        return Line(candidates, rest)
    return Line(
        candidates, rest, dense["method"], dense["index"], dense["embedder"], dense["asked"] or "", dense["filters"]
    )


def _nested(value: Any) -> SystemIdentity | None:
    try:
        return msgspec.json.decode(str(value).encode(), type=SystemIdentity) if value is not None else None
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def _value(stated: Stated) -> str | None:
    return stated.value
