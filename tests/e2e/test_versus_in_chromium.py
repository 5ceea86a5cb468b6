"""The page of a comparison in a real browser: it opens on what changed, needs no script, and nothing hostile runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.chromium import quiet_page, running
from tests.unit.report import versus_sample

from ragassay.report.versus import html, versus

pytestmark = pytest.mark.browser
CHANGED = ["a-1", "u-1", "u-2", "a-2", "h-1"]
ALL = [*CHANGED, "a-3", "a-4", "m-1", "x-1", "c-1", "n-1"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with running() as found:
        yield found


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the hand-made comparison, whose question h-1, documents and settings are hostile."""
    folder = tmp_path_factory.mktemp("versus")
    found = versus_sample.made(folder / "store")
    path = folder / "versus.html"
    path.write_text(html(versus(found.store, found.comparison)), "utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page on the comparison; fails the test on a console message, a script error or a request."""
    with quiet_page(browser, address, **getattr(request, "param", {})) as page:
        yield page


def shown(page: Any) -> list[str]:
    return page.eval_on_selector_all("#list > .q:not(.off) .id", "all => all.map(one => one.textContent)")


def test_opens_on_changed_and_the_address_keeps_every_other_choice(opened: Any, address: str) -> None:
    assert shown(opened) == CHANGED
    assert opened.get_by_role("button", name="Changed").get_attribute("aria-pressed") == "true"
    assert opened.url == address
    opened.get_by_role("button", name="Clear filters").click()
    assert sorted(shown(opened)) == sorted(ALL)
    assert opened.url == address + "#filter?"
    opened.reload()
    assert len(shown(opened)) == len(ALL)
    opened.get_by_role("button", name="Changed").click()
    assert opened.url == address


@pytest.mark.parametrize(
    ("chip", "ids"),
    [
        ("Regressed", ["a-1", "u-1"]),
        ("Improved", ["a-2"]),
        ("Errors", ["u-2", "a-4"]),
        ("Undefined", ["u-1", "u-2", "h-1", "x-1"]),
        ("Missing", ["n-1"]),
        ("Unjudged", ["n-1"]),
    ],
)
def test_each_chip_shows_its_questions(opened: Any, chip: str, ids: list[str]) -> None:
    opened.get_by_role("button", name="Changed").click()
    opened.get_by_role("button", name=chip).click()
    assert shown(opened) == ids


def test_chips_join_within_and_narrow_between_groups(opened: Any) -> None:
    opened.get_by_role("button", name="Changed").click()
    opened.get_by_role("button", name="Regressed").click()
    opened.get_by_role("button", name="Improved").click()
    assert shown(opened) == ["a-1", "u-1", "a-2"]
    opened.get_by_role("button", name="unanswerable").click()
    assert shown(opened) == ["u-1"]
    assert opened.locator("#shown").inner_text() == "1 of 11 questions shown"


@pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True)
def test_works_without_script(opened: Any) -> None:
    assert opened.locator("h1").inner_text() == "today against yesterday"
    assert not opened.locator("#filters").is_visible()
    assert len(shown(opened)) == len(ALL)
    row = opened.locator("#q0")
    row.locator("summary").first.click()
    assert row.locator("del").first.inner_text() == "revision tuple"
    assert row.locator("ins").first.inner_text() == "cache entry"
    assert row.get_by_text("gone", exact=True).first.is_visible()


@pytest.mark.parametrize("opened", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True)
def test_nothing_hostile_runs(opened: Any) -> None:
    opened.get_by_role("button", name="Open all shown").click()
    assert opened.locator("#list > details[open]").count() == len(CHANGED)
    opened.get_by_role("searchbox").fill("<script>")
    assert shown(opened) == ["u-2", "h-1"]
    assert opened.evaluate("window.pwned") is None
    assert opened.locator("body > script").count() == 1
    assert opened.locator("img, iframe, base, object, embed, form, [style], [onload], [onerror]").count() == 0
    assert not opened.locator("a[href]:not([href^='#'])").count()
    assert "<script>window.pwned = 1</script>" in opened.locator("#changes").inner_text()
    assert "\u202e" not in opened.content()


