"""The store's calls: what goes in comes out, under the digest that any other tool computes."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import IntegrityError, RecordError, StoreError
from ragassay.records.document import Document
from ragassay.records.policy import Rule
from ragassay.records.protocol import Policy
from ragassay.store import Ref, Store
from ragassay.store.lines import unpack

RULE = Rule(measure="recall@20", at_least=0.8)
HELLO = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"  # FIPS 180-4 of b"hello"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store.open(tmp_path_factory.mktemp("kept") / "store", create=True)


def test_a_blob_has_the_published_digest_and_lies_where_sha256sum_can_check_it(store: Store) -> None:
    assert store.put(b"hello") == HELLO
    path = store.path / "blobs" / "sha256" / "2c" / HELLO[7:]
    assert path.read_bytes() == b"hello"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    if shutil.which("sha256sum"):
        said = subprocess.run(["sha256sum", str(path)], capture_output=True, text=True, check=True).stdout
        assert said.split()[0] == path.name


@given(st.binary(max_size=3000))
def test_what_goes_in_comes_out(kept: Store, data: bytes) -> None:
    digest = kept.put(data)
    assert digest == "sha256:" + hashlib.sha256(data).hexdigest()
    assert kept.get(digest) == data
    assert kept.put(data) == digest


@given(st.lists(st.dictionaries(st.text(max_size=5), st.integers(-1000, 1000) | st.text(max_size=20), max_size=4)))
def test_lines_come_back_in_order(kept: Store, objects: list[dict[str, int | str]]) -> None:
    assert list(kept.get_lines(dict, kept.put_lines(objects))) == objects


def test_nothing_is_left_behind_in_tmp(store: Store) -> None:
    store.put(b"a")
    store.put_lines([{"a": 1}])
    store.set_ref("run/x", store.put(b"b"))
    assert list((store.path / "tmp").iterdir()) == []


def test_records(store: Store) -> None:
    digest = store.put_record(Policy(name="p", rules=(RULE,)))
    assert store.get(digest) == b'{"name":"p","rules":[{"at_least":0.8,"measure":"recall@20"}]}'
    assert store.get_record(Policy, digest) == Policy(name="p", rules=(RULE,))
    with pytest.raises(RecordError) as caught:
        store.get_record(Document, digest)
    assert digest in caught.value.file


def test_lines_are_canonical_json_under_zstd_that_other_tools_read(store: Store) -> None:
    digest = store.put_lines([Policy(name="é"), {"b": 1, "a": 2.0}])
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(store.get(digest))
    assert plain == '{"name":"é"}\n{"a":2,"b":1}\n'.encode()
    assert store.put_lines(iter([Policy(name="é"), {"a": 2, "b": 1}])) == digest
    assert list(store.get_lines(Policy, store.put_lines([]))) == []


def test_a_bad_line_is_named_by_its_number(store: Store) -> None:
    digest = store.put_lines([{"name": "p"}, {"nam": "p"}])
    with pytest.raises(RecordError, match="unknown field 'nam'") as caught:
        list(store.get_lines(Policy, digest))
    assert (caught.value.file, caught.value.line) == (digest, 2)
    assert "name" in caught.value.hint
    twice = store.put(zstandard.ZstdCompressor().compress(b'{"a":1,"a":2}\n'))
    with pytest.raises(RecordError, match="twice"):
        list(store.get_lines(dict, twice))
    number = store.put(zstandard.ZstdCompressor().compress(b"3\n"))
    with pytest.raises(RecordError, match="object"):
        list(store.get_lines(dict, number))


def test_a_line_that_unpacks_to_too_much_is_refused_before_it_fills_the_memory() -> None:
    bomb = zstandard.ZstdCompressor(level=19).compress(b"a" * 50_000_000)
    assert len(bomb) < 10_000
    with pytest.raises(IntegrityError, match="more than 1000000 bytes"):
        list(unpack(bomb, name="bomb", most=1_000_000))
    with pytest.raises(IntegrityError, match="more than 3 bytes"):
        list(unpack(zstandard.ZstdCompressor().compress(b"abcd\n"), name="x", most=3))
    assert list(unpack(zstandard.ZstdCompressor().compress(b"abc\n\n"), name="x", most=3)) == [b"abc", b""]


def test_what_is_not_lines_is_refused(store: Store) -> None:
    with pytest.raises(IntegrityError, match="not zstd"):
        list(store.get_lines(dict, store.put(b"plain text")))
    cut = zstandard.ZstdCompressor().compress(b'{"a":1}\n{"a"')
    with pytest.raises(IntegrityError, match="middle of a line"):
        list(store.get_lines(dict, store.put(cut)))


def test_a_frame_that_was_cut_is_refused(store: Store) -> None:
    whole = zstandard.ZstdCompressor().compress(b"".join(b'{"a":%d}\n' % one for one in range(200_000)))
    with pytest.raises(IntegrityError):
        list(store.get_lines(dict, store.put(whole[: len(whole) // 2])))
    with pytest.raises(IntegrityError):
        list(store.get_lines(dict, store.put(whole[:-3])))


def test_missing_and_damaged_blobs_are_integrity_errors_with_a_way_on(store: Store) -> None:
    with pytest.raises(IntegrityError, match="missing") as caught:
        store.get("sha256:" + "0" * 64)
    assert "restore" in caught.value.hint
    digest = store.put(b"hello")
    path = store.blob_path(digest)
    path.chmod(0o644)
    path.write_bytes(b"hallo")
    with pytest.raises(IntegrityError, match="damaged"):
        store.get(digest)
    with pytest.raises(IntegrityError, match="damaged"):
        store.put(b"hello")  # same size, other bytes: never trusted as already there
    assert path.read_bytes() == b"hallo", "evidence is never overwritten"


@pytest.mark.parametrize("text", ["", "sha256:", "sha256:" + "A" * 64, "sha256:../../../etc/passwd", "x" * 64])
def test_what_is_no_digest_is_refused(store: Store, text: str) -> None:
    with pytest.raises(StoreError, match="not a digest"):
        store.get(text)
    with pytest.raises(StoreError, match="not a digest"):
        store.journal_path(text)


def test_refs(store: Store) -> None:
    one, two = store.put(b"1"), store.put(b"2")
    store.set_ref("run/demo", one, kind="run")
    store.set_ref("run/other", two)
    store.set_ref("scores/a/b", two, kind=Policy)
    store.set_ref("run/demo", two, kind="run")
    assert store.ref("run/demo") == two
    assert store.refs("run/") == [
        Ref(name="run/demo", digest=two, kind="run"),
        Ref(name="run/other", digest=two, kind="run"),
    ]
    assert [(ref.name, ref.kind) for ref in store.refs()][2] == ("scores/a/b", "policy")
    assert (store.path / "refs" / "run" / "demo").read_bytes() == b'{"digest":"%s","kind":"run"}' % two.encode()
    with pytest.raises(StoreError) as caught:
        store.ref("run/dmeo")
    assert caught.value.hint == "did you mean run/demo?"


BAD_NAMES = [
    "demo", "", "/", "run/", "/run/x", "run//x", "run/..", "../run/x", "run/../../x", "run/.hidden", ".run/x",
    "run/a b",
    "run/a\nb", "run/a\x00b", "run/ü", "run\\x", "run/" + "a" * 201, "run/x/.", "~/x", "run/x\n",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_could_leave_the_folder_or_hide_are_refused(store: Store, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be a name"):
        store.set_ref(name, store.put(b"x"))
    with pytest.raises(StoreError, match="cannot be a name"):
        store.ref(name)


@given(st.text(max_size=30))
def test_no_name_leads_out_of_the_refs_folder(kept: Store, text: str) -> None:
    digest = kept.put(b"x")
    try:
        kept.set_ref(f"run/{text}", digest)
    except StoreError:
        return
    top = (kept.path / "refs" / "run").resolve()
    assert (top / text).resolve().is_relative_to(top)
    assert kept.ref(f"run/{text}") == digest


def test_a_ref_to_nothing_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="not stored"):
        store.set_ref("run/x", "sha256:" + "0" * 64)
    assert store.refs() == []


def test_a_name_cannot_be_a_file_and_a_folder(store: Store) -> None:
    digest = store.put(b"x")
    store.set_ref("run/a", digest)
    with pytest.raises(StoreError) as caught:
        store.set_ref("run/a/b", digest)
    assert caught.value.hint
    store.set_ref("run/c/d", digest)
    with pytest.raises(StoreError):
        store.set_ref("run/c", digest)
    with pytest.raises(StoreError):
        store.ref("run/c")
    assert [one.name for one in store.refs()] == ["run/a", "run/c/d"]


def test_resolve(store: Store) -> None:
    runs = [store.put(str(number).encode()) for number in range(40)]
    store.set_ref("run/first", runs[0])
    store.set_ref("run/second", runs[1])
    os.utime(store.path / "refs" / "run" / "first", ns=(0, 2_000_000_000))
    os.utime(store.path / "refs" / "run" / "second", ns=(0, 1_000_000_000))
    assert store.resolve("latest") == runs[0]
    assert store.resolve("second") == store.resolve("run/second") == runs[1]
    assert store.resolve(runs[7]) == runs[7]
    assert store.resolve(runs[7][:30]) == store.resolve(runs[7][7:30]) == runs[7]
    for text in ("third", "sha256:" + "0" * 64, "0000000000", "scores/x", "../x"):
        with pytest.raises(StoreError) as caught:
            store.resolve(text)
        assert caught.value.hint
    with pytest.raises(StoreError, match="this store holds no scores yet"):
        store.resolve("latest", "scores")


def test_an_ambiguous_beginning_is_refused_and_named_runs_come_first(store: Store) -> None:
    shard = store.path / "blobs" / "sha256" / "ab"
    shard.mkdir()
    twins = ["abcd" + "0" * 60, "abcd" + "1" * 60]
    for name in twins:
        (shard / name).write_bytes(b"")
    with pytest.raises(StoreError, match="2 digests begin with abcd") as caught:
        store.resolve("abcd")
    assert "abcd000000000000, abcd111111111111" in caught.value.hint
    store.set_ref("run/x", f"sha256:{twins[1]}")
    assert store.resolve("abcd") == f"sha256:{twins[1]}"


def test_open_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a store"):
        Store.open(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        Store.open(tmp_path / "file")
    with pytest.raises(StoreError):
        Store.open(tmp_path / "file", create=True)
    with pytest.raises(StoreError, match=r"other things \(file\)"):
        Store.open(tmp_path, create=True)
    store = Store.open(tmp_path / "new" / "deep", create=True)
    assert Store.open(str(store.path), create=True).put(b"hello") == HELLO
    for text, message in [
        ('{"format":"ragassay-store/9","gc":"none/1"}', "ragassay-store/9"),
        ('{"format":"ragassay-store/1","gc":"prune/7"}', "prune/7"),
        ("[]", "format"),
        ("{", "damaged"),
    ]:
        (store.path / "store.json").chmod(0o644)
        (store.path / "store.json").write_text(text)
        with pytest.raises(StoreError, match=message) as caught:
            Store.open(store.path)
        assert caught.value.hint


def test_a_half_made_store_is_finished(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    (store.path / "store.json").unlink()
    (store.path / "journals").rmdir()
    with pytest.raises(StoreError, match="not a store"):
        Store.open(store.path)
    assert Store.open(store.path, create=True).check().ok
    assert (store.path / "journals").is_dir()


def test_a_journal_belongs_to_a_subject(store: Store) -> None:
    assert store.journal_path(HELLO).parent == store.path / "journals"
    assert store.journal_path(HELLO).parent.is_dir()
    assert HELLO[7:] in store.journal_path(HELLO).name


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "d/" * 3000])
@pytest.mark.parametrize("create", [True, False])
def test_a_path_that_cannot_be_is_a_store_error(tmp_path: Path, name: str, create: bool) -> None:
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path / name, create=create)
    assert caught.value.hint
    assert caught.value.file


@pytest.mark.parametrize("closed", ["refs", "refs/run", "blobs/sha256", "tmp", "."])
def test_a_folder_that_may_not_be_read_is_an_error_and_never_an_empty_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    store = Store.open(tmp_path / "s", create=True)
    store.set_ref("run/a", store.put(b"x"), kind="bytes")
    real = os.scandir

    def scandir(path: str | Path) -> Any:
        if Path(path) == store.path / closed:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(StoreError, match="Permission denied") as caught:
        store.check(level="deep")
    assert caught.value.hint
    if closed.startswith("refs"):
        with pytest.raises(StoreError, match="Permission denied"):
            store.refs()


def test_many_blobs_at_once_are_the_same_as_one_by_one(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    first = store.put(b"there before")
    pieces = [b"there before", b"", *(str(number).encode() for number in range(1500)), b"7"]
    store.put_all(iter(pieces))
    for piece in pieces:
        digest = f"sha256:{hashlib.sha256(piece).hexdigest()}"
        assert store.get(digest) == piece
        assert store.blob_path(digest).stat().st_mode & 0o777 == 0o444
    assert store.get(first) == b"there before"
    assert not list((tmp_path / "store" / "tmp").iterdir())
    store.blob_path(first).chmod(0o644)
    store.blob_path(first).write_bytes(b"damaged")
    with pytest.raises(IntegrityError):
        store.put_all([b"there before"])
