"""The transform that runs over everything a system returned, before it is hashed or stored. Stores nothing.

Credential headers always go, values under credential keys always go, and so does what the declared patterns match.
Its digest says exactly which transform ran; what it removed is gone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.canonical import canonical_bytes, digest_bytes
from ragassay.redact.patterns import compile_patterns

VERSION = "ragassay-redaction/1"
MAX_TEXT = 4_000_000
"""Code points. A longer text is replaced as a whole, since a pattern over it could take too long to finish."""
CREDENTIAL_HEADERS: frozenset[str] = frozenset(
    {
        "api-key", "apikey", "authentication", "authorization", "cookie", "ocp-apim-subscription-key",
        "proxy-authenticate", "proxy-authorization", "set-cookie", "set-cookie2", "www-authenticate",
        "x-access-token", "x-amz-security-token", "x-api-key", "x-api-token", "x-auth-key", "x-auth-token",
        "x-authorization", "x-csrf-token", "x-functions-key", "x-goog-api-key", "x-refresh-token",
        "x-session-token", "x-vault-token", "x-xsrf-token",
    }
)  # fmt: skip
"""Header names that are always dropped, in lower case."""
CREDENTIAL_KEYS: frozenset[str] = frozenset(
    {
        "accesskey", "accesstoken", "apikey", "apitoken", "authorization", "authtoken", "bearertoken", "clientsecret",
        "cookie", "credential", "credentials", "csrftoken", "idtoken", "jwt", "passphrase", "passwd", "password",
        "privatekey", "proxyauthorization", "refreshtoken", "secret", "secretaccesskey", "secretkey", "sessiontoken",
        "setcookie", "signingkey", "token", "xapikey", "xauthtoken",
    }
)  # fmt: skip
"""Keys of JSON objects whose values are always replaced; compared in lower case without `-`, `_`, space and dot."""
CREDENTIAL = "credential"
TOO_LONG = "too_long"
_MAX_DEPTH = 200


@dataclass(frozen=True, init=False)
class Redaction:
    """What is removed: credential headers and keys always, further headers and patterns as declared.

    `headers`: further header names, in any case. `patterns`: name -> Python regular expression; what it matches is
    replaced by `[redacted:NAME]`, in the order of the names. UsageError for a pattern that cannot be used.
    """

    dropped: tuple[str, ...]
    """Names of all headers that go, in lower case, sorted."""
    patterns: Mapping[str, str] = field(hash=False)
    digest: Digest
    """Of `declaration`: equal exactly for transforms that do the same."""
    _compiled: tuple[tuple[str, re.Pattern[str]], ...] = field(repr=False, compare=False)

    def __init__(self, headers: Iterable[str] = (), patterns: Mapping[str, str] | None = None) -> None:
        if isinstance(headers, str):
            raise UsageError("headers is one text", field="redact.headers", hint="write a list of header names")
        names = tuple(sorted({one.strip().lower() for one in headers} | CREDENTIAL_HEADERS))
        chosen = dict(sorted((patterns or {}).items()))
        if reserved := chosen.keys() & {CREDENTIAL, TOO_LONG}:
            raise UsageError(
                f"{min(reserved)!r} is a name of the product", field="redact.patterns", hint="choose another name"
            )
        object.__setattr__(self, "dropped", names)
        object.__setattr__(self, "patterns", chosen)
        object.__setattr__(self, "_compiled", compile_patterns(chosen))
        object.__setattr__(self, "digest", digest_bytes(self.declaration()))

    def declaration(self) -> bytes:
        """Canonical JSON that says all that this transform does; `digest` is its digest, so it can be stored."""
        return canonical_bytes(
            {
                "transform": VERSION,
                "headers": list(self.dropped),
                "keys": sorted(CREDENTIAL_KEYS),
                "max_text": MAX_TEXT,
                "patterns": dict(self.patterns),
            }
        )

    def text(self, text: str) -> tuple[str, dict[str, int]]:
        """The text without what the patterns match, and how often each one did (names that did not are left out)."""
        counts: Counter[str] = Counter()
        return self._text(text, counts), dict(counts)

    def value(self, value: Any) -> tuple[Any, dict[str, int]]:
        """JSON values with every text redacted, and the counts.

        The value under a credential key goes as a whole, whatever it is (not null, true, false or empty: they tell
        nothing). Keys are redacted as texts too; two keys that become equal are told apart by `#2`, `#3`.
        """
        counts: Counter[str] = Counter()
        return self._value(value, counts, 0), dict(counts)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers without those that carry credentials; the values of the others are redacted as texts."""
        return {name: self.text(text)[0] for name, text in headers.items() if name.strip().lower() not in self.dropped}

    def _text(self, text: str, counts: Counter[str]) -> str:
        if len(text) > MAX_TEXT and self._compiled:
            counts[TOO_LONG] += 1
            return _mark(TOO_LONG)
        for name, pattern in self._compiled:
            text = pattern.sub(lambda found, name=name: _replace(found, name, counts), text)  # type: ignore[misc]
        return text

    def _value(self, value: Any, counts: Counter[str], depth: int) -> Any:
        if depth > _MAX_DEPTH:
            counts[TOO_LONG] += 1
            return _mark(TOO_LONG)
        if isinstance(value, str):
            return self._text(value, counts)
        if isinstance(value, list | tuple):
            return [self._value(one, counts, depth + 1) for one in value]
        if isinstance(value, Mapping):
            return self._mapping(value, counts, depth)
        return value

    def _mapping(self, value: Mapping[str, Any], counts: Counter[str], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, one in value.items():
            name = _free(self._text(key, counts), kept)
            if self._is_credential(key) and not (one is None or isinstance(one, bool) or one in ("", [], {})):
                counts[CREDENTIAL] += 1
                kept[name] = _mark(CREDENTIAL)
            else:
                kept[name] = self._value(one, counts, depth + 1)
        return kept

    def _is_credential(self, key: str) -> bool:
        lower = key.strip().lower()
        return lower in self.dropped or re.sub(r"[-_ .]", "", lower) in CREDENTIAL_KEYS


def _replace(found: re.Match[str], name: str, counts: Counter[str]) -> str:
    if not found.group():
        return ""
    counts[name] += 1
    return _mark(name)


def _mark(name: str) -> str:
    return f"[redacted:{name}]"


def _free(name: str, taken: Mapping[str, Any]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}#{number}" in taken:
        number += 1
    return f"{name}#{number}"
