"""Declarations of declining, of confidence, and of what repeats and paraphrases agree on; it computes nothing."""

from __future__ import annotations

from typing import Any

from ragassay.measures.contract import Declaration

_RIGHT = "missing as the measure in `of` is (no_reference, not_judged), missing(no_confidence) without a confidence"
_ANSWERED = "answered questions, by class; an answer where no answer was allowed is wrong"
_TIES = "equal confidences are never parted"


def _refusal(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "stage": "refusal",
        "aggregation": "micro",
        "missing_labels": "missing(unlabelled) where the question does not say which outcomes are right",
        "reference": "ragassay, after SQuAD 2.0",
        "computed_by": "score",
    }
    return Declaration(**{**common, **own})


def _confidence(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "stage": "confidence",
        "population": f"{_ANSWERED}; those that carry a confidence",
        "aggregation": "set",
        "direction": "lower",
        "missing_labels": _RIGHT,
        "nothing_relevant": "a question that was not answered is undefined(not_answered)",
        "computed_by": "score",
        "params": ("of", "least"),
        "requires": ("of",),
        "of_stages": ("answer", "grounding"),
    }
    return Declaration(**{**common, **own})


def _retrieval(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "stage": "confidence",
        "aggregation": "macro",
        "direction": "none",
        "missing_labels": "needs no labels; missing(no_confidence) where the system does not say",
        "reference": "ragassay",
        "computed_by": "score",
    }
    return Declaration(**{**common, **own})


def _robust(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "stage": "robustness",
        "aggregation": "macro",
        "computed_by": "score",
    }
    return Declaration(**{**common, **own})


