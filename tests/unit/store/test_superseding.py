"""What takes the place of what is told by the ledger, with who and why; no other record counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import LedgerError, UsageError
from ragassay.records.base import Digest, Instant
from ragassay.records.ledger import Supersession
from ragassay.store import Store
from ragassay.store.superseding import SUPERSEDED, check_told, history, supersede, supersessions

AT = Instant("2026-08-01T00:00:00Z")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def objects(store: Store) -> list[Digest]:
    return [store.put(str(one).encode()) for one in range(4)]


def test_the_newest_with_its_past_back_to_the_first(store: Store) -> None:
    a, b, c, other = objects(store)
    supersede(store, "benchmark", a, b, by="Ada", reason="q7 was wrong", at=AT)
    supersede(store, "benchmark", other, a, by="Bo", reason="something else", at=AT)
    supersede(store, "benchmark", b, c, by="Cy", reason="q9 too", at=AT)
    assert [(one.old, one.new, one.by) for one in history(store, c)] == [(b, c, "Cy"), (a, b, "Ada")]
    assert [one.by for one in history(store, b)] == ["Ada"]
    assert history(store, other) == []
    entry = store.ledger.lines()[-1].entry
    assert (entry.act, entry.objects["old"], entry.objects["new"]) == ("superseded", b, c)
    assert (entry.by, entry.reason) == ("Cy", "q9 too")
    assert all(one in store for one in (a, b, c)), "nothing is gone"
    assert store.check("deep").ok


def test_what_came_back_has_its_own_past_and_no_circle(store: Store) -> None:
    a, b, _, _ = objects(store)
    for old, new in ((a, b), (b, a), (a, b)):
        supersede(store, "benchmark", old, new, by="Ada", reason="to and fro", at=AT)
    assert [(one.old, one.new) for one in history(store, b)] == [(a, b), (b, a), (a, b)]
    assert [(one.old, one.new) for one in history(store, a)] == [(b, a), (a, b)]


def test_a_record_without_its_line_counts_nothing(store: Store) -> None:
    a, b, c, _ = objects(store)
    forged = Supersession(kind="review", old=a, new=b, by="Eve", reason="so", at=AT)
    store.set_ref(f"{SUPERSEDED}{'0' * 64}", store.put_record(forged), kind="supersession")
    assert supersessions(store) == []
    with pytest.raises(LedgerError, match="does not know who did that"):
        check_told(store, "review", b, a)
    made = supersede(store, "review", a, c, by="Ada", reason="so", at=AT)
    store.ledger.record("superseded", {"old": a, "new": b, "record": made}, AT, again=True)  # another's record
    assert [one.new for one in supersessions(store)] == [c]


@pytest.mark.parametrize(("by", "reason"), [("", "x"), (" ", "x"), ("Ada", ""), ("Ada", "\n")])
def test_nobody_replaces_anything_without_a_name_and_a_reason(store: Store, by: str, reason: str) -> None:
    a, b, _, _ = objects(store)
    with pytest.raises(UsageError):
        supersede(store, "benchmark", a, b, by=by, reason=reason, at=AT)
    with pytest.raises(UsageError):
        supersede(store, "benchmark", a, a, by="Ada", reason="x", at=AT)
    assert store.ledger.bytes() == b""
