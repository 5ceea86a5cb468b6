"""The last line of a ledger as a commit in a git repository that the user names, and back. Pushes nothing anywhere.

One reference a ledger, `refs/ragassay/<beginning of its founding line's digest>`; each commit holds `head.json` and
stands on the one before. Who keeps that repository elsewhere, or pushes the reference, has a witness that the owner of
the store cannot roll back with it; rolled back together nobody can tell.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from ragassay.errors import LedgerError, RecordError, UsageError
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import canonical_bytes, parse
from ragassay.records.document import Count
from ragassay.store.ledger import Head, Line, check_head

REFS = "refs/ragassay/"
FILE = "head.json"
TIMEOUT_S = 30.0


class Witness(Record, frozen=True, kw_only=True):
    """What `head.json` says."""

    ledger: Digest
    """Of the founding line."""
    number: Count
    digest: Digest


class Written(NamedTuple):
    """Where a head was written."""

    ref: str
    commit: str
    number: int
    new: bool
    """False: that line was the last one there already."""


def reference(founded: Digest) -> str:
    """Where a ledger's witness stands in every repository."""
    return REFS + founded.removeprefix("sha256:")[:32]


def write_head(repository: Path, lines: list[Line]) -> Written:
    """Add the last line of a ledger to its reference.

    LedgerError if the reference has seen a line that is not here: what was rolled back is not witnessed anew.
    UsageError if there is no ledger yet, or git refuses.
    """
    if not lines:
        raise UsageError("there is no ledger yet", hint="`ragassay seal` begins one")
    founded, last = lines[0].digest, lines[-1]
    ref = reference(founded)
    before = _known(repository, ref)
    if before is not None:
        check_git(repository, lines)
        if _head(repository, before).number == last.entry.number:
            return Written(ref, before, last.entry.number, new=False)
    told = canonical_bytes(Witness(ledger=founded, number=last.entry.number, digest=last.digest)) + b"\n"
    blob = _git(repository, "hash-object", "-w", "--stdin", data=told)
    tree = _git(repository, "mktree", data=f"100644 blob {blob}\t{FILE}\n".encode())
    message = f"ledger {founded}: line {last.entry.number}"
    parent = () if before is None else ("-p", before)
    commit = _git(repository, "commit-tree", tree, *parent, "-m", message)
    _git(repository, "update-ref", ref, commit, before or "0" * len(commit))
    return Written(ref, commit, last.entry.number, new=True)


def check_git(repository: Path, lines: list[Line]) -> Head:
    """What the repository has seen of this ledger; LedgerError if it has seen nothing, or a line that is not here."""
    if not lines:
        raise LedgerError("there is no ledger here", hint="it was taken away: restore it from a copy of the store")
    ref = reference(lines[0].digest)
    commit = _known(repository, ref)
    if commit is None:
        raise LedgerError(
            f"{repository} has never seen this ledger (no {ref})",
            hint="another ledger stands in its place, or `ragassay store witness` was never asked to write it there",
        )
    head = _head(repository, commit)
    if head.ledger != lines[0].digest:
        raise LedgerError(f"{ref} is about the ledger {head.ledger}, this one is {lines[0].digest}",
                          hint="somebody wrote it by hand")  # fmt: skip
    seen = Head(number=head.number, digest=head.digest)
    check_head(lines, seen)
    return seen


def _head(repository: Path, commit: str) -> Witness:
    data = _git(repository, "cat-file", "blob", f"{commit}:{FILE}").encode()
    try:
        return parse(Witness, data, file=f"{commit}:{FILE}")
    except RecordError as cause:
        raise LedgerError(f"the witness in git is damaged: {cause.message}", file=cause.file,
                          hint="`git log` of that reference shows who wrote it") from cause  # fmt: skip


def _known(repository: Path, ref: str) -> str | None:
    """The commit of a reference; None if the repository is one and has no such reference."""
    _git(repository, "rev-parse", "--git-dir")
    found = _git(repository, "for-each-ref", "--format=%(objectname)", ref)
    return found or None


def _around() -> dict[str, str]:
    """The environment without what would send git to another repository than the one that is named."""
    return {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}


def _git(repository: Path, *arguments: str, data: bytes = b"") -> str:
    """What git says; no hook runs, nothing is asked at the terminal, and the user's own name is not needed."""
    told = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "ragassay"), ("EMAIL", "ragassay@localhost"))}  # fmt: skip
    try:
        done = subprocess.run(  # noqa: S603  no shell; every argument is made here or is a digest of git's own
            ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-C", str(repository), *arguments],  # noqa: S607
            input=data,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
            env={**_around(), **told, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"},
        )
    except FileNotFoundError:
        raise UsageError("git is not installed", hint="install it, or leave the witness in git out") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git did not answer in {TIMEOUT_S:g} s", file=str(repository), hint="ask again") from None
    except subprocess.CalledProcessError as cause:
        said = (cause.stderr or b"").decode("utf-8", "replace").strip().splitlines()
        raise UsageError(
            f"git: {said[-1] if said else 'it refused'}", file=str(repository), hint="name a git repository"
        ) from None
    return done.stdout.decode("utf-8", "replace").strip()
