"""Declared patterns, compiled and refused if they cannot be used safely. Replaces nothing itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ragassay.errors import UsageError
from ragassay.records.text import many

MAX_PATTERN = 1000
"""Characters of one pattern."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PROBES = ("", "a", "0", " ", "\n", "a b", "a.b-c@d:0_9", "é 中")


def compile_patterns(patterns: Mapping[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """(name, compiled pattern) in the order of the names.

    Raises UsageError for a name that cannot stand in `[redacted:NAME]`, a pattern that does not compile, is longer
    than MAX_PATTERN, matches the empty string, or repeats a group that repeats by itself (`(a+)+`), since such a
    pattern can take for ever on a text of a few dozen characters.
    """
    return tuple((name, _compile(name, patterns[name])) for name in sorted(patterns))


def _compile(name: str, pattern: str) -> re.Pattern[str]:
    place = f"redact.patterns.{name}"
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a pattern", field="redact.patterns", hint="up to 64 letters, digits, `.`, `_`, `-`"
        )
    if len(pattern) > MAX_PATTERN:
        raise UsageError(
            f"a pattern of {many(len(pattern), 'character')}; the most is {MAX_PATTERN}",
            field=place,
            hint="give each part a name of its own",
        )
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as cause:
        raise UsageError(
            f"not a regular expression: {cause}", field=place, hint="Python's syntax; write \\\\d in TOML, or '\\d'"
        ) from None
    if any(found.start() == found.end() for probe in _PROBES for found in compiled.finditer(probe)):
        raise UsageError(
            "this pattern matches the empty string", field=place, hint="use `+` instead of `*`, or name what must stand"
        )
    if nested_repeat(pattern):
        raise UsageError(
            "this pattern repeats a group that repeats by itself, which can take for ever",
            field=place,
            hint="repeat once: `[a-z]+` instead of `([a-z]+)+`; give ranges an end: `{1,64}`",
        )
    return compiled


def nested_repeat(pattern: str) -> bool:
    """Whether a group without an end of repeats holds another repeat without an end.

    A bracket count on the text, not a proof: alternatives that overlap under one repeat (`(a|a)*`) are not seen.
    """
    open_groups: list[bool] = []
    position = 0
    while position < len(pattern):
        mark = pattern[position]
        if mark == "\\":
            position += 2
            continue
        if mark == "[":
            position = _after_class(pattern, position)
            continue
        if mark == "(":
            open_groups.append(False)
        elif mark == ")" and open_groups:
            inside = open_groups.pop()
            outside = _unbounded(pattern, position + 1)
            if inside and outside:
                return True
            if open_groups and (inside or outside):
                open_groups[-1] = True
        elif _unbounded(pattern, position) and open_groups and pattern[position - 1] != ")":
            open_groups[-1] = True
        position += 1
    return False


def _unbounded(pattern: str, position: int) -> bool:
    return bool(re.match(r"[*+](?!\+)|\{\d*,\}(?!\+)", pattern[position:]))


def _after_class(pattern: str, position: int) -> int:
    """The position after a character class; the first `]` may be a member."""
    at = position + 1
    if at < len(pattern) and pattern[at] == "^":
        at += 1
    if at < len(pattern) and pattern[at] == "]":
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1
