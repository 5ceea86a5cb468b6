"""BEIR, MTEB, ir_datasets, TREC text and detection: values by hand, and real data beside the repository."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.corpus import FORMATS, detect, read
from ragassay.errors import InputError, RagassayError, UsageError

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def put(path: Path, data: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def lines(*values: dict) -> str:
    return "".join(json.dumps(one) + "\n" for one in values)


def test_beir(tmp_path: Path) -> None:
    text = lines(
        {"_id": "1", "title": "Alpha beta", "text": "Body.", "metadata": {"url": "u", "deep": {"a": 1}}},
        {"_id": 2, "title": "", "text": "", "tenants": ["t"], "year": 2020},
        {"_id": "3", "title": "Alpha  beta", "text": "alpha\nbeta gamma"},
        {"_id": "4", "title": "Alpha  beta", "text": "Alpha\nbeta gamma"},
    )
    put(tmp_path / "corpus.jsonl.gz", gzip.compress(text.encode()))
    put(tmp_path / "README.md", "# about")
    found = read(tmp_path, default_tenants=["*"])
    assert found.format == "beir"
    assert [(one.document_id, one.text, one.tenants, one.normaliser) for one in found] == [
        ("1", "Alpha beta\n\nBody.", ("*",), "title-first/1"),
        ("2", "", ("t",), "none/1"),
        ("3", "Alpha  beta\n\nalpha\nbeta gamma", ("*",), "title-first/1"),
        ("4", "Alpha\nbeta gamma", ("*",), "title-first/1"),
    ]
    assert (found[0].metadata, found[1].metadata) == ({"url": "u", "deep": '{"a":1}'}, {"year": 2020})
    assert found[0].parser == "beir/1"


def test_a_misspelled_access_key_is_an_error_and_not_metadata(tmp_path: Path) -> None:
    path = put(tmp_path / "corpus.jsonl", lines({"_id": "1", "text": "x", "tenant": ["a"]}))
    with pytest.raises(InputError, match="is it 'tenants'") as caught:
        read(path, default_tenants=["*"])
    assert caught.value.line == 1


def test_broken_lines_of_a_layout_are_listed(tmp_path: Path) -> None:
    good = json.dumps({"_id": "1", "text": "x"})
    path = put(tmp_path / "corpus.jsonl", f'{good}\n{{"_id": "2"}}\n{good}\nnot json\n{{"_id": "5", "text": 3}}\n')
    with pytest.raises(InputError, match="no column is the text") as caught:
        read(path, format="beir")
    assert caught.value.line == 2
    found = read(path, format="beir", on_error="skip")
    assert len(found) == 1
    assert [(one.line, one.reason.split(":")[0][:20]) for one in found.skipped] == [
        (2, "no column is the tex"), (3, "document '1' version"), (4, "not JSON"), (5, "3 is not text")
    ]  # fmt: skip


def test_mteb_as_parquet_shards(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for shard, ids in enumerate((["a", "b"], ["c"])):
        table = pa.table({"_id": ids, "title": ["T"] * len(ids), "text": [f"t {one}" for one in ids]})
        pq.write_table(table, folder / f"test-0000{shard}-of-00002.parquet")
    found = read(tmp_path)
    assert (found.format, [one.text for one in found]) == ("mteb", ["T\n\nt a", "T\n\nt b", "T\n\nt c"])


def test_ir_datasets_exports(tmp_path: Path) -> None:
    put(tmp_path / "j" / "docs.jsonl", lines({"doc_id": "1", "title": "T", "body": "B", "marked_up_doc": "<x>"}))
    (one,) = read(tmp_path / "j")
    assert (one.document_id, one.text, one.metadata, one.parser) == ("1", "T\n\nB", {}, "ir_datasets/1")
    put(tmp_path / "t" / "docs.tsv", '1\tone "quoted\n2\ttwo\n')
    assert [(one.document_id, one.text) for one in read(tmp_path / "t")] == [("1", 'one "quoted'), ("2", "two")]
    three = put(tmp_path / "docs.tsv", "u\t1\tone\nv\t2\n")
    with pytest.raises(InputError, match="3 columns without names"):
        read(three)
    columns = {"document_id": 2, "text": 3, "url": 1}
    found = read(three, columns=columns, on_error="skip")
    assert [(one.document_id, one.text, one.url) for one in found] == [("1", "one", "u")]
    assert [(one.line, one.reason) for one in found.skipped] == [(2, "2 cells; the first line has 3")]


def test_json_lines_with_other_keys_by_a_mapping(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines({"pid": 7, "wiki": {"a": 1}, "passage": "p"}))
    found = read(path, columns={"document_id": "pid", "text": "passage", "metadata": ["wiki"]})
    assert (found[0].document_id, found[0].text, found[0].metadata) == ("7", "p", {"wiki": '{"a":1}'})
    with pytest.raises(UsageError, match="no field 'txt'"):
        read(path, columns={"txt": "passage"})


TREC = """<DOC>
<DOCNO> AP88-1 </DOCNO><HEAD>Head &amp; line</HEAD>
<!-- <TEXT>no</TEXT> -->
<TEXT>
<P>
1 < 2 &hyph; AT&T &lt;b&gt;
</P><P>Second <F P=105>x</F>.</P></TEXT>
</DOC><doc><docno>2</docno><other>only &eacute;</other></doc>
stray
<DOC><DOCNO>3</DOCNO><TEXT><![CDATA[<raw> &amp;]]></TEXT><TEXT>two</TEXT></DOC>
"""


def test_trec_text_by_hand(tmp_path: Path) -> None:
    found = read(put(tmp_path / "ap880101", TREC))
    assert found.format == "trec"
    assert [(one.document_id, one.title, one.text) for one in found] == [
        ("AP88-1", "Head & line", "Head & line\n\n1 < 2 &hyph; AT&T <b>\n\nSecond x."),
        ("2", None, "only é"),
        ("3", None, "<raw> &amp;\n\ntwo"),
    ]


def test_trec_text_of_many_files_that_is_broken(tmp_path: Path) -> None:
    put(tmp_path / "a" / "one.gz", gzip.compress(b"<DOC><DOCNO>1</DOCNO>x</DOC>\n<DOC>\n<DOCNO>2</DOCNO>"))
    put(tmp_path / "b.sgml", "<DOC><DOCNO>1</DOCNO>y</DOC><DOC>z</DOC><DOC><DOCNO>4</DOCNO><TEXT>a</DOC>"
        "<DOC><DOCNO>5</DOCNO><DOC><DOCNO>6</DOCNO>caf\xe9</DOC>".encode("latin-1"))  # fmt: skip
    with pytest.raises(InputError, match="not closed: there is the end of the file") as caught:
        read(tmp_path)
    assert (Path(caught.value.file).name, caught.value.line) == ("one.gz", 2)
    found = read(tmp_path, on_error="skip")
    assert [(one.document_id, one.lossy) for one in found] == [("1", False), ("6", True)]
    assert [(one.file, one.line, one.field) for one in found.skipped] == [
        ("a/one.gz", 2, None), ("b.sgml", 1, "document_id"), ("b.sgml", 1, "docno"), ("b.sgml", 1, "text"),
        ("b.sgml", 1, None),
    ]  # fmt: skip
    assert "one.gz:1" in found.skipped[1].reason
    assert "b.sgml:1" in found.skipped[1].reason
    assert read(tmp_path, on_error="skip", encoding="latin-1")[1].text == "café"


@pytest.mark.shared
def test_cranfield_equals_its_blocks_read_by_another_way() -> None:
    path = DATA / "cranfield" / "cran.all.1400.xml"
    if not path.exists():
        pytest.skip("needs ../shared/data/cranfield")
    found = read(path)
    blocks = r"<docno>(\d+)</docno>.*?<title>(.*?)</title>.*?<text>(.*?)</text>"
    raw = re.findall(blocks, path.read_text("utf-8"), re.DOTALL)
    assert len(raw) == 1400
    plain = [(number, " ".join(title.split()), text.strip()) for number, title, text in raw]
    assert [(one.document_id, one.title or "", one.text) for one in found] == [
        (number, title, text if " ".join(text.split()).startswith(title) else f"{title}\n\n{text}")
        for number, title, text in plain
    ]
    assert sum(one.text == text for one, (_, _, text) in zip(found, plain, strict=True)) > 1300
    assert [one.document_id for one in found if not one.text] == ["471", "995"]


@given(st.lists(st.sampled_from(["<DOC>", "</DOC>", "<DOCNO>1</DOCNO>", "<TEXT>", "</TEXT>", "x", "<!--", "\n"])))
@settings(deadline=None, max_examples=150)
def test_no_sequence_of_marks_raises_anything_else(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    path = put(tmp_path_factory.mktemp("f") / "d", "".join(parts))
    for on_error in ("stop", "skip"):
        try:
            found = read(path, format="trec", on_error=on_error)  # type: ignore[arg-type]
        except RagassayError:
            pass
        else:
            assert [one.document_id for one in found] == ["1"]


def test_detection_and_a_folder_in_doubt(tmp_path: Path) -> None:
    assert detect(put(tmp_path / "a.jsonl", '{"document_id": "1", "text": ""}')) == "jsonl"
    assert detect(put(tmp_path / "b.jsonl", '{"_id": "1", "text": ""}')) == "beir"
    assert detect(put(tmp_path / "c.jsonl", '{"doc_id": "1", "text": ""}')) == "ir_datasets"
    assert detect(put(tmp_path / "d.tsv", "document_id\ttext\n")) == "csv"
    assert detect(put(tmp_path / "e.tsv", "1\ttext\n")) == "ir_datasets"
    assert detect(put(tmp_path / "f", "<!DOCTYPE html><p>")) == "html"
    assert detect(put(tmp_path / "g" / "LA.txt", "<DOC>\n<DOCNO>1</DOCNO></DOC>").parent) == "trec"
    put(tmp_path / "g" / "notes.md", "x")
    with pytest.raises(InputError, match="as trec or as folder") as caught:
        read(tmp_path / "g")
    assert 'format = "…"' in caught.value.hint
    assert read(tmp_path / "g", format="folder").format == "folder"
    put(tmp_path / "h" / "corpus.jsonl", '{"_id": "1", "text": "x"}')
    put(tmp_path / "h" / "docs.tsv", "1\tx\n")
    with pytest.raises(InputError, match="as beir or as ir_datasets"):
        read(tmp_path / "h")
    put(tmp_path / "j" / "data" / "corpus.jsonl", '{"_id": "1", "text": "x"}')
    assert detect(tmp_path / "j") == "mteb"
    put(tmp_path / "j" / "handbook" / "a.md", "what the layout would leave out unseen")
    with pytest.raises(InputError, match="as mteb or as folder"):
        read(tmp_path / "j")
    put(tmp_path / "i" / "x.bin", "x")
    with pytest.raises(InputError, match="no documents that can be recognised"):
        read(tmp_path / "i")
    with pytest.raises(UsageError, match="unknown format 'bier'") as wrong:
        read(tmp_path, format="bier")
    assert "did you mean 'beir'" in wrong.value.hint


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_says_what_is_wrong_with_nothing(tmp_path: Path, name: str) -> None:
    empty = put(tmp_path / "empty", "")
    (tmp_path / "folder").mkdir()
    for path in (empty, tmp_path / "folder", tmp_path / "none"):
        if name == "html" and path == empty:
            continue  # an empty page is a document without text
        with pytest.raises(InputError) as caught:
            read(path, format=name)
        assert caught.value.hint
        assert caught.value.file


BODIES = st.text('xyzé\U0001f98a "\\<&', min_size=1, max_size=12).filter(str.strip).map(str.strip)
ROWS = st.dictionaries(
    st.text("ab7-_.:/", min_size=1, max_size=5), st.tuples(st.sampled_from(["", "Title", "Two words"]), BODIES),
    min_size=1, max_size=6,
)  # fmt: skip


@given(ROWS)
@settings(deadline=None)
def test_documents_of_every_layout_come_back(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[str, tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("l")
    wanted = {name: f"{title}\n\n{text}" if title else text for name, (title, text) in rows.items()}
    for form, key, file in (
        ("beir", "_id", "corpus.jsonl"), ("mteb", "id", "corpus/test.jsonl"), ("ir_datasets", "doc_id", "docs.jsonl"),
    ):  # fmt: skip
        put(folder / form / file, lines(*({key: name, "title": a, "text": b} for name, (a, b) in rows.items())))
        found = read(folder / form, format=form, default_tenants=["*"])
        assert {one.document_id: one.text for one in found} == wanted
    tabbed = put(folder / "t" / "docs.tsv", "".join(f"{name}\t{text}\n" for name, (_, text) in rows.items()))
    assert {one.document_id: one.text for one in read(tabbed)} == {name: text for name, (_, text) in rows.items()}


@given(st.binary(max_size=80), st.sampled_from(["beir", "mteb", "ir_datasets"]), st.sampled_from(["jsonl", "tsv"]))
@settings(deadline=None, max_examples=200)
def test_no_bytes_of_a_layout_raise_anything_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, form: str, ending: str
) -> None:
    start = b'{"_id": "1", "text": "' if ending == "jsonl" else b"1\tx\n"
    path = put(tmp_path_factory.mktemp("l") / f"docs.{ending}", start + data)
    for on_error in ("stop", "skip"):
        with contextlib.suppress(RagassayError):
            read(path, format=form, on_error=on_error, default_tenants=["*"])  # type: ignore[arg-type]
