"""The five dimensions and their neighbours: which measures speak to each, what is not measured. Averages nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from ragassay.errors import RagassayError
from ragassay.measures import declaration
from ragassay.measures import parse as parse_measure
from ragassay.measures.contract import Declaration
from ragassay.records.comparison import Effect
from ragassay.records.score import CLASS_ORDER, Estimate
from ragassay.report.funnel import last_steps
from ragassay.report.model import Dimension, NotMeasured

Row = TypeVar("Row", Estimate, Effect)
JUDGE = "verdicts of a judge model or of people; none are in this store"


class Plan(NamedTuple):
    """One dimension: what it asks, where, by which measures, and which of those it cannot do without."""

    key: str
    name: str
    asks: str
    stage: str
    measures: tuple[str, ...]
    needs: dict[str, str]
    """Measure -> what would measure it, for those worth naming when they are absent."""


FIVE: tuple[Plan, ...] = (
    Plan(
        "recall",
        "Retrieval recall",
        "Did retrieval find the evidence, and was it still there when the answer was written?",
        "retrieval and context",
        ("recall", "fact_coverage", "hit", "context_recall", "survival", "dedup_coverage"),
        {"recall": "labelled evidence", "fact_coverage": "required facts"},
    ),
    Plan(
        "precision",
        "Retrieval precision",
        "How much of what was retrieved is evidence, and how near the top does it stand?",
        "retrieval and context",
        (
            "precision", "rr", "ndcg", "ap", "r_precision", "bpref", "rbp", "err", "set_precision", "judged",
            "harmful", "context_precision", "evidence_density", "empty_retrieval",
        ),
        {"precision": "labelled evidence", "context_precision": "labelled evidence and a reported context"},
    ),
    Plan(
        "faithfulness",
        "Faithfulness",
        "Is every claim of the answer supported by the context that the system saw?",
        "generation",
        ("faithfulness", "grounded_accuracy", "noise_sensitivity", "context_utilisation", "judge_flips"),
        {"faithfulness": f"the answer's claims, each held against the context: {JUDGE}"},
    ),
    Plan(
        "relevance",
        "Relevance",
        "Does the answer answer the question?",
        "generation",
        ("answer_relevance",),
        {"answer_relevance": f"each answer held against its question: {JUDGE}"},
    ),
    Plan(
        "refusal",
        "Refusal calibration",
        "Did the system decline when it should, and only then?",
        "decision to answer",
        (
            "false_refusal", "unsupported_answer", "abstention_rate", "answerability_coverage", "abstention_precision",
            "abstention_recall", "escalation_rate", "selective_risk", "aurc", "calibration_error", "brier",
            "answered_right", "answer_confidence", "retrieval_auroc", "retrieval_sufficient", "retrieval_confidence",
        ),
        {
            "false_refusal": "questions that may be answered and an outcome for each",
            "unsupported_answer": "questions that may not be answered and an outcome for each",
        },
    ),
)  # fmt: skip
OTHERS: tuple[Plan, ...] = (
    Plan(
        "citations",
        "Citations",
        "Is every citation true, and every claim cited?",
        "generation",
        ("citation_precision", "citation_recall"),
        {
            "citation_precision": f"each cited place held against its claim: {JUDGE}",
            "citation_recall": f"each claim held against what it cites: {JUDGE}",
        },
    ),
    Plan(
        "correctness",
        "Correctness",
        "Does the answer say what is true?",
        "generation",
        (
            "correctness",
            "exact_match",
            "token_f1",
            "rouge_1",
            "rouge_2",
            "rouge_l",
            "bleu",
            "chrf",
            "semantic_similarity",
            "bertscore",
            "vital_nuggets",
            "okay_nuggets",
        ),
        {"correctness": f"answers held against reference answers: {JUDGE}"},
    ),
    Plan(
        "authorization",
        "Authorization",
        "Did anybody see a document that was not theirs?",
        "every channel",
        ("authorized_response", "canary_leak", "denied_indistinguishable"),
        {"authorized_response": "probes with an owner, an attacker and an object that does not exist"},
    ),
)
RUNTIME_STAGE = "runtime"


@cache
def declared(measure: str) -> Declaration | None:
    """The declaration behind a spelling, or None for a measure of somebody else."""
    try:
        return declaration(parse_measure(measure).name)
    except RagassayError:
        return None


def base_name(measure: str) -> str:
    """`recall(rel=2)@20` is recall."""
    return measure.split("(", maxsplit=1)[0].split("@", maxsplit=1)[0].strip()


def unit_of(measure: str) -> str:
    """The unit that the measure declares; without declaration a rate is a ratio and anything else a bare number."""
    found = declared(measure)
    return found.unit if found else "ratio" if base_name(measure).endswith("_rate") else ""


def shown_unit(one: Estimate) -> str:
    """The unit to print a value in: the estimate's own, where the measure is declared."""
    return one.unit if one.unit is not None and declared(one.measure) else unit_of(one.measure)


