"""Whether the judge behind a measure was measured against people. An uncalibrated one satisfies no rule."""

from __future__ import annotations

from collections.abc import Iterable

from ragassay.gate.evidence import Evidence
from ragassay.measures import Measure
from ragassay.records.case import Case
from ragassay.records.judgement import Calibration, JudgeIdentity, JudgementSet
from ragassay.store import Store

JUDGED = frozenset({"grounding"})
SEVERAL = frozenset({"panel", "person"})
"""Kinds of judges that may rule alone on questions of high risk: two heterogeneous judges, or a person. A panel of
which the first who ruled is heard is one voice an item."""
NAMES = frozenset({"answer_relevance", "correctness", "semantic_similarity"})
ABOUT: dict[str, tuple[str, ...]] = {
    "faithfulness": ("claim",), "citation_precision": ("citation",), "citation_recall": ("citation",),
    "grounded_accuracy": ("claim", "answer"), "correctness": ("answer",), "answer_relevance": ("answer",),
    "vital_nuggets": ("fact",), "okay_nuggets": ("fact",), "context_utilisation": ("fact",),
    "noise_sensitivity": ("claim",),
}  # fmt: skip
"""Measure -> what its judge rules on; people must have ruled on the same."""


def is_judged(measure: Measure) -> bool:
    """Whether a measure, or the one that it is made of, rests on judgements: by its spelling or its declaration."""
    if measure.inner is not None:
        return is_judged(measure.inner)
    return "by" in dict(measure.params) or measure.declared.stage in JUDGED or measure.name in NAMES


def uncalibrated(store: Store, evidence: Evidence, measure: Measure, cases: Iterable[Case] = ()) -> str | None:
    """Why a measure's judge may satisfy no rule about these questions; None where it may, or where nobody judges."""
    if not is_judged(measure):
        return None
    if measure.inner is not None:
        return uncalibrated(store, evidence, measure.inner, cases)
    judge = dict(measure.params).get("by")
    if judge is None:
        return f"{measure} does not say by which judge: the rule must name it, as in {measure.name}(by=NAME)"
    name = str(judge)
    calibration = evidence.table.calibrations.get(name)
    judged = evidence.table.judged.get(name)
    if judged is None:
        return f"judge {name} has no calibration record: it has not judged this run"
    verdicts = store.get_record(JudgementSet, judged)
    if verdicts.state == "disqualified":
        return f"judge {name} is disqualified: {verdicts.stopped}"
    identity = store.get_record(JudgeIdentity, verdicts.judge)
    if identity.kind == "person":
        return None
    if calibration is None:
        return f"judge {name} has no calibration record"
    record = store.get_record(Calibration, calibration)
    if record.judge != verdicts.judge:
        return f"judge {name} was calibrated under another identity (model, prompt or settings)"
    if record.threshold != evidence.scoring.judge_thresholds.get(name):
        return f"judge {name} was calibrated under another threshold"
    alone = identity.kind not in SEVERAL or identity.settings.get("vote") == "first"
    if alone and any(one.risk == "high" for one in cases):
        return f"questions of high risk need two heterogeneous judges or a person, and {name} is one judge"
    about = ABOUT.get(measure.name, ())
    covered = {one.about for one in record.agreements if one.items > 0}
    if not about or not covered.issuperset(about):
        return f"the calibration of judge {name} says nothing about {' and '.join(about) or measure.name}"
    return None
