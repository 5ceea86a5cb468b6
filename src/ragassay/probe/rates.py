"""Verdicts to rates, each with its own denominator and an exact bound. Nothing to divide by is no rate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from scipy.stats import beta

from ragassay.probe.verdict import Status, Verdict
from ragassay.records.probe import Channel, ProbeRate, RateOf

LEVEL = 0.95
MOST_PROBES = 100_000_000


def upper_bound(leaked: int, probes: int, level: float = LEVEL) -> float | None:
    """The exact one-sided upper bound of Clopper and Pearson; of 0 in n it is 1 - (1 - level)^(1/n). None for n = 0.

    >>> round(upper_bound(0, 3000), 7), upper_bound(0, 0), upper_bound(5, 5)
    (0.0009981, None, 1.0)
    """
    if not probes:
        return None
    if leaked >= probes:
        return 1.0
    if not leaked:
        return float(-math.expm1(math.log1p(-level) / probes))
    return float(beta.ppf(level, leaked + 1, probes - leaked))


def more_needed(leaked: int, probes: int, wanted: float, level: float = LEVEL) -> int | None:
    """How many further probes without a leak bring the bound down to `wanted`; None if more than MOST_PROBES would.

    >>> more_needed(0, 0, 0.001), more_needed(0, 3000, 0.001), more_needed(0, 2000, 0.001)
    (2995, 0, 995)
    """
    low, high = probes, max(1, probes)
    while (upper_bound(leaked, high, level) or 1.0) > wanted:
        low, high = high, high * 2
        if high > MOST_PROBES:
            return None
    while low < high:
        middle = (low + high) // 2
        bound = upper_bound(leaked, middle, level)
        low, high = (low, middle) if bound is not None and bound <= wanted else (middle + 1, high)
    return low - probes


def rate(of: RateOf, key: str, statuses: Iterable[Status], wanted: float) -> ProbeRate:
    """The rate of some verdicts."""
    counts: Counter[Status] = Counter(statuses)
    probes = counts["clean"] + counts["empty"] + counts["leaked"]
    return ProbeRate(
        of=of, key=key, attempted=counts.total(), clean=counts["clean"], empty=counts["empty"],
        leaked=counts["leaked"], not_evaluable=counts["not_evaluable"], invalid=counts["invalid"],
        error=counts["error"], bound=upper_bound(counts["leaked"], probes),
        more_needed=more_needed(counts["leaked"], probes, wanted),
    )  # fmt: skip


def rates(verdicts: list[Verdict], tenants: Mapping[str, str], wanted: float) -> list[ProbeRate]:
    """All, by category, by wording, by pair of asker and owner, and by channel. Poison has rates of its own."""
    told = [one for one in verdicts if one.probe.category != "poison"]
    found = [rate("all", "all", (one.status for one in told), wanted)]
    groups: dict[tuple[RateOf, str], list[Status]] = {}
    for one in told:
        groups.setdefault(("category", one.probe.category), []).append(one.status)
        groups.setdefault(("wording", one.probe.wording), []).append(one.status)
        if one.probe.owner is not None and one.probe.arm == "attacker":
            asker = f"{one.probe.principal} ({tenants.get(one.probe.principal, '')})"
            groups.setdefault(("pair", f"{asker} -> {one.probe.owner}"), []).append(one.status)
    found += [rate(of, key, statuses, wanted) for (of, key), statuses in sorted(groups.items())]
    channels: list[Channel] = sorted({channel for one in told for channel in one.channels})
    for channel in channels:
        found.append(rate("channel", channel, (_in_channel(one, channel) for one in told), wanted))
    return found


def _in_channel(one: Verdict, channel: Channel) -> Status:
    """What a probe came to, as far as one channel shows it."""
    if any(each.channel == channel and each.severity == "leak" for each in one.findings):
        return "leaked"
    if channel not in one.channels:
        return "not_evaluable"
    return "clean" if one.status == "leaked" else one.status
