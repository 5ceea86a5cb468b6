"""One signed statement as bytes: DSSE with pure Ed25519 in a Sigstore bundle v0.3. Decides whom to trust nowhere.

There is one byte form: canonical JSON (RFC 8785), one signature, the key's id as hint and as `keyid`, nothing else.
Whatever re-encodes to other bytes is refused, so that no white space, key order or extra field is a place to hide.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, NamedTuple

from ragassay.errors import FormError, RecordError, SignatureError
from ragassay.records.canonical import canonical_bytes, load_json
from ragassay.seal.keys import Signer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
MOST_BYTES = 16 * 1024 * 1024
_HINT = "only what this product wrote, byte for byte, is a bundle here; get it again from who signed it"


class Bundle(NamedTuple):
    """What a bundle holds: the signed bytes, the signature over them, and whose it claims to be."""

    payload: bytes
    signature: bytes
    key_id: str
    """A hint only: which key to try."""
    timestamp: bytes = b""
    """An RFC 3161 reply about the signature; empty: none."""


def pae(payload_type: str, body: bytes) -> bytes:
    """The bytes that DSSE signs: its pre-authentication encoding, version 1."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)


def sign(statement: dict[str, Any], signer: Signer) -> bytes:
    """The bundle of a statement, signed with one key; the same statement and key give the same bytes."""
    payload = canonical_bytes(statement)
    return encode(Bundle(payload, signer.private.sign(pae(PAYLOAD_TYPE, payload)), signer.key_id))


def encode(bundle: Bundle) -> bytes:
    """The one byte form of a bundle."""
    material: dict[str, Any] = {"publicKey": {"hint": bundle.key_id}}
    if bundle.timestamp:
        stamped = [{"signedTimestamp": base64.b64encode(bundle.timestamp).decode()}]
        material["timestampVerificationData"] = {"rfc3161Timestamps": stamped}
    return canonical_bytes(
        {
            "mediaType": MEDIA_TYPE,
            "verificationMaterial": material,
            "dsseEnvelope": {
                "payload": base64.b64encode(bundle.payload).decode(),
                "payloadType": PAYLOAD_TYPE,
                "signatures": [{"sig": base64.b64encode(bundle.signature).decode(), "keyid": bundle.key_id}],
            },
        }
    )


def decode(data: bytes, *, file: str = "") -> Bundle:
    """A bundle from its bytes. FormError for any bytes but the one form that `encode` gives."""
    try:
        return _decode(data)
    except FormError as error:
        raise error.at(file=file)  # noqa: B904  the same error, with its place


def _decode(data: bytes) -> Bundle:
    if len(data) > MOST_BYTES:
        raise FormError(f"more than {MOST_BYTES} bytes", hint=_HINT)
    try:
        value = load_json(data)
    except RecordError as cause:
        raise FormError(f"not a bundle: {cause.message}", field=cause.field, hint=_HINT) from cause
    if _at(value, "mediaType") != MEDIA_TYPE:
        raise FormError(f"not {MEDIA_TYPE}", field="mediaType", hint=_HINT)
    envelope = _at(value, "dsseEnvelope")
    if _at(envelope, "payloadType") != PAYLOAD_TYPE:
        raise FormError(f"not {PAYLOAD_TYPE}", field="dsseEnvelope.payloadType", hint=_HINT)
    signatures = _at(envelope, "signatures")
    if not isinstance(signatures, list) or len(signatures) != 1:
        count = len(signatures) if isinstance(signatures, list) else "no list of"
        raise FormError(f"{count} signatures; a bundle has exactly one", field="dsseEnvelope.signatures", hint=_HINT)
    material = _at(value, "verificationMaterial")
    hint = _at(_at(material, "publicKey"), "hint")
    payload, signature = (
        _bytes(_at(envelope, "payload"), "payload"),
        _bytes(_at(signatures[0], "sig"), "signatures[0].sig"),
    )
    bundle = Bundle(payload, signature, str(hint), _stamped(material))
    if encode(bundle) != data:
        raise FormError("not in its one canonical form: a field, a space or a key's id too many, or another order",
                        hint=_HINT)  # fmt: skip
    return bundle


def _stamped(material: dict[str, Any]) -> bytes:
    if "timestampVerificationData" not in material:
        return b""
    found = _at(material["timestampVerificationData"], "rfc3161Timestamps")
    if not isinstance(found, list) or len(found) != 1:
        raise FormError("a bundle has one time stamp, or none", field="rfc3161Timestamps", hint=_HINT)
    return _bytes(_at(found[0], "signedTimestamp"), "signedTimestamp")


def _at(value: Any, key: str) -> Any:
    if not isinstance(value, dict) or key not in value:
        raise FormError(f"{key} is not there", field=key, hint=_HINT)
    return value[key]


def _bytes(text: Any, field: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else _refuse(field)
    except (binascii.Error, ValueError):
        return _refuse(field)


def _refuse(field: str) -> bytes:
    raise FormError("not base64", field=f"dsseEnvelope.{field}", hint=_HINT)


def check_signature(bundle: Bundle, public: Ed25519PublicKey) -> None:
    """SignatureError unless the signature is this key's, over exactly these bytes."""
    from cryptography.exceptions import InvalidSignature

    try:
        public.verify(bundle.signature, pae(PAYLOAD_TYPE, bundle.payload))
    except InvalidSignature:
        raise SignatureError(
            f"the signature is not that of key {bundle.key_id} over these bytes",
            hint="the statement was changed, or signed with another key; get the bundle again from who signed it",
        ) from None
