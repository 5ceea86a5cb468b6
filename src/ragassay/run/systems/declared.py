"""What may be declared about an HTTP endpoint, checked before anything is sent. Sends nothing."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ragassay.errors import UsageError

METHODS = ("POST", "GET", "PUT", "PATCH")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NOT_IN_URL = re.compile(r"[\x00-\x20\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A header value taken from the environment when it is sent; never stored."""

    env: str
    prefix: str = ""

    def resolve(self, field: str = "headers") -> str:
        """The value now (UsageError about the key `field` of the section if the variable is not set)."""
        found = os.environ.get(self.env)
        if not found:
            raise UsageError(
                f"the environment variable {self.env} is not set",
                field=f"system.{field}",
                hint="set it where ragassay runs; its value is sent and never stored",
            )
        if _NOT_IN_VALUE.search(found):
            raise UsageError(
                f"the environment variable {self.env} holds a control character",
                field=f"system.{field}",
                hint="a line end at its end, perhaps: export it without one",
            )
        return self.prefix + found


def checked_url(url: Any) -> str:
    """An http or https address without credentials; UsageError otherwise."""
    hint = "for example http://127.0.0.1:8000/ask"
    if not isinstance(url, str):
        raise UsageError(f"{url!r} is not an HTTP address", field="url", hint=hint)
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or _NOT_IN_URL.search(url):
            raise UsageError(f"{url!r} is not an HTTP address", field="url", hint=hint)
        parts.port  # noqa: B018  raises for a port that there is not
    except ValueError as cause:
        raise UsageError(f"{url!r} is not an HTTP address: {cause}", field="url", hint=hint) from None
    if parts.username or parts.password:
        raise UsageError(
            "credentials in an address would be stored",
            field="url",
            hint='use headers = { Authorization = { env = "NAME" } }',
        )
    return url


def checked_method(method: Any) -> str:
    """One of METHODS, in upper case."""
    if not isinstance(method, str) or method.upper() not in METHODS:
        raise UsageError(f"{method!r} is not a method", field="method", hint=f"one of {', '.join(METHODS)}")
    return method.upper()


def checked_headers(headers: Any) -> dict[str, str | Secret]:
    """Names and values that HTTP can carry; a value may be a secret of the environment."""
    if not isinstance(headers, Mapping):
        raise UsageError(
            f"headers are names with values, got {type(headers).__name__}",
            field="headers",
            hint='{ X-Team = "search" }',
        )
    return {_checked_name(name): _checked_value(name, value) for name, value in headers.items()}


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a header", field="headers", hint="letters, digits and hyphens")
    return name


def _checked_value(name: str, value: Any) -> str | Secret:
    field = f"headers.{name}"
    if isinstance(value, str):
        if _NOT_IN_VALUE.search(value):
            raise UsageError("a control character in a header", field=field, hint="write it on one line")
        return value
    if isinstance(value, Mapping) and set(value) <= {"env", "prefix"} and isinstance(value.get("env"), str):
        return Secret(env=value["env"], prefix=str(value.get("prefix", "")))
    raise UsageError(
        'a header is a text or { env = "NAME" }', field=field, hint='{ env = "TOKEN", prefix = "Bearer " }'
    )


def check_number(field: str, value: Any, *, least: int) -> None:
    """UsageError unless the value is a finite number, `least` or more."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < least:
        raise UsageError(f"{value!r} is not a number of {least} or more", field=field, hint="write a number")


def shown_url(url: str) -> str:
    """The address without its query and fragment, which may hold secrets."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
