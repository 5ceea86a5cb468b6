"""Who issues tokens, and who checks them. One key pair, RS256; what a checker can get wrong is a hole by name."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
from corpus import PEOPLE, Person
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

ISSUER, AUDIENCE, KID = "https://issuer.example", "tenants-example", "key-1"
LIFE_S = 3600
VARIANTS = (
    "plain", "expired", "not_yet_valid", "wrong_audience", "wrong_issuer", "wrong_signature", "no_groups", "no_tenant",
    "downgraded", "alg_none", "rs_to_hs", "kid_path", "unknown_kid", "unknown_critical",
)  # fmt: skip
"""What a probe may ask the issuer of this example for: good tokens, and bad ones of every kind."""


class Refused(Exception):
    """The credential does not hold; `status` says why, and nothing of what it held."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True)
class Caller:
    """What a token that holds says about who asks."""

    sub: str
    tenant: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    session: str
    all_groups: bool = False


class Issuer:
    """Makes keys for itself when it starts; nothing of them leaves the folder."""

    def __init__(self, folder: Path, people: tuple[Person, ...] = PEOPLE) -> None:
        self._people = {one.id: one for one in people}
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        self.public = self._key.public_key().public_bytes(serialization.Encoding.PEM, form)
        self.keys = folder / "keys"
        self.keys.mkdir(parents=True)
        (self.keys / KID).write_bytes(self.public)

    def token(self, person_id: str, variant: str = "plain", session: str = "") -> str:
        """A token of one person. `variant` is one of VARIANTS; another one is a ValueError."""
        if variant not in VARIANTS or person_id not in self._people:
            raise ValueError("no such person or variant")
        claims, now = self._claims(self._people[person_id], session), int(time.time())
        changed: dict[str, dict[str, Any]] = {
            "expired": {"iat": now - 7200, "nbf": now - 7200, "exp": now - 60},
            "not_yet_valid": {"nbf": now + 3000},
            "wrong_audience": {"aud": "somebody-else"},
            "wrong_issuer": {"iss": "https://another.example"},
            "downgraded": {"groups": []},
        }
        claims |= changed.get(variant, {})
        if variant in ("no_groups", "no_tenant"):
            del claims[variant.removeprefix("no_")]
        if variant == "alg_none":
            return jwt.encode(claims, None, algorithm="none")  # type: ignore[arg-type]
        if variant == "rs_to_hs":
            return _by_hand({"alg": "HS256", "kid": KID, "typ": "JWT"}, claims, self.public)
        if variant == "kid_path":
            return _by_hand({"alg": "HS256", "kid": "../../../../../../../../dev/null", "typ": "JWT"}, claims, b"")
        headers: dict[str, Any] = {"kid": "key-9" if variant == "unknown_kid" else KID}
        if variant == "unknown_critical":
            headers |= {"crit": ["x-unknown"], "x-unknown": True}
        return jwt.encode(claims, self._stranger if variant == "wrong_signature" else self._key, "RS256", headers)

    @staticmethod
    def _claims(person: Person, session: str) -> dict[str, Any]:
        now = int(time.time())
        return {
            "iss": ISSUER, "aud": AUDIENCE, "sub": person.id, "tenant": person.tenant, "groups": list(person.groups),
            "roles": list(person.roles), "sid": session or person.id, "iat": now, "nbf": now, "exp": now + LIFE_S,
        }  # fmt: skip

    def check(self, token: str, holes: Collection[str] = ()) -> Caller:
        """Who holds the token; Refused with a status word if it does not hold. Never says what was in it."""
        claims = self._forged(token, holes)
        if claims is None:
            claims = self._decoded(token, late="token_expired" in holes)
        tenant, groups = claims.get("tenant"), claims.get("groups")
        every = groups is None and "groups_absent_all" in holes
        if not isinstance(tenant, str) or not (isinstance(groups, list) or every):
            raise Refused("claim_missing")
        named = tuple(str(one) for one in groups or ())
        roles = tuple(str(one) for one in claims.get("roles", ()))
        return Caller(str(claims["sub"]), tenant, named, roles, str(claims.get("sid", "")), every)

    def _decoded(self, token: str, *, late: bool) -> dict[str, Any]:
        try:
            head = jwt.get_unverified_header(token)
            if head.get("kid") != KID or "crit" in head:
                raise Refused("key_unknown")
            wanted = ["exp", "nbf", "iss", "aud", "sub"]
            options: Any = {"require": wanted, "verify_exp": not late}
            return jwt.decode(
                token, self.public, algorithms=["RS256"], audience=AUDIENCE, issuer=ISSUER, options=options
            )
        except jwt.ExpiredSignatureError:
            raise Refused("expired") from None
        except jwt.ImmatureSignatureError:
            raise Refused("not_yet_valid") from None
        except jwt.InvalidAudienceError:
            raise Refused("wrong_audience") from None
        except jwt.InvalidIssuerError:
            raise Refused("wrong_issuer") from None
        except jwt.InvalidSignatureError:
            raise Refused("wrong_signature") from None
        except jwt.PyJWTError:
            raise Refused("malformed") from None

    def _forged(self, token: str, holes: Collection[str]) -> dict[str, Any] | None:
        """The claims of a token that only a hole lets in; None if no hole does."""
        try:
            head = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            return None
        algorithm, kid = str(head.get("alg", "")), str(head.get("kid", ""))
        body = token.split(".")[1]
        if "token_none" in holes and algorithm.casefold() == "none":
            return _claims_in(body)
        if "token_rs_to_hs" in holes and algorithm == "HS256" and _signed(token, self.public):
            return _claims_in(body)
        if "token_kid_path" in holes and algorithm == "HS256":
            try:
                key = (self.keys / kid).read_bytes()
            except OSError:
                return None
            return _claims_in(body) if _signed(token, key) else None
        return None


def _part(value: object) -> str:
    return _text(json.dumps(value).encode())


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _by_hand(head: dict[str, Any], claims: dict[str, Any], key: bytes) -> str:
    """A token as a forger makes it: libraries refuse to sign with a public key or an empty one."""
    signed = f"{_part(head)}.{_part(claims)}"
    return f"{signed}.{_text(hmac.new(key, signed.encode(), hashlib.sha256).digest())}"


def _signed(token: str, key: bytes) -> bool:
    signed, _, mark = token.rpartition(".")
    return hmac.compare_digest(mark, _text(hmac.new(key, signed.encode(), hashlib.sha256).digest()))


def _claims_in(body: str) -> dict[str, Any]:
    return dict(json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))))
