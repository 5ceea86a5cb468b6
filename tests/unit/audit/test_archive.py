"""A file of evidence goes out and comes back with every byte; any other file is refused, and nothing is written."""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragassay.audit.archive import read_manifest, unpack
from ragassay.cli import exit_code_of
from ragassay.errors import IntegrityError, RagassayError, UsageError
from ragassay.records.canonical import canonical_bytes
from ragassay.store import Store

CONFIG = ("--config", "ragassay.toml")


@pytest.fixture
def exported(project: Path) -> Path:
    assert exit_code_of(["export", "evidence.zip", "--scores", "good"]) == 0
    return project / "evidence.zip"


def test_out_and_back_with_verify_and_audit(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(["import", str(exported), "--store", "copy"]) == 0
    shutil.rmtree(exported.parent / ".ragassay")
    store = ("--store", "copy")
    assert exit_code_of(["verify", "good", "--trust", "trust.toml", *store]) == 0
    capsys.readouterr()
    assert exit_code_of(["audit", "good", "--json", *store]) == 0
    kinds = {one["kind"]: one["result"] for one in json.loads(capsys.readouterr().out)["checks"]}
    assert kinds == dict.fromkeys(("bytes", "responses", "scores", "comparison", "decision"), "equal")
    assert exit_code_of(["store", "check", *store]) == 0
    assert exit_code_of(["export", "again.zip", "--scores", "good", *store]) == 0
    assert (exported.parent / "again.zip").read_bytes() == exported.read_bytes()


def test_objects_are_what_sha256sum_says_and_unzip_reads_them(exported: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported) as archive:
        archive.extractall(tmp_path / "out")
    for path in (tmp_path / "out" / "objects").iterdir():
        printed = subprocess.run(["sha256sum", path], capture_output=True, check=True).stdout.decode()
        assert printed.split()[0] == path.name


def test_a_public_file_has_no_text_and_verifies(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(["export", "public.zip", "--scores", "good", "--public"]) == 0
    manifest = read_manifest(project / "public.zip")
    assert manifest.public
    assert manifest.left_out
    unpack(project / "public.zip", project / "public")
    texts = [b"The answer is", b"What is", b"word3"]
    store = Store.open(project / "public")
    for one in manifest.objects:
        data = store.get(one.digest)
        plain = b"\n".join(store.get_raw_lines(one.digest)) if data.startswith(b"\x28\xb5\x2f\xfd") else data
        assert not [text for text in texts if text in plain], one
    capsys.readouterr()
    assert exit_code_of(["verify", "good", "--store", "public"]) == 5  # texts are not there, and it says so
    assert "left out" in capsys.readouterr().err


def remade(data: bytes, change: Callable[[list[tuple[zipfile.ZipInfo, bytes]]], Any], **options: Any) -> bytes:
    """The archive written again by Python's zipfile, with its members changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(one, archive.read(one)) for one in archive.infolist()]
    change(members)
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = options.get("comment", b"")
        for info, content in members:
            archive.writestr(info, content, compress_type=options.get("compress", info.compress_type))
    return out.getvalue()


def info(name: str, **fields: Any) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    for key, value in fields.items():
        setattr(made, key, value)
    return made


def manifest_of(members: list[tuple[zipfile.ZipInfo, bytes]]) -> dict[str, Any]:
    return dict(json.loads(members[0][1]))


def with_manifest(members: list[tuple[zipfile.ZipInfo, bytes]], **changes: Any) -> None:
    members[0] = (members[0][0], canonical_bytes({**manifest_of(members), **changes}))


SYMLINK = {"external_attr": 0o120777 << 16, "create_system": 3}
CHANGES: dict[str, Callable[[list[tuple[zipfile.ZipInfo, bytes]]], Any]] = {
    "a path upwards": lambda one: one.append((info("../evil"), b"x")),
    "an absolute path": lambda one: one.append((info("/tmp/evil"), b"x")),
    "a drive": lambda one: one.append((info("C:\\evil"), b"x")),
    "a symbolic link": lambda one: one.append((info("link", **SYMLINK), b"/etc/passwd")),
    "an object as a link": lambda one: one.__setitem__(3, (info(one[3][0].filename, **SYMLINK), one[3][1])),
    "a device": lambda one: one.append((info("objects/CON"), b"x")),
    "a folder": lambda one: one.append((info("objects/"), b"")),
    "a file more": lambda one: one.append((info("objects/" + "0" * 64), b"")),
    "a file less": lambda one: one.pop(),
    "a member twice": lambda one: one.append(one[-1]),
    "a name in capitals": lambda one: one.append((info("MANIFEST.JSON"), one[0][1])),
    "another order": lambda one: one.reverse(),
    "the manifest last": lambda one: one.append(one.pop(0)),
    "another object's bytes": lambda one: one.__setitem__(-1, (one[-1][0], one[-2][1])),
    "a manifest with a key twice": lambda one: one.__setitem__(
        0, (one[0][0], b'{"format":"ragassay-evidence/1",' + one[0][1][1:])
    ),
    "a manifest with spaces": lambda one: one.__setitem__(0, (one[0][0], one[0][1].replace(b",", b", ", 1))),
    "a manifest that nests": lambda one: one.__setitem__(0, (one[0][0], b"[" * 10_000)),
    "a manifest with NaN": lambda one: one.__setitem__(0, (one[0][0], b'{"format":NaN}')),
    "another format": lambda one: with_manifest(one, format="ragassay-evidence/2"),
    "another run": lambda one: with_manifest(one, run="sha256:" + "0" * 64),
    "a name for nothing": lambda one: with_manifest(
        one, refs=[{"name": "run/x", "digest": "sha256:" + "0" * 64, "kind": "run"}]
    ),
    "a name that climbs": lambda one: with_manifest(
        one, refs=[{"name": "../../x", "digest": manifest_of(one)["run"], "kind": "run"}]
    ),
    "objects left out": lambda one: with_manifest(one, left_out=["sha256:" + "0" * 64]),
    "another size": lambda one: with_manifest(
        one, objects=[{**each, "size": each["size"] + 1} for each in manifest_of(one)["objects"]]
    ),
    "no objects": lambda one: with_manifest(one, objects=[]),
    "another ledger": lambda one: one.__setitem__(1, (one[1][0], one[1][1].replace(b"sealed", b"signed", 1))),
    "a date": lambda one: one.__setitem__(2, (info(one[2][0].filename, date_time=(2020, 1, 1, 0, 0, 0)), one[2][1])),
    "a comment of a member": lambda one: one.__setitem__(2, (info(one[2][0].filename, comment=b"hidden"), one[2][1])),
    "an extra field": lambda one: one.__setitem__(
        2, (info(one[2][0].filename, extra=b"\x99\x99\x04\x00abcd"), one[2][1])
    ),
}
BYTES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "no archive": lambda _: b"PK" * 500,
    "a pickle": lambda _: b"\x80\x04cos\nsystem\n",
    "bytes before": lambda data: b"#!/bin/sh\n" + data,
    "bytes behind": lambda data: data + b"x",
    "cut": lambda data: data[: len(data) // 2],
    "compressed": lambda data: remade(data, lambda _: None, compress=zipfile.ZIP_DEFLATED),
    "a comment": lambda data: remade(data, lambda _: None, comment=b"hidden"),
    "written by another tool": lambda data: remade(data, lambda _: None),
    "a bomb": lambda _: bomb(),
}


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b" " * 50_000_000)
    return out.getvalue()


def refused(path: Path, data: bytes) -> RagassayError:
    """The error, and that nothing was written but, at the most, a store without names."""
    path.write_bytes(data)
    target = path.parent / "target"
    around = {one.name for one in path.parent.iterdir()} | {"target"}
    with pytest.raises(RagassayError) as found:
        unpack(path, target)
    assert isinstance(found.value, IntegrityError | UsageError), found.value
    assert found.value.hint
    assert {one.name for one in path.parent.iterdir()} <= around
    assert not target.exists()
    return found.value


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", [*CHANGES, *BYTES])
def test_a_hostile_file_is_refused_and_nothing_is_written(exported: Path, tmp_path: Path, name: str) -> None:
    data = exported.read_bytes()
    made = remade(data, CHANGES[name]) if name in CHANGES else BYTES[name](data)
    folder = tmp_path / "in"
    folder.mkdir()
    assert refused(folder / "hostile.zip", made).exit_code == 5


def test_any_flipped_bit_is_refused(exported: Path, tmp_path: Path) -> None:
    data, dice = exported.read_bytes(), random.Random(11)
    folder = tmp_path / "in"
    folder.mkdir()
    for _ in range(150):
        changed = bytearray(data)
        at = dice.randrange(len(data) * 8)
        changed[at // 8] ^= 1 << at % 8
        refused(folder / "flipped.zip", bytes(changed))


def test_a_folder_that_is_there_is_not_touched(exported: Path) -> None:
    (exported.parent / "copy").mkdir()
    assert exit_code_of(["import", str(exported), "--store", "copy"]) == 2
    assert not list((exported.parent / "copy").iterdir())


def test_audit_without_a_network(exported: Path) -> None:
    """In a process of its own, in a network namespace that has no interface but loopback, down."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rn", "true"], check=False).returncode != 0:
        pytest.skip("this machine lets nobody make a network namespace")
    said = [sys.executable, "-m", "ragassay"]
    for words in (["import", str(exported), "--store", "copy"], ["audit", "good", "--store", "copy"]):
        done = subprocess.run(["unshare", "-rn", *said, *words], cwd=exported.parent, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
