"""A file of evidence holds what the run reaches and nothing else, its page says what the records say, and what was
erased or left out stays so on its way through several stores."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragassay.audit.archive import OBJECTS, PAGE, Manifest, Member, read_manifest, rewrite, unpack
from ragassay.cli import exit_code_of
from ragassay.errors import FormError, RagassayError
from ragassay.records.canonical import digest_bytes
from ragassay.records.protocol import Run
from ragassay.records.trace import Measurements
from ragassay.store import Store


def code(*words: str) -> int:
    return exit_code_of(list(words))


@pytest.fixture
def exported(project: Path) -> Path:
    assert code("export", "evidence.zip", "--scores", "good") == 0
    return project / "evidence.zip"


def written(exported: Path, change: Callable[[Manifest, dict[str, bytes]], dict[str, Any]]) -> Path:
    """The file again, in its one form, with its manifest and members changed to fit."""
    manifest = read_manifest(exported)
    with zipfile.ZipFile(exported) as opened:
        members = {one.filename: opened.read(one) for one in opened.infolist()}
    fields = {name: getattr(manifest, name) for name in Manifest.__struct_fields__} | change(manifest, members)
    out = io.BytesIO()
    rewrite(Manifest(**fields), members, out)
    path = exported.with_name("hostile.zip")
    path.write_bytes(out.getvalue())
    return path


def other_page(_: Manifest, members: dict[str, bytes]) -> dict[str, Any]:
    members[PAGE] = members[PAGE].replace(b"Decision: pass", b"Decision: fail")
    return {"page": digest_bytes(members[PAGE])}


def one_more(manifest: Manifest, members: dict[str, bytes]) -> dict[str, Any]:
    digest = digest_bytes(b"a letter")
    members[OBJECTS + digest[7:]] = b"a letter"
    objects = sorted([*manifest.objects, Member(digest=digest, size=8)], key=lambda one: one.digest)
    return {"objects": tuple(objects)}


def named(manifest: Manifest, name: str, kind: str = "run") -> dict[str, Any]:
    ref = type(manifest.refs[0])(name=name, digest=manifest.run, kind=kind)
    return {"refs": tuple(sorted([*manifest.refs, ref], key=lambda one: one.name))}


HOSTILE: dict[str, tuple[Callable[[Manifest, dict[str, bytes]], dict[str, Any]], str]] = {
    "a page that says another verdict": (other_page, "says something else than the records"),
    "an object that nothing names": (one_more, "nothing in it names it"),
    "an object behind a name of its own": (
        lambda one, members: one_more(one, members) | {"refs": tuple(sorted(
            [*one.refs, type(one.refs[0])(name="corpus/x", digest=digest_bytes(b"a letter"), kind="bytes")],
            key=lambda ref: ref.name))}, "has nothing to do with the run"),
    "a name below a name": (lambda one, _: named(one, "run/good/more"), "."),
    "left out twice": (
        lambda one, _: {"public": True, "left_out": (digest_bytes(b"x"), digest_bytes(b"x"))}, "stands twice"),
    "left out and there": (lambda one, _: {"public": True, "left_out": (one.run,)}, "or is there"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_not_what_the_run_reaches_is_refused_and_no_folder_is_left(name: str, exported: Path) -> None:
    change, words = HOSTILE[name]
    path = written(exported, change)
    around = {one.name for one in exported.parent.iterdir()}
    with pytest.raises(RagassayError, match=words) as found:
        unpack(path, exported.parent / "copy")
    assert isinstance(found.value, FormError) or name == "a name below a name"
    assert {one.name for one in exported.parent.iterdir()} == around


def test_the_page_of_another_version_is_not_held_against_this_one_and_that_is_said(
    exported: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(exported, lambda one, members: other_page(one, members) | {"ragassay_version": "99"})
    capsys.readouterr()
    assert code("import", str(path), "--store", "copy") == 0
    assert "nobody held that against the records" in capsys.readouterr().err
    assert code("import", str(exported), "--store", "own") == 0
    assert "nobody held" not in capsys.readouterr().err


def test_the_same_with_no_change_is_the_same_file(exported: Path) -> None:
    assert written(exported, lambda *_: {}).read_bytes() == exported.read_bytes()


def test_what_was_erased_stays_erased_elsewhere(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store.open(project / ".ragassay")
    run = store.get_record(Run, store.ref("run/good"))
    raw = next(one.raw for one in store.get_lines(Measurements, run.measurements) if one.raw is not None)
    assert code("store", "erase", raw, "--by", "Ann", "--reason", "asked to", "--key", "release.key") == 0
    trust = project / "trust.toml"
    trust.write_text(trust.read_text() + "erasure = 1\n")
    assert code("export", "evidence.zip", "--scores", "good") == 0
    shutil.rmtree(project / ".ragassay")
    assert code("import", "evidence.zip", "--store", "copy") == 0
    capsys.readouterr()
    assert code("verify", "good", "--store", "copy", "--trust", "trust.toml") == 0
    told = capsys.readouterr().out
    assert f"erased  {raw}" in told
    assert "erasure  signed by release.key" in told
    assert code("audit", "good", "--store", "copy") == 0
    assert code("store", "check", "--level", "deep", "--store", "copy") == 0
    assert code("export", "again.zip", "--scores", "good", "--store", "copy") == 0
    assert (project / "again.zip").read_bytes() == (project / "evidence.zip").read_bytes()


@pytest.mark.parametrize("name", ["scores/worse", "decision/good", "comparison/worse/good"])
def test_a_record_that_was_erased_stops_no_export_of_the_rest(name: str, project: Path) -> None:
    digest = Store.open(project / ".ragassay").ref(name)
    assert code("store", "erase", digest, "--by", "Ann", "--reason", "asked to") == 0
    assert code("export", "evidence.zip", "--scores", "good") == 0
    assert code("import", "evidence.zip", "--store", "copy") == 0
    assert code("verify", "good", "--store", "copy") == 0


def test_a_store_of_a_public_file_exports_a_public_file(project: Path) -> None:
    assert code("export", "public.zip", "--scores", "good", "--public") == 0
    assert code("import", "public.zip", "--store", "copy") == 0
    assert code("export", "again.zip", "--scores", "good", "--store", "copy") == 0
    assert (project / "again.zip").read_bytes() == (project / "public.zip").read_bytes()
    assert code("import", "again.zip", "--store", "second") == 0
    assert code("verify", "good", "--store", "second", "--public") == 0
    assert code("verify", "good", "--store", "second") == 5
