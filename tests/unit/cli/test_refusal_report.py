"""Figures of a whole set, and the population across classes, from settings to every form of the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.cli.init import init
from ragassay.cli.report import report
from ragassay.cli.run import run

MEASURES = (
    "recall(rel=2)@5", "token_f1", "abstention_precision", "abstention_recall", "answerability_coverage",
    "escalation_rate", "answered_right(of=token_f1,least=0.5)", "aurc(of=token_f1,least=0.5)",
    "selective_risk(coverage=0.5,of=token_f1,least=0.5)", "calibration_error(bins=10,of=token_f1,least=0.5)",
    "brier(of=token_f1,least=0.5)", "retrieval_auroc(score=confidence)", "retrieval_sufficient",
    "paraphrase_consistency(of=token_f1)", "harmful@5", "stale_in_context",
)  # fmt: skip


def test_every_measure_of_refusal_reaches_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    init()
    settings = tmp_path / "ragassay.toml"
    text = settings.read_text()
    assert "\n[scoring]\n# measures = " in text
    settings.write_text(text.replace("\n[scoring]\n", f"\n[scoring]\nmeasures = {json.dumps(MEASURES)}\n"))
    run()
    report(junit=tmp_path / "junit.xml")
    card = json.loads((tmp_path / "report" / "scorecard.json").read_text())
    rows = {
        (one["measure"], one["population"]["class"]): one
        for one in card["estimates"]
        if "slice" not in one["population"]
    }
    # Of the four questions of the example one may not be answered, and it alone was declined.
    declined = rows["abstention_precision", "answerability"]
    assert (declined["value"], declined["scored"], declined["undefined"]) == (1.0, 1, 3)
    assert rows["answerability_coverage", "answerable"]["value"] == 1.0
    sorted_apart = rows["retrieval_auroc", "answerability"]
    assert (sorted_apart["aggregation"], sorted_apart["numerator"], sorted_apart["denominator"]) == ("set", 3.0, 3.0)
    page, told = ((tmp_path / "report" / f"scorecard.{one}").read_text() for one in ("html", "md"))
    assert "answerability" in page
    assert "| answerability | all | `retrieval_auroc` |" in told
