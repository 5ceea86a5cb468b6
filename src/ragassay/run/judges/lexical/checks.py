"""All checks on top of overlap, together, and what they take from a claim's support. Counts no words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ragassay.run.judges.lexical.amounts import check_quantities
from ragassay.run.judges.lexical.model import Finding
from ragassay.run.judges.lexical.polarity import check_polarity
from ragassay.run.judges.lexical.roles import check_roles
from ragassay.run.judges.lexical.scope import check_scope
from ragassay.run.judges.lexical.terms import Sentence

VERSION = "checks/2"
CONTRADICTION, DOUBT = 0.95, 0.5
"""What a finding of strength 1 takes from the support, as a share."""
_CERTAIN = 0.45
_CHECKS = (check_quantities, check_scope, check_polarity, check_roles)


def findings(
    claim: Sequence[Sentence],
    shown: Sequence[Sentence],
    chosen: Sequence[int],
    weights: Mapping[str, float],
    language: str,
) -> list[Finding]:
    """What the checks say of a claim beside the sentences that overlap chose; the strongest first."""
    if not chosen:
        return []
    found = [
        one._replace(strength=one.strength * math.sqrt(_covered(shown[one.sentence], weights)))
        if one.contradicts
        else one
        for check in _CHECKS
        for one in check(claim, shown, chosen, weights, language)
    ]
    found += _names(claim, shown, chosen)
    return sorted(found, key=lambda one: (not one.contradicts, -one.strength, one.check))


def _covered(sentence: Sentence, weights: Mapping[str, float]) -> float:
    """The share of the claim's weight that stands in a sentence: a clash with little in common may mean nothing."""
    total = math.fsum(weights.values())
    return math.fsum(weights[key] for key in sorted(sentence.keys & weights.keys())) / total if total else 0.0


def _names(claim: Sequence[Sentence], shown: Sequence[Sentence], chosen: Sequence[int]) -> Iterator[Finding]:
    """Names of the claim that the evidence does not have anywhere; English and Spanish, whose capitals say so."""
    there = {term.key for one in shown for term in one.terms}
    for mine in claim:
        for term in mine.terms:
            if term.name and term.content and term.key not in there:
                where = shown[chosen[0]]
                yield Finding(
                    "name", False, 0.4, f"the name {term.word!r} does not stand in the evidence", chosen[0],
                    where.start, where.end,
                )  # fmt: skip
                return


def lowered(recall: float, found: Sequence[Finding]) -> float:
    """The support that is left of an overlap."""
    for one in found:
        recall *= 1 - (CONTRADICTION if one.contradicts else DOUBT) * one.strength
    return recall


def contradiction(found: Sequence[Finding]) -> Finding | None:
    """The strongest finding that contradicts, if it is strong enough to say so."""
    return next((one for one in found if one.contradicts and one.strength >= _CERTAIN), None)
