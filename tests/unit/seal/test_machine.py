"""What the envelope says of the machine, against what git and the interpreter say themselves."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragassay.records.canonical import canonical_bytes, parse
from ragassay.records.protocol import Envelope, Stated
from ragassay.seal import describe_machine
from ragassay.seal import machine as room
from ragassay.seal.machine import code_revision, installed_packages

AT = "2026-08-01T00:00:00Z"


def git(folder: Path, *arguments: str) -> str:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    settings = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", "-C", str(folder), *settings, *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "code.py").write_text("x = 1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def test_a_clean_and_a_dirty_folder(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    assert code_revision(repository) == (Stated(value=head), False)
    (repository / "code.py").write_text("x = 2\n")
    assert code_revision(repository) == (Stated(value=head), True)
    git(repository, "checkout", "-q", "code.py")
    assert code_revision(repository) == (Stated(value=head), False)
    (repository / "new.py").write_text("")
    assert code_revision(repository) == (Stated(value=head), True)
    inner = repository / "inner"
    inner.mkdir()
    assert code_revision(inner) == (Stated(value=head), True)


def test_why_there_is_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    if shutil.which("git") is not None:
        assert code_revision(tmp_path) == (Stated(absent="not in a git repository"), None)
        git(tmp_path, "init", "-q")
        assert code_revision(tmp_path) == (Stated(absent="git names no revision here"), None)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert code_revision(tmp_path) == (Stated(absent="git is not installed"), None)


def test_a_git_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "git"
    slow.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(30)\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(room, "GIT_TIMEOUT_S", 0.2)
    assert code_revision(tmp_path) == (Stated(absent="git did not answer in 0.2 s"), None)


def test_a_hostile_repository_runs_nothing(repository: Path) -> None:
    marker = repository.parent / "was-run"
    program = repository / "monitor"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(program))
    code_revision(repository)
    assert not marker.exists()


def test_the_packages_are_those_that_importlib_finds() -> None:
    found = {one.name.lower(): one.version for one in installed_packages()}
    assert list(found) == sorted(found)
    for name in ("msgspec", "numpy", "ragassay"):
        assert found[name] == importlib.metadata.version(name)


def test_the_envelope(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_clock() -> float:
        raise AssertionError("a clock was read")

    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(time, "time", no_clock)
    found = describe_machine(started_at=AT, clock="a fixed one", concurrency=4, resumed=2, folder=tmp_path)
    assert (found.started_at, found.finished_at, found.clock) == (AT, None, "a fixed one")
    assert (found.concurrency, found.resumed, found.hash_seed) == (4, 2, "7")
    assert found.cpu_count == os.cpu_count()
    assert found.python.endswith(".".join(map(str, sys.version_info[:3])))
    assert found.ragassay_version == importlib.metadata.version("ragassay")
    assert found.code_revision.absent
    assert parse(Envelope, canonical_bytes(found)) == found
    said = canonical_bytes(found).decode()
    assert str(tmp_path) not in said
    assert os.uname().nodename not in said or len(os.uname().nodename) < 4
