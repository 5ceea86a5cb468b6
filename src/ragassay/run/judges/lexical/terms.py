"""A text as comparable terms with their places: folded words, quantities, character pairs of Chinese and Japanese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ragassay.corpus.sentences import split
from ragassay.run.judges.lexical.quantities import Quantity, parts, quantities
from ragassay.run.judges.lexical.vocabulary import IRREGULAR, SPLITS, STOP

RULE = "terms/2"
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(
    f"(?P<han>[{_HAN}]+)|(?P<word>[^\\W{_HAN}]+(?:['’](?:s|t|re|ve|ll|d|m)\\b)?)|(?P<cut>[,;:()–—，、；：])"
)
_APPOSITION = re.compile(r"\s+(?:[A-ZÀ-Þ][\w’'-]+\s?){1,3}(?=[,.;:]|$)")
"""`its founder, Anna Roth`: a comma that begins no other part."""
_LONGEST_SENTENCE = 4000
"""Characters; what is longer is cut, since checks compare all terms of a sentence with each other."""
_MOST_QUANTITIES = 40
"""Of one sentence; further ones are words, so that a page of numbers cannot stall a job: each is held against all."""
_ENDINGS = {
    "en": ("ifications", "ification", "ifying", "ifies", "ified", "ational", "ations", "ation", "ances", "ance",
           "ments", "ment", "ings", "ing", "ions", "ion", "ers", "ed", "er", "es", "fully", "ful", "ly", "als", "al",
           "s", "e", "y"),
    "de": ("ungen", "ung", "ischen", "ische", "test", "ten", "tes", "ern", "em", "en", "er", "es", "te", "et", "st",
           "t", "e", "n", "s"),
    "es": ("aciones", "ación", "mente", "adas", "ados", "idas", "idos", "ada", "ado", "ida", "ido", "aron", "ieron",
           "iones", "ión", "ando", "iendo", "es", "as", "os", "ar", "er", "ir", "ó", "a", "o", "e", "s"),
}  # fmt: skip
_SEPARABLE = re.compile("^(ab|an|auf|aus|ein|um|zu|vor|nach|zurück|still)ge(?=.{4})")
"""German participles: `umgebaut` as `umbau`."""
_ARABIC_FOLD = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ـ": ""})
_ARABIC_MARKS = re.compile("[\u064b-\u0652\u0670]")


class Term(NamedTuple):
    """One term: `key` is compared, `word` is the folded form, `segment` counts the parts of its sentence."""

    key: str
    word: str
    start: int
    end: int
    segment: int
    content: bool
    """Whether it says something of itself: no stop word."""
    name: bool = False
    """Written with a capital where a language writes only names so."""


class Sentence(NamedTuple):
    """A sentence of a text by place, with its terms and quantities; places are those of the whole text."""

    start: int
    end: int
    terms: tuple[Term, ...]
    quantities: tuple[Quantity, ...]
    keys: frozenset[str]
    """Of all content terms and quantities."""
    cuts: tuple[int, ...]
    """Places where another part begins."""


def plain_stem(word: str) -> str:
    """Only plural and possessive endings of English: what overlap is counted by.

    >>> [plain_stem(one) for one in ("cities", "boxes", "glass", "dogs")]
    ['city', 'box', 'glass', 'dog']
    """
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith("es") and word[-3] in "sxz":
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


@lru_cache(maxsize=65_536)
def root(word: str, language: str) -> str:
    """A short form under which the forms of a word mostly meet: irregular verbs by list, else without its ending.

    >>> root("bought", "en") == root("buy", "en"), root("replaced", "en") == root("replaces", "en")
    (True, True)
    """
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    base = IRREGULAR.get(word, word)
    if base != word and language != "en":
        return base
    word = base
    if language == "en" and len(word) > 4 and word.endswith(("ies", "ied")) and not word.endswith(("ifies", "ified")):
        word = word[:-3] + "y"
    for ending in _ENDINGS.get(language, ()):
        if word.endswith(ending) and len(word) - len(ending) >= 4 - (language == "en" and ending in ("s", "ed", "e")):
            word = word[: -len(ending)]
            break
    if language == "en":
        word = word.removesuffix("e") if len(word) > 4 else word
        word = word.removesuffix("y") if len(word) > 4 else word
        word = word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls" else word
        word = word[:-3] + "uc" if word.endswith("uct") and len(word) > 5 else word
    if language == "de":
        word = word[2:] if word.startswith("ge") and len(word) > 6 else word
        word = _SEPARABLE.sub(r"\1", word)
    return word


def fold(word: str) -> str:
    """Case folded, full-width as narrow, Arabic letters in one form without article and vowel marks."""
    word = unicodedata.normalize("NFKC", word).casefold()
    if "\u0600" <= word[:1] <= "\u06ff":
        word = _ARABIC_MARKS.sub("", word).translate(_ARABIC_FOLD)
        return word.removeprefix("ال") if len(word) > 4 else word
    return word


def sentences(text: str, language: str) -> tuple[Sentence, ...]:
    """The sentences of a text; the same text is read once while it stays among the last thousands."""
    return _sentences(text, language)


@lru_cache(maxsize=4096)
def _sentences(text: str, language: str) -> tuple[Sentence, ...]:
    return tuple(one for start, end in split(text) for one in _pieces(text, start, end, language))


def _pieces(text: str, start: int, end: int, language: str) -> Iterator[Sentence]:
    for low in range(start, end, _LONGEST_SENTENCE):
        yield _sentence(text, low, min(low + _LONGEST_SENTENCE, end), language)


def _sentence(text: str, start: int, end: int, language: str) -> Sentence:
    body = text[start:end]
    found = [one._replace(start=one.start + start, end=one.end + start) for one in quantities(body, language)]
    found = found[:_MOST_QUANTITIES]
    inside = [(one.start - start, one.end - start) for one in found]
    cuts: list[int] = []
    terms = tuple(
        one._replace(start=one.start + start, end=one.end + start) for one in _terms(body, language, inside, cuts)
    )
    keys = {one.key for one in terms if one.content} | {key for one in found for key in parts(one)}
    return Sentence(start, end, terms, tuple(found), frozenset(keys), tuple(one + start for one in cuts))


def _terms(body: str, language: str, inside: list[tuple[int, int]], cuts: list[int]) -> Iterator[Term]:
    """Words outside of quantities; a comma or a conjunction begins another segment, but not within a quantity."""
    place, first = 0, True
    for match in _WORD.finditer(body):
        start, end = match.span()
        while place < len(inside) and inside[place][1] <= start:
            place += 1
        if place < len(inside) and inside[place][0] < end and start < inside[place][1]:
            first = False
            continue
        if match["cut"]:
            if not (match["cut"] == "," and _APPOSITION.match(body, end) and language != "de"):
                cuts.append(start)
            continue
        if match["han"]:
            yield from _pairs(match[0], start, len(cuts))
            continue
        raw = match[0]
        word = fold(raw)
        following = place < len(inside) and inside[place][0] - end in (1, 2)
        if word in SPLITS or (word == "long" and body[:start].endswith("as ")) or (word in ("to", "bis") and following):
            cuts.append(start)
        name = raw[0].isupper() and not first and language in ("en", "es")
        content = word not in STOP and not (len(word) == 1 and word.isascii())
        yield Term(plain_stem(word), word, start, end, len(cuts), content, name)
        first = False


def _pairs(run: str, start: int, segment: int) -> Iterator[Term]:
    """Overlapping pairs of characters; a lone one is itself."""
    if len(run) == 1:
        yield Term(run, run, start, start + 1, segment, True)
    for at in range(len(run) - 1):
        pair = run[at : at + 2]
        yield Term(pair, pair, start + at, start + at + 2, segment, True)
