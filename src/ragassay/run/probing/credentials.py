"""Credentials of principals, and wrong ones made of them. Kept in memory only; nothing here is ever stored or shown."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ragassay.errors import UsageError
from ragassay.probe.settings import CredentialSource, ProbeSettings
from ragassay.records.probe import Call, Probe

Headers = list[tuple[str, str]]
Post = Callable[[str, Headers, dict[str, Any]], tuple[int, str]]
"""Sends JSON to an address of the settings; (status, text)."""
PLAIN = "plain"
HUGE = 20_000
_MOST_TEXT = 64_000


class NotAvailableError(Exception):
    """Nobody can make this credential here: the probe is not evaluable."""


class Credentials:
    """Makes the headers of a call. `secrets` grows by everything that was sent, so that it can be taken out again."""

    def __init__(self, settings: ProbeSettings, post: Post) -> None:
        self._settings, self._post = settings, post
        self._plain: dict[tuple[str, str], str] = {}
        self._secrets: dict[str, None] = {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Everything secret that was sent, the longest first."""
        return tuple(sorted(self._secrets, key=len, reverse=True))

    def operator(self) -> Headers:
        """Of whoever may plant and remove; none where the settings name no operator."""
        source = self._settings.operator
        if source is None:
            return []
        return [self._operator_header(self._from(source, "operator", PLAIN, "", "probe.operator"))]

    def _operator_header(self, secret: str) -> tuple[str, str]:
        name = self._settings.operator_header
        return name, f"Bearer {secret}" if name.lower() == "authorization" else secret

    def headers(self, call: Call, probe: Probe) -> Headers:
        """The credential headers of one call; NotAvailableError where the variant cannot be made."""
        variant = call.credential
        if variant == "missing":
            return []
        if variant == "empty":
            return [("Authorization", "Bearer")]
        if variant == "huge":
            return [("Authorization", f"Bearer {'A' * HUGE}")]
        plain = self.plain(call.principal, call.session or "")
        if variant in ("valid", "revoked", "tenant_body"):
            return [_bearer(plain)]
        if variant == "tenant_header":
            return [_bearer(plain), (self._settings.tenant_header, header_value(probe.owner or ""))]
        if variant == "two_headers":
            return [_bearer(plain), _bearer(self._noted(self._forged(plain, call, "alg_none", probe.owner)))]
        return [_bearer(self._noted(self._wrong(plain, call, variant)))]

    def plain(self, principal: str, session: str) -> str:
        """The good credential of somebody; UsageError if it cannot be had."""
        if (principal, session) not in self._plain:
            own = self._settings.principals[principal].credential
            field = f"probe.principals.{principal}.credential"
            source = own or self._settings.issuer
            if source is None:
                raise UsageError("no credential and no issuer", field=field, hint='credential = { env = "TOKEN" }')
            made = self._from(source, principal, PLAIN, session, field if own else "probe.issuer")
            self._plain[principal, session] = made
        return self._plain[principal, session]

    def _wrong(self, plain: str, call: Call, variant: str) -> str:
        issuer = self._settings.issuer
        if issuer is not None and issuer.env is None and variant not in ("malformed", "tampered"):
            try:
                return self._from(issuer, call.principal, variant, call.session or "", "probe.issuer")
            except UsageError:
                pass  # an issuer that does not know this variant
        own = self._settings.principals[call.principal].tenants[0]
        return forged(plain, variant, own, own)

    def _forged(self, plain: str, call: Call, variant: str, tenant: str | None) -> str:
        own = self._settings.principals[call.principal].tenants[0]
        others = sorted({one.tenants[0] for one in self._settings.principals.values()} - {own})
        return forged(plain, variant, own, tenant or others[0])

    def _from(self, source: CredentialSource, principal: str, variant: str, session: str, field: str) -> str:
        asked = {"principal": principal, "variant": variant, "session": session}
        if source.env is not None:
            found = os.environ.get(source.env, "")
            if not found:
                hint = "set it where ragassay runs; its value is sent and never stored"
                raise UsageError(f"the environment variable {source.env} is not set", field=field, hint=hint)
            return self._noted(found)
        if source.command:
            return self._noted(_token_of(_run(source.command, asked, field), field))
        headers = self.operator() if field != "probe.operator" else []
        status, text = self._post(source.url or "", headers, asked)
        if status >= 400:
            raise UsageError(f"no credential came: status {status}", field=field, hint="ask it by hand, and see")
        return self._noted(_token_of(text, field))

    def _noted(self, secret: str) -> str:
        """The credential, remembered as something to be taken out of whatever comes back."""
        for part in (secret, *secret.split(".")):
            if len(part) >= 8:
                self._secrets[part] = None
        return secret


