"""TREC run files and trace files: order, whole documents, and every error with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.score.score_material import case, doc, ev, fact, row, score, step, trace

from ragassay.errors import InputError, RecordError
from ragassay.records.canonical import canonical_bytes
from ragassay.traces import read_jsonl, read_trec_run

DOCS = (doc("d1", "one"), doc("d2", "two"), doc("d9", "nine"), doc("d10", ""))


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_order_is_score_then_id_by_bytes_descending_and_ranks_are_not_read(tmp_path: Path) -> None:
    text = "# made by x\nq1 Q0 d10 1 1.5 t\nq1 Q0 d2 2 1.5 t\nq2 Q0 d1 1 0 t more\nq1 Q0 d9 9 7e0 t\r\n\n"
    first, second = read_trec_run(written(tmp_path, text), DOCS)
    assert [one.item_id for one in first.content.steps[0].items_out or ()] == ["d9", "d2", "d10"]
    assert [one.rank for one in first.content.steps[0].items_out or ()] == [1, 2, 3]
    assert second.content.query_id == "q2"
    assert all(one.whole_document for one in first.content.steps[0].items_out or ())
    assert first.content.context is None
    assert first.content.answer is None


def test_unknown_and_ambiguous_documents_are_unresolved(tmp_path: Path) -> None:
    documents = (*DOCS, doc("v", "old", "1"), doc("v", "new", "2", valid_from="2026-01-01T00:00:00Z"))
    path = written(tmp_path, "q Q0 nowhere 1 2 t\nq Q0 v 2 1 t\n")
    (found,) = read_trec_run(path, documents)
    assert [one.resolution for one in found.content.steps[0].items_out or ()] == ["unresolved", "unresolved"]


def test_a_run_gives_document_level_measures_only(tmp_path: Path) -> None:
    (seen,) = read_trec_run(written(tmp_path, "q Q0 d1 1 2 t\nq Q0 d10 2 1 t\n"), DOCS)
    known = case(evidence=(ev("r1", "d1", 0, 3), ev("r2", "d10")), facts=(fact("f", ("r1",)),))
    got = score(known, seen, DOCS, "recall(rel=2)@1", "recall(rel=2,unit=document)@2", "fact_coverage", "exact_match",
                "latency")  # fmt: skip
    assert row(got, "recall(rel=2)@1", "run").value == 0.5
    assert row(got, "recall(rel=2,unit=document)@2", "run").value == 1.0  # the empty document is judged relevant too
    for measure, step_name in (("fact_coverage", "run"), ("exact_match", None), ("latency", None)):
        assert row(got, measure, step_name).status == "missing"


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("q Q0 d1 1 2 t\nq Q0 d1 2 1 t\n", 2, "twice"),
        ("q Q0 d1 1 2\n", 1, "columns"),
        ("q Q0 d1 1 nan t\n", 1, "finite"),
        ("q Q0 d1 1 inf t\n", 1, "finite"),
        ("q Q0 d1 1 1_0 t\n", 1, "finite"),
        ("q Q0 d1 1 high t\n", 1, "finite"),
        (b"q Q0 d\xff 1 1 t\n", 1, "UTF-8"),
        ("\n\n", None, "no line"),
    ],
)
def test_bad_runs_name_file_and_line(tmp_path: Path, text: str | bytes, line: int | None, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_trec_run(written(tmp_path, text), DOCS)
    assert caught.value.line == line
    assert caught.value.file
    assert caught.value.hint


def test_traces_in_our_own_form_come_back_equal(tmp_path: Path) -> None:
    one = trace(step("x", "lexical", []), query_id="q1", latency_ms=3.0)
    two = trace(query_id="q2", failure="timeout")
    lines = [canonical_bytes(one), b"", canonical_bytes(two.content)]
    assert read_jsonl(written(tmp_path, b"\n".join(lines))) == [one, two]


@pytest.mark.parametrize(
    "text, line",
    [
        ('{"query_id":"q","repeat":0,"as_of":"2026-01-01"}\n{"query_id":"q","repeat":0,"as_of":"2026-01-01"}', 2),
        ('{"query_id":"q","repeat":0}', 1),
        ("[]", 1),
        ("", None),
    ],
)
def test_bad_trace_files_name_file_and_line(tmp_path: Path, text: str, line: int | None) -> None:
    with pytest.raises((InputError, RecordError)) as caught:
        read_jsonl(written(tmp_path, text))
    assert caught.value.line == line
    assert caught.value.file
