"""The form in which an answer's claims are asked for, strictly read and found in the answer. Sends nothing.

A claim is words of the answer, letter by letter, and, where these do not name it, the place at which the answer names
what it is about. So nothing that a model makes up can become a claim. Nor can it leave a sentence out in silence: what
claims nothing is named too, and all of the answer's sentences must be accounted for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragassay.claims import split
from ragassay.claims.marks import blank
from ragassay.records.canonical import digest_of
from ragassay.records.judgement import Claim
from ragassay.records.text import many
from ragassay.run.judges.contract import Cut
from ragassay.run.judges.lexical.vocabulary import NEGATORS
from ragassay.run.judges.llm.form import BadReplyError, one_object
from ragassay.run.judges.llm.quotes import places

PARSER = "llm-claims/1"
QUOTE, SUBJECT = 600, 120
"""Characters of a quote and of a subject that are asked for."""
_SLACK = 4
MOST_BETWEEN = 3
"""So many words in a row (and, as well as) may belong to no claim; none of them a number or a negation."""
_WORD = re.compile(r"[^\W_]+")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NEGATES = re.compile("[不没沒未非無无否]|ない|ません|لا|لم|لن|ليس|غير")
_Place = tuple[int, int]


def schema_of(most: int) -> dict[str, Any]:
    """The JSON Schema of a reply with at most so many claims."""
    quote = {"type": "string", "minLength": 1, "maxLength": QUOTE}
    subject = {"type": "string", "maxLength": SUBJECT}
    claim = {
        "type": "object",
        "properties": {"quote": quote, "subject": subject},
        "required": ["quote", "subject"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "claims": {"type": "array", "items": claim, "maxItems": most},
            "no_claims": {"type": "array", "items": quote, "maxItems": most},
        },
        "required": ["claims", "no_claims"],
        "additionalProperties": False,
    }


def read(text: str, answer: str, language: str | None, *, most: int) -> Cut:
    """The claims of a reply, found in the answer; BadReplyError with a code of its own for anything that is not right.

    form, too_long, too_many_claims: what was asked for is not there; invented_span: a quote does not stand in the
    answer as words of it; overlapping: two quotes share a place; left_out: a sentence is in no quote.
    """
    value = one_object(text)
    if set(value) != {"claims", "no_claims"} or not all(isinstance(value[one], list) for one in value):
        raise BadReplyError("form", "the reply is no object with `claims` and `no_claims` alone")
    said = [_claim(one) for one in value["claims"]]
    none = [_text(one, QUOTE) for one in value["no_claims"]]
    if len(said) > most or len(none) > most:
        raise BadReplyError("too_many_claims", f"{many(len(said), 'claim')}, and {most} at most were asked for")
    taken: list[_Place] = []
    own = [_free(answer, quote, taken) for quote, _ in said]
    empty = [_free(answer, quote, taken) for quote in none]
    _check_whole(answer, language, sorted(taken))
    found = sorted((place, _subject(answer, subject, place)) for place, (_, subject) in zip(own, said, strict=True))
    tag = digest_of([[list(place), list(subject or ())] for place, subject in found]).removeprefix("sha256:")[:6]
    claims = tuple(
        Claim(claim_id=f"m{tag}.{number}", start=place[0], end=place[1], subject=subject)
        for number, (place, subject) in enumerate(found, 1)
    )
    return Cut(claims, len(empty))


def _claim(one: Any) -> tuple[str, str]:
    if not isinstance(one, Mapping) or set(one) != {"quote", "subject"}:
        raise BadReplyError("form", "a claim has quote, subject and nothing else")
    subject = one["subject"]
    return _text(one["quote"], QUOTE), "" if subject == "" else _text(subject, SUBJECT)


def _text(one: Any, longest: int) -> str:
    if not isinstance(one, str) or not one.strip():
        raise BadReplyError("form", "quotes are texts")
    if len(one) > _SLACK * longest:
        raise BadReplyError("too_long", f"a quote of {many(len(one), 'character')}")
    return one


def _free(answer: str, quote: str, taken: list[_Place]) -> _Place:
    """The first place of a quote that no other quote has; it is taken then."""
    found = list(places(quote, answer))
    if not found:
        raise BadReplyError("invented_span", f"{quote[:200]!r} does not stand in the answer")
    for start, end in found:
        if all(end <= first or last <= start for first, last in taken):
            taken.append((start, end))
            return start, end
    raise BadReplyError("overlapping", f"{quote[:200]!r} shares words with another quote")


def _subject(answer: str, subject: str, own: _Place) -> _Place | None:
    """The place of a subject that is nearest before the claim, else the first one; None for none."""
    if not subject:
        return None
    found = list(places(subject, answer))
    if not found:
        raise BadReplyError("invented_span", f"subject {subject[:200]!r} does not stand in the answer")
    if any(own[0] <= start and end <= own[1] for start, end in found):
        return None  # its own words name it
    before = [one for one in found if one[1] <= own[0]]
    return before[-1] if before else found[0]


def _check_whole(answer: str, language: str | None, taken: Sequence[_Place]) -> None:
    """BadReplyError if a sentence that may claim something, or a part of one that says something, is in no quote."""
    plain = blank(answer)
    for piece in split(answer, language):
        if piece.kind != "claim":
            continue
        inside = [one for one in taken if one[0] < piece.end and piece.start < one[1]]
        for start, end in _between(piece.start, piece.end, inside):
            left = plain[start:end]
            if (not inside and _WORD.search(left)) or _says_something(left):
                raise BadReplyError("left_out", f"{answer[start:end].strip()[:200]!r} is in no quote")


def _between(start: int, end: int, inside: Sequence[_Place]) -> Iterator[_Place]:
    for first, last in inside:
        if start < first:
            yield start, first
        start = max(start, last)
    if start < end:
        yield start, end


def _says_something(left: str) -> bool:
    words = [one.casefold() for one in _WORD.findall(left)]
    size = sum(len(_DENSE.findall(one)) or 1 for one in words)
    numbers = any(sign.isdigit() for one in words for sign in one)
    return size > MOST_BETWEEN or numbers or not NEGATORS.isdisjoint(words) or bool(_NEGATES.search(left))
