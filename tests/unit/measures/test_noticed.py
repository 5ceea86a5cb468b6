"""Small promises of the measures that no other test looked at: what is missed counts, hints, odd ids."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ragassay.errors import InputError
from ragassay.measures import evaluate
from ragassay.measures.trec import arrow
from ragassay.measures.trec.columns import labels_from_dict, run_from_dict, run_of, texts_of
from ragassay.measures.trec.output import trec_lines
from ragassay.measures.trec.parts import in_order
from ragassay.measures.unjudged import _labels


def test_what_is_relevant_and_not_retrieved_counts_in_utility() -> None:
    """One hit of two relevant ones among four: 2 * 1 - 1 * 3 - 3 * 1."""
    labels = labels_from_dict({"q": {"a": 1, "b": 0, "z": 2}})
    rows = run_from_dict({"q": {"x": 9.0, "a": 8.0, "b": 7.0, "y": 6.0}}, labels, ("single", "double"))
    assert [line.split() for line in trec_lines(rows, ("utility.2,-1,-3,0",))] == [
        ["utility_2,-1,-3,0", "all", "-4.0000"]
    ]


def test_ids_outside_of_ascii_in_an_array() -> None:
    found = texts_of(np.array(["d\u00e9", "x", "\u6f22"]), "item")
    assert [found.text(at) for at in range(3)] == ["d\u00e9".encode(), b"x", "\u6f22".encode()]


def test_hints_of_wrong_types() -> None:
    with pytest.raises(InputError) as caught:
        run_of(["q"], ["a"], ["1"], labels_from_dict({"q": {"a": 1}}))
    assert caught.value.hint == "numbers are expected"
    with pytest.raises(InputError) as caught:
        texts_of(np.array([1.5]), "item")
    assert caught.value.hint == "ids are str, bytes or whole numbers"


def test_the_labels_of_one_question_are_its_own() -> None:
    lists = SimpleNamespace(label_query=np.array([0, 0, 2, 3, 3]), label_grade=np.array([2, 0, 1, 3, 1]))
    assert [_labels(lists, at).tolist() for at in range(4)] == [[2, 0], [], [1], [3, 1]]  # type: ignore[arg-type]


def test_doubles_that_are_one_float32_keep_their_order_in_every_list() -> None:
    """The highest of a list says nothing of those below it, and a list's last score nothing of the next one's first."""
    run = {"q1": {"a": 3.0, "b": 1.0, "c": 1.0 + 1e-9}, "q2": {"d": 1.0 + 2e-9, "e": 0.5, "f": 0.7}}
    labels = labels_from_dict({query: dict.fromkeys(own, 1) for query, own in run.items()})
    rows = run_from_dict(run, labels).ranked["double"]
    found = {labels.items.text(label): int(rank) for label, rank in zip(rows.label, rows.rank, strict=True)}
    assert found == {b"a": 1, b"c": 2, b"b": 3, b"d": 1, b"f": 2, b"e": 3}


def test_an_id_that_is_no_utf8_and_stands_twice_is_told() -> None:
    labels = labels_from_dict({"q": {"a": 1}})
    with pytest.raises(InputError) as caught:
        run_of(["q", "q"], np.array([b"\xff!", b"\xff!"]), np.array([1.0, 2.0]), labels, strict=True)
    assert "'\ufffd!' stands twice in one list" in caught.value.message


def test_an_error_of_a_foreign_table_that_is_no_utf8_is_told() -> None:
    class Broken(arrow._Stream):
        get_last_error = staticmethod(lambda _: b"caf\xe9")

    with pytest.raises(InputError) as caught:
        arrow._ask(Broken(), 1)
    assert caught.value.message == "the table could not be read: caf\ufffd"


def test_no_judgements_at_all_judge_nothing() -> None:
    labels = labels_from_dict({})
    rows = run_of(["q", "q"], ["a", "b"], np.array([1.0, 2.0]), labels)
    assert rows.ranked["double"].label.tolist() == []


def test_the_hint_where_there_is_no_file() -> None:
    with pytest.raises(InputError) as caught:
        evaluate("/no/such/qrels", {"q": {"a": 1.0}}, ["rr"])
    assert (caught.value.message, caught.value.hint) == ("there is no such file", "check the path")


@pytest.mark.parametrize("threads", [1, 2])
def test_every_part_is_told_as_done_in_its_order(threads: int) -> None:
    told: list[int] = []
    found = list(in_order(lambda part: part * part, range(50), many=True, threads=threads, done=told.append))
    assert found == [part * part for part in range(50)]
    assert told == list(range(50))


def test_what_is_judged_is_known_for_every_question_alone() -> None:
    """Its bounds are its value, in the first question and in later ones."""
    qrels = {f"q{at}": {"a": 1, "b": 0} for at in range(4)}
    run = {f"q{at}": {"a": 3.0, "x": 2.0, "b": 1.0} for at in range(4)}
    for name in ("judged@2", "rbp_residual(p=0.8)"):
        result = evaluate(qrels, run, [name])
        (own,) = result.measures
        values = result.columns[own].value.tolist()
        assert [tuple(one) for one in result.over_unjudged(own).each] == [(value, value) for value in values]
        assert values[0] == pytest.approx(0.5 if name == "judged@2" else 0.2 * 0.8 + 0.8**3)


def test_the_hint_where_a_file_is_empty(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"")
    with pytest.raises(InputError) as caught:
        evaluate(str(tmp_path / "qrels"), {"q": {"a": 1.0}}, ["rr"])
    assert (caught.value.message, caught.value.hint) == ("the file is empty", "one line an item is expected")


@pytest.mark.parametrize(("nulls", "bitmap", "read"), [(0, 1, True), (-1, None, True), (-1, 1, False), (1, 1, False)])
def test_a_column_has_nulls_where_its_count_or_else_its_bitmap_says_so(
    nulls: int, bitmap: int | None, read: bool
) -> None:
    """A count of -1 is not known: without a bitmap there are none, with one there may be."""
    numbers = np.array([2.0, 1.0])
    array = SimpleNamespace(null_count=nulls, offset=0, buffers=[bitmap, numbers.ctypes.data])
    field = SimpleNamespace(format=b"g", dictionary=None)
    if read:
        assert arrow._column(field, array, 0, 2, "score").tolist() == [2.0, 1.0]  # type: ignore[arg-type, union-attr]
    else:
        with pytest.raises(InputError, match=r"^score: the column 'score' has nulls\n"):
            arrow._column(field, array, 0, 2, "score")  # type: ignore[arg-type]
