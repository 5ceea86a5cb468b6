"""Untrusted text made safe to show, and numbers made readable. Decides nothing about what is shown."""

from __future__ import annotations

import re

from ragassay.records import text as texts
from ragassay.records.canonical import digest_text
from ragassay.report.model import Cut

NOT_MEASURED = "not measured"
many = texts.many

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, escape among them; not tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028\u2029"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"  # bidi overrides, isolates, invisible operators
    "\ufffe\uffff\U000e0000-\U000e00ff\U000e01f0-\U000e0fff\ud800-\udfff]"  # tags, no characters, lone surrogates
    "|(?<![^\x00-\x7f\u200b-\u200f])[\u200c\u200d]"  # joiners that join nothing: those of Persian, Hindi, emoji stay
    "|(?<![#*0-9\x80-\U0010ffff])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"  # variation selectors that select nothing
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_MARKDOWN = re.compile(r"([\\`*_\[\]#|<>~&$]|@(?=\w)|:(?=//|[\w+-]+:)|(?<=[Ww]{3})\.)")


def cut(text: str, most: int) -> Cut:
    """The first `most` code points; when something is left out, with the digest of the whole."""
    if len(text) <= most:
        return Cut(text=text, total=len(text))
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return Cut(text=text[:most], total=len(text), digest=digest_text(whole))


def visible(text: str) -> str:
    """The text with every character that hides or reorders what follows shown as `[U+202E]`.

    Line breaks, tabs, joiners (emoji, Persian) and all letters stay as they are.
    """
    return HIDDEN.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)


def plain(text: str, most: int = 300) -> str:
    """One line for terminals and Markdown tables: escape sequences gone, hidden characters named, cut at `most`."""
    line = visible(" ".join(_ESCAPE.sub("", text).split()))
    return line if len(line) <= most else f"{line[:most]}… ({many(len(line), 'character')})"


def literal(text: str, most: int = 300) -> str:
    """`plain`, with everything that Markdown or HTML would read as markup escaped."""
    return _MARKDOWN.sub(r"\\\1", plain(text, most)).replace("\\<", "&lt;").replace("\\>", "&gt;")


def code(text: str) -> str:
    """A spelling as a code span, in which Markdown reads nothing; `literal` where it could break out of one."""
    line = plain(text)
    return literal(text) if not line or set(line) & set("`|<>&\\") else f"`{line}`"


def number(value: float, digits: int = 3) -> str:
    """A count without decimals, anything else with `digits`; thousands parted by commas."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.{digits}f}"


def value_text(value: float, unit: str | None) -> str:
    """A value in its unit: ratios with three decimals, times in milliseconds with two figures or more."""
    if unit == "":
        return number(value, 2)
    if unit in (None, "ratio", "0 or 1"):
        return f"{value:.3f}"
    if unit == "ms":
        return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms" if value >= 1 else f"{value:.2g} ms"
    return f"{number(value, 4 if abs(value) < 1 else 1)} {unit}"


def of(numerator: float | None, denominator: float | None) -> str:
    """`101 of 172`, or nothing where either is unknown."""
    if numerator is None or denominator is None:
        return ""
    return f"{_part(numerator)} of {_part(denominator)}"


def _part(value: float) -> str:
    """About four figures: enough to see where a quotient comes from; counts are whole."""
    return number(value, 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3)


def short(digest: str) -> str:
    """A digest short enough to read out, long enough to find."""
    return digest[:19]


def class_name(class_: str) -> str:
    """A class as a word of a sentence: `multi_hop` is multi-hop."""
    return class_.replace("_", "-")
