"""Bundles in a store: put there, found again, and checked against a trust policy and the ledger. Holds no key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ragassay.errors import AbsentError, FormError, LedgerError, SubjectError, UntrustedKeyError
from ragassay.records.base import Digest, Instant
from ragassay.records.canonical import canonical_bytes
from ragassay.records.ledger import Entry
from ragassay.records.text import in_order
from ragassay.seal import bundle as bundles
from ragassay.seal.keys import Signer
from ragassay.seal.statements import Kind, check_statement, erasure, numbers, preregistration, read_statement, verdict
from ragassay.seal.timestamps import check_reply
from ragassay.seal.trust import Trust
from ragassay.store import Store

PREFIX = "bundle"
ROLES: dict[Kind, str] = {
    "pre-registration": "protocol",
    "verdict": "decision",
    "numbers": "scores",
    "erasure": "absence",
}
"""Kind -> the subject that it is about."""
MAKERS: dict[Kind, Callable[[Store, Digest], dict[str, Any]]] = {
    "pre-registration": preregistration, "verdict": verdict, "numbers": numbers,
    "erasure": erasure,
}  # fmt: skip


class Signed(NamedTuple):
    """One valid statement: what it is about, and who signed it."""

    kind: Kind
    about: Digest
    key_id: str
    name: str
    bundle: Digest


def sign(store: Store, kind: Kind, about: Digest, signer: Signer, timestamp: bytes = b"") -> Digest:
    """Sign the statement of this kind about an object of the store; ref `bundle/<about>/<key id>`.

    The same object and key give the same bundle, so that a time stamp over its signature can be added by signing again.
    FormError for a `timestamp` that is not about this signature.
    """
    data = bundles.sign(MAKERS[kind](store, about), signer)
    if timestamp:
        made = bundles.decode(data)
        check_reply(timestamp, made.signature)
        data = bundles.encode(made._replace(timestamp=timestamp))
    digest = store.put(data)
    store.set_ref(f"{PREFIX}/{about.removeprefix('sha256:')}/{signer.key_id}", digest, kind="bytes")
    return digest


def bundles_about(store: Store, about: str) -> list[Digest]:
    """The bundles that the store names as being about an object, by key id."""
    return [one.digest for one in store.refs(f"{PREFIX}/{about.removeprefix('sha256:')}/")]


def check_bundle(
    data: bytes, trust: Trust, kind: Kind, about: Digest, *, at: Instant | None, wanted: Mapping[str, Any] | None = None
) -> tuple[str, str]:
    """The key id and name of the signer of a bundle that holds in every respect.

    In this order: its one form (FormError), its time stamp if it has one (FormError, SignatureError, UntrustedKeyError
    where the policy trusts none or asks for one), a key that may sign this (UntrustedKeyError), the signature
    (SignatureError), the kind (PredicateError), the subject (SubjectError), and, with `wanted`, that it says exactly
    what the records say (SubjectError). `at`: when the ledger says that it was signed;
    a time stamp goes before that.
    """
    bundle = bundles.decode(data)
    trusted = trust.key(bundle.key_id, kind, trust.signed_at(bundle, kind, at))
    bundles.check_signature(bundle, trusted.public)
    statement = read_statement(bundle.payload)
    check_statement(statement, kind, ROLES[kind], about)
    if wanted is not None and canonical_bytes(wanted) != bundle.payload:
        raise SubjectError(
            f"the signed {kind} says something else than the records that it is about", field="predicate",
            hint="it was signed over other records, or says what they do not",
        )  # fmt: skip
    return bundle.key_id, trusted.entry.name


def signers(
    store: Store, trust: Trust, kind: Kind, about: Digest, entries: Iterable[Entry], gone: list[Digest] | None = None
) -> list[Signed]:
    """All valid statements of a kind about an object; every bundle that the store names for it must hold.

    With `gone`, one that cannot be made again because a table of it was erased counts by its signature and subject, and
    the table is added to `gone`. Raises what `check_bundle` raises; LedgerError for a bundle that the ledger does not
    name: parts of a time stamp are covered by no signature; UntrustedKeyError if there are fewer distinct signers than
    the policy asks for.
    """
    times = _signed_at(entries)
    wanted = _wanted(store, kind, about, gone)
    found: dict[str, Signed] = {}
    for digest in bundles_about(store, about):
        key, name = check_bundle(store.get(digest), trust, kind, about, at=times.get(digest), wanted=wanted)
        if key in found:
            raise FormError(f"two bundles of one key ({name}) about one object", hint="one signer counts once")
        if digest not in times:
            raise LedgerError(
                f"the ledger knows nothing of this bundle of {name} about {about}", file=digest,
                hint="it was changed, or put there by hand: `ragassay sign` signs and writes that down",
            )  # fmt: skip
        found[key] = Signed(kind, about, key, name, digest)
    needed = trust.required.get(kind, 0)
    if len(found) < needed:
        what = "no signature" if not found else f"{len(found)} signatures"
        raise UntrustedKeyError(
            f"{what} on the {kind} of {about}; the trust policy asks for {needed}", hint="`ragassay sign` adds one"
        )
    return list(found.values())


def _wanted(store: Store, kind: Kind, about: Digest, gone: list[Digest] | None) -> dict[str, Any] | None:
    """What the records say; None if a table that it takes is gone on purpose."""
    try:
        return MAKERS[kind](store, about)
    except AbsentError as cause:
        if gone is None or cause.digest is None:
            raise
        gone.append(Digest(cause.digest))
        return None


def _signed_at(entries: Iterable[Entry]) -> dict[str, Instant]:
    """When each bundle was signed at the earliest: a line was not made before one that stands above it, whatever the
    clock said by then."""
    found: dict[str, Instant] = {}
    latest: Instant | None = None
    for one in entries:
        latest = one.at if latest is None or in_order(latest, one.at) else latest
        if one.act == "signed" and "bundle" in one.objects:
            found[one.objects["bundle"]] = latest
    return found


def check_order(entries: Iterable[Entry], protocol: Digest, signed: Iterable[Signed], needed: int) -> None:
    """LedgerError unless enough pre-registrations were in the ledger before the first question was asked.

    Also if the ledger does not know that the protocol was begun: a run that was brought in from elsewhere.
    """
    known = list(entries)
    began = [one.number for one in known if one.act == "began" and one.objects.get("protocol") == protocol]
    if not began:
        raise LedgerError(
            f"the ledger does not know when the first question of {protocol} was asked",
            hint="a run is verified with the ledger of the store in which it was made; export it from there",
        )
    numbers_of = {one.objects["bundle"]: one.number for one in known if one.act == "signed" and "bundle" in one.objects}
    before = [one for one in signed if numbers_of.get(one.bundle, began[0]) < began[0]]
    if len(before) < needed:
        raise LedgerError(
            f"{len(before)} of {needed} needed signatures on the protocol stood before the first question was asked",
            hint="sign the protocol before the run: `ragassay seal --sign KEY`, then `ragassay run`",
        )
