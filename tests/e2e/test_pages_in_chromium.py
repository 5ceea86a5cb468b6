"""A report of several pages in a real browser, from the disk: filters over all pages, keys, links, without a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.chromium import quiet_page, running
from tests.unit.report.many import many

from ragassay.cli.report import write_report

pytestmark = pytest.mark.browser
COUNT = 650


@pytest.fixture(scope="module")
def card() -> Any:
    return many(COUNT)


@pytest.fixture(scope="module")
def folder(card: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    write_report(card, folder, ("html",))
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with running() as found:
        yield found


@pytest.fixture
def opened(browser: Any, folder: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    address = (folder / "scorecard.html").as_uri()
    with quiet_page(browser, address, folder.as_uri(), **getattr(request, "param", {})) as page:
        yield page


def result(page: Any) -> list[str]:
    """The ids of all rows that are seen, those of other pages as links behind those of this page."""
    while page.locator("#further-button").is_visible():
        page.locator("#further-button").click()
    return page.eval_on_selector_all(
        "#list > .q:not(.off) .id, #away > .q .id", "all => all.map(one => one.textContent)"
    )


@pytest.mark.parametrize(
    "name, flag",
    [("Lost evidence", "lost"), ("Failed", "failed"), ("Errors", "error"), ("Undefined", "undefined"),
     ("Missing", "missing"), ("Unjudged", "unjudged"), ("Never found", "never_found"), ("Not theirs", "denied")],
)  # fmt: skip
def test_a_chip_finds_its_questions_on_all_pages_and_counts_them(opened: Any, card: Any, name: str, flag: str) -> None:
    wanted = {one.query_id for one in card.questions if flag in one.flags}
    chip = opened.locator(".chip", has_text=re.compile(f"^{name}"))
    assert chip.inner_text() == f"{name} {len(wanted)}"
    chip.click()
    assert opened.locator("#shown").inner_text().startswith(f"{len(wanted)} of {COUNT} questions shown")
    assert len(found := result(opened)) == len(wanted)
    assert set(found) == wanted
    assert not opened.locator("#pager").is_visible()


def test_groups_and_search_narrow_each_other(opened: Any, card: Any) -> None:
    opened.locator(".chip", has_text="Never found").click()
    opened.locator(".chip", has_text="answerable").first.click()
    opened.get_by_role("searchbox").fill("A-3 OLD")
    wanted = {
        one.query_id
        for one in card.questions
        if "never_found" in one.flags and one.class_ == "answerable"
        and all(word in f"{one.query_id} {one.query.text}".lower() for word in ("a-3", "old"))
    }  # fmt: skip
    assert 1 < len(wanted) < 100
    assert set(result(opened)) == wanted
    kept = opened.url
    opened.reload()
    assert opened.url == kept
    assert set(result(opened)) == wanted
    opened.get_by_role("button", name="Clear filters").click()
    assert opened.locator("#shown").inner_text() == f"100 of {COUNT} questions stand here"
    assert opened.locator("#pager").is_visible()


def test_keys_lead_from_the_search_to_a_question_on_another_page(opened: Any) -> None:
    opened.locator("#search").focus()
    opened.keyboard.type("u-1-58")
    assert result(opened) == ["u-1-58"]
    for _ in range(20):
        opened.keyboard.press("Tab")
        if opened.evaluate("document.activeElement.matches('#away > a')"):
            break
    opened.keyboard.press("Enter")
    opened.wait_for_url("**/scorecard-questions/*.html#q*")
    row = opened.locator(".q[open]")
    assert row.locator(".id").inner_text().endswith("u-1-58")
    assert row.get_by_text("Expected evidence", exact=True).is_visible()
    opened.get_by_role("link", name="Scorecard, all questions").first.click()
    opened.wait_for_url("**/scorecard.html#questions")
    opened.go_back()
    opened.go_back()
    assert result(opened) == ["u-1-58"], "the way back keeps the filter"


def test_siblings_search_all_their_text_and_lead_on(opened: Any, folder: Path) -> None:
    opened.goto((folder / "scorecard-questions" / "0002.html").as_uri())
    assert opened.locator("h1").inner_text() == f"Questions 301 to 500 of {COUNT}"
    opened.get_by_role("searchbox").fill("platinum ACME")
    assert 0 < len(result(opened)) < 200
    opened.get_by_role("link", name="Next →").first.click()
    opened.wait_for_url("**/0003.html")
    assert not opened.get_by_role("link", name="Next →").first.is_visible()
    opened.get_by_role("link", name="← Before").first.click()
    opened.wait_for_url("**/0002.html")


@pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True)
def test_without_script_every_question_is_reached_by_links(opened: Any, card: Any) -> None:
    assert not opened.locator("#filters").is_visible()
    seen = set(opened.locator("#list .id").all_inner_texts())
    links = [one.get_attribute("href") for one in opened.locator("#pager a").all()]
    home = opened.url
    for href in links[1:]:
        opened.goto(home.replace("scorecard.html", href))
        seen |= set(opened.locator("#list .id").all_inner_texts())
    assert {one.lstrip("▸ ") for one in seen} == {one.query_id for one in card.questions}


@pytest.mark.parametrize("opened", [{"viewport": {"width": 390, "height": 844}}], indirect=True)
def test_phone_has_no_sideways_scroll(opened: Any, folder: Path) -> None:
    opened.locator(".chip", has_text="Undefined").click()
    assert opened.evaluate("document.documentElement.scrollWidth") == 390
    opened.goto((folder / "scorecard-questions" / "0001.html").as_uri())
    assert opened.evaluate("document.documentElement.scrollWidth") == 390


def test_print_of_the_first_page_has_no_question(opened: Any) -> None:
    opened.emulate_media(media="print")
    assert not opened.locator("#list .q").first.is_visible()
    assert not opened.locator("#pager").is_visible()
    assert opened.locator(".printnote").inner_text().startswith(f"{COUNT} questions;")


def test_ten_thousand_lines_are_filtered_at_once(browser: Any, tmp_path: Path) -> None:
    """The overview of 10,000 questions; their own pages are not needed for it."""
    from ragassay.report import page, pages

    card = many(110)
    often = [card.questions[at % 110] for at in range(10_000)]
    places = [("scorecard.html", 0, 0), ("scorecard-questions/0001.html", 100, 10_000)]
    render = page.row_renderer(card)
    rows = [render(one, at) for at, one in enumerate(often[:100])]
    briefs = [page.brief(one) for one in often]
    listing = page.listing(briefs, rows)
    text = page.main_page(
        card, listing._replace(overview=pages.overview(listing, briefs, range(10_000), places),
                               links=[page.Link(1, 100, "scorecard.html", here=True)])
    )  # fmt: skip
    path = tmp_path / "scorecard.html"
    path.write_text(text, "utf-8")
    with quiet_page(browser, path.as_uri()) as opened:
        took = opened.evaluate(
            "() => { const search = document.getElementById('search'); const from = performance.now();"
            " search.value = 'cache'; search.dispatchEvent(new Event('input')); return performance.now() - from; }"
        )
        assert "of 10,000 questions shown" in opened.locator("#shown").inner_text()
    assert took < 1_000, "milliseconds, on a machine shared by others"
    assert len(text) < 4_000_000
