import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragassay.corpus import read, read_folder, read_jsonl
from ragassay.corpus.folder import first_heading
from ragassay.errors import InputError, RagassayError


def write(folder: Path, *lines: str | bytes | dict) -> Path:
    path = folder / "documents.jsonl"
    whole = [json.dumps(one) if isinstance(one, dict) else one for one in lines]
    path.write_bytes(b"\n".join(one if isinstance(one, bytes) else one.encode() for one in whole))
    return path


def test_the_least_document_and_the_fullest(tmp_path: Path) -> None:
    full = {
        "documentId": "b", "version": "2", "text": "", "title": "T", "url": "http://x", "tenants": ["t"],
        "acl": {"roles": ["r"]}, "validFrom": "2026-01-01", "valid_until": "2026-02-01T02:00:00+02:00",
        "supersedes": {"documentId": "b", "version": "1"},
        "metadata": {"n": 2**53, "none": None, "l": [2**60, None], "ok": 1},
    }  # fmt: skip
    least, fullest = read_jsonl(write(tmp_path, {"document_id": "a", "text": "hello"}, "", full))
    assert (least.version, least.tenants, least.parser, least.normaliser) == ("1", None, "jsonl/1", "none/1")
    assert (fullest.text, fullest.version, fullest.tenants) == ("", "2", ("t",))
    assert (fullest.valid_from, fullest.valid_until) == ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z")
    assert fullest.metadata == {"n": "9007199254740992", "l": ["1152921504606846976"], "ok": 1}
    assert fullest.supersedes is not None
    assert fullest.supersedes.version == "1"


def test_default_tenants_fill_only_what_is_absent(tmp_path: Path) -> None:
    path = write(tmp_path, {"document_id": "a", "text": ""}, {"document_id": "b", "text": "", "tenants": []})
    found = read_jsonl(path, default_tenants=["*"])
    assert [one.tenants for one in found] == [("*",), ()]
    assert found.default_tenants == ("*",)


def test_text_that_is_not_unicode_is_kept_lossy_with_its_raw_bytes(tmp_path: Path) -> None:
    bad = b'{"document_id": "a", "text": "caf\xe9"}'
    lone = rb'{"document_id": "b", "text": "x\ud83d y"}'
    pair = rb'{"document_id": "c", "text": "\ud83d\ude00"}'
    found = read_jsonl(write(tmp_path, bad, lone, pair))
    assert [(one.text, one.lossy) for one in found] == [("caf\ufffd", True), ("x\ufffd y", True), ("😀", False)]
    assert [found.raws[one.raw] for one in found[:2] if one.raw] == [bad, lone]
    assert found[2].raw is None


@pytest.mark.parametrize(
    "lines, line, field, message, hint",
    [
        (['{"document_id": "a", "text": "", "tenant": ["x"]}'], 1, "", "unknown field 'tenant'", "'tenants'"),
        (['{"text": ""}'], 1, "", "missing required field `document_id`", ""),
        (['{"document_id": "a"}'], 1, "", "missing required field `text`", ""),
        (['{"document_id": "a", "text": null}'], 1, "text", "null", "leave the key out"),
        (['{"document_id": "a", "text": "", "valid_from": "soon"}'], 1, "valid_from", "not a date", "2026-08-01"),
        (['{"document_id": "a", "text": "", "validFrom": 3}'], 1, "valid_from", "expected `str", ""),
        (['{"document_id": "a", "documentId": "b", "text": ""}'], 1, "document_id", "two spellings", "keep one"),
        (['{"document_id": "a", "text": "", "text": ""}'], 1, "text", "twice", "keep one"),
        (["[]"], 1, "", "not a JSON object", "one document a line"),
        (["{"], 1, "", "not JSON", "double quotes"),
        (['{"document_id": "a", "text": ""}', "", '{"document_id": "a", "text": "b"}'], 3, "document_id", "line 1 and",
         ""),
        (['{"document_id": "a", "text": "", "metadata": {"a": {"b": 1}}}'], 1, "metadata", "expected", ""),
        ([""], None, "", "no document", "one line"),
    ],
)  # fmt: skip
def test_errors_name_the_place_and_the_way_out(
    tmp_path: Path, lines: list[str], line: int | None, field: str, message: str, hint: str
) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(InputError) as caught:
        read_jsonl(path)
    error = caught.value
    assert (error.file, error.line) == (str(path), line)
    assert error.field.startswith(field)
    assert message in error.message
    assert hint in error.hint


def test_a_missing_file_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_jsonl(tmp_path / "none.jsonl")


def test_a_line_over_the_cap_is_refused_before_it_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragassay.corpus.lines.MAX_BYTES", 50)
    path = write(tmp_path, {"document_id": "a", "text": ""}, {"document_id": "b", "text": "x" * 50})
    with pytest.raises(InputError, match="more than 50 bytes") as caught:
        read_jsonl(path)
    assert caught.value.line == 2


