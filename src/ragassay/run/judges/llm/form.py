"""The form in which verdicts are asked for and strictly read: a reply is what was asked for, or none. Sends nothing.

Read is one JSON object and nothing beside it; a single code fence around all of it is passed over. Two objects, words
before or behind, a key too many, a label that the scale does not have, a verdict before its reason, an item that was
not asked or is answered twice: each is an error with a code of its own, and no verdict of that reply counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragassay.errors import RecordError
from ragassay.records.canonical import load_json
from ragassay.records.judgement import SCALES
from ragassay.records.text import many

PARSER = "llm-json/1"
REASON, QUOTE, MOST_QUOTES = 400, 300, 3
"""Characters of a reason and of a quote, and quotes of an item, that are asked for."""
_SLACK = 4
"""So many times as many are still read: few models count."""
_LONGEST_REPLY = 200_000
_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)


class Said(NamedTuple):
    """What a reply says of one item."""

    item: str
    reason: str
    quotes: tuple[str, ...]
    verdict: str


class BadReplyError(Exception):
    """A reply that is not what was asked for; `code` is a stable word."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


def schema_of(names: Sequence[str], scale: str, *, quotes: bool) -> dict[str, Any]:
    """The JSON Schema of a reply about these items; the reason stands before the verdict, every text is bounded."""
    item: dict[str, Any] = {
        "item": {"type": "string", "enum": list(names)},
        "reason": {"type": "string", "minLength": 1, "maxLength": REASON},
    }
    if quotes:
        text = {"type": "string", "minLength": 1, "maxLength": QUOTE}
        item["quotes"] = {"type": "array", "items": text, "maxItems": MOST_QUOTES}
    item["verdict"] = {"type": "string", "enum": list(SCALES[scale])}
    one = {"type": "object", "properties": item, "required": list(item), "additionalProperties": False}
    several = {"type": "array", "items": one, "minItems": len(names), "maxItems": len(names)}
    return {
        "type": "object",
        "properties": {"verdicts": several},
        "required": ["verdicts"],
        "additionalProperties": False,
    }


def read(text: str, names: Sequence[str], scale: str, *, quotes: bool) -> dict[str, Said]:
    """Item -> what is said of it, one for each of `names`; BadReplyError for anything else."""
    value = one_object(text)
    if set(value) != {"verdicts"} or not isinstance(value["verdicts"], list):
        raise BadReplyError("form", "the reply is no object with `verdicts` alone")
    found: dict[str, Said] = {}
    for one in value["verdicts"]:
        said = _said(one, scale, quotes)
        if said.item not in names:
            raise BadReplyError("other_item", f"a verdict for {said.item[:80]!r}, which was not asked")
        if said.item in found:
            raise BadReplyError("item_twice", f"two verdicts for item {said.item}")
        found[said.item] = said
    if missing := [one for one in names if one not in found]:
        raise BadReplyError(
            "fewer_verdicts", f"{many(len(found), 'verdict')} for {many(len(names), 'item')}; none for {missing[0]}"
        )
    return found


def one_object(text: str) -> Mapping[str, Any]:
    """The one JSON object that a reply is."""
    if len(text) > _LONGEST_REPLY:
        raise BadReplyError("too_long", f"a reply of {many(len(text), 'character')}")
    body = text.strip().removeprefix("\ufeff").strip()
    fenced = _FENCED.fullmatch(body)
    if fenced:
        body = fenced[1].strip()
    if not body:
        raise BadReplyError("empty", "the reply is empty")
    if not body.startswith("{"):
        raise BadReplyError("more_than_json", f"the reply does not begin with an object: {body[:80]!r}")
    try:
        value = load_json(body)
    except RecordError as cause:
        code = "more_than_json" if "}" in body and _ends_early(body) else "json"
        raise BadReplyError(code, f"the reply is no JSON: {cause.message}") from None
    if not isinstance(value, Mapping):
        raise BadReplyError("json", "the reply is no JSON object")
    return value


def _ends_early(body: str) -> bool:
    """Whether a whole object ends before the text does: a second object, a fence, or words behind it."""
    import json

    try:
        _, end = json.JSONDecoder().raw_decode(body)
    except (ValueError, RecursionError):
        return False
    return bool(body[end:].strip())


def _said(one: Any, scale: str, quotes: bool) -> Said:
    wanted = ["item", "reason", *(["quotes"] if quotes else []), "verdict"]
    if not isinstance(one, Mapping) or set(one) != set(wanted):
        raise BadReplyError("form", f"a verdict has {', '.join(wanted)} and nothing else")
    keys = list(one)
    if keys.index("reason") > keys.index("verdict"):
        raise BadReplyError("verdict_first", "a verdict stands before its reason")
    item, reason, verdict = one["item"], one["reason"], one["verdict"]
    if not isinstance(item, str) or not isinstance(reason, str) or not isinstance(verdict, str):
        raise BadReplyError("form", "item, reason and verdict are texts")
    if not reason.strip():
        raise BadReplyError("no_reason", f"no reason for item {item[:80]}")
    if verdict not in SCALES[scale]:
        raise BadReplyError("label", f"{verdict[:80]!r} is no label: {', '.join(SCALES[scale])}")
    given = one.get("quotes", [])
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise BadReplyError("form", "quotes are texts")
    most = max((len(text) for text in given), default=0)
    if len(reason) > _SLACK * REASON or len(given) > _SLACK * MOST_QUOTES or most > _SLACK * QUOTE:
        raise BadReplyError("too_long", f"more about item {item[:80]} than was asked for")
    return Said(item, reason.strip(), tuple(given), verdict)