def bounded(measure: str) -> bool:
    """Whether a value lies between 0 and 1, so that a track can show it."""
    found = declared(measure)
    return found.high == 1.0 if found else base_name(measure).endswith("_rate")


def _spelling_order(measure: str) -> tuple[int, int, str]:
    """Fewest parameters first, then the deepest cut: recall(rel=2)@20 before recall(rel=2)@5."""
    cut = measure.rpartition("@")[2] if "@" in measure else ""
    return (measure.count("="), -int(cut) if cut.isdigit() else 0, measure)


def beside(estimates: Sequence[Estimate], steps: Sequence[str]) -> Dimension:
    """Everything measured that belongs to no dimension and is not runtime, so that nothing measured is left out."""
    claimed = {name for plan in (*FIVE, *OTHERS) for name in plan.measures} | {"outcome"}
    names = sorted({base_name(one.measure) for one in estimates if not is_runtime(one.measure)} - claimed)
    plan = Plan("beside", "Context and counts", "What else was counted on the way?", "every step", tuple(names), {})
    return _dimension(plan, estimates, steps)


def dimensions(plans: Iterable[Plan], estimates: Sequence[Estimate], steps: Sequence[str]) -> list[Dimension]:
    """Each dimension with one headline row a measure and class, at the last step where the measure was taken."""
    return [_dimension(plan, estimates, steps) for plan in plans]


def _dimension(plan: Plan, estimates: Sequence[Estimate], steps: Sequence[str]) -> Dimension:
    own = [one for one in estimates if base_name(one.measure) in plan.measures and one.population.slice is None]
    rows = headline(own, steps)
    rows.sort(
        key=lambda one: (
            _class_rank(one),
            plan.measures.index(base_name(one.measure)),
            *_spelling_order(one.measure),
            _AGGREGATION.index(one.aggregation),
        )
    )
    measured = {base_name(one.measure) for one in rows if one.status == "value"}
    alone = plan.measures[:1] if plan.key == "correctness" else plan.measures
    absent = [NotMeasured(measure=name, would_need=what) for name, what in plan.needs.items() if name not in measured]
    return Dimension(
        key=plan.key,
        name=plan.name,
        asks=plan.asks,
        stage=plan.stage,
        measured=any(name in measured for name in alone),
        headline=tuple(rows),
        not_measured=tuple(absent),
    )


def headline(estimates: Iterable[Row], steps: Sequence[str]) -> list[Row]:
    """Of each measure, population and aggregation the row nearest to the answer: the context, else the last step
    with a value.

    Where no step has a value, the last step stands there with its reason: nothing is dropped.
    """
    order = {step: place for place, step in enumerate(last_steps(steps))}
    best: dict[tuple[str, str, str | None, str], Row] = {}
    for one in estimates:
        key = (one.measure, one.population.class_, one.population.slice, one.aggregation)
        if key not in best or _rank_of(one, order) < _rank_of(best[key], order):
            best[key] = one
    return list(best.values())


def leading(rows: Sequence[Row]) -> list[Row]:
    """Of means over questions (macro) and over items (micro) of one thing the first; whatever stands alone stays."""
    kept: dict[tuple[str, str, str | None, str | None], Row] = {}
    for one in sorted(rows, key=lambda row: _AGGREGATION.index(row.aggregation)):
        kept.setdefault((one.measure, one.population.class_, one.population.slice, one.step), one)
    found = {id(one) for one in kept.values()}
    return [one for one in rows if id(one) in found]


_AGGREGATION = ("macro", "micro", "set", "median", "p95", "p99", "sum")


def _rank_of(one: Estimate | Effect, order: dict[str, int]) -> tuple[bool, int]:
    return (one.status != "value", order.get(one.step or "", -1))


def _class_rank(one: Estimate) -> int:
    return CLASS_ORDER.index(one.population.class_)


def is_runtime(measure: str) -> bool:
    """Whether a measure is about time, tokens, money or failure rather than about evidence or answers."""
    found = declared(measure)
    return found is not None and found.stage == RUNTIME_STAGE
