"""Numbers, percentages, sums of money, measures and dates of a text, with their places. Compares none of them.

Digits with thousands separators by language, numbers in words (English, German, Spanish), Chinese and Japanese
numerals, and calendar dates in part or whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from ragassay.run.judges.lexical.numerals import FRACTIONS, LABELLED, MONTHS, SCALES, UNITS, WEEKDAYS, words_of

_TOKEN = re.compile(
    r"(?P<code>[A-Za-z\u00c0-\u024f]+\d[\w.-]*)"
    r"|(?P<iso>\d{4}-\d{2}-\d{2}(?!\d))|(?P<dots>\d{1,2}\.\d{1,2}\.\d{4}(?!\d))"
    r"|(?P<digits>\d+(?:[.,'’\u00a0\u202f]\d+)*)(?P<stop>\.(?=\s+[^\W\d]))?(?P<ordinal>(?:st|nd|rd|th)\b)?"
    r"|(?P<cjk>[零〇一二三四五六七八九十百千万億亿兆]+)(?=[年月日个人名円元%％万億亿度台])"
    r"|(?P<word>[^\W\d_]+)|(?P<sign>[$€£¥%％°年月日円元])"
)
_CJK = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0}
_CJK_SCALE = {"十": 10, "百": 100, "千": 1000}
_CJK_MYRIAD = {"万": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}
_LONGEST_DIGITS = 24


class Quantity(NamedTuple):
    """A number with its dimension, or a date; code points `start` to `end`."""

    kind: str
    """date, count, percent, label (`unit 2`), or a dimension of a unit."""
    value: float
    start: int
    end: int
    date: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Year, month, day, weekday; 0 where it is not said."""

    @property
    def key(self) -> str:
        """As it is compared word by word."""
        return "#" + (":".join(map(str, self.date)) if self.kind == "date" else f"{self.value:.10g}")


class _Token(NamedTuple):
    what: str
    text: str
    start: int
    end: int
    value: float = 0.0


def quantities(text: str, language: str) -> list[Quantity]:
    """All of a text, in order; they do not overlap.

    >>> [(one.kind, one.value) for one in quantities("Forty-six of 1,200 cost $2.5 million or 11%.", "en")]
    [('count', 46.0), ('count', 1200.0), ('dollar', 2500000.0), ('percent', 11.0)]
    """
    tokens = _tokens(text, language)
    found: list[Quantity] = []
    at = 0
    while at < len(tokens):
        made, after = _date(text, tokens, at)
        if made is None:
            made, after = _number(text, tokens, at, language)
        if made is not None:
            found.append(made)
        at = max(after, at + 1)
    return _same_year(text, found)


def _tokens(text: str, language: str) -> list[_Token]:
    made = []
    for match in _TOKEN.finditer(text):
        what = match.lastgroup or "word"
        start, end = match.span()
        if match["digits"]:
            what, end = "digits", match.end("digits")
            value = _digits(match["digits"], language)
            if value is None:
                continue
            made.append(_Token("ordinal" if match["ordinal"] else what, match["digits"], start, end, value))
        elif match["cjk"]:
            made.append(_Token("digits", match["cjk"], start, end, _cjk(match["cjk"])))
        elif match["code"]:  # B12, w123, v1.2: a name, which counts nothing
            made.append(_Token("word", match["code"].casefold(), start, end))
        elif match["word"]:
            made.append(_Token("word", match["word"].casefold(), start, end))
        else:
            made.append(_Token(what, match[0], start, end))
    return made


def _digits(text: str, language: str) -> float | None:
    """`1,850` and `1.850,5` by the separators of a language; None for what is too long to be a number."""
    text = "".join(str(unicodedata.decimal(one)) if one.isdecimal() else one for one in text)
    if len(text) > _LONGEST_DIGITS:
        return None
    point = "," if language in ("de", "es") else "."
    other = "." if point == "," else ","
    groups = re.fullmatch(r"\d{1,3}(?:" + re.escape(other) + r"\d{3})+(?:" + re.escape(point) + r"\d+)?", text)
    if groups:
        return float(text.replace(other, "").replace(point, "."))
    text = re.sub("['’\u00a0\u202f]", "", text)
    if text.count(point) == 1 and other not in text:
        return float(text.replace(point, "."))
    if text.count(other) == 1 and point not in text:
        return float(text.replace(other, "."))
    plain = re.sub("[.,]", "", text)
    return float(plain) if plain else None


