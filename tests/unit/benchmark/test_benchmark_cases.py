import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.benchmark import read_cases
from ragassay.errors import InputError, RagassayError

DESIGN = """{"queryId": "q-0042", "query": "How should a publish retry behave after commit but cache failure?",
 "corpusVersion": "docs-2026-08-01",
 "relevant": [{"documentId": "publish-recovery", "grade": 3}, {"documentId": "cas-state-machine", "grade": 2}],
 "slice": ["recovery", "long-tail"], "notes": "Must preserve the original revision tuple"}"""


def write(folder: Path, *lines: str | bytes | dict) -> Path:
    path = folder / "cases.jsonl"
    whole = [json.dumps(one) if isinstance(one, dict) else one for one in lines]
    path.write_bytes(b"\n".join(one if isinstance(one, bytes) else one.encode() for one in whole))
    return path


def test_the_example_of_the_design_in_both_spellings(tmp_path: Path) -> None:
    camel = json.loads(DESIGN)
    snake = {
        "query_id": "q-0043", "query": camel["query"], "corpus_version": "docs-2026-08-01",
        "relevant": [{"document_id": "publish-recovery", "grade": 3}, {"document_id": "cas-state-machine", "grade": 2}],
        "slice": ["recovery", "long-tail"], "notes": "Must preserve the original revision tuple",
    }  # fmt: skip
    one, other = read_cases(write(tmp_path, DESIGN.replace("\n", ""), snake))
    assert one.to_case().evidence == other.to_case().evidence
    assert [(label.id, label.document_id, label.grade, label.coarse) for label in one.to_case().evidence or ()] == [
        ("r1", "publish-recovery", 3, True),
        ("r2", "cas-state-machine", 2, True),
    ]


def test_dates_and_broken_text(tmp_path: Path) -> None:
    line = {
        "query_id": "a", "query": "x", "validFrom": "2026-01-01", "label": {"kind": "human", "at": "2026-01-02"},
        "evidence": [{"id": "e", "document_id": "d", "grade": 1, "provenance": {"kind": "model", "at": "2026-01-03"}}],
    }  # fmt: skip
    first, lossy = read_cases(write(tmp_path, line, b'{"query_id": "b", "query": "caf\xe9"}'))
    assert (first.valid_from, first.lossy) == ("2026-01-01T00:00:00Z", False)
    assert first.label is not None
    assert first.label.at == "2026-01-02T00:00:00Z"
    assert first.evidence is not None
    assert first.evidence[0].provenance is not None
    assert first.evidence[0].provenance.at == "2026-01-03T00:00:00Z"
    assert (lossy.query, lossy.lossy) == ("caf\ufffd", True)


A = '{"query_id": "a", "query": "x"'


@pytest.mark.parametrize(
    "lines, line, field, message, hint",
    [
        ([A + ', "evidense": []}'], 1, "", "unknown field", "did you mean 'evidence'"),
        ([A + ', "evidence": [{"id": "e", "grade": 1}]}'], 1, "evidence[0]", "document_id", ""),
        ([A + ', "evidence": [{"id": "e", "document_id": "d", "grade": 1, "provenance": '
          '{"kind": "human", "at": "x"}}]}'],
         1, "evidence[0].provenance.at", "not a date", "2026"),
        ([A + "}", "", A + "}"], 3, "query_id", "line 1 and on line 3", "repeats"),
        ([A + ', "facts": [{"id": "f", "any_of": []}]}'], 1, "", "any_of is empty", ""),
        ([A + ', "facts": [{"id": "f", "any_of": [["e"]]}]}'], 1, "", "unknown evidence id: e", ""),
        ([A + ', "relevant": [{"document_id": "d", "grade": 2}], "facts": [{"id": "f", "any_of": [["r2"]]}]}'],
         1, "", "unknown evidence id: r2", ""),
        ([A + ', "evidence": [], "relevant": []}'], 1, "", "both present", ""),
        (["3"], 1, "", "not a JSON object", "one case a line"), ([""], None, "", "no case", "one line"),
    ],
)  # fmt: skip
def test_errors(tmp_path: Path, lines: list[str], line: int | None, field: str, message: str, hint: str) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(InputError) as caught:
        read_cases(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert caught.value.field.startswith(field)
    assert message in caught.value.message
    assert hint in caught.value.hint


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_bytes_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("f") / "c.jsonl"
    path.write_bytes(b'{"query_id": "a", "query": "' + data)
    try:
        (read,) = read_cases(path)
    except RagassayError:
        return
    assert read.query_id == "a"
