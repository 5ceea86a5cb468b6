"""The transform that runs over everything a system returned, before it is hashed or stored. Stores nothing.

Credential headers always go, values under credential keys always go, and so does what the chosen detectors find and the
declared patterns match. Its digest says exactly which transform ran; what it removed is gone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.canonical import canonical_bytes, digest_bytes
from ragassay.redact.across import Cuts, cuts_of
from ragassay.redact.detect import Finder, Found, chosen
from ragassay.redact.patterns import compile_patterns

VERSION = "ragassay-redaction/3"
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
_BARE = str.maketrans("", "", "-_ .")


@dataclass(frozen=True, init=False)
class Redaction:
    """What is removed: credential headers and keys always; what detectors find, further headers, patterns as declared.

    `detect`: detectors by name or group (`ragassay.redact.detect`); by default all that find secrets. They also find
    what is split over several texts of one value. `headers`: further header names, in any case. `patterns`: name ->
    Python regular expression; what it matches is replaced by `[redacted:NAME]`, in the order of the names. UsageError
    for a detector that there is not, and for a pattern that cannot be used.
    """

    dropped: tuple[str, ...]
    """Names of all headers that go, in lower case, sorted."""
    patterns: Mapping[str, str] = field(hash=False)
    detect: tuple[str, ...]
    """Names of the detectors, in the order in which they look."""
    digest: Digest
    """Of `declaration`: equal exactly for transforms that do the same."""
    _compiled: tuple[tuple[str, re.Pattern[str]], ...] = field(repr=False, compare=False)
    _look: Finder = field(repr=False, compare=False)

    def __init__(
        self,
        headers: Iterable[str] = (),
        patterns: Mapping[str, str] | None = None,
        detect: Iterable[str] = ("secrets",),
    ) -> None:
        if isinstance(headers, str):
            raise UsageError("headers is one text", field="redact.headers", hint="write a list of header names")
        names = tuple(sorted({one.strip().lower() for one in headers} | CREDENTIAL_HEADERS))
        if isinstance(detect, str):
            raise UsageError("detect is one text", field="redact.detect", hint='write a list: ["secrets", "personal"]')
        named = dict(sorted((patterns or {}).items()))
        detectors = chosen(detect)
        if reserved := named.keys() & {CREDENTIAL, TOO_LONG}:
            raise UsageError(
                f"{min(reserved)!r} is a name of the product", field="redact.patterns", hint="choose another name"
            )
        object.__setattr__(self, "dropped", names)
        object.__setattr__(self, "patterns", named)
        object.__setattr__(self, "detect", tuple(dict.fromkeys(one.name for one in detectors)))
        object.__setattr__(self, "_compiled", compile_patterns(named))
        object.__setattr__(self, "_look", Finder(detectors))
        object.__setattr__(self, "digest", digest_bytes(self.declaration()))

    def declaration(self) -> bytes:
        """Canonical JSON that says all that this transform does; `digest` is its digest, so it can be stored."""
        return canonical_bytes(
            {
                "transform": VERSION,
                "headers": list(self.dropped),
                "keys": sorted(CREDENTIAL_KEYS),
                "max_text": MAX_TEXT,
                "detect": [f"{one.name}: {one.pattern.pattern}" for one in self._look.detectors],
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
        nothing). Keys are redacted as texts too; two keys that become equal are told apart by `#2`, `#3`. What is
        split over several texts (of one key in a list, or one after the other) is replaced in each of them.
        """
        walk = _Walk(cuts_of(value, self._look, self._is_credential))
        return self._value(value, walk, 0), dict(walk.counts)

    def lines(self, text: str) -> tuple[str, dict[str, int]] | None:
        """JSON lines, or server-sent events that hold JSON, redacted as one value; None: it is neither."""
        lines = text.split("\n")
        heads: list[str | None] = []
        values: list[Any] = []
        for line in lines:
            body = line.removeprefix("data:").strip()
            if not body or body == "[DONE]" or re.match(r"(event|id|retry)?:", line):
                heads.append(None)
                continue
            try:
                values.append(json.loads(body))
            except (ValueError, RecursionError):
                return None
            heads.append("data: " if line.startswith("data:") else "")
        if not values:
            return None
        kept, counts = self.value(values)
        found = iter(kept)
        made = [
            line if head is None else head + json.dumps(next(found), ensure_ascii=False)
            for line, head in zip(lines, heads, strict=True)
        ]
        return "\n".join(made), counts

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers without those that carry credentials; the values of the others are redacted as texts."""
        return {name: self.text(text)[0] for name, text in headers.items() if name.strip().lower() not in self.dropped}

    def _text(self, text: str, counts: Counter[str], cuts: Sequence[Found] = ()) -> str:
        if len(text) > MAX_TEXT and (self._compiled or self._look.detectors):
            counts[TOO_LONG] += 1
            return _mark(TOO_LONG)
        text = _without(text, [*self._look(text), *cuts], counts)
        for name, pattern in self._compiled:
            text = pattern.sub(lambda found, name=name: _replace(found, name, counts), text)  # type: ignore[misc]
        return text

    def _value(self, value: Any, walk: _Walk, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            walk.counts[TOO_LONG] += 1
            return _mark(TOO_LONG)
        if isinstance(value, str):
            return self._text(value, walk.counts, walk.next())
        if isinstance(value, list | tuple):
            return [self._value(one, walk, depth + 1) for one in value]
        if isinstance(value, Mapping):
            return self._mapping(value, walk, depth)
        return value

    def _mapping(self, value: Mapping[str, Any], walk: _Walk, depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, one in value.items():
            name = _free(self._text(key, walk.counts), kept)
            if self._is_credential(key, one):
                walk.counts[CREDENTIAL] += 1
                kept[name] = _mark(CREDENTIAL)
            else:
                kept[name] = self._value(one, walk, depth + 1)
        return kept

    def _is_credential(self, key: str, value: Any) -> bool:
        """Whether what stands under a key goes as a whole."""
        if value is None or isinstance(value, bool) or value in ("", [], {}):
            return False
        lower = key.strip().lower()
        return lower in self.dropped or lower.translate(_BARE) in CREDENTIAL_KEYS


class _Walk:
    """One way through a value: what was counted, and what of each text belongs to something that is split."""

    def __init__(self, cuts: Cuts) -> None:
        self.counts: Counter[str] = Counter()
        self._cuts, self._at = cuts, -1

    def next(self) -> Sequence[Found]:
        """The cuts of the next text."""
        self._at += 1
        return self._cuts.get(self._at, ())


def _without(text: str, found: Sequence[Found], counts: Counter[str]) -> str:
    """The text with each place replaced by its mark; of two that overlap, the one that begins first."""
    parts, at = [], 0
    for one in sorted(found):
        if one.end <= at:
            continue
        parts += [text[at : max(at, one.start)], _mark(one.name)]
        counts[one.name] += 1
        at = one.end
    return "".join([*parts, text[at:]]) if parts else text


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
