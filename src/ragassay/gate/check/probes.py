"""Whether a suite of probes is large enough to ever show what a policy demands of it. Reads no assessment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragassay.gate.check.model import Finding
from ragassay.probe.rates import more_needed
from ragassay.records.policy import ProbeDemand
from ragassay.records.probe import ProbeSuite
from ragassay.records.text import many
from ragassay.store import Store

SUITES = "probesuite/"
"""Beginning of the names of suites."""


def suites_of(store: Store) -> dict[str, int]:
    """Name of each frozen suite -> its probes in all repeats."""
    found = {one.name.removeprefix(SUITES): store.get_record(ProbeSuite, one.digest) for one in store.refs(SUITES)}
    return {name: one.probe_count * one.repeats for name, one in found.items()}


def check_probe(demand: ProbeDemand, suites: Mapping[str, int] | None) -> Iterator[Finding]:
    """Refused: a bound that the suite could not reach though nothing leaked. `suites` None: nothing is known."""
    if suites is None:
        return
    probes = suites.get(demand.suite)
    if probes is None:
        known = (
            f"frozen: {', '.join(sorted(suites))}" if suites else "`ragassay probe plan` freezes what [probe] declares"
        )
        yield Finding("warning", "policy.probe.suite", f"no suite {demand.suite!r} is frozen yet", known)
        return
    bounds = {"policy.probe.at_most": demand.at_most}
    bounds |= {f"policy.probe.channels.{channel}": most for channel, most in demand.channels.items()}
    for field, most in bounds.items():
        more = 0 if most is None else more_needed(0, probes, most)
        if more != 0:
            needed = "no number is enough" if more is None else f"{many(probes + more, 'is', 'are')} needed"
            yield Finding(
                "refused", field, f"{many(probes, 'probe')} cannot show at most {most:g}, though none leaks: {needed}",
                "raise documents or repeats of [probe], or the bound",
            )  # fmt: skip