def _cjk(text: str) -> float:
    total = section = digit = 0
    for sign in text:
        if sign in _CJK:
            digit = digit * 10 + _CJK[sign] if digit else _CJK[sign]
        elif sign in _CJK_SCALE:
            section, digit = section + (digit or 1) * _CJK_SCALE[sign], 0
        else:
            total, section, digit = (total + (section + digit or 1) * _CJK_MYRIAD[sign]), 0, 0
    return float(total + section + digit)


def _date(text: str, tokens: list[_Token], at: int) -> tuple[Quantity | None, int]:
    one = tokens[at]
    if one.what in ("iso", "dots"):
        parts = [int(part) for part in re.split(r"[-.]", one.text)]
        year, month, day = parts if one.what == "iso" else parts[::-1]
        return Quantity("date", 0.0, one.start, one.end, (year, month, day, 0)), at + 1
    if one.what == "word" and one.text in WEEKDAYS:
        after = at + 1
        weekday = WEEKDAYS[one.text]
        if after < len(tokens) and text[one.end : tokens[after].start].strip(" ,") == "":
            later, end = _date(text, tokens, after)
            if later is not None and later.date[1]:
                return later._replace(start=one.start, date=(*later.date[:3], weekday)), end
        return Quantity("date", 0.0, one.start, one.end, (0, 0, 0, weekday)), after
    if one.what in ("digits", "ordinal") and 1 <= one.value <= 31 and one.value == int(one.value):
        month_at = _month_after(text, tokens, at)
        if month_at:
            year, after = _year_after(text, tokens, month_at + 1)
            date = (year, MONTHS[tokens[month_at].text], int(one.value), 0)
            return Quantity("date", 0.0, one.start, tokens[after - 1].end, date), after
        if tokens[at + 1 : at + 2] and tokens[at + 1].text == "日":
            return Quantity("date", 0.0, one.start, tokens[at + 1].end, (0, 0, int(one.value), 0)), at + 2
    if one.what == "word" and one.text in MONTHS and _is_month(text, one, tokens, at):
        return _month_first(text, tokens, at)
    if one.what == "digits" and tokens[at + 1 : at + 2] and tokens[at + 1].text in ("年", "月"):
        return _east_asian(tokens, at)
    if one.what == "digits" and re.fullmatch(r"1[0-9]{3}|20[0-9]{2}|2100", one.text) and _is_year(tokens, at):
        return Quantity("date", 0.0, one.start, one.end, (int(one.text), 0, 0, 0)), at + 1
    return None, at


def _month_after(text: str, tokens: list[_Token], at: int) -> int:
    """Where the month of `14 March`, `14th of March`, `1. März`, `3 de julio` stands; 0 if there is none."""
    for place in range(at + 1, min(at + 3, len(tokens))):
        one = tokens[place]
        if one.what == "word" and one.text in MONTHS and len(text[tokens[at].end : one.start]) < 8:
            return place
        if one.what != "word" or one.text not in ("of", "de"):
            return 0
    return 0


def _year_after(text: str, tokens: list[_Token], place: int) -> tuple[int, int]:
    """A year at a place, past a comma or `de`; (0, place) if there is none."""
    look = place
    if look < len(tokens) and tokens[look].text in ("de", "of", "del"):
        look += 1
    if look < len(tokens) and tokens[look].what == "digits" and re.fullmatch(r"[12]\d{3}", tokens[look].text):
        between = text[tokens[place - 1].end : tokens[look].start]
        if re.fullmatch(r"[\s,.]{0,3}(?:de|of|del)?\s?", between):
            return int(tokens[look].text), look + 1
    return 0, place


