"""Which evidence failure stands behind a claim: told from labels where there are any, else from what the judge saw.

Ten answers that are supported by a wrong authority and ten that are right and not cited, each with the failure that
a person named: what is told is the same, claim by claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from tests.unit.score.judged_material import judged, said, span, verdicts
from tests.unit.score.score_material import AS_OF, case, doc, ev, item, step, trace

from ragassay.records.case import Case, Evidence, Fact, Principal
from ragassay.records.document import DocumentRef
from ragassay.records.judgement import Judgement
from ragassay.records.score import ClaimFailure
from ragassay.records.trace import Answer, Citation, Item

NEW = "Refunds take 14 days. Ask the help desk."
DOCS = [
    doc("rules", "Refunds take 30 days.", "1"),
    doc("rules", NEW, "2", supersedes=DocumentRef(document_id="rules", version="1")),
    doc("price", "The fee was 3 euros.", valid_until="2026-01-01T00:00:00Z"),
    doc("fee", "The fee is 4 euros.", valid_from="2026-01-01T00:00:00Z"),
    doc("staff", "Staff get refunds in 5 days.", tenants=("acme",)),
    doc("forum", "Somebody wrote that refunds take 60 days."),
    doc("desk", "The help desk opens at nine."),
]
LENGTH = {(one.document_id, one.version): len(one.text) for one in DOCS}
GUEST = Principal(id="guest", tenants=("public",))


def it(document_id: str, version: str = "1") -> Item:
    return item(document_id, 0, LENGTH[document_id, version], version=version)


OLD_RULES, RULES, PRICE, FEE = it("rules"), it("rules", "2"), it("price"), it("fee")
STAFF, FORUM, DESK = it("staff"), it("forum"), it("desk")


def all_of(one: Item) -> tuple[Any, ...]:
    return one.sources


def told(
    answer: str | Answer, *rulings: Judgement, context: Sequence[Item], found: Sequence[Item] | None = None,
    known: Case | None = None, measures: tuple[str, ...] = ("faithfulness",),
) -> dict[str, ClaimFailure]:  # fmt: skip
    """Claim -> what is wrong with it. `found`: what the search gave, where the assembling dropped some."""
    steps = [step("search", "lexical", found or context, ()), step("assemble", "assemble", context, ("search",))]
    seen = trace(*steps, answer=answer, context=context)
    got = judged(known or case(), seen, DOCS, *measures, by={"j": verdicts(seen, *rulings)}, as_of=AS_OF)
    return {one.claim_id: one for one in got.failures}


class Wrong(NamedTuple):
    """An answer by hand: what supports it, and what a person says is wrong with it."""

    answer: str
    by: Item
    context: tuple[Item, ...]
    failure: str
    told_by: str
    cited: bool = True
    evidence: tuple[Evidence, ...] | None = None
    principal: Principal | None = None


def role(name: str, one: Item, which: str) -> Evidence:
    at = one.sources[0]
    return ev(name, at.document_id, at.start, at.end, version=at.version, role=which)


WRONG_AUTHORITY = [
    Wrong("Refunds take 30 days [1].", OLD_RULES, (OLD_RULES,), "stale_authority", "documents"),
    Wrong("You get the money after 30 days [1].", OLD_RULES, (OLD_RULES, RULES), "stale_authority", "documents"),
    Wrong("The fee was 3 euros [1].", PRICE, (PRICE,), "stale_authority", "documents"),
    Wrong("It costs 3 euros [2].", PRICE, (FEE, PRICE), "stale_authority", "documents"),
    Wrong("Refunds take 60 days [1].", FORUM, (FORUM,), "stale_authority", "labels",
          evidence=(role("e", FORUM, "stale"),)),
    Wrong("Refunds take 60 days [2].", FORUM, (RULES, FORUM), "contradicted", "labels",
          evidence=(role("e", FORUM, "contradicts"), role("r", RULES, "supports"))),
    Wrong("Somebody waits 60 days [1].", FORUM, (FORUM, DESK), "contradicted", "labels",
          evidence=(role("e", FORUM, "contradicts"),)),
    Wrong("Staff get refunds in 5 days [1].", STAFF, (STAFF,), "not_authorised", "documents", principal=GUEST),
    Wrong("Staff wait for 5 days [2].", STAFF, (RULES, STAFF), "not_authorised", "documents", principal=GUEST),
    Wrong("In 5 days, for staff.", STAFF, (STAFF, DESK), "not_authorised", "documents", principal=GUEST, cited=False),
]  # fmt: skip


@pytest.mark.parametrize("one", WRONG_AUTHORITY, ids=lambda one: f"{one.failure}: {one.answer}")
def test_supported_by_a_wrong_authority(one: Wrong) -> None:
    known = case(evidence=one.evidence, principal=one.principal)
    place = one.context.index(one.by)
    rulings = [said("claim c1", "supported", spans=all_of(one.by))]
    rulings += [said("citation c1:0", "supported")] if one.cited else []
    found = told(one.answer, *rulings, context=one.context, known=known)["c1"]
    assert (found.failure, found.told_by) == (one.failure, one.told_by)
    assert ("uncited" in found.also) is not one.cited
    assert place == 0 or "[2]" in one.answer


def test_a_right_authority_beside_a_wrong_one_is_no_failure() -> None:
    both = said("claim c1", "supported", spans=(*OLD_RULES.sources, *RULES.sources))
    assert told("Refunds take days [2].", both, said("citation c1:0", "supported"), context=[OLD_RULES, RULES]) == {}


UNCITED = [
    ("Refunds take 14 days.", (RULES,)),
    ("The fee is 4 euros.", (FEE,)),
    ("The help desk opens at nine.", (DESK,)),
    ("You pay 4 euros, no more.", (FEE, DESK)),
    ("Nine is when the desk opens.", (DESK, RULES)),
    ("After 14 days the money is back.", (RULES, FEE, DESK)),
    ("Die Gebühr ist 4 Euro.", (FEE,)),
    ("手数料は4ユーロです。", (FEE,)),
    ("- The desk opens at nine", (DESK,)),
    ("**Refunds** take two weeks", (RULES,)),
]


@pytest.mark.parametrize(("answer", "context"), UNCITED, ids=[one[0] for one in UNCITED])
def test_right_but_uncited(answer: str, context: tuple[Item, ...]) -> None:
    found = told(answer, said("claim c1", "supported", spans=context[0].sources), context=context)
    assert {name: (one.failure, one.told_by, one.also) for name, one in found.items()} == {
        "c1": ("uncited", "citations", ())
    }


FACTS = (
    Fact(id="refund", any_of=(("r",),), text="Refunds take 14 days"),
    Fact(id="opening", any_of=(("d",),), text="The help desk opens at nine"),
)
LABELLED = case(
    evidence=(ev("r", "rules", 0, 21, version="2"), ev("d", "desk", 0, 28)), facts=FACTS, class_="multi_hop"
)


@pytest.mark.parametrize(
    ("found", "context", "failure", "steps"),
    [
        ([DESK], [DESK], "not_retrieved", ()),
        ([DESK, RULES], [DESK], "lost_before_context", ("assemble",)),
        ([DESK, RULES], [DESK, RULES], "in_context_not_used", ()),
    ],
)
def test_labels_say_where_the_evidence_of_an_unsupported_claim_went(
    found: list[Item], context: list[Item], failure: str, steps: tuple[str, ...]
) -> None:
    rulings = [said("claim c1", "unsupported"), said("claim c2", "supported", spans=DESK.sources)]
    got = told("Refunds take 20 days. The help desk opens at nine.", *rulings, context=context, found=found,
               known=LABELLED)  # fmt: skip
    one = got["c1"]
    assert (one.failure, one.told_by, one.label, one.steps) == (failure, "labels", "refund", steps)
    assert one.also == ("uncited",)
    assert got["c2"].failure == "uncited"


def test_evidence_without_facts_says_it_too() -> None:
    known = case(evidence=(ev("r", "rules", 0, 21, version="2"),))
    found = told("Refunds take 20 days.", said("claim c1", "unsupported"), context=[DESK], found=[DESK, RULES],
                 known=known)["c1"]  # fmt: skip
    assert (found.failure, found.label, found.steps) == ("lost_before_context", "r", ("assemble",))


def test_what_no_label_is_about_is_told_by_the_judge_alone() -> None:
    for known in (LABELLED, case()):
        found = told("Bananas ripen quickly. Parrots sing.", said("claim c1", "unsupported"),
                     said("claim c2", "supported"), context=[DESK], known=known)["c1"]  # fmt: skip
        assert (found.failure, found.told_by, found.label) == ("not_in_context", "judge", None)


def test_a_contradiction_goes_before_where_the_evidence_went() -> None:
    found = told("Refunds take 20 days [1].", said("claim c1", "contradicted"), said("citation c1:0", "contradicted"),
                 context=[RULES], known=LABELLED)["c1"]  # fmt: skip
    assert (found.failure, found.told_by, found.also) == ("contradicted", "judge", ("cited_not_entailing",))


def test_citations_to_what_does_not_entail_or_was_never_in_context() -> None:
    supported = said("claim c1", "supported", spans=RULES.sources)
    wrong = told("Refunds take 14 days [1].", supported, said("citation c1:0", "unsupported"),
                 context=[DESK, RULES])["c1"]  # fmt: skip
    assert (wrong.failure, wrong.told_by, wrong.citations) == ("cited_not_entailing", "judge", (0,))
    nowhere = told("Refunds take 14 days [7].", supported, context=[RULES])["c1"]
    assert (nowhere.failure, nowhere.told_by, nowhere.citations) == ("cited_outside_context", "citations", (0,))
    dropped = Answer(text="Refunds take 14 days.", citations=(
        Citation(answer_start=0, answer_end=21, item_id=RULES.item_id),))  # fmt: skip
    lost = told(dropped, supported, said("citation c1:0", "supported"), context=[DESK], found=[DESK, RULES])["c1"]
    assert lost.failure == "cited_outside_context"  # it would entail the claim, and generation never saw it
    hidden = told("Refunds take 14 days [2].", supported, said("citation c1:0", "supported"), context=[RULES, STAFF],
                  known=case(principal=GUEST))["c1"]  # fmt: skip
    assert (hidden.failure, hidden.citations) == ("not_authorised", (0,))


def test_a_verdict_that_did_not_come_names_no_failure_of_the_evidence() -> None:
    found = told("Refunds take 14 days [1].", said("claim c1"), said("citation c1:0"), context=[RULES])
    assert found == {}
    half = told("Refunds take 14 days [1][2].", said("claim c1"), said("citation c1:0"),
                said("citation c1:1", "unsupported"), context=[RULES, DESK])  # fmt: skip
    assert half == {}  # the first citation may be the one that supports it


def test_spans_of_documents_that_the_corpus_does_not_have() -> None:
    stray = (span("gone", 0, 5),)
    assert told("Refunds take 14 days [1].", said("claim c1", "supported", spans=stray),
                said("citation c1:0", "supported"), context=[RULES], known=case(principal=GUEST)) == {}  # fmt: skip
