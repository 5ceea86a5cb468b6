"""Who did what to whom, and which of two is more: whether claim and evidence give the same part to the same names.

Read from the order of words around a verb, the passive, converse verbs (buy and sell), and `from`, `to`, `by`, `than`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ragassay.run.judges.lexical.concepts import AGAINST, COMPARED, concepts_of, kin, lost_to
from ragassay.run.judges.lexical.model import Finding
from ragassay.run.judges.lexical.terms import Sentence, Term, root
from ragassay.run.judges.lexical.vocabulary import (
    ALL,
    CONVERSE,
    FEW,
    GIVE,
    IRREGULAR,
    MOST,
    NEGATORS,
    NONE,
    ONLY,
    OPEN,
    SOME,
)

_BE = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "wird",
        "werden",
        "wurde",
        "wurden",
        "worden",
        "fue",
        "fueron",
        "es",
        "son",
        "sido",
        "ser",
        "been",
    ]
)
_FROM = frozenset(["from", "von", "vom", "de", "del", "desde"])
_TO = frozenset(["to", "an", "a", "al", "zu", "nach"])
_BY = frozenset(["by", "von", "vom", "por"])
_THAN = frozenset(["than", "als", "que"])
_ARTICLES = frozenset(("the", "a", "an", "its", "his", "her", "their"))
_BASES = frozenset(IRREGULAR.values())
_WHO = frozenset(["who", "that", "which", "que", "quien", "and"])
_PRONOUNS = frozenset(["who", "that", "which", "whom"])
_NO_PART = ALL | MOST | SOME | FEW | NONE | ONLY | OPEN | NEGATORS
_REACH = 12
"""Terms to either side of a verb that may be its parts."""


class Parts(NamedTuple):
    """Of one verb: words on the side of the doer or giver, and on the other side."""

    doer: frozenset[str]
    done: frozenset[str]
    verb: Term


def check_roles(
    claim: Sequence[Sentence],
    shown: Sequence[Sentence],
    chosen: Sequence[int],
    _weights: Mapping[str, float],
    language: str,
) -> Iterator[Finding]:
    """A finding where two names or things have changed places."""
    for mine in claim:
        for at in chosen[:2]:
            swapped = _compared(mine, shown[at], language) or _swapped(mine, shown[at], language)
            if swapped is not None:
                verb, why = swapped
                yield Finding("role", True, 0.9, why, at, verb.start, verb.end)
                return


def _swapped(mine: Sentence, theirs: Sentence, language: str) -> tuple[Term, str] | None:
    """A verb of both, or a giving or taking verb of each, whose parts are exchanged."""
    common = _roots_of(mine, language) & _roots_of(theirs, language)
    verbs = {kin(one.word, language) for each in (mine, theirs) for one in _verb_forms(each, language)}
    verbs &= {kin(one.word, language) for one in mine.terms} & {kin(one.word, language) for one in theirs.terms}
    claimed, told = (list(_verbs(each, common, verbs, language)) for each in (mine, theirs))
    agrees = False
    found: tuple[Term, str] | None = None
    for kind, key, one in claimed:
        for other_kind, other_key, other in told:
            if not (key == other_key or (kind and other_kind)):
                continue
            if one.doer & other.doer and one.done & other.done and not (one.doer & other.done):
                agrees = True
            crossed = (one.doer & other.done) - (one.done | other.doer)
            crossed_back = (one.done & other.doer) - (one.doer | other.done)
            if crossed and crossed_back and found is None:
                why = f"{min(crossed)!r} and {min(crossed_back)!r} have changed places around {other.verb.word!r}"
                found = other.verb, why
    return None if agrees else found


def _roots_of(sentence: Sentence, language: str) -> set[str]:
    """What may have a part in something: no words of scope and no negations."""
    return {root(one.word, language) for one in sentence.terms if one.content and one.word not in _NO_PART}


def _verbs(sentence: Sentence, common: set[str], verbs: set[str], language: str) -> Iterator[tuple[str, str, Parts]]:
    """Each word that may be a verb, with what stands before and behind it; its kind is empty, *give* or *take*."""
    terms = sentence.terms
    beaten = kin("beat", language)
    for at, term in enumerate(terms):
        own = root(term.word, language)
        kind = _kind(own, language)
        key = kin(term.word, language)
        passive, by = _is_passive(terms, at, language), _BY
        if lost_to(terms, at, language):
            key, kind, passive, by = beaten, "", True, AGAINST
        elif term.name or not (kind or key == beaten or key in verbs):
            continue
        parts = _parts(terms, at, kind, passive, common, language, by)
        if parts.doer and parts.done:
            yield kind, key, parts


@lru_cache(maxsize=65_536)
def _kind(key: str, language: str) -> str:
    """*take* where the subject is the one to whom something goes, *give* where it comes from it, else empty."""
    for kind, words in (("take", CONVERSE), ("give", GIVE)):
        if key in words or key in _roots(words, language):
            return kind
    return ""


@cache
def _roots(words: frozenset[str], language: str) -> frozenset[str]:
    return frozenset(root(one, language) for one in words)


def _verb_forms(sentence: Sentence, language: str) -> Iterator[Term]:
    """Words whose form says that they are verbs: endings of the past, forms in the list, `-s` between two nouns."""
    endings = {
        "en": ("ed",),
        "de": ("te", "ten", "iert", "igt"),
        "es": ("ó", "aron", "ieron", "ado", "ada", "ido", "ida"),
    }
    terms = sentence.terms
    for at, one in enumerate(terms):
        by_form = (
            one.word in IRREGULAR
            or one.word in _BASES
            or (len(one.word) > 3 and one.word.endswith(endings.get(language, ("\0",))))
        )
        after = at + 1 == len(terms) or terms[at + 1].content or terms[at + 1].word in _ARTICLES | _TO | _FROM
        plain = language == "en" and at > 0 and terms[at - 1].content and one.content and after
        if by_form or (plain and one.word.endswith("s") and not one.name):
            yield one


def _is_passive(terms: Sequence[Term], at: int, language: str) -> bool:
    """`was bought`, `wurde ... gekauft`, `fue comprada`; German puts the verb last."""
    reach = 8 if language == "de" else 3
    near = [one.word for one in terms[max(0, at - reach) : at]]
    if language == "de":
        return any(word in ("wird", "werden", "wurde", "wurden", "worden") for word in near)
    near = near[max((at + 1 for at, word in enumerate(near) if word in _WHO), default=0) :]
    return any(word in _BE for word in near)


def _parts(
    terms: Sequence[Term], at: int, kind: str, passive: bool, common: set[str], language: str, by: frozenset[str]
) -> Parts:
    """Left of a verb stands its subject, right of it what is not behind a preposition that says otherwise."""
    doer: set[str] = set()
    done: set[str] = set()
    subject_is_doer = (kind != "take") != passive and not (kind and passive)
    relative, antecedent = _relative(terms, at)
    if relative >= 0 and antecedent and root(terms[antecedent[0]].word, language) in common:
        inner = any(one.content for one in terms[relative + 1 : at])
        keys = {root(terms[place].word, language) for place in antecedent} & common
        (doer if subject_is_doer != inner else done).update(keys)
    low = relative + 1 if relative >= 0 else max(0, at - _REACH)
    for place in range(low, min(len(terms), at + _REACH + 1)):
        one = terms[place]
        key = root(one.word, language)
        if place == at or key not in common or abs(one.segment - terms[at].segment) > (1 if place < at else 0):
            continue
        side = _side(terms, place, at, kind, passive, subject_is_doer, by)
        if side is not None:
            (doer if side else done).add(key)
    return Parts(frozenset(doer - done), frozenset(done - doer), terms[at])


def _side(
    terms: Sequence[Term], place: int, at: int, kind: str, passive: bool, subject_is_doer: bool, by: frozenset[str]
) -> bool | None:
    """True for the side of the doer or giver, False for the other one, None for neither."""
    before = _preposition(terms, place)
    if before in by and passive and (place > at or terms[at].segment == terms[place].segment):
        return kind != "take"
    if kind and before in _FROM:
        return True
    if kind and before in _TO:
        return False
    if place < at:
        return subject_is_doer
    return None if kind == "take" or passive else False


def _relative(terms: Sequence[Term], at: int) -> tuple[int, list[int]]:
    """Where the relative pronoun of the verb's clause stands, and the word that it stands for; -1 if none does."""
    for place in range(at - 1, max(-1, at - 6), -1):
        if terms[place].word in _PRONOUNS:
            back = next((one for one in range(place - 1, max(-1, place - 4), -1) if terms[one].content), -1)
            return (place, [back]) if back >= 0 else (-1, [])
    return -1, []


