"""Data sets of ragas as it exports them: old names and new, lists in cells, messages, and files that lie."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.score.score_material import doc

from ragassay.benchmark import Output, OutputContext, build, read_ragas
from ragassay.corpus import build as build_corpus
from ragassay.errors import InputError
from ragassay.store import Store

RAIN, SNOW = "Rain falls from clouds.", "Snow is frozen rain."
NEW = {
    "user_input": "What is snow?",
    "retrieved_contexts": [RAIN, "Nothing of the kind."],
    "reference_contexts": [SNOW],
    "response": "Frozen.",
    "reference": "Frozen rain.",
    "query_style": "MISSPELLED",
    "synthesizer_name": "single_hop",
    "rubrics": {"score1_description": "bad"},
}
OLD = {"question": "What is snow?", "contexts": [RAIN], "answer": "Frozen.", "ground_truths": ["Frozen rain.", "Ice."]}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "set.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    return folder / "set.jsonl"


def table(folder: Path, *rows: dict[str, str]) -> Path:
    """CSV as pandas writes it."""
    out = io.StringIO()
    sheet = csv.DictWriter(out, list(rows[0]))
    sheet.writeheader()
    sheet.writerows(rows)
    (folder / "set.csv").write_text(out.getvalue())
    return folder / "set.csv"


def test_the_names_of_today(tmp_path: Path) -> None:
    cases = read_ragas(written(tmp_path, NEW))
    (case,) = cases
    (label,) = case.evidence or ()
    (document,) = cases.documents
    assert (document.text, label.document_id, label.start, label.end, label.grade) == (
        SNOW, document.document_id, 0, len(SNOW), 3,
    )  # fmt: skip
    assert label.provenance.kind == "imported"
    assert [one.text for one in case.answers] == ["Frozen rain."]
    assert case.slice == ("query_style=MISSPELLED", "synthesizer_name=single_hop")
    contexts = (OutputContext(RAIN), OutputContext("Nothing of the kind."))
    assert cases.outputs == [Output(case.query_id, "Frozen.", contexts)]
    assert any("rubrics (1)" in one for one in cases.remarks)
    assert not case.facts
    words = " ".join(cases.said_not)
    for unsaid in ("how relevant", "unjudged", "can be answered", "who may see", "the corpus"):
        assert unsaid in words


def test_the_names_of_before(tmp_path: Path) -> None:
    cases = read_ragas(
        written(tmp_path, OLD, {**OLD, "question": "Again?", "ground_truths": None, "ground_truth": "x"})
    )
    assert [[one.text for one in case.answers] for case in cases] == [["Frozen rain.", "Ice."], ["x"]]
    assert cases.outputs[0][1:] == ("Frozen.", (OutputContext(RAIN),))
    assert [case.evidence for case in cases] == [None, None]  # retrieved is not relevant
    assert cases.documents == []
    assert any("gold contexts of 2 of 2 questions" in one for one in cases.said_not)


def test_several_gold_contexts_are_each_a_part(tmp_path: Path) -> None:
    (case,) = read_ragas(written(tmp_path, {**NEW, "reference_contexts": [SNOW, RAIN, SNOW]}))
    assert [one.grade for one in case.evidence or ()] == [2, 2]  # one that stands twice is one


def test_absent_is_not_empty(tmp_path: Path) -> None:
    rows = [
        {"user_input": "a", "retrieved_contexts": []},
        {"user_input": "b", "response": "x"},
        {"user_input": "c", "retrieved_contexts": None, "response": None},
    ]
    cases = read_ragas(written(tmp_path, *rows))
    assert [(one.answer, one.contexts) for one in cases.outputs] == [(None, ()), ("x", None)]
    assert all(case.evidence is None and not case.answers for case in cases)


def test_gold_contexts_are_looked_up_in_a_corpus(tmp_path: Path) -> None:
    corpus = [doc("weather", f"{RAIN} {SNOW}"), doc("other", "Else.")]
    cases = read_ragas(written(tmp_path, {**NEW, "reference_contexts": [SNOW, "Stands nowhere."]}), corpus=corpus)
    found, lost = cases[0].evidence or ()
    assert (found.document_id, found.start, found.end) == ("weather", len(RAIN) + 1, len(RAIN) + 1 + len(SNOW))
    assert lost.document_id not in {"weather", "other"}  # stays in the denominator, never found
    assert cases.documents == []
    assert any("1 of 2 gold texts have no place" in one for one in cases.remarks)


def test_ids_without_texts_are_labels_on_documents(tmp_path: Path) -> None:
    row = {"user_input": "a", "reference_context_ids": ["d1", 7, "d1"], "retrieved_context_ids": ["d1", "d9"]}
    cases = read_ragas(written(tmp_path, row))
    assert [(one.document_id, one.grade, one.start) for one in cases[0].evidence or ()] == [
        ("d1", 2, None), ("7", 2, None),
    ]  # fmt: skip
    assert cases.outputs[0].contexts == (OutputContext(None, "d1"), OutputContext(None, "d9"))
    both = {**row, "retrieved_contexts": [RAIN, SNOW]}
    assert read_ragas(written(tmp_path, both)).outputs[0].contexts == (
        OutputContext(RAIN, "d1"), OutputContext(SNOW, "d9"),
    )  # fmt: skip


def test_a_conversation_ends_with_its_last_question(tmp_path: Path) -> None:
    said = [
        {"type": "human", "content": "Hello?"},
        {"type": "ai", "content": "Yes?", "tool_calls": [{"name": "x", "args": {}}]},
        {"type": "tool", "content": "42"},
        {"type": "human", "content": "What is snow?"},
        {"type": "ai", "content": "Let me see."},
        {"type": "ai", "content": "Frozen rain."},
    ]
    cases = read_ragas(written(tmp_path, {"user_input": said}, {"user_input": json.dumps(said[:1])}))
    asked, alone = cases
    assert asked.query == "What is snow?"
    assert asked.conversation is not None
    assert (asked.conversation.turn, [(one.role, one.text) for one in asked.conversation.history]) == (
        2, [("user", "Hello?"), ("assistant", "Yes?")],
    )  # fmt: skip
    assert [one.answer for one in cases.outputs] == ["Frozen rain."]
    assert (alone.query, alone.conversation) == ("Hello?", None)
    assert any("tool messages of 1" in one for one in cases.remarks)


def test_cells_as_pandas_prints_lists(tmp_path: Path) -> None:
    rows = [{"user_input": "a", "retrieved_contexts": "['it\\'s', \"b's\", 'two\\nlines']", "reference_contexts": "[]"},
            {"user_input": "b", "retrieved_contexts": '["x", "y"]', "reference_contexts": ""}]  # fmt: skip
    cases = read_ragas(table(tmp_path, *rows))
    assert [[one.text for one in out.contexts or ()] for out in cases.outputs] == [
        ["it's", "b's", "two\nlines"], ["x", "y"],
    ]  # fmt: skip
    parted = [{"user_input": "a", "retrieved_contexts": "one ## two", "reference_contexts": "three"}]
    cases = read_ragas(table(tmp_path, *parted), separator="##")
    assert [one.text for one in cases.outputs[0].contexts or ()] == ["one", "two"]
    assert [one.text for one in cases.documents] == ["three"]
    with pytest.raises(InputError, match="not a list of texts") as caught:
        read_ragas(table(tmp_path, *parted))
    assert (caught.value.line, caught.value.field) == (2, "retrieved_contexts")
    assert "separator" in caught.value.hint


@pytest.mark.parametrize(
    ("row", "field", "words"),
    [
        ({}, "user_input", "no question"),
        ({"user_input": "  "}, "user_input", "empty"),
        ({"user_input": 3}, "user_input", "expected text"),
        ({"user_input": []}, "user_input", "nobody asks"),
        ({"user_input": [{"type": "robot", "content": "x"}]}, "user_input[0]", "not a message"),
        ({"user_input": [{"type": "ai", "content": "x"}]}, "user_input", "nobody asks"),
        ({"user_input": "a", "reference_contexts": [" "]}, "reference_contexts[0]", "empty text"),
        ({"user_input": "a", "reference_contexts": ["x", " ", "x"]}, "reference_contexts[1]", "empty text"),
        ({"user_input": "a", "reference_contexts": "x"}, "reference_contexts", "list"),
        ({"user_input": "a", "retrieved_contexts": [None]}, "retrieved_contexts[0]", "expected text"),
        ({"user_input": "a", "retrieved_contexts": {"a": 1}}, "retrieved_contexts", "a list of texts"),
        ({"user_input": "a", "retrieved_contexts": [True]}, "retrieved_contexts[0]", "expected text"),
        ({"user_input": "a", "response": ["x"]}, "response", "expected text"),
        (
            {"user_input": "a", "retrieved_contexts": ["x"], "retrieved_context_ids": []},
            "retrieved_context_ids",
            "0 ids",
        ),
    ],
)
def test_what_lies_is_named_with_line_and_field(tmp_path: Path, row: dict[str, Any], field: str, words: str) -> None:
    path = written(tmp_path, {"user_input": "good"}, row)
    with pytest.raises(InputError) as caught:
        read_ragas(path)
    error = caught.value
    assert (error.file, error.line, error.field) == (str(path), 2, field)
    assert words in error.message
    kept = read_ragas(path, on_error="skip")
    assert [one.query for one in kept] == ["good"]
    assert [one.line for one in kept.skipped] == [2]
    assert any("1 left out of set.jsonl" in one for one in kept.notes)


def test_a_field_of_a_second_place_is_named_in_its_own_place(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_ragas(written(tmp_path, {"user_input": "a", "reference_contexts": ["x", "x", " "]}))
    assert caught.value.field == "reference_contexts[2]"


def test_questions_that_repeat_stay_apart(tmp_path: Path) -> None:
    cases = read_ragas(written(tmp_path, NEW, NEW))
    assert len({one.query_id for one in cases}) == 2
    assert any("repeats an earlier one" in one for one in cases.remarks)
    twice = {**NEW, "query_id": "q"}
    with pytest.raises(InputError, match="twice"):
        read_ragas(written(tmp_path, twice, twice))


def test_it_is_sealed_over_its_own_documents(tmp_path: Path) -> None:
    cases = read_ragas(written(tmp_path, NEW, {**NEW, "user_input": "Other?", "reference_contexts": [RAIN, SNOW]}))
    store = Store.open(tmp_path / "store", create=True)
    header, _ = build_corpus(store, cases.documents, name="c")
    built = build(store, cases, header, cases.documents, name="b", version="1")
    report = built.report
    assert (report.cases, report.evidence, report.spans, report.coarse, report.dangling) == (2, 3, 3, 0, ())
    assert "not said by the data set: who may see what" in (built.benchmark.notes or "")


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(str.strip)


@given(st.lists(TEXT, max_size=4), st.lists(TEXT, min_size=1, max_size=4), TEXT)
def test_what_python_prints_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, retrieved: list[str], gold: list[str], question: str
) -> None:
    folder = tmp_path_factory.mktemp("cells")
    row = {"user_input": question, "retrieved_contexts": str(retrieved), "reference_contexts": str(gold)}
    cases = read_ragas(table(folder, row))
    assert [one.text for one in cases.outputs[0].contexts or ()] == retrieved
    assert {one.text for one in cases.documents} == set(gold)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5) | st.just("[{'content': 1}]"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "content", "x"]), inner),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from([*NEW, *OLD, "retrieved_context_ids", "reference_context_ids", "query_id"]), VALUES)
)
def test_any_values_are_cases_or_an_error(tmp_path_factory: pytest.TempPathFactory, row: dict[str, Any]) -> None:
    path = written(tmp_path_factory.mktemp("any"), row)
    try:
        (case,) = read_ragas(path)
    except InputError as error:
        named = (error.file, bool(error.hint))
    else:
        named = (str(path), bool(case.query.strip()))
    assert named == (str(path), True)
