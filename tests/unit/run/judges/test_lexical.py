from __future__ import annotations

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.contracts.faults import HOSTILE_TEXTS
from ragassay.errors import UsageError
from ragassay.records.document import Span
from ragassay.run.judges.contract import Item, Shown
from ragassay.run.judges.lexical import Frequencies, LexicalEvaluator, lexical
from ragassay.run.judges.lexical.concepts import kin
from ragassay.run.judges.lexical.overlap import overlap
from ragassay.run.judges.lexical.quantities import quantities
from ragassay.run.judges.lexical.terms import sentences


def claim(statement: str, *evidence: Shown | str, language: str | None = None) -> Item:
    shown = tuple(one if isinstance(one, Shown) else Shown("p", one) for one in evidence)
    return Item("q", 0, "claim", "c1", "support/1", statement, "?", statement, shown, language=language)


@pytest.mark.parametrize(
    "text,language,kind,value",
    [
        ("It cost $2.5 million.", "en", "dollar", 2_500_000),
        ("Thirty-one people", "en", "count", 31),
        ("64.000 Haushalte", "de", "count", 64_000),
        ("9,80 Euro", "de", "euro", 9.8),
        ("treinta y uno barcos", "es", "count", 31),
        ("11.5 kilometres", "en", "length", 11_500),
        ("18 percent", "en", "percent", 18),
        ("12 %", "de", "percent", 12),
        ("三百二十人", "zh", "count", 320),
    ],
)
def test_a_quantity(text: str, language: str, kind: str, value: float) -> None:
    found = quantities(text, language)
    assert found
    assert (found[0].kind, found[0].value) == (kind, pytest.approx(value))


@pytest.mark.parametrize(
    "text,language,date",
    [
        ("on 14 March 2009", "en", (2009, 3, 14, 0)),
        ("June 2, 2009", "en", (2009, 6, 2, 0)),
        ("2009-06-02", "en", (2009, 6, 2, 0)),
        ("am 1. März 2024", "de", (2024, 3, 1, 0)),
        ("el 3 de julio de 2020", "es", (2020, 7, 3, 0)),
        ("2020年5月3日", "zh", (2020, 5, 3, 0)),
        ("since 1998", "en", (1998, 0, 0, 0)),
    ],
)
def test_a_date(text: str, language: str, date: tuple[int, int, int, int]) -> None:
    assert [one.date for one in quantities(text, language)] == [date]


def test_recall_is_the_formula_by_hand() -> None:
    shown = sentences("The cat sat. The dog ran.", "en")
    found = overlap(sentences("cat dog bird", "en"), shown)
    known, unknown = math.log(1 + 3 / 1.5), math.log(1 + 3 / 0.5)
    assert found.recall == pytest.approx(2 * known / (2 * known + unknown), abs=1e-12)
    assert sorted(found.chosen) == [0, 1]


@pytest.mark.parametrize(
    "evidence,statement,check",
    [
        ("The tower is 300 metres high.", "The tower is 200 metres high.", "number"),
        ("The bridge opened on 3 May 1990.", "The bridge opened on 4 May 1990.", "date"),
        ("Hunde sind auf dem Gelände erlaubt.", "Hunde sind auf dem Gelände nicht erlaubt.", "opposite"),
        ("Anna beat Boris in the final.", "Boris beat Anna in the final.", "role"),
        ("Only members may vote.", "Members may vote, and also guests.", "scope"),
        ("The parcel was delivered.", "The parcel was not delivered.", "negation"),
        ("El ministerio aprobó la ley.", "El ministerio rechazó la ley.", "opposite"),
    ],
)
def test_a_contradiction_is_named_and_its_twin_is_supported(evidence: str, statement: str, check: str) -> None:
    bad, good = LexicalEvaluator().judge([claim(statement, evidence), claim(evidence, evidence)])
    assert bad.label == "contradicted"
    assert f"{check}:" in (bad.rationale or "")
    assert good.label == "supported"
    assert good.score is not None
    assert bad.score is not None
    assert good.score == 1.0 > bad.score


