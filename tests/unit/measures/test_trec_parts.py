"""Parts of the TREC reader, by hand: rows with parameters, progress, lines of errors, tables of masks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragassay.errors import InputError, UsageError
from ragassay.measures import evaluate
from ragassay.measures.trec.columns import labels_from_dict, labels_of, run_from_dict, run_of
from ragassay.measures.trec.decimals import _end_masks
from ragassay.measures.trec.labels import Labels, read_labels
from ragassay.measures.trec.output import trec_lines
from ragassay.measures.trec.run import RunRows, read_run


@pytest.mark.parametrize("count", [1, 2, 3])
def test_masks_keep_the_last_bytes_of_a_window(count: int) -> None:
    masks = _end_masks(count)
    size = 8 * count
    assert [one.tobytes() for one in masks] == [b"\0" * (size - n) + b"\xff" * n for n in range(size + 1)]


def of(labels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> RunRows:
    return run_from_dict(run, labels_from_dict(labels), ("single", "double"))


def printed(rows: RunRows, *names: str, **options: object) -> list[list[str]]:
    return [line.split() for line in trec_lines(rows, names, **options)]  # type: ignore[arg-type]


ROWS = of(
    {"q1": {"a": 1, "b": 0, "z": 2}, "q2": {"a": 2}},
    {"q1": {"x": 9.0, "a": 8.0, "b": 7.0, "y": 6.0, "z": 5.0}},
)


def test_rows_with_parameters_by_hand() -> None:
    # q1 is x a b y z: unjudged at 1 and 4, relevant at 2 and 5
    assert printed(ROWS, "unj.4,1,2") == [["unj_1", "all", "1.0000"], ["unj_2", "all", "0.5000"],
                                          ["unj_4", "all", "0.5000"]]  # fmt: skip
    assert printed(ROWS, "unj")[2] == ["unj_20", "all", "0.1000"]
    assert printed(ROWS, "P.2,0005") == [["P_2", "all", "0.5000"], ["P_5", "all", "0.4000"]]
    assert printed(ROWS, "relative_P.1,3") == [["relative_P_1", "all", "0.0000"], ["relative_P_3", "all", "0.5000"]]
    assert printed(ROWS, "set_relative_P") == [["set_relative_P", "all", "1.0000"]]
    assert printed(ROWS, "utility.2,-1,-1,0") == [["utility_2,-1,-1,0", "all", "1.0000"]]
    assert printed(ROWS, "iprec_at_recall.0.5") == [["iprec_at_recall_0.50", "all", "0.5000"]]
    assert printed(ROWS, "11pt_avg.0.5,1") == [["11pt_avg_0.5,1", "all", "0.4500"]]
    assert printed(ROWS, "Rprec_mult.0.5,1") == [["Rprec_mult_0.50", "all", "0.0000"],
                                                 ["Rprec_mult_1.00", "all", "0.5000"]]  # fmt: skip
    # greatest grade 2: a is worth 1/2 at rank 2, z 1 at rank 5
    assert printed(ROWS, "rbp") == [["rbp", "all", f"{0.1 * (0.5 * 0.9 + 0.9**4):.4f}"]]


def test_defaults_of_trec_lines() -> None:
    assert printed(ROWS, "num_rel", "num_q", "runid") == [["runid", "all"], ["num_q", "all", "1"],
                                                          ["num_rel", "all", "2"]]  # fmt: skip
    assert printed(ROWS, "num_rel", rel=2) == [["num_rel", "all", "1"]]
    assert printed(ROWS, "num_q", complete=True, version="trec10") == [["num_q", "all", "2"]]
    assert printed(ROWS, "recall.5", by_query=True) == [["recall_5", "q1", "1.0000"], ["recall_5", "all", "1.0000"]]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("rbp.3", "rbp takes no parameters here", "write rbp"),
        ("rbp_resid.3", "rbp_resid takes no parameters here", "write rbp_resid"),
        ("binG.3", "binG takes no parameters here", "write binG"),
        ("set_F.1", "set_F takes no parameters here", "write set_F"),
        ("map.3", "map takes no parameters here", "write map"),
        ("num_rel.3", "num_rel takes no parameters here", "write num_rel"),
        ("unj.a", "'a' of unj is not a list of numbers", "as in unj.5,10"),
        ("P.5,-1", "'5,-1' of P is not a list of numbers", "as in P.5,10"),
        ("relative_P.x", "'x' of relative_P is not a list of numbers", "as in relative_P.5,10"),
        ("iprec_at_recall.x", "'x' of iprec_at_recall is not a list of numbers", "as in iprec_at_recall.5,10"),
        ("11pt_avg.x", "'x' of 11pt_avg is not a list of numbers", "as in 11pt_avg.5,10"),
        ("Rprec_mult.x", "'x' of Rprec_mult is not a list of numbers", "as in Rprec_mult.5,10"),
        ("utility.1,2", "utility takes four weights, the last of them 0", "as in utility.1,-1,0,0"),
        ("utility.1,2,3,4", "utility takes four weights, the last of them 0", "as in utility.1,-1,0,0"),
    ],
)
def test_rows_that_are_refused(name: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        printed(ROWS, name)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def lines_of(queries: int, each: int) -> list[str]:
    """Lines of every query, all queries by turns: none stands in one place."""
    return [f"q{query} Q0 d{at:03d} 1 {at / 7:.3f} t" for at in range(each) for query in range(queries)]


def write(folder: Path, lines: list[str]) -> tuple[str, Labels]:
    path = folder / "run"
    path.write_text("\n".join(lines))  # the last line has no newline
    return str(path), labels_from_dict({f"q{query}": {"d003": 1, "d001": 2} for query in range(9)})


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_ends_with_the_whole_size(tmp_path: Path, threads: int) -> None:
    path, labels = write(tmp_path, sorted(lines_of(9, 30)))
    told: list[tuple[int, int]] = []
    read_run(path, labels, piece=500, threads=threads, progress=lambda done, size: told.append((done, size)))
    size = Path(path).stat().st_size
    assert len(told) > 5
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1] == (size, size)
    assert {one for _, one in told} == {size}


@pytest.mark.parametrize("at", [0, 1, 17, 100, 268, 269])
@pytest.mark.parametrize("piece", [300, 1 << 20])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_broken_line_of_a_scattered_file_has_its_number(tmp_path: Path, at: int, piece: int, threads: int) -> None:
    lines = lines_of(9, 30)
    for broken, words in ((" ".join(lines[at].split()[:4]), "4 fields where 6"), ("\x01", "a control character"),
                          (lines[at].replace(" t", "x t"), "is not a number")):  # fmt: skip
        path, labels = write(tmp_path, [*lines[:at], broken, *lines[at + 1 :]])
        with pytest.raises(InputError, match=words) as caught:
            read_run(path, labels, piece=piece, threads=threads)
        assert (caught.value.line, caught.value.file) == (at + 1, path), words


@pytest.mark.parametrize("piece", [300, 1 << 20])
def test_an_item_twice_in_a_scattered_file_has_its_line(tmp_path: Path, piece: int) -> None:
    path, labels = write(tmp_path, [*lines_of(9, 30), "q4 Q0 d007 1 -5 t"])
    with pytest.raises(InputError, match="'d007' stands twice") as caught:
        read_run(path, labels, strict=True, piece=piece)
    assert (caught.value.line, caught.value.file) == (271, path)


@pytest.mark.parametrize("piece", [300, 1 << 20])
def test_a_scattered_file_is_the_same_as_a_sorted_one(tmp_path: Path, piece: int) -> None:
    path, labels = write(tmp_path, lines_of(9, 30))
    run = read_run(path, labels, piece=piece)
    assert run.retrieved.tolist() == [30] * 9
    assert run.ranked["double"].rank.tolist() == [27, 29] * 9
    assert run.tag == "t"


def test_words_of_a_line_with_too_few_fields(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q1 0 d1 1\n" + "long" * 20 + " \xe9 x\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_labels(str(path))
    assert caught.value.message == "3 fields where 4 are expected: '" + "long" * 15 + "'"
    assert caught.value.hint == "each line is: query 0 document grade"
    path.write_bytes(b"  q1 \xff d1\n")
    with pytest.raises(InputError) as caught:
        read_labels(str(path))
    assert caught.value.message == "3 fields where 4 are expected: 'q1 \ufffd d1'"
    run = tmp_path / "run"
    swapped = "; this looks like judgements (qrels): the order is QRELS RUN..."
    for text, count, more in (("q Q0 d 1 2", 5, ""), ("q 0 d 1", 4, swapped)):
        run.write_text(text)
        with pytest.raises(InputError) as caught:
            read_run(str(run), labels_from_dict({"q": {"d": 1}}))
        assert caught.value.message == f"{count} fields where 6 are expected: {text!r}"
        assert caught.value.hint == "each line is: query Q0 document rank score tag" + more


@pytest.mark.parametrize("kind", ["S9", "S4", "U9", object])
@pytest.mark.parametrize(
    "queries",
    [["a", "a", "b", "b", "b", "ab"], ["ab", "ab", "ac", "bc", "bc"], ["q"] * 4, ["q1", "q2", "q1", "q2", "q1"],
     ["abcd", "abcd", "wxyz", "abcd"]],
)  # fmt: skip
def test_queries_change_at_any_byte(kind: object, queries: list[str]) -> None:
    items = [f"d{at}" for at in range(len(queries))]
    labels = labels_of(queries, items, np.ones(len(queries)))
    run = run_of(np.array(queries, kind), items, np.arange(len(queries)) + 0.5, labels)  # type: ignore[call-overload]
    names = sorted(set(queries))
    assert [name.decode() for name in labels.names] == names
    assert run.retrieved.tolist() == [queries.count(name) for name in names]
    want = [(names.index(query), 1 + queries[at:].count(query) - 1) for at, query in enumerate(queries)]
    got = list(zip(run.ranked["double"].query.tolist(), run.ranked["double"].rank.tolist(), strict=True))
    assert sorted(got) == sorted(want)


def test_columns_of_different_lengths_say_so() -> None:
    with pytest.raises(InputError) as caught:
        evaluate({"q": {"a": 1}}, (["q"], ["a", "b"], [1.0, 2.0, 3.0]), ["ap"])
    assert caught.value.message == "columns of different lengths: 1, 2 and 3"
    assert caught.value.hint == "query, item and grade or score have one row each"


def test_questions_that_the_run_lacks_in_trec_lines() -> None:
    assert printed(ROWS, "recall.5", by_query=True, complete=True) == [
        ["recall_5", "q1", "1.0000"], ["recall_5", "all", "0.5000"],
    ]  # fmt: skip
    assert printed(ROWS, "recall.5", by_query=True, complete=True, version="trec10") == [
        ["recall_5", "q1", "1.0000"], ["recall_5", "q2", "0.0000"], ["recall_5", "all", "0.5000"],
    ]  # fmt: skip
    with pytest.raises(InputError) as caught:
        printed(ROWS, "map", version="trec10")
    assert caught.value.message == "the run has no items for query 'q2'"
    assert caught.value.hint == "trec_eval 10 stops here; give -c"
    none = of({"q1": {"a": 1}}, {"q9": {"a": 1.0}})
    assert printed(none, "map", "gm_map", "num_q") == [["num_q", "all", "0"], ["map", "all", "0.0000"],
                                                       ["gm_map", "all", "0.0000"]]  # fmt: skip


def test_names_that_are_no_text(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(b"q\xff 0 d 1\nr\xfe 0 d 1\n")
    run.write_bytes(b"q\xff Q0 d 1 1 t\n")
    rows = read_run(str(run), read_labels(str(qrels)))
    assert printed(rows, "recall.5", by_query=True, version="trec10", complete=True)[0][1] == "q\udcff"
    with pytest.raises(InputError, match="no items for query 'r\ufffd'"):
        printed(rows, "map", version="trec10")
    found = evaluate(str(qrels), str(run), ["ap"])
    assert found.questions == ("q\udcff", "r\udcfe")
    assert found.question("ap", "q\udcff").value == 1.0
    with pytest.raises(UsageError) as caught:
        found["rr"]
    assert (caught.value.message, caught.value.hint) == ("rr(rel=1) was not asked for", "there are: ap(rel=1)")
    two = evaluate(str(qrels), str(run), ["ap", "rr"])
    with pytest.raises(UsageError) as caught:
        two["ndcg"]
    assert caught.value.hint == "there are: ap(rel=1), rr(rel=1)"


def test_a_cut_off_of_nothing_is_a_level_too() -> None:
    assert printed(ROWS, "iprec_at_recall.0,1") == [["iprec_at_recall_0.00", "all", "0.5000"],
                                                    ["iprec_at_recall_1.00", "all", "0.4000"]]  # fmt: skip


def test_a_line_without_end_says_where_and_what_to_look_for(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"q Q0 d 1 1 t\n" * 3 + b"x" * 70_000 * 4)
    with pytest.raises(InputError, match="a line of more than 65536 bytes") as caught:
        read_run(str(path), labels_from_dict({"q": {"d": 1}}), piece=10)
    assert (caught.value.file, caught.value.line) == (str(path), 4)
    assert caught.value.hint == "the file must be lines of text, one item a line; is it the right file?"
    path.write_bytes(b"x" * 70_000)
    with pytest.raises(InputError, match="a line of more than") as caught:
        read_labels(str(path))
    assert (caught.value.file, caught.value.line) == (str(path), 1)


class Frame:
    """A table whose columns become arrays only when asked, as those of some libraries do."""

    columns = ("qid", "docno", "sim", 3)

    def __getitem__(self, name: str) -> OneColumn:
        return OneColumn(name)


class OneColumn:
    def __init__(self, name: str) -> None:
        self.name = name

    def to_numpy(self) -> np.ndarray:
        return {"qid": np.array(["q"]), "docno": np.array(["d"]), "sim": np.array([2.0])}[self.name]


def test_tables_by_their_names() -> None:
    assert evaluate({"q": {"d": 1}}, Frame(), ["ap"])["ap"].value == 1.0
    with pytest.raises(InputError) as caught:
        evaluate({"q": {"d": 1}}, 2.5, ["ap"])
    assert caught.value.message == "a float is not a table"
    assert caught.value.hint == (
        "give a file path, a dictionary of dictionaries, a table, or three columns (query, item, number)"
    )
    with pytest.raises(InputError) as caught:
        evaluate(Frame(), {"q": {"d": 1.0}}, ["ap"])
    assert caught.value.message == "no column named grade or relevance or rel"
    assert caught.value.hint == "the table has: qid, docno, sim, 3"
    with pytest.raises(InputError) as caught:
        evaluate({"q": {"d": 1}}, {"a": [1], "b": 2, "c": 3, "d": 4}, ["ap"])
    assert caught.value.hint == "the table has: a, b, c, d"
    with pytest.raises(InputError) as caught:
        evaluate({"q": {"d": 1}}, {"a": 1.0}, ["ap"])
    assert caught.value.message == "no column named query_id or query or qid"


def test_errors_of_judgements_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    for text, line, words in (
        ("q 0 d 1\nq 0 e x\n", 2, "the grade 'x' is not a whole number"),
        ("q 0 d 1\nq 0 e 1\nq 0 f 1.5\n", 3, "the grade '1.5' is not a whole number"),
        ("q 0 d 1\n\nq 0 e\n", 3, "3 fields where 4"),
        ("q 0 d 1\nq 0 e 1\nq 0 d 0\n", 3, "'d' is judged twice for query 'q'"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=words) as caught:
            read_labels(str(path))
        assert (caught.value.file, caught.value.line) == (str(path), line)
