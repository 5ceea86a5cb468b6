"""A model of a power cut: after any call, what was not pushed to the disk may be gone, and the store is still sound.

Every prefix of the recorded calls is replayed. What survives: a file's bytes if it was fsynced (else it is empty; of
the ledger, which is appended to, any part of what was written since), and of each folder either the entries of its last
fsync or those of the moment, folder by folder in many combinations.
"""
# ruff: noqa: PTH102, PTH105, PTH108

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from ragassay.records.base import Instant
from ragassay.records.canonical import digest_bytes, parse
from ragassay.store import Store, durable, ledger
from ragassay.store.absence import erase

AT = Instant("2026-08-01T00:00:00Z")
Tree = dict[Path, dict[str, "int | Path"]]  # folder -> name -> number of a file, or a folder


class Disk:
    """The `os` module, with every change written down as the disk would see it."""

    def __init__(self) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.open_files: dict[int, tuple[Path, int | None]] = {}
        self.known: dict[Path, int] = {}
        self.files = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        descriptor = os.open(path, flags, mode)
        number = None
        if flags & os.O_CREAT and Path(path) in self.known:
            number = self.known[Path(path)]
        elif flags & os.O_CREAT:
            self.files += 1
            number = self.known[Path(path)] = self.files
            self.log.append(("enter", Path(path), number))
        self.open_files[descriptor] = (Path(path), number)
        return descriptor

    def write(self, descriptor: int, data: bytes) -> int:
        done = os.write(descriptor, data)
        self.log.append(("write", self.open_files[descriptor][1], bytes(data[:done])))
        return done

    def ftruncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)
        self.log.append(("cut", self.open_files[descriptor][1], size))

    def fsync(self, descriptor: int) -> None:
        os.fsync(descriptor)
        path, number = self.open_files[descriptor]
        self.log.append(("push folder", path) if number is None else ("push file", number))

    def link(self, source: Path, target: Path) -> None:
        os.link(source, target)
        self.log.append(("link", source, target))

    def replace(self, source: Path, target: Path) -> None:
        os.replace(source, target)
        self.known.pop(target, None)
        self.log.append(("rename", source, target))

    def unlink(self, path: Path) -> None:
        os.unlink(path)
        self.log.append(("leave", path))

    def mkdir(self, path: Path, mode: int) -> None:
        os.mkdir(path, mode)
        self.log.append(("enter", Path(path), Path(path)))


def replay(log: list[tuple[Any, ...]]) -> tuple[Tree, Tree, dict[int, bytes], dict[int, bytes]]:
    """(entries of the moment, entries on the disk, bytes of the moment, bytes on the disk)."""
    now: Tree = {}
    pushed: Tree = {}
    data: dict[int, bytes] = {}
    kept: dict[int, bytes] = {}
    for what, *about in log:
        if what == "enter":
            now.setdefault(about[0].parent, {})[about[0].name] = about[1]
        elif what == "write":
            data[about[0]] = data.get(about[0], b"") + about[1]
        elif what == "cut":
            data[about[0]] = data.get(about[0], b"")[: about[1]]
        elif what == "push file":
            kept[about[0]] = data.get(about[0], b"")
        elif what == "push folder":
            pushed[about[0]] = dict(now.get(about[0], {}))
        elif what in ("link", "rename"):
            source, target = about
            entry = now[source.parent][source.name]
            now.setdefault(target.parent, {})[target.name] = entry
            if what == "rename":
                del now[source.parent][source.name]
        elif what == "leave":
            del now[about[0].parent][about[0].name]
    return now, pushed, data, kept


def survivors(tree: Tree, top: Path, kept: dict[int, bytes]) -> dict[Path, bytes]:
    found: dict[Path, bytes] = {}
    for name, entry in tree.get(top, {}).items():
        if isinstance(entry, Path):
            found |= survivors(tree, entry, kept)
        else:
            found[top / name] = kept.get(entry, b"")
    return found


def blobs_of(files: dict[Path, bytes]) -> dict[str, bytes]:
    return {f"sha256:{path.name}": data for path, data in files.items() if "blobs" in path.parts}