def _bearer(secret: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {secret}"


def header_value(text: str) -> str:
    """A text as the bytes of a header: UTF-8, which a server that reads Latin-1 turns back."""
    return text if text.isascii() else text.encode("utf-8").decode("latin-1")


def _run(command: Sequence[str], asked: Mapping[str, str], field: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603  the user's own settings name it
            list(command), input=json.dumps(asked), capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as cause:
        told = f"{command[0]} cannot be run: {type(cause).__name__}"
        raise UsageError(told, field=field, hint="run it by hand, and see") from None
    if done.returncode:
        raise UsageError(f"{command[0]} ended with {done.returncode}", field=field, hint="run it by hand, and see")
    return done.stdout


def _token_of(text: str, field: str) -> str:
    """A credential as such, or in JSON under `credential` or `token`."""
    said = text.strip()
    if said.startswith("{"):
        try:
            value = json.loads(said)
        except ValueError:
            value = {}
        said = str(value.get("credential") or value.get("token") or "")
    if not said or len(said) > _MOST_TEXT or any(ord(sign) < 33 or ord(sign) > 126 for sign in said):
        raise UsageError("what came is no credential", field=field, hint="print the credential alone, or as JSON")
    return said


def forged(token: str, variant: str, own: str, other: str) -> str:
    """A wrong credential made of a good one without any key; NotAvailableError where that cannot be done.

    alg_none: the claims name the other tenant; tampered: they last longer; malformed: no signature; kid_path,
    unknown_kid, unknown_critical: the head says so; wrong_signature: the signature is another.
    """
    parts = token.split(".")
    if variant == "malformed":
        return ".".join(parts[:2]) if len(parts) == 3 else token[: len(token) // 2]
    head, claims = _json_of(parts[0]), _json_of(parts[1]) if len(parts) == 3 else None
    if head is None or claims is None:
        raise NotAvailableError(variant)
    if variant == "tampered":
        return ".".join((parts[0], _part({**claims, "exp": 4_102_444_800}), parts[2]))
    if variant == "alg_none":
        return f"{_part({**head, 'alg': 'none'})}.{_part(_swapped(claims, own, other))}."
    if variant == "kid_path":
        signed = f"{_part({**head, 'alg': 'HS256', 'kid': '../../../../../../dev/null'})}.{parts[1]}"
        return f"{signed}.{_coded(hmac.new(b'', signed.encode(), hashlib.sha256).digest())}"
    if variant == "unknown_kid":
        return ".".join((_part({**head, "kid": "no-such-key"}), *parts[1:]))
    if variant == "unknown_critical":
        return ".".join((_part({**head, "crit": ["x-unknown"], "x-unknown": True}), *parts[1:]))
    if variant == "wrong_signature":
        return ".".join((*parts[:2], _coded(hashlib.sha256(parts[2].encode()).digest() * 8)))
    raise NotAvailableError(variant)


def _swapped(value: Any, own: str, other: str) -> Any:
    if isinstance(value, dict):
        return {key: _swapped(one, own, other) for key, one in value.items()}
    if isinstance(value, list):
        return [_swapped(one, own, other) for one in value]
    return other if value == own else value


def _json_of(part: str) -> dict[str, Any] | None:
    try:
        value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _part(value: Mapping[str, Any]) -> str:
    return _coded(json.dumps(value, separators=(",", ":")).encode())


def _coded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def without(text: str, secrets: Sequence[str]) -> str:
    """A text without any of the secrets; the longest go first."""
    for one in _spellings(secrets):
        text = text.replace(one, "[redacted:credential]")
    return text


def _spellings(secrets: Sequence[str]) -> Iterator[str]:
    for one in secrets:
        yield one
        escaped = json.dumps(one)[1:-1]
        if escaped != one:
            yield escaped
