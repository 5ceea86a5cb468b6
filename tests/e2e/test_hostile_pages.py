"""Hostile text on the sibling pages of a large report, in a real browser: nothing runs, nothing is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.chromium import quiet_page, running
from tests.e2e.test_hostile_run import BAIT, STEERING

from ragassay import evaluate_sync
from ragassay.cli.report import write_report

pytestmark = pytest.mark.browser
ROUNDS = 24
"""Each bait asked so often: 312 questions, of which 100 stand on the first page."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose ids, questions, notes, answers, titles, urls, slices, step names and errors are all hostile."""
    documents = [
        {"document_id": f"{bait} {n}", "text": f"{bait} is number {n}. {bait}", "title": bait, "url": "javascript:1",
         "tenants": ["x"]} for n, bait in enumerate(BAIT)
    ]  # fmt: skip
    cases = [
        {
            "query_id": f"{bait} {turn} {n}", "query": f"{bait}? {n} {turn}", "slice": [f"s {bait}"], "notes": bait,
            "evidence": [{"id": f"e {bait}", "document_id": f"{bait} {n}", "grade": 3, "quote": f"is number {n}."}],
            "facts": [{"id": f"f {bait}", "text": bait, "any_of": [[f"e {bait}"]]}], "answers": [{"text": bait}],
            "principal": {"id": bait, "tenants": ["x" if turn % 2 else "y"]},
            "conversation": {"id": f"{bait} {turn}", "turn": 2, "history": [{"role": "user", "text": bait}]},
        }
        for turn in range(ROUNDS) for n, bait in enumerate(BAIT)
    ]  # fmt: skip

    def system(request: Any) -> Any:
        turn, n = map(int, request.query_id.split(" ")[-2:])
        bait = BAIT[n]
        if turn % 8 == 3:
            raise RuntimeError(bait * 2)
        found = [{"document_id": f"{BAIT[at % len(BAIT)]} {at % len(BAIT)}", "text": BAIT[at % len(BAIT)]}
                 for at in range(n, n + 1 + turn % 3)]  # fmt: skip
        return {
            "steps": [{"kind": "lexical", "name": f"find {bait[:40]}", "query_text": bait, "items_out": found}],
            "contexts": found[turn % 2 :],
            "answer": {"text": bait * 2, "outcome": "answered"},
            "versions": {"model": bait},
        }

    made = evaluate_sync(cases, system, documents=documents, as_of="2026-01-01", name="hostile")
    folder = tmp_path_factory.mktemp("hostile-pages")
    write_report(made.scorecard, folder, ("html",), "pages")
    return folder


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Any]:  # the run comes first: Playwright leaves no room for another event loop
    with running() as found:
        yield found


def siblings(folder: Path) -> list[Path]:
    return sorted((folder / "scorecard-questions").glob("*.html"))


def test_every_bait_stands_on_sibling_pages(folder: Path) -> None:
    pages = siblings(folder)
    assert len(pages) == 2
    ids = [one for path in pages for one in re.findall(r'<details class="q" id="q(\d+)"', path.read_text("utf-8"))]
    assert len(ids) == ROUNDS * len(BAIT) - 100
    assert {int(one) % len(BAIT) for one in ids} == set(range(len(BAIT)))


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("number", [0, 1])
def test_nothing_runs_and_nothing_is_requested(browser: Any, folder: Path, number: int, script: bool) -> None:
    path = siblings(folder)[number]
    with quiet_page(browser, path.as_uri(), java_script_enabled=script) as page:
        if script:
            for word in ("<script>", "calc", "red", "tags"):
                page.get_by_role("searchbox").fill(word)
            page.get_by_role("button", name="Clear filters").click()
            page.get_by_role("button", name="Open all shown").click()
            assert "<script>window.pwned=1</script>" in page.locator("#list").inner_text()
            page.emulate_media(media="print")
        assert page.evaluate("window.pwned") is None
        assert page.locator("img, iframe, base, object, embed, link, form").count() == 0
        assert page.locator("svg script, [onload], [onerror], [onclick], [style]").count() == 0
        hrefs = page.eval_on_selector_all("a[href]", "all => all.map(one => one.getAttribute('href'))")
        assert hrefs
        assert all(re.fullmatch(r"#[\w-]+|\.\./scorecard\.html(#\w+)?|\d{4}\.html", one) for one in hrefs), hrefs
        assert not STEERING.search(page.content())


def test_links_of_the_first_page_lead_to_hostile_questions_and_nothing_else(browser: Any, folder: Path) -> None:
    address = (folder / "scorecard.html").as_uri()
    with quiet_page(browser, address, folder.as_uri()) as page:
        for word in ("<script>", "javascript:", "SUM"):
            page.get_by_role("searchbox").fill(word)
            found = page.locator("#away > .q a, #away a").first
            assert found.count() == 1, f"{word} is found on sibling pages"
        found.click()
        page.wait_for_url("**/scorecard-questions/*.html#q*")
        assert page.evaluate("window.pwned") is None
        page.go_back()
        assert page.evaluate("window.pwned") is None
        assert not STEERING.search(page.evaluate("document.documentElement.outerHTML"))
