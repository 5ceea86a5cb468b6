"""Paraphrases: how far they agree, counted by hand, and which one stands apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.score.score_material import case, doc, ev, item, one_estimate, scoring, step, trace
from tests.unit.score.test_refusal import asked, said, table

from ragassay.measures import parse
from ragassay.records.score import Observation
from ragassay.score import World, complete, estimate, observe
from ragassay.score.paraphrases import groups, told_of, variants

DOCS = (doc("a", "aaaaaaaaaa bbbbbbbbbb"), doc("b", "cccccccccc"), doc("copy", "cccccccccc"))
EVIDENCE = (ev("e1", "a", 0, 10), ev("e2", "a", 11, 21), ev("e3", "b", 0, 10))


def test_overlap_of_the_evidence_that_each_wording_found() -> None:
    names = {"q": "e1 e2", "p1": "e1 e3", "p2": "e1 e2", "alone": "e1"}
    place = {"e1": item("a", 0, 10), "e2": item("a", 11, 21), "e3": item("copy", 0, 10)}
    how, world = scoring("paraphrase_overlap(rel=2)@5", "paraphrase_consistency(of=recall/at:5)"), World(DOCS)
    cases = [case(name, evidence=EVIDENCE, paraphrase_of=None if name in ("q", "alone") else "q") for name in names]
    # p2 words its labels otherwise and names the copy of the document: the place is the same.
    cases[2] = case(
        "p2", evidence=(ev("x", "a", 0, 10), ev("y", "a", 11, 21), ev("z", "copy", 0, 10)), paraphrase_of="q"
    )
    traces = [
        trace(step("find", "lexical", [place[one] for one in found.split()]), query_id=name)
        for name, found in names.items()
    ]
    scores = complete([observe(c, t, world, how) for c, t in zip(cases, traces, strict=True)], cases, 1, world, how)
    rows = [row for one in scores for row in one.observations]
    made = estimate(rows, cases, how)
    # q and p1 share e1 of three, q and p2 all, p1 and p2 e1 of three.
    overlap = one_estimate(made, "paraphrase_overlap(rel=2)@5", "find")
    assert (overlap.value, overlap.attempted, overlap.aggregation) == (
        pytest.approx((1 / 3 + 1 + 1 / 3) / 3),
        1,
        "macro",
    )
    assert one_estimate(made, "paraphrase_consistency(of=recall/rel:2/at:5)", "find").value == 1.0  # 2 of 3 each
    own = {one: [row for row in rows if row.query_id == one and row.measure.startswith("paraphrase")] for one in names}
    told = told_of(parse("paraphrase_overlap(rel=2)@5"), variants(parse("paraphrase_overlap(rel=2)@5"), cases[:3], own))
    assert told.worst == "p1"


def test_agreement_of_outcomes_and_spread_of_a_measure_with_the_worst_named() -> None:
    cases = [
        asked("q"),
        asked("p1", paraphrase_of="q"),
        asked("p2", paraphrase_of="q"),
        asked("r"),
        asked("s", paraphrase_of="r"),
    ]
    did = {
        "q": ("yes", "answered"),
        "p1": ("yes it is", "answered"),
        "p2": ("sorry", "abstained"),
        "r": ("yes", "answered"),
        "s": ("", None),
    }
    traces = [said(name, *one) for name, one in did.items()]
    measures = ("paraphrase_consistency(of=outcome)", "paraphrase_consistency(of=token_f1)")
    rows, made = table(cases, traces, *measures)
    # Pairs of q: answered-answered agrees, two do not: 1/3. Of r and s only one is known: missing.
    outcome = one_estimate(made, measures[0])
    assert (outcome.value, outcome.attempted, outcome.scored, outcome.missing) == (pytest.approx(1 / 3), 2, 1, 1)
    assert (outcome.bounds.low, outcome.bounds.high) == (pytest.approx(1 / 6), pytest.approx(4 / 6))
    # Token F1 of q is 1 and of p1 0.5; p2 was not answered: undefined.
    assert one_estimate(made, measures[1]).value == pytest.approx(0.5)
    by_id = {one.query_id: [row for row in rows if row.query_id == one.query_id] for one in cases}
    for measure, worst in ((measures[0], "p2"), (measures[1], "p1")):
        base = str(parse(measure).inner)
        own = {name: [row for row in each if row.measure == base] for name, each in by_id.items()}
        assert told_of(parse(measure), variants(parse(measure), cases[:3], own)).worst == worst


def test_without_any_group_each_class_says_so_and_with_one_only_its_own_is_there() -> None:
    cases = [asked("q"), asked("u", "unanswerable")]
    traces = [said(one.query_id, "yes", "answered") for one in cases]
    _, made = table(cases, traces, "paraphrase_consistency(of=outcome)")
    rows = [one for one in made if one.measure.startswith("paraphrase_consistency")]
    assert [(one.population.class_, one.status, one.reason, one.attempted) for one in rows] == [
        ("answerable", "undefined", "no_paraphrases", 0),
        ("unanswerable", "undefined", "no_paraphrases", 0),
    ]
    cases.append(asked("p", paraphrase_of="q"))
    traces.append(said("p", "yes", "answered"))
    _, made = table(cases, traces, "paraphrase_consistency(of=outcome)")
    rows = [one for one in made if one.measure.startswith("paraphrase_consistency")]
    assert [(one.population.class_, one.value) for one in rows] == [("answerable", 1.0)]


def test_two_that_disagree_have_no_worst_and_one_wording_is_no_group() -> None:
    assert list(groups([asked("q"), asked("p", paraphrase_of="q"), asked("lonely")])) == ["q"]
    assert not groups([asked("p", paraphrase_of="q")])
    cases = [asked("q"), asked("p", paraphrase_of="q")]
    rows, made = table(
        cases, [said("q", "yes", "answered"), said("p", "x", "abstained")], "paraphrase_consistency(of=outcome)"
    )
    assert one_estimate(made, "paraphrase_consistency(of=outcome)").value == 0.0
    own = {name: [row for row in rows if row.query_id == name and row.measure == "outcome"] for name in ("q", "p")}
    measure = parse("paraphrase_consistency(of=outcome)")
    assert told_of(measure, variants(measure, cases, own)).worst is None


def test_nothing_found_by_anyone_is_undefined() -> None:
    how, world = scoring("paraphrase_overlap@5"), World(DOCS)
    cases = [case("q", evidence=EVIDENCE), case("p", evidence=EVIDENCE, paraphrase_of="q")]
    scores = [observe(one, trace(step("find", "lexical", []), query_id=one.query_id), world, how) for one in cases]
    rows = [row for one in complete(scores, cases, 1, world, how) for row in one.observations]
    got = one_estimate(estimate(rows, cases, how), "paraphrase_overlap(rel=2)@5", "find")
    assert (got.status, got.reasons) == ("undefined", {"nothing_found": 1})


def _one(name: str, status: str, quarters: int) -> Observation:
    known = status == "value"
    return Observation(
        query_id=name, repeat=0, measure="token_f1", status=status,  # type: ignore[arg-type]
        value=quarters / 4 if known else None, reason=None if known else "r",
    )  # fmt: skip


@given(
    st.lists(
        st.tuples(st.sampled_from(["value", "missing", "error", "undefined"]), st.integers(0, 4)),
        min_size=2,
        max_size=5,
    )
)
def test_bounds_of_a_spread_hold_every_completion(own: list[tuple[str, int]]) -> None:
    cases = [asked("v0"), *(asked(f"v{n}", paraphrase_of="v0") for n in range(1, len(own)))]
    rows = {f"v{n}": [_one(f"v{n}", status, number)] for n, (status, number) in enumerate(own)}
    measure = parse("paraphrase_consistency(of=token_f1)")
    told = told_of(measure, variants(measure, cases, rows))
    known = [number / 4 for status, number in own if status == "value"]
    unknown = sum(status in ("missing", "error") for status, _ in own)
    if told.value is not None:
        assert told.low <= told.value <= told.high
        assert told.value == pytest.approx(1 - (max(known) - min(known)))
    ends = [[0.0] * (unknown - n) + [1.0] * n for n in range(unknown + 1)]
    for extra in ends:
        every = [*known, *extra]
        if len(every) > 1 and unknown:
            assert told.low - 1e-12 <= 1 - (max(every) - min(every)) <= told.high + 1e-12
