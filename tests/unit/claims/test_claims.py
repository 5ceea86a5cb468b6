"""Claims with exact offsets in six languages, and the citations that stand behind each, against splits by hand."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.claims import Source, bare, claims_of, language_of, marks_of, split
from ragassay.contracts.faults import HOSTILE_TEXTS
from ragassay.records.canonical import digest_text
from ragassay.records.trace import Citation

SOURCES = [
    Source("p1", ("https://ex.org/a", "Doc A", "doc-a")),
    Source("p2", ("doc-b",)),
    Source("p3"),
    Source("p4", ("http://ex.org/wet",)),
]


def cut(text: str) -> list[str]:
    return [text[one.start : one.end] for one in split(text)]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["Dr. Smith met J. R. Jones on Jan. 5, 2021.", "The rate rose 3.5% (see Fig. 2).", "It fell later."]),
        ("en", ["Use v2.1.3, e.g. with pip.", "See https://a.b/c?d=1 for more.", "The end."]),
        ("de", ["Am 3. Oktober 1990 trat Dr. Müller z. B. in die Firma ein.", "Er blieb bis 1995 dort."]),
        ("es", ["La Dra. López nació en EE. UU. en 1950.", "Ella no murió en 2001.", "¡Qué caro es el pan!"]),
        ("zh", ["他于1990年出生。", "他现在住在北京!", "她在上海。"]),
        ("ja", ["東京は日本の首都です。", "人口は約1400万人です。", "彼は来た!", "しかし、すぐに帰った。"]),
        ("ar", ["بلغ السعر 3.5 دولار.", "انخفض السعر لاحقا."]),
    ],
)
def test_sentences_in_six_languages(language: str, sentences: list[str]) -> None:
    text = ("" if language in ("zh", "ja") else " ").join(sentences)
    assert language_of(text) == language
    assert cut(text) == sentences
    assert {one.kind for one in split(text)} == {"claim"}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# Result\n\nIt rains.", ["heading", "claim"]),
        ("**Result**\n\nIt rains.", ["heading", "claim"]),
        ("Is it wet? Yes, it is.", ["question", "claim"]),
        ("¿Llueve? 下雨吗？ هل تمطر؟", ["question"] * 3),
        ("Two things:\n1. It rains.\n2. It snows.", ["lead", "claim", "claim"]),
        ("- It rains\n- It snows", ["claim", "claim"]),
        ("It rains.\n```\nx = 1\n```\nIt snows.", ["claim", "code", "code", "code", "claim"]),
        ("It rains [1].\n\nSources:\n[1] The weather page\n[2] https://ex.org/a", ["claim", "lead", "mark", "mark"]),
        ("It rains.[^1]\n\n[^1]: The weather page.", ["claim", "mark", "mark"]),
        ("[1], [2]", ["mark"]),
        ("42.", ["mark"]),
        ("", []),
    ],
)
def test_what_claims_nothing_is_told_apart(text: str, kinds: list[str]) -> None:
    assert [one.kind for one in split(text)] == kinds


def cited(text: str, citations: list[Citation] | None = None) -> list[list[str | None]]:
    found = claims_of("q", 0, text, citations, SOURCES)
    return [[found.citations[place].item_id for place in one.citations] for one in found.claims]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It rains [1]. It snows [2][3]. It hails.", [["p1"], ["p2", "p3"], []]),
        ("It rains. [2] It snows.[1]", [["p2"], ["p1"]]),
        ("[1] says it rains. [2] says it snows.", [["p1"], ["p2"]]),
        ("It rains [1, 3]. It snows [1-2].", [["p1", "p3"], ["p1", "p2"]]),
        ("It rains [7].", [["[7]"]]),
        ("It rains¹ and snows²⁻³.", [["p1", "p2", "p3"]]),
        ("It rains【2†source】.", [["p2"]]),
        ("It rains ([Doc](https://www.ex.org/a/#part)).", [["p1"]]),
        ("It rains, see https://ex.org/wet. It snows, see https://ex.org/b.", [["p4"], ["https://ex.org/b"]]),
        ("It rains (doc-b). It snows (not cited).", [["p2"], []]),
        ("It rains.[^a] It snows.[^b]\n\n[^a]: https://ex.org/a\n[^b]: A book of 1990", [["p1"], ["A book of 1990"]]),
        ("It rains [2].\n\nSources:\n[2] https://ex.org/a", [["p1"]]),
        ("水は沸騰する[1]。氷は溶ける[2]。", [["p1"], ["p2"]]),
        ("- It rains [1]\n- It snows", [["p1"], []]),
        ("The list `a[1]` is 3 long.", [["p1"]]),  # no way to tell it from a citation
    ],
)
def test_marks_stand_behind_their_claims(text: str, names: list[list[str]]) -> None:
    assert cited(text) == names


def test_citations_of_the_system_come_before_marks() -> None:
    text = "It rains today. It snows [3]."
    assert cited(text, []) == [[], []], "a system that reports none cites nothing, whatever stands in its text"
    spans = [
        Citation(answer_start=0, answer_end=15, item_id="p2"),
        Citation(answer_start=3, answer_end=20, item_id="x"),
    ]
    assert cited(text, spans) == [["p2", "x"], ["x"]], "a span stands behind each claim that it touches"
    assert cited(text, [Citation(item_id="p3"), Citation(item_id="p1")]) == [["p1"], ["p3"]]
    found = claims_of("q", 0, text, spans, SOURCES)
    assert (found.cited_by, found.answer) == ("system", digest_text(text))
    assert claims_of("q", 0, "It rains.", None, SOURCES).cited_by is None


def test_bare_takes_marks_away_and_keeps_words() -> None:
    assert bare("It  rains [1], see [the log](https://a.b)¹.") == "It rains, see the log."
    assert bare("a[1]。") == "a。"


@given(st.text(alphabet=st.sampled_from("ab C.!?。؟\n[]^123()#`:-* ¹【】†://hw."), max_size=120))
def test_pieces_are_disjoint_ordered_and_cover_all_letters(text: str) -> None:
    pieces = split(text)
    covered = [False] * len(text)
    at = 0
    for one in pieces:
        assert at <= one.start < one.end <= len(text)
        at = one.end
        assert text[one.start : one.end] == text[one.start : one.end].strip()
        covered[one.start : one.end] = [True] * (one.end - one.start)
    gaps = "".join(" " if held else letter for held, letter in zip(covered, text, strict=True))
    bullet = re.compile(r"[()>*.\-\d]{0,4}|[()]?[a-zA-Z][.)]")
    assert all(bullet.fullmatch(word) for word in gaps.split()), gaps


@given(st.text(max_size=200), st.lists(st.tuples(st.integers(0, 250), st.integers(0, 250)), max_size=4))
def test_any_answer_and_any_citations_give_valid_claims(text: str, spans: list[tuple[int, int]]) -> None:
    given_citations = [Citation(answer_start=min(one), answer_end=max(one), item_id="p1") for one in spans]
    for citations in (None, given_citations):
        found = claims_of("q", 0, text, citations, SOURCES)
        for one in found.claims:
            assert text[one.start : one.end].strip()
            assert all(0 <= place < len(found.citations) for place in one.citations)


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_answers(text: str) -> None:
    found = claims_of("q", 0, text, None, SOURCES)
    assert all(one.end <= len(text) for one in found.claims)
    assert all(one.end <= len(text) for one in marks_of(text, SOURCES))


@pytest.mark.parametrize("piece", ["[1] ", "[^a]: x\n", "(", "[x](y", "¹,", "https://", "[1]\n", "【1", "**a", "A. "])
def test_long_answers_take_linear_time(piece: str) -> None:
    import time

    started = time.process_time()
    claims_of("q", 0, piece * (40_000 // len(piece)), None, SOURCES)
    assert time.process_time() - started < 5.0