def test_spans_are_those_of_the_document() -> None:
    text = "First sentence here. The tower is 300 metres high."
    span = Span(document_id="d", version="1", start=100, end=100 + len(text))  # type: ignore[arg-type]
    found = LexicalEvaluator().judge([claim("The tower is 200 metres high.", Shown("p", text, (span,)))])[0]
    (one,) = found.spans
    assert text[one.start - 100 : one.end - 100] == "300 metres"


def test_no_text_stops_it_and_the_same_items_give_the_same_verdicts() -> None:
    items = [claim(one, two) for one in HOSTILE_TEXTS for two in HOSTILE_TEXTS[:8]]
    judge = LexicalEvaluator()
    first = judge.judge(items)
    assert len(first) == len(items)
    assert first == LexicalEvaluator().judge(items)
    assert all(one.score is None or 0 <= one.score <= 1 for one in first)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.text(max_size=120))
def test_any_text_has_a_verdict(one: str, other: str) -> None:
    found = LexicalEvaluator().judge([claim(one, other)])[0]
    assert (found.label is None) == (found.status != "value")


def test_a_corpus_and_a_threshold_are_part_of_the_identity() -> None:
    plain = LexicalEvaluator().identity
    assert plain != LexicalEvaluator(corpus=Frequencies(10, {"cat": 3})).identity
    assert plain != lexical({"threshold": "0.7"}).identity
    for bad in ({"threshold": "2"}, {"threshold": "x"}, {"model": "y"}):
        with pytest.raises(UsageError):
            lexical(bad)


def test_nothing_claimed_and_nothing_shown() -> None:
    empty, unshown = LexicalEvaluator().judge([claim("...", "text"), claim("The tower is high.")])
    assert (empty.status, empty.reason) == ("undefined", "nothing_claimed")
    assert (unshown.label, unshown.score) == ("unsupported", 0.0)


def test_a_hundred_claims_beside_ten_passages_take_no_time() -> None:
    words = [
        [f"word{n * 31 % 97} term{m}." if m % 9 == 0 else f"w{n * m % 211}" for m in range(200)] for n in range(10)
    ]
    passages = [Shown(str(n), " ".join(one)) for n, one in enumerate(words)]
    items = [claim(f"The w{n} and term{n} are word{n} in {n + 10} cases.", *passages) for n in range(100)]
    began = time.perf_counter()
    LexicalEvaluator().judge(items)
    assert time.perf_counter() - began < 3


@pytest.mark.parametrize("text", ["B12", "w123 and x9", "v1.2.3", "GPT4", "CO2 and H2O"])
def test_digits_of_a_name_count_nothing(text: str) -> None:
    assert quantities(text, "en") == []


def test_numbers_beside_letters_are_still_read() -> None:
    assert [one.value for one in quantities("5kg for 30 people", "en")] == [5000.0, 30.0]
    assert [one.date[:3] for one in quantities("于2034年5月17日", "zh")] == [(2034, 5, 17)]


def test_a_page_of_numbers_is_held_against_few() -> None:
    (only,) = sentences(" ".join(str(number) for number in range(1000, 1500)), "en")
    assert len(only.quantities) == 40


