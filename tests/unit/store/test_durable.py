"""Failures of the disk: each one fails the write that met it, with a way on, and loses nothing that was stored."""

from __future__ import annotations

import errno
import json
import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import IntegrityError, StoreError
from ragassay.records.base import Instant
from ragassay.store import Store, durable

CALLS = ("open", "write", "fsync", "fchmod", "close", "link", "replace", "unlink", "mkdir")


class Recorded:
    """The `os` module, with the calls that matter written down, and one of them failing if asked."""

    def __init__(self, fail: Callable[[str, int], int | None] = lambda name, count: None) -> None:
        self.calls: list[str] = []
        self.fail = fail
        self.names: dict[int, str] = {}

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*arguments: Any, **named: Any) -> Any:
            number = self.fail(name, sum(one.split()[0] == name for one in self.calls))
            self.calls.append(f"{name} {self.label(name, arguments)}")
            if number is not None:
                raise OSError(number, os.strerror(number))
            result = real(*arguments, **named)
            if name == "open":
                self.names[result] = self.calls[-1].split()[1]
            return result

        return call

    def label(self, name: str, arguments: tuple[Any, ...]) -> str:
        if isinstance(arguments[0], int):
            return self.names[arguments[0]]
        last = Path(arguments[1] if name in ("link", "replace") else arguments[0])
        return "temp" if last.parent.name == "tmp" else last.name[:12]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def record(monkeypatch: pytest.MonkeyPatch, *arguments: Any) -> Recorded:
    recorded = Recorded(*arguments)
    monkeypatch.setattr(durable, "os", recorded)
    return recorded


def test_the_order_of_a_put(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = record(monkeypatch)
    digest = store.put(b"hello")
    name = digest[7:19]
    assert [one for one in recorded.calls if not one.startswith(("open", "close"))] == [
        "write temp", "fsync temp", "fchmod temp", "mkdir 2c", "fsync sha256", f"link {name}", "fsync 2c",
        "unlink temp",
    ]  # fmt: skip


def test_the_order_of_a_ref(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = store.put(b"hello")
    recorded = record(monkeypatch)
    store.set_ref("run/demo", digest)
    assert [one for one in recorded.calls if not one.startswith(("open", "close"))] == [
        "mkdir run", "fsync refs", "write temp", "fsync temp", "fchmod temp", "replace demo", "fsync run",
    ]  # fmt: skip


def test_a_blob_that_another_writer_linked_is_pushed_by_us_too(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put(b"hello")
    recorded = record(monkeypatch)
    Store.open(store.path).put(b"hello")
    assert "fsync sha256" in recorded.calls
    assert recorded.calls[-2:] == ["fsync 2c", "close 2c"]


FAULTS = [
    (name, count)
    for name, counts in {"open": 6, "write": 2, "fsync": 6, "fchmod": 2, "link": 1, "replace": 1, "mkdir": 2}.items()
    for count in range(counts)
]


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("name, count", FAULTS)
def test_every_failed_call_fails_the_write_and_loses_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str, count: int, number: int
) -> None:
    before = store.put(b"before")
    store.set_ref("policy/before", before, kind="bytes")
    with monkeypatch.context() as patch:
        record(patch, lambda called, seen: number if (called, seen) == (name, count) else None)
        with pytest.raises(StoreError) as caught:
            store.set_ref("run/x", store.put(b"hello"), kind="bytes")
    assert caught.value.hint
    assert os.strerror(number) in caught.value.message
    assert store.get(before) == b"before"
    assert store.ref("policy/before") == before
    assert list((store.path / "tmp").iterdir()) == []
    assert store.check("deep").ok
    store.set_ref("run/x", store.put(b"hello"), kind="bytes")
    assert store.get(store.ref("run/x")) == b"hello"


def test_every_call_of_a_write_was_made_to_fail(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = record(monkeypatch)
    store.set_ref("run/x", store.put(b"hello"))
    made = [one.split()[0] for one in recorded.calls]
    assert {name: made.count(name) for name in made if name not in ("close", "unlink")} == {
        name: 1 + max(count for one, count in FAULTS if one == name) for name, _ in FAULTS
    }


def test_short_writes_are_continued(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Short:
        def __getattr__(self, name: str) -> Any:
            return getattr(os, name) if name != "write" else lambda fd, data: os.write(fd, data[:3])

    monkeypatch.setattr(durable, "os", Short())
    assert store.get(store.put(b"hello world")) == b"hello world"


def test_a_source_that_fails_leaves_nothing(store: Store) -> None:
    def broken() -> Iterator[dict[str, int]]:
        yield {"a": 1}
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.put_lines(broken())
    assert list((store.path / "tmp").iterdir()) == []
    assert store.check().blobs == 0


def test_hard_links_are_needed_and_the_hint_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    record(monkeypatch, lambda name, seen: errno.EPERM if name == "link" else None)
    with pytest.raises(StoreError, match="not permitted") as caught:
        store.put(b"x")
    assert "hard links" in caught.value.hint


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777])
def test_blobs_are_read_only_under_any_umask(tmp_path: Path, mask: int) -> None:
    if mask == 0o777 and os.geteuid() != 0:
        pytest.skip("only root can use folders without permissions")
    before = os.umask(mask)
    try:
        store = Store.open(tmp_path / "store", create=True)
        digest = store.put(b"hello")
        store.set_ref("run/x", digest)
    finally:
        os.umask(before)
    assert stat.S_IMODE(store.blob_path(digest).stat().st_mode) == 0o444
    assert stat.S_IMODE((store.path / "refs" / "run" / "x").stat().st_mode) == 0o644
    assert stat.S_IMODE((store.path / "blobs").stat().st_mode) & 0o022 == 0


LIMITED = """
import json, resource, sys
from ragassay.errors import StoreError
from ragassay.store import Store
store = Store.open(sys.argv[1])
kept = store.put(b"before")
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
try:
    store.put(bytes(1_000_000))
except StoreError as error:
    print(json.dumps([error.message, error.hint, store.put(b"small"), store.get(kept).decode()]))
"""


def test_a_limit_on_file_sizes(store: Store) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(store.path)], capture_output=True, text=True, check=True, timeout=60
    )
    message, hint, small, before = json.loads(done.stdout)
    assert "too large" in message
    assert "ulimit -f" in hint
    assert store.get(small) == b"small"
    assert before == "before"
    assert list((store.path / "tmp").iterdir()) == []
    assert store.check("deep").ok


