"""Canaries in a text: exact tokens and ids, invented facts by their bits, and near misses. Knows no channel.

A fact match needs 20 bits and log2 of the documents compared, of facts of one document, so that chance alone matches
one text in about a million, times the numbers and names that the text holds. Fuzzy matches need the extra `probe`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ragassay.probe.forms import dates_in, numbers_in
from ragassay.probe.views import cleaned, folded, views
from ragassay.records.base import DocumentId
from ragassay.records.probe import By, InventedFact, PlantedDocument

BASE_BITS = 20.0
FUZZY_FROM = 85.0
"""Of 100: so alike must a part of the text be to a token."""
MOST_FUZZY = 20_000
"""Signs of the longest text that is searched for near misses."""


class Match(NamedTuple):
    """One document that a text gives away."""

    document_id: DocumentId
    by: By
    view: str
    told: str


class _Known(NamedTuple):
    """One document with what it is recognised by, folded."""

    document: PlantedDocument
    token: str | None
    words: tuple[tuple[InventedFact, str], ...]
    amounts: tuple[tuple[InventedFact, str], ...]
    days: tuple[tuple[InventedFact, tuple[int, int, int]], ...]


class Matcher:
    """The canaries of a suite, ready to be looked for. Decoys belong in too: a match of one is a false alarm."""

    def __init__(self, documents: Sequence[PlantedDocument], *, fuzzy: bool = True) -> None:
        self._known = [_known(one) for one in documents]
        self._by_id = {one.document.document_id: one for one in self._known}
        self._needed = BASE_BITS + math.log2(max(1, len(documents)))
        self._tokens = {one.token: one for one in self._known if one.token}
        self._ids = {folded(one.document.document_id): one for one in self._known}
        signs = sorted({*self._tokens, *self._ids}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, signs))) if signs else None
        words = sorted({word for one in self._known for _, word in one.words}, key=len, reverse=True)
        self._words = re.compile("|".join(map(re.escape, words))) if words else None
        self._fuzzy = fuzzy and has_rapidfuzz()

    @property
    def fuzzy(self) -> bool:
        """Whether near misses are looked for."""
        return self._fuzzy

    def find(self, text: str, *, but: Collection[str] = (), said: str = "") -> list[Match]:
        """What the text gives away, one match a document, the surest first: exact, then fact, then fuzzy.

        `but`: documents that may be there. `said`: what was asked; a token, id or fact in it proves nothing.
        """
        found: dict[DocumentId, Match] = {}
        asked = folded(said)
        for view in views(text):
            small = folded(view.text)
            for match in (*self._exact(small, view.name, asked), *self._facts(view.text, small, view.name, asked)):
                if match.document_id not in but:
                    found.setdefault(match.document_id, match)
        if self._fuzzy and len(text) <= MOST_FUZZY:
            for match in self._near(folded(text), asked):
                if match.document_id not in but:
                    found.setdefault(match.document_id, match)
        return list(found.values())

    def _exact(self, small: str, view: str, asked: str) -> Iterator[Match]:
        for match in self._pattern.finditer(small) if self._pattern else ():
            sign = match.group()
            if sign in asked:
                continue
            token = self._tokens.get(sign)
            if token is not None:
                yield Match(token.document.document_id, "exact", view, f"token {token.document.token}")
            elif sign in self._ids:
                own = self._ids[sign].document.document_id
                yield Match(own, "id", view, f"id {own}")

    def _facts(self, text: str, small: str, view: str, asked: str) -> Iterator[Match]:
        words = {match.group() for match in self._words.finditer(small)} if self._words else set()
        plain = cleaned(text)
        numbers = numbers_in(plain) if any(sign.isdigit() for sign in plain) or words else set()
        days = dates_in(plain) if numbers else set()
        if not (words or numbers):
            return
        for one in self._known:
            facts = [fact for fact, word in one.words if word in words and word not in asked]
            facts += [fact for fact, digits in one.amounts if digits in numbers and digits not in asked]
            facts += [fact for fact, day in one.days if day in days]
            if sum(fact.bits for fact in facts) >= self._needed:
                told = ", ".join(f"{fact.kind} {fact.value}" for fact in facts)
                yield Match(one.document.document_id, "fact", view, told)

    def _near(self, small: str, asked: str) -> Iterator[Match]:
        from rapidfuzz import fuzz, process

        if len(small) < 12 or not self._tokens:
            return
        scores = process.cdist([small], list(self._tokens), scorer=fuzz.partial_ratio, score_cutoff=FUZZY_FROM)[0]
        for token, score in zip(self._tokens, scores, strict=True):
            if score >= FUZZY_FROM and fuzz.partial_ratio(asked, token) < FUZZY_FROM:
                one = self._tokens[token]
                yield Match(one.document.document_id, "fuzzy", "", f"{score:.0f} of 100 of the token")


def has_rapidfuzz() -> bool:
    """Whether fuzzy matches can be looked for (the extra `probe`)."""
    try:
        import rapidfuzz  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def _known(document: PlantedDocument) -> _Known:
    by_kind: dict[str, list[InventedFact]] = {"word": [], "amount": [], "date": []}
    for fact in document.facts:
        by_kind[fact.kind if fact.kind in by_kind else "word"].append(fact)
    return _Known(
        document,
        folded(document.token) if document.token else None,
        tuple((one, folded(one.value)) for one in by_kind["word"]),
        tuple((one, one.value) for one in by_kind["amount"]),
        tuple((one, _day(one.value)) for one in by_kind["date"]),
    )


def _day(text: str) -> tuple[int, int, int]:
    year, month, day = map(int, text.split("-"))
    return year, month, day
