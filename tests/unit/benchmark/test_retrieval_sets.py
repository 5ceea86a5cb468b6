"""BEIR, MTEB and ir_datasets: files as these projects write them, and what is wrong with them."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.benchmark import CaseReading, read_beir, read_ir_datasets, read_mteb
from ragassay.errors import InputError, RagassayError

QUERIES = (
    '{"_id": "q1", "text": "what is a qubit", "metadata": {"url": "x"}}\n'
    '{"_id": "q2", "text": "who wrote it"}\n{"_id": "q3", "text": "of another split"}\n'
)
QRELS = "query-id\tcorpus-id\tscore\nq2\td9\t1\nq1\td1\t2\nq1\td2\t0\n"
WANTED = {"q1": [("d1", 2), ("d2", 0)], "q2": [("d9", 1)]}


def labels(cases: CaseReading) -> dict[str, list[tuple[str, int]] | None]:
    return {
        case.query_id: None if case.evidence is None else [(one.document_id, one.grade) for one in case.evidence]
        for case in cases
    }


def beir(folder: Path, queries: str = QUERIES, qrels: str = QRELS, split: str = "test") -> Path:
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "queries.jsonl").write_text(queries, "utf-8")
    (folder / "qrels" / f"{split}.tsv").write_text(qrels, "utf-8")
    return folder


def test_a_beir_folder(tmp_path: Path) -> None:
    cases = read_beir(beir(tmp_path))
    assert labels(cases) == WANTED
    assert all(one.coarse for case in cases for one in case.evidence or ())
    assert (cases.defaults.rel, cases.defaults.relevance_unit, cases.defaults.rubric.name) == (
        1, "document", "external",
    )  # fmt: skip
    assert any("answered" in one for one in cases.said_not)
    assert any("who may see" in one for one in cases.said_not)
    assert cases.remarks == ("1 question of queries.jsonl without judgement in test.tsv: left out",)
    assert cases.places["q2"].line == 2
    with pytest.raises(InputError, match=r"no qrels/dev\.tsv") as caught:
        read_beir(tmp_path, split="dev")
    assert caught.value.file == str(tmp_path)


def test_packed_files_of_a_beir_folder(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl.gz").write_bytes(gzip.compress(QUERIES.encode()))
    (tmp_path / "qrels" / "train.tsv.gz").write_bytes(gzip.compress(QRELS.encode()))
    assert labels(read_beir(tmp_path, split="train")) == WANTED


def test_mteb_as_json_lines_and_as_parquet(tmp_path: Path) -> None:
    rows = [("q2", "d9", 1), ("q1", "d1", 2), ("q1", "d2", 0)]
    judged = [{"query-id": query, "corpus-id": document, "score": grade} for query, document, grade in rows]
    asked = [json.loads(line) for line in QUERIES.splitlines()]
    for one in asked:
        one["id"] = one.pop("_id")
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, asked)))
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, judged)))
    assert labels(read_mteb(tmp_path / "q.jsonl", tmp_path / "r.jsonl")) == WANTED
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        arrow.Table.from_pylist([{"id": a["id"], "text": a["text"]} for a in asked]), tmp_path / "q.parquet"
    )
    table = arrow.table({"query-id": [r[0] for r in rows], "corpus-id": [r[1] for r in rows],
                         "score": arrow.array([float(r[2]) for r in rows])})  # fmt: skip
    parquet.write_table(table, tmp_path / "r.parquet")
    assert labels(read_mteb(tmp_path / "q.parquet", tmp_path / "r.parquet")) == WANTED
    (tmp_path / "broken.parquet").write_bytes((tmp_path / "r.parquet").read_bytes()[:-30])
    with pytest.raises(InputError, match="Parquet"):
        read_mteb(tmp_path / "q.parquet", tmp_path / "broken.parquet")


def test_what_ir_datasets_exports(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 d1 2\nq1 0 d2 0\nq2 0 d9 1\n")
    (tmp_path / "q.tsv").write_text("q1\twhat is a qubit\nq2\twho wrote it\nq3\tnobody judged\n")
    assert labels(read_ir_datasets(tmp_path / "q.tsv", qrels)) == {**WANTED, "q3": None}
    (tmp_path / "q.jsonl").write_text(
        '{"query_id": "q1", "title": "short", "description": "long"}\n'
        '{"query_id": "q2", "title": "b", "description": "c"}'
    )
    cases = read_ir_datasets(tmp_path / "q.jsonl", qrels)
    assert (labels(cases), cases[0].query) == (WANTED, "short")
    assert read_ir_datasets(tmp_path / "q.jsonl", qrels, text="description")[0].query == "long"
    (tmp_path / "all.tsv").write_text("q1\ttitle\tdescription\n")
    with pytest.raises(InputError, match="3 columns") as caught:
        read_ir_datasets(tmp_path / "all.tsv", qrels)
    assert "--fields" in caught.value.hint


@pytest.mark.parametrize(
    "queries, qrels, line, words",
    [
        (QUERIES, "q1\td1\t1\nq2\td9\t1\n", 2, "none of the fields query-id"),  # no header: the first line is not lost
        (QUERIES, QRELS + "q1\td1\t1\n", 5, "judged twice"),
        (QUERIES, QRELS + "q1\td3\tyes\n", 5, "not a grade"),
        (QUERIES, QRELS + "q1\td3\t0.5\n", 5, "not a grade"),
        (QUERIES, QRELS + "q1\td3\t\u0661\n", 5, "not a grade"),
        (QUERIES, QRELS + "q1\td3\n", 5, "2 cells in a table of 3"),
        (QUERIES, QRELS + "q9\td3\t1\n", 5, "judgements but no text"),
        (QUERIES, "query-id\tcorpus-id\tscore\n", None, "no judgement"),
        (QUERIES + QUERIES, QRELS, 4, "there twice"),
        (QUERIES + '{"_id": "q4", "text": " "}', QRELS, 4, "empty"),
        (QUERIES + '{"_id": "q4", "text": 3}', QRELS, 4, "expected text, got a number"),
        (QUERIES + '{"_id": "q4"}', QRELS, 4, "none of the fields text"),
        (QUERIES + '{"_id": "q4", "_id": "q5", "text": "x"}', QRELS, 4, "twice in one object"),
        (QUERIES + "[" * 100_000, QRELS, 4, "nested deeper"),
    ],
)  # fmt: skip
def test_errors(tmp_path: Path, queries: str, qrels: str, line: int | None, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_beir(beir(tmp_path, queries, qrels))
    assert caught.value.line == line
    assert caught.value.file
    assert caught.value.hint


def test_skip_keeps_the_good_lines_and_lists_the_others(tmp_path: Path) -> None:
    cases = read_beir(beir(tmp_path, QUERIES + "{\n", QRELS + "q1\td3\tyes\nq9\td3\t1\n"), on_error="skip")
    assert labels(cases) == WANTED
    assert [(Path(one.file).name, one.line) for one in cases.skipped] == [
        ("queries.jsonl", 4), ("test.tsv", 5), ("test.tsv", 6),
    ]  # fmt: skip
    assert any("2 left out of test.tsv" in one and "lines 5-6" in one for one in cases.notes)


NAMES = st.text("abÄ7-_.:/", min_size=1, max_size=5)
JUDGED = st.dictionaries(
    NAMES, st.dictionaries(NAMES, st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=5
)
TEXTS = st.text('aé\U0001f98a "\\\n\t<&', max_size=12).map("w{}?".format)


@given(JUDGED, st.data())
@settings(deadline=None)
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, judged: dict[str, dict[str, int]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("b")
    asked = {name: data.draw(TEXTS) for name in data.draw(st.permutations([*judged, "Only asked"]))}
    rows = data.draw(st.permutations([(q, d, grade) for q, own in judged.items() for d, grade in own.items()]))
    wanted: dict[str, list[tuple[str, int]]] = {}
    for query, document, grade in rows:
        wanted.setdefault(query, []).append((document, grade))
    beir(folder, "".join(json.dumps({"_id": one, "text": text}) + "\n" for one, text in asked.items()),
         "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{grade}\n" for q, d, grade in rows))  # fmt: skip
    keys = ("query-id", "corpus-id", "score")
    (folder / "r.jsonl").write_text("".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows))
    (folder / "q.jsonl").write_text(
        "".join(json.dumps({"query_id": one, "text": text}) + "\n" for one, text in asked.items())
    )
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} {grade}\n" for q, d, grade in rows), "utf-8")
    for cases in (read_beir(folder), read_mteb(folder / "queries.jsonl", folder / "r.jsonl")):
        assert labels(cases) == wanted
        assert {case.query_id: case.query for case in cases} == {name: asked[name] for name in judged}
    exported = read_ir_datasets(folder / "q.jsonl", folder / "qrels.txt")
    assert labels(exported) == {**wanted, "Only asked": None}
    assert {case.query_id: case.query for case in exported} == asked


@given(st.binary(max_size=60), st.binary(max_size=40), st.booleans())
@settings(max_examples=200, deadline=None)
def test_no_bytes_raise_anything_else(
    tmp_path_factory: pytest.TempPathFactory, queries: bytes, qrels: bytes, begun: bool
) -> None:
    folder = beir(tmp_path_factory.mktemp("b"))
    (folder / "queries.jsonl").write_bytes((QUERIES.encode() if begun else b'{"_id": "') + queries)
    (folder / "qrels" / "test.tsv").write_bytes(QRELS.encode() * begun + qrels)
    for on_error in ("stop", "skip"):
        for read in (read_mteb, read_ir_datasets):
            with contextlib.suppress(RagassayError):
                read(folder / "queries.jsonl", folder / "qrels" / "test.tsv", on_error=on_error)