@pytest.mark.parametrize(
    "language,evidence,wrong,right,check",
    [
        ("en", "The ferry holds 40 cars and 300 passengers.", "The ferry holds 300 cars.", "The ferry holds 40 cars.",
         "number"),
        ("en", "Adults pay 12 euros, children pay 5 euros.", "Children pay 12 euros.",
         "The price for children is 5 euros.", "number"),
        ("de", "Erwachsene zahlen 12 Euro, Kinder 5 Euro.", "Kinder zahlen 12 Euro.", "Kinder zahlen 5 Euro.",
         "number"),
        ("es", "Los adultos pagan 12 euros y los niños 5 euros.", "Los niños pagan 12 euros.",
         "Los niños pagan 5 euros.", "number"),
        ("en", "The lake is 1,980 metres long.", "The lake is about 3,000 metres long.",
         "The lake is about 2,000 metres long.", "number"),
        ("en", "Unit 2 produces 400 tonnes a year, unit 3 produces 900.", "Unit 3 produces 400 tonnes a year.",
         "Unit 2 produces 400 tonnes a year.", "number"),
        ("en", "The lock was built in 1904 and rebuilt in 1957.", "The lock was built in 1957.",
         "The lock was built in 1904.", "date"),
        ("en", "The school was founded in 1890, and it closed in 1971.", "The school was established in 1971.",
         "The school was established in 1890.", "date"),
        ("en", "Its founder, Anna Roth, led the firm until 1990.", "Anna Roth led the firm until 1995.",
         "Anna Roth led the firm until 1990.", "date"),
        ("de", "Das Werk wurde 1988 umgebaut und 2011 stillgelegt.", "Der Umbau des Werks war 2011.",
         "Der Umbau des Werks war 1988.", "date"),
        ("en", "The village lost to the harbour team in the final.", "The village beat the harbour team in the final.",
         "The harbour team beat the village in the final.", "role"),
        ("en", "The clerk forwarded the file to the court.", "The court forwarded the file to the clerk.",
         "The clerk forwarded the file to the court.", "role"),
        ("en", "The statue was donated to the museum by the guild.", "The museum donated the statue to the guild.",
         "The guild donated the statue to the museum.", "role"),
        ("en", "Nearly all flats have a balcony.", "All flats have a balcony.", "Most flats have a balcony.", "scope"),
        ("en", "All but two bridges are open.", "All bridges are open.", "Some bridges are open.", "scope"),
        ("en", "More than half of the pupils walk to school.", "None of the pupils walk to school.",
         "Most of the pupils walk to school.", "scope"),
        ("en", "At least 12 members must be present.", "At most 12 members must be present.",
         "At least 12 members must be present.", "scope"),
        ("de", "Alle Zimmer haben ein Bad.", "Einige Zimmer haben ein Bad.", "Alle Zimmer haben ein Bad.", "scope"),
    ],
)  # fmt: skip
def test_what_a_claim_says_is_held_against_what_is_said_of_the_same_thing(
    language: str, evidence: str, wrong: str, right: str, check: str
) -> None:
    judge = LexicalEvaluator()
    bad, good = judge.judge([claim(one, evidence, language=language) for one in (wrong, right)])
    assert (bad.label, good.label) == ("contradicted", "supported")
    assert f"{check}:" in (bad.rationale or "")
    bare = LexicalEvaluator(checked=False).judge([claim(wrong, evidence, language=language)])[0]
    assert bare.score is not None
    assert bad.score is not None
    assert bad.score < bare.score


@pytest.mark.parametrize(
    "language,one,other,alike",
    [
        ("en", "price", "costs", True),
        ("en", "vessel", "boat", True),
        ("en", "vessel", "truck", False),
        ("de", "Preis", "Gebühr", True),
        ("es", "precio", "tarifa", True),
        ("fr", "prix", "tarif", False),
        ("en", "founded", "established", True),
        ("en", "founded", "discovered", False),
    ],
)
def test_words_of_one_group_bind_alike(language: str, one: str, other: str, alike: bool) -> None:
    assert (kin(one.lower(), language) == kin(other.lower(), language)) is alike


def test_a_synonym_binds_a_number_and_adds_no_overlap() -> None:
    judge = LexicalEvaluator(checked=False)
    same, other = judge.judge(
        [claim("The fare is high.", "The fare is high."), claim("The fee is high.", "The fare is high.")]
    )
    assert same.score is not None
    assert other.score is not None
    assert other.score < same.score


def test_a_number_that_is_a_name_is_held_against_names() -> None:
    assert [(one.kind, one.value) for one in quantities("Unit 2 made 40", "en")] == [("label", 2.0), ("count", 40.0)]
