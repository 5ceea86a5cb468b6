"""Declarations of what is computed from traces: facts, empty truth, context, runtime; it computes nothing."""

from __future__ import annotations

from typing import Any

from ragassay.measures.contract import Declaration

_CASES = "questions with a trace"
_UNLABELLED = "missing(unlabelled), never 0"
_NO_SPANS = "missing(no_spans) where the trace names no sources and none could be resolved"


def _facts(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "stage": "facts",
        "population": "questions with required facts",
        "aggregation": "macro",
        "ties": "not applicable: whole outputs are read",
        "duplicates": "an item counts once",
        "missing_labels": _UNLABELLED,
        "unjudged": "an unresolved or derived item makes it missing, with bounds (resolved only; all held)",
        "short_list": "reads what there is; an absent step is missing, an empty one holds nothing",
        "nothing_relevant": "undefined(no_facts)",
        "reference": "ragassay, docs/design: holding and losing evidence",
        "computed_by": "score",
    }
    return Declaration(**{**common, **own})


def _context(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "stage": "context",
        "population": "labelled questions with at least one relevant item and a reported context",
        "aggregation": "macro",
        "duplicates": "counted as they stand in the context; equal items count once where evidence is counted",
        "missing_labels": _UNLABELLED,
        "unjudged": "not evidence; an item of unknown content makes it missing, with bounds, where it could change it",
        "negative_grades": "as unjudged",
        "short_list": "reads the context that there is; an empty context is undefined(empty_context)",
        "nothing_relevant": "undefined(nothing_relevant)",
        "reference": "ragassay",
        "computed_by": "score",
    }
    return Declaration(**{**common, **own})


def _runtime(**own: Any) -> Declaration:
    common: dict[str, Any] = {
        "stage": "runtime",
        "population": "all attempted questions that report it",
        "denominator": "questions that report it",
        "aggregation": "macro",
        "high": None,
        "direction": "lower",
        "missing_labels": "needs no labels; missing(not_reported) where the system does not say",
        "reference": "ragassay",
        "computed_by": "score",
        "unsafe_alone_for": "quality: fast and cheap answers may be wrong",
    }
    return Declaration(**{**common, **own})


