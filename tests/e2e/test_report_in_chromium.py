"""The report in a real browser: no script needed, no request made, nothing hostile runs, filters and keys work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.e2e.chromium import quiet_page, running
from tests.unit.report import sample

from ragassay import report
from ragassay.records.trace import Answer

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")  # no longer: while Playwright runs, no other test can start an event loop
def browser() -> Iterator[Any]:
    with running() as found:
        yield found


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the hand-made run, with one answer of a megabyte."""
    long = msgspec.structs.replace(sample.contents()[1], answer=Answer(text=sample.HOSTILE * 5_000))
    contents = tuple(long if one.query_id == "a-2" else one for one in sample.contents())
    path: Path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report.html(report.build(sample.material(contents=contents))), "utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page on the report; fails the test on a console message, a script error or a request."""
    with quiet_page(browser, address, **getattr(request, "param", {})) as page:
        yield page


def shown(page: Any) -> list[str]:
    return page.eval_on_selector_all(".q:not(.off) .id", "all => all.map(one => one.textContent)")


@pytest.mark.parametrize("opened", [{"java_script_enabled": False}], indirect=True)
def test_works_without_script(opened: Any) -> None:
    assert opened.locator("h1").inner_text() == "reference BM25 on hand 1"
    assert not opened.locator("#filters").is_visible()
    row = opened.locator("#q0")
    assert not row.get_by_text("Expected evidence", exact=True).is_visible()
    row.locator("summary").first.click()
    assert row.get_by_text("Expected evidence", exact=True).is_visible()
    assert row.locator("sup").inner_text() == "[1]"


def test_style_holds_under_the_policy_and_nothing_hostile_ran(opened: Any) -> None:
    assert opened.evaluate("getComputedStyle(document.body).marginTop") == "0px"
    assert opened.locator("#filters").is_visible()
    assert opened.evaluate("window.pwned") is None
    for number in range(11):
        opened.locator(f"#q{number} > summary").click()
    assert opened.evaluate("window.pwned") is None
    assert opened.locator("body > script").count() == 1
    assert "<script>window.pwned = 1</script>" in opened.locator("#q8 .said").first.inner_text()
    assert "characters shown" in opened.locator("#q1 .cutnote").first.inner_text()


def test_chips_narrow_within_and_between_groups(opened: Any) -> None:
    assert len(shown(opened)) == 11
    opened.get_by_role("button", name="Lost evidence").click()
    assert shown(opened) == ["a-2", "m-1"]
    opened.get_by_role("button", name="multi-hop").click()
    assert shown(opened) == ["m-1"]
    assert opened.locator("#shown").inner_text() == "1 of 11 questions shown"
    opened.get_by_role("button", name="Clear filters").click()
    opened.get_by_role("button", name="Errors").click()
    assert shown(opened) == ["a-4"]
    opened.get_by_role("button", name="Never found").click()
    assert shown(opened) == ["a-3", "a-4"]
    opened.get_by_role("button", name="abstained").click()
    assert shown(opened) == ["a-3"]


@pytest.mark.parametrize(
    ("flag", "ids"),
    [("Undefined", ["u-1", "u-2", "x-1", "h-1"]), ("Missing", ["n-1"]), ("Not theirs", ["x-1"])],
)
def test_each_kind_of_no_value_has_its_chip(opened: Any, flag: str, ids: list[str]) -> None:
    opened.get_by_role("button", name=flag).click()
    assert shown(opened) == ids


def test_search_finds_evidence_and_the_address_keeps_it(opened: Any, address: str) -> None:
    opened.get_by_role("searchbox").fill("midnight CACHE")
    assert shown(opened) == ["a-3"]
    assert opened.url.endswith("#filter?search=midnight+CACHE")
    kept = opened.url
    opened.get_by_role("button", name="Clear filters").click()
    assert opened.url == address
    opened.evaluate("address => { location.href = address }", kept)
    opened.reload()
    assert shown(opened) == ["a-3"]


