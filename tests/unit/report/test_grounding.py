"""Judges on the scorecard: how far each is to be believed, in every form; claims with what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.run.judges.test_panel import join
from tests.unit.score.score_material import scoring
from tests.unit.trials.people.judged_run import Judged, judged_run
from tests.unit.trials.people.test_people import filled

from ragassay import report, score
from ragassay.records.base import Digest
from ragassay.records.protocol import Run
from ragassay.report.grounding.text import doubted
from ragassay.report.model import Scorecard
from ragassay.trials.people import calibrate, import_verdicts


def card_of(given: Judged, **more: object) -> Scorecard:
    asked = scoring("faithfulness", "citation_recall", judges=("words",), **more)
    digest = given.store.put_record(asked)
    found = score.in_force(given.store, given.store.get_record(Run, given.run), asked)
    _, table = score.table(given.store, given.run, digest, judged=found.judged, calibrations=found.calibrations)
    return report.scorecard(given.store, Digest(table))


@pytest.fixture
def given(tmp_path: Path) -> Judged:
    return judged_run(tmp_path / "store")


def test_an_uncalibrated_judge_is_marked_wherever_its_number_stands(given: Judged) -> None:
    card = card_of(given)
    (judge,) = card.judges
    assert (judge.calibrated, judge.asked, judge.valued, judge.claims) == (False, 120, 120, 120)
    assert "uncalibrated: nobody has held this judge" in judge.calibration
    summary = "\n".join(report.summary(card))
    assert "caveat: Judge words (lexical) is uncalibrated" in summary
    assert "judge words (lexical, uncalibrated): 120 of 120 items have a verdict" in summary
    assert "faithfulness: faithfulness(by=words)" in summary
    assert "(uncalibrated)" in next(line for line in summary.splitlines() if line.startswith("faithfulness:"))
    assert "`faithfulness(by=words)` (uncalibrated)" in report.markdown(card)
    page = report.html(card)
    assert '<code>faithfulness(by=words)</code> <span class="tag bad">uncalibrated</span>' in page
    assert "It cannot see that other words say the same" in page
    assert "No corrected estimate: nobody has ruled on a sample." in page
    assert json.loads(b"".join(report.json_parts(card)))["judges"][0]["calibrated"] is False


def test_a_random_sample_of_people_corrects_the_judges_share_beside_the_raw_one(given: Judged, tmp_path: Path) -> None:
    import_verdicts(given.store, given.run, filled(given, tmp_path / "a.jsonl", size=80), author="anna", rubric="r")
    calibrate(given.store, given.run, "words")
    card = card_of(given)
    (judge,) = card.judges
    assert judge.calibrated
    assert not any("uncalibrated" in line for line in report.summary(card))
    rows = {row.class_: row for row in judge.corrected}
    assert set(rows) == {"answerable", "multi_hop"}
    assert sum(row.items for row in rows.values()) == 120
    assert sum(row.people for row in rows.values()) == 80
    for class_, row in rows.items():
        raw = next(one for one in card.estimates if one.measure == "faithfulness(by=words)"
                   and one.population.class_ == class_ and one.aggregation == "micro")  # fmt: skip
        assert row.raw == raw.value
        known = [good for key, good in given.truth.items() if (int(key[0][1:]) % 3 == 0) == (class_ == "multi_hop")]
        assert row.low <= sum(known) / len(known) <= row.high
        assert row.ppi is None  # 80 items are outside of its safe region
    page = report.html(card)
    assert "outside of its safe region" in page
    assert "Agreement of words with people, by class" in page


def test_people_who_saw_no_random_sample_correct_nothing(given: Judged, tmp_path: Path) -> None:
    path = filled(given, tmp_path / "a.jsonl", plain=False)
    import_verdicts(given.store, given.run, path, author="anna", rubric="r")
    calibrate(given.store, given.run, "words")
    (judge,) = card_of(given).judges
    assert judge.calibrated
    assert judge.corrected == ()
    assert judge.not_corrected == "the items that people saw were drawn stratified, not at random"


def test_another_threshold_expires_a_calibration(given: Judged, tmp_path: Path) -> None:
    import_verdicts(given.store, given.run, filled(given, tmp_path / "a.jsonl"), author="anna", rubric="r")
    calibrate(given.store, given.run, "words")
    (judge,) = card_of(given, judge_thresholds={"words": 0.4}).judges
    assert not judge.calibrated
    assert "under another threshold" in judge.calibration
    calibrate(given.store, given.run, "words", threshold=0.4)
    assert card_of(given, judge_thresholds={"words": 0.4}).judges[0].calibrated


def test_claims_stand_on_the_page_of_their_question_with_what_is_wrong(given: Judged) -> None:
    card = card_of(given)
    view = card.questions[0].repeats[0]
    assert [one.claim_id for one in view.claims] == ["c1", "c2"]
    assert view.claims[0].text == "It is one, says the first claim of all."
    assert view.claims[1].citations == (1,)
    (judge,) = card.judges
    counted = sum(row.claims for row in judge.failures)
    shown = [each for one in card.questions for claim in one.repeats[0].claims for each in claim.verdicts]
    assert counted == sum(each.failure is not None for each in shown) > 0
    page = report.html(card)
    assert "words: supported" in page
    assert "evidence in the context and not used" in page or "nothing in the context supports it" in page
    assert "not cited" in page
    assert not any(one.target for q in card.questions for one in q.repeats[0].scores
                   if one.measure == "faithfulness(by=words)" and one.target not in ("c1", "c2", None))  # fmt: skip


def test_doubt_is_told_by_the_name_of_the_judge_alone(given: Judged) -> None:
    judges = card_of(given).judges
    spelled = (
        "faithfulness(by=words)",
        "aurc(least=0.5,of=correctness/by:words)",
        "faithfulness(by=words-2)",
        "ndcg@5",
    )
    assert [doubted(one, judges) for one in spelled] == [True, True, False, False]


def test_judges_are_held_against_each_other_on_what_they_share(given: Judged) -> None:
    join(given, "llm", 12)
    join(given, "other", 0, model="m-2")
    asked = scoring("faithfulness", judges=("words", "llm", "other"))
    found = score.in_force(given.store, given.store.get_record(Run, given.run), asked)
    _, table = score.table(given.store, given.run, given.store.put_record(asked), judged=found.judged)
    card = report.scorecard(given.store, Digest(table))
    rows = {row.judges: row for row in card.among}
    assert set(rows) == {("llm", "other"), ("llm", "words"), ("other", "words"), ("llm", "other", "words")}
    apart, same = rows["llm", "words"], rows["other", "words"]
    assert (apart.items, apart.raw, same.raw, same.kappa, same.ac1) == (120, 108 / 120, 1.0, 1.0, 1.0)
    assert apart.kappa_interval is not None
    assert apart.kappa_interval.clusters == 60
    every = rows["llm", "other", "words"]
    assert every.kappa is None
    assert apart.alpha is not None
    assert every.alpha is not None
    assert apart.alpha < every.alpha < 1
    assert "Judges among themselves" in report.html(card)
    assert "### Judges among themselves" in report.markdown(card)
