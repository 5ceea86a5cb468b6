"""Declared paths from one JSON shape to another, for requests and responses. Guesses nothing: no path, no value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragassay.errors import UsageError
from ragassay.records.canonical import fields_of, snake
from ragassay.run.contract import Request, Response

_PART = re.compile(r"\.([A-Za-z_][\w\-]*)|\[(\d+|\*|\"[^\"]*\"|'[^']*')\]")
ABSENT: Any = object()


def parse_path(path: str) -> tuple[str | int | None, ...]:
    """`$.docs[*].id` as ("docs", None, "id"); None is every entry. UsageError for anything else.

    >>> parse_path("$.choices[0].message")
    ('choices', 0, 'message')
    """
    parts: list[str | int | None] = []
    at = 1
    while at < len(path):
        found = _PART.match(path, at)
        if found is None:
            break
        name, index = found.groups()
        parts.append(
            name if index is None else None if index == "*" else int(index) if index.isdigit() else index[1:-1]
        )
        at = found.end()
    if not path.startswith("$") or at != len(path):
        raise UsageError(f"{path!r} is not a path", hint='paths look like $.answer, $.docs[*].id, $["odd key"]')
    return tuple(parts)


def follow(path: str, value: Any) -> Any:
    """What stands at a path: a value, a list if the path has `[*]`, or ABSENT."""
    parts = parse_path(path)
    found = list(_walk(parts, value))
    if None in parts:
        return found if found or _is_list(parts, value) else ABSENT
    return found[0] if found else ABSENT


def _is_list(parts: tuple[str | int | None, ...], value: Any) -> bool:
    """Whether the list that the first `[*]` names is there, be it empty."""
    return any(isinstance(one, list) for one in _walk(parts[: parts.index(None)], value))


def _walk(parts: tuple[str | int | None, ...], value: Any) -> Iterator[Any]:
    if not parts:
        yield value
        return
    part, rest = parts[0], parts[1:]
    if part is None:
        for one in value if isinstance(value, list) else ():
            yield from _walk(rest, one)
    elif isinstance(part, int):
        if isinstance(value, list) and part < len(value):
            yield from _walk(rest, value[part])
    elif isinstance(value, Mapping) and part in value:
        yield from _walk(rest, value[part])


def apply(rule: Any, value: Any) -> Any:
    """A value in the shape that a rule declares; parts whose path leads nowhere are left out.

    A rule is a path; or {"const": ...}; or an object of rules; or an object with `each` (a path with a list at its
    end), whose other rules are applied to every entry. An entry keeps its place in the list even if nothing of it is
    found. Any other object of which nothing but constants is found is absent.
    """
    if isinstance(rule, str):
        return follow(rule, value)
    if "const" in rule:
        return rule["const"]
    if "each" not in rule:
        built = _apply_all(rule, value)
        found = any(key in built and "const" not in one for key, one in rule.items())
        return built if found else ABSENT
    entries = follow(rule["each"], value)
    if entries is ABSENT or entries is None:
        return ABSENT
    rest = {key: one for key, one in rule.items() if key != "each"}
    entries = entries if isinstance(entries, list) else [entries]
    return [_apply_all(rest, one) for one in entries] if rest else entries


def _apply_all(rules: Mapping[str, Any], value: Any) -> dict[str, Any]:
    return {key: found for key, one in rules.items() if (found := apply(one, value)) is not ABSENT}


def fill(template: Any, value: Any) -> Any:
    """A request body: texts that begin with `$` are paths into the request (`$$` stands for `$`), all else is literal.

    A key whose path leads nowhere is left out.
    """
    if isinstance(template, str):
        if template.startswith("$$"):
            return template[1:]
        return follow(template, value) if template.startswith("$") else template
    if isinstance(template, Mapping):
        return {key: found for key, one in template.items() if (found := fill(one, value)) is not ABSENT}
    if isinstance(template, list | tuple):
        return [found for one in template if (found := fill(one, value)) is not ABSENT]
    return template


def check_rules(rules: Mapping[str, Any]) -> None:
    """UsageError for a mapping that names no field of the contract or holds a malformed path."""
    if not isinstance(rules, Mapping):
        raise UsageError(
            f"a mapping of fields to paths is expected, got {type(rules).__name__}",
            field="response",
            hint='response = { answer = "$.text" }',
        )
    known = fields_of(Response)
    for key, rule in rules.items():
        if key not in known and snake(key) not in known:
            close = difflib.get_close_matches(snake(key), known, n=1)
            raise UsageError(
                f"a response has no field {key!r}",
                field=f"response.{key}",
                hint=f"did you mean {close[0]!r}?" if close else "`ragassay schema system` lists the fields",
            )
        _check_rule(rule, f"response.{key}")


def _check_rule(rule: Any, field: str) -> None:
    if isinstance(rule, str):
        try:
            parse_path(rule)
        except UsageError as error:
            raise error.at(field=field)  # noqa: B904  the same error, with its place
    elif isinstance(rule, Mapping):
        for key, one in rule.items():
            if key != "const":
                _check_rule(one, f"{field}.{key}")
    else:
        raise UsageError(f"expected a path or an object of paths, got {type(rule).__name__}", field=field)


def check_template(template: Any, field: str = "request") -> None:
    """UsageError for a request template that names no field of the request."""
    if isinstance(template, str) and template.startswith("$") and not template.startswith("$$"):
        try:
            first = parse_path(template)[:1]
        except UsageError as error:
            raise error.at(field=field)  # noqa: B904  the same error, with its place
        known = fields_of(Request)
        if first and first[0] not in known:
            raise UsageError(f"a request has no field {first[0]!r}", field=field, hint=f"it has: {', '.join(known)}")
    elif isinstance(template, Mapping):
        for key, one in template.items():
            check_template(one, f"{field}.{key}")
    elif isinstance(template, list | tuple):
        for number, one in enumerate(template):
            check_template(one, f"{field}[{number}]")