def _preposition(terms: Sequence[Term], place: int) -> str:
    """The preposition before a word, past articles, adjectives and names."""
    for back in range(place - 1, max(-1, place - 5), -1):
        word = terms[back].word
        if word in _BY or word in _FROM or word in _TO:
            return word
        if terms[back].segment != terms[place].segment:
            return ""
    return ""


def _compared(mine: Sentence, theirs: Sentence, language: str) -> tuple[Term, str] | None:
    """`A is larger than B` against `B is larger than A` or `A is smaller than B`."""
    one, other = _comparison(mine, language), _comparison(theirs, language)
    if one is None or other is None:
        return None
    common = (one.left | one.right) & (other.left | other.right)
    straight = len(one.left & other.left & common) + len(one.right & other.right & common)
    crossed = len(one.left & other.right & common) + len(one.right & other.left & common)
    if straight == crossed or not one.names & other.names:
        return None
    same_side = any((name, side) in other.sides for name, side in one.sides)
    if same_side == (straight > crossed):
        return None
    return other.word, f"the comparison around {other.word.word!r} is the other way round"


class _Comparison(NamedTuple):
    left: frozenset[str]
    right: frozenset[str]
    sides: frozenset[tuple[str, int]]
    names: frozenset[str]
    word: Term


_DIRECTED = frozenset(["before", "after", "vor", "nach", "antes", "después"])


def _comparison(sentence: Sentence, language: str) -> _Comparison | None:
    """What stands before and behind `than` (or `before`, `after`), and on which side the word of comparison is."""
    terms = sentence.terms
    than = next((at for at, one in enumerate(terms) if one.word in _THAN and at), None)
    directed = next((at for at, one in enumerate(terms) if one.word in _DIRECTED and at), None)
    at = than if than is not None else directed
    if at is None:
        return None
    near = terms[max(0, at - 6) : at] if than is not None else terms[at : at + 1]
    pivot = [one for one in near if any(name in COMPARED for name, _ in concepts_of(one, language))]
    if not pivot:
        return None
    sides = frozenset(pair for one in pivot for pair in concepts_of(one, language) if pair[0] in COMPARED)
    generic = next((side for one in pivot for name, side in concepts_of(one, language) if name == "amount"), None)
    if generic is not None:
        sides = frozenset({("amount", generic)} | {(name, side * generic) for name, side in sides if name != "amount"})
    named = {root(one.word, language) for one in pivot}
    left = {root(one.word, language) for one in terms[:at] if one.content} - named
    right = {root(one.word, language) for one in terms[at + 1 :] if one.content} - named
    return _Comparison(
        frozenset(left - right), frozenset(right - left), sides, frozenset(name for name, _ in sides), pivot[-1]
    )
