"""Stale, superseded and contradicting evidence in lists: each item counted by hand."""

from __future__ import annotations

import pytest
from tests.unit.score.score_material import AS_OF, case, doc, ev, item, loose, row, score, step, trace

from ragassay.records.document import DocumentRef

DOCS = (
    doc("now", "the limit is 120", version="2", supersedes=DocumentRef(document_id="now", version="1"),
        valid_from="2026-01-01T00:00:00Z"),
    doc("now", "the limit is 100", version="1"),
    doc("ended", "the limit was 50", valid_until="2026-08-01T00:00:00Z"),
    doc("later", "the limit is 200", valid_until="2026-08-02T00:00:00Z"),
    doc("wrong", "there is no limit"),
)  # fmt: skip
ALL = {
    "now": item("now", 0, 16, version="2"), "old": item("now", 0, 16), "ended": item("ended", 0, 16),
    "later": item("later", 0, 16), "wrong": item("wrong", 0, 17), "?": loose(),
}  # fmt: skip
EVIDENCE = (ev("e", "now", 0, 16, grade=3, version="2"), ev("c", "wrong", 0, 5, grade=0, role="contradicts"))


def seen(names: str, *measures: str, **more: object):
    items = [ALL[one] for one in names.split()]
    return score(
        case(evidence=more.pop("evidence", EVIDENCE)), trace(step("find", "lexical", items), context=items),
        more.pop("docs", DOCS), *measures, as_of=AS_OF, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("names", "at_2", "whole", "stale"),
    [
        ("now later", 0.0, 0.0, 0.0),  # it ends after as_of
        ("now old ended wrong", 0.5, 0.75, 0.5),  # superseded, at its end, contradicting
        ("wrong now", 0.5, 0.5, 0.0),  # a contradiction is not stale
        ("old", 1.0, 1.0, 1.0),
    ],
)
def test_shares(names: str, at_2: float, whole: float, stale: float) -> None:
    got = seen(names, "harmful@2", "harmful@10", "stale_in_context")
    assert row(got, "harmful@2", "find").value == at_2
    assert row(got, "harmful@10", "find").value == whole
    assert row(got, "harmful@10", "context").value == whole
    assert row(got, "stale_in_context", "context").value == stale


def test_unknown_items_give_bounds_and_silence_is_missing() -> None:
    got = row(seen("now ? old", "stale_in_context"), "stale_in_context", "context")
    assert (got.status, got.reason) == ("missing", "unknown_items")
    assert (got.bounds.low, got.bounds.high) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    plain = row(seen("wrong", "stale_in_context", docs=DOCS[4:]), "stale_in_context", "context")
    assert (plain.status, plain.reason) == ("missing", "no_validity")
    assert row(seen("old", "harmful@5", evidence=None), "harmful@5", "find").reason == "unlabelled"
    empty = seen("", "harmful@5", "stale_in_context")
    assert row(empty, "harmful@5", "find").reason == "empty_list"
    assert row(empty, "stale_in_context", "context").reason == "empty_context"


def test_a_document_that_is_superseded_later_is_not_yet() -> None:
    docs = (doc("d", "new", version="2", supersedes=DocumentRef(document_id="d", version="1"),
                valid_from="2026-09-01T00:00:00Z"), doc("d", "old", version="1"))  # fmt: skip
    items = [item("d", 0, 3)]
    got = score(case(), trace(context=items), docs, "stale_in_context", as_of=AS_OF)
    assert row(got, "stale_in_context", "context").value == 0.0
    late = score(case(), trace(context=items), docs, "stale_in_context", as_of="2026-09-01T00:00:00Z")
    assert row(late, "stale_in_context", "context").value == 1.0
