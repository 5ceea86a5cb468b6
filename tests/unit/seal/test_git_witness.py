"""A ledger's head in a git repository: written once a line, read by git itself, and a rollback is found."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.audit.conftest import made_once, project

from ragassay.cli import exit_code_of
from ragassay.errors import LedgerError, UsageError
from ragassay.records.base import Instant
from ragassay.records.canonical import digest_of
from ragassay.seal.git_witness import check_git, reference, write_head
from ragassay.store import Store

__all__ = ["made_once", "project"]
AT = Instant("2026-08-01T00:00:00Z")
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "witness"
    folder.mkdir()
    git(folder, "init", "-q", "--bare")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.open(tmp_path / "store", create=True)
    act(made, "one")
    return made


def act(store: Store, word: str) -> None:
    store.ledger.record("sealed", {"protocol": digest_of(word)}, AT)


def test_git_shows_each_head_that_was_written(store: Store, repository: Path) -> None:
    first = write_head(repository, store.ledger.lines())
    assert write_head(repository, store.ledger.lines()) == first._replace(new=False)
    act(store, "two")
    second = write_head(repository, store.ledger.lines())
    assert git(repository, "rev-list", second.ref).split() == [second.commit, first.commit]
    told = json.loads(git(repository, "show", f"{second.ref}:head.json"))
    last = store.ledger.bytes().splitlines()[-1]
    printed = subprocess.run(["sha256sum"], input=last, capture_output=True, check=True).stdout.decode().split()[0]
    assert (told["number"], told["digest"]) == (2, f"sha256:{printed}")
    assert check_git(repository, store.ledger.lines()).number == 2
    act(store, "three")
    assert check_git(repository, store.ledger.lines()).number == 2


def test_a_ledger_that_was_rolled_back_or_begun_anew_is_found(store: Store, repository: Path, tmp_path: Path) -> None:
    whole = store.ledger.bytes()
    act(store, "two")
    write_head(repository, store.ledger.lines())
    store.ledger.path.write_bytes(whole)
    with pytest.raises(LedgerError, match="rolled back"):
        check_git(repository, store.ledger.lines())
    act(store, "another")
    for ask in (check_git, write_head):
        with pytest.raises(LedgerError, match="line 2 is another one"):
            ask(repository, store.ledger.lines())
    other = Store.open(tmp_path / "other", create=True)
    act(other, "one")
    with pytest.raises(LedgerError, match="has never seen this ledger"):
        check_git(repository, other.ledger.lines())


def test_both_rolled_back_together_are_not_seen(store: Store, repository: Path, tmp_path: Path) -> None:
    write_head(repository, store.ledger.lines())
    whole = store.ledger.bytes()
    shutil.copytree(repository, tmp_path / "kept")
    act(store, "two")
    write_head(repository, store.ledger.lines())
    store.ledger.path.write_bytes(whole)
    check_git(tmp_path / "kept", store.ledger.lines())  # docs/evidence.md says so


@pytest.mark.parametrize("data", ["", "{}", '{"ledger":"x","number":1,"digest":"y"}'])
def test_a_reference_that_somebody_wrote_by_hand(store: Store, repository: Path, data: str) -> None:
    ref = write_head(repository, store.ledger.lines()).ref
    blob = subprocess.run(["git", "-C", str(repository), "hash-object", "-w", "--stdin"], input=data, text=True,
                          capture_output=True, check=True).stdout.strip()  # fmt: skip
    tree = subprocess.run(["git", "-C", str(repository), "mktree"], input=f"100644 blob {blob}\thead.json\n", text=True,
                          capture_output=True, check=True).stdout.strip()  # fmt: skip
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    git(repository, "update-ref", ref, git(repository, *who, "commit-tree", tree, "-m", "x"))
    with pytest.raises(LedgerError, match="damaged"):
        check_git(repository, store.ledger.lines())


def test_no_repository_no_ledger_and_no_hook(store: Store, repository: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="git:"):
        write_head(tmp_path / "nowhere", store.ledger.lines())
    with pytest.raises(UsageError, match="no ledger"):
        write_head(repository, [])
    hook = repository / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    hook.chmod(0o755)
    write_head(repository, store.ledger.lines())
    assert not (tmp_path / "ran").exists()


def test_by_command(project: Path, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(["verify", "good", "--witness", str(repository)]) == 5
    assert exit_code_of(["store", "witness", str(repository)]) == 0
    capsys.readouterr()
    assert exit_code_of(["verify", "good", "--witness", str(repository)]) == 0
    assert "has seen the ledger up to line" in capsys.readouterr().out
    ledger = project / ".ragassay" / "ledger.jsonl"
    shutil.rmtree(project / "state")  # the witness of the user's state is gone as well
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    assert exit_code_of(["verify", "good"]) == 0
    assert exit_code_of(["verify", "good", "--witness", str(repository)]) == 5
    assert "rolled back" in capsys.readouterr().err
    assert reference(Store.open(project / ".ragassay").ledger.lines()[0].digest) in git(repository, "for-each-ref")
