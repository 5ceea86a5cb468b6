"""Confidence, and whether what was answered is right: rows of one question. Aggregates nothing, judges nothing.

What counts as right is what the measure's spelling says (`of`, `least`), never implied. An answer to a question that
may not be answered is wrong, whatever it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragassay.measures import Measure, Outcome
from ragassay.records.score import Observation
from ragassay.records.trace import TraceContent
from ragassay.score.answer import ANSWERING
from ragassay.score.labels import Labels
from ragassay.score.rows import error, missing, undefined, value

DECISIONS = frozenset({"aurc", "selective_risk", "calibration_error"})
"""Figures of a set of decisions: they are made of the rows of `answered_right` and `answer_confidence`."""
ROWS = frozenset(
    {"answered_right", "answer_confidence", "brier", "retrieval_sufficient", "retrieval_confidence", "retrieval_auroc"}
)
"""Measures that have a row a question."""
OF_GROUPS = frozenset({"paraphrase_consistency", "pass_k", "flip_rate"})
"""Measures of groups of questions or of repeats: made of the rows of the measure in `of`."""
DECLINING = ("abstained", "escalated", "denied")
OUTSIDE = "confidence_outside_0_1"
RIGHT = Measure("answered_right")
CONFIDENCE = Measure("answer_confidence")


def with_implied(sealed: Iterable[Measure]) -> list[Measure]:
    """The sealed measures, and after them those whose rows they are made of."""
    made = list(dict.fromkeys(sealed))
    for one in made:
        made += [base for base in _bases(one) if base not in made]
    return made


def _bases(measure: Measure) -> list[Measure]:
    if measure.name in DECISIONS:
        return [right_of(measure), CONFIDENCE]
    if measure.name == "retrieval_auroc":
        return [Measure(f"retrieval_{measure.get('score')}")]
    inner = measure.inner
    return [] if inner is None or measure.name == "flip_rate" else [inner]


def right_of(measure: Measure) -> Measure:
    """What says whether a decision was right: answered_right with the same `of` and `least`."""
    return Measure("answered_right", tuple(one for one in measure.params if one[0] in ("least", "of")))


def row(
    measure: Measure,
    content: TraceContent,
    labels: Labels,
    did: tuple[str, str],
    rows: Sequence[Observation],
) -> Outcome:
    """The outcome of one of ROWS for one question that did not fail.

    `did`: (outcome, "") or ("", why there is none). `rows`: what was measured of this question, among it the measure
    in `of`.
    """
    if measure.name.startswith("retrieval_"):
        return _retrieval(measure, content, labels)
    outcome, why = did
    if why:
        return missing(why, 1.0)
    if outcome not in ANSWERING:
        return undefined("not_answered")
    confidence = content.answer.confidence if content.answer else None
    if measure.name == "answer_confidence":
        return missing("no_confidence") if confidence is None else value(confidence)
    right = _right(measure, labels, rows)
    if measure.name == "answered_right" or right.status != "value":
        return right
    if confidence is None:
        return missing("no_confidence", 1.0)
    if not 0 <= confidence <= 1:
        return error(OUTSIDE, 1.0)
    return value((confidence - (right.value or 0.0)) ** 2)


def _right(measure: Measure, labels: Labels, rows: Sequence[Observation]) -> Outcome:
    if labels.expected and not set(ANSWERING) & set(labels.expected):
        return value(0.0)
    inner = measure.inner
    found = next((one for one in rows if one.measure == str(inner) and one.step is None and one.target is None), None)
    if inner is None or found is None:
        return missing("not_computed", 1.0)
    if found.value is None:
        bottom = None if found.status == "undefined" else 1.0
        return Outcome(found.status, None, None, bottom, found.reason or found.status)
    least = measure.get("least")
    return value(float(found.value >= (inner.declared.high if least is None else float(least) - 1e-12)))  # type: ignore[operator]


def _retrieval(measure: Measure, content: TraceContent, labels: Labels) -> Outcome:
    if measure.name == "retrieval_auroc":
        return _side(labels)
    told = content.retrieval
    if measure.name == "retrieval_sufficient":
        said = told.sufficient if told else None
        return missing("no_retrieval_verdict", 1.0) if said is None else value(float(said))
    sure = told.confidence if told else None
    return missing("no_confidence") if sure is None else value(sure)


def _side(labels: Labels) -> Outcome:
    """1 for a question that may be answered and not be declined, 0 for one that may only be declined."""
    expected = set(labels.expected)
    if not expected:
        return missing("unlabelled")
    if expected & set(ANSWERING):
        return undefined("either_is_right") if expected & set(DECLINING) else value(1.0)
    return value(0.0)
