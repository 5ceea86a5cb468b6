"""Trusted time (RFC 3161): a request over a signature, and when an authority says that it was there. Asks nobody.

Needs the extra `ragassay[time]`. What is stamped are the bytes of the signature in the envelope, as Sigstore does.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import FormError, MissingExtraError, SignatureError, UsageError
from ragassay.records.base import Instant
from ragassay.records.text import instant

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

MOST_BYTES = 64 * 1024
_HINT = "ask the authority again with the file that `ragassay sign --time-query` writes"


def request_over(signature: bytes) -> bytes:
    """A request in DER (SHA-256, no nonce, certificate asked for): the same signature gives the same bytes."""
    _need()
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

    builder = TimestampRequestBuilder().data(signature).hash_algorithm(HashAlgorithm.SHA256)
    return builder.nonce(nonce=False).cert_request(cert_request=True).build().as_bytes()


def check_reply(token: bytes, signature: bytes) -> None:
    """FormError for bytes that are no granted reply about this signature; whether anybody trusts it is not asked."""
    import hashlib

    told = _decode(token)
    if told.status != 0 or told.tst_info.message_imprint.message != hashlib.sha256(signature).digest():
        raise FormError("the reply was not granted, or is about something else", field="timestamp", hint=_HINT)


def time_of(token: bytes, signature: bytes, roots: tuple[Certificate, ...]) -> Instant:
    """When an authority under one of these roots had the signature before it, to the microsecond, in UTC.

    FormError for bytes that are no reply in DER; SignatureError for one that is not signed under these roots, or is
    about another signature.
    """
    told = _decode(token)
    from rfc3161_client import VerificationError, VerifierBuilder

    builder = VerifierBuilder(roots=list(roots))
    try:
        builder.build().verify_message(told, signature)
    except (VerificationError, ValueError) as cause:
        raise SignatureError(f"the time stamp does not hold: {cause}", hint=_HINT) from None
    made: datetime = told.tst_info.gen_time
    return instant(made.astimezone(UTC).isoformat().replace("+00:00", "Z"))


def read_roots(paths: list[Path]) -> tuple[Certificate, ...]:
    """Root certificates from PEM files. UsageError for anything else."""
    from cryptography.x509 import load_pem_x509_certificates

    found: list[Certificate] = []
    for path in paths:
        try:
            found += load_pem_x509_certificates(path.read_bytes())
        except OSError as cause:
            raise UsageError(f"cannot be read: {cause.strerror}", file=str(path), hint="name a file") from None
        except ValueError:
            raise UsageError(
                "no certificate in PEM", file=str(path), hint="the root of the time stamps' authority"
            ) from None
    return tuple(found)


def _decode(token: bytes) -> TimeStampResponse:
    _need()
    from rfc3161_client import decode_timestamp_response

    try:
        told = decode_timestamp_response(token)
        whole = told.as_bytes() == token
        _ = told.tst_info.gen_time
    except ValueError as cause:
        raise FormError(f"not a time stamp: {cause}", field="timestamp", hint=_HINT) from None
    if not whole or len(token) > MOST_BYTES:
        raise FormError("not a time stamp in DER alone", field="timestamp", hint=_HINT)
    return told


def _need() -> None:
    try:
        import rfc3161_client  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "time stamps need a library that is not installed", hint="pip install 'ragassay[time]'"
        ) from None
