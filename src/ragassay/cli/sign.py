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
    bundle = sign_about(opened, KINDS[what], about, key)
    if out is not None:
        with writing(out):
            replace_file(out, [opened.get(bundle)])
    if json:
        talk.data_json({"about": about, "kind": KINDS[what], "bundle": bundle})
    else:
        talk.data(f"{KINDS[what]} of {about}\nbundle {bundle}")
    talk.then("ragassay verify --trust trust.toml", config, store)


def sign_about(store: Store, kind: Kind, about: Digest, key: Path) -> Digest:
    """Sign, and write it in the ledger."""
    from ragassay.run.clock import SYSTEM_CLOCK
    from ragassay.seal.keys import read_private
    from ragassay.seal.signatures import ROLES
    from ragassay.seal.signatures import sign as sign_statement

    bundle = sign_statement(store, kind, about, read_private(key, os.environ.get(PASSPHRASE)))
    store.ledger.record("signed", {"bundle": bundle, ROLES[kind]: about}, SYSTEM_CLOCK.now())
    return bundle
