"""Declarations of what judges rule on: claims, citations, facts, whole answers; it computes nothing.

The value of one question is that of all its verdicts. Where some did not come it is the share of those that did, with
bounds for all; where none came it is missing.
"""

from __future__ import annotations

from typing import Any

from ragassay.measures.contract import Declaration

_NO_VERDICT = (
    "missing(not_judged) where the judge has no set for the run; a verdict that did not come bounds the question's "
    "value and the estimate, and is missing with its cause where none came; error(disqualified) by a judge that failed "
    "its controls; missing(no_majority) where its repeats agree on no label"
)
_NO_PAIR = (
    "as soon as one verdict did not come the question is missing with bounds, since what needs no verdict is known to "
    "be bad, and the share of what is known would lean that way; missing(not_judged) where the judge has no set for "
    "the run; error(disqualified) by a judge that failed its controls"
)
_CLAIMS = "a question that was not answered is undefined(not_answered); an answer that claims nothing: undefined"
_PARTLY = "*partly* counts half"


def _judged(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "stage": "grounding",
        "population": "answered questions, by class",
        "aggregation": "micro",
        "ties": "repeats of one verdict: the label of more than half of them",
        "missing_labels": _NO_VERDICT,
        "reference": "ragassay",
        "params": ("by",),
        "computed_by": "score",
    }
    return Declaration(**{**common, **own})


def _answer(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "denominator": "answered questions with a verdict",
        "aggregation": "macro",
        "nothing_relevant": "a question that was not answered is undefined(not_answered)",
    }
    return _judged(**{**common, **own})


def _reference(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "population": "answered questions with a reference answer, by class",
        "missing_labels": f"no reference: missing(no_reference); else {_NO_VERDICT}",
        "nothing_relevant": "not answered: undefined(not_answered); no reference to a question that has no answer: "
        "undefined(nothing_to_answer)",
    }
    return _answer(**{**common, **own})


def _facts(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "population": "answered questions with such facts, by class",
        "aggregation": "micro",
        "missing_labels": f"unlabelled: missing(unlabelled); a fact without a text: missing(no_fact_text); else "
        f"{_NO_VERDICT}",
        "nothing_relevant": "not answered: undefined(not_answered); no such fact: undefined(no_facts)",
        "unsafe_alone_for": "support: a fact may be stated from memory, and a wrong statement may stand beside it",
    }
    return _judged(**{**common, **own})


DECLARED: tuple[Declaration, ...] = (
    _judged(
        name="faithfulness",
        summary="Share of the answer's claims that the context supports.",
        denominator="claims of the answer with a verdict",
        nothing_relevant=f"{_CLAIMS}(no_claims)",
        unsafe_alone_for="correctness: an answer may be faithful to wrong evidence",
    ),
    _judged(
        name="citation_precision",
        summary="Of the pairs of a claim and a citation behind it, the share in which what is cited supports it.",
        denominator="claims with citations: a claim with two citations is two pairs, each with a verdict of its own",
        duplicates="one source cited twice behind a claim counts twice",
        missing_labels=_NO_PAIR,
        unjudged="what was never in the trace supports nothing, and needs no verdict",
        nothing_relevant=f"{_CLAIMS}(no_claims); one that cites nothing: undefined(no_citations)",
        reference="Gao et al. 2023 (ALCE), pair by pair",
        unsafe_alone_for="completeness: claims without a citation do not count",
    ),
    _judged(
        name="citation_recall",
        summary="Share of the answer's claims that at least one of their own citations supports.",
        denominator="claims of the answer of which that is known",
        duplicates="a claim counts once, however many of its citations support it",
        missing_labels=_NO_PAIR,
        unjudged="a claim without a citation is not supported by one, and needs no verdict",
        nothing_relevant=f"{_CLAIMS}(no_claims)",
        reference="Gao et al. 2023 (ALCE), but each citation alone: two that carry a claim only together do not count",
        unsafe_alone_for="correctness of the cited document",
    ),
    _answer(
        name="answer_relevance",
        summary=f"Whether the answer answers the question that was asked, as judged; {_PARTLY}.",
        unsafe_alone_for="truth: an invented answer may be to the point",
    ),
    _reference(
        name="correctness",
        summary=f"Whether the answer agrees with the reference answers, as judged; {_PARTLY}.",
        unsafe_alone_for="support: a right answer may come from memory, not from the evidence",
    ),
    _reference(
        name="grounded_accuracy",
        summary="Share of the answers that are judged correct and of which every claim is supported by the context.",
        unit="0 or 1",
        nothing_relevant="as correctness; an answer that claims nothing: undefined(no_claims)",
        unsafe_alone_for="use: one needless unsupported claim makes a right answer count 0",
    ),
    _facts(
        name="vital_nuggets",
        summary="Share of the required facts that the answer states.",
        denominator="required facts with a verdict",
        reference="Lin and Demner-Fushman 2006, TREC 2024 RAG track (vital nuggets)",
    ),
    _facts(
        name="okay_nuggets",
        summary="Share of the facts that are not required which the answer states.",
        denominator="facts that are not required, with a verdict",
        reference="Lin and Demner-Fushman 2006, TREC 2024 RAG track (okay nuggets)",
    ),
    _facts(
        name="context_utilisation",
        summary="Of the required facts that the context holds, the share that the answer states.",
        denominator="required facts held by the context, with a verdict",
        nothing_relevant="not answered: undefined(not_answered); no such fact: undefined(no_facts); none of them held: "
        "undefined(none_in_context)",
        reference="Ru et al. 2024 (RAGChecker)",
        unsafe_alone_for="retrieval: it sees only what the context held",
    ),
    _judged(
        name="noise_sensitivity",
        summary="Share of the claims that rest on noise: what supports them carries no relevant evidence.",
        population="answered questions with labels, by class",
        denominator="claims of the answer of which that is known",
        direction="lower",
        missing_labels=f"unlabelled: missing(unlabelled); a verdict that names no span: no_spans; else {_NO_PAIR}",
        unjudged="evidence that nobody labelled counts as noise",
        nothing_relevant=f"{_CLAIMS}(no_claims)",
        reference="after Ru et al. 2024 (RAGChecker), which counts wrong claims only",
        unsafe_alone_for="truth: what rests on noise may be true, and may be evidence that was not labelled",
    ),
    _reference(
        name="semantic_similarity",
        summary="Cosine of the embeddings of answer and reference, the best of several.",
        denominator="1",
        low=-1.0,
        unsafe_alone_for="negation and numbers: opposites lie close together. Beside *The ferry leaves at 07:40 on "
        "weekdays*, *09:40* for *07:40* has 0.98, *does not leave* 0.83, and a paraphrase 0.57 (minilm)",
    ),
    _reference(
        name="bertscore",
        summary="F1 of the greatest cosines between the tokens of answer and reference, the best of several.",
        denominator="1",
        low=-1.0,
        reference="Zhang et al. 2020, over the judge's own embedder: not comparable with published values",
        unsafe_alone_for="negation and numbers: opposites lie close together. Beside *The ferry leaves at 07:40 on "
        "weekdays*, *09:40* for *07:40* has 0.97, *does not leave* 0.86, and a paraphrase 0.55 (minilm)",
    ),
    _judged(
        name="judge_flips",
        summary="Share of the judge's items on which its own repeats do not all say the same.",
        population="questions with items that were judged more than once, by class",
        denominator="items with two verdicts or more",
        direction="lower",
        missing_labels="missing(not_judged) where the judge has no set for the run",
        nothing_relevant="no item was judged twice: undefined(no_repeats)",
        unsafe_alone_for="truth: a judge may be steady and wrong",
    ),
)
