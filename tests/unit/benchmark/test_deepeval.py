"""Goldens of DeepEval as it saves them: JSON and cells, both spellings, conversations, and files that lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.score.score_material import doc

from ragassay.benchmark import Output, OutputContext, read_deepeval
from ragassay.errors import InputError

RAIN, SNOW = "Rain falls from clouds.", "Snow is frozen rain."
GOLDEN = {
    "input": "What is snow?",
    "actual_output": "Frozen.",
    "expected_output": "Frozen rain.",
    "context": [SNOW],
    "retrieval_context": [RAIN, "Nothing of the kind."],
    "name": "n1",
    "comments": "look again",
    "source_file": "weather.txt",
    "additional_metadata": {"evolutions": ["Reasoning"], "context_quality": 0.9, "hard": True, "level": 3},
    "expected_tools": [],
    "tools_called": None,
}
CAMEL = {
    "input": "What is snow?", "actualOutput": "Frozen.", "expectedOutput": "Frozen rain.", "context": [SNOW],
    "retrievalContext": [RAIN, "Nothing of the kind."], "name": "n1", "comments": "look again",
    "sourceFile": "weather.txt",
}  # fmt: skip
TURNS = [
    {"role": "user", "content": "Hello?"},
    {"role": "assistant", "content": "Yes?"},
    {"role": "user", "content": "What is snow?"},
    {"role": "assistant", "content": "Frozen rain.", "retrieval_context": [SNOW]},
]


def written(folder: Path, *goldens: dict[str, Any]) -> Path:
    (folder / "goldens.json").write_text(json.dumps(goldens))
    return folder / "goldens.json"


@pytest.mark.parametrize("golden", [GOLDEN, CAMEL])
def test_both_spellings(tmp_path: Path, golden: dict[str, Any]) -> None:
    cases = read_deepeval(written(tmp_path, golden))
    (case,) = cases
    (label,) = case.evidence or ()
    (document,) = cases.documents
    assert (document.text, label.document_id, label.start, label.end, label.grade) == (
        SNOW, document.document_id, 0, len(SNOW), 3,
    )  # fmt: skip
    assert [one.text for one in case.answers] == ["Frozen rain."]
    assert case.notes == "name: n1; comments: look again; source_file: weather.txt"
    contexts = (OutputContext(RAIN), OutputContext("Nothing of the kind."))
    assert cases.outputs == [Output(case.query_id, "Frozen.", contexts)]
    words = " ".join(cases.said_not)
    for unsaid in ("how relevant", "unjudged", "can be answered", "who may see", "the corpus"):
        assert unsaid in words


def test_slices_are_those_that_were_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, GOLDEN)
    (case,) = read_deepeval(path)
    assert case.slice == ()
    (case,) = read_deepeval(path, slices=["evolutions", "level", "hard", "context_quality", "absent"])
    assert case.slice == ("evolutions=Reasoning", "level=3")


def test_absent_is_not_empty(tmp_path: Path) -> None:
    goldens = [{"input": "a", "retrieval_context": []}, {"input": "b", "actual_output": ""},
               {"input": "c", "actual_output": None, "context": None}, {"input": "d", "context": []}]  # fmt: skip
    cases = read_deepeval(written(tmp_path, *goldens))
    assert [(one.answer, one.contexts) for one in cases.outputs] == [(None, ()), ("", None)]
    assert all(case.evidence is None for case in cases)  # an empty context says no more than an absent one


def test_cells_are_parted_by_a_bar(tmp_path: Path) -> None:
    path = tmp_path / "goldens.csv"
    path.write_text(
        "input,actual_output,expected_output,context,retrieval_context,name\n"
        f'What is snow?,Frozen.,Frozen rain.,{SNOW}|{RAIN},"{RAIN}|a, b",\n'
    )
    cases = read_deepeval(path)
    assert [one.text for one in cases.documents] == [SNOW, RAIN]
    assert cases.outputs[0].contexts == (OutputContext(RAIN), OutputContext("a, b"))
    path.write_text(path.read_text().replace("|", ";"))
    assert [one.text for one in read_deepeval(path, separator=";").documents] == [SNOW, RAIN]


def test_sources_of_retrieved_contexts(tmp_path: Path) -> None:
    retrieved = [{"context": RAIN, "source": "a.txt"}, {"context": SNOW, "source": ""}, "plain",
                 "deepeval_source=b.txt,deepeval_context=what,\nelse"]  # fmt: skip
    cases = read_deepeval(written(tmp_path, {"input": "a", "retrieval_context": retrieved}))
    assert cases.outputs[0].contexts == (
        OutputContext(RAIN, "a.txt"), OutputContext(SNOW), OutputContext("plain"),
        OutputContext("what,\nelse", "b.txt"),
    )  # fmt: skip


def test_a_conversation_ends_with_its_last_question(tmp_path: Path) -> None:
    golden = {"scenario": "Someone asks about snow", "expected_outcome": "They know", "turns": TURNS}
    cases = read_deepeval(written(tmp_path, golden))
    (case,) = cases
    assert case.query == "What is snow?"
    assert case.conversation is not None
    assert (case.conversation.turn, [one.text for one in case.conversation.history]) == (2, ["Hello?", "Yes?"])
    assert case.answers == ()  # an expected outcome is an instruction for a judge
    assert cases.outputs == [Output(case.query_id, "Frozen rain.", (OutputContext(SNOW),))]
    assert any("expected_outcome (1)" in one for one in cases.remarks)


@pytest.mark.parametrize(
    ("golden", "field", "words"),
    [
        ({}, "[1].input", "missing"),
        ({"input": ""}, "[1].input", "missing"),
        ({"input": 3}, "[1].input", "expected text"),
        ({"input": "a", "context": "x y"}, "[1].context", ""),
        ({"input": "a", "context": [""]}, "[1].context[0]", "empty text"),
        ({"input": "a", "context": ["x", "x", ""]}, "[1].context[2]", "empty text"),
        ({"input": "a", "expected_output": ["x"]}, "[1].expected_output", "expected text"),
        ({"input": "a", "retrieval_context": [{"context": "x"}]}, "[1].retrieval_context[0]", "object of context"),
        ({"input": "a", "retrieval_context": [3.5]}, "[1].retrieval_context[0]", "expected text"),
        ({"input": "a", "retrieval_context": {}}, "[1].retrieval_context", "a list of texts"),
        ({"input": "a", "comments": {}}, "[1].comments", "expected text"),
        ({"scenario": "x"}, "[1].turns", "without turns"),
        ({"turns": [{"role": "robot", "content": "x"}]}, "[1].turns[0]", "not a turn"),
        ({"turns": [{"role": "assistant", "content": "x"}]}, "[1].turns", "nobody asks"),
        ({"turns": "x"}, "[1].turns", "neither JSON"),
    ],
)
def test_what_lies_is_named_with_its_field(tmp_path: Path, golden: dict[str, Any], field: str, words: str) -> None:
    path = written(tmp_path, {"input": "good"}, golden)
    if golden.get("context") == "x y":  # one text without a bar is a list of one
        assert [one.text for one in read_deepeval(path).documents] == ["x y"]
        return
    with pytest.raises(InputError) as caught:
        read_deepeval(path)
    error = caught.value
    assert (error.file, error.field) == (str(path), field)
    assert words in error.message
    kept = read_deepeval(path, on_error="skip")
    assert [one.query for one in kept] == ["good"]
    assert any("1 left out of goldens.json" in one and "[1]" in one for one in kept.notes)


def test_gold_contexts_are_looked_up_in_a_corpus(tmp_path: Path) -> None:
    corpus = [doc("weather", f"{RAIN} {SNOW}")]
    cases = read_deepeval(written(tmp_path, GOLDEN), corpus=corpus)
    (label,) = cases[0].evidence or ()
    assert (label.document_id, label.start, label.end) == ("weather", len(RAIN) + 1, len(RAIN) + 1 + len(SNOW))
    assert cases.documents == []
    assert not any("the corpus" in one for one in cases.said_not)


def test_both_spellings_of_one_field_are_not_settled_in_silence(tmp_path: Path) -> None:
    golden = {"input": "a", "actual_output": "one", "actualOutput": "two"}
    with pytest.raises(InputError, match="two spellings") as caught:
        read_deepeval(written(tmp_path, golden))
    assert "actual_output" in caught.value.field


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="|\0"), min_size=1, max_size=12).filter(str.strip)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "context", "source"]), inner)
    ),
    max_leaves=6,
)


@given(st.lists(TEXT, max_size=4), st.lists(TEXT, max_size=4), TEXT)
def test_what_is_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, retrieved: list[str], gold: list[str], question: str
) -> None:
    golden = {"input": question, "context": gold, "retrieval_context": retrieved}
    cases = read_deepeval(written(tmp_path_factory.mktemp("g"), golden))
    assert cases[0].query == question
    assert {one.text for one in cases.documents} == set(gold)
    told = [
        one.text if one.id is None else f"deepeval_source={one.id},deepeval_context={one.text}"
        for one in cases.outputs[0].contexts or ()
    ]
    assert told == retrieved


@given(st.dictionaries(st.sampled_from([*GOLDEN, *CAMEL, "turns", "scenario", "custom_column_key_values"]), VALUES))
def test_any_values_are_cases_or_an_error(tmp_path_factory: pytest.TempPathFactory, golden: dict[str, Any]) -> None:
    path = written(tmp_path_factory.mktemp("any"), golden)
    try:
        (case,) = read_deepeval(path, slices=["level"])
    except InputError as error:
        named = (error.file, bool(error.hint))
    else:
        named = (str(path), bool(case.query.strip()))
    assert named == (str(path), True)
