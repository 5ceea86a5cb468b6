"""Stretches of a text that stand in order in one document, joined to chains; the best one and whether it is alone."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragassay.corpus.places import GRAM, Block

_MOST_TEXTS = 6
_MOST_ANCHORS = 3
_MOST_BLOCKS = 64
_LONGEST_GAP = 256
_LONGEST_END = 32
_SHORTEST_FILL = 3
_SLACK, _LONG = 32, 24
"""How far off its place in a chain a short stretch may be; one of 24 characters may be as far as the anchor is long."""
_MARGIN = 0.02
"""A chain that covers this part less than the best one fits as well as it."""


class Segment(NamedTuple):
    """Characters `start` to `end` of the wanted text and those of text `text` from `at` on: the same."""

    start: int
    end: int
    text: int
    at: int

    @property
    def length(self) -> int:
        """Characters, in both."""
        return self.end - self.start


Chain = list[Segment]


def best(
    wanted: str,
    blocks: Sequence[Block],
    part: tuple[int, int],
    text_of: Callable[[int], str],
    choices: Callable[[int], int],
    home: set[int],
) -> tuple[Chain, bool]:
    """The chain that covers most of a part of the wanted text, and whether another place fits as well.

    Of places that fit equally the one in a text of `home`, if it is the only one there. The chain is empty if nothing
    of GRAM characters stands anywhere, or if several fit.
    """
    by_text: dict[int, list[Segment]] = defaultdict(list)
    for one in blocks:
        if cut := _cut(one, part):
            by_text[one.text].append(cut)
    if not by_text:
        return [], False
    likely = sorted(by_text, key=lambda text: (-_union(by_text[text]), text))[:_MOST_TEXTS]
    found = [chain for text in likely for chain in _chains(by_text[text])]
    found.sort(key=lambda chain: (-_covered(chain), chain[0].text, chain[0].at))
    least = _covered(found[0]) * (1 - _MARGIN) - 2
    equal = [one for one in found if _shared(one, found[0]) >= least]
    if len(equal) > 1 or choices(equal[0][0].text) > 1:
        equal = [one for one in equal if one[0].text in home]
    if len(equal) != 1 or choices(equal[0][0].text) > 1:
        return [], True
    return _filled(wanted, equal[0], part, text_of(equal[0][0].text)), False


def _cut(block: Block, part: tuple[int, int]) -> Segment | None:
    start, end = max(block.start, part[0]), min(block.end, part[1])
    return Segment(start, end, block.text, block.at + start - block.start) if end - start >= GRAM else None


def _covered(chain: Chain) -> int:
    return sum(one.length for one in chain)


def _shared(chain: Chain, other: Chain) -> int:
    """How much of the wanted text both chains cover."""
    return sum(max(0, min(a.end, b.end) - max(a.start, b.start)) for a in chain for b in other)


def _union(segments: Sequence[Segment]) -> int:
    total = reached = 0
    for one in sorted(segments):
        total += max(0, one.end - max(reached, one.start))
        reached = max(reached, one.end)
    return total


def _chains(segments: list[Segment]) -> list[Chain]:
    """Chains in one text around its longest segments, each in a place of its own."""
    longest = sorted(segments, key=lambda one: (-one.length, one.start, one.at))[:_MOST_BLOCKS]
    made: list[Chain] = []
    for anchor in longest:
        if any(_overlap(anchor, one) for chain in made for one in chain):
            continue
        made.append(_chain(anchor, longest))
        if len(made) == _MOST_ANCHORS:
            break
    return made


def _overlap(one: Segment, other: Segment) -> bool:
    return one.at < other.at + other.length and other.at < one.at + one.length


def _chain(anchor: Segment, segments: Sequence[Segment]) -> Chain:
    """The anchor and, longest first, whatever stands in order with all that is in the chain, and not far off."""
    chain = [anchor]
    near = anchor.at - anchor.start
    for one in segments:
        slack = anchor.length if one.length >= _LONG else _SLACK
        if abs(one.at - one.start - near) <= slack and (fitting := _fit(one, chain)):
            chain = sorted([*chain, fitting])
    return chain


def _fit(one: Segment, chain: Chain) -> Segment | None:
    """What of a segment lies in order between the others; None if less than GRAM characters do."""
    start, end, at = one.start, one.end, one.at
    for other in chain:
        if other.start <= start and other.at <= at:
            skip = max(0, other.end - start, other.at + other.length - at)
            start, at = start + skip, at + skip
        elif other.start >= start and other.at >= at:
            end = min(end, other.start, start + other.at - at)
        else:
            return None
    return Segment(start, end, one.text, at) if end - start >= GRAM else None


def _filled(wanted: str, chain: Chain, part: tuple[int, int], text: str) -> Chain:
    """A chain with what agrees in its short gaps and at its ends."""
    made: Chain = []
    first, last = chain[0], chain[-1]
    low = max(part[0], first.start - _LONGEST_END)
    made += _between(wanted, (low, first.start), text, (max(0, first.at - _LONGEST_END), first.at), first.text)
    for one, other in zip(chain, [*chain[1:], None], strict=True):
        made.append(one)
        if other is not None:
            made += _between(wanted, (one.end, other.start), text, (one.at + one.length, other.at), one.text)
    high = min(part[1], last.end + _LONGEST_END)
    end = last.at + last.length
    return made + _between(wanted, (last.end, high), text, (end, min(len(text), end + _LONGEST_END)), last.text)


def _between(wanted: str, gap: tuple[int, int], text: str, hole: tuple[int, int], number: int) -> Chain:
    """What agrees in a gap, if that is at least half of it: less is what any two texts have in common."""
    if not 0 < gap[1] - gap[0] <= _LONGEST_GAP or not 0 < hole[1] - hole[0] <= _LONGEST_GAP:
        return []
    matcher = difflib.SequenceMatcher(None, wanted[slice(*gap)], text[slice(*hole)], autojunk=False)
    alike = [one for one in matcher.get_matching_blocks() if one.size >= _SHORTEST_FILL]
    if 2 * sum(one.size for one in alike) < gap[1] - gap[0]:
        return []
    return [Segment(gap[0] + one.a, gap[0] + one.a + one.size, number, hole[0] + one.b) for one in alike]
