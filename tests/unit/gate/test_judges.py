"""Which judge may satisfy a rule: measured against people as it is, and at high risk not alone."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.unit.run.judges.test_panel import join
from tests.unit.score.score_material import case, scoring
from tests.unit.trials.people.judged_run import Judged, judged_run
from tests.unit.trials.people.test_people import filled

from ragassay import score
from ragassay.gate.evidence import Evidence, read_evidence
from ragassay.gate.figures import read_figures
from ragassay.gate.judges import uncalibrated
from ragassay.measures import parse
from ragassay.records.case import Case
from ragassay.records.decision import RuleResult
from ragassay.records.judgement import Calibration, JudgementSet
from ragassay.records.policy import JudgeDemands, Rule
from ragassay.records.protocol import Run
from ragassay.records.score import Interval
from ragassay.run.judges.panel import panel
from ragassay.score.named import judgements_ref
from ragassay.trials.people import calibrate, import_verdicts

HIGH = case("q00", risk="high", notes="somebody's money")


@pytest.fixture
def given(tmp_path: Path) -> Judged:
    made = judged_run(tmp_path / "store")
    import_verdicts(made.store, made.run, filled(made, tmp_path / "a.jsonl"), author="anna", rubric="r")
    return made


def evidence(given: Judged, *judges: str, **more: object) -> Evidence:
    asked = scoring("faithfulness", "correctness", judges=judges, **more)
    found = score.in_force(given.store, given.store.get_record(Run, given.run), asked)
    scorings = given.store.put_record(asked)
    _, digest = score.table(given.store, given.run, scorings, judged=found.judged, calibrations=found.calibrations)
    return read_evidence(given.store, digest, "candidate")


def why(given: Judged, measure: str, *judges: str, risky: bool = False, **more: object) -> str | None:
    return uncalibrated(given.store, evidence(given, *judges, **more), parse(measure), [HIGH] if risky else [case()])


def test_a_judge_satisfies_a_rule_once_it_was_measured_as_it_is(given: Judged) -> None:
    assert why(given, "faithfulness(by=words)", "words") == "judge words has no calibration record"
    calibrate(given.store, given.run, "words")
    assert why(given, "faithfulness(by=words)", "words") is None
    assert "says nothing about answer" in str(why(given, "correctness(by=words)", "words"))
    assert "has not judged this run" in str(why(given, "faithfulness(by=ghost)", "words"))
    assert "must name it" in str(why(given, "faithfulness", "words"))
    assert why(given, "recall(rel=2)@5", "words") is None


def test_another_threshold_is_another_judge(given: Judged) -> None:
    calibrate(given.store, given.run, "words", threshold=0.4)
    assert "another threshold" in str(why(given, "faithfulness(by=words)", "words"))
    assert why(given, "faithfulness(by=words)", "words", judge_thresholds={"words": 0.4}) is None


def test_who_failed_the_controls_satisfies_nothing(given: Judged) -> None:
    calibrate(given.store, given.run, "words")
    failed = msgspec.structs.replace(given.record, state="disqualified", stopped="controls")
    given.store.set_ref(judgements_ref("words", failed.run), given.store.put_record(failed), kind=JudgementSet)
    assert why(given, "faithfulness(by=words)", "words") == "judge words is disqualified: controls"


def test_high_risk_needs_two_heterogeneous_judges_or_a_person(given: Judged) -> None:
    join(given, "llm", 10)
    panel(given.store, given.run, "both", {"members": ["words", "llm"]})
    for name in ("words", "both"):
        calibrate(given.store, given.run, name)
    judges = ("words", "both", "anna")
    assert "need two heterogeneous judges or a person" in str(why(given, "faithfulness(by=words)", *judges, risky=True))
    assert why(given, "faithfulness(by=words)", *judges) is None
    assert why(given, "faithfulness(by=both)", *judges, risky=True) is None
    assert why(given, "faithfulness(by=anna)", *judges, risky=True) is None


def test_a_judge_that_is_not_shown_to_be_better_than_chance_satisfies_nothing(given: Judged) -> None:
    """Measured, and found to agree with people by chance, or on one label only: that is no reason to believe it."""
    _, digest = calibrate(given.store, given.run, "words")[:2]
    made = evidence(given, "words")
    asked = parse("faithfulness(by=words)")
    assert uncalibrated(given.store, made, asked) is None
    record = given.store.get_record(Calibration, digest)
    low, kappa = record.agreements[0].kappa_interval.low, record.agreements[0].kappa
    strict = made._replace(judges=JudgeDemands(kappa=low))
    assert f"kappa {kappa:.3f} for claim, {low:.3f} at worst" in str(uncalibrated(given.store, strict, asked))
    apart = Interval(low=-0.1, high=0.3, level=0.95, method="m", clusters=9)
    for weak in ({"kappa": 0.1, "kappa_interval": apart}, {"kappa": None}):
        changed = [msgspec.structs.replace(one, **weak) for one in record.agreements]
        worse = given.store.put_record(msgspec.structs.replace(record, agreements=tuple(changed)))
        refused = made._replace(table=msgspec.structs.replace(made.table, calibrations={"words": worse}))
        told = "better than chance" if weak["kappa"] else "one label only"
        assert told in str(uncalibrated(given.store, refused, asked))
        assert uncalibrated(given.store, refused._replace(judges=JudgeDemands(kappa=-1)), asked) is None


def test_a_policy_says_who_may_rule_on_questions_of_high_risk(given: Judged) -> None:
    join(given, "llm", 10)
    panel(given.store, given.run, "both", {"members": ["words", "llm"]})
    for name in ("words", "both"):
        calibrate(given.store, given.run, name)
    made = evidence(given, "words", "both", "anna")

    def allowed(asked: str) -> list[str]:
        demanded = made._replace(judges=JudgeDemands(high_risk=asked))
        names = ("words", "both", "anna")
        return [
            one for one in names if not uncalibrated(given.store, demanded, parse(f"faithfulness(by={one})"), [HIGH])
        ]

    assert [allowed(one) for one in ("one", "two", "person")] == [
        ["words", "both", "anna"], ["both", "anna"], ["anna"],
    ]  # fmt: skip


def test_agreement_on_relevance_says_nothing_about_correctness(given: Judged) -> None:
    _, digest = calibrate(given.store, given.run, "words")[:2]
    record = given.store.get_record(Calibration, digest)
    relevance = [msgspec.structs.replace(one, about="answer", scale="relevance/1") for one in record.agreements]
    other = given.store.put_record(msgspec.structs.replace(record, agreements=tuple(relevance)))
    made = evidence(given, "words")
    made = made._replace(table=msgspec.structs.replace(made.table, calibrations={"words": other}))
    assert uncalibrated(given.store, made, parse("answer_relevance(by=words)")) is None
    assert "says nothing about answer" in str(uncalibrated(given.store, made, parse("correctness(by=words)")))


def test_what_is_made_of_a_judged_measure_needs_the_same(given: Judged) -> None:
    measure = "answered_right(least=0.9,of=faithfulness/by:words)"
    assert why(given, measure, "words") == "judge words has no calibration record"
    calibrate(given.store, given.run, "words")
    assert why(given, measure, "words") is None
    assert "two heterogeneous" in str(why(given, measure, "words", risky=True))


def test_figures_of_decisions_that_a_judge_ruled_on_need_the_same(given: Judged) -> None:
    """Without a calibration, and at high risk alone, nothing of the figure is read."""
    measure = "aurc(least=0.9,of=faithfulness/by:words)"
    rule = Rule(measure=measure, at_most=0.9)

    def read(*cases: Case) -> RuleResult:
        made = evidence(given, "words")._replace(cases=cases)
        return next(iter(read_figures(given.store, 0.05, made, None, rule, parse(measure))))

    assert read(case()).reasons == ("uncalibrated_judge",)
    calibrate(given.store, given.run, "words")
    assert read(case()).reasons == ("measure_missing",)
    risky = read(HIGH)
    assert risky.reasons == ("uncalibrated_judge",)
    assert "two heterogeneous judges" in risky.told
