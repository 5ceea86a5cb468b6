"""Declarations of the measures of ranked lists and of sets of items; it computes nothing."""

from __future__ import annotations

from typing import Any

from ragassay.measures.contract import Declaration

_LABELLED = "labelled questions with at least one relevant item"
_TIES = (
    "ranked as declared in the protocol; from bare scores: score, then id by UTF-8 bytes, both descending, "
    "and the tie rate and the range over all orders of the tied are reported"
)
_DUPLICATES = "an item counts once, at its first rank; the rate is reported (mode=trec: an error)"
_ABSENT = "question without labels: missing(unlabelled), never 0"
_UNJUDGED = "counts as gain 0; bounds say what it could be"
_NEGATIVE = "as unjudged: gain 0, not relevant, not judged"
_SHORT = "ranks beyond its end hold nothing"
_NOTHING = "undefined(nothing_relevant); mode=trec: 0"
_CORE = ("rel", "unit", "mode", "list")
_GRADED = ("unit", "mode", "list")


def _ranking(**own: Any) -> Declaration:
    """A declaration of a ranked-list measure: the common answers, overridden by its own."""
    common: dict[str, Any] = {
        "stage": "retrieval",
        "population": _LABELLED,
        "aggregation": "macro",
        "ties": _TIES,
        "duplicates": _DUPLICATES,
        "missing_labels": _ABSENT,
        "unjudged": _UNJUDGED,
        "negative_grades": _NEGATIVE,
        "short_list": _SHORT,
        "nothing_relevant": _NOTHING,
        "params": _CORE,
        "cutoff": "optional",
    }
    return Declaration(**{**common, **own})


