"""A ceiling on what nobody recorded of a run: a system that says nothing fails it, one that says all passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.gate.project import GOOD, POLICY, Project

SILENT = '[[policy.recorded]]\nidentity = "retrieval"\nat_most = 0\n'
SAYS = """
[system.settings]
index_id = "i-7"
index_built_at = "2026-07-30T10:00:00Z"
embedding_model = "letters 1"
chunking = "sentences 3"
filters = "none"
reranker = "none"
tools = "none"
"""


@pytest.fixture
def project(tmp_path: Path, capsys: Any, monkeypatch: Any) -> Project:
    monkeypatch.syspath_prepend(str(tmp_path))
    return Project(tmp_path, capsys, policy=POLICY + SILENT)


def of_rule(found: dict[str, Any], kind: str = "recorded") -> list[dict[str, Any]]:
    return [one for one in found["results"] if one["kind"] == kind]


def test_a_system_that_says_nothing_of_its_index_fails_the_rule(project: Project) -> None:
    project.run()
    code, found = project.gate()
    assert code == 1
    (result,) = of_rule(found)
    assert (result["result"], result["value"], result["threshold"]) == ("fail", 7.0, 0.0)
    assert result["reasons"] == ["unrecorded"]
    for part in ("retriever", "index", "index built at", "embedding model", "chunking", "filters", "reranker"):
        assert f"retrieval: {part}" in result["told"]


def test_it_passes_once_the_system_declares_them(project: Project) -> None:
    """In its settings, or in each answer."""
    project.system(GOOD.replace('{"answer"', '{"versions": {"retriever": "own 1"}, "answer"'))
    project.policy(POLICY + SILENT + SAYS)
    project.run()
    code, found = project.gate()
    assert code == 0, found
    assert [one["result"] for one in of_rule(found)] == ["pass"]


def test_it_may_call_a_person_and_allow_some(project: Project) -> None:
    project.policy(POLICY + SILENT.replace("at_most = 0", "at_most = 7"))
    project.run()
    assert project.gate()[0] == 0
    project.policy(POLICY + SILENT.replace("at_most = 0", 'at_most = 6\non_fail = "review"'))
    project.run("second")
    assert project.gate("second")[0] == 3


def test_alone_it_lets_nothing_pass(project: Project) -> None:
    project.policy(f'[policy]\nname = "release"\n{SILENT.replace("at_most = 0", "at_most = 99")}')
    project.run()
    code, found = project.gate()
    assert code == 3
    assert [one["result"] for one in of_rule(found)] == ["pass"]
