"""SQuAD's official JSON to spans: offsets, alternatives, impossible questions, and files that lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.score.score_material import doc

from ragassay.benchmark import build, read_squad
from ragassay.corpus import build as build_corpus
from ragassay.errors import InputError
from ragassay.store import Store

CONTEXT = "Zoë 🦊 lives in Köln. Zoë is three."


def written(folder: Path, *questions: dict[str, Any], context: str = CONTEXT) -> Path:
    data = [{"title": "Zoë", "paragraphs": [{"context": context, "qas": list(questions)}]}]
    (folder / "squad.json").write_text(json.dumps({"version": "v2.0", "data": data}))
    return folder / "squad.json"


WHERE = {
    "id": "1", "question": "Where does Zoë live?", "is_impossible": False,
    "answers": [{"text": "Köln", "answer_start": 15}, {"text": "Köln", "answer_start": 15},
                {"text": "in Köln", "answer_start": 12}],
}  # fmt: skip
WHY = {
    "id": "2", "question": "Why?", "is_impossible": True, "answers": [],
    "plausible_answers": [{"text": "Zoë is three", "answer_start": 21}],
}  # fmt: skip


def test_spans_alternatives_and_impossible_questions(tmp_path: Path) -> None:
    cases = read_squad(written(tmp_path, WHERE, WHY))
    where, why = (one.to_case() for one in cases)
    (document,) = cases.documents
    assert document.text == CONTEXT
    assert [document.text[one.start : one.end] for one in where.evidence or ()] == ["Köln", "in Köln"]
    assert [(one.text, one.fact_set) for one in where.answers] == [("Köln", ("a1",)), ("in Köln", ("a2",))]
    assert where.facts[0].any_of == (("a1",), ("a2",))
    assert (where.answerable, where.answerability_scope) == ("yes", "passage")
    assert (why.class_, why.answerable, why.answerability_scope, why.answers) == (
        "unanswerable", "no", "passage", (),
    )  # fmt: skip
    assert [(one.document_id, one.grade, one.coarse) for one in why.evidence or ()] == [
        (document.document_id, 0, True)
    ]  # fmt: skip
    assert any("own paragraph only" in one for one in cases.said_not)


def test_squad_1_has_no_impossible_questions(tmp_path: Path) -> None:
    old = {key: value for key, value in WHERE.items() if key != "is_impossible"}
    (case,) = read_squad(written(tmp_path, old))
    assert case.class_ == "answerable"


def test_paragraphs_are_found_in_a_given_corpus(tmp_path: Path) -> None:
    corpus = [doc("page", f"Heading\n\n{CONTEXT}\n\nMore."), doc("other", "nothing")]
    cases = read_squad(written(tmp_path, WHERE, context=CONTEXT), corpus=corpus)
    assert cases.documents == []
    spans = [(one.document_id, corpus[0].text[one.start : one.end]) for one in cases[0].evidence or ()]
    assert spans == [("page", "Köln"), ("page", "in Köln")]
    padded = {**WHERE, "answers": [{"text": "Köln", "answer_start": 17}]}
    (label,) = read_squad(written(tmp_path, padded, context=f"  {CONTEXT}"), corpus=corpus)[0].evidence or ()
    assert corpus[0].text[label.start : label.end] == "Köln"
    lost = read_squad(written(tmp_path, WHERE), corpus=corpus[1:])
    assert "1 of 1 gold texts have no place in the corpus" in lost.remarks[0]
    store = Store.open(tmp_path / "store", create=True)
    header, _ = build_corpus(store, corpus[1:], name="c")
    report = build(store, lost, header, corpus[1:], name="b", version="1").report
    assert len(report.dangling) == 2


def test_what_is_not_said_is_sealed_and_printed(tmp_path: Path) -> None:
    cases = read_squad(written(tmp_path, WHERE, WHY, {"id": "3", "question": "?"}), on_error="skip")
    store = Store.open(tmp_path / "store", create=True)
    header, _ = build_corpus(store, cases.documents, name="c")
    built = build(store, cases, header, cases.documents, name="b", version="1")
    notes = built.benchmark.notes or ""
    assert "not said by the data set: whether another paragraph holds an answer" in notes
    assert "1 left out of squad.json (on_error = skip): data[0].paragraphs[0].qas[2].answers" in notes
    assert all(line in built.report.lines() for line in notes.split("\n"))


@pytest.mark.parametrize(
    "question, field, words",
    [
        ({**WHERE, "answers": [{"text": "Köln", "answer_start": 16}]}, "qas[0].answers[0].answer_start", "stand"),
        ({**WHERE, "answers": [{"text": "Köln", "answer_start": -19}]}, "qas[0].answers[0].answer_start", "stand"),
        ({**WHERE, "answers": [{"text": "", "answer_start": 3}]}, "qas[0].answers[0].answer_start", "stand"),
        ({**WHERE, "answers": []}, "qas[0].answers", "no answer"),
        ({**WHERE, "answers": [{"text": "Köln", "answer_start": True}]}, "answer_start", "whole number"),
        ({**WHERE, "is_impossible": True}, "qas[0]", "has answers"),
        ({**WHERE, "is_impossible": "false"}, "is_impossible", "true or false"),
        ({**WHERE, "id": 3}, "qas[0].id", "text"),
        ({**WHERE, "id": ""}, "qas[0].query_id", "length"),
        ("no question", "qas[0].id", "expected"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, question: Any, field: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_squad(written(tmp_path, question))
    assert field in caught.value.field
    assert caught.value.file.endswith("squad.json")


@pytest.mark.parametrize("text", ["[]", "{}", '{"data": {}}', '{"data": [{"paragraphs": [{"qas": []}]}]}', "{", "\xff",
                                  '{"data": [3]}',
                                  '{"data": [{"paragraphs": [{"context": " ", "qas": []}]}]}'])  # fmt: skip
def test_other_files_are_errors(tmp_path: Path, text: str) -> None:
    (tmp_path / "squad.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        read_squad(tmp_path / "squad.json")
    assert caught.value.file
    assert caught.value.hint


def test_an_id_twice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="twice"):
        read_squad(written(tmp_path, WHERE, WHERE))


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(str.strip), st.data())
def test_every_true_span_comes_back(
    tmp_path_factory: pytest.TempPathFactory, context: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(context) - 1))
    end = data.draw(st.integers(start + 1, len(context)))
    if not context[start:end].strip():
        return
    question = {"id": "1", "question": "?", "answers": [{"text": context[start:end], "answer_start": start}]}
    cases = read_squad(written(tmp_path_factory.mktemp("s"), question, context=context))
    (label,) = cases[0].evidence or ()
    assert (label.start, label.end, cases.documents[0].text) == (start, end, context)
