"""Runs that were read before, refusals word by word, ties at a depth, and judgements in several pieces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ragassay.errors import InputError, UsageError
from ragassay.measures import evaluate, parse
from ragassay.measures.drop_in import RelevanceEvaluator
from ragassay.measures.evaluate import load_labels, load_run
from ragassay.measures.trec import labels as labels_module
from ragassay.measures.trec.labels import read_labels
from ragassay.measures.trec.run import read_run
from ragassay.measures.trec.source import Range, Source

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"x": 3.0, "a": 2.0, "b": 2.0}, "q2": {"c": 1.0}}


def test_a_run_that_was_read_before() -> None:
    labels = load_labels(QRELS)
    both = load_run(RUN, labels, (parse("ap(rel=1)"), parse("ap(mode=trec,rel=1)")))
    assert load_run(both, labels, (parse("ap(rel=1)"),)) is both
    assert load_run(both, labels, (parse("ap(rel=1)"), parse("rr(mode=trec,rel=1)"))) is both
    assert evaluate(labels, both, ["rr"])["rr"].value == evaluate(QRELS, RUN, ["rr"])["rr"].value
    double = load_run(RUN, labels, (parse("ap(rel=1)"),))
    assert list(double.ranked) == ["double"]
    for other, wanted in ((load_labels(QRELS), "ap(rel=1)"), (labels, "ap(mode=trec,rel=1)")):
        with pytest.raises(UsageError) as caught:
            load_run(double, other, (parse(wanted),))
        assert caught.value.message == "the run was read for other judgements or other modes"
        assert caught.value.hint == "read it with these"


def test_measures_themselves_may_be_given() -> None:
    measure = parse("rr(mode=trec)")
    assert evaluate(QRELS, RUN, [measure, "rr(mode=trec,rel=1)"]).measures == (parse("rr(mode=trec,rel=1)"),)


def test_columns_are_ranked_as_their_modes_need() -> None:
    queries = ["q", "q"]
    scores = [1.0, 1.0 + 2.0**-40]  # equal as float32, where b stands first by its id all the same
    close = evaluate({"q": {"a": 1}}, (queries, ["b", "a"], scores), ["rr", "rr(mode=trec)", "rr(mode=trec10)"])
    assert [one.value for one in close.summaries()] == [1.0, 0.5, 1.0]
    assert list(close.run.ranked) == ["double", "single"]
    for mode in ("trec", "trec10"):
        with pytest.raises(InputError, match="'a' stands twice"):
            evaluate({"q": {"a": 1}}, (queries, ["a", "a"], [1.0, 2.0]), [f"rr(mode={mode})"])
    assert evaluate({"q": {"a": 1}}, (queries, ["a", "a"], [1.0, 2.0]), ["rr"]).duplicate_rate == 0.5


def test_progress_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q1 Q0 a 1 1 t\n")
    told: list[tuple[int, int]] = []
    evaluate(QRELS, str(path), ["rr"], progress=lambda done, size: told.append((done, size)))
    assert told == [(14, 14)]


def test_the_range_over_ties_is_cut_at_the_depth_too() -> None:
    # q1: x, then a and b tied: a is second or third
    found = evaluate(QRELS, {"q1": RUN["q1"]}, ["rr"], depth=2)["rr"]
    assert (found.value, found.ties) == (0.0, (0.0, 0.5))
    whole = evaluate(QRELS, {"q1": RUN["q1"]}, ["rr"])["rr"]
    assert (whole.value, whole.ties) == (1 / 3, (1 / 3, 0.5))
    two = evaluate(QRELS, {"q1": RUN["q1"], "q2": {"y": 1.0, "c": 1.0}}, ["rr"])["rr"]
    assert two.ties == ((1 / 3 + 1 / 2) / 2, (1 / 2 + 1) / 2)


def test_questions_that_trec_eval_10_would_miss() -> None:
    with pytest.raises(InputError) as caught:
        evaluate({**QRELS, b"\xff": {"a": 1}}, RUN, ["rr(mode=trec10)"])
    assert caught.value.message == "the run has no items for query '\ufffd'"
    assert caught.value.hint == "trec_eval 10 stops here; give -c (complete) to count it as an empty list"
    assert evaluate(QRELS, RUN, ["rr(mode=trec10)"])["rr(mode=trec10)"].value == (1 / 3 + 1) / 2


def test_lone_surrogates_as_names() -> None:
    odd = "q\udc80"
    assert RelevanceEvaluator({odd: {"a": 1}}, {"map"}).evaluate({odd: {"a": 1.0}}) == {odd: {"map": 1.0}}


class Small(Source):
    """Pieces of two lines."""

    def pieces(self, size: int = 20) -> Iterator[Range]:
        return super().pieces(20)


def test_judgements_in_several_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels_module, "Source", Small)
    path = tmp_path / "qrels"
    good = [f"q{at // 3} 0 d{at} {at % 2}\n" for at in range(12)]
    path.write_text("".join(good))
    with Small(path) as source:
        assert [one.start for one in source.pieces()] == [0, 60]
    labels = read_labels(str(path))
    assert labels.names == (b"q0", b"q1", b"q2", b"q3")
    assert [labels.items.text(at) for at in range(12)] == [f"d{at}".encode() for at in range(12)]
    assert labels.grade.tolist() == [0, 1] * 6
    for line, text, words in (
        (8, "q2 0 d7 x\n", "the grade 'x' is not a whole number"),
        (8, "q2 0 d7\n", "3 fields where 4"),
        (9, "q2 0 d7 1\n", "'d7' is judged twice"),
        (1, "q0 0 d0 9007199254740992\n", "the grade '9007199254740992' is not"),
        (2, "q0 0 d0 1\n", "'d0' is judged twice"),
    ):
        path.write_text("".join([*good[: line - 1], text, *good[line:]]))
        with pytest.raises(InputError, match=words) as caught:
            read_labels(str(path))
        assert (caught.value.file, caught.value.line) == (str(path), line), text
    path.write_text("".join([*good[:8], "q2 0 d8 -9007199254740991\n"]))
    assert read_labels(str(path)).grade[8] == -9007199254740991


def test_a_run_given_as_judgements(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    for text in ("q q0 d 1 2.5 t\n", "q Q0 d 1 2 t\n" * 1000, "q Q0 " + "d" * 500 + " 1 2 t"):
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            read_labels(str(path))
        assert caught.value.message == "this looks like a run, not judgements"
        assert caught.value.hint == "each line of judgements is: query 0 document grade; the order is QRELS RUN..."
        assert (caught.value.file, caught.value.line) == (str(path), 1)
    path.write_text("q 0 d 1 and more\nq Q0 e 0\n")  # what follows four fields is not read
    assert read_labels(str(path)).grade.tolist() == [1, 0]
    path.write_text("q Q0 d 1\n")
    assert read_labels(str(path)).grade.tolist() == [1]
    path.write_bytes(b"q 0 d \xff\n")
    with pytest.raises(InputError) as caught:
        read_labels(str(path))
    assert caught.value.message == "the grade '\ufffd' is not a whole number"
    assert caught.value.hint == "each line is: query 0 document grade; is this a run given as qrels?"


@pytest.mark.parametrize(
    ("head", "tag"),
    [(b"", "t\ufffd"), (b"# a b c d e f\n", "t\ufffd"), (b"\n\n", "t\ufffd"), (b"#\n" * 40_000, "")],
)
def test_the_tag_is_that_of_the_first_line(tmp_path: Path, head: bytes, tag: str) -> None:
    path = tmp_path / "run"
    path.write_bytes(head + b"q1 Q0 a 1 1 t\xff\nq1 Q0 b 1 1 other\n")
    assert read_run(str(path), load_labels(QRELS)).tag == tag


def test_the_numbers_of_a_table_are_theirs() -> None:
    found = evaluate(QRELS, RUN, ["rr"])
    assert found.columns[parse("rr(rel=1)")].value.tolist() == [1 / 3, 1.0]
    assert found.interval("rr").n == 2
    assert np.count_nonzero(found.present) == 2
