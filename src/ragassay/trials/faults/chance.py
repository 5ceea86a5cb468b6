"""Which documents and questions a fault strikes: the same ones for the same seed, on every machine. Changes nothing."""

from __future__ import annotations

import hashlib

from ragassay.errors import UsageError


def struck(seed: int, key: str, strength: float) -> bool:
    """Whether a fault of this strength strikes a key (a document's or a question's id).

    The share that is struck is about `strength`: 0 strikes none, 1 all. What a strength strikes, a higher one strikes
    as well. UsageError for a strength outside 0 to 1.
    """
    if not 0 <= strength <= 1:
        raise UsageError(f"a strength is {strength!r}", field="strength", hint="a share from 0 to 1")
    return place(seed, key) < strength


def place(seed: int, key: str) -> float:
    """A number from 0 to less than 1 by SHA-256 of seed and key."""
    word = hashlib.sha256(f"{seed}\n{key}".encode()).digest()[:8]
    return (int.from_bytes(word, "big") >> 11) / 2**53
