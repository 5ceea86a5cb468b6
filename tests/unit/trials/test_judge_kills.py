"""The trial of killed judging jobs, small, and the server that it stands on."""

from __future__ import annotations

import pytest
from trials import judge_kills
from trials.lives import TrialError


def test_killed_jobs_pay_for_no_finished_item_twice() -> None:
    figures = dict(judge_kills.run_judge_kills(kills=2, items=40, seed=3))
    assert figures["kills"] == "2"
    jobs = int(figures["jobs that they were spread over"])
    assert int(figures["calls about items"]) >= 40 * jobs
    assert figures["sets of verdicts equal to that of the calm job"] == f"{jobs} of {jobs}"


def test_a_job_that_forgets_what_was_paid_for_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each life without journal and cache asks about everything again, and the trial says so."""
    real = judge_kills.judged

    def forgetting(folder, run, declared, **more):  # type: ignore[no-untyped-def]
        for path in (folder / "cache").glob("judges.sqlite*"):
            path.unlink()
        return real(folder, run, declared, resume=False, **more)

    monkeypatch.setattr(judge_kills, "judged", forgetting)
    with pytest.raises(TrialError, match="asked about again"):
        judge_kills.run_judge_kills(kills=6, items=80, seed=3)
