# ruff: noqa: E501
"""The pytest plugin in real pytest runs of their own: inert unless used, fails on nothing, works under xdist."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import junitparser
import pytest

GOOD = """
CASES = [
    {"query_id": f"q{n}", "query": f"Where is number {n}?", "relevant": [{"document_id": f"d{n}", "grade": 2}]}
    for n in range(10)
]

DOCUMENTS = {f"d{n}": f"This is number {n}." for n in range(10)}

def right(request):
    return ["d" + request.query_id[1:]]

def half(request):
    n = int(request.query_id[1:])
    return [f"d{n if n < 5 else 0}"]

def broken(request):
    if request.query_id == "q3":
        raise RuntimeError("it broke")
    return right(request)
"""


def pytest_of(folder: Path, test: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_rag.py").write_text(test, "utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments, "."],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120, env=environment,
    )  # fmt: skip


def test_it_loads_nothing_but_itself_where_it_is_not_used(tmp_path: Path) -> None:
    test = "import sys\ndef test_it():\n    print('LOADED', *sorted(sys.modules))\n"

    def loaded(*arguments: str) -> set[str]:
        done = pytest_of(tmp_path, test, "-s", *arguments)
        assert done.returncode == 0, done.stdout
        return set(next(line for line in done.stdout.splitlines() if line.startswith("LOADED")).split()[1:])

    heavy = {"numpy", "scipy", "msgspec", "bm25s", "httpx2"}
    assert not heavy & loaded("-p", "no:langsmith_plugin")
    ours = loaded() - loaded("-p", "no:ragassay")
    assert ours == {"ragassay", "ragassay.version", "ragassay.pytest_plugin"}


def test_a_requirement_holds_or_fails_with_the_questions_that_miss(tmp_path: Path) -> None:
    done = pytest_of(
        tmp_path,
        GOOD + "def test_right(ragassay):\n"
        "    ragassay.require(ragassay.evaluate(CASES, right, documents=DOCUMENTS), 'recall@20', at_least=0.8)\n"
        "def test_half(ragassay):\n"
        "    table = ragassay.evaluate(CASES, half, documents=DOCUMENTS)\n"
        "    ragassay.require(table, 'recall@20', at_least=0.5)\n"
        "    ragassay.require(table, 'recall@20', at_least=0.8)\n",
        "--junitxml=out.xml",
    )
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "recall(rel=2)@20 does not hold" in done.stdout
    assert "answerable: 0.500" in done.stdout
    assert "required at least 0.800. 10 of 10 questions scored, 0 missing, 0 in error" in done.stdout
    for number in range(5, 10):
        assert f"q{number}: 0.000 (0 of 1)  Where is number {number}?" in done.stdout
    assert "q4:" not in done.stdout
    assert "Traceback" not in done.stdout
    assert "During handling" not in done.stdout
    cases = {one.name: one for suite in junitparser.JUnitXml.fromfile(str(tmp_path / "out.xml")) for one in suite}
    assert cases["test_half"].result


def test_a_failed_question_counts_on_the_pessimistic_side(tmp_path: Path) -> None:
    done = pytest_of(
        tmp_path,
        GOOD + "def test_low(ragassay):\n"
        "    ragassay.require(ragassay.evaluate(CASES, broken, documents=DOCUMENTS), 'recall@20', at_least=0.9)\n"
        "def test_high(ragassay):\n"
        "    ragassay.require(ragassay.evaluate(CASES, broken, documents=DOCUMENTS), 'recall@20', at_least=0.95)\n",
    )
    assert "1 failed, 1 passed" in done.stdout
    assert "1.000 at" in done.stdout
    assert "on the pessimistic side 0.900; required at least 0.950" in done.stdout
    assert "1 in error" in done.stdout
    assert "q3:" in done.stdout


@pytest.mark.parametrize(
    "body, says",
    [
        ("    pass\n", "nothing was measured: this test uses the fixture"),
        (
            "    ragassay.evaluate(CASES, right, documents=DOCUMENTS)\n",
            "nothing was measured: this test uses the fixture",
        ),
        (
            "    ragassay.require(ragassay.evaluate(CASES, right, documents=DOCUMENTS), 'faithfulness', at_least=0.1)\n",
            "nothing was measured: faithfulness has no value for any question",
        ),
        (
            "    ragassay.require(ragassay.evaluate(CASES, right, documents=DOCUMENTS), 'fact_coverage', at_least=0.0)\n",
            "nothing was measured: fact_coverage has no value for any question",
        ),
        (
            "    ragassay.require(ragassay.evaluate(CASES, right, documents=DOCUMENTS), 'recall@20')\n",
            "a requirement needs a limit",
        ),
    ],
)
def test_nothing_measured_is_a_failure(tmp_path: Path, body: str, says: str) -> None:
    done = pytest_of(tmp_path, GOOD + "def test_it(ragassay):\n" + body)
    assert done.returncode == 1
    assert says in done.stdout


def test_the_marker_gives_settings_and_may_allow_a_test_without_requirement(tmp_path: Path) -> None:
    done = pytest_of(
        tmp_path,
        "import pytest\n" + GOOD + "@pytest.mark.ragassay(must_require=False, top_k=7, as_of='2026-01-02')\n"
        "def test_it(ragassay):\n"
        "    card = ragassay.evaluate(CASES, right, documents=DOCUMENTS).scorecard\n"
        "    assert card.as_of == '2026-01-02T00:00:00Z'\n"
        "    assert '7' in [one.value for one in card.identity.settings if one.label == 'top k']\n",
        "--strict-markers",
    )
    assert done.returncode == 0, done.stdout


def test_it_works_under_xdist(tmp_path: Path) -> None:
    tests = "".join(
        f"def test_{n}(ragassay):\n"
        f"    ragassay.require(ragassay.evaluate(CASES, documents=DOCUMENTS, system={'half' if n == 2 else 'right'}), 'recall@20', at_least=0.8)\n"
        for n in range(4)
    )
    done = pytest_of(tmp_path, GOOD + tests, "-n", "2")
    assert "1 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "q9: 0.000 (0 of 1)" in done.stdout
