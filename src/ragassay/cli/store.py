"""`ragassay store`: re-hash everything, list names, print one object, erase one."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Literal

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, read_settings
from ragassay.cli.workspace import open_store
from ragassay.errors import ExitCode, StoreError, UsageError
from ragassay.records.retention import WHATS
from ragassay.records.text import many

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
"""How the bytes of a table of JSON lines begin."""


def check(
    *,
    level: Literal["quick", "full", "deep"] = "deep",
    public: bool = False,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> int:
    """Name each damaged, missing or foreign object; exit 5 if there is any. Deletes nothing.

    Parameters
    ----------
    level
        quick: presence and size; full: re-hash every object; deep: follow every reference as well.
    public
        The store was made of a public file: what was left out of that is not missing.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    found = open_store(config, store).check(level=level, public=public)
    if json:
        talk.data_json(found.to_json())
    else:
        talk.data(
            f"{many(found.blobs, 'object')}, {many(found.bytes, 'byte')}, {many(found.refs, 'name')}, "
            f"checked {found.level}"
        )
        kinds = {
            "damaged": found.damaged, "missing": found.missing, "foreign": found.foreign, "on purpose": found.absent,
        }  # fmt: skip
        for what, findings in kinds.items():
            for one in findings:
                named = f" (named by {', '.join(one.named_by)})" if one.named_by else ""
                talk.data(talk.plain(f"{what}: {one.object}: {one.detail}{named}"))
        talk.data("all as it was stored" if found.ok else "NOT as it was stored")
    talk.then(
        "ragassay store refs" if found.ok else "restore the objects named above from a copy, then ragassay store check",
        config,
        store,
    )
    return int(ExitCode.PASS if found.ok else ExitCode.INTEGRITY)


