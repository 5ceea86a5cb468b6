"""Files of runs as they come: packed, marked, broken in several places, hostile."""

from __future__ import annotations

import contextlib
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.score.score_material import doc, trace

from ragassay.benchmark import intake
from ragassay.corpus import lines
from ragassay.errors import InputError, RagassayError, UsageError
from ragassay.records.base import PassageId
from ragassay.records.canonical import canonical_bytes
from ragassay.records.document import Passage, Span
from ragassay.traces import read_jsonl, read_run_file, read_trec_run

DOCS = (doc("d1", "one"), doc("d2", "two"))
RUN = b"q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq2 Q0 d2 1 5 t\n"


def written(folder: Path, data: bytes, name: str = "file") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def lists(traces: list) -> dict[str, list[str]]:
    return {
        one.content.query_id: [item.item_id for step in one.content.steps for item in step.items_out or ()]
        for one in traces
    }


@pytest.mark.parametrize("data", [RUN, gzip.compress(RUN, mtime=0), b"\xef\xbb\xbf" + RUN, RUN.replace(b"\n", b"\r\n")])
def test_packed_marked_and_windows_files_read_alike(tmp_path: Path, data: bytes) -> None:
    path = written(tmp_path, data)
    assert lists(read_trec_run(path, DOCS)) == lists(read_run_file(path, DOCS)) == {"q1": ["d1", "d2"], "q2": ["d2"]}


def test_the_first_line_says_which_kind_of_file_it_is(tmp_path: Path) -> None:
    one = trace(query_id="q1")
    path = written(tmp_path, b"\n" + canonical_bytes(one) + b"\n")
    assert list(read_run_file(path)) == [one]
    assert list(read_run_file(written(tmp_path, gzip.compress(canonical_bytes(one)), "packed"))) == [one]
    with pytest.raises(InputError, match="six"):
        read_run_file(path, kind="trec")
    with pytest.raises(UsageError):
        read_run_file(path, kind="csv")  # type: ignore[arg-type]


def test_an_id_of_a_passage_is_that_passage(tmp_path: Path) -> None:
    span = Span(document_id=DOCS[0].document_id, version="1", start=0, end=2)
    passage = Passage(passage_id=PassageId("d1@1:0-2"), text="on", sources=(span,), transform="slice")
    (found,) = read_trec_run(written(tmp_path, b"q Q0 d1@1:0-2 1 1 t\n"), DOCS, [passage])
    (item,) = found.content.steps[0].items_out or ()
    assert (item.sources, item.whole_document, item.passage_id) == ((span,), False, "d1@1:0-2")


BROKEN = b"q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0\nq2 Q0 d2 1 \xd9\xa1 t\nq3 Q0 d1 1 1 t\n"


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, BROKEN)
    with pytest.raises(InputError) as caught:
        read_trec_run(path, DOCS)
    text = str(caught.value)
    assert text.startswith(f"{path}:2: document_id: document 'd1' is there twice")
    assert f"also {path}:3: 2 columns" in text
    assert f"also {path}:4: score: the score" in text  # an Arabic digit: float() would have read it as 1
    assert "3 problems" in text
    assert "skip" in caught.value.hint


def test_skip_leaves_out_what_is_wrong_and_lists_it(tmp_path: Path) -> None:
    read = read_trec_run(written(tmp_path, BROKEN), DOCS, on_error="skip")
    assert lists(read) == {"q1": ["d1"], "q3": ["d1"]}
    assert [one.line for one in read.skipped] == [2, 3, 4]
    (note,) = read.notes
    assert "3 left out of file" in note
    assert "lines 2-4" in note
    with pytest.raises(InputError, match="1 column where six are needed"):
        read_trec_run(written(tmp_path, b"q\nr\n"), DOCS, on_error="skip")  # nothing is left
    with pytest.raises(UsageError):
        read_trec_run(written(tmp_path, BROKEN), DOCS, on_error="ignore")  # type: ignore[arg-type]


def test_after_twenty_problems_the_reading_ends(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_jsonl(written(tmp_path, b"{\n" * 100))
    assert str(caught.value).count("also") == intake.MOST_NAMED - 1
    assert "reading ended here" in str(caught.value)


def test_a_trace_file_with_broken_lines(tmp_path: Path) -> None:
    good, other = trace(query_id="q1"), trace(query_id="q2")
    path = written(tmp_path, b"\n".join([canonical_bytes(good), b"[]", canonical_bytes(good), canonical_bytes(other)]))
    with pytest.raises(InputError, match=r"expected|object") as caught:
        read_jsonl(path)
    assert caught.value.line == 2
    assert f"also {path}:3: query_id" in str(caught.value)
    read = read_jsonl(path, on_error="skip")
    assert list(read) == [good, other]
    assert [one.line for one in read.skipped] == [2, 3]


@pytest.mark.parametrize(
    "data, words",
    [
        (RUN.replace(b"\n", b"\r"), "carriage return"),
        (b"q Q0 d1 1 1 t\n" + b"x" * 70_000, "line of more than"),
        (gzip.compress(RUN, mtime=0)[:-9], "gzip"),
        (b"\x1f\x8b garbage", "gzip"),
        (b"PK\x03\x04", "zip"),
        (RUN.decode().encode("utf-16"), "UTF-16"),
        (b"q Q0 d\0 1 1 t\n", "NUL"),
        (b"q Q0 " + b"d" * 600 + b" 1 1 t\n", "more than 512"),
        (b"q Q0 d1 1 0x10 t\n", "finite"),
        (b"q Q0 d1 1 1e999 t\n", "finite"),
    ],
)
def test_hostile_files(tmp_path: Path, data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_run_file(written(tmp_path, data), DOCS, kind="trec")
    assert caught.value.file
    assert caught.value.hint


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_UNPACKED", 1000)
    with pytest.raises(InputError, match="unpacks to more than"):
        read_trec_run(written(tmp_path, gzip.compress(b"# comment\n" * 200)), DOCS)


@pytest.mark.parametrize("name", ["nowhere", ".", "a\0b"])
def test_what_cannot_be_opened_is_an_error_with_its_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_run_file(tmp_path / name)


rows = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2", "ü"]),
        st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=5),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    min_size=1, max_size=20, unique_by=lambda row: row[:2],
)  # fmt: skip


@given(rows)
def test_what_is_written_comes_back_in_order(tmp_path_factory: pytest.TempPathFactory, given_rows: list) -> None:
    text = "".join(f"{query} Q0 {document} 1 {score!r} t\n" for query, document, score in given_rows if query[0] != "#")
    found = lists(read_trec_run(written(tmp_path_factory.mktemp("r"), text.encode()), DOCS))
    wanted: dict[str, list] = {}
    for query, document, score in given_rows:
        wanted.setdefault(query, []).append((score, document.encode()))
    assert found == {
        query: [name.decode() for _, name in sorted(pairs, reverse=True)] for query, pairs in wanted.items()
    }


@given(st.binary(max_size=100), st.sampled_from([b"", b"\x1f\x8b\x08", b'{"query_id": "q', b"q Q0 d1 1 "]))
def test_no_bytes_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, data: bytes, start: bytes) -> None:
    path = written(tmp_path_factory.mktemp("r"), start + data)
    for on_error in ("stop", "skip"):
        with contextlib.suppress(RagassayError):
            read_run_file(path, DOCS, on_error=on_error)  # type: ignore[arg-type]
