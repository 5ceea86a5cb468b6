"""HTML, Markdown, JSON, notebook and terminal text: the same numbers, hostile text harmless, bytes stable."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report import sample

from ragassay import report
from ragassay.records.score import Bounds
from ragassay.records.trace import Answer, Item, Step
from ragassay.report import page, words

VOID = {"meta", "br", "input", "img", "link", "hr"}


class Reader(HTMLParser):
    """Elements, attributes and text of a page; fails on tags that do not close in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-3:]} at {self.getpos()}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["script"]):
            self.text.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def card() -> report.Scorecard:
    return report.build(sample.material())


@pytest.fixture(scope="module")
def text(card: report.Scorecard) -> str:
    return report.html(card)


def test_page_is_well_formed_and_titled(text: str) -> None:
    found = read(text)
    tags = [tag for tag, _ in found.tags]
    assert text.startswith("<!doctype html>")
    assert tags.count("h1") == 1
    assert ("html", {"lang": "en"}) in found.tags
    tables = tags.count("table")
    assert tables > 10
    assert tags.count("caption") == tables
    assert all("scope" in attrs for tag, attrs in found.tags if tag == "th")
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_policy_names_the_hashes_of_the_only_style_and_script(text: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    said = policy.group(1).replace("&#39;", "'")
    assert said.startswith("default-src 'none'; style-src 'sha256-")
    for tag in ("style", "script"):
        bodies = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(bodies) == 1
        digest = base64.b64encode(hashlib.sha256(bodies[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in said
    assert "unsafe" not in said


def test_page_has_no_remote_asset_no_handler_no_style_attribute(text: str) -> None:
    for tag, attrs in read(text).tags:
        assert tag not in {"link", "iframe", "object", "embed", "img", "base", "form"}
        for name, value in attrs.items():
            assert not re.match("style$|on", name), (tag, name)
            if name in {"href", "src", "action"}:
                assert (value or "").startswith("#"), (tag, value)


def test_hostile_text_becomes_text(text: str) -> None:
    found = read(text)
    assert [tag for tag, _ in found.tags].count("script") == 1
    shown = "".join(found.text)
    assert "<script>window.pwned = 1</script>" in shown
    assert "[U+202E]right to left[U+202C]" in shown
    assert "[U+001B][31mred" in shown
    assert "{{ 7 * 7 }}" in shown
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_every_shown_number_of_the_verdict_is_in_all_forms(card: report.Scorecard, text: str) -> None:
    shown = "".join(read(text).text)
    markdown = report.markdown(card)
    fragment = "".join(read(report.notebook(card)).text)
    terminal = "\n".join(report.summary(card))
    for reason in card.verdict.reasons:
        assert reason in shown
        assert reason in fragment
        assert reason in terminal
        assert reason in re.sub(r"\\(.)", r"\1", markdown)
    assert "2 of 5" in shown
    assert "2 of 5" in markdown
    assert "2 of 5" in fragment


def test_cells_of_the_class_table_are_the_same_in_html_and_markdown(card: report.Scorecard, text: str) -> None:
    shown = re.sub(r"\s+", " ", "".join(read(text).text))
    markdown = report.markdown(card)
    for one in card.estimates:
        if one.value is not None and one.step and one.aggregation == "macro":
            assert f"{one.value:.3f}" in shown
            assert f"{one.value:.3f}" in markdown


def test_nothing_measured_shows_no_percentage_and_no_full_mark() -> None:
    empty = report.build(
        sample.material(estimates=(), observations=(), runtime=(), fates=(), survival=(), contents=(), measurements=())
    )
    shown = re.sub(r"\s+", " ", "".join(read(report.html(empty)).text))
    head = shown.partition("Everything under sealed")[0]
    assert head.count("not measured") > 10
    assert "%" not in head
    assert "1.000" not in head
    for words_ in (report.markdown(empty).partition("## What is sealed")[0], "\n".join(report.summary(empty))):
        assert "%" not in words_
        assert "1.000" not in words_
    assert "Nothing was measured" in report.markdown(empty)
    assert "not measured" in "\n".join(report.summary(empty))
    assert read(report.notebook(empty))


def test_a_megabyte_answer_is_cut_and_says_where_the_whole_is() -> None:
    first = msgspec.structs.replace(sample.contents()[0], answer=Answer(text="wort " * 200_000))
    made = report.html(report.build(sample.material(contents=(first, *sample.contents()[1:]))))
    assert len(made) < 300_000
    assert "4,000 of 1,000,000 characters shown" in made
    assert sample.digest("wort " * 200_000) in made


def test_markdown_has_no_markup_of_others(card: report.Scorecard) -> None:
    made = report.markdown(card)
    assert "\x1b" not in made
    assert "\u202e" not in made
    assert "<script" not in made
    assert "[l](javascript" not in made
    assert "**bold**" not in made
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in made.splitlines() if line.startswith("|")]
    tables = [list(block) for block in re.findall(r"(?:^\|.*\n?)+", made, re.MULTILINE)]
    assert widths
    assert tables
    for block in re.findall(r"(?:^\|.*$\n?)+", made, re.MULTILINE):
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(columns) == 1, block[:200]


def test_equal_scorecards_give_equal_bytes(card: report.Scorecard, text: str) -> None:
    again = report.build(sample.material())
    assert report.html(again) == text
    assert report.markdown(again) == report.markdown(card)


def test_languages_are_marked_where_known(text: str) -> None:
    assert re.search(r'lang="ja">再試行は何回ですか', text)
    assert re.search(r'class="text" dir="auto" lang="">What does the publisher', text)


def test_big_runs_stay_small() -> None:
    made = sample.material()
    items = tuple(sample.item("cache-limits", 0, rank, 9.0) for rank in range(1, 51))
    items = tuple(
        msgspec.structs.replace(
            one, sources=(), resolution="unresolved", item_id=f"i{n}", text_digest=sample.digest(str(n))
        )
        for n, one in enumerate(items)
    )
    steps = tuple(Step(step_id=f"s{n}", name=f"s{n}", kind="rerank", parents=(), items_out=items) for n in range(5))
    content = msgspec.structs.replace(made.contents[0], steps=steps, context=items[:5])
    cases, contents = [], []
    for number in range(60):
        cases.append(msgspec.structs.replace(made.cases[0], query_id=f"b-{number}"))
        contents.append(msgspec.structs.replace(content, query_id=f"b-{number}"))
    card = report.build(
        sample.material(cases=tuple(cases), contents=tuple(contents), fates=(), observations=(), runtime=())
    )
    assert len(card.questions[0].repeats[0].items) == 20
    assert card.questions[0].repeats[0].items_total == 50
    size = len(report.html(card).encode())
    assert size * 10 < page.WARN_BYTES, "600 questions x 5 steps x 50 items"
    assert report.weight_warning("x" * 10) is None
    assert "20 MB" in (report.weight_warning("x" * 21_000_000) or "")


def test_an_item_with_empty_text_and_no_source_is_shown() -> None:
    blank = Item(item_id="blank", rank=1, resolution="unresolved", transform="derived", text_digest=sample.digest(""))
    first = msgspec.structs.replace(sample.contents()[0], steps=(), context=(blank,))
    made = report.html(report.build(sample.material(contents=(first, *sample.contents()[1:]))))
    assert "unresolved" in made
    assert "blank" in made


@given(st.text(alphabet=st.characters(), max_size=60))
def test_visible_text_has_no_hidden_characters_and_loses_no_letter(text: str) -> None:
    shown = words.visible(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)
    told = re.sub(r"\[U\+([0-9A-F]+)\]", lambda code: chr(int(code[1], 16)), shown)  # letters that print nothing
    assert [one for one in text if one.isalpha()] == [one for one in told if one.isalpha()] or "[U+" in text


@given(st.text(max_size=200))
def test_literal_text_is_one_line_without_open_markup(text: str) -> None:
    made = words.literal(text)
    assert "\n" not in made
    assert "<" not in made
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*\[\]_]", made)


def test_markdown_links_nothing_and_mentions_nobody_yet_reads_like_text() -> None:
    assert words.literal("Not decided: no policy (yet).") == "Not decided: no policy (yet)."
    assert words.literal("http://a.b www.a.b @ann a@b.c :smile: <b>") == (
        r"http\://a.b www\.a.b \@ann a\@b.c \:smile: &lt;b&gt;"
    )
    assert words.code("recall(rel=2)@20") == "`recall(rel=2)@20`"
    assert words.code("a`|b") == r"a\`\|b"


def channel(value: int) -> float:
    part = value / 255
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    red, green, blue = (channel(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    """WCAG 2.2 contrast ratio."""
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("number", range(3), ids=("light", "dark", "print"))
def test_colours_reach_aa(number: int) -> None:
    blocks = re.findall(r":root \{(.*?)\}", page._asset("page.css"), re.DOTALL)
    assert len(blocks) == 3
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})\b", blocks[number]))
    colours = {name: one if len(one) == 7 else "#" + "".join(c * 2 for c in one[1:]) for name, one in colours.items()}
    for ground in ("paper", "card", "wash"):
        for name in ("ink", "soft", "brass", "held", "lost"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
        for name in ("edge", "parts", "never", "unknown"):
            assert contrast(colours[name], colours[ground]) >= 3, (name, ground)


def test_contrast_matches_published_pairs() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_what_unjudged_items_could_change_stands_beside_the_mean_and_the_score() -> None:
    """Every mean and every score with a value gets ends that nothing else in the sample has."""
    ends = Bounds(low=0.0123, high=0.9876)
    whole = report.html(
        report.build(
            sample.material(
                estimates=[
                    msgspec.structs.replace(one, unjudged=ends) for one in sample.estimates() if one.value is not None
                ],
                observations=[
                    msgspec.structs.replace(one, unjudged=ends)
                    for one in sample.observations()
                    if one.value is not None
                ],
            )
        )
    )
    shown = re.sub(r"\s+", " ", whole)
    assert shown.count("if the unjudged items had grades") > 3
    assert re.search(
        r"1\.\d+ ?% to 98\.\d+ ?% if the unjudged items had grades|0\.012\d* to 0\.98\d* if the unj", shown
    )
    assert "if the unjudged items had grades" not in report.html(report.build(sample.material()))
