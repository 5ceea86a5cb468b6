"""Eleven ways to pass with nothing, through the command line: none passes, and each has its documented exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.gate.project import FLOOR, GOOD, POLICY, RECALL, Project

from ragassay.assay import measure
from ragassay.records.canonical import digest_set
from ragassay.records.protocol import Run
from ragassay.records.score import Estimate, Observation, ScoreTable
from ragassay.store import Store

CANNOT_TELL, USAGE, ERRORS, INTEGRITY = 3, 2, 4, 5


@pytest.fixture
def make(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return lambda **given: Project(tmp_path, capsys, **given)


def store_of(project: Project) -> Store:
    return Store.open(project.folder / ".ragassay")


def test_what_is_good_passes(make: Any) -> None:
    """So that what follows does not pass for its own reason, and not because nothing ever passes."""
    project = make()
    project.run()
    code, decision = project.gate()
    assert (code, decision["outcome"]) == (0, "pass"), decision
    assert decision["results"][0]["bound"] == pytest.approx(0.05 ** (1 / 30))


def test_no_questions(make: Any) -> None:
    project = make()
    project.cases([])
    code, _, err = project.do("run")
    assert code == USAGE, err
    project.cases([project.case(one, slice=["split=candidate"]) for one in range(30)])
    project.run()
    code, decision = project.gate()
    assert (code, decision["outcome"]) == (CANNOT_TELL, "inconclusive")
    assert "no_questions" in project.reasons(decision), "candidates that nobody confirmed are no questions"


def test_all_errors(make: Any) -> None:
    project = make(system="def answer(request):\n    raise RuntimeError('down')\n")
    project.run()
    code, decision = project.gate()
    assert (code, decision["outcome"]) == (ERRORS, "inconclusive")
    assert {"too_many_errors", "questions_in_error"} <= project.reasons(decision)


def test_all_missing(make: Any) -> None:
    project = make(system='def answer(request):\n    return {"answer": {"text": "x", "outcome": "answered"}}\n')
    project.run()
    code, decision = project.gate()
    assert code == CANNOT_TELL
    assert project.reasons(decision) & {"measure_missing", "step_missing", "questions_missing"}


def test_an_empty_slice(make: Any) -> None:
    project = make(policy=f'[policy]\nname = "p"\n{FLOOR}slice = "nobody"\n')
    assert project.do("policy", "check")[0] == USAGE
    project.run()
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (CANNOT_TELL, {"empty_population"})


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_nan(make: Any, number: str) -> None:
    """No threshold is NaN, and no system can say a NaN that is then a value."""
    project = make(policy=f'[policy]\nname = "p"\n[[policy.rules]]\n{RECALL}at_most = {number}\n')
    code, _, err = project.do("gate")
    assert code == USAGE
    assert "not a finite number" in err
    said = GOOD.replace('"outcome": "answered"}', f'"outcome": "answered", "confidence": float("{number}")}}')
    project = make(
        system=said,
        measures=["exact_match", "outcome", "brier(of=exact_match)"],
        policy='[policy]\nname = "p"\n[[policy.rules]]\nmeasure = "brier(of=exact_match)"\nat_most = 0.5\n',
        each={"answers": [{"text": "x"}]},
    )
    project.settings()
    assert project.do("run")[0] in (0, ERRORS)
    code, decision = project.gate()
    assert code in (CANNOT_TELL, ERRORS), decision
    assert decision["outcome"] == "inconclusive"


def test_a_renamed_measure(make: Any) -> None:
    project = make(policy='[policy]\nname = "p"\n[[policy.rules]]\nmeasure = "recal@5"\nat_least = 0.5\n')
    code, _, err = project.do("run")
    assert code == USAGE
    assert "did you mean recall" in err
    project = make(policy=POLICY.replace("@5", "@7"))
    code, out, _ = project.do("policy", "check")
    assert code == USAGE
    assert "the scoring lacks recall(rel=2)@7" in out
    project.run()
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (CANNOT_TELL, {"measure_missing"})


def test_an_absent_baseline(make: Any) -> None:
    project = make(policy=f'[policy]\nname = "p"\n[[policy.rules]]\n{RECALL}margin = 0.5\n')
    project.run()
    code, decision = project.gate()
    assert (code, project.reasons(decision)) == (CANNOT_TELL, {"baseline_absent"})
    code, decision = project.gate("--baseline", "nobody")
    assert code == USAGE


def test_unjudged_everything(make: Any) -> None:
    project = make(each={"evidence": None, "facts": None})
    project.run()
    code, decision = project.gate()
    assert code == CANNOT_TELL
    assert project.reasons(decision) <= {"empty_population", "questions_missing"}


@pytest.mark.parametrize(
    "policy", ["", '[policy]\nname = "p"\n', '[policy]\nname = "p"\n[policy.refusal]\nroute = "x"\n']
)
def test_a_policy_without_rules(make: Any, policy: str) -> None:
    project = make(policy=policy)
    code, out, _ = project.do("policy", "check")
    assert code == USAGE
    assert "the policy demands nothing" in out
    project.run()
    code, decision = project.gate()
    assert (code, decision["outcome"]) == (CANNOT_TELL, "inconclusive")
    assert project.reasons(decision) == {"no_rules"}


def test_a_run_without_traces(make: Any) -> None:
    """A manifest that is right in itself, and holds no trace."""
    project = make()
    project.run()
    store = store_of(project)
    run = store.get_record(Run, store.ref("run/candidate"))
    bare = msgspec.structs.replace(
        run, answered=0, content=digest_set([]), contents=store.put_lines([]), measurements=store.put_lines([]),
        texts=store.put_lines([]),
    )  # fmt: skip
    digest = store.put_record(bare)
    store.set_ref("run/bare", digest, kind="run")
    measure(store, digest, store.get_record(ScoreTable, store.ref("scores/candidate")).scoring, name="bare")
    code, decision = project.gate("bare")
    assert (code, decision["outcome"]) == (CANNOT_TELL, "inconclusive")
    assert "no_traces" in project.reasons(decision)


BAD = GOOD.replace('f"d{number}", "text": f"The answer is word{number}."', '"d0", "text": "The answer is word0."')


def test_a_number_typed_in_by_hand(make: Any) -> None:
    """Into the table: it does not follow from the run. Into the traces: their digest is another. On disk: bytes."""
    project = make(system=BAD)
    project.run()
    assert project.gate()[0] == 1
    store = store_of(project)
    table = store.get_record(ScoreTable, store.ref("scores/candidate"))
    rows = [_ones(one) for one in store.get_lines(Observation, table.observations)]
    typed = msgspec.structs.replace(table, observations=store.put_lines(rows))
    store.set_ref("scores/typed", store.put_record(typed), kind="scores")
    code, told = project.gate("typed")
    assert code == INTEGRITY
    assert "does not follow from its run" in told["error"]
    estimates = [one for one in store.get_lines(Estimate, table.estimates) if one.measure != "recall(rel=2)@5"]
    fewer = msgspec.structs.replace(table, estimates=store.put_lines(estimates))
    store.set_ref("scores/typed", store.put_record(fewer), kind="scores")
    assert project.gate("typed")[0] == INTEGRITY
    run = store.get_record(Run, table.run_record)
    other = msgspec.structs.replace(run, contents=store.put_lines([]))
    moved = msgspec.structs.replace(table, run_record=store.put_record(other))
    store.set_ref("scores/typed", store.put_record(moved), kind="scores")
    assert project.gate("typed")[0] == INTEGRITY


def _ones(one: Observation) -> Observation:
    if one.measure != "recall(rel=2)@5":
        return one
    return msgspec.structs.replace(one, status="value", value=1.0, reason=None, bounds=None)