DECLARED: tuple[Declaration, ...] = (
    _ranking(
        name="recall",
        summary="Share of the relevant evidence that the first k items hold.",
        denominator="relevant evidence of the question, found or not",
        reference="trec_eval recall_k, set_recall",
        unsafe_alone_for="answer quality: evidence that was found may still be buried or unused",
        aliases=("r", "set_recall"),
    ),
    _ranking(
        name="hit",
        summary="1 if the first k items hold any relevant evidence, else 0.",
        denominator="1",
        unit="0 or 1",
        reference="trec_eval success_k",
        unsafe_alone_for="multi_hop questions: one of several needed pieces already counts as a hit",
        aliases=("success", "hit_rate", "hits"),
    ),
    _ranking(
        name="precision",
        summary="Relevant items among the first k, divided by k.",
        denominator="k, also for a list shorter than k",
        short_list="divided by k all the same: an empty rank counts as not relevant",
        reference="trec_eval P_k",
        unsafe_alone_for="completeness: it cannot see evidence that was never retrieved",
        aliases=("p",),
        cutoff="required",
    ),
    _ranking(
        name="r_precision",
        summary="Relevant items among the first R, divided by R, the number of relevant ones.",
        denominator="relevant evidence of the question",
        reference="trec_eval Rprec",
        unsafe_alone_for="questions with one relevant item: it is then precision@1",
        aliases=("rprec", "r-precision"),
        cutoff="none",
    ),
    _ranking(
        name="rr",
        summary="1 / rank of the first relevant item; 0 if there is none in the first k.",
        denominator="rank of the first relevant item",
        reference="trec_eval recip_rank; Voorhees 1999",
        unsafe_alone_for="multi_hop questions: nothing after the first relevant item counts",
        aliases=("mrr", "recip_rank"),
    ),
    _ranking(
        name="ap",
        summary="Mean, over all relevant evidence, of the precision at the rank where it is found; 0 where it is not.",
        denominator="relevant evidence of the question, not min(R, k)",
        reference="trec_eval map, map_cut_k",
        unsafe_alone_for="generation, which reads only the first few items",
        aliases=("map", "map_cut"),
    ),
    _ranking(
        name="ndcg",
        summary="Sum of gain(grade) / log2(rank + 1) over the first k, divided by that of the ideal order.",
        denominator="the same sum over the question's own grades in descending order, cut at k",
        nothing_relevant="undefined(nothing_relevant) when no label has a positive grade; mode=trec: 0",
        reference="Jarvelin and Kekalainen 2002 as in trec_eval ndcg, ndcg_cut_k (linear); Burges 2005 (exp)",
        unsafe_alone_for="sufficiency: a high value may lack the one required fact",
        params=("gain", *_GRADED),
        aliases=("ndcg_cut",),
    ),
    _ranking(
        name="rbp",
        summary="(1 - p) * sum of relevance_i * p^(i-1): what a reader gains who goes on with chance p.",
        denominator="1",
        reference="Moffat and Zobel 2008; with max=g graded as grade / g",
        unsafe_alone_for="lists with many unjudged items: read it with rbp_residual",
        params=("p", "max", *_CORE),
    ),
    _ranking(
        name="rbp_residual",
        summary="What unjudged items and the ranks beyond the list could still add to rbp.",
        denominator="1",
        direction="none",
        unjudged="its weight (1 - p) * p^(i-1) is counted",
        short_list="the tail p^n is always counted",
        reference="Moffat and Zobel 2008 (trec_eval 10 loses the tail when all are judged; we do not)",
        unsafe_alone_for="quality: it measures what is not known",
        params=("p", "unit", "mode"),
        aliases=("rbp_resid",),
    ),
    _ranking(
        name="err",
        summary="Sum over ranks of 1/rank * chance of stopping exactly there, by (2^g - 1) / 2^max.",
        denominator="1",
        reference="Chapelle et al. 2009; gdeval fixes max = 4",
        unsafe_alone_for="questions that need several items: it rewards stopping at the first",
        params=("max", *_GRADED),
    ),
    _ranking(
        name="bpref",
        summary="Share of relevant items, each less the share of judged non-relevant ones ranked above it.",
        denominator="relevant evidence of the question; inside, min(R, N)",
        unjudged="skipped",
        reference="Buckley and Voorhees 2004 as in trec_eval bpref (min(R, N) form)",
        unsafe_alone_for="comparing systems of which one has far more unjudged items",
        params=("rel", "unit", "mode"),
        cutoff="none",
    ),
    _ranking(
        name="infap",
        summary="Average precision estimated from judged items only, where the pool was sampled.",
        denominator="relevant evidence of the question",
        unjudged="estimated from the judged items above; a negative grade counts as pooled, not judged",
        negative_grades="pooled but not judged",
        reference="Yilmaz and Aslam 2006 as in trec_eval infAP, eps = 0.00001",
        unsafe_alone_for="pools that were not a random sample",
        params=("rel", "unit", "mode"),
        cutoff="none",
    ),
    _ranking(
        name="judged",
        summary="Share of the first k items that have a judgement (grade 0 or more).",
        population="labelled questions",
        denominator="k, or the items retrieved in the first k with over=retrieved",
        direction="none",
        unjudged="this is what it counts",
        short_list="divided by k (over=retrieved: by the items there are)",
        nothing_relevant="defined all the same",
        reference="ir_measures Judged@k (over=retrieved); 1 - trec_eval 10 unj_k for full lists",
        unsafe_alone_for="quality: it says how far the other measures can be believed",
        params=("over", "unit", "mode"),
    ),
    _ranking(
        name="harmful",
        summary="Share of the first k items that carry evidence labelled contradicts or stale, or come from a document "
        "that is stale or superseded at as_of.",
        population="labelled questions",
        denominator="items retrieved in the first k",
        direction="lower",
        unjudged="not harmful; the count of unjudged items is reported by judged",
        short_list="divided by the items there are; an empty list is undefined(empty_list)",
        nothing_relevant="defined all the same, on the questions that it is asked for",
        reference="ragassay",
        unsafe_alone_for="safety of the answer: one harmful item may be enough",
        params=("unit",),
    ),
    _ranking(
        name="set_precision",
        summary="Relevant items divided by all items retrieved, order ignored.",
        denominator="items retrieved",
        ties="not applicable: order is not read",
        short_list="divided by what there is; an empty list is undefined(empty_list), mode=trec: 0",
        reference="trec_eval set_P",
        unsafe_alone_for="completeness",
        aliases=("set_p",),
        cutoff="none",
    ),
    _ranking(
        name="set_f1",
        summary="Harmonic mean of set precision and recall, order ignored.",
        denominator="(items retrieved + relevant evidence) / 2",
        ties="not applicable: order is not read",
        reference="trec_eval set_F (beta = 1)",
        unsafe_alone_for="ranked reading: order is ignored",
        aliases=("set_f",),
        cutoff="none",
    ),
    _ranking(
        name="set_ap",
        summary="Set precision times recall, order ignored.",
        denominator="items retrieved * relevant evidence",
        ties="not applicable: order is not read",
        reference="trec_eval set_map",
        unsafe_alone_for="ranked reading: order is ignored",
        aliases=("set_map",),
        cutoff="none",
    ),
)
