"""Text and time in their stored form: valid Unicode with a lossy mark, instants in UTC. Reads no clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from ragassay.errors import RecordError
from ragassay.records.base import Instant

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[0-9]{2}:[0-9]{2}:[0-9]{2}"
_TIME = f"{_DAY}[Tt ]{_CLOCK}(\\.[0-9]{{1,6}})?([Zz]|[+-][0-9]{{2}}:[0-9]{{2}})"
DIGEST_PATTERN = "sha256:[0-9a-f]{64}"
INSTANT_PATTERN = f"({_DAY}|{_TIME})"
"""What `instant` reads; the calendar is checked besides."""
_STORED_FORM = re.compile(f"{_DAY}T{_CLOCK}(\\.[0-9]{{6}})?Z")
_READ_FORM = re.compile(INSTANT_PATTERN)
_DIGEST = re.compile(DIGEST_PATTERN)


def is_digest(text: str) -> bool:
    """Whether `text` is `sha256:` and 64 lower-case hexadecimal digits."""
    return _DIGEST.fullmatch(text) is not None


def shown(text: str, *, limit: int = 80) -> str:
    """Foreign text fit for a message: what does not print (control signs, lone surrogates) escaped, long text cut."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in cut)


def many(count: int, one: str, more: str | None = None) -> str:
    """A count with its noun, in one form or the other; thousands parted by commas.

    >>> many(1, "line"), many(1200, "query"), many(2, "line is", "lines are")
    ('1 line', '1,200 queries', '2 lines are')
    """
    return f"{count:,} {one if count == 1 else more or _plural(one)}"


def _plural(noun: str) -> str:
    if re.search("(s|x|ch|sh)$", noun):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if re.search("[^aeiou]y$", noun) else f"{noun}s"


class CleanText(NamedTuple):
    """Text fit to be stored; `lossy` says that something could not be kept and became U+FFFD."""

    text: str
    lossy: bool


def clean(raw: str | bytes) -> CleanText:
    """Replace what is not valid Unicode (bad UTF-8, lone surrogates) by U+FFFD and say whether that happened.

    A surrogate *pair* inside a `str` is joined to the character that it means and is not a loss.
    """
    if isinstance(raw, bytes):
        try:
            return CleanText(raw.decode("utf-8"), False)
        except UnicodeDecodeError:
            return CleanText(raw.decode("utf-8", errors="replace"), True)
    try:
        raw.encode("utf-8")
    except UnicodeEncodeError:
        joined = raw.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return CleanText(joined, not _paired(raw))
    return CleanText(raw, False)


def _paired(text: str) -> bool:
    try:
        text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return False
    return True


def instant(text: str) -> Instant:
    """The stored form of a date or a time with an offset: a date means its 00:00Z, offsets become UTC.

    >>> instant("2026-08-01"), instant("2026-08-01T02:00:00+02:00")
    ('2026-08-01T00:00:00Z', '2026-08-01T00:00:00Z')
    """
    hint = "write a date (2026-08-01) or an RFC 3339 time with its offset (2026-08-01T09:30:00Z), at most microseconds"
    if not _READ_FORM.fullmatch(text):
        raise RecordError(f"'{shown(text)}' is not a date, nor a time with its offset from UTC", hint=hint)
    try:
        moment = datetime.fromisoformat(text + "T00:00:00+00:00" if len(text) == len("2026-08-01") else text.upper())
    except ValueError:
        raise RecordError(f"'{text}' is not in the calendar", hint=hint) from None
    try:
        stored = moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise RecordError(f"'{text}' is outside the years 1 to 9999 in UTC", hint=hint) from None
    return Instant(stored)


def is_instant(text: str) -> bool:
    """Whether `text` is an instant in its stored form."""
    if not _STORED_FORM.fullmatch(text):
        return False
    try:
        return instant(text) == text
    except RecordError:
        return False


def valid_at(valid_from: Instant | None, valid_until: Instant | None, at: Instant) -> bool:
    """Whether `valid_from <= at < valid_until`; an absent end is open."""
    moment = datetime.fromisoformat(at)
    if valid_from is not None and moment < datetime.fromisoformat(valid_from):
        return False
    return valid_until is None or moment < datetime.fromisoformat(valid_until)


def in_order(valid_from: Instant | None, valid_until: Instant | None) -> bool:
    """Whether a validity window does not end before it begins; an absent end is open."""
    if valid_from is None or valid_until is None:
        return True
    return datetime.fromisoformat(valid_from) <= datetime.fromisoformat(valid_until)
