"""Numbers and dates in the forms that people and languages write them, as one value each. Finds nothing secret itself.

A number is its digits, whatever groups them; English number words are read too. A date is a set of (year, month, day):
where day and month cannot be told apart, both readings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_SPACES = " \u00a0\u2009\u202f"
_NUMBER = re.compile(rf"\d(?:[\d.,'’_{_SPACES}]*\d)?")
_DECIMALS = re.compile(r"[.,]\d{1,2}$")
_GROUP = re.compile(rf"[.,'’_{_SPACES}]")

MONTHS: dict[str, int] = {}
"""Names and their short forms, without accents, in the languages of `wording.LANGUAGES` and English."""
for _names in (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia",
    "januari februari mars april maj juni juli augusti september oktober november december",
):
    MONTHS.update({_name: _number for _number, _name in enumerate(_names.split(), 1)})

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_GAP = r"[\s,./-]*(?:de|del|of|the)?[\s,./-]*"
_DAY_FIRST = re.compile(rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?{_GAP}({_MONTH})\b{_GAP}(\d{{4}})(?!\d)")
_MONTH_FIRST = re.compile(rf"\b({_MONTH}){_GAP}(\d{{1,2}})(?:st|nd|rd|th)?{_GAP}(\d{{4}})(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})\s?[-/.]\s?(\d{1,2})\s?[-/.]\s?(\d{4})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)")

Day = tuple[int, int, int]

_UNIT_WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_TEN_WORDS = """twenty thirty forty fifty sixty seventy eighty ninety"""
_UNITS = {name: number for number, name in enumerate(_UNIT_WORDS.split())}
_TENS = {name: 10 * number for number, name in enumerate(_TEN_WORDS.split(), 2)}
_SCALES = {"thousand": 1_000, "million": 1_000_000}
_WORDY = re.compile(
    rf"\b(?:{'|'.join([*_UNITS, *_TENS, *_SCALES, 'hundred'])})"
    rf"(?:[\s,-]+(?:and\s+)?(?:{'|'.join([*_UNITS, *_TENS, *_SCALES, 'hundred'])}))+\b"
)


def plain_digits(text: str) -> str:
    """Decimal digits of every script as 0 to 9; everything else stays."""
    return "".join(str(unicodedata.decimal(sign, sign)) if not sign.isascii() else sign for sign in text)


def without_accents(text: str) -> str:
    """Letters without their marks, in lower case."""
    split = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in split if not unicodedata.combining(sign))


def numbers_in(text: str) -> set[str]:
    """The digits of every number, grouping gone; one with one or two decimals also without them."""
    found: set[str] = set()
    for match in _NUMBER.finditer(plain_digits(text)):
        said = match.group()
        found.add(_GROUP.sub("", said))
        if _DECIMALS.search(said):
            found.add(_GROUP.sub("", _DECIMALS.sub("", said)))
        found.update(_GROUP.sub("", part) for part in re.split(rf"[{_SPACES}]+", said))
    found.update(_numbers_in_words(text.casefold()))
    return found


def _numbers_in_words(text: str) -> Iterator[str]:
    for match in _WORDY.finditer(text):
        total = part = 0
        for word in re.findall(r"[a-z]+", match.group()):
            if word == "hundred":
                part = (part or 1) * 100
            elif word in _SCALES:
                total, part = total + (part or 1) * _SCALES[word], 0
            else:
                part += _UNITS.get(word, _TENS.get(word, 0))
        yield str(total + part)


def words_of(number: int) -> str:
    """A number below a thousand million in English words.

    >>> words_of(4718392)
    'four million seven hundred eighteen thousand three hundred ninety-two'
    """
    if number < 20:
        return list(_UNITS)[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return list(_TENS)[tens - 2] + (f"-{list(_UNITS)[rest]}" if rest else "")
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= size:
            head, rest = divmod(number, size)
            return f"{words_of(head)} {name}" + (f" {words_of(rest)}" if rest else "")
    raise AssertionError(number)


def dates_in(text: str) -> set[Day]:
    """Every date in the text, in each way that it can be read."""
    plain = without_accents(plain_digits(text))
    found: set[tuple[int, int, int]] = set()
    for match in _DAY_FIRST.finditer(plain):
        found.add((int(match[3]), MONTHS[match[2]], int(match[1])))
    for match in _MONTH_FIRST.finditer(plain):
        found.add((int(match[3]), MONTHS[match[1]], int(match[2])))
    for pattern in (_YEAR_FIRST, _COMPACT):
        for match in pattern.finditer(plain):
            found.add((int(match[1]), int(match[2]), int(match[3])))
    for match in _YEAR_LAST.finditer(plain):
        found.add((int(match[3]), int(match[2]), int(match[1])))
        found.add((int(match[3]), int(match[1]), int(match[2])))
    return {one for one in found if 1 <= one[1] <= 12 and 1 <= one[2] <= 31}
