"""The trial of tamperings in short: each named way three times, two through the command line, and clean copies."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_every_way_of_tampering_is_found_and_no_clean_copy_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from trials.tampers import WAYS, run_tampers

    figures = dict(run_tampers(tamperings=3 * len(WAYS), commands=2, clean=6, seed=20260801))
    assert figures["tamperings found"] == f"{3 * len(WAYS) + 2} of {3 * len(WAYS) + 2}"
    assert set(WAYS) <= set(figures)
