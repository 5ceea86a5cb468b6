"""What is due by age goes, with a tombstone; what a younger run or a decision needs stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.audit.conftest import made_once, project

from ragassay.cli import exit_code_of
from ragassay.records.base import Instant
from ragassay.records.protocol import Run
from ragassay.records.retention import Retention
from ragassay.records.trace import Measurements
from ragassay.store import Store
from ragassay.store.retention import decided, due, ended_at

__all__ = ["made_once", "project"]


@pytest.fixture
def store(project: Path) -> Store:
    return Store.open(project / ".ragassay")


def later(store: Store, days: int) -> Instant:
    """So many days after the last run ended."""
    from datetime import datetime, timedelta

    last = max(datetime.fromisoformat(at) for _, at in ended_at(store))
    return Instant((last + timedelta(days=days, seconds=1)).isoformat().replace("+00:00", "Z"))


def raws(store: Store, name: str) -> set[str]:
    run = store.get_record(Run, store.ref(f"run/{name}"))
    return {str(one.raw) for one in store.get_lines(Measurements, run.measurements) if one.raw is not None}


def test_only_what_is_old_enough_and_nothing_that_a_decision_needs(store: Store) -> None:
    keep = Retention(raw=90)
    assert decided(store) == {store.ref("run/good")}
    assert due(store, keep, later(store, 89)) == ({}, ())
    found = due(store, keep, later(store, 90))
    good, worse = raws(store, "good"), raws(store, "worse")
    assert good & worse, "they share responses: the test can fail"
    assert set(found.objects["raw"]) == worse - good
    assert found.held == (store.ref("run/good"),)
    everything = due(store, keep, later(store, 90), held=True)
    assert set(everything.objects["raw"]) == good | worse
    assert everything.held == ()


def test_a_decision_that_lost_its_name_holds_all_the_same(store: Store) -> None:
    store.remove_ref("decision/good")
    assert decided(store) == {store.ref("run/good")}


def test_each_kind_has_its_own_term(store: Store) -> None:
    keep = Retention(raw=30, texts=60, traces=400)
    worse = store.get_record(Run, store.ref("run/worse"))
    assert set(due(store, keep, later(store, 31)).objects) == {"raw"}
    assert worse.texts in due(store, keep, later(store, 61), held=True).objects["texts"]
    assert "texts" not in due(store, keep, later(store, 61)).objects, "the run of the decision has the same texts"
    assert due(store, keep, later(store, 401)).objects["traces"] == (worse.contents,)
    assert due(store, Retention(), later(store, 10_000), held=True) == ({}, ())


def test_a_dry_run_changes_nothing_and_a_real_one_leaves_signed_tombstones(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("ragassay.toml").write_text(Path("ragassay.toml").read_text() + "[retention]\nraw = 0\n")
    capsys.readouterr()
    assert exit_code_of(["store", "retain", "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    gone = set(told["due"]["raw"]["objects"])
    assert gone == raws(store, "worse") - raws(store, "good")
    assert all(one in store for one in gone)
    who = ("--yes", "--by", "Ada", "--key", "release.key")
    assert exit_code_of(["store", "retain", *who, "--held", "--json"]) == 0
    assert gone < set(json.loads(capsys.readouterr().out)["due"]["raw"]["objects"])
    trust = Path("trust.toml")
    trust.write_text(trust.read_text().partition("[require]")[0] + "[require]\npre-registration = 1\nerasure = 1\n")
    assert exit_code_of(["verify", "good", "--trust", "trust.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["gone"]
    assert {one["object"] for one in found} == raws(store, "good")
    assert {(one["why"], one["by"], one["reason"]) for one in found} == {("erased", "Ada", "[retention] raw = 0 days")}
    assert exit_code_of(["store", "check"]) == 0
    assert exit_code_of(["store", "retain", *who]) == 0
    assert "nothing is due" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "text", "says"),
    [
        ((), "raw = 1", "--yes does it"),
        (("--dry-run", "--yes"), "raw = 1", "--yes does it"),
        (("--yes",), "raw = 1", "an erasure has an author"),
        (("--dry-run",), "", "nothing has a term"),
        (("--dry-run",), "raw = -1", "retention.raw"),
        (("--dry-run",), "logs = 1", "logs"),
    ],
)
def test_what_is_not_said_is_not_done(
    store: Store, words: tuple[str, ...], text: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("ragassay.toml").write_text(Path("ragassay.toml").read_text() + f"[retention]\n{text}\n")
    before = store.ledger.bytes()
    assert exit_code_of(["store", "retain", *words]) == 2
    assert says in capsys.readouterr().err
    assert store.ledger.bytes() == before
