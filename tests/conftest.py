"""What all tests share: a clean environment, and the public data sets beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# Machines are shared: how long one example takes says nothing about the code, nor how long it took to draw (a process
# that is stopped for half a minute would fail with "input generation is slow"). At a desk every run draws new
# examples; in CI they are the same ones every time, so that a red build means a changed line.
TIMELESS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("desk", TIMELESS)
settings.register_profile("ci", TIMELESS, derandomize=True)
# For mutants, which are many, the same few ones, and nothing is made smaller once it failed.
QUICK = settings(TIMELESS, max_examples=25, database=None, phases=[Phase.explicit, Phase.generate])
settings.register_profile("mutants", QUICK, derandomize=True)
settings.load_profile("mutants" if os.environ.get("RAGASSAY_MUTANTS") else "ci" if os.environ.get("CI") else "desk")

ROOT = Path(__file__).resolve().parent.parent
SHARED = next((up / "shared" / "data" for up in ROOT.parents if (up / "shared" / "data").is_dir()), ROOT.parent / "-")


def skip_or_fail(reason: str) -> None:
    """Skip with a message; fail where everything is required to be there."""
    if os.environ.get("RAGASSAY_REQUIRE_ALL"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets."""
    if not SHARED.is_dir():
        skip_or_fail("the public data sets are not beside the repository (../shared/data)")
    return SHARED


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))  # not this user's
    for name in ("NO_COLOR", "FORCE_COLOR", "RAGASSAY_STORE", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