def mounted(folder: Path, *options: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot mount a small file system here: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    mounted(folder, "-t", "tmpfs", "-o", "size=2m", "tmpfs")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(500_000))
    store = Store.open(small_disk / "store", create=True)
    kept = []
    numbers = iter(range(100))
    with pytest.raises(StoreError, match="No space left") as caught:
        kept.extend(store.put(random.Random(number).randbytes(100_000)) for number in numbers)
    assert "free some space" in caught.value.hint
    assert len(kept) > 5
    with pytest.raises(StoreError, match="No space left"):
        store.put_lines({"noise": random.Random(number).randbytes(500).hex()} for number in range(3000))
    assert list((store.path / "tmp").iterdir()) == []
    report = store.check("deep")
    assert report.ok
    assert report.blobs == len(kept)
    (small_disk / "filler").unlink()
    kept.append(store.put(random.Random(100).randbytes(100_000)))
    assert [store.get(digest) for digest in kept[:-1]] == [
        random.Random(number).randbytes(100_000) for number in range(len(kept) - 1)
    ]


def test_a_read_only_disk_can_be_read_and_checked(small_disk: Path) -> None:
    store = Store.open(small_disk / "store", create=True)
    digest = store.put(b"hello")
    store.set_ref("run/x", digest, kind="bytes")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    store = Store.open(small_disk / "store", create=True)
    assert store.get(store.resolve("latest")) == b"hello"
    assert store.put(b"hello") == digest, "what is there need not be written"
    for write in (lambda: store.put(b"new"), lambda: store.set_ref("run/y", digest), lambda: store.put_lines([])):
        with pytest.raises(StoreError, match="Read-only") as caught:
            write()
        assert "read-only" in caught.value.hint
    report = store.check("deep")
    assert report.ok
    assert report.index == "not writable"


def test_a_damaged_twin_is_not_taken_for_the_blob(store: Store) -> None:
    digest = store.put(b"hello")
    path = store.blob_path(digest)
    path.chmod(0o644)
    path.write_bytes(b"")
    for write in (lambda: store.put(b"hello"), lambda: Store.open(store.path).put(b"hello")):
        with pytest.raises(IntegrityError, match="damaged"):
            write()


@pytest.mark.parametrize("place", ["blobs/sha256/2c", "refs/run"])
def test_a_link_in_place_of_a_folder_takes_nothing_out_of_the_store(place: str, store: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    kept = store.put(b"before")
    (store.path / place).symlink_to(outside, target_is_directory=True)
    with pytest.raises(StoreError, match="a link to another folder") as caught:
        store.set_ref("run/demo", kept) if place.startswith("refs") else store.put(b"hello")
    assert (
        caught.value.hint == "a file, or a link, stands where a folder should be: take it away, or choose another name"
    )
    assert not list(outside.iterdir())


def test_a_link_in_place_of_the_ledger_is_not_written_through(store: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"")
    store.ledger.path.unlink(missing_ok=True)
    store.ledger.path.symlink_to(outside)
    with pytest.raises(StoreError) as caught:
        store.ledger.record("sealed", {"protocol": store.put(b"hello")}, Instant("2026-08-01T00:00:00Z"))
    assert caught.value.hint == "a link stands where a file should be: put the file itself there"
    assert outside.read_bytes() == b""


def test_a_store_behind_a_link_is_a_store(store: Store, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(store.path, target_is_directory=True)
    digest = Store.open(tmp_path / "link").put(b"hello")
    assert store.get(digest) == b"hello"
