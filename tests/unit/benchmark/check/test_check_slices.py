"""The vocabulary of slices: what is declared, what is recognised, what is derived from evidence documents."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay.benchmark.check import VOCABULARY
from ragassay.benchmark.check.negation import negates
from ragassay.benchmark.check.whole import with_derived

NAMES = [
    "frequent", "long-tail", "short", "constrained", "exact-terminology", "paraphrase", "single-document",
    "multi-document", "time-sensitive", "negation", "permission", "unanswerable",
]  # fmt: skip


def rows(found: Any) -> dict[str, tuple[int, int, int]]:
    return {one.name: (one.declared, one.recognised, one.either) for one in found.slices}


def test_the_vocabulary_is_what_was_asked_for(hands: Any) -> None:
    assert [one.name for one in VOCABULARY] == NAMES
    nothing = hands.run([hands.case("a", "What does the tall man want from me?")])
    assert sorted(hands.places(nothing, "missing_slice")) == sorted(NAMES)


def test_what_is_declared_in_any_spelling_and_what_is_recognised_are_counted_apart(hands: Any) -> None:
    found = hands.run(
        [
            hands.case("a", "What does the tall man want?", slice=["Long_Tail", "length=short"]),
            hands.case("b", "Who?", slice=["longtail", "freshness=2026-Q1"]),
            hands.case("c", "When?"),
        ]
    )
    counted = rows(found)
    assert counted["long-tail"] == (2, 0, 2)
    assert counted["short"] == (1, 2, 3)
    assert counted["time-sensitive"] == (1, 0, 1)
    assert "long-tail" not in hands.places(found, "missing_slice")


@pytest.mark.parametrize(
    ("query", "short"),
    [
        ("Who may export data?", True),
        ("Who may export my data?", False),
        ("?!", True),
        ("谁可以导出", False),
        ("谁可导", True),
    ],
)
def test_short_counts_words_and_not_signs(hands: Any, query: str, short: bool) -> None:
    assert rows(hands.run([hands.case("a", query)]))["short"][1] == short


@pytest.mark.parametrize(
    ("query", "term"),
    [
        ("what does E404 mean", True),
        ("is max_retry_count read", True),
        ("how do I call publishAll", True),
        ('who said "to be"', True),
        ("what is the --dry-run flag", True),
        ("is SLA a promise", True),
        ("What Does The Title Case Mean", False),
        ("how many in 2026", False),
        ("is it well-known", False),
        ("a" + "_a" * 20_000 + "!", True),
    ],
)
def test_exact_terms_are_recognised_by_their_form(hands: Any, query: str, term: bool) -> None:
    assert rows(hands.run([hands.case("a", query)]))["exact-terminology"][1] == term


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Which plans don’t allow it?", True),
        ("en", "Which plans do n't allow it?", True),
        ("en", "Which notes allow it?", False),
        ("de", "Welche Tarife enthalten keine Exporte?", True),
        ("de-AT", "Was geht ohne Vertrag?", True),
        ("de", "Was kostet not?", False),
        ("fr", "Qui ne peut pas exporter ?", True),
        ("es", "¿Quién no puede?", True),
        ("it", "Chi non può?", True),
        ("pt", "Quem não pode?", True),
        ("nl", "Wie mag niet exporteren?", True),
        ("pl", "Kto nie może?", True),
        ("zh", "谁不能导出", True),
        ("ja", "エクスポートできないのは誰", True),
        ("xx", "not no never", False),
    ],
)
def test_negation_goes_by_the_language(hands: Any, language: str, text: str, expected: bool) -> None:
    assert negates(text, language) is expected
    declared = hands.run([hands.case("a", text, slice=[f"language={language}"])])
    assert rows(declared)["negation"][1] == expected


def test_negation_takes_the_language_of_the_evidence(hands: Any) -> None:
    documents = [hands.doc("d", "x", metadata={"language": "de"})]
    assert rows(hands.run([hands.case("a", "Was geht ohne ihn?", hands.label("d"))], documents))["negation"][1] == 1
    assert rows(hands.run([hands.case("a", "Was geht ohne ihn?")], documents))["negation"][1] == 0


FACTS = {
    "one": [{"id": "f", "any_of": [["x1"]]}, {"id": "g", "any_of": [["x2"]]}],
    "two": [{"id": "f", "any_of": [["x1"]]}, {"id": "g", "any_of": [["y"]]}],
    "either": [{"id": "f", "any_of": [["x1", "y"], ["x2"]]}, {"id": "g", "any_of": [["x1"]]}],
    "joint": [{"id": "f", "any_of": [["x1", "y"]]}],
    "optional": [{"id": "f", "any_of": [["x1"]]}, {"id": "g", "any_of": [["y"]], "required": False}],
    "low": [{"id": "f", "any_of": [["low"]]}],
}


@pytest.mark.parametrize(
    ("name", "single", "multi"),
    [("one", 1, 0), ("two", 0, 1), ("either", 1, 0), ("joint", 0, 1), ("optional", 1, 0), ("low", 0, 0)],
)
def test_how_many_documents_the_facts_need(hands: Any, name: str, single: int, multi: int) -> None:
    labels = [
        hands.label("x", id="x1"), hands.label("x", 0, 1, id="x2"), hands.label("y", id="y"),
        hands.label("z", id="low", grade=1),
    ]  # fmt: skip
    found = rows(
        hands.run([hands.case("a", "why?", *labels, facts=FACTS[name])], [hands.doc(one, "t") for one in "xyz"])
    )
    assert (found["single-document"][1], found["multi-document"][1]) == (single, multi)


@pytest.mark.parametrize(
    ("grades", "rel", "single", "multi"),
    [
        ({"x": 2}, 2, 1, 0),
        ({"x": 2, "y": 2}, 2, 0, 1),
        ({"x": 3, "y": 2}, 2, 1, 0),
        ({"x": 2, "y": 1}, 2, 1, 0),
        ({"x": 1, "y": 1}, 1, 0, 0),
        ({"x": 1}, 1, 1, 0),
        ({"x": 1}, 2, 0, 0),
    ],
)
def test_how_many_documents_the_grades_need(
    hands: Any, grades: dict[str, int], rel: int, single: int, multi: int
) -> None:
    labels = [hands.label(name, id=name, grade=grade) for name, grade in grades.items()]
    found = rows(hands.run([hands.case("a", "why?", *labels)], [hands.doc(one, "t") for one in "xy"], rel=rel))
    assert (found["single-document"][1], found["multi-document"][1]) == (single, multi)


def test_time_permission_paraphrase_and_unanswerable_come_from_fields(hands: Any) -> None:
    versions = [
        hands.doc("v", "old", valid_until="2026-01-01T00:00:00Z"),
        hands.doc("v", "new", version="2", valid_from="2026-01-01T00:00:00Z"),
        hands.doc("plain", "x", valid_from="2020-01-01T00:00:00Z"),
    ]
    found = hands.run(
        [
            hands.case("until", "what was it then?", valid_until="2026-01-01T00:00:00Z"),
            hands.case("versions", "what is the rate now?", hands.label("v", version="2")),
            hands.case("plain", "what is it made of?", hands.label("plain")),
            hands.case("asker", "what may I see here?", principal={"id": "ann"}),
            hands.case("tenant", "what do they pay us?", **{"class": "cross_tenant"}),
            hands.case("reworded", "so what may I see?", paraphrase_of="asker"),
            hands.case("no", "who is the queen now?", evidence=[], answerable="no"),
        ],
        versions,
    )
    counted = rows(found)
    assert counted["time-sensitive"][1] == 2
    assert counted["permission"][1] == 2
    assert counted["paraphrase"][1] == 1
    assert counted["unanswerable"][1] == 1


@pytest.mark.parametrize(
    ("second", "name"),
    [("01-03", "daily"), ("01-04", "weekly"), ("02-15", "monthly"), ("02-16", "quarterly"), ("12-31", "yearly")],
)
def test_how_often_a_document_changes(hands: Any, second: str, name: str) -> None:
    documents = [
        hands.doc("v", day, version=day, valid_from=f"2026-{day}T00:00:00Z") for day in ("01-01", second)
    ]  # fmt: skip
    found = hands.run([hands.case("a", "what is in it now?", hands.label("v", version=second))], documents)
    assert f"derived:update={name}" in found.derived["a"]


def test_slices_of_evidence_documents_are_marked_as_derived(hands: Any) -> None:
    def dated(version: str, day: str) -> Any:
        return hands.doc("v", version, version=version, valid_from=f"{day}T00:00:00Z")

    documents = [
        hands.doc("guide.md", "x"),
        hands.doc("told", "x", metadata={"type": "faq", "language": "pl", "update_frequency": "hourly"}),
        dated("1", "2026-01-01"), dated("2", "2026-02-01"), dated("3", "2026-03-04"),
        hands.doc("w", "x"), hands.doc("w", "y", version="2"),
    ]  # fmt: skip
    found = hands.run(
        [
            hands.case("a", "who may see this page?", hands.label("guide.md"), slice=["mine"]),
            hands.case("b", "who may see that page?", hands.label("told"), hands.label("v", id="e2", version="3")),
            hands.case("c", "what is in it now?", hands.label("w"), hands.label("told", id="e2", grade=1)),
        ],
        documents,
    )
    kept = {name: [one for one in each if "=" in one and "lexical" not in one] for name, each in found.derived.items()}
    assert kept == {
        "a": ["derived:type=md", "derived:update=one-version"],
        "b": ["derived:language=pl", "derived:type=faq", "derived:update=hourly", "derived:update=monthly"],
        "c": ["derived:update=several-versions"],
    }
    assert all(one.startswith("derived:") for each in found.derived.values() for one in each)
    strata = {(one.dimension, one.value): one.cases for one in found.strata}
    assert strata["derived:type", "faq"] == 1
    (written, *_) = with_derived([hands.case("a", "who may see this page?", slice=["mine"])], found)
    assert written.slice[0] == "mine"
    assert set(written.slice[1:]) == set(found.derived["a"])
    assert with_derived([written], found) == [written], "adding them twice changes nothing"
