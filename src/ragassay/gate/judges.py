"""Whether the judge behind a measure was measured against people, and agreed with them. Else it satisfies no rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragassay.gate.evidence import Evidence
from ragassay.measures import Measure
from ragassay.records.case import Case
from ragassay.records.judgement import Agreement, Calibration, JudgeIdentity, JudgementSet
from ragassay.records.text import many
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
SCALE_OF = {"correctness": "correctness/1", "grounded_accuracy": "correctness/1", "answer_relevance": "relevance/1"}
"""Measure -> the scale of verdicts on whole answers that it reads."""


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
    if any(one.risk == "high" for one in cases) and (why := _too_little(identity, name, evidence.judges.high_risk)):
        return why
    about = ABOUT.get(measure.name, ())
    scale = SCALE_OF.get(measure.name)
    read = [
        one for one in record.agreements
        if one.about in about and one.items > 0 and (one.about != "answer" or one.scale == scale)
    ]  # fmt: skip
    if not about or not {one.about for one in read}.issuperset(about):
        return f"the calibration of judge {name} says nothing about {' and '.join(about) or measure.name}"
    return _not_shown(name, [one for one in read if one.class_ is None], evidence.judges.kappa)


def _too_little(identity: JudgeIdentity, name: str, asked: str) -> str | None:
    """Why a judge that is no person may not rule on questions of high risk by itself."""
    if asked == "person":
        return f"questions of high risk need a person by this policy, and {name} is none"
    alone = identity.kind not in SEVERAL or identity.settings.get("vote") == "first"
    if alone and asked == "two":
        return f"questions of high risk need two heterogeneous judges or a person, and {name} is one judge"
    return None


def _not_shown(name: str, read: Sequence[Agreement], least: float) -> str | None:
    """Why the agreement with people is too little; None where it is enough, or not asked."""
    for one in read if least > -1 else ():
        if one.kappa is None or one.kappa_interval is None:
            return (
                f"the calibration of judge {name} has no kappa for {one.about}: people, or it, gave one label only, "
                "so that nothing shows that it tells good from bad"
            )
        if one.kappa_interval.low <= least:
            told = "is not shown to be better than chance" if least == 0 else f"is not shown to be above {least:g}"
            return (
                f"the agreement of judge {name} with people {told}: kappa {one.kappa:.3f} for {one.about}, "
                f"{one.kappa_interval.low:.3f} at worst, over {many(one.items, 'item')}"
            )
    return None
