"""What stands in a store and is no file, such as a pipe on which a reader would wait for ever, is refused at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay.cli import exit_code_of
from ragassay.errors import IntegrityError, RagassayError, StoreError
from ragassay.store import Store, durable

PROGRAM = """
import sys
from pathlib import Path
from ragassay.errors import RagassayError
from ragassay.store import Store
try:
    store = Store.open(Path(sys.argv[1]))
    store.ledger.lines()
    list(store.get_raw_lines(store.ref("corpus/x")))
    store.get(store.ref("corpus/x"))
except RagassayError as error:
    print(error.message)
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.open(tmp_path / "store", create=True)
    digest = made.put_lines([{"a": 1}])
    made.set_ref("corpus/x", digest)
    made.ledger.record("sealed", {"protocol": digest}, "2026-08-01T00:00:00Z")  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize("what", ["store.json", "ledger.jsonl", "refs/corpus/x", "blob"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_no_reader_waits_or_reads_without_end(what: str, kind: str, store: Store) -> None:
    path = store.blob_path(store.ref("corpus/x")) if what == "blob" else store.path / what
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(store.path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert "a pipe or a device stands where a file should be" in done.stdout


def test_a_pipe_in_place_of_a_blob_is_damage(store: Store) -> None:
    path = store.blob_path(store.ref("corpus/x"))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(IntegrityError, match="is damaged: a pipe") as found:
        store.get(store.ref("corpus/x"))
    assert found.value.exit_code == 5
    assert found.value.hint
    assert exit_code_of(["store", "check", "--store", str(store.path)]) == 5


def test_a_folder_is_told_as_one(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        durable.read_file(tmp_path)
    (tmp_path / "file").write_bytes(b"x")
    assert durable.read_file(tmp_path / "file") == b"x"
    (tmp_path / "link").symlink_to("file")
    assert durable.read_file(tmp_path / "link") == b"x", "a link to the same bytes is as good: they are hashed"


def test_the_errors_have_a_way_on(store: Store) -> None:
    (store.path / "store.json").unlink()
    os.mkfifo(store.path / "store.json")
    with pytest.raises(StoreError) as found:
        Store.open(store.path)
    assert isinstance(found.value, RagassayError)
    assert found.value.hint == "take it away, and restore the file from a copy of the store"
