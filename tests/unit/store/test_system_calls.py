"""What the kernel was asked for, in which order: strace on a process that stores, names and writes the ledger."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from ragassay.store import Store

CALLS = "fsync,fdatasync,link,linkat,rename,renameat,renameat2,mkdir,mkdirat,write,ftruncate"
WRITER = """
import sys
from ragassay.store import Store
store = Store.open(sys.argv[1], create=True)
digest = store.put(b"hello")
lines = store.put_lines({"n": one} for one in range(1000))
store.set_ref("policy/one", digest, kind="bytes")
store.set_ref("policy/two", lines, kind="bytes")
store.ledger.record("sealed", {"protocol": digest}, "2026-08-01T00:00:00Z")
print(digest, lines)
"""


class Call(NamedTuple):
    name: str
    paths: tuple[str, ...]


def traced(folder: Path) -> tuple[list[Call], Store]:
    if shutil.which("strace") is None:
        if os.environ.get("RAGASSAY_REQUIRE_ALL"):
            pytest.fail("strace is not installed: `apt-get install strace`")
        pytest.skip("strace is not installed: `apt-get install strace`")
    log, root = folder / "trace", folder / "store"
    words = ["strace", "-f", "-y", "-s", "0", "-o", str(log), "-e", f"trace={CALLS}"]
    done = subprocess.run(
        [*words, sys.executable, "-c", WRITER, str(root)], capture_output=True, text=True, check=False, timeout=120
    )
    if "ptrace" in done.stderr and done.returncode:
        pytest.skip(f"this machine lets nobody trace: {done.stderr.strip()[:200]}")
    assert done.returncode == 0, done.stderr
    calls = []
    for line in log.read_text().splitlines():
        found = re.match(r"\d+ +(\w+)\((.*)\) += 0|\d+ +(\w+)\((.*)\) += [1-9]\d*", line)
        if found is not None and str(root) in line:
            name, arguments = found[1] or found[3], found[2] or found[4]
            paths = re.findall(r'"([^"]*)"|\d+<([^>]*)>', arguments)
            calls.append(Call(name, tuple(one or other for one, other in paths if str(root) in (one or other))))
    return calls, Store.open(root)


def at(calls: list[Call], names: set[str], path: Path, start: int = 0) -> int:
    """Where one of these calls is about a path, from `start` on; it must be there."""
    for number in range(start, len(calls)):
        if calls[number].name in names and str(path) in calls[number].paths:
            return number
    raise AssertionError(f"no {names} of {path} from call {start} on: {calls[start:]}")


LINK, RENAME, PUSH = {"link", "linkat"}, {"rename", "renameat", "renameat2"}, {"fsync", "fdatasync"}


def test_bytes_before_their_name_the_folder_before_a_ref_and_all_before_the_ledger(tmp_path: Path) -> None:
    calls, store = traced(tmp_path)
    refs = {one.name: one.digest for one in store.refs()}
    assert set(refs) == {"policy/one", "policy/two"}
    ledger = at(calls, {"write"}, store.path / "ledger.jsonl")
    for name, digest in refs.items():
        final = store.blob_path(digest)
        link = at(calls, LINK, final)
        (temporary,) = [one for one in calls[link].paths if one != str(final)]
        written = at(calls, {"write"}, Path(temporary))
        pushed = at(calls, PUSH, Path(temporary), written)
        assert all(calls[one].paths[0] != temporary or calls[one].name != "write" for one in range(pushed, link))
        shard = at(calls, PUSH, final.parent, link)
        assert written < pushed < link < shard
        made = at(calls, {"mkdir", "mkdirat"}, final.parent)
        assert made < at(calls, PUSH, final.parent.parent, made) < link, "the new shard's own entry is pushed"
        ref = store.path / "refs" / name
        renamed = at(calls, RENAME, ref)
        (temporary,) = [one for one in calls[renamed].paths if one != str(ref)]
        assert shard < at(calls, PUSH, Path(temporary)) < renamed
        assert renamed < at(calls, PUSH, ref.parent, renamed) < ledger
    assert at(calls, PUSH, store.path / "ledger.jsonl", ledger) > ledger
