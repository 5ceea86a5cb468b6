"""Where documents come from: stated by settings, data set, document or page; the bytes that were read, by digest."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay import corpus
from ragassay.corpus.told import told_by
from ragassay.errors import InputError, RecordError
from ragassay.records.canonical import digest_text
from ragassay.records.provenance import Provenance, Transformation
from ragassay.store import Store


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_a_document_of_a_line_names_file_line_and_digest(tmp_path: Path) -> None:
    lines = [b'{"document_id": "a", "text": "A."}', b"", b'{"document_id": "b", "text": "B."}']
    file = tmp_path / "docs.jsonl"
    file.write_bytes(b"\r\n".join(lines))
    found = corpus.read(file)
    assert [(one.source.file, one.source.line, one.source.digest) for one in found if one.source] == [
        ("docs.jsonl", 1, sha256(lines[0])), ("docs.jsonl", 3, sha256(lines[2])),
    ]  # fmt: skip
    (source,) = found.sources
    assert (source.file, source.digest, source.size, source.documents) == (
        "docs.jsonl", sha256(file.read_bytes()), file.stat().st_size, 2,
    )  # fmt: skip


def test_a_document_of_a_file_has_the_digest_of_the_file(tmp_path: Path) -> None:
    for name, data in (("a.md", b"# A\n"), ("sub/b.txt", b"\xef\xbb\xbfB")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    found = corpus.read(tmp_path)
    assert [(one.source.file, one.source.line, one.source.digest) for one in found if one.source] == [
        ("a.md", None, sha256(b"# A\n")), ("sub/b.txt", None, sha256(b"\xef\xbb\xbfB")),
    ]  # fmt: skip
    read, normalised = found[1].transformations()
    assert (read.kind, read.name, read.before, read.after) == ("parse", "text/1", sha256(b"\xef\xbb\xbfB"), None)
    assert (normalised.kind, normalised.name, normalised.after) == ("normalise", "bom/1", digest_text("B"))


def test_a_packed_file_is_recorded_as_it_lies_there(tmp_path: Path) -> None:
    line = b'{"document_id": "a", "text": "A."}'
    (tmp_path / "docs.jsonl.gz").write_bytes(gzip.compress(line))
    found = corpus.read(tmp_path / "docs.jsonl.gz")
    assert found[0].source is not None
    assert found[0].source.digest == sha256(line)
    assert found.sources[0].digest == sha256((tmp_path / "docs.jsonl.gz").read_bytes())


def test_where_a_document_was_read_from_is_no_part_of_its_identity(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    digests = []
    for name, line in (
        ("a.jsonl", '{"document_id": "a", "text": "A."}'),
        ("b.jsonl", '{"text":"A.","document_id":"a"}'),
    ):
        (tmp_path / name).write_text(line)
        made, _ = corpus.build(store, corpus.read(tmp_path / name), name="same")
        digests.append(made.digest)
        assert [one.file for one in corpus.load_sources(store, made)] == [name]
    assert digests[0] == digests[1]


def test_what_a_document_says_of_itself_is_part_of_its_identity(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    told = {
        "licence": "CC-BY-4.0",
        "transformations": [{"kind": "ocr", "name": "tesseract 5.5"}],
        "limits": ["blurred"],
    }
    file.write_text(json.dumps({"documentId": "a", "text": "A.", "provenance": told}))
    (one,) = corpus.read(file)
    assert one.provenance == Provenance(
        licence="CC-BY-4.0", transformations=(Transformation(kind="ocr", name="tesseract 5.5"),), limits=("blurred",)
    )
    assert one.entry().prepared == "ocr tesseract 5.5"
    file.write_text(json.dumps({"documentId": "a", "text": "A."}))
    (silent,) = corpus.read(file)
    assert silent.entry().meta_digest != one.entry().meta_digest
    assert silent.entry().text_digest == one.entry().text_digest


@pytest.mark.parametrize(
    "told, field",
    [
        ({"license": "x"}, "provenance"),
        ({"licence": ""}, "provenance.licence"),
        ({"transformations": [{"kind": "magic", "name": "x"}]}, "provenance.transformations"),
        ({"transformations": [{"kind": "ocr", "name": "x", "after": "abc"}]}, "provenance.transformations"),
        ({"limits": "one"}, "provenance.limits"),
    ],
)
def test_a_wrong_provenance_is_an_error_with_its_place(tmp_path: Path, told: object, field: str) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_text(json.dumps({"document_id": "a", "text": "A.", "provenance": told}))
    with pytest.raises((RecordError, InputError)) as caught:
        corpus.read(file)
    assert caught.value.line == 1
    assert caught.value.field.startswith(field)


def test_columns_give_facts_of_provenance(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("ID,Body,License,Whose\na,A.,CC0-1.0,me\nb,B.,,\n")
    found = corpus.read(
        tmp_path / "docs.csv",
        columns={"document_id": "ID", "text": "Body", "licence": "License", "owner": "Whose"},
    )
    assert [one.provenance for one in found] == [Provenance(licence="CC0-1.0", owner="me"), None]


def test_a_licence_is_known_by_its_name_and_other_words_of_foreign_files_are_not(tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text(json.dumps({"_id": "a", "title": "", "text": "A.", "license": "MIT", "origin": "web"}))
    (one,) = corpus.read(file)
    assert one.provenance == Provenance(licence="MIT")
    assert one.metadata == {"origin": "web"}


def test_a_page_says_its_licence_and_address(tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    (tmp_path / "a.html").write_text(
        '<html><head><link rel="canonical" href="https://example.org/a"><meta name="Copyright" content="Acme">'
        '</head><body><p>Text <a rel="nofollow license" href="https://creativecommons.org/licenses/by/4.0/">CC BY</a>'
    )
    (one,) = corpus.read(tmp_path / "a.html")
    assert one.provenance == Provenance(
        origin="https://example.org/a", owner="Acme", licence="https://creativecommons.org/licenses/by/4.0/"
    )
    (tmp_path / "a.html").write_text("<p>Text")
    assert corpus.read(tmp_path / "a.html")[0].provenance is None


README = """---
annotations_creators:
- expert
license:
- cc-by-sa-4.0
source_datasets:
- extended|wikipedia
task_categories:
- text-retrieval
---
# A data set
license: not this one
"""


def test_a_data_card_of_the_hub_is_read(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "a", "title": "", "text": "A."}))
    (tmp_path / "README.md").write_text(README)
    found = corpus.read(tmp_path)
    assert found.provenance == Provenance(licence="cc-by-sa-4.0", origin="extended|wikipedia")
    made, _ = corpus.build(
        Store.open(tmp_path / "store", create=True), found, name="own", provenance=Provenance(licence="ours")
    )
    assert made.provenance == Provenance(licence="ours", origin="extended|wikipedia")


def test_a_croissant_file_is_read(tmp_path: Path) -> None:
    value = {
        "@context": {}, "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.1", "name": "letters",
        "license": ["https://spdx.org/licenses/CC0-1.0"], "creator": {"@type": "Person", "name": "Ada"},
        "url": "https://example.org/letters", "rai:dataCollection": "by hand",
        "rai:dataLimitations": ["no photographs", "one town"],
    }  # fmt: skip
    (tmp_path / "croissant.json").write_text(json.dumps(value))
    assert told_by(tmp_path) == Provenance(
        licence="https://spdx.org/licenses/CC0-1.0", owner="Ada", origin="https://example.org/letters",
        collection="by hand", limits=("no photographs; one town",),
    )  # fmt: skip


@given(st.binary(max_size=400), st.sampled_from(["croissant.json", "README.md"]))
def test_whatever_lies_beside_the_data_only_ever_says_something_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    folder = tmp_path_factory.mktemp("told")
    for prefix in (b"", b"---\nlicense: ", b'{"conformsTo": "mlcommons.org/croissant", "license": '):
        (folder / name).write_bytes(prefix + data + b"\n---\n")
        found = told_by(folder)
        assert found is None or isinstance(found, Provenance)


def test_what_is_known_of_the_whole_fills_what_one_leaves_out() -> None:
    whole = Provenance(licence="CC0-1.0", owner="all", limits=("old",))
    assert Provenance(licence="MIT").over(whole) == Provenance(licence="MIT", owner="all", limits=("old",))
    assert Provenance().empty
    assert Provenance(owner="x").over(None) == Provenance(owner="x")