def test_link_to_a_question_opens_it(opened: Any) -> None:
    opened.locator("#other a", has_text="x-1").click()
    opened.wait_for_selector("#q7[open]")


def test_everything_is_reached_and_opened_by_keyboard(opened: Any) -> None:
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.className") == "skip"
    opened.locator("#search").focus()
    for name in ("Clear filters", "Open all shown"):
        opened.keyboard.press("Tab")
        assert opened.evaluate("document.activeElement.textContent") == name
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.id") == "print-all"
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.parentElement.id") == "q0"
    assert opened.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    opened.keyboard.press("Enter")
    assert opened.evaluate("document.getElementById('q0').open")
    chip = opened.get_by_role("button", name="Lost evidence")
    chip.focus()
    opened.keyboard.press("Space")
    assert chip.get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("opened", [{"viewport": {"width": 390, "height": 844}}], indirect=True)
def test_phone_has_no_sideways_scroll(opened: Any) -> None:
    for number in range(11):
        opened.locator(f"#q{number} > summary").click()
    for closed in opened.locator("details.more > summary").all():
        if closed.is_visible():
            closed.click()
    assert opened.evaluate("document.documentElement.scrollWidth") == 390
    assert opened.evaluate("[...document.querySelectorAll('.scroll')].some(one => one.scrollWidth > one.clientWidth)")


@pytest.mark.parametrize("opened", [{"color_scheme": "dark"}], indirect=True)
def test_dark_is_dark(opened: Any) -> None:
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 22, 20)"


def test_print_has_the_scorecard_and_only_the_open_questions_unless_asked_for_all(opened: Any) -> None:
    first, second = (opened.locator(f"#q{one}").get_by_text("Expected evidence", exact=True) for one in (0, 1))
    opened.locator("#q1 > summary").click()
    opened.emulate_media(media="print")
    assert not first.is_visible()
    assert second.is_visible()
    assert not opened.locator("#q0 > summary").is_visible()
    assert not opened.locator("#filters").is_visible()
    assert opened.locator(".more table").first.is_visible()
    assert opened.locator(".printnote").is_visible()
    short = len(opened.pdf(format="A4"))
    opened.emulate_media(media="screen")
    opened.locator("#print-all").check()
    opened.emulate_media(media="print")
    assert first.is_visible()
    assert not opened.locator(".printnote").is_visible()
    assert len(opened.pdf(format="A4")) > short + 20_000


@pytest.fixture(scope="session")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the run of `examples/refusal.py`, made by its own process: it has an event loop of its own."""
    folder = tmp_path_factory.mktemp("refusal")
    script = Path(__file__).parents[2] / "examples" / "refusal.py"
    subprocess.run([sys.executable, script, "--out", folder], check=True, capture_output=True)
    return (folder / "scorecard.html").as_uri()


@pytest.mark.parametrize("settings", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}])
def test_refusal_is_drawn_inside_its_frames(browser: Any, refusing: str, settings: dict[str, Any]) -> None:
    outside = """all => all.filter(one => {
      const box = one.getBoundingClientRect(), view = one.ownerSVGElement.getBoundingClientRect();
      return box.left < view.left - 1 || box.top < view.top - 1
        || box.right > view.right + 1 || box.bottom > view.bottom + 1;
    }).map(one => one.outerHTML)"""
    with quiet_page(browser, refusing, **settings) as page:
        assert page.locator("#refusal svg.curve").count() == 4
        picture = page.get_by_role("img", name="Risk by coverage, answerable")
        assert "at coverage 0.5 the risk is 0.037" in picture.get_attribute("aria-label")
        assert page.eval_on_selector_all("svg.curve text, svg.curve .mark, svg.curve .way", outside) == []
        ground = page.evaluate("getComputedStyle(document.querySelector('.dimension')).backgroundColor")
        assert page.evaluate("getComputedStyle(document.querySelector('.curve .mark')).fill") != ground
        assert page.evaluate("document.documentElement.scrollWidth") == page.viewport_size["width"]
        assert page.locator("#refusal").get_by_text("p3", exact=True).first.is_visible()
