"""HTML to text: by hand against what a browser shows, structure for the heading chunker, hostile pages."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.corpus import chunk, read, read_folder
from ragassay.corpus.html_pages import page_of
from ragassay.errors import InputError, MissingExtraError

PAGE = """<!doctype html><html><head><title> A &amp;
 B </title><style>x{}</style></head><body><h1>Top <i>one</i></h1><p>One <b>two</b><br>three&nbsp;&eacute;</p>
<script>alert("<p>no")</script><template><p>no</p></template><!-- <p>no -->
<ul><li>a<ul><li>a1<li>a2</ul><li>b<p>more</ul><ol><li>x</li><li>y</li></ol>
<table><tr><th>os<th>cmd<tr><td>mac<td>a|b</table><pre>
code
  # x
</pre><blockquote><p>q1<p>q2</blockquote><table><tr><td><h2>In</h2><p>layout</td></tr></table>
<img alt=pic src=x></body>"""


def test_structure_is_kept_as_markdown() -> None:
    parser, title, text = page_of(PAGE)
    assert title == "A & B"
    assert parser.startswith("html/1 lxml/")
    assert text == (
        "# Top one\n\nOne two\nthree\u00a0é\n\n- a\n  - a1\n  - a2\n- b\n  more\n1. x\n2. y\n\n"
        "| os | cmd |\n|---|---|\n| mac | a\\|b |\n\n```\ncode\n  # x\n```\n\n> q1\n\n> q2\n\n## In\n\nlayout\n\npic"
    )


def test_the_heading_chunker_sees_the_headings_of_a_page(tmp_path: Path) -> None:
    (tmp_path / "p.html").write_text("<h1>A</h1><h2>B</h2><p>b</p><h2>C</h2><p>c</p>")
    found = read(tmp_path)
    assert (found.format, found[0].document_id) == ("folder", "p.html")
    assert [one.text for one in chunk(found, chunker="markdown")] == ["# A\n\n## B\n\nb", "# A\n\n## C\n\nc"]


def test_a_page_in_the_encoding_that_it_declares(tmp_path: Path) -> None:
    path = tmp_path / "p.html"
    path.write_bytes('<meta charset="iso-8859-1"><p>café \x93</p>'.encode("latin-1"))
    (one,) = read(path)
    assert (one.text, one.lossy, one.document_id) == ("café “", False, "p.html")
    path.write_bytes("<p>café</p>".encode("latin-1"))
    (one,) = read(path)
    assert (one.text, one.lossy) == ("caf\ufffd", True)
    (one,) = read(path, encoding="latin-1")
    assert one.text == "café"


def test_a_folder_names_what_it_did_not_read_and_skips_what_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "b.txt").write_bytes(b"a\0b")
    (tmp_path / "c.pdf").write_bytes(b"%PDF-")
    with pytest.raises(InputError, match="NUL"):
        read_folder(tmp_path)
    found = read_folder(tmp_path, on_error="skip")
    assert ([one.document_id for one in found], found.unread) == (["a.md"], ["c.pdf"])
    assert [(one.file, one.line) for one in found.skipped] == [("b.txt", None)]


def test_without_lxml_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from ragassay.corpus import html_pages

    html_pages._lxml.cache_clear()
    monkeypatch.setitem(sys.modules, "lxml", None)
    with pytest.raises(MissingExtraError, match="lxml") as caught:
        page_of("<p>x")
    assert "ragassay[html]" in caught.value.hint
    html_pages._lxml.cache_clear()


@pytest.mark.parametrize(
    "unit", ["<div>", "<b>", "<li>", "<blockquote>", "<ul><li>", "<table><tr><td>", "<a b=", "<!--", "<h1>", "<pre>",
             "&#", "</p>", "<script>", "<svg><title>", "<p a1=1 a2=2>", "<td>x", "<textarea>", "|", "```\n"],
)  # fmt: skip
def test_deep_and_unclosed_pages_take_no_more_than_their_length(unit: str) -> None:
    _, _, text = page_of(unit * (400_000 // len(unit)))  # what is quadratic takes minutes
    assert len(text) < 16_000_000
    page_of("<p " + " ".join(f"a{number}=1" for number in range(20_000)) + ">x")


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp", "Cn", "Co"]), min_size=1)


@given(st.lists(WORDS, min_size=1, max_size=6))
@settings(deadline=None, max_examples=100)
def test_words_in_paragraphs_come_out_as_they_are(words: list[str]) -> None:
    page = "".join(f"<p>{escape(one)}</p>" for one in words)
    assert page_of(page)[2] == "\n\n".join(words)


@given(st.text(max_size=80))
@settings(deadline=None, max_examples=200)
def test_no_text_raises_anything_and_no_script_survives(text: str) -> None:
    assert "never(seen)" not in page_of(f"<script>never(seen)</script>{text}")[2]
    page_of(text)