_UNTIMED = (
    "needs no labels; missing(from_cache) where a step was found in a cache that other runs filled, since its time was "
    "not measured; missing(not_reported) where the system does not say"
)
DECLARED: tuple[Declaration, ...] = (
    _facts(
        name="fact_coverage",
        summary="Share of the required facts that the list holds: some set of its alternatives is held whole.",
        denominator="required facts of the question",
        params=("kind",),
        cutoff="optional",
        unsafe_alone_for="answer quality: a held fact may go unused",
    ),
    _facts(
        name="survival",
        summary="Share of the required facts still held by the context that generation saw.",
        denominator="required facts of the question",
        unsafe_alone_for="naming the cause: the survival table says at which step each fact was lost",
    ),
    Declaration(
        name="empty_retrieval",
        summary="1 if nothing was retrieved for a question whose truth needs zero documents, else 0.",
        stage="nothing_to_find",
        population="questions whose labels are an empty list",
        denominator="1",
        aggregation="micro",
        unit="0 or 1",
        missing_labels="questions without labels do not enter",
        short_list="an empty output is a success; an absent one is missing",
        nothing_relevant="the very population of this measure",
        reference="ragassay",
        unsafe_alone_for="abstention: an answer may be invented from an empty context",
        params=("kind",),
        computed_by="score",
    ),
    _context(
        name="context_precision",
        summary="Share of the context's items that carry some of the relevant evidence that the context holds.",
        denominator="items in the context",
        params=("rel",),
        unsafe_alone_for="completeness of the context",
    ),
    _context(
        name="context_recall",
        summary="Share of the relevant evidence that the context holds; recall at the context.",
        short_list="an empty context holds nothing: 0; an absent one is missing",
        denominator="relevant evidence of the question",
        params=("rel",),
        unsafe_alone_for="what the answer used",
    ),
    _context(
        name="evidence_density",
        summary="Share of the context's non-white-space characters that are relevant evidence.",
        denominator="non-white-space code points of the context",
        missing_labels=f"{_UNLABELLED}; missing(no_spans) with a label on a whole document",
        params=("rel",),
        unsafe_alone_for="small contexts: one dense passage may lack a required fact",
    ),
    _context(
        name="unique_parents",
        summary="Number of different documents in the context.",
        population="questions with a reported context",
        denominator="1",
        high=None,
        direction="none",
        unit="documents",
        missing_labels=_NO_SPANS,
        nothing_relevant="defined all the same",
        unsafe_alone_for="diversity of content: different documents may say the same",
    ),
    _context(
        name="overlap_ratio",
        summary="Share of the context's characters that repeat a source interval already in it.",
        population="questions with a reported context",
        denominator="non-white-space code points of the context with sources",
        direction="lower",
        missing_labels=_NO_SPANS,
        nothing_relevant="defined all the same",
        unsafe_alone_for="redundancy in meaning: it sees equal source spans only",
    ),
    _context(
        name="context_tokens",
        summary="Tokens of the context, by the tokenizer named in the row.",
        unjudged="a text that nobody reported makes it missing",
        short_list="an empty context has 0 tokens",
        population="questions with a reported context",
        denominator="1",
        high=None,
        direction="lower",
        unit="tokens",
        missing_labels="needs no labels",
        nothing_relevant="defined all the same",
        unsafe_alone_for="cost across models: tokenizers differ",
    ),
    _context(
        name="dedup_coverage",
        summary="fact_coverage of the output of the dedup step.",
        short_list="an empty output holds nothing; an absent one is missing",
        unjudged="an unresolved or derived item makes it missing, with bounds (resolved only; all held)",
        population="questions with required facts and a dedup step",
        denominator="required facts of the question",
        nothing_relevant="undefined(no_facts)",
        unsafe_alone_for="the context: later steps may still lose evidence",
        aliases=("coverage_after_dedup",),
    ),
    _context(
        name="stale_in_context",
        summary="Share of the context's items that are stale or superseded at the run's as_of.",
        population="questions with a reported context, over a corpus that says until when its documents hold",
        denominator="items in the context",
        direction="lower",
        missing_labels="needs none; missing(no_validity) where no document has an end or supersedes another",
        unjudged="an unresolved item makes it missing, with bounds",
        nothing_relevant="defined all the same",
        unsafe_alone_for="the answer: it may quote the one stale item",
    ),
    _runtime(
        name="latency",
        summary="Wall time of the whole answer, or of the steps of one kind.",
        unit="ms",
        params=("kind", "q"),
        duplicates="a timeout is right-censored at its limit, not left out",
        missing_labels=_UNTIMED,
    ),
    _runtime(
        name="first_token",
        summary="Wall time until the first token.",
        unit="ms",
        params=("q",),
        missing_labels=_UNTIMED,
    ),
    _runtime(name="tokens", summary="Tokens in and out, as the system reports them.", unit="tokens", params=("kind",)),
    _runtime(name="cost", summary="Money spent, as the system reports it.", unit="USD", params=("kind",)),
    _runtime(name="calls", summary="External calls made for one question.", unit="calls", params=("kind",)),
    _runtime(
        name="cache_hits", summary="Calls answered from a cache.", unit="calls", direction="none", params=("kind",)
    ),
    _runtime(
        name="errors",
        summary="Number of questions whose trace is a failure, by cause.",
        population="all attempted questions",
        denominator="1",
        aggregation="micro",
        unit="questions",
        missing_labels="needs no labels",
        unsafe_alone_for="quality: a system may fail politely with an empty answer",
    ),
    _runtime(
        name="error_rate",
        summary="Share of attempted questions whose trace is a failure (timeout, crash, refused connection).",
        population="all attempted questions",
        denominator="attempted questions",
        aggregation="micro",
        high=1.0,
        unit="ratio",
        missing_labels="needs no labels",
        unsafe_alone_for="quality: a system may fail politely with an empty answer",
    ),
)