DECLARED: tuple[Declaration, ...] = (
    _refusal(
        name="outcome",
        summary="The table of expected outcomes against what the system did; its cells are counts, not a score.",
        population="questions with expected outcomes and a trace, by class, never pooled",
        denominator="questions of that row of the table",
        direction="none",
        unsafe_alone_for="answer quality: answered does not mean answered rightly",
        params=("by",),
    ),
    _refusal(
        name="abstention_rate",
        summary="Share of questions where the system abstained, asked back or escalated.",
        population="questions with an outcome, by class",
        denominator="questions with an outcome",
        direction="none",
        unsafe_alone_for="anything without its class: good on unanswerable, bad on answerable questions",
    ),
    _refusal(
        name="false_refusal",
        summary="Share of answerable questions that were refused although the case does not allow that.",
        population="questions whose expected outcomes include answered",
        denominator="such questions with an outcome",
        direction="lower",
        unsafe_alone_for="caution: a system that answers everything scores 0",
    ),
    _refusal(
        name="unsupported_answer",
        summary="Share of unanswerable questions that were answered.",
        population="questions whose expected outcomes do not include answered or partial",
        denominator="such questions with an outcome",
        direction="lower",
        unsafe_alone_for="usefulness: a system that refuses everything scores 0",
    ),
    _refusal(
        name="abstention_precision",
        summary="Of the questions that the system declined, the share that it was allowed to decline in this way.",
        population="answerability: all questions that the system declined (abstained, clarified, escalated, denied)",
        denominator="declined questions",
        nothing_relevant="an answered question is undefined(not_declined); none declined: undefined(nothing_scored)",
        unsafe_alone_for="another mix of questions: it depends on how many of them cannot be answered",
    ),
    _refusal(
        name="abstention_recall",
        summary="Of the questions that may not be answered, the share that was declined in an allowed way.",
        population="questions whose expected outcomes do not include answered or partial",
        denominator="such questions with an outcome",
        unsafe_alone_for="usefulness: a system that refuses everything scores 1",
    ),
    _refusal(
        name="answerability_coverage",
        summary="Share of the questions that may be answered which were answered, in whole or in part.",
        population="questions whose expected outcomes include answered or partial",
        denominator="such questions with an outcome",
        unsafe_alone_for="quality: answered does not mean answered rightly",
    ),
    _refusal(
        name="escalation_rate",
        summary="Share of questions that were handed on to a person.",
        population="questions with an outcome, by class",
        denominator="questions with an outcome",
        direction="none",
        missing_labels="needs no labels",
        unsafe_alone_for="whether it had to: see abstention_precision and false_refusal",
    ),
    _confidence(
        name="answered_right",
        summary="Share of the answered questions whose answer is right, as `of` (and `least`) say what right is.",
        population=_ANSWERED,
        denominator="answered questions of which it is known",
        aggregation="macro",
        direction="higher",
        unit="0 or 1",
        missing_labels="missing as the measure in `of` is (no_reference, not_judged)",
        reference="ragassay",
        unsafe_alone_for="refusal: who declines every hard question raises it; read answerability_coverage beside it",
    ),
    _retrieval(
        name="answer_confidence",
        summary="The system's confidence in an answer that it gave, as it reports it.",
        population="answered questions that carry a confidence, by class",
        denominator="1",
        high=None,
        unit="as reported",
        nothing_relevant="a question that was not answered is undefined(not_answered)",
        unsafe_alone_for="anything: a confidence is worth what its calibration is worth",
    ),
    _confidence(
        name="aurc",
        summary="Area under the risk-coverage curve: mean over k of the share of wrong among the k most confident.",
        denominator="answered decisions with a confidence",
        ties=f"{_TIES}: the mean over all orders of the tied",
        reference="Geifman, Uziel and El-Yaniv 2019; El-Yaniv and Wiener 2010",
        unsafe_alone_for="refusal: it sees only what was answered, and falls when hard questions are declined",
    ),
    _confidence(
        name="selective_risk",
        summary="Share of wrong answers when the declared share of all questions is answered, most confident first.",
        population="all questions of the class; those that carry a confidence are ranked",
        denominator="decisions from the confidence on at which the coverage is reached",
        ties=f"{_TIES}: all that are tied at the threshold are answered",
        short_list="fewer answers than the coverage asks for: undefined(coverage_not_reached)",
        reference="Geifman and El-Yaniv 2017; interval: Clopper and Pearson 1934, without clusters",
        unsafe_alone_for="other questions than these: choose the threshold on dev and report it on release",
        params=("of", "least", "coverage"),
        requires=("of", "coverage"),
    ),
    _confidence(
        name="calibration_error",
        summary="Expected calibration error: mean over answers of |share right - mean confidence| of their bin.",
        denominator="answered decisions with a confidence in [0, 1]",
        ties=f"{_TIES}: they are in one bin, so that bins may differ in size",
        missing_labels=f"{_RIGHT}; a confidence outside of [0, 1] is error(confidence_outside_0_1)",
        reference="Naeini, Cooper and Hauskrecht 2015; bins of equal mass: Nguyen and O'Connor 2015",
        unsafe_alone_for="few answers: it is biased upwards, the more the fewer answers a bin has",
        params=("of", "least", "bins"),
    ),
    _confidence(
        name="brier",
        summary="Mean squared distance between an answer's confidence and whether it is right (1 or 0).",
        denominator="answered decisions with a confidence in [0, 1]",
        aggregation="macro",
        missing_labels=f"{_RIGHT}; a confidence outside of [0, 1] is error(confidence_outside_0_1)",
        reference="Brier 1950",
        unsafe_alone_for="calibration: it also falls when answers are mostly right",
    ),
    _retrieval(
        name="retrieval_sufficient",
        summary="Share of questions of which the retriever says that it found enough, apart from what was answered.",
        population="questions with a retrieval verdict, by class",
        denominator="questions with a retrieval verdict",
        aggregation="micro",
        missing_labels="needs no labels; missing(no_retrieval_verdict) where the system does not say",
        unsafe_alone_for="anything without its class: of answerable ones its sensitivity, of others its false alarms",
    ),
    _retrieval(
        name="retrieval_confidence",
        summary="The retriever's confidence that it found enough, as it reports it.",
        population="questions with a retrieval confidence, by class",
        denominator="1",
        high=None,
        unit="as reported",
        unsafe_alone_for="anything: a confidence is worth what it tells apart; see retrieval_auroc",
    ),
    _retrieval(
        name="retrieval_auroc",
        summary="Chance that the retriever scores a question that may be answered above one that may not.",
        population="answerability: questions that may be answered against those that may not; with both: undefined",
        denominator="pairs of one of each",
        aggregation="set",
        direction="higher",
        ties="a tied pair counts half",
        missing_labels="missing(unlabelled) where the question does not say which outcomes are right; missing("
        "no_confidence), missing(no_retrieval_verdict) where the system does not say",
        reference="Hanley and McNeil 1982 (Mann-Whitney); it does not depend on how many there are of each",
        unsafe_alone_for="a threshold: it says that one exists, not that the system uses it",
        params=("score",),
    ),
    _robust(
        name="paraphrase_consistency",
        summary="How far paraphrases agree: 1 - spread of a measure, or the chance that two have the same outcome.",
        population="groups of two or more paraphrases (paraphrase_of) of one class with a value",
        denominator="such groups",
        missing_labels="as the measure in `of`; a paraphrase without a value widens the bounds",
        nothing_relevant="fewer than two paraphrases with a value: undefined(fewer_than_2_paraphrases); without any "
        "group: undefined(no_paraphrases)",
        reference="ragassay; of=outcome: mean agreement of pairs",
        unsafe_alone_for="quality: a system that is always wrong is consistent",
        params=("of",),
        requires=("of",),
    ),
    _robust(
        name="paraphrase_overlap",
        summary="Mean over pairs of paraphrases of the Jaccard overlap of the relevant evidence that each one found.",
        population="groups of two or more paraphrases (paraphrase_of) of one class with labels",
        denominator="such groups",
        missing_labels="missing(unlabelled), never 0",
        unjudged="not relevant; an item of unknown content makes it missing",
        short_list="reads what there is; a pair of which neither found anything does not count",
        nothing_relevant="undefined(nothing_found) where no pair found anything; without any group: "
        "undefined(no_paraphrases)",
        reference="Jaccard 1901 over places of evidence in documents",
        unsafe_alone_for="completeness: paraphrases may all miss the same evidence",
        params=("rel",),
        cutoff="optional",
    ),
    _robust(
        name="pass_k",
        summary="The chance that k repeats of a question all pass, pass^k: C(passed, k) / C(repeats, k).",
        population="questions with k or more repeats that have a value",
        denominator="such questions",
        missing_labels="as the measure in `of`; a repeat without a value may have passed or not, and widens the bounds",
        nothing_relevant="fewer repeats than k: undefined(fewer_than_k_repeats)",
        reference="Yao, Shinn, Razavi and Narasimhan 2024 (tau-bench)",
        unsafe_alone_for="other conditions: repeats share the day, the corpus and the model",
        params=("of", "least", "k"),
        requires=("of", "k"),
    ),
)
