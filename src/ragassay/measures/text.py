"""exact_match and token_f1: an answer against reference answers by normalised words; it judges no meaning.

Any Unicode text is safe, lone surrogates included; time grows linearly with length.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal

from ragassay.errors import UsageError
from ragassay.measures.outcome import NO_REFERENCE, Outcome, best_of

Norm = Literal["squad", "musique", "unicode"]

_PUNCTUATION = {ord(char): None for char in string.punctuation}
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_JOINER = 0x034F
# Arabic vowel marks and tatweel, the joiner, variation selectors
_DROPPED = frozenset((*range(0x064B, 0x0653), 0x0640, 0x0670, _JOINER, *range(0xFE00, 0xFE10)))
_LONGEST_MARKS = 30


def normalise_squad(text: str) -> str:
    """The SQuAD script's form: lower case, no ASCII punctuation, no English articles, single spaces."""
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


class _Table(dict[int, str]):
    """How each code point is written in the Unicode-aware form; filled as code points are met."""

    def __missing__(self, code: int) -> str:
        self[code] = found = self._write(code)
        return found

    @staticmethod
    def _write(code: int) -> str:
        char, kind = chr(code), unicodedata.category(chr(code))
        if code in _DROPPED:
            return ""
        if kind == "Nd":
            return str(unicodedata.decimal(char))
        if kind == "Pd" or char == "/" or kind == "Cc":
            return " "
        if kind[0] == "P" or kind in {"Sc", "Sk", "Sm", "Cf"}:
            return ""
        if kind == "So" or (kind[0] == "L" and any(low <= code <= high for low, high in _NO_SPACES)):
            return f" {char} "
        return char


_TABLE = _Table()


def normalise_unicode(text: str) -> str:
    """A form for any script: NFKC, case folded, decimal digits as ASCII, single spaces.

    Punctuation goes (dashes and slashes become spaces), as do Arabic vowel marks, tatweel and emoji modifiers.
    Letters of scripts written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) and symbols such as emoji are
    words of their own. Articles stay: they are a matter of English.
    """
    if text.isascii():
        return " ".join(text.lower().translate(_TABLE).split())
    folded = unicodedata.normalize("NFKC", _stream_safe(text).casefold())
    folded = unicodedata.normalize("NFKC", folded.casefold())
    written = " ".join(folded.translate(_TABLE).split())
    # Where punctuation stood between a letter and its mark, the two are neighbours now.
    return unicodedata.normalize("NFKC", _stream_safe(written)).replace(chr(_JOINER), "")


def _stream_safe(text: str) -> str:
    """The text with a joiner after every 30 combining marks in a row, so that normalisation stays linear (UAX 15)."""
    pieces, marks = [], 0
    for char in text:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks > _LONGEST_MARKS:
            pieces.append(chr(_JOINER))
            marks = 1
        pieces.append(char)
    return "".join(pieces)


_NORMS: dict[str, Callable[[str], str]] = {
    "squad": normalise_squad,
    "musique": normalise_squad,
    "unicode": normalise_unicode,
}


def normaliser(norm: str) -> Callable[[str], str]:
    """The normalisation of that name; UsageError for any other."""
    if norm not in _NORMS:
        raise UsageError(f"there is no normalisation {norm!r}", hint=f"one of {', '.join(_NORMS)}")
    return _NORMS[norm]


def exact_match(answer: str, references: Iterable[str], norm: Norm = "squad") -> Outcome:
    """1 if the normalised answer equals a normalised reference, else 0; no reference: missing(no_reference).

    `squad` and `musique` are the official scripts' forms (the same form of words; with `squad`, as in SQuAD 2.0,
    references that are empty after normalisation count only where all are). An empty answer is compared as it is:
    whoever holds a trace reports it as missing(empty_answer) before asking.
    """
    normal = normaliser(norm)
    golds = _references([normal(text) for text in references], norm)
    if not golds:
        return NO_REFERENCE
    value = float(normal(answer) in golds)
    return Outcome("value", value, value, 1.0)


def token_f1(answer: str, references: Iterable[str], norm: Norm = "squad") -> Outcome:
    """F1 of the words of the answer with the best reference, words as a multiset; no reference: missing(no_reference).

    Where either has no words after normalisation the value is 1 if both have none, else 0 (SQuAD 2.0, MuSiQue;
    the SQuAD 1.1 script gives 0 where both have none). Numerator: 2 * shared words; denominator: words of both.
    """
    normal = normaliser(norm)
    golds = _references([normal(text) for text in references], norm)
    mine = Counter(normal(answer).split())
    size = mine.total()

    def score(gold: str) -> Outcome:
        theirs = Counter(gold.split())
        return f1_of_counts((mine & theirs).total(), size, theirs.total())

    return best_of(map(score, golds))


def f1_of_counts(shared: int, mine: int, theirs: int) -> Outcome:
    """F1 from three counts, in the official script's order of operations."""
    if mine == 0 or theirs == 0:
        value = float(mine == theirs)
        return Outcome("value", value, value, 1.0)
    if shared == 0:
        return Outcome("value", 0.0, 0.0, float(mine + theirs))
    precision, recall = shared / mine, shared / theirs
    value = (2 * precision * recall) / (precision + recall)
    return Outcome("value", value, 2.0 * shared, float(mine + theirs))


def _references(golds: list[str], norm: str) -> list[str]:
    """Those that count: for SQuAD the non-empty ones, or the empty one where there is no other."""
    if norm != "squad":
        return golds
    return [gold for gold in golds if gold] or golds[:1]
