"""What came of one HTTP request: its outcome, what it says about waiting, what is still on the wire. Sends nothing."""

from __future__ import annotations

import email.utils
import math
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, Any

from ragassay.records.trace import Failure
from ragassay.run.pace import Pace

if TYPE_CHECKING:
    import httpx2

OVERLOAD = frozenset({429, 503, 529})
GATEWAY = frozenset({502, 504})
_FIRST_BACKOFF_S = 0.5
_LONGEST_BACKOFF_S = 30.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it."""

    failure: Failure | None = None
    detail: str | None = None
    body: bytes | None = None
    status: int = 0
    retry_after_s: float | None = None
    request_id: str | None = None

    @property
    def overload(self) -> bool:
        """Whether the endpoint said that it is too much."""
        return self.status in OVERLOAD


def outcome_of(reply: httpx2.Response, body: bytes, now: str) -> Exchange:
    """A complete reply: a body to be read, or the failure that its status is."""
    status = reply.status_code
    request_id = reply.headers.get("x-request-id")
    if 200 <= status < 300:
        return Exchange(body=body, status=status, request_id=request_id)
    cause: Any = "rate_limited" if status == 429 else "http_status"
    return Exchange(
        Failure(cause=cause, code=str(status)),
        body[:2000].decode("utf-8", "replace"),
        body,
        status,
        parse_retry_after(reply.headers.get("retry-after"), now),
        request_id,
    )


def tell(pace: Pace, found: Exchange, sent_s: float, max_wait_s: float) -> None:
    """Tell an endpoint's pace what came of a request; a hold is `max_wait_s` at most."""
    cause = found.failure.cause if found.failure else ""
    if found.overload:
        hold_s = found.retry_after_s
        pace.overloaded(sent_s, None if hold_s is None else min(hold_s, float(max_wait_s)), str(found.status))
    elif found.status in GATEWAY:
        pace.silent(sent_s, "gateway")
    elif cause in ("timeout", "connection"):
        pace.silent(sent_s, cause)
    elif cause:
        pace.answered(sent_s)
    else:
        pace.succeeded(sent_s)


def backoff_s(number: int, random: Random) -> float:
    """Seconds before attempt `number + 1`: doubling from half a second, at most 30, times a random half to one."""
    return float(min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2 ** (number - 1)) * random.uniform(0.5, 1.0))


def parse_retry_after(text: str | None, now: str) -> float | None:
    """Seconds to wait by a Retry-After header (seconds or an HTTP date); None if there is none that can be read."""
    if not text:
        return None
    with suppress(ValueError):
        seconds = float(text)
        return seconds if 0 <= seconds < 1e9 else None
    with suppress(ValueError, TypeError, OverflowError):
        moment = email.utils.parsedate_to_datetime(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.fromisoformat(now)).total_seconds())
    return None


def said_length(reply: httpx2.Response) -> int:
    """The length that a reply announces; 0 if it announces none."""
    text = reply.headers.get("content-length", "")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def has_more(reply: httpx2.Response) -> bool:
    """Whether bytes came behind a complete reply, which would be taken for the answer to the next question.

    The library has no public word for it, so the parser of the connection is looked up; where that is not to be found,
    the answer is yes, and the connection is closed instead of being used again.
    """
    part: Any = getattr(reply.stream, "_stream", reply.stream)  # a client puts one of its own around it
    for name in ("_httpcore_stream", "_stream", "_connection", "_h11_state"):
        part = getattr(part, name, None)
    trailing = getattr(part, "trailing_data", None)
    return trailing is None or bool(trailing[0])


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number that a float can hold: JSON as Python reads it has NaN, and no largest one.

    >>> [is_number(one) for one in (1, 0.5, True, "1", float("nan"), 10**400)]
    [True, True, False, False, False, False]
    """
    if type(value) not in (int, float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def words_about(body: bytes) -> str:
    """What a body that is not JSON seems to be."""
    if not body.strip():
        return "the body is empty"
    start = body[:200].lstrip().lower()
    return "the body is HTML, not JSON" if start.startswith((b"<!doctype html", b"<html")) else "the body is not JSON"
