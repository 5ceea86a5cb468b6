"""Words of scope (all, most, some, only, none; at least, at most): whether the evidence has another for the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragassay.run.judges.lexical.binding import attachments, wanted_of
from ragassay.run.judges.lexical.model import Finding
from ragassay.run.judges.lexical.terms import Sentence
from ragassay.run.judges.lexical.vocabulary import ALL, FEW, MOST, NONE, ONLY, OPEN, SOME

_SCOPES = (("only", ONLY), ("none", NONE), ("most", MOST), ("few", FEW), ("some", SOME), ("all", ALL), ("open", OPEN))
_CLASH = {
    frozenset(pair)
    for pair in (
        ("all", "some"), ("all", "most"), ("all", "few"), ("all", "none"), ("none", "some"), ("none", "most"),
        ("none", "few"), ("most", "few"), ("most", "none"), ("only", "open"), ("all", "only"),
    )
}  # fmt: skip

_TRUST = 0.8
"""Of what a clash of numbers says: words of scope stand in many sentences and are said of many things."""


class Scope(NamedTuple):
    """A word of scope, by class."""

    what: str
    word: str
    start: int
    end: int


def scopes(sentence: Sentence) -> list[Scope]:
    """The words of scope of a sentence; `nearly all`, `not all`, `more than half`, `all but` by what they mean."""
    made: list[Scope] = []
    words = [one.word for one in sentence.terms]
    for at, term in enumerate(sentence.terms):
        what = next((name for name, group in _SCOPES if term.word in group), "")
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        if not what or (term.word in ("any", "both", "part", "parte", "teil", "even", "too", "more")):
            what = "all" if term.word == "both" else what if term.word in ("part", "parte", "teil", "even") else ""
        if what == "all" and before in ("nearly", "almost", "fast", "beinahe", "casi"):
            what = "most"
        if what == "all" and before in ("not", "nicht", "no"):
            what = "some"
        if what == "all" and any(
            word in ("except", "but", "außer", "excepto", "salvo") for word in words[at + 1 : at + 6]
        ):
            what = "some"
        if what == "only" and after in ("some", "a", "einige", "algunos", "in") and term.word != "reserved":
            continue
        if what == "few" and before == "a" and "only" not in words:
            what = "some"
        if what:
            made.append(Scope(what, term.word, term.start, term.end))
    return made + _halves(sentence)


def _halves(sentence: Sentence) -> list[Scope]:
    """`more than half`, `mehr als die Hälfte`, `más de la mitad` are most."""
    made = []
    for one in sentence.quantities:
        near = [term.word for term in sentence.terms if 0 <= one.start - term.end < 14]
        if one.kind == "count" and one.value == 0.5 and {"more", "mehr", "más"} & set(near):
            made.append(Scope("most", "half", one.start, one.end))
    return made


def check_scope(
    claim: Sequence[Sentence],
    shown: Sequence[Sentence],
    chosen: Sequence[int],
    weights: Mapping[str, float],
    language: str,
) -> Iterator[Finding]:
    """A finding for each word of scope in the claim that the evidence's nearest one is not compatible with."""
    for mine in claim:
        wanted = wanted_of(mine, weights, language)
        for one in scopes(mine):
            agree, clash = 0.0, None
            for at in chosen[:2]:
                rivals = scopes(shown[at])
                near = attachments(rivals, shown[at], wanted, language)
                for two, own in zip(rivals, near, strict=True):
                    value = sum(word.share * amount for amount, word in zip(own, wanted, strict=True))
                    if two.what == one.what:
                        agree = max(agree, value)
                    elif frozenset((one.what, two.what)) in _CLASH and (clash is None or value > clash[0]):
                        clash = value, two, at
            if clash and clash[0] > agree + 0.02:
                strength = _TRUST * min(1.0, 0.6 + clash[0] - agree)
                why = f"the claim says {one.word!r} ({one.what}); the evidence says {clash[1].word!r} ({clash[1].what})"
                yield Finding("scope", True, strength, why, clash[2], clash[1].start, clash[1].end)
                return
    yield from _bounds(claim, shown, chosen)


_LEAST = ("at least", "no fewer than", "no less than", "not less than", "mindestens", "wenigstens", "al menos",
          "como mínimo", "minimum", "or more", "more than")  # fmt: skip
_MOST = ("at most", "no more than", "not more than", "up to", "höchstens", "maximal", "nicht mehr als", "como máximo",
         "maximum", "or fewer", "or less", "a lo sumo", "fewer than", "less than", "cannot carry more")  # fmt: skip


def _bounds(claim: Sequence[Sentence], shown: Sequence[Sentence], chosen: Sequence[int]) -> Iterator[Finding]:
    """`at least` against `at most` beside the same number."""
    mine = " ".join(one.word for each in claim for one in each.terms)
    mine_side = _side(mine)
    if not mine_side:
        return
    numbers = {two.key for each in claim for two in each.quantities}
    for at in chosen[:1]:
        theirs = " ".join(one.word for one in shown[at].terms)
        side = _side(theirs)
        same = [two for two in shown[at].quantities if two.key in numbers]
        if side and side != mine_side and same:
            why = f"the claim says {mine_side}; the evidence says {side}"
            yield Finding("scope", True, 0.9 * _TRUST, why, at, same[0].start, same[0].end)
            return


def _side(text: str) -> str:
    text = f" {text} "
    if any(f" {one} " in text for one in _MOST):
        return "at most"
    return "at least" if any(f" {one} " in text for one in _LEAST) else ""
