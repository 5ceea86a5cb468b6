"""What a text says once it is normalised and decoded: each view is one way in which a canary could be hidden in it.

Folding: tag letters become letters, invisible signs go, NFKC, look-alike letters of other scripts become Latin ones,
marks and case go, and so does everything that is neither letter nor digit. Decoding: base64, hexadecimal, percent and
entity and backslash escapes, rot13, and backwards; also one inside another, twice deep.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import json
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple
from urllib.parse import unquote_plus

MAX_TEXT = 2_000_000
"""Signs of a text that are looked at; a longer one is looked at in pieces."""
DEPTH = 2
_TAGS = range(0xE0020, 0xE007F)
_BASE64 = re.compile(
    r"[A-Za-z0-9+/_-](?:[A-Za-z0-9+/_-]|(?<=[A-Za-z0-9+/_-])\r?\n[ \t]*(?=[A-Za-z0-9+/_-])){11,}={0,2}"
)
_HEX = re.compile(r"(?:(?:0x|\\x|%|&#x)?[0-9a-fA-F]{2}[\s:;,-]?){8,}")
_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}")
_SAME = str.maketrans({"1": "l", "i": "l", "|": "l", "0": "o"})


class View(NamedTuple):
    """A text and how it was come by: `` (as it stands), base64, reversed+rot13, ..."""

    name: str
    text: str


@cache
def _look_alikes() -> dict[int, str]:
    """Sign of another script -> the Latin letter or digit that it looks like, by the table of the extra `probe`."""
    try:
        table = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_text("utf-8"))
    except ModuleNotFoundError:
        return {}
    found: dict[int, str] = {}
    for sign, others in table.items():
        if len(sign) != 1 or sign.isascii():
            continue
        plain = [one["c"].strip("\u200e\u200f") for one in others]
        letters = sorted(one for one in plain if len(one) == 1 and one.isascii() and one.isalnum())
        if letters:
            found[ord(sign)] = letters[0]
    return found


def has_look_alikes() -> bool:
    """Whether the table of look-alike letters is installed (the extra `probe`)."""
    return bool(_look_alikes())


def cleaned(text: str) -> str:
    """Tag letters as letters, invisible signs gone, NFKC, look-alikes as Latin letters; case and spaces stay."""
    if text.isascii():
        return text
    shown = "".join(
        chr(ord(sign) - 0xE0000) if ord(sign) in _TAGS else "" if unicodedata.category(sign) in ("Cf", "Mn") else sign
        for sign in unicodedata.normalize("NFKC", _unhidden(text))
    )
    # Marks are taken off before the table is asked: it knows letters, not letters with marks.
    split = unicodedata.normalize("NFKD", shown).translate(_look_alikes())
    return "".join(sign for sign in split if not unicodedata.combining(sign))


def _unhidden(text: str) -> str:
    """Variation selectors and joiners out, tag letters kept for what they spell."""
    return "".join(
        chr(ord(sign) - 0xE0000) if ord(sign) in _TAGS else sign for sign in text if not "\ufe00" <= sign <= "\ufe0f"
    )


def folded(text: str) -> str:
    """The letters and digits of a text in one form, without anything between them."""
    return "".join(sign for sign in cleaned(text).casefold() if sign.isalnum()).translate(_SAME)


def views(text: str, depth: int = DEPTH) -> Iterator[View]:
    """The text, and all that can be decoded from it, each once."""
    seen: set[str] = set()
    todo: list[tuple[View, int]] = [(View("", text[start : start + MAX_TEXT]), depth)
                                    for start in range(0, max(1, len(text)), MAX_TEXT)]  # fmt: skip
    while todo:
        view, left = todo.pop(0)
        if view.text in seen or not view.text.strip():
            continue
        seen.add(view.text)
        yield view
        if left:
            todo += [
                (View("+".join(filter(None, (view.name, name))), one), left - 1) for name, one in _decoded(view.text)
            ]


def _decoded(text: str) -> Iterator[tuple[str, str]]:
    plain = cleaned(text)
    for name, found in (("base64", _base64(plain)), ("hex", _hex(plain))):
        for one in found:
            yield name, one
    if "%" in plain and (undone := unquote_plus(plain, errors="replace")) != plain:
        yield "url", undone
    if "&" in plain and (undone := html.unescape(plain)) != plain:
        yield "entity", undone
    if _ESCAPE.search(plain):
        yield "escape", _ESCAPE.sub(lambda found: _sign(found.group()), plain)
    yield "rot13", codecs.decode(plain, "rot13")
    yield "reversed", plain[::-1]


def _sign(escape: str) -> str:
    number = int(escape[2:], 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def _base64(text: str) -> Iterator[str]:
    for match in _BASE64.finditer(text):
        run = re.sub(r"\s", "", match.group()).rstrip("=")
        if run.isalpha() and (run.islower() or run.isupper() or run.istitle()):
            continue  # a long word
        for start in range(4):  # what stands before it may be of the same signs
            part = run[start:].replace("-", "+").replace("_", "/")
            part = part[: len(part) - (len(part) % 4 == 1)]
            with_end = part + "=" * (-len(part) % 4)
            try:
                yield from _text_of(base64.b64decode(with_end, validate=True))
            except (binascii.Error, ValueError):
                continue


def _hex(text: str) -> Iterator[str]:
    for match in _HEX.finditer(text):
        digits = re.sub(r"0x|\\x|&#x|[^0-9a-fA-F]", "", match.group())
        for start in (0, 1):
            part = digits[start:]
            yield from _text_of(bytes.fromhex(part[: len(part) // 2 * 2]))


def _text_of(data: bytes) -> Iterator[str]:
    """Bytes as text, if they are mostly letters and the like."""
    said = data.decode("utf-8", "replace")
    if len(said) >= 4 and sum(sign.isprintable() and sign != "\ufffd" for sign in said) >= 0.8 * len(said):
        yield said
