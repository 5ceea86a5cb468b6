"""Blobs of lines too large to be held in memory: read piece by piece, hashed before and while they are read."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pytest

from ragassay.errors import AbsentError, IntegrityError
from ragassay.records.canonical import canonical_bytes
from ragassay.store import Store
from ragassay.store.blobs import WHOLE
from ragassay.store.unwritten import Unwritten

AT = "2026-08-01T00:00:00Z"


def large(store: Store, rows: int = 6000) -> str:
    """A blob of lines that do not get smaller by packing."""
    dice = random.Random(7)
    digest = store.put_lines({"row": one, "text": dice.randbytes(200).hex()} for one in range(rows))
    return digest


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def test_a_large_blob_has_the_lines_that_were_put_in_and_is_not_held_in_memory(store: Store) -> None:
    digest = large(store, 40_000)
    size = store.blob_path(digest).stat().st_size
    assert size > 8 * WHOLE
    assert all(one["row"] == number for number, one in enumerate(store.get_lines(dict, digest)))
    tracemalloc.start()
    count = sum(1 for _ in store.get_raw_lines(digest))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 40_000
    assert peak < size / 2


def test_a_changed_bit_is_found_before_the_first_line(store: Store) -> None:
    path = store.blob_path(digest := large(store))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)
    with pytest.raises(IntegrityError, match="is damaged"):
        store.get_raw_lines(digest)


def test_what_is_changed_while_it_is_read_is_found_before_the_last_line(store: Store, tmp_path: Path) -> None:
    path = store.blob_path(digest := large(store))
    other = Store.open(tmp_path / "other", create=True)
    forged = other.put_lines({"row": one, "text": "00" * 200} for one in range(6000))
    reading = store.get_raw_lines(digest)
    path.chmod(0o644)
    path.write_bytes(other.get(forged))
    got = []
    with pytest.raises(IntegrityError, match="changed while it was read"):
        got += list(reading)
    assert len(got) < 6000


def test_missing_and_erased_ones_are_told(store: Store) -> None:
    from ragassay.store.absence import erase

    digest = large(store)
    reading = store.get_raw_lines(digest)
    erase(store, [digest], by="a", reason="b", at=AT)  # type: ignore[arg-type,list-item]
    with pytest.raises(AbsentError):
        store.get_raw_lines(digest)
    with pytest.raises(IntegrityError, match="missing"):
        next(reading)


def test_what_is_not_written_is_kept_aside_and_not_twice(store: Store) -> None:
    digest = large(store)
    scratch = Unwritten.over(store.path)
    assert large(scratch) == digest
    assert not scratch._aside
    new = large(scratch, 6001)
    assert new in scratch
    assert new not in store
    one, other = scratch.get_raw_lines(new), scratch.get_raw_lines(new)
    both = list(zip(one, other, strict=True))
    assert len(both) == 6001
    assert all(a == b for a, b in both)
    assert list(scratch.get_lines(dict, digest)) == list(store.get_lines(dict, digest))
    assert canonical_bytes(next(scratch.get_lines(dict, new))) == both[0][0]
