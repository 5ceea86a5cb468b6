"""What `ragassay measure` prints, whole: table, JSON and CSV of one small run, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragassay.errors import UsageError
from ragassay.measures import command, evaluate, parse
from ragassay.measures.evaluate import LEAST_GRADE

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"d": 0}, "q4": {"e": 1}}
LINES = ["q1 Q0 a 1 2", "q1 Q0 b 2 1", "q2 Q0 x 1 5", "q2 Q0 c 2 5", "q2 Q0 x 3 4", "q3 Q0 d 1 1", "q9 Q0 z 1 1"]
RUN = "".join(f"{line} mine\n" for line in LINES)
T = 12.706204736432095  # Student t, one degree of freedom


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, own in QRELS.items() for d, g in own.items()))
    run.write_text(RUN)
    return str(qrels), str(run)


def test_table_of_one_run(files: tuple[str, str]) -> None:
    # rr: 1 and 1/2 (x before c by id, tied: 1 and 1); ap at rel=2: q2 alone
    text = command.as_table(command.measure_runs(files[0], [files[1]], ["rr", "ap(rel=2)", "judged@2"]))
    run = files[1]
    assert text.splitlines() == [
        "measure    value   95% interval      scored  undefined  missing",
        "rr(rel=1)  0.7500  0.0000 to 1.0000  2       1          1",
        "ap(rel=2)  0.5000  undefined         1       2          1",
        "judged@2   0.6667  0.0000 to 1.0000  3       0          1",
        f"{run}: 40.0% of the items share their score with another in their list",
        "  rr(rel=1): 0.7500 to 1.0000 over all orders of the tied",
        "  ap(rel=2): 0.5000 to 1.0000 over all orders of the tied",
        f"{run}: 16.7% of the lines repeat an item of their list; each counts once",
        f"{run}: rr(rel=1) is 0.5000 to 0.8333 whatever its 1 missing would be",
        f"{run}: ap(rel=2) is 0.2500 to 0.7500 whatever its 1 missing would be",
        f"{run}: judged@2 is 0.5000 to 0.7500 whatever its 1 missing would be",
        f"{run}: 1 queries have no judgements and are left out",
    ]


def test_table_of_two_runs_and_by_query(files: tuple[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("q1 Q0 b 1 2 t\nq2 Q0 c 1 1 t\nq4 Q0 e 1 1 t\n")
    measured = command.measure_runs(files[0], [files[1], str(other)], ["rr"])
    first, second = command.as_table(measured).splitlines()[:2]
    assert first.split() == ["measure", files[1], str(other), "scored", "undefined", "missing"]
    assert second.split() == ["rr(rel=1)", "0.7500", "0.6667", "2", "to", "3", "0", "to", "1", "1"]
    lines = command.as_table(measured, by_query=True).splitlines()
    assert lines[0] == f"{files[1]:<20} {'rr(rel=1)':<24} {'q1':<16} 1.0000"
    assert [line.split(maxsplit=3)[1:] for line in lines[2:5]] == [
        ["rr(rel=1)", "q3", "undefined (nothing_relevant)"],
        ["rr(rel=1)", "q4", "missing (not_in_run)"],
        ["rr(rel=1)", "q1", "0.0000"],
    ]
    alone = command.as_table(command.measure_runs(files[0], [str(other)], ["rr"]), by_query=True)
    assert alone.splitlines()[0] == f"{'rr(rel=1)':<24} {'q1':<16} 0.0000"


def test_json_whole(files: tuple[str, str]) -> None:
    found = command.as_json(command.measure_runs(files[0], [files[1]], ["rr", "ap(rel=3)"]), by_query=True)
    half = T * 0.25
    assert found == {
        "qrels": files[0],
        "runs": [
            {
                "run": files[1],
                "tag": "mine",
                "questions": 4,
                "queries_without_judgements": 1,
                "tie_rate": 2 / 5,
                "duplicate_rate": 1 / 6,
                "measures": [
                    {"measure": "rr(rel=1)", "aggregation": "macro", "attempted": 4, "scored": 2, "undefined": 1,
                     "missing": 1, "status": "value", "value": 0.75,
                     "interval": {"low": max(0.75 - half, 0), "high": 1, "level": 0.95, "method": "student_t"},
                     "bounds_over_missing": [0.5, pytest.approx(2.5 / 3)], "range_over_tie_orders": [0.75, 1.0]},
                    {"measure": "ap(rel=3)", "aggregation": "macro", "attempted": 4, "scored": 0, "undefined": 3,
                     "missing": 1, "status": "undefined"},
                ],
                "by_query": [
                    row
                    for query, value in (("q1", (1.0, 1.0, 1.0)), ("q2", (0.5, 1.0, 2.0)), ("q3", None), ("q4", None))
                    for row in (
                        {"query": query, "measure": "rr(rel=1)", "status": "value",
                         **dict(zip(("value", "numerator", "denominator"), value, strict=True))} if value
                        else {"query": query, "measure": "rr(rel=1)",
                              "status": "undefined" if query == "q3" else "missing",
                              "reason": "nothing_relevant" if query == "q3" else "not_in_run"},
                        {"query": query, "measure": "ap(rel=3)",
                         "status": "undefined" if query != "q4" else "missing",
                         "reason": "nothing_relevant" if query != "q4" else "not_in_run"},
                    )
                ],
            }
        ],
    }  # fmt: skip
    assert "by_query" not in command.as_json(command.measure_runs(files[0], [files[1]], ["rr"]))["runs"][0]
    nothing = command.as_json(command.measure_runs(files[0], [files[1]], ["rr(rel=3)"], complete=True))
    assert nothing["runs"][0]["measures"][0]["status"] == "undefined"
    Path(files[1]).write_text("q9 Q0 z 1 1 mine\n")
    absent = command.as_json(command.measure_runs(files[0], [files[1]], ["rr"]))["runs"][0]
    assert (absent["measures"][0]["status"], absent["tie_rate"]) == ("missing", None)


def test_csv_whole(files: tuple[str, str]) -> None:
    measured = command.measure_runs(files[0], [files[1]], ["hit@1", "ap(rel=3)"])
    assert command.as_csv(measured) == (
        "run,measure,value,attempted,scored,undefined,missing,low,high\n"
        f"{files[1]},hit(rel=1)@1,0.5,4,2,1,1,0.0,1.0\n"
        f"{files[1]},ap(rel=3),,4,0,3,1,,\n"
    )
    by_query = command.as_csv(command.measure_runs(files[0], [files[1]], ["rr"]), by_query=True)
    assert by_query == (
        "run,query,measure,status,value,numerator,denominator,reason\n"
        f"{files[1]},q1,rr(rel=1),value,1.0,1.0,1.0,\n"
        f"{files[1]},q2,rr(rel=1),value,0.5,1.0,2.0,\n"
        f"{files[1]},q3,rr(rel=1),undefined,,,,nothing_relevant\n"
        f"{files[1]},q4,rr(rel=1),missing,,,,not_in_run\n"
    )


def test_measures_that_are_asked_for() -> None:
    assert [str(one) for one in command.measures_of(())] == [
        "ndcg@10", "recall(rel=1)@100", "rr(rel=1)@10", "ap(rel=1)", "judged@10",
    ]  # fmt: skip
    asked = command.measures_of(["map", "ap", "ndcg(mode=trec10)@3", "hit(rel=3)@2"], mode="trec", rel=2)
    assert [str(one) for one in asked] == ["ap(mode=trec,rel=2)", "ndcg(mode=trec10)@3", "hit(mode=trec,rel=3)@2"]
    assert LEAST_GRADE == 1


@pytest.mark.parametrize(
    "call, message, hint",
    [
        (lambda q, r: command.measure_runs(q, []), "no run was named", "ragassay measure QRELS RUN [RUN...]"),
        (lambda q, r: command.measure_runs("-", [r, "-"]), "standard input (-) can be read once only",
         "name files for the others"),
        (lambda q, r: command.measure_runs(q, [r], mode="tec"), "there is no mode 'tec'",
         "one of native, trec, trec10"),
        (lambda q, r: command.measure_runs(q, [r], rel=0), "the least relevant grade is 0",
         "a whole number from 1 on, as in -l 2"),
        (lambda q, r: list(command.trec_output(q, [r], mode="native")), "--format trec prints what trec_eval does",
         "give --mode trec or --mode trec10"),
        (lambda q, r: list(command.trec_output(q, [])), "no run was named", "ragassay measure QRELS RUN [RUN...]"),
        (lambda q, r: evaluate(q, r, []), "no measure was asked for", "as in -m ndcg@10 -m recall@100"),
        (lambda q, r: evaluate(q, r, ["ap"], rel=0), "the least relevant grade is 0", "a whole number from 1 on"),
        (lambda q, r: evaluate(q, r, ["ap"])["rr"], "rr(rel=1) was not asked for", "there are: ap(rel=1)"),
        (lambda q, r: evaluate(q, r, ["ap"]).question("ap", "q9"), "there are no judgements for query 'q9'", ""),
        (lambda q, r: evaluate(q, r, ["harmful@3"]),
         "harmful needs the roles of evidence, which judgements in TREC form do not have",
         "score a benchmark with evidence roles instead"),
        (lambda q, r: evaluate(q, r, ["ap(unit=passage)"]), "ap(rel=1,unit=passage) needs a sealed segmentation",
         "TREC items have one unit: leave `unit` out"),
    ],
)  # fmt: skip
def test_refusals(files: tuple[str, str], call: Callable[[str, str], object], message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        call(*files)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_an_evaluation_says_everything_of_a_measure(files: tuple[str, str]) -> None:
    Path(files[1]).write_text(RUN.replace("q2 Q0 x 3 4 mine\n", ""))
    found = evaluate(*files, ["rr", "recall@1", "rr(mode=trec10,rel=1)"], complete=True)
    rr = found["rr"]
    assert rr == (parse("rr(rel=1)"), 0.5, 4, 3, 1, 0, (0.5, 0.5), (0.5, 2 / 3))
    assert found.summaries() == tuple(found[one] for one in found.measures)
    assert found.questions == ("q1", "q2", "q3", "q4")
    assert found["rr(mode=trec10)"].value == (1 + 1 / 2) / 4
    assert found.interval("rr", level=0.8).level == 0.8
    assert found.interval("rr").n == 3
    assert evaluate(*files, ["rr"], depth=1)["rr"].value == 1 / 2
    nothing = evaluate(files[0], {}, ["rr"])
    assert (nothing.tie_rate, nothing.duplicate_rate) == (None, None)
    assert nothing["rr"] == (parse("rr(rel=1)"), None, 4, 0, 0, 4, (0.0, 1.0), None)


def test_progress_is_told_of_each_run(files: tuple[str, str]) -> None:
    told: list[tuple[str, int, int]] = []
    command.measure_runs(
        files[0], [files[1]], ["rr"], progress=lambda run, done, total: told.append((run, done, total))
    )
    assert told[-1] == (files[1], len(RUN), len(RUN))


def test_trec_names_and_modes(files: tuple[str, str]) -> None:
    single = RUN.replace("q2 Q0 x 3 4 mine\n", "")
    Path(files[1]).write_text(single)
    lines = list(command.trec_output(*[files[0], [files[1]]], ["P@2", "recall_2", "map", "ndcg_cut.2"], complete=True))
    assert [line.split() for line in lines] == [
        ["P_2", "all", "0.2500"], ["recall_2", "all", "0.5000"], ["map", "all", "0.3750"],
        ["ndcg_cut_2", "all", "0.4077"],
    ]  # fmt: skip
    official = list(command.trec_output(files[0], [files[1]]))
    assert official[0].split() == ["runid", "all", "mine"]
    deeper = list(command.trec_output(files[0], [files[1]], ["map"], rel=2, depth=1, mode="trec"))
    assert deeper[0].split() == ["map", "all", "0.0000"]
    double = list(command.trec_output(files[0], [files[1]], ["map"], mode="trec10", complete=True))
    assert double[0].split() == ["map", "all", "0.3750"]
