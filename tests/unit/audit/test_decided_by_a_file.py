"""A decision by a policy of a file: its thresholds are told where two runs are held against each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.audit.conftest import made_once, project

from ragassay.cli import exit_code_of

__all__ = ["made_once", "project"]
POLICY = """
[policy]
name = "release"
[[policy.rules]]
measure = "recall(rel=2)@5"
step = "context"
class = "answerable"
at_least = {floor}
"""


def changes(capsys: pytest.CaptureFixture[str], *words: str) -> list[tuple[str, str, str | None, str | None]]:
    capsys.readouterr()
    assert exit_code_of([*words, "--json"]) == 0
    found = json.JSONDecoder().raw_decode(capsys.readouterr().out)[0]
    told = found["against"] if words[0] == "audit" else found
    return [(one["artefact"], one["name"], one.get("before"), one.get("after")) for one in told["changes"]]


def test_the_threshold_that_decided_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(["gate", "worse", "--as-of", "2026-08-02"]) in (0, 1, 3)
    system = [one for one in changes(capsys, "audit", "good", "--against", "worse") if one[0] == "threshold"]
    assert not system
    Path("stricter.toml").write_text(POLICY.format(floor=0.6))
    assert exit_code_of(["gate", "good", "--policy", "stricter.toml", "--as-of", "2026-08-02"]) in (0, 1, 3)
    wanted = ("threshold", "rules recall(rel=2)@5 answerable context at_least at_least", "0.5", "0.6")
    for words in (("audit", "good", "--against", "worse"), ("diff", "worse", "good")):
        found = [one for one in changes(capsys, *words) if one[0] != "system"]
        assert found == [wanted]
