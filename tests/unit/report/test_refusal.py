"""Refusal on a scorecard: curve, bins, who said what, the retriever, paraphrases; counted apart from our code."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.report import sample
from tests.unit.score.test_refusal import asked, said, table

from ragassay import report
from ragassay.report.refusal import build as building
from ragassay.report.refusal.collect import Decisions
from ragassay.report.refusal.model import Confident
from ragassay.report.refusal.svg import curve, roof

DOCS = Path(__file__).parents[3] / "docs" / "refusal.md"
EXAMPLE = Path(__file__).parents[3] / "examples" / "refusal.py"


@pytest.fixture(scope="module")
def example() -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("refusal_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["refusal_example"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["refusal_example"]


@pytest.fixture(scope="module")
def card(example: Any) -> report.Scorecard:
    found: report.Scorecard = example.assay().scorecard
    return found


def decisions(example: Any) -> list[tuple[float, bool]]:
    """(confidence, wrong) of every answered question that may be answered, by the table of the example."""
    told = [(example.answerable(n), f"place {n}") for n in range(40)]
    told += [(example.paraphrase(n), f"place {n // 2}") for n in range(8)]
    answers = [(one["answer"], truth) for one, truth in told]
    return [(one["confidence"], one["text"] != truth) for one, truth in answers if one["outcome"] == "answered"]


def answerable(card: report.Scorecard) -> Confident:
    return next(one for one in card.refusal.confident if one.class_ == "answerable")


def test_the_curve_is_that_of_a_loop_over_thresholds(card: report.Scorecard, example: Any) -> None:
    known = decisions(example)
    wanted = []
    for threshold in sorted({sure for sure, _ in known}, reverse=True):
        taken = [wrong for sure, wrong in known if sure >= threshold]
        wanted.append((threshold, len(taken), sum(taken), len(taken) / 48, sum(taken) / len(taken)))
    own = answerable(card)
    assert (own.asked, own.declined, own.unknown, own.decisions) == (48, 5, 0, 43)
    assert [(one.threshold, one.taken, one.wrong, one.coverage, one.risk) for one in own.points] == wanted


def test_bins_hold_each_decision_once_and_never_part_equal_confidences(card: report.Scorecard, example: Any) -> None:
    known = decisions(example)
    own = answerable(card)
    assert len(own.bins) == 5
    assert sum(one.n for one in own.bins) == len(known)
    for one in own.bins:
        inside = [(sure, wrong) for sure, wrong in known if one.low <= sure <= one.high]
        assert (one.n, one.right) == (len(inside), sum(not wrong for _, wrong in inside))
        assert one.confidence == pytest.approx(sum(sure for sure, _ in inside) / len(inside))
    gaps = sum(one.n * abs(one.right / one.n - one.confidence) for one in own.bins) / len(known)
    assert own.calibration_error is not None
    assert own.calibration_error.value == pytest.approx(gaps)
    brier = sum((sure - (not wrong)) ** 2 for sure, wrong in known) / len(known)
    assert own.brier is not None
    assert own.brier.value == pytest.approx(brier)


def test_the_mark_of_the_declared_coverage_stands_on_the_curve(card: report.Scorecard) -> None:
    own = answerable(card)
    (risk,) = own.risks
    reached = next(one for one in own.points if one.coverage >= 0.5)
    assert (risk.numerator, risk.denominator, risk.value) == (reached.wrong, reached.taken, reached.risk)
    drawn = str(curve(own))
    top = roof(own)
    assert top == 0.5
    x, y = 64 + (460 - 64 - 14) * 0.5, 260 - 38 - (260 - 38 - 12) * reached.risk / top
    mark = re.search(r'<rect class="mark" x="([\d.]+)" y="([\d.]+)"', drawn)
    assert mark is not None
    assert [float(one) + 4 for one in mark.groups()] == pytest.approx([x, y], abs=0.02)
    assert "at coverage 0.5 the risk is 0.037" in drawn


def test_who_said_the_outcome(card: report.Scorecard) -> None:
    assert card.refusal.sources == {"the system": 51, "declared rules of scoring": 9}
    assert not any("abstention_rules" in one for one in card.caveats)
    hand = report.build(sample.material())
    assert hand.refusal.sources == {"the system": 9, "nobody: empty answer": 1, "nobody: failed": 1}


def test_the_retrievers_word_stands_apart_from_what_was_answered(card: report.Scorecard) -> None:
    rows = {one.class_: one.counts for one in card.refusal.verdicts}
    assert rows["answerable"] == {
        "enough": {"answered": 43, "declined": 2, "neither": 0},
        "not enough": {"answered": 0, "declined": 3, "neither": 0},
    }
    assert rows["unanswerable"] == {
        "enough": {"answered": 1, "declined": 0, "neither": 0},
        "not enough": {"answered": 2, "declined": 9, "neither": 0},
    }


def test_the_wording_that_stands_apart_is_named(card: report.Scorecard) -> None:
    first, *others = card.refusal.groups
    assert (first.value, first.worst) == (pytest.approx(1 / 3), "p3")
    assert [(one.query_id, one.told) for one in first.wordings] == [
        ("a01", "answered"), ("p2", "answered"), ("p3", "abstained"),
    ]  # fmt: skip
    assert [(one.value, one.worst) for one in others] == [(1.0, None)] * 3


def test_every_form_says_it(card: report.Scorecard) -> None:
    lines = report.summary(card)
    assert "outcome said by: the system 51, declared rules of scoring 9" in lines
    assert any(
        one.startswith("paraphrases that agree least: a01 and 2 more") and "p3 stands apart" in one for one in lines
    )
    told = next(one for one in lines if one.startswith("confidence, answerable"))
    assert "risk at coverage 0.5 0.037 (1 of 27; " in told
    markdown = report.markdown(card)
    assert "| unanswerable | abstained or clarified or escalated | not enough | 2 | 9 | 0 |" in markdown
    page = report.html(card)
    assert page.count('<svg class="curve"') == 4  # curve and reliability of two classes
    assert "by t over clusters, not exact" in page
    assert report.to_json(card)["refusal"]["sources"]["the system"] == 51


def test_the_numbers_of_the_docs_are_what_the_example_prints(card: report.Scorecard) -> None:
    printed = "\n".join(report.summary(card))
    blocks = re.findall(r"```text\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    told = [line for block in blocks for line in block.splitlines()]
    assert len(told) == 8
    assert [line for line in told if line not in printed] == []


def test_what_was_not_measured_is_said() -> None:
    page = report.html(report.build(sample.material()))
    section = page[page.index('<section id="refusal">') : page.index('<section id="grounding">')]
    assert section.count("<b>not measured</b>") == 3  # confidence, the retriever's word, paraphrases
    assert "no rows" not in section


def test_a_sealed_measure_of_paraphrases_without_a_group_is_a_row_with_its_reason() -> None:
    _, estimates = table([asked("q")], [said("q", "yes", "answered")], "paraphrase_consistency(of=outcome)")
    own = [one for one in estimates if one.measure.startswith("paraphrase")]
    made = report.build(sample.material(estimates=(*sample.estimates(), *own)))
    assert [(one.status, one.reason) for one in made.refusal.paraphrases] == [("undefined", "no_paraphrases")]
    assert "no paraphrases" in report.html(made)
    assert "paraphrases: undefined (no paraphrases)" in report.summary(made)


def test_exact_intervals_are_called_exact() -> None:
    """Ten decisions that each stand alone, one of them wrong: Clopper and Pearson's upper end is 0.445."""
    cases = [asked(f"q{n}") for n in range(10)]
    traces = [said(f"q{n}", "no" if n == 9 else "yes", "answered", 0.9 - n / 20) for n in range(10)]
    measures = ("exact_match", "selective_risk(coverage=0.95,of=exact_match)", "answered_right(of=exact_match)")
    rows, estimates = table(cases, traces, *measures, "answer_confidence")
    made = report.build(
        sample.material(
            cases=tuple(cases), contents=tuple(one.content for one in traces), observations=tuple(rows),
            estimates=tuple(estimates), measurements=(), runtime=(), fates=(), survival=(),
        )
    )  # fmt: skip
    (own,) = made.refusal.confident
    assert own.risks[0].interval is not None
    assert own.risks[0].interval.high == pytest.approx(0.4450161, abs=1e-6)
    page = report.html(made)
    assert "exact, by Clopper and Pearson" in page


def test_a_long_curve_is_thinned_and_keeps_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Decisions(asked=2000)
    for place in range(1000):
        own.confidence.append(1 - place / 1000)
        own.wrong.append(float(place % 3 == 0))
    points = building._points(own)
    assert len(points) == building.MOST_POINTS
    assert (points[0].taken, points[-1].taken) == (1, 1000)
    assert points[-1].wrong == 334
    assert building._points(Decisions(asked=3)) == ()
