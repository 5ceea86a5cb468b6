"""What a run's measures could be if its unjudged items had grades: brute force, by hand, and what the command says."""

from __future__ import annotations

import csv
import io
import itertools
import json
from pathlib import Path

import pytest

from ragassay.cli import exit_code_of as main
from ragassay.errors import UsageError
from ragassay.measures import command, evaluate

QRELS = {"p": {"a": 2, "b": 0, "z": 1}, "q": {"a": 0, "y": -1}, "r": {"c": 0}, "s": {"k": 1}, "t": {"a": 1}}
RUN = {
    "p": {"x": 9.0, "a": 8.0, "b": 7.0},
    "q": {"a": 5.0, "y": 4.0},
    "r": {"c": 1.0},
    "s": {"k": 3.0, "u": 2.0, "l": 1.0},
}
"""Unjudged: x in p, y (negative) in q, u and l in s. q and r have nothing relevant; t is not in the run."""
MEASURES = [
    "ndcg@2", "ndcg(gain=exp)", "recall@1", "hit@1", "precision(rel=2)@2", "r_precision", "rr", "ap", "ap(rel=2)",
    "rbp(p=0.5)", "rbp(max=2,p=0.5)@2", "err(max=2)", "bpref", "infap", "set_precision", "set_f1", "set_ap",
    "ndcg(list=condensed)@2", "ap(list=condensed)",
]  # fmt: skip


def every_completion(depth: int | None = None) -> list[dict[str, dict[str, int]]]:
    """Judgements with each grade from 0 to 2 for each unjudged item that is retrieved (within the depth)."""
    free = [("p", "x"), ("q", "y"), ("s", "u")] + ([("s", "l")] if depth is None else [])
    found = []
    for grades in itertools.product(range(3), repeat=len(free)):
        whole = {name: dict(own) for name, own in QRELS.items()}
        for (query, item), grade in zip(free, grades, strict=True):
            whole[query][item] = grade
        found.append(whole)
    return found


@pytest.mark.parametrize("mode", ["native", "trec"])
@pytest.mark.parametrize("depth", [None, 2])
def test_the_mean_and_each_question_by_brute_force(mode: str, depth: int | None) -> None:
    """All completions through `evaluate`: no mean outside, and both ends are reached; so for each question."""
    wanted = [one.with_params(mode=mode) for one in command.measures_of(MEASURES)]
    wanted = [one for one in wanted if one.get("mode") == mode]
    result = evaluate(QRELS, RUN, wanted, depth=depth)
    every = [evaluate(one, RUN, wanted, depth=depth) for one in every_completion(depth)]
    assert len(wanted) > 10
    for measure in wanted:
        found = result.over_unjudged(measure, 2)
        means = [one[measure].value for one in every if one[measure].value is not None]
        assert (found.low, found.high) == pytest.approx((min(means), max(means))), measure
        for at, name in enumerate(result.questions):
            values = [one.question(measure, name).value for one in every]
            known = [one for one in values if one is not None]
            assert found.each[at] == (pytest.approx((min(known), max(known))) if known else (None, None)), measure
        assert (found.questions, found.items) == ((3, 4) if depth is None else (3, 3))


def test_by_hand() -> None:
    """recall@1: p is 0 of 2 whatever x is not, 1 of 3 if it is; s is 1 of 1, or of 3; q counts only if y is relevant
    (0 of 1, since a stands first)."""
    found = evaluate(QRELS, RUN, ["recall@1", "judged@2", "rr"]).over_unjudged("recall@1")
    assert found.top == 2
    assert found.each[:3] == ((0.0, pytest.approx(1 / 3)), (0.0, 0.0), (None, None))
    assert found.low == pytest.approx((0 + 0 + 1 / 3) / 3)
    assert found.high == pytest.approx((1 / 3 + 1) / 2)


