"""`ragassay sign`: a statement about a protocol, a score table or a decision, signed as a Sigstore bundle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.cli import talk
from ragassay.cli.files import replace_file, writing
from ragassay.cli.keys import PASSPHRASE
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.store import Store

if TYPE_CHECKING:
    from ragassay.seal.statements import Kind

KINDS: dict[str, Kind] = {"protocol": "pre-registration", "scores": "numbers", "decision": "verdict"}
"""First part of a name -> what is signed about it."""


def sign(
    name: str = "protocol/latest",
    *,
    key: Path,
    out: Path | None = None,
    time_query: Path | None = None,
    time_reply: Path | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Sign what the store holds: a protocol (before its run), the numbers of a run, or a decision.

    Parameters
    ----------
    name
        protocol/NAME, scores/NAME or decision/NAME; NAME may be `latest`.
    key
        The private key; RAGASSAY_KEY_PASSPHRASE unlocks it.
    out
        Also write the bundle to this file, for other tools.
    time_query
        Also write a request for trusted time (RFC 3161) over the signature to this file; send it to an authority.
    time_reply
        Put the authority's reply into the bundle, which is otherwise the same as before.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    what, _, rest = name.partition("/")
    if what not in KINDS or not rest:
        raise UsageError(f"{name!r} is not what is signed", hint="protocol/NAME, scores/NAME or decision/NAME")
    opened = open_store(config, store)
    about = opened.resolve(rest if rest == "latest" else name, kind_prefix=what)
    stamp = b"" if time_reply is None else read_reply(time_reply)
    bundle = sign_about(opened, KINDS[what], about, key, stamp)
    if time_query is not None:
        from ragassay.seal.bundle import decode
        from ragassay.seal.timestamps import request_over

        with writing(time_query):
            replace_file(time_query, [request_over(decode(opened.get(bundle)).signature)])
    if out is not None:
        with writing(out):
            replace_file(out, [opened.get(bundle)])
    if json:
        talk.data_json({"about": about, "kind": KINDS[what], "bundle": bundle})
    else:
        talk.data(f"{KINDS[what]} of {about}\nbundle {bundle}")
    talk.then("ragassay verify --trust trust.toml", config, store)


def read_reply(path: Path) -> bytes:
    """The bytes of a reply, which is never long."""
    from ragassay.seal.timestamps import MOST_BYTES

    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as cause:
        raise UsageError(f"cannot be read: {cause.strerror}", file=str(path), hint="name a file") from None


def sign_about(store: Store, kind: Kind, about: Digest, key: Path, timestamp: bytes = b"") -> Digest:
    """Sign, and write it in the ledger."""
    from ragassay.run.clock import SYSTEM_CLOCK
    from ragassay.seal.keys import read_private
    from ragassay.seal.signatures import ROLES
    from ragassay.seal.signatures import sign as sign_statement

    bundle = sign_statement(store, kind, about, read_private(key, os.environ.get(PASSPHRASE)), timestamp)
    store.ledger.record("signed", {"bundle": bundle, ROLES[kind]: about}, SYSTEM_CLOCK.now())
    return bundle
