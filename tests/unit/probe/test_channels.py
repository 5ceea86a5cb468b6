"""A reply taken apart: channels by the names of keys, steps by their names, also in each reply of a batch."""

from __future__ import annotations

import json
from typing import Any

from ragassay.probe.channels import parts_of
from ragassay.records.probe import CallReply

ONE: dict[str, Any] = {
    "answer": {"text": "It is agreed.", "outcome": "answered"},
    "steps": [{"kind": "vector", "name": "dense", "filter": {"tenant": "north"},
               "items_out": [{"document_id": "d1", "tenant": "north", "text": "agreed", "score": 0.5}]}],
    "related_titles": ["Travel"], "total": 3, "debug": [{"id": "d2", "text": "hidden"}],
}  # fmt: skip


def reply(body: Any) -> CallReply:
    return CallReply(latency_ms=1.0, status=200, body=json.dumps(body))


def test_what_a_key_is_called_says_which_channel_it_is() -> None:
    parts = parts_of(reply(ONE))
    assert {(one.channel, one.step, one.text) for one in parts.texts} >= {
        ("answer", None, "It is agreed."), ("items", "dense", "agreed"), ("title", None, "Travel"),
        ("log", None, "hidden"),
    }  # fmt: skip
    assert [(one.channel, one.step, one.ids) for one in parts.shown] == [
        ("items", "dense", ("d1",)), ("log", None, ("d2",)),
    ]  # fmt: skip
    assert ("count", "total", 3.0) in parts.numbers
    assert (parts.answer, parts.outcome) == ("It is agreed.", "answered")


def test_a_batch_has_steps_in_each_of_its_replies() -> None:
    parts = parts_of(reply({"replies": [ONE, ONE]}))
    assert [(one.name, one.candidates) for one in parts.steps] == [("dense", True), ("dense", True)]
    shown = [one for one in parts.shown if one.channel == "items"]
    assert [(one.step, one.path) for one in shown] == [("dense", "replies.steps.dense.items_out")] * 2


def test_citations_within_an_answer_are_not_its_text() -> None:
    cited = {"text": "See [1].", "citations": [{"item_id": "d7", "claim": "it is agreed"}]}
    parts = parts_of(reply({"answer": cited}))
    assert [(one.channel, one.ids) for one in parts.shown] == [("citation", ("d7",))]
    assert ("answer", "See [1].") in {(one.channel, one.text) for one in parts.texts}
    assert ("citation", "d7") in {(one.channel, one.text) for one in parts.texts}
    assert parts.answer == "See [1]."