@given(st.binary(max_size=60))
@example(b'"}')
@settings(max_examples=200, deadline=None)
def test_no_bytes_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("f") / "d.jsonl"
    path.write_bytes(b'{"document_id": "a", "text": "' + data)
    try:
        (read,) = read_jsonl(path)
    except RagassayError:
        return
    assert read.document_id == "a"


@given(st.text(), st.text(min_size=1), st.one_of(st.none(), st.lists(st.text())))
@settings(deadline=None)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, document_id: str, tenants: list[str] | None
) -> None:
    path = tmp_path_factory.mktemp("f") / "d.jsonl"
    line = {"document_id": document_id, "text": text} | ({} if tenants is None else {"tenants": tenants})
    path.write_text(json.dumps(line))
    (found,) = read_jsonl(path)
    expected = None if tenants is None else tuple(tenants)
    assert (found.document_id, found.text, found.tenants, found.lossy) == (document_id, text, expected, False)


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "sub" / ".git").mkdir(parents=True)
    (tmp_path / "b.md").write_bytes(b"\xef\xbb\xbf---\r\n# Title here #\r\n")
    (tmp_path / "sub" / "a.TXT").write_bytes(b"caf\xe9\r\n")
    (tmp_path / "sub" / ".git" / "x.md").write_text("hidden")
    (tmp_path / "image.png").write_bytes(b"\0")
    found = read_folder(tmp_path, default_tenants=["*"])
    assert [(one.document_id, one.title, one.text, one.parser, one.normaliser) for one in found] == [
        ("b.md", "Title here", "---\r\n# Title here #\r\n", "markdown/1", "bom/1"),
        ("sub/a.TXT", None, "caf\ufffd\r\n", "text/1", "none/1"),
    ]
    assert found[1].lossy
    assert list(found.raws.values()) == [b"caf\xe9\r\n"]
    assert found[0].tenants == ("*",)


def test_folder_refusals(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    with pytest.raises(InputError, match=r"no \.txt or \.md or"):
        read_folder(inside)
    with pytest.raises(InputError, match="not a folder"):
        read_folder(tmp_path / "none")
    (inside / "a.md").write_bytes(b"a\0b")
    with pytest.raises(InputError, match="NUL"):
        read_folder(inside)
    (inside / "a.md").write_text("a")
    (inside / "again.md").symlink_to("a.md")
    assert [one.document_id for one in read_folder(inside)] == ["a.md", "again.md"]
    (tmp_path / "secret.md").write_text("secret")
    (inside / "link.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(InputError, match="leads out of the folder"):
        read_folder(inside)
    (inside / "link.md").unlink()
    (inside / "up").symlink_to(tmp_path)
    with pytest.raises(InputError, match="leads out of the folder"):
        read_folder(inside)


@pytest.mark.parametrize("name", ["loop.md", "loop"])
def test_a_loop_of_links_is_an_error_that_names_the_link(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / name).symlink_to(tmp_path / f"{name}2")
    (tmp_path / f"{name}2").symlink_to(tmp_path / name)
    with pytest.raises(InputError) as caught:
        read_folder(tmp_path)
    assert "leads nowhere" in caught.value.message or "cannot be read" in caught.value.message
    assert name in caught.value.file
    assert caught.value.hint


def test_a_folder_linked_to_itself_is_not_read_for_ever(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "again").symlink_to(tmp_path)
    assert [one.document_id for one in read_folder(tmp_path)] == ["a.md"]


def test_a_pipe_among_the_documents_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(InputError, match="not a regular file") as caught:
        read_folder(tmp_path)
    assert caught.value.file.endswith("pipe.md")


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "d/" * 3000])
def test_a_path_that_cannot_be_is_an_input_error(path: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(path)


@pytest.mark.parametrize(
    "data, what, hint",
    [
        (gzip.compress(b'{"document_id": "a", "text": ""}', mtime=0)[:20], "gzip", "again"),
        ('{"document_id": "a", "text": ""}'.encode("utf-16"), "UTF-16", "UTF-8"),
        ('{"document_id": "a", "text": ""}'.encode("utf-32"), "UTF-32", "UTF-8"),
        (b"\x28\xb5\x2f\xfd\0", "zstd", "unzstd"),
        (b"PK\x03\x04rest", "zip", "unpack"),
    ],
)
def test_a_file_of_another_kind_says_what_it_is(tmp_path: Path, data: bytes, what: str, hint: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.file == str(path)
    assert caught.value.line == (None if what == "gzip" else 1)
    assert what in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "text, title",
    [
        ("# A\n", "A"), ("x\n\n### B ##\n", "B"), ("```\n# no\n```\n# yes", "yes"), ("Set\n---\n", "Set"),
        ("---\n", None), ("#no\n", None), ("- a\n---\n", None), ("#\n", None), ("", None), ("~~~\n# no\n", None),
        ("# C\r\nx", "C"),
    ],
)  # fmt: skip
def test_first_heading(text: str, title: str | None) -> None:
    assert first_heading(text) == title
