"""The Python door: ten lines, in a script, in a running loop, with systems that fail."""

from __future__ import annotations

import asyncio
import html
import time
from typing import Any

import pytest

from ragassay import evaluate, evaluate_sync
from ragassay.errors import InputError, RagassayError, RecordError, UsageError
from ragassay.records.score import Estimate

DOCUMENTS = {
    "publishing.md": "A retry after a commit must send the original revision tuple again.",
    "limits.md": "120 publishes per minute are allowed.",
    "access.md": "Editors see drafts.",
}
CASES = [
    {"query_id": "q1", "query": "What must a retry send?", "relevant": [{"document_id": "publishing.md", "grade": 3}]},
    {"query_id": "q2", "query": "How many publishes?", "relevant": [{"document_id": "limits.md", "grade": 3}]},
    {"query_id": "q3", "query": "Who sees drafts?", "relevant": [{"document_id": "access.md", "grade": 3}]},
]


def first_two(request: Any) -> dict[str, Any]:
    """Finds the first document always, the second never, fails on the third question."""
    if request.query_id == "q3":
        raise RuntimeError("the index is gone")
    return {"answer": "The original revision tuple.", "contexts": [{"document_id": "publishing.md"}]}


def estimates(result: Any, measure: str, step: str = "context") -> list[Estimate]:
    found = [one for one in result.scorecard.estimates if one.measure == measure and one.step == step]
    return [one for one in found if one.population.slice is None]


def test_counts_and_value_of_three_questions_by_hand() -> None:
    result = evaluate_sync(
        CASES, first_two, documents=DOCUMENTS, as_of="2026-12-01", measures=["recall(rel=2)@5"], max_error_rate=1.0
    )
    (one,) = [found for found in estimates(result, "recall(rel=2)@5") if found.aggregation == "macro"]
    # q1 held 1 of 1, q2 held 0 of 1, q3 failed: mean of (1, 0) with one error; with q3 as 0 and as 1: 1/3 to 2/3
    assert (one.attempted, one.scored, one.undefined, one.missing, one.error) == (3, 2, 0, 0, 1)
    assert one.value == pytest.approx(1 / 2)
    assert one.bounds is not None
    assert (one.bounds.low, one.bounds.high) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_it_is_awaitable_and_its_twin_works_inside_a_running_loop() -> None:
    async def both() -> tuple[Any, Any]:
        awaited = await evaluate(CASES[:2], first_two, documents=DOCUMENTS, as_of="2026-12-01")
        twin = evaluate_sync(CASES[:2], first_two, documents=DOCUMENTS, as_of="2026-12-01")
        return awaited, twin

    awaited, twin = asyncio.run(both())
    assert awaited.protocol == twin.protocol
    assert awaited.run != ""
    assert awaited.scorecard.estimates


def test_an_async_system_and_a_list_of_ids_are_enough() -> None:
    async def ids(request: Any) -> list[str]:
        await asyncio.sleep(0)
        return ["limits.md", "publishing.md"]

    result = evaluate_sync(CASES[:2], ids, documents=DOCUMENTS, as_of="2026-12-01", measures=["rr(rel=2)@5"])
    (one,) = [found for found in estimates(result, "rr(rel=2)@5") if found.aggregation == "macro"]
    assert one.value == pytest.approx((1 / 2 + 1) / 2)  # ranks 2 and 1


def test_the_result_shows_itself_in_every_form() -> None:
    result = evaluate_sync(CASES[:2], first_two, documents=DOCUMENTS, as_of="2026-12-01")
    assert result._repr_html_().lstrip().startswith("<")
    assert "default-src 'none'" in html.unescape(result.html())
    assert result.markdown().startswith("# ")
    assert result.to_json()
    assert str(result)


def test_no_questions_is_an_error_and_never_a_score() -> None:
    with pytest.raises(InputError, match="cases"):
        evaluate_sync([], first_two, documents=DOCUMENTS)


def test_wrong_values_name_their_place() -> None:
    with pytest.raises(RecordError, match=r"cases:2.*did you mean 'query'|unknown field"):
        evaluate_sync([CASES[0], {"query_id": "x", "qery": "?"}], first_two, documents=DOCUMENTS)
    with pytest.raises(UsageError, match="top_j"):
        evaluate_sync(CASES, first_two, documents=DOCUMENTS, top_j=3)
    with pytest.raises(UsageError, match="documents:1"):
        evaluate_sync(CASES, first_two, documents=[{"document_id": "a", "text": object()}])


def test_labels_that_do_not_fit_name_the_case_and_no_file_of_ours() -> None:
    label = {"id": "e", "document_id": "publishing.md", "grade": 3, "start": 0, "end": 10_000}
    wrong = {"query_id": "x", "query": "?", "evidence": [label]}
    with pytest.raises(RagassayError) as caught:
        evaluate_sync([CASES[0], wrong], first_two, documents=DOCUMENTS)
    assert (caught.value.file, caught.value.line) == ("cases", 2)


@pytest.mark.parametrize(("cases", "documents"), [(None, DOCUMENTS), (5, DOCUMENTS), (CASES, 5)])
def test_what_is_no_list_is_an_error(cases: Any, documents: Any) -> None:
    with pytest.raises(UsageError, match="is no list of") as caught:
        evaluate_sync(cases, first_two, documents=documents)
    assert caught.value.hint


@pytest.mark.parametrize("plan", [{"abstention_rules": ["("]}, {"normalisation": "nope"}, {"measures": ["nope"]}])
def test_a_scoring_that_could_not_be_applied_is_refused_before_anything_is_asked(plan: dict[str, Any]) -> None:
    asked: list[Any] = []
    with pytest.raises(UsageError):
        evaluate_sync(CASES, asked.append, documents=DOCUMENTS, **plan)
    assert asked == []


def test_without_documents_only_what_labels_name_is_known() -> None:
    result = evaluate_sync(CASES[:1], lambda request: ["elsewhere"], as_of="2026-12-01", measures=["recall(rel=2)@5"])
    (one,) = [found for found in estimates(result, "recall(rel=2)@5") if found.aggregation == "macro"]
    assert one.status != "value", "an unresolved item is a missing label, never an irrelevant document"


def test_an_async_system_that_blocks_its_loop_cannot_stop_the_run() -> None:
    async def blocks(request: Any) -> list[str]:
        if request.query_id == "q2":
            time.sleep(3)
        return ["publishing.md"]

    result = evaluate_sync(
        CASES[:2],
        blocks,
        documents=DOCUMENTS,
        as_of="2026-12-01",
        timeout_s=1.0,
        concurrency=1,
        max_error_rate=1.0,
        measures=["recall(rel=2)@5"],
    )
    (one,) = [found for found in estimates(result, "recall(rel=2)@5") if found.aggregation == "macro"]
    assert (one.attempted, one.scored, one.error) == (2, 1, 1)
    assert one.reasons == {"timeout": 1}


def test_documents_without_text_are_not_copies_of_each_other() -> None:
    cases = [
        {"query_id": f"q{n}", "query": f"Which is {n}?", "relevant": [{"document_id": f"d{n}", "grade": 2}]}
        for n in range(4)
    ]
    card = evaluate_sync(cases, lambda _: ["d0"], as_of="2026-01-01").scorecard
    assert {one.value for one in card.estimates if one.measure == "recall(rel=2)@20"} == {0.25}
