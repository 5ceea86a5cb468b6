"""`ragassay seal`: freeze the protocol, or check every byte that one reaches."""

from __future__ import annotations

from pathlib import Path

import msgspec

import ragassay.seal
from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.sign import sign_about
from ragassay.cli.workspace import get_ready, open_store, open_workspace
from ragassay.errors import UsageError
from ragassay.records.protocol import Protocol


def seal(
    protocol: str = "",
    *,
    check: bool = False,
    name: str | None = None,
    sign: Path | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Freeze subject, scoring and policy as one protocol, before anything is asked.

    Parameters
    ----------
    protocol
        With --check: which one, by name or digest; the newest if left out.
    check
        Freeze nothing; re-hash everything that a protocol reaches. Exit 5 if a byte has changed.
    name
        Name of the protocol (and of the run that follows it) instead of the one in the settings.
    sign
        Sign the protocol with this private key, before the run: a pre-registration (`ragassay keys new` makes one).
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    bundle = None
    if check and sign is not None:
        raise UsageError("--check changes nothing, --sign does", hint="one of the two")
    if check:
        opened = open_store(config, store)
        digest = opened.resolve(protocol or "latest", kind_prefix="protocol")
        ragassay.seal.verify(opened, digest)
        record = opened.get_record(Protocol, digest)
        next_step = "ragassay run"
    else:
        workspace = open_workspace(config, store)
        sealed = get_ready(workspace, name).sealed
        digest, record = sealed.digest, sealed.protocol
        if sign is not None:
            bundle = sign_about(workspace.store, "pre-registration", digest, sign)
        next_step = f"ragassay run --name {name}" if name else "ragassay run"
    fields = msgspec.to_builtins(record)
    if json:
        talk.data_json({"protocol": digest, "checked": check, "bundle": bundle, **fields})
    else:
        talk.data(f"protocol {digest}{'  every byte is as it was sealed' if check else ''}")
        for layer in ("subject", "scoring", "policy"):
            talk.data(f"  {layer:18} {fields[layer]}")
        for stated in ("corpus_hash", "retriever_version", "prompt_hash", "judge_model"):
            value = fields[stated]
            talk.data(f"  {stated:18} {value.get('value') or 'none: ' + value['absent']}")
        if bundle is not None:
            talk.data(f"  {'signed':18} {bundle}")
    talk.then(next_step, config, store)