def refs(prefix: str = "", *, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """List the names in the store and what they stand for.

    Parameters
    ----------
    prefix
        Only names that begin with this, for example `run/`.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    found = open_store(config, store).refs(prefix)
    if json:
        talk.data_json([{"name": one.name, "kind": one.kind, "digest": one.digest} for one in found])
    else:
        for one in found:
            talk.data(f"{one.name:40} {one.digest}")
    talk.then("ragassay store show NAME", config, store)


def show(name: str, *, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """Print one object of the store: a record as JSON, a table as JSON lines, anything else as its bytes.

    Parameters
    ----------
    name
        A name such as `run/latest`, a digest, or the beginning of one.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Records are JSON in any case; this makes other bytes an error.
    """
    opened = open_store(config, store)
    digest = opened.resolve(name, kind_prefix=name.split("/", maxsplit=1)[0])
    data = opened.get(digest)
    if data.startswith(ZSTD_MAGIC):
        for line in opened.get_raw_lines(digest):
            talk.data(talk.json_text(line.decode()))
        return
    try:
        talk.data_json(json_module.loads(data))
    except ValueError:
        if json:
            raise StoreError(
                f"{digest} is no record: {many(len(data), 'byte')}", hint="without --json they are written as they are"
            ) from None
        if sys.stdout.isatty():
            talk.data(talk.plain(data.decode("utf-8", "replace")))
        else:
            sys.stdout.buffer.write(data)


def history(
    name: str | None = None, *, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False
) -> None:
    """What took the place of what, newest first, with who and why: verdicts, calibrations, reviews, edited labels.

    Nothing that was superseded is gone: `ragassay store show DIGEST` prints it.

    Parameters
    ----------
    name
        A name such as `benchmark/demo`, or a digest: how it came to stand there. All changes if left out.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    import msgspec

    from ragassay.store.superseding import history as back
    from ragassay.store.superseding import supersessions

    opened = open_store(config, store)
    if name is None:
        found = supersessions(opened)[::-1]
    else:
        found = back(opened, opened.resolve(name, kind_prefix=name.split("/", maxsplit=1)[0]))
    if json:
        talk.data_json([msgspec.to_builtins(one) for one in found])
    else:
        for one in found:
            talk.data(talk.plain(f"{one.at}  {one.kind} {one.new} in place of {one.old}, by {one.by}: {one.reason}"))
        if not found:
            talk.data("nothing was superseded")
    talk.then("ragassay store show DIGEST", config, store)


def erase(
    digest: str,
    *,
    by: str,
    reason: str,
    key: Path | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Take one object away for good and leave a tombstone: from then on it counts as erased, not as broken.

    What stands on it, a score for example, keeps its digest and can no longer be made again. There is no way back.
    Journals of finished jobs and caches may hold the same texts and go too; jobs that are not finished are named.

    Parameters
    ----------
    digest
        Which object: the whole digest.
    by
        Who erases it.
    reason
        Why.
    key
        Sign the tombstone with this private key.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    from ragassay.cli.sign import sign_about
    from ragassay.records.base import Digest
    from ragassay.records.canonical import is_digest
    from ragassay.run.clock import SYSTEM_CLOCK
    from ragassay.run.forgetting import forget
    from ragassay.store.absence import erase as erase_object

    if not is_digest(digest):
        raise StoreError(
            f"{digest!r} is no whole digest", hint="sha256: and 64 hexadecimal digits; there is no way back"
        )
    opened = open_store(config, store)
    tombstone = erase_object(opened, [Digest(digest)], by=by, reason=reason, at=SYSTEM_CLOCK.now())
    gone = forget(opened)
    bundle = None if key is None else sign_about(opened, "erasure", tombstone, key)
    talk.say(f"{many(gone.journals, 'journal')} and {many(gone.caches, 'cache')} taken away too")
    for name in gone.unfinished:
        talk.say(f"journals/{name} is of a job that is not finished, and may hold it: finish the job and erase again")
    if json:
        talk.data_json({
            "erased": digest, "tombstone": tombstone, "bundle": bundle, "journals": gone.journals,
            "caches": gone.caches, "unfinished": list(gone.unfinished),
        })  # fmt: skip
    else:
        talk.data(f"erased {digest}\ntombstone {tombstone}" + (f"\nbundle {bundle}" if bundle else ""))
    talk.then("ragassay store check", config, store)


def witness(repository: Path, *, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """Write the last line of the ledger as a commit in a git repository; `ragassay verify --witness` compares.

    The reference is refs/ragassay/LEDGER. Push it to where others keep it: a store and a repository that are rolled
    back together tell nobody. Exit 5 if the repository has seen a line that is not here.

    Parameters
    ----------
    repository
        A git repository, bare or not, that is there.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    from ragassay.seal.git_witness import write_head

    made = write_head(repository, open_store(config, store).ledger.lines())
    if json:
        talk.data_json(made._asdict())
    else:
        talk.data(talk.plain(f"line {made.number} of the ledger: {made.ref} {made.commit}"))
        if not made.new:
            talk.data("nothing new: it stood there already")
    talk.then(f"git -C {repository} push REMOTE {made.ref}", None, None)


def retain(
    *,
    dry_run: bool = False,
    yes: bool = False,
    by: str = "",
    held: bool = False,
    key: Path | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Take away what is older than [retention] of the settings says, and leave a tombstone for each kind of it.

    Kinds are raw responses, texts of what was retrieved, and traces with answers; days count from the end of a run.
    What a run has that is younger, or that a decision stands on, stays. Journals of finished jobs and caches go too.

    Parameters
    ----------
    dry_run
        Only say what would go.
    yes
        Do it. There is no way back.
    by
        Who does it; needed with --yes.
    held
        Also what decisions stand on.
    key
        Sign the tombstones with this private key.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    from ragassay.cli.sign import sign_about
    from ragassay.run.clock import SYSTEM_CLOCK
    from ragassay.run.forgetting import forget
    from ragassay.store.absence import erase as erase_objects
    from ragassay.store.retention import due

    keep = read_settings(config).retention
    if dry_run == yes:
        raise UsageError("nothing was done", hint="--dry-run says what would go, --yes does it")
    if yes and not by.strip():
        raise UsageError("an erasure has an author", field="--by", hint="--by NAME")
    if not any(keep.of(one) is not None for one in WHATS):
        raise UsageError("nothing has a term", file=str(config), field="retention", hint="[retention] raw = 90")
    opened, now = open_store(config, store), SYSTEM_CLOCK.now()
    found = due(opened, keep, now, held=held)
    made: dict[str, dict[str, object]] = {}
    for what, objects in found.objects.items():
        made[what] = {"objects": list(objects)}
        if yes:
            told = f"[retention] {what} = {keep.of(what)} days"
            tombstone = erase_objects(opened, objects, by=by, reason=told, at=now)
            bundle = None if key is None else sign_about(opened, "erasure", tombstone, key)
            made[what] |= {"tombstone": tombstone, "bundle": bundle}
    if yes and found.objects:
        gone = forget(opened)
        talk.say(f"{many(gone.journals, 'journal')} and {many(gone.caches, 'cache')} taken away too")
    if json:
        talk.data_json({"erased": yes, "due": made, "held": list(found.held)})
    else:
        for what, objects in found.objects.items():
            talk.data(f"{what}: {many(len(objects), 'object')} {'erased' if yes else 'would be erased'}")
        if not found.objects:
            talk.data("nothing is due")
    if found.held:
        decided = many(len(found.held), "older run stays", "older runs stay")
        talk.say(f"{decided}: a decision stands on what they hold; --held takes it away too")
    talk.then("ragassay store retain --yes --by NAME" if dry_run else "ragassay verify", config, store)
