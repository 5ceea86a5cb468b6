# ruff: noqa: E501
"""One run in which everything that others write is hostile, through every output: nothing runs, nothing is asked for."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from tests.e2e.chromium import quiet_page, running

from ragassay import evaluate_sync
from ragassay.cli.report import write_report

pytestmark = pytest.mark.browser
BAIT = (
    "</script><script>window.pwned=1</script>",
    "<img src=http://127.0.0.1:9/x onerror=window.pwned=1>",
    "<svg onload=window.pwned=1><script>window.pwned=1</script></svg>",
    "[click](javascript:window.pwned=1) ![x](http://127.0.0.1:9/beacon.png) <http://127.0.0.1:9/auto>",
    "\u202egnp.exe\u202c \u2066isolated\u2069 \u200bzero\u2060width\u200d \U000e0041\U000e0042tags",
    "\x1b[31mred\x1b[0m \x1b]8;;http://127.0.0.1:9/\x07link\x1b]8;;\x07 \x9b31m \x07",
    "=cmd|'/C calc'!A0",
    "＝1+1＋SUM(A1)",
    "＠SUM(1)",
    "\t=1+1",
    "]]><failure message=\"x\"/> & &lt; \ufffe ",
    "| a | b |\n|---|---|\n# heading\n```\n{{ 7*7 }} {% raw %} ${7*7}",
    '"><style>@import url(http://127.0.0.1:9/c.css)</style><base href=http://127.0.0.1:9/><iframe src=//127.0.0.1:9>',
)  # fmt: skip
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\U000e0000-\U000e007f]"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run's store and every output of it."""
    folder = tmp_path_factory.mktemp("hostile")
    documents = [
        {
            "document_id": f"{bait} {n}",
            "text": f"{bait} is text number {n}. {bait}",
            "title": bait,
            "url": "javascript:1",
        }
        for n, bait in enumerate(BAIT)
    ]
    cases = [
        {
            "query_id": f"{bait} {n}", "query": f"{bait}? {n}", "slice": [f"s {bait}"], "notes": bait,
            "relevant": [{"document_id": f"{bait} {n}", "grade": 3}], "answers": [{"text": bait}],
        }
        for n, bait in enumerate(BAIT)
    ]  # fmt: skip

    def system(request: Any) -> Any:
        n = int(request.query_id.rpartition(" ")[2])
        if n == 3:
            raise RuntimeError(BAIT[0] + BAIT[5])
        contexts = [{"document_id": f"{BAIT[(n + k) % len(BAIT)]} {(n + k) % len(BAIT)}"} for k in range(1 + n % 2)]
        return {"answer": BAIT[n] * 2, "contexts": contexts if n % 3 else contexts[1:]}

    made = evaluate_sync(cases, system, documents=documents, as_of="2026-01-01", store=folder / "store", name="hostile")
    write_report(made.scorecard, folder / "single", ("html", "json", "md"))
    write_report(made.scorecard, folder / "pages", ("html",), "pages")
    return folder


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "ragassay", *words, "--store", str(folder / "store")],
        cwd=folder, capture_output=True, text=True, check=False,
        env={"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Any]:  # the run comes first: Playwright leaves no room for another event loop
    with running() as found:
        yield found


@pytest.mark.parametrize("name", ["single", "pages"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_runs_and_nothing_is_requested(browser: Any, folder: Path, name: str, scheme: str) -> None:
    address = (folder / name / "scorecard.html").as_uri()
    with quiet_page(browser, address, color_scheme=scheme) as page:
        page.get_by_role("button", name="Open all shown").click()
        for word in ("<script>", "calc", "red"):
            page.get_by_role("searchbox").fill(word)
        page.get_by_role("button", name="Clear filters").click()
        assert page.evaluate("window.pwned") is None
        assert page.locator("img, iframe, base, object, embed, link, form").count() == 0
        assert page.locator("svg script, [onload], [onerror], [style]").count() == 0
        assert not page.locator("a[href]:not([href^='#']):not([href^='scorecard'])").count()
        assert not STEERING.search(page.evaluate("document.documentElement.outerHTML"))
        assert "<script>window.pwned=1</script>" in page.locator("#list").inner_text()
        page.emulate_media(media="print")
        assert page.evaluate("window.pwned") is None


def test_files_of_machines_are_clean(folder: Path) -> None:
    command(folder, "report", "--out", "again", "--junit", "junit.xml", "--github-summary")
    junit = (folder / "junit.xml").read_text("utf-8")
    assert not STEERING.search(junit)
    root = ET.fromstring(junit)
    assert len(list(root.iter("testcase"))) == len(BAIT) + 1
    for path in ("summary.md", "again/scorecard.md"):
        text = (folder / path).read_text("utf-8")
        assert not STEERING.search(text)
        html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
        assert not re.search(r"<(script|img|svg|iframe|style|base|a)\b", html), path


def test_csv_has_no_formula_and_keeps_every_id(folder: Path) -> None:
    from ragassay.report import tables

    for table in ("observations", "estimates", "fates"):
        command(folder, "export", f"{table}.csv", f"{table}.parquet", "--table", table)
        text = (folder / f"{table}.csv").read_text("utf-8")
        assert not STEERING.search(text)
        assert "\t" not in text
        numbers = {column.name for column in getattr(tables, table.upper()) if column.kind != "text"}
        for row in csv.DictReader(text.splitlines()):
            for name, cell in row.items():
                assert name in numbers or cell.strip()[:1] not in tuple("=+-@|%＝＋－＠"), cell
    back = tables.read_csv(folder / "observations.csv", tables.OBSERVATIONS)
    assert {str(row[0]).rpartition(" ")[2] for row in back} == {str(n) for n in range(len(BAIT))}
    assert any(str(row[0]).startswith("＝1+1") for row in back)


def test_the_terminal_is_not_steered(folder: Path) -> None:
    for words in (["report", "--out", "third"], ["runs"], ["runs", "trend"], ["store", "refs"], ["score", "hostile"]):
        done = command(folder, *words)
        assert not STEERING.search(done.stdout + done.stderr), words
