"""Whether the judge behind a measure was measured against people. An uncalibrated one satisfies no rule."""

from __future__ import annotations

from ragassay.gate.evidence import Evidence
from ragassay.measures import Measure
from ragassay.records.judgement import Calibration, JudgementSet
from ragassay.store import Store

JUDGED = frozenset({"grounding"})
NAMES = frozenset({"answer_relevance", "correctness", "semantic_similarity"})
ABOUT: dict[str, tuple[str, ...]] = {
    "faithfulness": ("claim",), "citation_precision": ("citation",), "citation_recall": ("citation",),
    "grounded_accuracy": ("claim", "answer"), "correctness": ("answer",), "answer_relevance": ("answer",),
}  # fmt: skip
"""Measure -> what its judge rules on; people must have ruled on the same."""


def is_judged(measure: Measure) -> bool:
    """Whether a measure, or the one that it is made of, rests on judgements: by its spelling or its declaration."""
    if measure.inner is not None:
        return is_judged(measure.inner)
    return "by" in dict(measure.params) or measure.declared.stage in JUDGED or measure.name in NAMES


def uncalibrated(store: Store, evidence: Evidence, measure: Measure) -> str | None:
    """Why a measure's judge may satisfy no rule; None where it may, or where nobody judges."""
    if not is_judged(measure):
        return None
    if measure.inner is not None:
        return uncalibrated(store, evidence, measure.inner)
    judge = dict(measure.params).get("by")
    if judge is None:
        return f"{measure} does not say by which judge: the rule must name it, as in {measure.name}(by=NAME)"
    name = str(judge)
    calibration = evidence.table.calibrations.get(name)
    judged = evidence.table.judged.get(name)
    if calibration is None or judged is None:
        return f"judge {name} has no calibration record"
    record, verdicts = store.get_record(Calibration, calibration), store.get_record(JudgementSet, judged)
    if record.judge != verdicts.judge:
        return f"judge {name} was calibrated under another identity (model, prompt or settings)"
    if verdicts.state == "disqualified":
        return f"judge {name} is disqualified: {verdicts.stopped}"
    about = ABOUT.get(measure.name, ())
    covered = {one.about for one in record.agreements if one.items > 0}
    if not about or not covered.issuperset(about):
        return f"the calibration of judge {name} says nothing about {' and '.join(about) or measure.name}"
    return None
