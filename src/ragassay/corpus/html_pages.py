"""HTML to text with its structure kept as Markdown, with the extra `html` (lxml). Renders, runs and fetches nothing."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from ragassay.errors import InputError, MissingExtraError
from ragassay.records.provenance import Provenance
from ragassay.records.text import shown

MOST_PAGE_BYTES = 16 * 1024 * 1024
_DROPPED = frozenset(
    (
        *("script", "style", "template", "noscript", "iframe", "object", "embed", "applet", "svg", "math", "canvas"),
        *("audio", "video", "select", "textarea"),
    )
)
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "body", "blockquote", "button", "caption", "center", "dd", "details"),
        *("dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset"),
        *("header", "hgroup", "hr", "html", "legend", "main", "menu", "nav", "ol", "p", "section", "summary", "ul"),
    )
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACE = re.compile(r"[ \t\n\f\r]+")
_FENCES = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_LABELS = {
    "utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "cp1252", "ascii": "cp1252", "iso-8859-1": "cp1252",
    "latin1": "cp1252", "windows-1252": "cp1252", "iso-8859-15": "iso-8859-15", "windows-1250": "cp1250",
    "windows-1251": "cp1251", "koi8-r": "koi8-r", "shift_jis": "shift_jis", "euc-jp": "euc-jp", "gb2312": "gb18030",
    "gbk": "gb18030", "gb18030": "gb18030", "big5": "big5", "euc-kr": "euc-kr",
}  # fmt: skip
_META = {"copyright": "owner", "dcterms.rightsholder": "owner", "dcterms.license": "licence"}
"""Name of a `<meta>` -> the fact that it states."""
_DEEPEST = 12
"""Lists and quotations nested deeper than this are not indented further."""


class PageRead(NamedTuple):
    """A page as text."""

    parser: str
    title: str | None
    text: str
    provenance: Provenance | None
    """What the page says of itself: `rel=license`, `rel=canonical`, `<meta name=copyright>`."""


def page_of(text: str) -> tuple[str, str | None, str]:
    """Which parser made it, the page's title, and its text; see `read_page`."""
    return read_page(text)[:3]


def read_page(text: str) -> PageRead:
    """A page of HTML as text.

    Headings become `#` to `######`, list items `-` or `1.`, tables rows of `| a | b |`, `<pre>` a fenced block,
    quotations `>`; blocks are parted by a blank line. White space is collapsed as a browser does it. Scripts, styles,
    templates, form choices, frames, drawings and comments are dropped; an image leaves its alternative text. Nothing
    that looks like boilerplate is removed, and signs that mean something in Markdown are not escaped, except `|` in a
    table. A table that holds headings is taken as layout. MissingExtraError without lxml.
    """
    if len(text) > MOST_PAGE_BYTES:
        raise InputError(f"a page of more than {MOST_PAGE_BYTES} bytes", hint="split it")
    etree, parser = _lxml()
    page = _Page()
    if text.strip():
        target = etree.HTMLParser(target=page, encoding="utf-8", recover=True, huge_tree=True, no_network=True)
        try:
            target.feed(text.encode("utf-8"))
            target.close()
        except etree.LxmlError as cause:
            if page.seen:
                raise InputError(f"cannot be read as HTML: {cause}", hint="save it again, or as text") from None
    return PageRead(parser, page.title(), page.text(), page.provenance())


def declared_encoding(raw: bytes) -> str | None:
    """The encoding that a page declares in a `<meta>` near its beginning, if it is one that is read here."""
    found = _CHARSET.search(raw[:4096])
    return _LABELS.get(found[1].decode("ascii").lower()) if found else None


@cache
def _lxml() -> tuple[Any, str]:
    try:
        from lxml import etree
    except ImportError:
        raise MissingExtraError(
            "HTML needs lxml, which is not installed", hint="pip install 'ragassay[html]'"
        ) from None
    versions = ".".join(map(str, etree.LXML_VERSION[:3])), ".".join(map(str, etree.LIBXML_VERSION))
    return etree, f"html/1 lxml/{versions[0]} libxml2/{versions[1]}"


