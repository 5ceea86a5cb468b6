"""Ed25519 keys in files: made once, read strictly. Signs nothing and trusts nobody."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragassay.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

MOST_BYTES = 16 * 1024
MOST_PASSPHRASE = 1023  # what OpenSSL takes


class Signer(NamedTuple):
    """A private key, and the id of its public half."""

    private: Ed25519PrivateKey
    key_id: str


class KeyFiles(NamedTuple):
    """Where a new pair was written, and its id."""

    private: Path
    public: Path
    key_id: str


def key_id(public: Ed25519PublicKey) -> str:
    """SHA-256 of the key's SubjectPublicKeyInfo in DER, in hexadecimal digits: what `openssl` can compute as well."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def new_keys(path: Path, passphrase: str | None = None) -> KeyFiles:
    """Write a new pair: `path` (PKCS #8 PEM, readable by its owner only) and `path` with `.pub` added (SPKI PEM).

    UsageError if one of the files is there already: a key is never overwritten.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not path.name:
        raise UsageError("a key needs a file name", file=str(path), hint="for example release.key")
    public_path = path.with_name(path.name + ".pub")
    private = Ed25519PrivateKey.generate()
    lock = serialization.BestAvailableEncryption(_secret(passphrase)) if passphrase else serialization.NoEncryption()
    secret = private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    if public_path.exists():
        raise UsageError(f"{public_path} is there already", hint="name another file; a key is never overwritten")
    _write_new(path, secret, 0o600)
    _write_new(public_path, public, 0o644)
    return KeyFiles(path, public_path, key_id(private.public_key()))


def _secret(passphrase: str) -> bytes:
    """The passphrase as bytes. UsageError for one that is not UTF-8, or longer than a key can be locked with."""
    try:
        secret = passphrase.encode()
    except UnicodeEncodeError:
        raise UsageError("the passphrase is not UTF-8", hint="set another RAGASSAY_KEY_PASSPHRASE") from None
    if len(secret) > MOST_PASSPHRASE:
        raise UsageError(
            f"the passphrase has more than {MOST_PASSPHRASE} bytes", hint="set a shorter RAGASSAY_KEY_PASSPHRASE"
        )
    return secret


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise UsageError(f"{path} is there already", hint="name another file; a key is never overwritten") from None
    except OSError as cause:
        raise UsageError(f"cannot be written: {cause.strerror}", file=str(path), hint="name another folder") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def read_private(path: Path, passphrase: str | None = None) -> Signer:
    """A private key from PKCS #8 PEM. UsageError for anything but one Ed25519 key, or a wrong passphrase."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    data = _read(path, "a private key")
    secret = _secret(passphrase) if passphrase else None
    try:
        found = load_pem_private_key(data, secret)
    except TypeError:
        what = "needs no passphrase" if passphrase else "needs a passphrase"
        raise UsageError(f"the key {what}", file=str(path), hint="set or unset RAGASSAY_KEY_PASSPHRASE") from None
    except (ValueError, UnsupportedAlgorithm):
        raise UsageError(
            "not a private key in PKCS #8 PEM, or another passphrase",
            file=str(path),
            hint="`ragassay keys new` makes one",
        ) from None
    if not isinstance(found, Ed25519PrivateKey):
        raise UsageError("not an Ed25519 key", file=str(path), hint="`ragassay keys new` makes one")
    return Signer(found, key_id(found.public_key()))


def read_public(path: Path) -> Ed25519PublicKey:
    """A public key from SPKI PEM. UsageError for anything but one Ed25519 key, a private key among that."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    data = _read(path, "a public key")
    if b"PRIVATE KEY" in data:
        raise UsageError("a private key stands where a public one should", file=str(path), hint=f"name {path}.pub")
    try:
        found = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm):
        raise UsageError("not a public key in PEM", file=str(path), hint="`ragassay keys new` writes one") from None
    if not isinstance(found, Ed25519PublicKey):
        raise UsageError("not an Ed25519 key", file=str(path), hint="`ragassay keys new` writes one")
    return found


def _read(path: Path, what: str) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as cause:
        why = cause.strerror if isinstance(cause, OSError) else cause
        raise UsageError(f"cannot be read: {why}", file=str(path), hint=f"it must be {what} in PEM") from None
    if len(data) > MOST_BYTES:
        raise UsageError(f"more than {MOST_BYTES} bytes", file=str(path), hint=f"it must be {what} in PEM")
    return data