@pytest.mark.parametrize("opened", [{"color_scheme": "dark"}], indirect=True)
def test_dark_is_dark_and_marks_keep_their_colours(opened: Any) -> None:
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 22, 20)"
    fill = "one => getComputedStyle(one).fill"
    assert opened.eval_on_selector(".effect.better .mark", fill) == "rgb(88, 187, 157)"
    assert opened.eval_on_selector(".effect.worse .mark", fill) == "rgb(242, 144, 108)"


def test_the_picture_has_a_text_and_all_of_it_is_inside(opened: Any) -> None:
    picture = opened.get_by_role("img", name="paired effects with their intervals")
    assert "unsupported_answer, unanswerable: +0.500, +0.200 to +0.800, worse" in picture.get_attribute("aria-label")
    outside = """all => all.filter(one => {
      const box = one.getBBox(), view = one.ownerSVGElement.viewBox.baseVal;
      return box.x < 0 || box.y < 0 || box.x + box.width > view.width || box.y + box.height > view.height;
    }).map(one => one.textContent)"""
    assert opened.eval_on_selector_all(".forest text", outside) == []


def test_a_lost_fact_leads_to_its_question(opened: Any) -> None:
    opened.locator("#losses a", has_text="a-1").click()
    opened.wait_for_selector("#q0[open]")


def test_everything_is_reached_and_opened_by_keyboard(opened: Any) -> None:
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.className") == "skip"
    chip = opened.get_by_role("button", name="Changed")
    chip.focus()
    opened.keyboard.press("Space")
    assert chip.get_attribute("aria-pressed") == "false"
    opened.locator("#print-all").focus()
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.parentElement.id") == "q0"
    assert opened.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    opened.keyboard.press("Enter")
    assert opened.evaluate("document.getElementById('q0').open")


@pytest.mark.parametrize("opened", [{"viewport": {"width": 390, "height": 844}}], indirect=True)
def test_phone_has_no_sideways_scroll(opened: Any) -> None:
    opened.get_by_role("button", name="Open all shown").click()
    for closed in opened.locator("details.more > summary").all():
        closed.click()
    assert opened.evaluate("document.documentElement.scrollWidth") == 390
    assert opened.evaluate("[...document.querySelectorAll('.scroll')].some(one => one.scrollWidth > one.clientWidth)")


@pytest.mark.parametrize("opened", [{"viewport": {"width": 720, "height": 1000}}], indirect=True)
def test_print_has_all_but_the_closed_questions(opened: Any) -> None:
    opened.locator("#q0 > summary").click()
    opened.emulate_media(media="print")
    assert opened.locator("#q0 del").first.is_visible()
    assert not opened.locator("#q1 > summary").is_visible()
    assert not opened.locator("#filters").is_visible()
    assert opened.locator(".forest").is_visible()
    assert opened.locator(".more table").first.is_visible()
    assert opened.locator(".printnote").is_visible()
    ends = "all => all.map(one => one.getBoundingClientRect().right)"
    assert max(opened.eval_on_selector_all(".paired, .paired td, svg.forest", ends)) <= 720  # A4 less its margins


def test_names_and_heads_of_tables_and_regions(opened: Any) -> None:
    """What a screen reader needs: every region, group and picture is named, every column has a head, ids are unique."""
    bare = """() => {
      const unnamed = [...document.querySelectorAll('[role=region], [role=group], [role=img], input[type=search]')]
        .filter(one => !one.getAttribute('aria-label'));
      const heads = [...document.querySelectorAll('th')].filter(one => !one.scope || !one.textContent.trim());
      const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
      return [unnamed.length, heads.length, ids.length - new Set(ids).size];
    }"""
    assert opened.evaluate(bare) == [0, 0, 0]