class _Page:
    """What the parser's events make: blocks of text. Holds no tree, so depth costs nothing."""

    def __init__(self) -> None:
        self.seen = False
        self._blocks: list[tuple[str, str]] = []  # kind ("item", "row" or "") and text
        self._inline: list[str] = []
        self._title: list[str] | None = None
        self._in_title = 0
        self._dropped = self._pre = self._quotes = 0
        self._heading = 0
        self._lists: list[int] = []  # next number of an ordered list, 0 of another
        self._marker = ""
        self._tables: list[_Table] = []
        self._told: dict[str, Any] = {}

    # The four events of a parser target.

    def start(self, tag: str, attributes: Any) -> None:
        self.seen = True
        if tag in ("link", "a", "meta"):
            self._notice(tag, attributes)
        if tag in _DROPPED:
            self._dropped += 1
        elif tag == "title":
            self._in_title += 1
            self._title = self._title if self._title is not None else []
        elif self._dropped:
            return
        elif tag == "br":
            self._inline.append("\n")
        elif tag == "img" and attributes.get("alt"):
            self._inline.append(f" {attributes['alt']} ")
        elif tag in _HEADINGS:
            self._break()
            self._leave_tables()
            self._heading = _HEADINGS[tag]
        elif tag in ("table", "tr", "td", "th"):
            self._table_start(tag)
        elif tag == "pre":
            self._break()
            self._pre += 1
        elif tag in ("ul", "ol", "menu", "dir"):
            self._break()
            self._lists.append(1 if tag == "ol" else 0)
        elif tag == "li":
            self._item()
        elif tag in _BLOCKS:
            self._break()
            self._quotes += tag == "blockquote"

    def end(self, tag: str) -> None:
        if tag in _DROPPED:
            self._dropped = max(0, self._dropped - 1)
        elif tag == "title":
            self._in_title = max(0, self._in_title - 1)
        elif self._dropped:
            return
        elif tag in _HEADINGS:
            self._break()
            self._heading = 0
        elif tag in ("table", "tr", "td", "th"):
            self._table_end(tag)
        elif tag == "pre":
            self._break()
            self._pre = max(0, self._pre - 1)
        elif tag in ("ul", "ol", "menu", "dir"):
            self._break()
            self._marker = ""
            self._lists[-1:] = []
        elif tag == "li":
            self._break()
            self._marker = ""
        elif tag in _BLOCKS:
            self._break()
            self._quotes = max(0, self._quotes - (tag == "blockquote"))

    def data(self, text: str) -> None:
        if self._in_title and self._title is not None:
            self._title.append(text)
        elif not self._dropped:
            self._inline.append(text if self._pre else _SPACE.sub(" ", text))

    def close(self) -> None:
        self._break()
        while self._tables:
            self._table_end("table")

    # What they make.

    def title(self) -> str | None:
        return _SPACE.sub(" ", "".join(self._title or ())).strip() or None

    def text(self) -> str:
        parts: list[str] = []
        before = ""
        for kind, block in self._blocks:
            if parts:
                parts.append("\n" if kind and kind == before else "\n\n")
            parts.append(block)
            before = kind
        return "".join(parts)

    def provenance(self) -> Provenance | None:
        return Provenance(**self._told) if self._told else None

    def _notice(self, tag: str, attributes: Any) -> None:
        """What an element says of the whole page; of several, the first."""
        if tag == "meta":
            fact = _META.get(str(attributes.get("name", "")).strip().lower())
            said = attributes.get("content")
        else:
            relations = str(attributes.get("rel", "")).lower().split()
            origin = tag == "link" and "canonical" in relations
            fact = "licence" if "license" in relations else "origin" if origin else None
            said = attributes.get("href")
        if fact and said and said.strip():
            self._told.setdefault(fact, shown(said.strip(), limit=500))

    def _break(self) -> None:
        """End the block that stands open."""
        whole = "".join(self._inline)
        self._inline.clear()
        if self._tables and not self._tables[0].layout:
            if whole.strip():
                self._tables[0].add(_SPACE.sub(" ", whole))
            return
        if self._pre:
            self._put("", _fenced(whole)) if whole.strip() else None
            return
        lines = [_SPACE.sub(" ", line).strip() for line in whole.split("\n")]
        block = "\n".join(line for line in lines if line)
        if not block:
            return
        if self._heading:
            self._put("", f"{'#' * self._heading} {block.replace(chr(10), ' ')}")
        else:
            self._put("item" if self._lists else "", block)

    def _put(self, kind: str, block: str) -> None:
        indent = "  " * min(max(len(self._lists) - 1, 0), _DEEPEST)
        hanging = indent + "  " if self._lists else ""
        first = indent + self._marker if self._marker else hanging
        self._marker = ""
        quote = "> " * min(self._quotes, _DEEPEST)
        lines = block.split("\n")
        self._blocks.append((kind, "\n".join(quote + (hanging if at else first) + one for at, one in enumerate(lines))))

    def _item(self) -> None:
        self._break()
        number = self._lists[-1] if self._lists else 0
        self._marker = f"{number}. " if number else "- "
        if number:
            self._lists[-1] += 1

    def _table_start(self, tag: str) -> None:
        self._break()
        if tag == "table":
            self._tables.append(_Table())
        elif len(self._tables) == 1:
            self._tables[0].open(tag)

    def _table_end(self, tag: str) -> None:
        self._break()
        if tag == "table" and self._tables:
            table = self._tables.pop()
            if not self._tables:
                self._put_rows(table)

    def _leave_tables(self) -> None:
        """A heading inside a table: it lays out the page, and what is in its cells is text."""
        if self._tables and not self._tables[0].layout:
            self._put_rows(self._tables[0])
            self._tables[0].layout = True

    def _put_rows(self, table: _Table) -> None:
        for row in table.take():
            self._put("row", row)


class _Table:
    """Rows of one table, until a heading says that it is none."""

    def __init__(self) -> None:
        self.layout = False
        self._rows: list[list[str]] = []

    def open(self, tag: str) -> None:
        if tag == "tr" or not self._rows:
            self._rows.append([])
        if tag != "tr":
            self._rows[-1].append("")

    def add(self, text: str) -> None:
        if not self._rows or not self._rows[-1]:
            self.open("td")
        self._rows[-1].append(self._rows[-1].pop() + f" {text}")

    def take(self) -> list[str]:
        rows = [[one.strip().replace("|", "\\|") for one in row] for row in self._rows if any(map(str.strip, row))]
        self._rows = []
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return [*lines[:1], *([f"|{'---|' * len(rows[0])}"] if rows else []), *lines[1:]]


def _fenced(text: str) -> str:
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.strip(chr(10))}\n{fence}"
