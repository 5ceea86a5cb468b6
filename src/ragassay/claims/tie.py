"""Claims of an answer with the citations that stand behind each. Judges neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from ragassay.claims.marks import Source, bare, blank, citations_of
from ragassay.claims.split import split
from ragassay.records.base import QueryId
from ragassay.records.canonical import digest_text
from ragassay.records.judgement import AnswerClaims, Claim
from ragassay.records.trace import Citation


def claims_of(
    query_id: str,
    repeat: int,
    text: str,
    citations: Sequence[Citation] | None,
    sources: Sequence[Source],
    *,
    language: str | None = None,
) -> AnswerClaims:
    """The claims c1, c2, ... of an answer in their order, each with its citations.

    `citations` None: the system reports none, and marks in the text are read. A citation stands behind every claim that
    its span touches, else behind the claim before it in the same paragraph (`It rains. [2]`), else behind the next one.
    One without a place stands behind the claims whose marks name its item, else behind each claim that has no citation
    of its own.
    """
    pieces = split(text, language)
    claims = [one for one in pieces if one.kind == "claim"]
    cut = [Claim(claim_id=f"c{number}", start=one.start, end=one.end) for number, one in enumerate(claims, 1)]
    left_out = Counter[str](one.kind for one in pieces if one.kind != "claim")
    return tied(query_id, repeat, text, citations, sources, cut, dict(left_out))


def tied(
    query_id: str,
    repeat: int,
    text: str,
    citations: Sequence[Citation] | None,
    sources: Sequence[Source],
    claims: Sequence[Claim],
    left_out: Mapping[str, int],
    provenance: Literal["model"] | None = None,
) -> AnswerClaims:
    """The same for an answer that is cut already."""
    given = citations_of(text, sources) if citations is None else tuple(citations)
    given = given if citations is None else _placed(given, citations_of(text, sources))
    behind: list[list[int]] = [[] for _ in claims]
    loose: list[int] = []
    for number, one in enumerate(given):
        if one.answer_start is None or one.answer_end is None:
            loose.append(number)
            continue
        for place in _touched(text, claims, one.answer_start, max(one.answer_end, one.answer_start + 1)):
            behind[place].append(number)
    behind = [own or list(loose) for own in behind]
    return AnswerClaims(
        query_id=QueryId(query_id),
        repeat=repeat,
        answer=digest_text(text),
        claims=tuple(
            Claim(claim_id=one.claim_id, start=one.start, end=one.end, citations=tuple(own), subject=one.subject)
            for one, own in zip(claims, behind, strict=True)
        ),
        citations=given,
        cited_by=None if not given else "marks" if citations is None else "system",
        left_out=dict(sorted(left_out.items())),
        provenance=provenance,
    )


def statement_of(text: str, claim: Claim) -> str:
    """A claim of an answer as a judge reads it: its words without marks, behind what it is about where that is told.

    >>> text = "The ferry leaves at 7 [1] and costs 18 euros."
    >>> statement_of(text, Claim(claim_id="c2", start=30, end=45, subject=(0, 9)))
    'The ferry costs 18 euros.'
    """
    own = bare(text[claim.start : claim.end])
    return own if claim.subject is None else f"{bare(text[slice(*claim.subject)])} {own}"


def _touched(text: str, claims: Sequence[Claim], start: int, end: int) -> list[int]:
    """Places of the claims that a span stands behind."""
    inside = [place for place, one in enumerate(claims) if one.start < end and start < one.end]
    leads = [place for place in inside if not _letters(text[claims[place].start : start])]
    if len(inside) == 1 and leads and leads[0] > 0 and _letters(text[start:end]) == 0:
        before = claims[leads[0] - 1]  # a mark that a sentence begins with belongs to the sentence before it
        rest = text[end : claims[leads[0]].end].lstrip()
        if _near(text, before.end, start) and not rest[:1].islower():
            return [leads[0] - 1]
    if inside:
        return inside
    before_all = [place for place, one in enumerate(claims) if one.end <= start]
    if before_all and _near(text, claims[before_all[-1]].end, start):
        return before_all[-1:]
    after = [place for place, one in enumerate(claims) if one.start >= end]
    return after[:1] if after and _near(text, end, claims[after[0]].start) else before_all[-1:] or after[:1]


def _near(text: str, end: int, start: int) -> bool:
    """Whether nothing but marks and spaces stands between, in one paragraph and on one line."""
    between = text[end:start]
    return "\n" not in between and not _letters(between)


def _letters(text: str) -> int:
    return sum(one.isalnum() for one in blank(text))


def _placed(given: tuple[Citation, ...], marks: Sequence[Citation]) -> tuple[Citation, ...]:
    """Citations without a place at the marks of the text that name the same item, if there are any."""
    places: dict[str, list[Citation]] = {}
    for one in marks:
        places.setdefault(one.item_id or "", []).append(one)
    placed = {(one.answer_start, one.item_id) for one in given if one.answer_start is not None}
    made: list[Citation] = []
    for one in given:
        found = places.get(one.item_id or "", []) if one.answer_start is None else []
        made += [mark for mark in found if (mark.answer_start, mark.item_id) not in placed] or [one]
    return tuple(made)