def test_after_a_power_cut_nothing_is_half_there_and_nothing_promised_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk()
    monkeypatch.setattr(durable, "os", disk)
    monkeypatch.setattr(ledger, "os", disk)
    state = tmp_path / "state"
    state.mkdir()
    disk.log += [("enter", state, state), ("push folder", tmp_path)]
    store = Store.open(tmp_path / "store", create=True, witness=state)
    disk.log.append(("promise", "store", ""))
    for number in range(3):
        digest = store.put(f"blob {number}".encode())
        disk.log.append(("promise", "blob", digest))
        store.set_ref("run/one" if number else "run/zero", digest)
        disk.log.append(("promise", "ref", "run/one" if number else "run/zero", digest))
        entry = store.ledger.record("ran", {"run": digest}, AT)
        disk.log.append(("promise", "line", entry.number))
    disk.log.append(("promise", "blob", store.put_lines({"line": one} for one in range(100))))
    disk.log.append(("promise", "blob", store.put(b"blob 0")))
    with (store.path / ledger.LEDGER).open("ab") as torn:
        torn.write(b'{"act":')  # as a writer that was killed leaves it; the next one takes it away
    disk.log.append(("write", disk.known[store.path / ledger.LEDGER], b'{"act":'))
    gone = store.put(b"to be erased")
    disk.log += [("promise", "blob", gone), ("promise", "going", gone)]
    erase(store, [gone], by="Ada", reason="asked to", at=AT)
    disk.log.append(("promise", "gone", gone))
    source = random.Random(1)
    for end in range(len(disk.log) + 1):
        log = disk.log[:end]
        now, pushed, data, kept = replay([one for one in log if one[0] != "promise"])
        book = disk.known.get(store.path / ledger.LEDGER, -1)
        folders = sorted(now.keys() | pushed.keys())
        choices = [[False] * len(folders), [True] * len(folders)]
        choices += [[source.random() < 0.5 for _ in folders] for _ in range(12)]
        for choice in choices:
            tree = {
                folder: (now if keep else pushed).get(folder, {}) for folder, keep in zip(folders, choice, strict=True)
            }
            left = dict(kept)
            if book in data:  # what was appended since the last push may be there in part
                old, new = kept.get(book, b""), data[book]
                whole = new if new.startswith(old) else old
                left[book] = whole[: source.randint(min(len(old), len(whole)), len(whole))]
            files = survivors(tree, tmp_path, left)
            promised = [one[1:] for one in log if one[0] == "promise"]
            check_one_cut(files, promised, tmp_path)
            check_ledger(files, promised, tmp_path)


def check_ledger(files: dict[Path, bytes], promised: list[tuple[Any, ...]], top: Path) -> None:
    """Every acknowledged line is there, nothing but a torn end is wrong, the witness is never ahead, and what is gone
    is told to be gone."""
    data = files.get(top / "store" / ledger.LEDGER, b"")
    lines = ledger.read_chain(data[: data.rfind(b"\n") + 1])
    last = max((one[1] for one in promised if one[0] == "line"), default=-1)
    assert len(lines) > last, "an act that was acknowledged is in the ledger"
    for path, seen in files.items():
        if path.parent == top / "state" and path.suffix == ".json" and seen:
            ledger.check_head(lines, parse(ledger.Head, seen))
    blobs = blobs_of(files)
    for what, digest in [(one[0], one[1]) for one in promised if one[0] in ("going", "gone")]:
        told = [one.entry.objects for one in lines if one.entry.act == "erased"]
        if digest not in blobs:
            assert [one["object"] for one in told] == [digest], "nothing is gone without a word"
            assert told[0]["absence"] in blobs
        if what == "gone":
            assert digest not in blobs, "what was told to be gone is gone"


def check_one_cut(files: dict[Path, bytes], promised: list[tuple[Any, ...]], top: Path) -> None:
    blobs = blobs_of(files)
    for digest, data in blobs.items():
        assert digest_bytes(data) == digest, "a blob with its final name is whole"
    refs = {
        path.relative_to(top / "store" / "refs").as_posix(): data
        for path, data in files.items()
        if "refs" in path.parts
    }
    for data in refs.values():
        assert json.loads(data)["digest"] in blobs, "a ref leads to a whole blob"
    if header := files.get(top / "store" / "store.json"):
        assert json.loads(header)["format"] == "ragassay-store/1"
    last: dict[str, str] = {}
    going = {about[0] for what, *about in promised if what == "going"}
    for what, *about in promised:
        if what == "store":
            assert files[top / "store" / "store.json"]
        elif what == "blob":
            assert about[0] in blobs or about[0] in going, "a blob that was promised is there"
        elif what == "ref":
            last[about[0]] = about[1]
    for name in last:
        assert name in refs, "a ref that was promised is there"


def test_the_model_finds_a_missing_push(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the fsync of files, the same cuts leave an empty blob under a final name."""
    disk = Disk()
    monkeypatch.setattr(durable, "os", disk)
    Store.open(tmp_path / "store", create=True).put(b"hello")
    now, _, _, kept = replay([one for one in disk.log if one[0] != "push file"])
    found = blobs_of(survivors(now, tmp_path, kept))
    assert list(found.values()) == [b""]


def test_the_model_finds_a_ledger_that_is_not_pushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk()
    monkeypatch.setattr(durable, "os", disk)
    monkeypatch.setattr(ledger, "os", disk)
    store = Store.open(tmp_path / "store", create=True)
    store.ledger.record("ran", {"run": digest_bytes(b"")}, AT)
    book = disk.known[store.path / ledger.LEDGER]
    now, _, _, kept = replay([one for one in disk.log if one != ("push file", book)])
    with pytest.raises(AssertionError, match="an act that was acknowledged"):
        check_ledger(survivors(now, tmp_path, kept), [("line", 1)], tmp_path)
