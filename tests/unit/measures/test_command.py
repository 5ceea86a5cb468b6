"""What `ragassay measure` says, and the drop-ins; tables of other libraries where these are installed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from ragassay.errors import InputError, UsageError
from ragassay.measures import command, evaluate
from ragassay.measures.drop_in import RelevanceEvaluator
from ragassay.measures.drop_in import evaluate as as_ranx

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"d": 0}, "q4": {"e": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 5.0, "c": 5.0}, "q3": {"d": 1.0}, "q9": {"z": 1.0}}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, own in QRELS.items() for d, g in own.items()))
    run.write_text("".join(f"{q} Q0 {d} 1 {s} mine\n" for q, own in RUN.items() for d, s in own.items()))
    return str(qrels), str(run)


def test_json_counts_everything(files: tuple[str, str]) -> None:
    found = command.as_json(command.measure_runs(files[0], [files[1]], ["map", "rr"]), by_query=True)
    (run,) = found["runs"]
    row = run["measures"][0]
    assert row["measure"] == "ap(rel=1)"
    # q1: 1; q2: x > c by id, so c at rank 2: .5; q3: nothing relevant; q4: not in the run
    assert (row["value"], row["attempted"], row["scored"], row["undefined"], row["missing"]) == (0.75, 4, 2, 1, 1)
    assert row["bounds_over_missing"] == [pytest.approx(1.5 / 3), pytest.approx(2.5 / 3)]
    assert row["range_over_tie_orders"] == [0.75, 1.0]
    assert (run["tag"], run["queries_without_judgements"], run["tie_rate"]) == ("mine", 1, 2 / 5)
    states = {
        (one["query"], one["status"], one.get("reason")) for one in run["by_query"] if one["measure"] == "rr(rel=1)"
    }
    assert states == {("q1", "value", None), ("q2", "value", None), ("q3", "undefined", "nothing_relevant"),
                      ("q4", "missing", "not_in_run")}  # fmt: skip
    json.dumps(found, allow_nan=False)


def test_csv_has_a_row_for_everything(files: tuple[str, str]) -> None:
    measured = command.measure_runs(files[0], [files[1], files[1]], ["ndcg@10"], complete=True)
    rows = list(csv.DictReader(io.StringIO(command.as_csv(measured))))
    assert [row["measure"] for row in rows] == ["ndcg@10"] * 2
    assert float(rows[0]["value"]) == pytest.approx((1 + 1 / np.log2(3) + 0) / 3)
    per_query = list(csv.DictReader(io.StringIO(command.as_csv(measured, by_query=True))))
    assert len(per_query) == 8
    assert [row["value"] for row in per_query if row["status"] == "undefined"] == ["", ""]


def test_table_says_what_must_be_known(files: tuple[str, str]) -> None:
    text = command.as_table(command.measure_runs(files[0], [files[1]], ["ap"]))
    for part in ("ap(rel=1)", "0.7500", "share their score", "over all orders", "missing would be", "no judgements"):
        assert part in text
    assert "missing (not_in_run)" in command.as_table(command.measure_runs(files[0], [files[1]], ["ap"]), by_query=True)


def test_trec_format_is_trec_evals(files: tuple[str, str]) -> None:
    lines = list(command.trec_output(files[0], [files[1]], ["map", "P@5", "num_q"], by_query=True))
    assert lines[0] == "map                   \tq1\t1.0000"
    assert lines[-3:] == ["num_q                 \tall\t3", "map                   \tall\t0.5000",
                          "P_5                   \tall\t0.1333"]  # fmt: skip
    with pytest.raises(UsageError, match="no trec_eval measure 'nope'"):
        list(command.trec_output(files[0], [files[1]], ["nope"]))
    with pytest.raises(InputError, match="no items for query 'q4'"):
        list(command.trec_output(files[0], [files[1]], ["map"], mode="trec10"))


def test_usage_errors(files: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="no run was named"):
        command.measure_runs(files[0], [])
    with pytest.raises(UsageError, match="once only"):
        command.measure_runs("-", ["-"])
    with pytest.raises(UsageError, match="no mode"):
        command.measure_runs(files[0], [files[1]], mode="tec")
    with pytest.raises(UsageError, match="roles of evidence"):
        command.measure_runs(files[0], [files[1]], ["harmful@5"])
    with pytest.raises(UsageError, match="no measure was asked for"):
        evaluate(QRELS, RUN, [])
    with pytest.raises(UsageError, match="was not asked for"):
        _ = evaluate(QRELS, RUN, ["ap"])["rr"]


def test_the_drop_in_refuses_what_it_does_not_compute() -> None:
    with pytest.raises(UsageError, match="unsupported measure 'nope'"):
        RelevanceEvaluator(QRELS, {"nope"})


def test_ranx_like_calls() -> None:
    assert as_ranx(QRELS, RUN, "mrr", make_comparable=True) == pytest.approx((1 + 0.5 + 0 + 0) / 4)
    found = as_ranx(QRELS, RUN, ["hit_rate@1", "ndcg_burges@10", "recall@5-l2"], make_comparable=True)
    assert found["hit_rate@1"] == 1 / 4
    assert found["ndcg_burges@10"] == pytest.approx((1 + 1 / np.log2(3)) / 4)
    assert found["recall@5-l2"] == 1 / 4
    assert as_ranx(QRELS, RUN, "map", return_mean=False, make_comparable=True).tolist() == [1.0, 0.5, 0.0, 0.0]
    with pytest.raises(UsageError, match="lacks query 'q4'"):
        as_ranx(QRELS, RUN, "map")


def columns() -> tuple[list[str], list[str], list[float]]:
    rows = [(query, item, score) for query, own in RUN.items() for item, score in own.items()]
    return tuple(map(list, zip(*rows, strict=True)))  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ["lists", "strings", "bytes", "objects", "records", "mapping"])
def test_columns_of_every_kind(kind: str) -> None:
    queries, items, scores = columns()
    tables = {
        "lists": (queries, items, scores),
        "strings": (np.array(queries), np.array(items), np.array(scores)),
        "bytes": (np.array(queries, "S"), np.array(items, "S"), np.array(scores)),
        "objects": (np.array(queries, object), np.array(items, object), np.array(scores)),
        "records": np.array(list(zip(queries, items, scores, strict=True)),
                            [("query_id", "U4"), ("doc_id", "U4"), ("score", "f8")]),
        "mapping": {"query": queries, "docno": items, "score": scores},
    }  # fmt: skip
    assert evaluate(QRELS, tables[kind], ["ap"]).summaries() == evaluate(QRELS, RUN, ["ap"]).summaries()


def test_whole_numbers_as_ids_are_their_decimal_text() -> None:
    found = evaluate({"1": {"10": 1, "2": 1}}, (np.ones(4, int), np.array([10, 9, 2, 100]), np.full(4, 1.5)), ["ap"])
    assert found["ap"].value == 0.5  # 9 2 100 10 by bytes


def test_bad_tables() -> None:
    with pytest.raises(InputError, match="no column named"):
        evaluate(QRELS, {"query": ["q"], "score": [1.0]}, ["ap"])
    with pytest.raises(InputError, match="not a table"):
        evaluate(QRELS, 3, ["ap"])
    with pytest.raises(InputError, match="different lengths"):
        evaluate(QRELS, (["q"], ["a", "b"], [1.0]), ["ap"])
    with pytest.raises(InputError, match="is nan"):
        evaluate(QRELS, (["q"], ["a"], [float("nan")]), ["ap"])
    with pytest.raises(InputError, match="whole numbers"):
        evaluate((["q"], ["a"], [0.5]), RUN, ["ap"])
    with pytest.raises(InputError, match="ids are str"):
        evaluate(QRELS, ([None], ["a"], [1.0]), ["ap"])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of_other_libraries(library: str) -> None:
    module = pytest.importorskip(library)
    queries, items, scores = columns()
    items = [f"a-rather-long-identifier-{item}" if item in "ad" else item for item in items]
    named = {"query_id": queries, "doc_id": items, "score": scores}
    table = module.table(named) if library == "pyarrow" else module.DataFrame(named)
    expected = evaluate(QRELS, (queries, items, scores), ["ap", "ndcg@3"]).summaries()
    assert evaluate(QRELS, table, ["ap", "ndcg@3"]).summaries() == expected
    if library == "polars":
        sliced = module.concat([table.head(2), table.tail(-2)], rechunk=False)
        assert evaluate(QRELS, sliced.cast({"query_id": module.Categorical}), ["ap", "ndcg@3"]).summaries() == expected
        with pytest.raises(InputError, match="nulls"):
            evaluate(QRELS, table.with_columns(module.lit(None).cast(module.String).alias("doc_id")), ["ap"])