def test_what_is_known_is_its_own_bound() -> None:
    """Bounds are the value itself, to the last digit, where nothing is unjudged or the measure is of what is judged."""
    result = evaluate(QRELS, RUN, ["judged@2", "rbp_residual(p=0.5)", "ap"])
    for name in ("judged@2", "rbp_residual(p=0.5)"):
        one = result.over_unjudged(name)
        assert (one.low, one.high) == (result[name].value,) * 2
    full = evaluate({"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"c": 0.3, "b": 0.2, "a": 0.1}}, ["ap", "ndcg"])
    for name in ("ap", "ndcg"):
        one = full.over_unjudged(name)
        assert (one.low, one.high, one.items, one.questions) == (full[name].value, full[name].value, 0, 0)


def test_a_missing_question_stays_out_unless_it_is_an_empty_list() -> None:
    assert evaluate(QRELS, RUN, ["rr"]).over_unjudged("rr").each[4] == (None, None)
    assert evaluate(QRELS, RUN, ["rr"], complete=True).over_unjudged("rr").each[4] == (0.0, 0.0)


def test_the_greatest_grade() -> None:
    """That of the judgements, or the measure's own, or the one that is given; 1 at least."""
    result = evaluate(QRELS, RUN, ["err(max=4)@2", "ndcg"])
    assert [result.over_unjudged(one).top for one in ("err(max=4)@2", "ndcg")] == [4, 2]
    assert result.over_unjudged("ndcg", 3).top == 3
    assert evaluate({"q": {"a": 0}}, {"q": {"b": 1.0}}, ["ndcg"]).over_unjudged("ndcg")[1:4] == (1, 1.0, 1.0)
    with pytest.raises(UsageError, match="the greatest grade is 0"):
        result.over_unjudged("ndcg", 0)
    with pytest.raises(UsageError, match=r"the greatest grade is 1\.5"):
        result.over_unjudged("ndcg", 1.5)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, own in QRELS.items() for d, g in own.items()))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 1 {s} me\n" for q, own in RUN.items() for d, s in own.items()))
    return [str(tmp_path / "qrels"), str(tmp_path / "run")]


def test_the_command_says_them_in_every_form(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["measure", *files, "-m", "recall@1", "-m", "judged@2", "--bounds"]
    low, high = 1 / 9, 2 / 3
    assert main([*asked, "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["measures"][0]["over_unjudged"] == {
        "low": pytest.approx(low), "high": pytest.approx(high), "top_grade": 2, "questions": 3, "items": 4,
    }  # fmt: skip
    assert main([*asked, "--csv"]) == 0
    row = next(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (float(row["unjudged_low"]), float(row["unjudged_high"])) == pytest.approx((low, high))
    assert main([*asked, "--csv", "--by-query"]) == 0
    rows = [one for one in csv.DictReader(io.StringIO(capsys.readouterr().out)) if one["measure"].startswith("recall")]
    assert [one["unjudged_high"] for one in rows] == [str(1 / 3), "0.0", "", "1.0", ""]
    assert main(asked) == 0
    text = capsys.readouterr().out
    assert "recall(rel=1)@1 is 0.1111 to 0.6667 whatever grades from 0 to 2 the 4 unjudged items of 3 questions" in text
    assert "judged@2 counts what is judged" in text
    assert main([*asked, "--by-query"]) == 0
    assert "0.0000 (0.0000 to 0.3333)" in capsys.readouterr().out
    assert main([*asked, "--top-grade", "1", "--depth", "1"]) == 0
    text = capsys.readouterr().out
    assert "whatever grades from 0 to 1 the 1 unjudged item of 1 question would have" in text


def test_without_the_option_nothing_is_said(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("table", "json", "csv"):
        assert main(["measure", *files, "-m", "rr", "--format", form]) == 0
        assert "unjudged" not in capsys.readouterr().out


def test_notes_where_nothing_can_change(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 0\n")
    (tmp_path / "run").write_text("q Q0 a 1 1 me\n")
    files = str(tmp_path / "qrels"), [str(tmp_path / "run")]
    assert "ap(rel=1) is undefined whatever" in command.as_table(command.measure_runs(*files, ["ap"], bounds=True))
    (row,) = command.as_json(command.measure_runs(*files, ["ap"], bounds=True))["runs"][0]["measures"]
    assert row["over_unjudged"] == {"top_grade": 1, "questions": 0, "items": 0}
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    assert "ap(rel=1) has no unjudged items" in command.as_table(command.measure_runs(*files, ["ap"], bounds=True))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--top-grade", "3"], "read with --bounds only"),
        (["--bounds", "--top-grade", "0"], "the greatest grade is 0"),
        (["--bounds", "--format", "trec"], "has no bounds"),
    ],
)
def test_options_that_do_not_fit(
    files: list[str], options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", *files, *options]) == 2
    assert said in capsys.readouterr().err