def _is_month(text: str, one: _Token, tokens: list[_Token], at: int) -> bool:
    """`may` and `march` are months with a capital only, and at the start of a sentence only before a number."""
    if one.text not in ("may", "march", "mar", "jan", "mai", "mayo", "august", "sep", "dec"):
        return len(one.text) > 3 or text[one.start].isupper()
    first = not text[: one.start].rstrip() or text[: one.start].rstrip()[-1:] in ".!?"
    before_number = tokens[at + 1 : at + 2] and tokens[at + 1].what == "digits"
    return (text[one.start].isupper() and (not first or bool(before_number))) or one.text in ("mayo",)


def _month_first(text: str, tokens: list[_Token], at: int) -> tuple[Quantity, int]:
    month, day, after = MONTHS[tokens[at].text], 0, at + 1
    if after < len(tokens) and tokens[after].what in ("digits", "ordinal") and 1 <= tokens[after].value <= 31:
        near = text[tokens[at].end : tokens[after].start]
        if near.strip(" .") == "" and len(tokens[after].text) < 3:
            day, after = int(tokens[after].value), after + 1
    year, after = _year_after(text, tokens, after)
    return Quantity("date", 0.0, tokens[at].start, tokens[after - 1].end, (year, month, day, 0)), after


def _east_asian(tokens: list[_Token], at: int) -> tuple[Quantity, int]:
    found = {"年": 0, "月": 0, "日": 0}
    start = tokens[at].start
    while at + 1 < len(tokens) and tokens[at].what == "digits" and tokens[at + 1].text in found:
        found[tokens[at + 1].text] = int(tokens[at].value)
        at += 2
    return Quantity("date", 0.0, start, tokens[at - 1].end, (found["年"], found["月"], found["日"], 0)), at


def _is_year(tokens: list[_Token], at: int) -> bool:
    """Whether digits that look like a year count nothing: no unit or sign beside them."""
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    return after not in UNITS and after not in SCALES and not (at and tokens[at - 1].what == "sign")


def _number(text: str, tokens: list[_Token], at: int, language: str) -> tuple[Quantity | None, int]:
    value, after = _value(text, tokens, at, language)
    if value is None:
        return None, at + 1
    start, end = tokens[at].start, tokens[after - 1].end
    kind, factor = "count", 1.0
    if at and tokens[at].what == "digits" and tokens[at - 1].text in LABELLED and start - tokens[at - 1].end == 1:
        return Quantity("label", value, start, end), after
    if at and tokens[at - 1].text in "$€£¥" and tokens[at - 1].end >= start - 1:
        kind, start = UNITS[tokens[at - 1].text][0], tokens[at - 1].start
    elif after < len(tokens):
        unit, more = _unit(text, tokens, after)
        if unit and tokens[after].start - end <= 2:
            (kind, factor), after = unit, more
            end = tokens[after - 1].end
    if kind == "count" and after < len(tokens) and tokens[after].text in ("€", "£"):
        kind, after = UNITS[tokens[after].text][0], after + 1
    return Quantity(kind, round(value * factor, 9), start, end), after


def _unit(text: str, tokens: list[_Token], place: int) -> tuple[tuple[str, float] | None, int]:
    one = tokens[place]
    name = one.text
    for length in (2, 1):
        words = [token.text for token in tokens[place : place + length]]
        joined = ("" if words[0] == "°" else "-").join(words)
        if length == len(words) and joined in UNITS:
            name = joined
            break
    else:
        joined = name
    if joined in {"gigawatt-hours", "gigawatt-hour"}:
        return ("energy", 1e6), place + 2
    if joined in {"kilowatt-hours", "kilowatt-hour"}:
        return ("energy", 1.0), place + 2
    words = [token.text for token in tokens[place : place + 2]]
    if len(words) == 2 and words[1] in ("hour", "hours") and words[0] in ("gigawatt", "megawatt", "kilowatt"):
        return ("energy", {"gigawatt": 1e6, "megawatt": 1e3, "kilowatt": 1.0}[words[0]]), place + 2
    name = "%" if name == "％" else name
    if (name in UNITS and name not in ("b", "w", "h")) or (name == text[one.start : one.end] and name in ("h", "w")):
        return UNITS[name], place + (2 if "-" in name or name.startswith("°") else 1)
    return None, place


