import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.benchmark import read_qrels, read_topics, read_trec
from ragassay.errors import BenchmarkError, InputError, RagassayError

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
XML = """<?xml version='1.0'?>
<xml>
<top>
<num> 1</num>
<title>
first
question .
</title>
</top>
<top><num> 4 </num><title>a &lt; b and c < d</title></top>
</xml>
"""
OLD = """<top>
<num> Number: 301
<title> International Organized Crime
<desc> Description:
Identify organizations.
</top>
"""


def write(folder: Path, topics: str, qrels: str) -> tuple[Path, Path]:
    (folder / "topics").write_text(topics)
    (folder / "qrels").write_text(qrels)
    return folder / "topics", folder / "qrels"


def test_topics_in_three_forms(tmp_path: Path) -> None:
    for text, wanted in (
        (XML, [("1", "first question .", 3), ("4", "a < b and c < d", 10)]),
        (OLD, [("301", "International Organized Crime", 1)]),
        ("q1\tone  two\n\nq2\tthree\n", [("q1", "one two", 1), ("q2", "three", 3)]),
    ):
        path, _ = write(tmp_path, text, "")
        assert [one[:3] for one in read_topics(path)] == wanted


def test_join_by_id_and_by_position(tmp_path: Path) -> None:
    paths = write(tmp_path, XML, "# comment\n1 0 d1 1\n1 0 d2 0\n\n2 0 d9 -1\n")
    first, second = read_trec(*paths, join="position")
    assert (first.query_id, second.query_id) == ("1", "2")
    assert [(one.id, one.document_id, one.grade) for one in first.evidence or ()] == [("r1", "d1", 1), ("r2", "d2", 0)]
    assert [(one.document_id, one.grade) for one in second.evidence or ()] == [("d9", -1)]
    assert second.notes == "the topics file prints number 4"
    with pytest.raises(BenchmarkError, match="no topic") as caught:
        read_trec(*paths)
    assert "position" in caught.value.hint

    cases = read_trec(*write(tmp_path, XML, "4 0 d1 1\n"))
    assert [(one.query_id, one.evidence is None) for one in cases] == [("1", True), ("4", False)]
    assert (cases.defaults.rel, cases.defaults.relevance_unit, cases.defaults.rubric.name) == (
        1,
        "document",
        "external",
    )
    with pytest.raises(BenchmarkError, match="from 1 to 2") as caught:
        read_trec(*paths[:1], paths[1], join="position")
    assert "4" in caught.value.message


@pytest.mark.parametrize(
    "topics, qrels, line, message",
    [
        (XML, "1 0 d1\n", 1, "3 columns"), (XML, "1 0 d1 1\n1 0 d2 x\n", 2, "not a grade"),
        (XML, "", None, "no judgement"),
        (XML, "1 0 d1 1\n1 0 d1 1\n", 2, "judged twice"), ("", "1 0 d1 1", None, "no topic"),
        ("no tab\n", "1 0 d1 1", 1, "not a topic"), ("<top><num>1</num></top>", "1 0 d1 1", 1, "without <title>"),
        ("<top><title>1</title></top>", "1 0 d1 1", 1, "without <num>"), ("a\tx\na\ty\n", "a 0 d 1", 2, "there twice"),
        (XML, "9 0 d1 1\n", None, "have judgements but no topic"), (XML, "1 0 d1 ١\n", 1, "not a grade"),
    ],
)  # fmt: skip
def test_errors(tmp_path: Path, topics: str, qrels: str, line: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_trec(*write(tmp_path, topics, qrels))
    assert caught.value.line == line
    assert caught.value.hint


@given(st.binary(max_size=80), st.binary(max_size=40))
@settings(max_examples=200, deadline=None)
def test_no_bytes_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, topics: bytes, qrels: bytes) -> None:
    folder = tmp_path_factory.mktemp("t")
    (folder / "topics").write_bytes(b"<top><num>1<title>" + topics)
    (folder / "qrels").write_bytes(b"1 0 " + qrels)
    with contextlib.suppress(RagassayError):
        read_trec(folder / "topics", folder / "qrels")


@pytest.mark.shared
def test_cranfield_joins_by_position_and_refuses_to_join_by_number() -> None:
    folder = DATA / "cranfield"
    if not folder.exists():
        pytest.skip("needs ../shared/data/cranfield")
    topics, qrels = folder / "cran.qry.xml", folder / "cranqrel.trec.txt"
    cases = read_trec(topics, qrels, join="position")
    assert len(cases) == 225
    grades = [one.grade for case in cases for one in case.evidence or ()]
    assert [grades.count(grade) for grade in (0, 1, 3)] == [225, 1611, 1]
    assert cases[2].query_id == "3"
    assert cases[2].query.startswith("what problems of heat conduction in composite slabs")
    assert "number 4" in (cases[2].notes or "")
    with pytest.raises(BenchmarkError, match="73 of 225") as caught:
        read_trec(topics, qrels)
    assert 'join = "position"' in caught.value.hint


@pytest.mark.shared
def test_qrels_of_trec_eval_are_read_with_their_comments() -> None:
    folder = DATA / "trec_eval"
    if not folder.exists():
        pytest.skip("needs ../shared/data/trec_eval")
    for name in ("qrels.test", "qrels.test.with-comments"):
        lines = (folder / name).read_text().splitlines()
        wanted = [line.split() for line in lines if line.strip() and not line.startswith("#")]
        found = read_qrels(folder / name)
        assert [(one.query_id, one.document_id, str(one.grade)) for one in found] == [
            (a, c, d) for a, _, c, d in wanted
        ]
