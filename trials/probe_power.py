"""The power of the oracles: at which share of documents denied must differ from non-existent to be found, and by how
much in units of the noise. Exact where it can be, and tried out on drawn pairs with the code that judges replies.
"""

from __future__ import annotations

import random
import sys
from statistics import NormalDist

from ragassay.probe.oracles import ALPHA, POWER, Pair, Seen, oracles, share_needed
from trials.lives import TrialError

SIZES = (15, 20, 24, 30, 40, 60, 100, 200)
"""Documents of each sample."""
TRIES = 400
Figures = list[tuple[str, str]]


def shift_needed(documents: int) -> float | None:
    """The shift of one reply's number that is found with probability POWER, in standard deviations of normal noise.

    The difference of two replies has a deviation of the root of 2, and exceeds 0 with the share that is needed.
    """
    share = share_needed(documents)
    return None if share is None else 2**0.5 * NormalDist().inv_cdf(share)


def found_share(documents: int, shift: float, seed: int, tries: int = TRIES) -> float:
    """Of so many drawn services whose denied replies take longer by `shift` deviations, the part that is found."""
    dice = random.Random(seed)
    key = ("latency", "latency_ms")
    found = 0
    for _ in range(tries):
        pairs = [
            Pair(str(number), Seen({key: dice.gauss(shift, 1)}, {}), Seen({key: dice.gauss(0, 1)}, {}))
            for number in range(2 * documents)
        ]
        found += oracles(pairs)[0].verdict == "finding"
    return found / tries


def rows(seed: int) -> list[tuple[int, float, float, float, float]]:
    """(documents, share, shift in deviations, part found at that shift, part found without one)."""
    made = []
    for size in SIZES:
        share, shift = share_needed(size), shift_needed(size)
        if share is None or shift is None:
            raise TrialError(f"{size} documents cannot show anything")
        made.append((size, share, shift, found_share(size, shift, seed), found_share(size, 0.0, seed)))
    return made


def table(seed: int) -> str:
    """The figures in Markdown."""
    lines = [
        f"Found with probability {POWER:g} in both samples, each at alpha = {ALPHA:g}; {TRIES} services drawn:", "",
        "| documents in each sample | share of them that must differ | shift of time, normal noise | found |"
        " found without a shift |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for size, share, shift, part, none in rows(seed):
        lines.append(f"| {size} | {share:.1%} | {shift:.2f} sd | {part:.1%} | {none:.1%} |")
    return "\n".join(lines)


def run_probe_power(seed: int) -> Figures:
    """The figures; TrialError where less is found than is promised, or something where nothing is."""
    figures = []
    for size, share, shift, part, none in rows(seed):
        told = f"{share:.1%} of documents, {shift:.2f} sd; found {part:.1%}, without a shift {none:.1%}"
        figures.append((f"power, {size} documents", told))
        if part < POWER - 0.05 or none:
            raise TrialError(": ".join(figures[-1]))
    return figures


if __name__ == "__main__":
    print(table(20260801))
    sys.exit(0)
