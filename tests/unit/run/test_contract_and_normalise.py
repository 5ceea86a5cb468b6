"""What a system may return, and what becomes of it; expected traces are written out by hand."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.small import AS_OF, TEXTS, document

from ragassay.corpus import Resolver, chunk
from ragassay.records.canonical import canonical_bytes, digest_text, parse
from ragassay.records.trace import TraceContent
from ragassay.run.contract import Reply, Request, Response, request_value, system_schema
from ragassay.run.normalise import Normalised, normalise
from ragassay.run.reading import InvalidResponseError, plain_value, read_response

DOCUMENTS = [document(name, text) for name, text in TEXTS.items()]
PASSAGES = chunk(DOCUMENTS, chunker="tokens", size=8, overlap=0)
RESOLVER = Resolver(DOCUMENTS, PASSAGES, as_of=AS_OF)  # type: ignore[arg-type]
REQUEST = Request(query_id="q1", query="?", as_of=AS_OF, top_k=5, seed=3, credential="s3cret-token")  # type: ignore[arg-type]


def made(value: Any) -> Normalised:
    return normalise(plain_value(value), REQUEST, RESOLVER)


def digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_schema_accepts_the_least_and_refuses_the_wrong() -> None:
    schema = system_schema()
    response = jsonschema.Draft202012Validator(schema["response"])
    for good in (["a", "b"], {"answer": "x", "contexts": ["t", {"id": "i", "score": 1}]}, {"answer": "x", "own": 1}):
        assert response.is_valid(good), good
    for bad in (3, {"answer": 3}, {"contexts": "x"}, {"steps": [{"kind": "magic"}]}):
        assert not response.is_valid(bad), bad
    jsonschema.Draft202012Validator(schema["request"]).validate(request_value(REQUEST))


def test_credential_is_in_no_spelling_of_a_request() -> None:
    assert "s3cret" not in repr(REQUEST)
    assert "s3cret" not in json.dumps(request_value(REQUEST))
    assert request_value(REQUEST, with_credential=True)["credential"] == "s3cret-token"
    assert "s3cret" not in repr(Reply(secrets=("s3cret-token",)))


def test_list_of_ids_is_one_synthetic_step() -> None:
    content = made(["rain@1:0-" + str(PASSAGES[0].sources[0].end), "snow", "nowhere"]).content
    assert [step.name for step in content.steps] == ["context"]
    assert content.steps[0].parents == ()
    assert content.steps[0].items_out == content.context
    assert content.answer is None
    passage, whole, unknown = content.context or ()
    assert (passage.resolution, passage.passage_id, passage.rank) == ("declared", PASSAGES[0].passage_id, 1)
    assert (whole.resolution, whole.whole_document) == ("declared", True)
    assert [(one.document_id, one.start, one.end) for one in whole.sources] == [("snow", 0, len(TEXTS["snow"]))]
    assert (unknown.item_id, unknown.resolution, unknown.sources) == ("nowhere", "unresolved", ())


def test_absent_contexts_are_not_empty_ones() -> None:
    assert made({"answer": "x"}).content.context is None
    assert made({"answer": "x", "contexts": None}).content.context is None
    assert made({"answer": "x", "contexts": []}).content.context == ()
    assert made({"answer": "x"}).content.steps == ()


def test_empty_text_is_an_item_with_no_text() -> None:
    (item,) = made({"answer": "x", "contexts": [""]}).content.context or ()
    assert (item.item_id, item.resolution, item.text_digest) == ("no-text", "unresolved", digest_text(""))


def test_exact_text_is_resolved_and_other_text_is_kept_by_digest() -> None:
    found = made({"answer": "x", "contexts": [PASSAGES[1].text, "Flakes form", "own words"]})
    passage, part, other = found.content.context or ()
    assert (passage.resolution, passage.passage_id, passage.text_digest) == ("exact", PASSAGES[1].passage_id, None)
    start = TEXTS["snow"].index("Flakes form")
    assert [(one.document_id, one.start, one.end) for one in part.sources] == [("snow", start, start + 11)]
    assert part.text_digest == digest("Flakes form")
    assert (other.resolution, other.text_digest) == ("unresolved", digest("own words"))
    assert found.texts == {digest("own words"): "own words", digest("Flakes form"): "Flakes form"}


def test_declared_source_and_truncated_text() -> None:
    cut = PASSAGES[0].text[:12]
    declared, truncated, rewritten = (
        made(
            {
                "contexts": [
                    {"documentId": "rain", "start": 3, "end": 9, "score": 2},
                    {"id": PASSAGES[0].passage_id, "text": cut},
                    {"id": PASSAGES[0].passage_id, "text": "A summary about rain."},
                ]
            }
        ).content.context
        or ()
    )
    assert [(one.start, one.end) for one in declared.sources] == [(3, 9)]
    assert (declared.resolution, declared.score) == ("declared", 2.0)
    assert [(one.start, one.end) for one in truncated.sources] == [(0, 12)]
    assert (rewritten.resolution, rewritten.transform, rewritten.passage_id) == ("declared", "derived", None)


def test_a_place_that_its_text_contradicts_is_not_believed() -> None:
    """Offsets that count from a text before it was cleaned: the text that came decides, and what stands nowhere holds
    nothing, wherever it says that it stands.
    """
    stored = TEXTS["rain"]
    wanted = stored.index("warm air")
    place = {"document_id": "rain", "start": wanted + 3, "end": wanted + 11}
    entries = [
        {**place, "text": "warm air"},
        {**place, "text": "nobody ever wrote this"},
        {**place, "text": f" {stored[wanted + 3 : wanted + 11]}\n"},
        {**place, "text": "Weather > Rain: warm air", "transform": "decorated"},
        place,
        {**place, "text": ""},
    ]
    found = made({"contexts": entries}).content.context or ()
    assert [(one.resolution, one.transform) for one in found] == [
        ("exact", "slice"), ("declared", "derived"), ("declared", "slice"), ("declared", "decorated"),
        ("declared", "slice"), ("declared", "slice"),
    ]  # fmt: skip
    assert [(one.start, one.end) for one in found[0].sources] == [(wanted, wanted + 8)]


def test_order_and_duplicates_are_kept() -> None:
    items = made({"contexts": [{"id": "b", "score": 1}, {"id": "a", "score": 9}, {"id": "b", "score": 1}]}).content
    assert [(one.item_id, one.rank, one.score) for one in items.context or ()] == [
        ("b", 1, 1),
        ("a", 2, 9),
        ("b", 3, 1),
    ]


def test_full_steps_and_measurements() -> None:
    found = made(
        {
            "answer": {"text": "Rain.", "outcome": "answered",
                       "citations": [{"answerStart": 0, "answerEnd": 4, "itemId": "rain"}]},
            "steps": [
                {"kind": "vector", "name": "ann", "itemsOut": ["rain", "snow"], "durationMs": 1.5, "calls": 1,
                 "scoreDirection": "lower"},
                {"kind": "rerank", "parents": ["s1"], "items_in": ["rain", "snow"], "items_out": ["rain"],
                 "decisions": [{"action": "drop", "item_id": "snow"}], "error": {"code": "partial"}},
                {"kind": "generate", "filter": {"a": {"b": [1]}}},
            ],
            "retrieval": {"sufficient": True, "confidence": 0.5},
            "versions": {"model": "m"},
            "usage": {"input_tokens": 10}, "cost": {"amount": 0.1, "currency": "EUR"}, "first_token_ms": 3,
        }
    )  # fmt: skip
    content = found.content
    assert content.failure is None
    assert [(one.step_id, one.name, one.kind, one.parents) for one in content.steps] == [
        ("s1", "ann", "vector", None), ("s2", "rerank", "rerank", ("s1",)), ("s3", "generate", "generate", None),
    ]  # fmt: skip
    assert content.steps[0].items_in is None
    assert content.steps[1].error is not None
    assert content.steps[1].error.code == "partial"
    assert content.steps[2].filter == {"a": '{"b": [1]}'}
    assert content.context is None
    assert content.answer is not None
    assert (content.answer.outcome, content.answer.outcome_source) == ("answered", "system")
    assert content.answer.citations is not None
    assert content.answer.citations[0].item_id == "rain"
    assert content.versions == {"model": "m"}
    assert [(one.step_id, one.duration_ms, one.calls) for one in found.reported.steps] == [("s1", 1.5, 1)]
    assert found.reported.cost is not None
    assert (found.reported.first_token_ms, found.reported.cost.amount) == (3.0, 0.1)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "response"),
        (3, "response"),
        ({"result": "x"}, "response"),
        ({}, "response"),
        ({"answer": 3}, "answer"),
        ({"answer": {"outcome": "answered"}}, "answer"),
        ({"contexts": "x"}, "contexts"),
        ({"contexts": [{"score": "high"}]}, "contexts[0].score"),
        ({"contexts": [{"score": True}]}, "contexts[0].score"),
        ({"contexts": [["x"]]}, "contexts[0]"),
        ({"outcome": "maybe"}, "outcome"),
        ({"steps": [{"kind": "magic"}]}, "steps[0].kind"),
        ({"steps": [{"kind": "fuse", "parents": ["later"]}]}, "steps[0].parents"),
        ({"steps": [{"kind": "fuse", "step_id": "a"}, {"kind": "fuse", "step_id": "a"}]}, "steps[1].step_id"),
        ({"answer": "x", "citations": [{"answer_start": 1}]}, "citations[0]"),
        ({"contexts": [{"document_id": "rain", "start": 9, "end": 3}]}, "contexts[0].end"),
        ({"usage": {"input_tokens": -1}}, "usage.input_tokens"),
        ({"usage": {"input_tokens": 10**30}}, "usage.input_tokens"),
        ({"answer": "x", "calls": 2**53}, "calls"),
        ({"answer": "x", "Answer": object(), "confidence": object()}, "confidence"),
        ({"queryId": "x", "first_token_ms": 1, "firstTokenMs": 2}, "first_token_ms"),
    ],
)
def test_wrong_values_are_failures_that_name_the_field(value: Any, code: str) -> None:
    content = made(value).content
    assert content.failure is not None
    assert (content.failure.cause, content.failure.code) == ("invalid_response", code)
    assert content.steps == ()


def test_numbers_that_are_none_are_dropped_and_said_so() -> None:
    found = made({"contexts": [{"id": "rain", "score": float("nan")}, {"id": "snow", "score": float("-inf")}]})
    assert [(one.score, one.lossy) for one in found.content.context or ()] == [(None, True), (None, True)]
    assert found.lossy
    step = made({"steps": [{"kind": "vector", "items_out": [{"id": "rain", "score": float("nan")}]}]}).content.steps[0]
    assert step.decisions[0].action == "score_dropped"


def test_lone_surrogates_become_replacement_characters_and_said_so() -> None:
    found = made({"answer": "a\ud800b", "contexts": ["x\udfff", "pair \ud83d\ude00"]})
    assert found.content.answer is not None
    assert (found.content.answer.text, found.content.answer.lossy) == ("a\ufffdb", True)
    assert [one.lossy for one in found.content.context or ()] == [True, False]
    assert "pair \U0001f600" in found.texts.values()


def test_big_texts_and_long_answers() -> None:
    long = "word " * 100_000
    big = "x" * 1_000_000
    found = made({"answer": long, "contexts": [big, "日本語。", "zażółć", "مرحبا", "🎉"]})
    assert found.content.answer is not None
    assert found.content.answer.text == long
    assert found.texts[digest(big)] == big  # type: ignore[index]
    assert found.content.failure is None


def test_python_shapes() -> None:
    @dataclass
    class Item:
        text: str
        score: Any

    class Dumped:
        def model_dump(self) -> dict[str, Any]:
            return {"answer": "x", "contexts": (Item("t", np.float32(0.5)), {"id": 7})}

    items = made(Dumped()).content.context or ()
    assert [(one.item_id, one.score) for one in items] == [(f"text-{digest('t')[7:23]}", 0.5), ("7", None)]
    assert made(np.array(["rain", "snow"])).content.context is not None
    assert made(Response(answer="x")).content.answer is not None
    assert made("just text").content.answer is not None
    failure = made(SimpleNamespace(answer="x")).content.failure
    assert failure is not None


def test_text_that_needs_no_space_is_its_own_id_only_when_short() -> None:
    (item,) = made(["日本語" * 200]).content.context or ()
    assert item.item_id.startswith("text-")


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.characters(codec=None)
names = st.sampled_from(
    ["answer", "contexts", "steps", "kind", "items_out", "score", "id", "text", "citations", "item_id", "start", "end",
     "document_id", "outcome", "versions", "usage", "filter", "parents", "step_id", "decisions", "action", "cost",
     "answer_start", "answer_end", "source", "error", "retrieval"]
) | st.text(max_size=5)  # fmt: skip
values = st.recursive(
    scalars | st.sampled_from(["rain", "fuse", "vector", "answered"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=20,
)


@given(values)
def test_anything_is_a_trace_whose_bytes_parse_back(value: Any) -> None:
    content = made(value).content
    data = canonical_bytes(content)
    assert canonical_bytes(parse(TraceContent, data)) == data


def test_endless_nesting_is_invalid_and_not_a_crash() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InvalidResponseError, match="nested"):
        plain_value(loop)
    deep: Any = "x"
    for _ in range(3000):
        deep = [deep]
    with pytest.raises(InvalidResponseError):
        read_response(deep)
