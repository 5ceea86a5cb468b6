"""What a word stands for beside its form: a concept with two sides (rise, fall), or a group of synonyms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from ragassay.run.judges.lexical.synonyms import GROUPS
from ragassay.run.judges.lexical.terms import Term, root
from ragassay.run.judges.lexical.vocabulary import OPPOSITES

COMPARED = {"size", "speed", "time", "near", "amount", "height", "age", "rest", "temperature", "strong", "length"}
"""Concepts whose side depends on which is named first: the check of roles reads them where `than` stands."""
_LANGUAGES = ("en", "de", "es")
_LOSE = frozenset(root(one, language) for one, language in (("lose", "en"), ("verlieren", "de"), ("perder", "es")))
AGAINST = frozenset(["to", "against", "gegen", "contra", "ante"])
"""Who stands behind these has won where somebody *lost to* them."""


@cache
def _sides(language: str) -> dict[str, tuple[tuple[str, int], ...]]:
    made: dict[str, dict[tuple[str, int], None]] = {}
    for concept, good, bad in OPPOSITES:
        for words, sign in ((good, 1), (bad, -1)):
            for word in words.split():
                for form in {word, root(word, language)}:
                    made.setdefault(form, {})[concept, sign] = None
    return {word: tuple(sides) for word, sides in made.items()}


@cache
def _groups(language: str) -> dict[str, str]:
    made: dict[str, str] = {}
    for group in GROUPS:
        words = group.split()
        for word in words:
            made.setdefault(root(word, language), f"~{words[0]}")
    return made


def concepts_of(term: Term, language: str) -> tuple[tuple[str, int], ...]:
    """The concepts that a word stands for, with its side of each: 1 or -1."""
    return _of_word(term.word, language)


@lru_cache(maxsize=65_536)
def _of_word(word: str, language: str) -> tuple[tuple[str, int], ...]:
    table = _sides(language if language in _LANGUAGES else "en")
    return table.get(word) or table.get(root(word, language)) or ()


@lru_cache(maxsize=65_536)
def kin(word: str, language: str) -> str:
    """The key of a word's group of synonyms, else its root.

    >>> kin("price", "en") == kin("costs", "en"), kin("vessel", "en") == kin("truck", "en")
    (True, False)
    """
    own = root(word, language)
    return _groups(language).get(own, own) if language in _LANGUAGES else own


def lost_to(terms: Sequence[Term], at: int, language: str) -> bool:
    """Whether a word says that its subject was beaten by what follows: `lost to`, `verlor gegen`, `perdió contra`.

    That is a victory of somebody else, and no contrary of one.
    """
    return root(terms[at].word, language) in _LOSE and any(one.word in AGAINST for one in terms[at + 1 : at + 3])
