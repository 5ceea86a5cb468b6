"""Measures as values: canonical spelling, its inverse, and what is refused with which hint."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import RagassayError, UsageError
from ragassay.measures import Measure, declaration, declarations, parse
from ragassay.measures.spelling import PARAMS


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("recall(rel=2)@20", "recall(rel=2)@20"),
        (" recall( rel = 2 )@20 ", "recall(rel=2)@20"),
        ("ndcg@10", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        ("ndcg(gain=lin)@10", "ndcg@10"),
        ("ndcg(mode=trec,gain=exp)@10", "ndcg(gain=exp,mode=trec)@10"),
        ("recall(unit=document)@20", "recall(unit=document)@20"),
        ("faithfulness(by=panel-a)", "faithfulness(by=panel-a)"),
        ("map", "ap"),
        ("map_cut_100", "ap@100"),
        ("ndcg_cut_10", "ndcg@10"),
        ("P_5", "precision@5"),
        ("P@5", "precision@5"),
        ("recip_rank", "rr"),
        ("Rprec", "r_precision"),
        ("success_1", "hit@1"),
        ("rouge_1", "rouge_1"),
        ("rbp(p=0.80)", "rbp(p=0.8)"),
        ("recall()@3", "recall@3"),
    ],
)
def test_canonical(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical
    assert parse(canonical) == parse(text)
    assert hash(parse(canonical)) == hash(parse(text))


@pytest.mark.parametrize(
    "text, message, hint",
    [
        ("recal@3", "no measure named 'recal'", "recall"),
        ("zzzz", "no measure", "lists all"),
        ("ndcg(gian=exp)@3", "no parameter 'gian'", "did you mean gain"),
        ("ndcg(gain=expo)@3", "not one of lin, exp", "gain=exp"),
        ("ndcg(gain)@3", "has no value", "key=value"),
        ("ndcg(gain=exp,gain=exp)@3", "given twice", "one of them"),
        ("ndcg(gain=exp,)@3", "empty parameter", "commas"),
        ("ndcg@0", "cut-off", "ndcg@10"),
        ("ndcg@-1", "cut-off", "ndcg@10"),
        ("ndcg@1.5", "cut-off", "ndcg@10"),
        ("ndcg@", "cut-off", "ndcg@10"),
        ("ndcg@99999999999", "cut-off", "ndcg@10"),
        ("precision", "needs a cut-off", "precision@10"),
        ("latency@3", "takes no cut-off", "without"),
        ("recall(rel=0)@3", "whole number from 1", "least grade"),
        ("recall(rel=1.5)@3", "whole number", "least grade"),
        ("rbp(p=1)", "between 0 and 1", "persistence"),
        ("rbp(p=nan)", "between 0 and 1", "persistence"),
        ("ndcg((", "cannot read", "spelled"),
        ("", "cannot read", "spelled"),
        ("faithfulness(by=a b)", "not a word", "letters"),
    ],
)
def test_refusals_say_what_to_do(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert message in caught.value.message
    assert hint in caught.value.hint


def _values(key: str) -> st.SearchStrategy[int | float | str]:
    spec = PARAMS[key]
    if spec.choices:
        return st.sampled_from(spec.choices)
    if spec.kind is int:
        return st.integers(int(spec.low), int(spec.high))
    if spec.kind is float:
        return st.floats(spec.low, spec.high, exclude_min=True, exclude_max=True)
    return st.from_regex(r"[a-z0-9][a-z0-9_.:/-]{0,8}", fullmatch=True)


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    declared = draw(st.sampled_from(declarations()))
    keys = draw(st.lists(st.sampled_from(declared.params), unique=True)) if declared.params else []
    cuts = {"required": st.integers(1, 2000), "none": st.none()}.get(declared.cutoff, st.none() | st.integers(1, 2000))
    return Measure.of(declared.name, cutoff=draw(cuts), **{key: draw(_values(key)) for key in keys})


@given(measures())
def test_spelling_parses_back(measure: Measure) -> None:
    assert parse(str(measure)) == measure


@given(st.text())
def test_any_text_is_a_measure_or_a_refusal_with_a_hint(text: str) -> None:
    try:
        measure, hint = parse(text), "none needed"
    except RagassayError as error:
        measure, hint = None, error.hint
    assert hint
    assert measure is None or parse(str(measure)) == measure


def test_with_rel_fills_only_what_is_open() -> None:
    assert str(parse("recall@20").with_rel(2)) == "recall(rel=2)@20"
    assert str(parse("recall(rel=3)@20").with_rel(2)) == "recall(rel=3)@20"
    assert str(parse("ndcg@20").with_rel(2)) == "ndcg@20"


def test_declarations_are_complete_and_names_unique() -> None:
    assert len({one.name for one in declarations()}) == len(declarations())
    for one in declarations():
        for field in type(one).__slots__:
            value = getattr(one, field)
            assert value not in ("", None) or field == "high", (one.name, field)
        assert set(one.params) <= set(PARAMS), one.name
        assert declaration(one.name) is one
        assert all(declaration(alias) is one for alias in one.aliases)
        assert one.bounded == (one.high is not None)
