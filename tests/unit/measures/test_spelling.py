"""Measures as values: canonical spelling, its inverse, and what is refused with which hint."""

from __future__ import annotations

from typing import Any

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
        ("recal@3", "there is no measure named 'recal'", "did you mean recall or r_precision?"),
        ("ndcg(gian=exp)@3", "ndcg has no parameter 'gian'", "did you mean gain? ndcg takes gain, unit, mode, list"),
        ("ndcg(zq=exp)@3", "ndcg has no parameter 'zq'", "ndcg takes gain, unit, mode, list"),
        (
            "ndcg(gain=expo)@3",
            "gain=expo of ndcg is not one of lin, exp",
            "did you mean gain=exp? gain: gain of a grade g: lin is g, exp is 2^g - 1",
        ),
        (
            "ndcg(gain=qqq)@3",
            "gain=qqq of ndcg is not one of lin, exp",
            "gain: gain of a grade g: lin is g, exp is 2^g - 1",
        ),
        ("ndcg( gain )@3", "the parameter 'gain' of 'ndcg( gain )@3' has no value", "write key=value"),
        (
            "ndcg(gain=exp,gain=exp)@3",
            "the parameter 'gain' of 'ndcg(gain=exp,gain=exp)@3' is given twice",
            "keep one of them",
        ),
        ("ndcg(gain=exp,)@3", "an empty parameter in 'ndcg(gain=exp,)@3'", "write key=value, parted by commas"),
        ("ndcg@0", "the cut-off '0' of 'ndcg@0' is not a whole number from 1 on", "as in ndcg@10"),
        ("ndcg@-1", "the cut-off '-1' of 'ndcg@-1' is not a whole number from 1 on", "as in ndcg@10"),
        ("ndcg@1.5", "the cut-off '1.5' of 'ndcg@1.5' is not a whole number from 1 on", "as in ndcg@10"),
        ("ndcg@", "the cut-off '' of 'ndcg@' is not a whole number from 1 on", "as in ndcg@10"),
        (
            "ndcg@00000000001",
            "the cut-off '00000000001' of 'ndcg@00000000001' is not a whole number from 1 on",
            "as in ndcg@10",
        ),
        ("ndcg@２", "the cut-off '２' of 'ndcg@２' is not a whole number from 1 on", "as in ndcg@10"),
        (
            "ndcg@2147483648",
            "the cut-off '2147483648' of 'ndcg@2147483648' is not a whole number from 1 on",
            "as in ndcg@10",
        ),
        ("precision", "precision needs a cut-off", "as in precision@10"),
        ("latency@3", "latency takes no cut-off", "write latency without @3"),
        (
            "recall(rel=0)@3",
            "rel=0 of recall is not a whole number from 1 on",
            "rel: least grade that counts as relevant",
        ),
        (
            "recall(rel=1.5)@3",
            "rel=1.5 of recall is not a whole number from 1 on",
            "rel: least grade that counts as relevant",
        ),
        (
            "recall(rel=2147483648)@3",
            "rel=2147483648 of recall is not a whole number from 1 on",
            "rel: least grade that counts as relevant",
        ),
        ("err(max=1001)", "max=1001 of err is not a whole number from 1 to 1000", "max: greatest grade of the rubric"),
        ("err(max=x)", "max=x of err is not a whole number from 1 to 1000", "max: greatest grade of the rubric"),
        (
            "rbp(p=1)",
            "p=1 of rbp is not a number between 0 and 1",
            "p: persistence: chance that the reader goes on to the next rank",
        ),
        (
            "rbp(p=0)",
            "p=0 of rbp is not a number between 0 and 1",
            "p: persistence: chance that the reader goes on to the next rank",
        ),
        (
            "rbp(p=nan)",
            "p=nan of rbp is not a number between 0 and 1",
            "p: persistence: chance that the reader goes on to the next rank",
        ),
        (
            "ndcg((",
            "cannot read the measure 'ndcg(('",
            "a measure is spelled name(key=value,...)@k, as in recall(rel=2)@20",
        ),
        ("", "cannot read the measure ''", "a measure is spelled name(key=value,...)@k, as in recall(rel=2)@20"),
        ("faithfulness(by=a b)", "by='a b' of faithfulness is not a word", "letters, digits and _ . : / - only"),
        ("faithfulness(by=a=b)", "by='a=b' of faithfulness is not a word", "letters, digits and _ . : / - only"),
        ("duplicate_rate(x=1)", "duplicate_rate has no parameter 'x'", "duplicate_rate takes no parameter"),
    ],
)
def test_refusals_say_what_to_do(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_numbers_at_their_ends_and_in_other_types() -> None:
    for text in ("ndcg@2147483647", "ndcg@1", "recall(rel=2147483647)@3", "recall(rel=1)@3", "err(max=1000)"):
        assert str(parse(text)) == text
    assert str(Measure.of("recall", rel=2.0, cutoff=3)) == "recall(rel=2)@3"
    assert str(Measure.of("rbp", p=0.1 + 0.2)) == "rbp(p=0.30000000000000004)"
    assert str(Measure.of("ndcg", cutoff=2**31 - 1)) == "ndcg@2147483647"
    assert str(parse("recall( )@3")) == "recall@3"
    with pytest.raises(UsageError, match=r"^rel=1.5 of recall is not a whole number from 1 on"):
        Measure.of("recall", rel=1.5, cutoff=3)
    with pytest.raises(UsageError, match=r"^rel=nan of recall is not a whole number from 1 on"):
        Measure.of("recall", rel=float("nan"), cutoff=3)


@pytest.mark.parametrize("cutoff", [0, -1, 2**31, 1.5, 3.0, "3"])
def test_cut_offs_that_are_none(cutoff: Any) -> None:
    with pytest.raises(UsageError) as caught:
        Measure.of("ndcg", cutoff=cutoff)
    assert caught.value.message == f"the cut-off {cutoff!r} is not a whole number from 1 on"
    assert caught.value.hint == "as in ndcg@10"


def test_parameters_that_a_measure_has_not_said() -> None:
    measure = parse("ndcg(gain=exp)@3")
    assert (measure.get("gain"), measure.get("mode"), measure.get("rel")) == ("exp", "native", None)
    assert measure.get("nothing") is None
    assert str(measure.with_params(gain="lin", rel=3)) == "ndcg@3"


def _values(key: str) -> st.SearchStrategy[int | float | str]:
    spec = PARAMS[key]
    if spec.choices:
        return st.sampled_from(spec.choices)
    if spec.kind is int:
        return st.integers(int(spec.low), int(spec.high))
    if spec.kind is float:
        return st.floats(spec.low, spec.high, exclude_min=True, exclude_max=True)
    if key == "of":
        return st.sampled_from(
            ["exact_match", "token_f1", "token_f1/norm:unicode", "rouge_l", "outcome", "hit/rel:2/at:5"]
        )
    return st.from_regex(r"[a-z0-9][a-z0-9_.:/-]{0,8}", fullmatch=True)


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    declared = draw(st.sampled_from(declarations()))
    keys = draw(st.lists(st.sampled_from(declared.params), unique=True)) if declared.params else []
    keys = [*keys, *(one for one in declared.requires if one not in keys)]
    cuts = {"required": st.integers(1, 2000), "none": st.none()}.get(declared.cutoff, st.none() | st.integers(1, 2000))
    said = {key: draw(_values(key)) for key in keys}
    if "least" in declared.params and "of" in said:
        graded = {"exact_match": False, "hit/rel:2/at:5": False, "outcome": True}.get(str(said["of"]), True)
        said = {**said, "least": said.get("least", 0.5)} if graded else {k: v for k, v in said.items() if k != "least"}
    if declared.of_stages and said.get("of") in ("outcome", "hit/rel:2/at:5"):
        said["of"] = "exact_match"
        said.pop("least", None)
    return Measure.of(declared.name, cutoff=draw(cuts), **said)


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


@pytest.mark.parametrize(
    "text, message",
    [
        ("aurc", "aurc does not say of"),
        ("aurc(of=token_f1)", "aurc does not say which token_f1 counts as right"),
        ("aurc(of=exact_match,least=0.5)", "exact_match is 0 or 1 and takes no least"),
        ("aurc(of=recall/at:5,least=0.5)", "aurc cannot be of recall@5, which is of retrieval"),
        ("selective_risk(of=exact_match)", "selective_risk does not say coverage"),
        ("brier(of=latency)", "brier cannot be of latency"),
        ("paraphrase_consistency(of=aurc/of:exact_match)", "paraphrase_consistency cannot be of aurc(of=exact_match)"),
        ("pass_k(of=exact_match)", "pass_k does not say k"),
        ("pass_k(of=recal/at:5,k=2)", "there is no measure named 'recal'"),
    ],
)
def test_what_counts_as_right_is_never_implied(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert caught.value.message == message
    assert caught.value.hint


def test_measures_of_measures() -> None:
    asked = parse("aurc(least=0.5,of=f1)")
    assert (str(asked), str(asked.inner)) == ("aurc(least=0.5,of=token_f1)", "token_f1")
    assert parse("recall@5").inner is None
    spread = parse("paraphrase_consistency(of=recall/unit:document/at:5)")
    assert str(spread.with_rel(2)) == "paraphrase_consistency(of=recall/rel:2/unit:document/at:5)"
    assert str(spread.with_rel(2).inner) == "recall(rel=2,unit=document)@5"
    assert spread.with_rel(2).with_rel(3) == spread.with_rel(2)
    assert str(parse("pass_k(k=3,of=answered_right/of:exact_match)").inner) == "answered_right(of=exact_match)"


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
        assert set(one.requires) <= set(one.params), one.name
        assert set(one.params) <= set(PARAMS), one.name
        assert declaration(one.name) is one
        assert all(declaration(alias) is one for alias in one.aliases)
        assert one.bounded == (one.high is not None)
