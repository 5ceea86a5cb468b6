"""rouge_1, rouge_2 and rouge_l against reference texts, equal to the rouge-score package without its stemmer.

Words are runs of a-z and 0-9 after lower case: it is a measure for English. Nothing is judged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from ragassay.measures.outcome import NO_REFERENCE, Outcome, best_of

_KEPT = re.compile(rb"[a-z0-9]")
_TABLE = bytes(code if _KEPT.match(bytes([code])) else 32 for code in range(256))
_ASCII = bytes(_TABLE[code + 32 if 65 <= code <= 90 else code] for code in range(256))


def words(text: str) -> list[bytes]:
    """The words of a text: lower case, then runs of a-z and 0-9."""
    if text.isascii():
        return text.encode().translate(_ASCII).split()
    return text.lower().encode("utf-8", "surrogatepass").translate(_TABLE).split()


def rouge_1(answer: str, references: Iterable[str]) -> Outcome:
    """F1 of shared words with the best reference, as multisets; no reference: missing(no_reference)."""
    return _rouge_n(answer, references, 1)


def rouge_2(answer: str, references: Iterable[str]) -> Outcome:
    """F1 of shared pairs of neighbouring words with the best reference; no reference: missing(no_reference)."""
    return _rouge_n(answer, references, 2)


def rouge_l(answer: str, references: Iterable[str], split: Literal["none", "lines"] = "none") -> Outcome:
    """F1 of the longest common subsequence of words with the best reference; no reference: missing(no_reference).

    split=none is rougeL: the text is one sequence. split=lines is rougeLsum: each line is a sentence; for each
    reference sentence the union of its subsequences with all answer sentences counts, each word at most as often as
    both texts have it.
    """
    if split == "lines":
        own = _sentences(answer)
        return best_of(_summary(own, _sentences(text)) for text in references)
    mine = words(answer)
    best, most = NO_REFERENCE, -1.0
    for text in references:  # best_of in place: a twentieth of the time of one pair
        theirs = words(text)
        one = _f1(_common(mine, theirs), len(mine), len(theirs))
        if one.value is not None and one.value > most:
            best, most = one, one.value
    return best


def _rouge_n(answer: str, references: Iterable[str], n: int) -> Outcome:
    mine = _grams(words(answer), n)
    size = mine.total()

    def score(text: str) -> Outcome:
        theirs = _grams(words(text), n)
        return _f1((mine & theirs).total(), size, theirs.total())

    return best_of(map(score, references))


def _grams(tokens: Sequence[bytes], n: int) -> Counter[tuple[bytes, ...]]:
    return Counter(zip(*(tokens[at:] for at in range(n)), strict=False))


def _f1(shared: int, mine: int, theirs: int) -> Outcome:
    """F1 in rouge-score's order of operations; 0 where nothing is shared, or either text has no words."""
    if shared == 0:
        return Outcome("value", 0.0, 0.0, float(max(mine + theirs, 1)))
    precision, recall = shared / mine, shared / theirs
    return Outcome("value", 2 * precision * recall / (precision + recall), 2.0 * shared, float(mine + theirs))


def _places(tokens: Sequence[bytes]) -> dict[bytes, int]:
    """Each word's positions as the bits of a number."""
    places: dict[bytes, int] = {}
    get, bit = places.get, 1
    for token in tokens:
        places[token] = get(token, 0) | bit
        bit += bit
    return places


def _common(mine: list[bytes], theirs: list[bytes]) -> int:
    """Length of the longest common subsequence, all positions at once (Hyyro 2004), of the words that both have."""
    shared = [*filter(set(mine).__contains__, theirs)]
    own = [*filter(set(shared).__contains__, mine)]
    places = _places(own)
    every = row = (1 << len(own)) - 1
    for token in shared:
        matched = row & places[token]
        row = (row + matched) | (row - matched)
    return len(own) - (row & every).bit_count()


def _sentences(text: str) -> list[list[bytes]]:
    return [words(line) for line in text.split("\n") if line]


def _summary(mine: list[list[bytes]], theirs: list[list[bytes]]) -> Outcome:
    """rouge-score's summary level: union of subsequences, words used up as they are counted."""
    own, gold = sum(map(len, mine)), sum(map(len, theirs))
    left = Counter(token for line in mine for token in line)
    hits = 0
    places = [_places(line) for line in mine]
    for line in theirs:
        found: set[int] = set()
        for at, tokens in zip(places, mine, strict=True):
            found.update(_path(line, tokens, at))
        for position in sorted(found):
            if left[line[position]] > 0:
                hits += 1
                left[line[position]] -= 1
    return _f1(hits, own, gold)


def _path(reference: list[bytes], tokens: list[bytes], places: dict[bytes, int]) -> list[int]:
    """Positions in the reference of one longest common subsequence: the one that rouge-score walks."""
    rows = [-1]
    for at in map(places.get, reference):
        matched = rows[-1] & (at or 0)
        rows.append((rows[-1] + matched) | (rows[-1] - matched))
    i, j, found = len(reference), len(tokens), []
    while i > 0 and j > 0:
        if reference[i - 1] == tokens[j - 1]:
            found.append(i - 1)
            i, j = i - 1, j - 1
        elif _length(rows[i], j - 1) > _length(rows[i - 1], j):
            j -= 1
        else:
            i -= 1
    return found


def _length(row: int, j: int) -> int:
    """Length of the common subsequence with the first j words, from a row of bits."""
    return j - (row & ((1 << j) - 1)).bit_count()
