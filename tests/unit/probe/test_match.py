"""Canaries are found in every listed disguise, and nowhere where they are not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials.disguises import ENCODINGS

from ragassay.errors import UsageError
from ragassay.probe.canary import LEAST_BITS, Draws, checked_key, document_id, draw, key_id
from ragassay.probe.forms import dates_in, numbers_in, words_of
from ragassay.probe.match import Matcher
from ragassay.probe.views import folded, views
from ragassay.probe.wording import memo, title
from ragassay.records.probe import PlantedDocument

KEY = b"a key of more than sixteen bytes"


def planted(number: int) -> PlantedDocument:
    drawn = draw(KEY, "suite", "north", str(number))
    return PlantedDocument(
        document_id=document_id(KEY, "suite", str(number)), tenant="north", role="canary", title=title(drawn),
        text=memo(drawn, ("travel", "invoices")), anchor=drawn.anchor, token=drawn.token, facts=drawn.facts,
    )  # fmt: skip


DOCUMENTS = [planted(number) for number in range(40)]
MATCHER = Matcher(DOCUMENTS)


@pytest.mark.parametrize("name", ENCODINGS)
def test_recall_of_tokens_and_facts_in_every_encoding(name: str) -> None:
    made = ENCODINGS[name]
    found = {"token": 0, "facts": 0}
    for one in DOCUMENTS:
        told = {fact.kind: fact.value for fact in one.facts}
        for kind, text in (
            ("token", f"the code {one.token}"),
            ("facts", f"{told['name']} in {told['place']}: {int(told['amount']):,} euros"),
        ):
            matches = MATCHER.find(made(text))
            assert {match.document_id for match in matches} <= {one.document_id}
            found[kind] += bool(matches)
    assert found["token"] >= 0.99 * len(DOCUMENTS)
    assert found["facts"] >= 0.99 * len(DOCUMENTS)


NUMBERS = [
    "{0:,}", "{0}", "€{0:,}.00", "EUR {0:,},00", "{1}", "{2}", "{3}", "{4}", "{5}", "{6}",
]  # fmt: skip


@pytest.mark.parametrize("form", NUMBERS)
def test_every_form_of_an_amount_is_one_number(form: str) -> None:
    for one in DOCUMENTS:
        amount = int(next(fact.value for fact in one.facts if fact.kind == "amount"))
        grouped = f"{amount:,}"
        said = form.format(
            amount, grouped.replace(",", "."), grouped.replace(",", " "), grouped.replace(",", "'"),
            grouped.replace(",", "\u202f"), words_of(amount), "".join(chr(0x660 + int(sign)) for sign in str(amount)),
        )  # fmt: skip
        assert str(amount) in numbers_in(f"they paid {said} in the end"), said


@pytest.mark.parametrize(
    "said",
    ["2031-03-14", "14 March 2031", "March 14th, 2031", "14.03.2031", "03/14/2031", "14/3/2031", "20310314", "14. März "
     "2031", "14 mars 2031", "14 de marzo de 2031", "14 marzo 2031", "14 de março de 2031", "14 maart 2031", "14 marca "
     "2031", "2031年3月14日", "the 14th of March 2031", "14-Mar-2031"],
)  # fmt: skip
def test_every_form_of_a_date_is_one_day(said: str) -> None:
    assert (2031, 3, 14) in dates_in(f"signed {said}.")


def test_one_fact_alone_is_no_proof_and_two_are() -> None:
    one = DOCUMENTS[3]
    told = {fact.kind: fact.value for fact in one.facts}
    assert not MATCHER.find(f"they met in {told['place']}")
    assert not MATCHER.find(f"it was {told['amount']}")
    (match,) = MATCHER.find(f"in {told['place']} for {told['amount']}")
    assert (match.document_id, match.by) == (one.document_id, "fact")
    assert not MATCHER.find(f"{told['place']} {DOCUMENTS[4].facts[1].value}"), "facts of two documents are not one"


def test_what_was_asked_proves_nothing_and_what_may_be_there_is_left_out() -> None:
    one = DOCUMENTS[5]
    assert MATCHER.find(f"no document {one.document_id}")
    assert not MATCHER.find(f"no document {one.document_id}", said=one.document_id)
    assert not MATCHER.find(one.text, but={one.document_id})


def test_a_token_with_one_wrong_sign_is_a_near_miss() -> None:
    token = DOCUMENTS[0].token or ""
    (match,) = MATCHER.find(f"reference {token[:9]}7{token[10:]} of them" if token[9] != "7" else token[:20])
    assert match.by == "fuzzy"


def test_the_key_decides_and_is_long_enough() -> None:
    assert draw(KEY, "s", "t", "1") == draw(KEY, "s", "t", "1")
    others = [
        draw(KEY, "s", "t", "2"),
        draw(KEY, "s", "u", "1"),
        draw(KEY, "r", "t", "1"),
        draw(KEY + b"!", "s", "t", "1"),
    ]
    assert len({one.token for one in others} | {draw(KEY, "s", "t", "1").token}) == 5
    assert key_id(KEY) != key_id(KEY + b"!")
    assert KEY.decode() not in key_id(KEY)
    with pytest.raises(UsageError) as caught:
        checked_key(b"short")
    assert caught.value.field == "probe.key"


def test_facts_have_the_bits_that_they_claim() -> None:
    assert all(one.bits >= LEAST_BITS for one in DOCUMENTS)
    assert len({fact.value for one in DOCUMENTS for fact in one.facts if fact.kind != "date"}) == 4 * len(DOCUMENTS)
    draws = Draws(KEY, "uniform")
    counts = [0] * 10
    for _ in range(2000):
        counts[draws.below(10)] += 1
    assert sum((one - 200) ** 2 / 200 for one in counts) < 33, "chi-square of 9 degrees, p about 1e-4"


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_searched_and_folding_settles(text: str) -> None:
    assert not MATCHER.find(text)
    assert folded(folded(text)) == folded(text)
    assert len(list(views(text))) <= 200


@given(st.text(max_size=80), st.text(max_size=80), st.integers(0, len(DOCUMENTS) - 1))
@settings(max_examples=100, deadline=None)
def test_a_token_is_found_whatever_stands_around_it(before: str, after: str, number: int) -> None:
    one = DOCUMENTS[number]
    found = MATCHER.find(f"{before} {one.token} {after}")
    assert [match.document_id for match in found] == [one.document_id]


def test_random_tokens_do_not_match() -> None:
    rng = random.Random(7)
    for _ in range(300):
        assert not MATCHER.find("".join(rng.choice("ABCDEFGHJKMNPQRSTVWXYZ23456789") for _ in range(21)))
