"""Who may sign what, how many must, and from when until when: a trust policy read from TOML. Verifies no signature.

ledger = "sha256:..."                 # optional: the digest of the ledger's founding line

[[key]]
file = "release.pub"                  # relative to this file
name = "Release manager"
may = ["pre-registration", "verdict", "numbers"]
valid_from = "2026-01-01"             # optional: rotation
valid_until = "2027-01-01"
revoked = "2026-08-01"                # optional: what is in the ledger from then on does not count
compromised = true                    # with revoked: nothing counts that this key ever signed

[require]                             # distinct signers; at least one kind
pre-registration = 1
verdict = 2

[time]                                # optional: trusted time (RFC 3161)
roots = ["tsa-root.pem"]              # under which a bundle's time stamp must stand
needed = ["pre-registration"]         # kinds of which every bundle must have one
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

from msgspec import Meta

from ragassay.errors import RagassayError, UntrustedKeyError, UsageError
from ragassay.records.base import Digest, Instant, Record, require
from ragassay.records.canonical import parse_value
from ragassay.records.document import Name
from ragassay.records.text import in_order, valid_at
from ragassay.records.toml_file import line_of, read_toml, without_dates
from ragassay.seal.keys import key_id, read_public
from ragassay.seal.statements import PREDICATES, Kind
from ragassay.seal.timestamps import read_roots, time_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.x509 import Certificate

    from ragassay.seal.bundle import Bundle


class KeyEntry(Record, frozen=True, kw_only=True):
    """One `[[key]]`."""

    file: Name
    name: Name
    may: tuple[Kind, ...]
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    revoked: Instant | None = None
    compromised: bool = False

    def __post_init__(self) -> None:
        require(bool(self.may), "may is empty: a key that may sign nothing")
        require(not self.compromised or self.revoked is not None, "compromised goes with revoked: since when")
        require(in_order(self.valid_from, self.valid_until), "valid_until is before valid_from")


class TimeEntry(Record, frozen=True, kw_only=True):
    """[time]"""

    roots: tuple[Name, ...]
    needed: tuple[Kind, ...] = ()

    def __post_init__(self) -> None:
        require(bool(self.roots), "roots is empty: nobody's time is trusted")


class _File(Record, frozen=True, kw_only=True):
    key: tuple[KeyEntry, ...]
    require: dict[str, Annotated[int, Meta(ge=1)]]
    ledger: Digest | None = None
    time: TimeEntry | None = None


class Trusted(NamedTuple):
    """A key that is named, with what it may sign."""

    entry: KeyEntry
    public: Ed25519PublicKey


class Trust(NamedTuple):
    """A trust policy: keys by id, and how many distinct signers each kind of statement needs."""

    keys: dict[str, Trusted]
    required: dict[Kind, int]
    ledger: Digest | None = None
    time_roots: tuple[Certificate, ...] = ()
    time_needed: frozenset[Kind] = frozenset()

    def signed_at(self, bundle: Bundle, kind: Kind, at: Instant | None) -> Instant | None:
        """When a bundle was signed at the latest: by its time stamp, else what the ledger says (`at`).

        UntrustedKeyError for a stamp where the policy names no root, and for none where it asks for one; else what
        `time_of` raises.
        """
        if not bundle.timestamp:
            if kind in self.time_needed:
                raise UntrustedKeyError(f"the {kind} has no time stamp, and the trust policy asks for one",
                                        hint="`ragassay sign --time-reply` adds one")  # fmt: skip
            return at
        if not self.time_roots:
            raise UntrustedKeyError(
                f"the {kind} has a time stamp, and the trust policy names no root for any",
                hint="name the authority's root: [time] roots = [...]",
            )
        return time_of(bundle.timestamp, bundle.signature, self.time_roots)

    def key(self, wanted: str, kind: Kind, at: Instant | None) -> Trusted:
        """The key with this id, if it may sign this kind and counts at `at` (None: nobody recorded when).

        Raises UntrustedKeyError.
        """
        found = self.keys.get(wanted)
        if found is None:
            raise UntrustedKeyError(
                f"key {wanted[:16]} is none that the trust policy names", hint="add its public key, if you trust it"
            )
        entry = found.entry
        if kind not in entry.may:
            raise UntrustedKeyError(f"{entry.name} may not sign a {kind}", hint="the trust policy says who may")
        self._check_time(entry, at)
        return found

    def _check_time(self, entry: KeyEntry, at: Instant | None) -> None:
        if entry.compromised:
            raise UntrustedKeyError(
                f"the key of {entry.name} is compromised: nothing that it ever signed counts", hint="sign again"
            )
        limits = (entry.valid_from, entry.valid_until, entry.revoked)
        if at is None:
            if any(limits):
                raise UntrustedKeyError(
                    f"the key of {entry.name} counts for a time only, and nobody recorded when this was signed",
                    hint="the ledger of the store says when; verify it with its store or in an exported file",
                )
            return
        if not valid_at(entry.valid_from, None, at):
            raise UntrustedKeyError(f"signed at {at}, before the key of {entry.name} was valid", hint="sign again")
        for limit, what in ((entry.valid_until, "expired"), (entry.revoked, "was revoked")):
            if not valid_at(None, limit, at):
                raise UntrustedKeyError(
                    f"signed at {at}, after the key of {entry.name} {what}", hint="sign again with a key that is valid"
                )


def read_trust(path: Path) -> Trust:
    """A trust policy. UsageError for one that names no key, asks for nothing, or for more signers than may sign."""
    text, value = read_toml(path, what="a trust policy", absent="`ragassay keys trust` writes one")
    if not value.get("key"):
        raise UsageError(
            "no key is named", file=str(path), field="key", hint="a trust policy without keys trusts nobody"
        )
    if not value.get("require"):
        raise UsageError("nothing is asked for", file=str(path), field="require",
                         hint="[require] names kinds of statements and how many sign each")  # fmt: skip
    try:
        found = parse_value(_File, without_dates(value))
    except RagassayError as error:
        hint = "docs/evidence.md says what a trust policy may say"
        line = line_of(text, error.field, error.message)
        raise UsageError(error.message, file=str(path), line=line, field=error.field, hint=hint) from None
    keys = _keys(found, path)
    required = _required(found, path)
    for kind, count in required.items():
        able = sum(kind in one.entry.may for one in keys.values())
        if able < count:
            raise UsageError(f"{count} must sign a {kind}, and {able} may", file=str(path), field=f"require.{kind}",
                             hint="name more keys, or ask for fewer")  # fmt: skip
    if found.time is None:
        return Trust(keys, required, found.ledger)
    roots = read_roots([path.parent / one for one in found.time.roots])
    return Trust(keys, required, found.ledger, roots, frozenset(found.time.needed))


def _keys(found: _File, path: Path) -> dict[str, Trusted]:
    keys: dict[str, Trusted] = {}
    names: set[str] = set()
    for number, entry in enumerate(found.key):
        public = read_public(path.parent / entry.file)
        identity = key_id(public)
        if identity in keys or entry.name in names:
            raise UsageError("a key, or its name, stands twice: one person would count as two", file=str(path),
                             field=f"key[{number}]", hint="name each signer once")  # fmt: skip
        keys[identity] = Trusted(entry, public)
        names.add(entry.name)
    return keys


def _required(found: _File, path: Path) -> dict[Kind, int]:
    for kind in found.require:
        if kind not in PREDICATES:
            raise UsageError(f"there is no statement {kind!r}", file=str(path), field="require",
                             hint=f"there is: {', '.join(PREDICATES)}")  # fmt: skip
    return cast(dict[Kind, int], found.require)
