"""Canaries drawn under a key: the same key draws the same, and nobody without it can guess one. Plants nothing.

Every draw is HMAC-SHA256(key, label, counter), reduced without bias. A token has 103 bits; the invented facts of a
document have about 133 together, of which two suffice to recognise it.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from ragassay.errors import UsageError
from ragassay.records.base import DocumentId
from ragassay.records.probe import InventedFact

ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""Without I, L, O, U, 0 and 1, which are taken for one another."""
TOKEN_SIGNS = 21
LEAST_KEY = 16
LEAST_BITS = 40.0
"""Of the facts of one document together."""
_FIRST_DAY, _DAYS = date(2031, 1, 1), 10_000
_LEAST_AMOUNT, _AMOUNTS = 1_000_000, 9_000_000
_HEADS = "bdfghjklmnprstvz"
_VOWELS = "aeiou"
_TAILS = "bdgkmnrstv"
_WORDS = (len(_HEADS) * len(_VOWELS) * len(_TAILS)) ** 2


class Draws:
    """A stream of numbers that the key and a label determine."""

    def __init__(self, key: bytes, *label: str) -> None:
        self._key = key
        self._label = "\x1f".join(label).encode()
        self._counter = 0

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, each equally likely (to within 2^-64)."""
        self._counter += 1
        message = self._label + b"\x1e" + str(self._counter).encode()
        return int.from_bytes(hmac.new(self._key, message, hashlib.sha256).digest(), "big") % n

    def one_of(self, several: Sequence[str]) -> str:
        """One of them."""
        return several[self.below(len(several))]

    def token(self) -> str:
        """A token canary."""
        return "".join(self.one_of(ALPHABET) for _ in range(TOKEN_SIGNS))

    def word(self) -> str:
        """An invented word of six letters and a capital: one of 640,000."""
        syllables = (self.one_of(_HEADS) + self.one_of(_VOWELS) + self.one_of(_TAILS) for _ in range(2))
        return "".join(syllables).capitalize()


class Drawn(NamedTuple):
    """What is secret about one planted document, and the anchor, which is not."""

    anchor: str
    token: str
    facts: tuple[InventedFact, ...]

    def of(self, kind: str) -> str:
        """The value of one fact."""
        return next(one.value for one in self.facts if one.kind == kind)


def checked_key(key: bytes) -> bytes:
    """The key, or UsageError where it is so short that it could be guessed."""
    if len(key) < LEAST_KEY:
        raise UsageError(
            f"the key has {len(key)} bytes; at least {LEAST_KEY} are needed",
            field="probe.key",
            hint="for example: export RAGASSAY_PROBE_KEY=$(openssl rand -hex 32)",
        )
    return key


def key_id(key: bytes) -> str:
    """What tells two keys apart and gives neither away."""
    return hmac.new(key, b"ragassay probe key id", hashlib.sha256).hexdigest()[:16]


def draw(key: bytes, suite: str, tenant: str, document: str) -> Drawn:
    """Anchor, token and facts of one document of one tenant in one suite."""
    draws = Draws(key, "canary", suite, tenant, document)
    anchor = f"{draws.word()}{draws.word().lower()}"
    word_bits = math.log2(_WORDS)
    facts = (
        InventedFact(kind="name", value=f"{draws.word()} {draws.word()}", bits=round(2 * word_bits, 2)),
        InventedFact(
            kind="amount", value=str(_LEAST_AMOUNT + draws.below(_AMOUNTS)), bits=round(math.log2(_AMOUNTS), 2)
        ),
        InventedFact(
            kind="date",
            value=(_FIRST_DAY + timedelta(days=draws.below(_DAYS))).isoformat(),
            bits=round(math.log2(_DAYS), 2),
        ),
        InventedFact(kind="place", value=draws.word(), bits=round(word_bits, 2)),
        InventedFact(kind="title", value=f"{draws.word()} {draws.word()}", bits=round(2 * word_bits, 2)),
    )
    return Drawn(anchor, draws.token(), facts)


def document_id(key: bytes, suite: str, label: str) -> DocumentId:
    """An id that nobody can guess, of the same form for what is planted and for what is not."""
    made = hmac.new(key, f"id\x1f{suite}\x1f{label}".encode(), hashlib.sha256).hexdigest()
    return DocumentId(f"probe-{made[:20]}")