def _value(text: str, tokens: list[_Token], at: int, language: str) -> tuple[float | None, int]:
    """The number that begins at a token, in digits or words, and where it ends."""
    one = tokens[at]
    if one.what == "digits":
        value, after = one.value, at + 1
    elif one.what == "word" and one.text in words_of(language):
        value, after = words_of(language)[one.text], at + 1
        while after < len(tokens):
            joined = text[tokens[after - 1].end : tokens[after].start]
            word, more = tokens[after].text, 0.0
            if word == "y" and language == "es" and after + 1 < len(tokens):
                more = words_of("es").get(
                    tokens[after + 1].text, 1.0 if tokens[after + 1].text in ("uno", "una", "un") else 0.0
                )
                step = 2
            else:
                more, step = words_of(language).get(word, 1.0 if word == "one" else 0.0), 1
            if not (value >= 20 and value % 10 == 0 and 0 < more < 10 and joined in ("-", " ", "‑")):
                break
            value, after = value + more, after + step
    elif one.text in FRACTIONS and at and tokens[at - 1].text in ("a", "one", "the", "ein", "die", "una", "un", "la"):
        return _fraction(tokens, at, FRACTIONS[one.text])
    elif one.text in ("half", "hälfte", "mitad"):
        return _fraction(tokens, at, 0.5)
    elif one.text == "fifteen" or (one.text in ("a", "one", "ein", "un") and _scaled(text, tokens, at)):
        value, after = 1.0, at + 1
    else:
        return None, at
    while (
        after < len(tokens)
        and tokens[after].text in SCALES
        and len(text[tokens[after - 1].end : tokens[after].start]) < 3
    ):
        value, after = value * SCALES[tokens[after].text], after + 1
    if after < len(tokens) and tokens[after].text in FRACTIONS and tokens[after].text != "half" and value in (2, 3):
        value, after = value * FRACTIONS[tokens[after].text], after + 1
    return value, after


def _fraction(tokens: list[_Token], at: int, value: float) -> tuple[float, int]:
    """`a quarter of an hour` is in hours."""
    words = [one.text for one in tokens[at + 1 : at + 4]]
    if words[-1:] == ["hour"] and words[:1] in (["of"], ["an"]):
        return value, at + len(words)
    return value, at + 1


def _scaled(text: str, tokens: list[_Token], at: int) -> bool:
    return (
        at + 1 < len(tokens) and tokens[at + 1].text in SCALES and len(text[tokens[at].end : tokens[at + 1].start]) == 1
    )


def _same_year(text: str, found: list[Quantity]) -> list[Quantity]:
    """`21 August of the same year` gets the year of the date before it."""
    made: list[Quantity] = []
    last = 0
    for one in found:
        if one.kind == "date":
            behind = text[one.end : one.end + 24].casefold()
            if (
                not one.date[0]
                and last
                and re.match(r"\s*(?:of the same year|of that year|desselben|del mismo)", behind)
            ):
                one = one._replace(date=(last, *one.date[1:]))
            last = one.date[0] or last
        made.append(one)
    return made


def comparable(one: Quantity, other: Quantity) -> bool:
    """Whether two could be the same thing said differently: one dimension, or dates that share a part."""
    if one.kind != other.kind:
        return False
    return one.kind != "date" or any(mine and theirs for mine, theirs in zip(one.date, other.date, strict=True))


def equal(one: Quantity, other: Quantity, tolerance: float = 0.0) -> bool:
    """Whether two comparable ones say the same; dates in all parts that both say."""
    if one.kind == "date":
        return all(mine == theirs for mine, theirs in zip(one.date, other.date, strict=True) if mine and theirs)
    return abs(one.value - other.value) <= max(tolerance, 1e-6) * max(abs(one.value), abs(other.value))


def parts(one: Quantity) -> Iterator[str]:
    """The keys that a quantity is counted by among words."""
    if one.kind != "date":
        yield one.key
        return
    for name, value in zip("ymdw", one.date, strict=True):
        if value:
            yield f"#{name}{value}"
