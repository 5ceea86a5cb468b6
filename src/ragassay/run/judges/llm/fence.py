"""Untrusted text inside marks that nobody can forge: a nonce a call, and whatever looks like a mark taken apart.

The nonce is an HMAC of what is asked under a secret of the store: a text cannot foresee it, and the same call has the
same one again, so that it is no part of what a cache knows a call by.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from ragassay.errors import StoreError

FILE = "judges.secret"
_SECRET_BYTES = 32
_OPENERS = "<＜‹«《〈⟨⟪❮❰˂ᐸ⧼﹤"
_CLOSERS = ">＞›»》〉⟩⟫❯❱˃ᐳ⧽﹥"
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2060-\u2064\u2066-\u206f\u202a-\u202e\ufeff"
)
_HIDDEN = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_UNSEEN}\ufe00-\ufe0f\ufff0-\ufffb\U000e0000-\U000e0fff]")
_JOINERS = "\u200c\u200d"
_RUN = re.compile(f"[{_OPENERS}{_CLOSERS}](?:[ \t{_JOINERS}]*[{_OPENERS}{_CLOSERS}])+")


def store_secret(store: Path) -> bytes:
    """The secret of a store, made when it is first needed; readable by its owner only."""
    path = store / "cache" / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(_SECRET_BYTES))
        found = path.read_bytes()
    except OSError as cause:
        raise StoreError(f"cannot keep the secret of judges: {cause}", file=str(path), hint="is it writable?") from None
    if len(found) < _SECRET_BYTES:
        raise StoreError("the secret of judges is cut short", file=str(path), hint="delete it; it is made again")
    return found


def nonce_of(secret: bytes, key: str) -> str:
    """The nonce of a call: 128 bits that nobody who does not know the secret can guess."""
    return hmac.new(secret, f"fence {key}".encode(), "sha256").hexdigest()[:32]


def tag_of(secret: bytes, key: str) -> str:
    """What the names of a call's items share, so that verdicts of another call are known."""
    return hmac.new(secret, f"items {key}".encode(), "sha256").hexdigest()[:6]


def seen(text: str) -> str:
    """A text without characters that nobody sees: controls, zero widths, directions, tags, variation selectors."""
    return _HIDDEN.sub("", text)


def harmless(text: str) -> str:
    """A text as it stands inside a fence: nothing unseen, and no run of brackets of which a mark could be made.

    >>> harmless("a <<<b>>> c < d")
    'a (b) c < d'
    """
    return _RUN.sub(_single, seen(text))


def _single(found: re.Match[str]) -> str:
    return "(" if found[0][0] in _OPENERS else ")"


def fenced(nonce: str, name: str, text: str) -> str:
    """A text between its marks; `name` is ours and says what it is."""
    return f"<<<{nonce} {name}\n{harmless(text).replace(nonce, '')}\n>>>{nonce}"
