"""Runs and trends: every scored run stays listed, and nothing is joined or subtracted across a boundary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragassay import evaluate_sync, score
from ragassay.cli import runs as command
from ragassay.errors import ErrorBudgetError, StoreError, UsageError
from ragassay.records.protocol import Protocol, Run
from ragassay.report import history
from ragassay.report.trend_page import picture, stretches, trend_page
from ragassay.store import Store

DOCUMENTS = {f"d{n}": f"This is number {n}." for n in range(4)}
MEASURE = "recall(rel=2)@20"


def cases(count: int) -> list[dict[str, Any]]:
    return [
        {"query_id": f"q{n}", "query": f"Which is {n}?", "relevant": [{"document_id": f"d{n}", "grade": 2}]}
        for n in range(count)
    ]


def made(path: Path, right: int, count: int = 4) -> None:
    """A run, always under the same name, that finds the evidence of the first `right` questions."""
    evaluate_sync(
        cases(count),
        lambda request: [f"d{n}" if (n := int(request.query_id[1:])) < right else f"d{(n + 1) % 4}"],
        documents=DOCUMENTS, as_of="2026-01-01", store=path, name="nightly",
    )  # fmt: skip


def broken(request: Any) -> list[str]:
    """Finds the first, and fails at all others."""
    if request.query_id == "q0":
        return ["d0"]
    raise OSError


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "store"
    made(path, 2)
    made(path, 3)
    made(path, 3, count=3)
    made(path, 1, count=3)
    return path


def test_runs_that_lost_their_name_stay_listed_in_order_of_time(store: Path) -> None:
    found = history.runs(Store.open(store))
    assert [one.questions for one in found] == [4, 4, 3, 3]
    assert [one.names for one in found] == [(), (), (), ("nightly",)]
    assert [one.started_at for one in found] == sorted(one.started_at for one in found)
    assert all(one.scores for one in found)
    assert Store.open(store).check("deep").ok


def test_a_boundary_breaks_the_line_and_has_no_difference(store: Path) -> None:
    opened = Store.open(store)
    (series,) = history.trend(opened, history.runs(opened), MEASURE)
    assert [one.estimate.value for one in series.points if one.estimate] == [0.5, 0.75, 1.0, pytest.approx(1 / 3)]
    assert [one.boundary for one in series.points] == [(), (), ("benchmark",), ()]
    assert [one.change for one in series.points] == [None, pytest.approx(0.25), None, pytest.approx(-2 / 3)]
    assert [[place for place, _ in one] for one in stretches(series.points)] == [[0, 1], [2, 3]]
    drawn = str(picture(series))
    assert drawn.count("<polyline") == 2
    assert drawn.count("<circle") == 4
    assert ">benchmark</text>" in drawn
    page = trend_page([], [series], "<t>")
    assert "not comparable" in page
    assert "<t>" not in page


def test_a_run_that_ended_early_is_compared_with_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store"
    made(store, 2)
    with pytest.raises(ErrorBudgetError):
        evaluate_sync(cases(4), broken, documents=DOCUMENTS, as_of="2026-01-01", store=store, name="nightly")
    opened = Store.open(store)
    digest = opened.ref("run/nightly")
    protocol = opened.get_record(Protocol, opened.get_record(Run, digest).protocol)
    opened.set_ref("scores/partial", score.table(opened, digest, protocol.scoring)[1])
    made(store, 3)
    lines = history.runs(opened)
    assert [one.state for one in lines] == ["complete", "partial", "complete"]
    (series,) = history.trend(opened, lines, MEASURE)
    assert [one.boundary for one in series.points] == [(), ("part of the questions",), ("part of the questions",)]
    assert [one.change for one in series.points] == [None, None, None]
    command.list(store=store)
    assert "partial" in capsys.readouterr().out
    Store.open(tmp_path / "empty", create=True)
    command.list(store=tmp_path / "empty")
    assert "next: ragassay run " in capsys.readouterr().err


def test_tags_choose_runs(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.tag("nightly", "release-1", store=store)
    assert [one.questions for one in history.runs(Store.open(store), "release-1")] == [3]
    assert history.runs(Store.open(store), "other") == []
    command.list(store=store)
    told = capsys.readouterr().out
    assert "[release-1]" in told
    assert "0 of 3 failed" in told
    command.trend(store=store)
    assert "---- another benchmark: not comparable" in capsys.readouterr().out
    with pytest.raises(UsageError, match="cannot be a tag"):
        command.tag("nightly", "../x", store=store)
    with pytest.raises(StoreError):
        command.tag("nobody", "x", store=store)
