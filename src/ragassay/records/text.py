"""Text and time in their stored form: valid Unicode with a lossy mark, instants in UTC. Reads no clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from ragassay.errors import RecordError
from ragassay.records.base import Instant

_STORED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


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
    hint = "write a date (2026-08-01) or an RFC 3339 time with its offset (2026-08-01T09:30:00Z)"
    try:
        moment = datetime.fromisoformat(text + "T00:00:00+00:00" if _DATE.fullmatch(text) else text)
    except ValueError:
        raise RecordError(f"{text!r} is not a date or time", hint=hint) from None
    if moment.tzinfo is None:
        raise RecordError(f"{text!r} has no offset from UTC", hint=hint)
    try:
        stored = moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise RecordError(f"{text!r} is outside the years 1 to 9999 in UTC", hint=hint) from None
    return Instant(stored)


def is_instant(text: str) -> bool:
    """Whether `text` is an instant in its stored form."""
    if not _STORED.fullmatch(text):
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
