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
MOST_REMEMBERED = 20_000
"""Texts whose signs are kept: the replies of one suite hold the same ones over and over."""


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


class _View(NamedTuple):
    """What stands in one view of a text."""

    name: str
    signs: tuple[str, ...]
    facts: tuple[tuple[DocumentId, tuple[tuple[InventedFact, str], ...]], ...]
    """Documents with the facts of theirs that stand here, each as it was found; only those with bits enough."""


class _Seen(NamedTuple):
    """What stands in a text, whoever asked."""

    views: tuple[_View, ...]
    near: tuple[tuple[str, float], ...]


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
        self._remembered: dict[str, _Seen] = {}

    @property
    def fuzzy(self) -> bool:
        """Whether near misses are looked for."""
        return self._fuzzy

    def find(self, text: str, *, but: Collection[str] = (), said: str = "") -> list[Match]:
        """What the text gives away, one match a document, the surest first: exact, then fact, then fuzzy.

        `but`: documents that may be there. `said`: what was asked; a token, id or fact in it proves nothing.
        """
        seen = self._remembered.get(text)
        if seen is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            seen = self._remembered[text] = self._seen(text)
        asked = folded(said) if seen.views or seen.near else ""
        found: dict[DocumentId, Match] = {}
        for view in seen.views:
            for match in (*self._exact(view, asked), *self._facts(view, asked)):
                if match.document_id not in but:
                    found.setdefault(match.document_id, match)
        for match in self._near(seen, asked):
            if match.document_id not in but:
                found.setdefault(match.document_id, match)
        return list(found.values())

    def _seen(self, text: str) -> _Seen:
        """All that does not hang on what was asked; views without a sign or facts enough are left out."""
        kept = []
        for view in views(text):
            small, plain = folded(view.text), cleaned(view.text)
            signs = tuple(match.group() for match in self._pattern.finditer(small)) if self._pattern else ()
            facts = tuple(self._enough(small, plain))
            if signs or facts:
                kept.append(_View(view.name, signs, facts))
        near = self._alike(folded(text)) if self._fuzzy and len(text) <= MOST_FUZZY else ()
        return _Seen(tuple(kept), near)

    def _exact(self, view: _View, asked: str) -> Iterator[Match]:
        for sign in view.signs:
            if sign in asked:
                continue
            token = self._tokens.get(sign)
            if token is not None:
                yield Match(token.document.document_id, "exact", view.name, f"token {token.document.token}")
            elif sign in self._ids:
                own = self._ids[sign].document.document_id
                yield Match(own, "id", view.name, f"id {own}")

    def _enough(self, small: str, plain: str) -> Iterator[tuple[DocumentId, tuple[tuple[InventedFact, str], ...]]]:
        words = {match.group() for match in self._words.finditer(small)} if self._words else set()
        numbers = numbers_in(plain) if words or any(sign.isdigit() for sign in plain) else set()
        days = dates_in(plain) if numbers else set()
        if not (words or numbers):
            return
        for one in self._known:
            facts = [(fact, word) for fact, word in one.words if word in words]
            facts += [(fact, digits) for fact, digits in one.amounts if digits in numbers]
            facts += [(fact, "") for fact, day in one.days if day in days]
            if sum(fact.bits for fact, _ in facts) >= self._needed:
                yield one.document.document_id, tuple(facts)

    def _facts(self, view: _View, asked: str) -> Iterator[Match]:
        for document_id, given in view.facts:
            facts = [fact for fact, sign in given if not sign or sign not in asked]
            if sum(fact.bits for fact in facts) >= self._needed:
                told = ", ".join(f"{fact.kind} {fact.value}" for fact in facts)
                yield Match(document_id, "fact", view.name, told)

    def _alike(self, small: str) -> tuple[tuple[str, float], ...]:
        from rapidfuzz import fuzz, process

        if len(small) < 12 or not self._tokens:
            return ()
        scores = process.cdist([small], list(self._tokens), scorer=fuzz.partial_ratio, score_cutoff=FUZZY_FROM)[0]
        return tuple(
            (token, float(score)) for token, score in zip(self._tokens, scores, strict=True) if score >= FUZZY_FROM
        )

    def _near(self, seen: _Seen, asked: str) -> Iterator[Match]:
        if not seen.near:
            return
        from rapidfuzz import fuzz

        for token, score in seen.near:
            if fuzz.partial_ratio(asked, token) < FUZZY_FROM:
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
