"""JUnit XML and step summary: right counts, inside their limits, clean; the action's commands exist."""

from __future__ import annotations

import io
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import junitparser
import pytest
from tests.unit.report import sample
from tests.unit.report.many import many

from ragassay import report
from ragassay.cli import build_app
from ragassay.cli.report import append_summary
from ragassay.errors import UsageError
from ragassay.report import testcases

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def card() -> report.Scorecard:
    return report.build(sample.material())


def parsed(text: str) -> dict[str, Any]:
    return {one.name: one for suite in junitparser.JUnitXml.fromstring(text.encode()) for one in suite}


def kind(case: Any) -> str:
    return type(case.result[0]).__name__ if case.result else "passed"


def test_each_question_is_a_case_and_none_passes_without_a_ground(card: report.Scorecard) -> None:
    cases = parsed(report.junit(card))
    assert {name: kind(one) for name, one in cases.items() if name in ("a-1", "a-2", "a-3", "a-4", "m-1", "gate")} == {
        "a-1": "passed", "a-2": "Failure", "a-3": "Failure", "a-4": "Error", "m-1": "Failure", "gate": "Skipped",
    }  # fmt: skip
    assert len(cases) == 12
    assert cases["a-4"].result[0].type == "timeout"
    root = ET.fromstring(report.junit(card))
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.attrib[name]) == len(list(root.iter(tag)))
        assert sum(int(one.attrib[name]) for one in root) == int(root.attrib[name])


def test_too_many_cases_leave_out_those_that_passed_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    card = many(110)
    whole = parsed(report.junit(card))
    monkeypatch.setattr(testcases, "MOST_CASES", 90)
    cases = parsed(text := report.junit(card))
    assert len(cases) == 91
    assert {name for name, one in whole.items() if kind(one) in ("Error", "Failure")} <= set(cases)
    assert '<property name="left out" value="20"/>' in text
    monkeypatch.setattr(testcases, "MOST_BYTES", 5_000)
    assert len(report.junit(card)) < 5_000 + 5_000


def test_summary_fits_and_says_what_it_left_out(card: report.Scorecard) -> None:
    whole = report.step_summary(card)
    assert "### Questions in trouble" in whole
    assert "Left out" not in whole
    for most in (0, 100, 500, 1_000, 2_000, 4_000):
        text = report.step_summary(card, most)
        assert len(text.encode()) <= most
        assert not text or text == whole or "**Left out for want of room: " in text


def test_summary_is_appended_within_the_limit_for_both(
    card: report.Scorecard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "summary.md"
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    with pytest.raises(UsageError, match="GITHUB_STEP_SUMMARY is not set"):
        append_summary(card)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    path.write_text("before\n" + "x" * 898_000)
    append_summary(card)
    assert path.read_text().startswith("before")
    assert 898_100 < path.stat().st_size <= 900_000
    path.write_text("x" * 1_000_000)
    append_summary(card)
    assert path.stat().st_size == 1_000_000


def test_the_action_runs_commands_that_exist_and_takes_no_input_into_a_shell(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert action["runs"]["using"] == "composite"
    scripts = [step["run"] for step in action["runs"]["steps"]]
    assert all(step["shell"] == "bash" for step in action["runs"]["steps"])
    assert not any("${{" in one for one in scripts), "inputs come by environment"
    typed = re.findall(r'/bin/ragassay" ([a-z]+)(.*)', "\n".join(scripts))
    assert [name for name, _ in typed] == ["run", "score", "report"]
    from rich.console import Console

    for name, rest in typed:
        out = io.StringIO()
        build_app()([name, "--help"], console=Console(file=out, width=200), result_action="return_value")
        for flag in re.findall(r"--[a-z-]+", rest):
            assert flag in out.getvalue(), (name, flag)
    run, score, report = action["runs"]["steps"][1:]
    assert {score["if"], report["if"]} == {"${{ !cancelled() && steps.run.outputs.kept == 'yes' }}"}
    for code, kept in ((0, True), (2, False), (3, True), (4, True)):
        program = tmp_path / "ragassay" / "bin" / "ragassay"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\nexit {code}\n")
        program.chmod(0o700)
        said = tmp_path / f"said-{code}"
        environment = {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(said), "CONFIG": "c", "PATH": "/usr/bin:/bin"}
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", run["run"]]
        assert subprocess.run(bash, env=environment, check=False).returncode == code
        assert (said.is_file() and said.read_text() == "kept=yes\n") is kept
    for path in re.findall(r"GITHUB_ACTION_PATH/([\w./-]+)", "\n".join(scripts)):
        assert (ROOT / path).is_file()
