"""What a run would ask, where, and what that may take at most. Asks nothing, connects to nothing, writes nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ragassay.records.base import Digest, Metadata, Record
from ragassay.records.protocol import Subject
from ragassay.records.text import many
from ragassay.run.ceiling import Ceiling
from ragassay.run.journal import Journal


class Planned(Record, frozen=True, kw_only=True):
    """The calls of a run before it is made."""

    system: str
    endpoint: str
    """Where they would go: host, port and path, a declared name, or the kind of adapter."""
    protocol: Digest
    questions: int
    repeats: int
    kept: int
    """Questions in the journal of this job, which are not asked again."""
    calls: int
    """Questions that would be asked."""
    most_calls: int
    """With every retry that is allowed."""
    concurrency: int
    timeout_s: float
    max_wait_s: float
    longest_s: float
    """If every question took all the time that it may."""
    sealed: bool = False
    """The run is finished; nothing would be asked."""
    ceiling: Metadata = {}
    """What is set, and what is counted already."""
    worst: Metadata = {}
    """Tokens and cost of `most_calls` at the declared worst case; empty where none is declared."""
    asked_at_least: int | None = None
    """Questions that fit under the ceiling if each takes its declared worst case in one call; absent: no ceiling."""


def plan_run(
    subject: Subject,
    protocol: Digest,
    system: Any,
    *,
    questions: int,
    journal: Path | None,
    concurrency: int,
    ceiling: Ceiling,
) -> Planned:
    """What `execute` would do with the same arguments; `journal` is the job's file if it is to be gone on with."""
    kept = Journal.peek(journal) if journal is not None and journal.exists() else None
    for entry in kept.entries.values() if kept else ():
        ceiling.settle(0, entry.facts)
    done = len(kept.entries) if kept else 0
    calls = questions * subject.repeats - done
    most = calls * (1 + int(getattr(system, "retries", 0)))
    wait_s = float(getattr(system, "max_wait_s", 0.0))
    return Planned(
        system=subject.system.name,
        endpoint=_endpoint(system) or subject.system.adapter,
        protocol=protocol,
        questions=questions,
        repeats=subject.repeats,
        kept=done,
        calls=calls,
        most_calls=most,
        concurrency=concurrency,
        timeout_s=subject.timeout_s,
        max_wait_s=wait_s,
        longest_s=math.ceil(calls / concurrency) * (subject.timeout_s + wait_s),
        sealed=kept is not None and kept.state == "sealed",
        ceiling=ceiling.to_metadata(),
        worst=_worst(ceiling, most),
        asked_at_least=_fitting(ceiling, calls) if ceiling else None,
    )


def _endpoint(system: Any) -> str:
    """The endpoint that an adapter names, or that the adapter inside it names."""
    found = getattr(system, "endpoint", "")
    return found if isinstance(found, str) else _endpoint(found)


def _worst(ceiling: Ceiling, calls: int) -> Metadata:
    prices = ceiling.prices
    found: Metadata = {}
    if prices.most_input_tokens is not None and prices.most_output_tokens is not None:
        found["tokens"] = ceiling.worst.tokens * calls
    if ceiling.worst.cost:
        found |= {"cost": round(ceiling.worst.cost * calls, 6), "currency": prices.currency}
    return found


def _fitting(ceiling: Ceiling, calls: int) -> int:
    """The most calls that have room at their worst, by bisection; at most `calls`."""
    low, high = 0, calls
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ceiling.has_room(middle) else (low, middle - 1)
    return low


def describe(planned: Planned) -> list[str]:
    """The plan in lines."""
    if planned.sealed:
        return ["this run is finished and sealed; nothing would be asked (--no-resume asks everything anew)"]
    kept = f" - {planned.kept} kept in the journal" if planned.kept else ""
    made = [
        f"{many(planned.calls, 'question')} would be asked of {planned.system}",
        f"  calls     {many(planned.questions, 'question')} x {planned.repeats}{kept} = {planned.calls} "
        f"to {planned.endpoint}"
        + (f"; with every retry {planned.most_calls}" if planned.most_calls != planned.calls else ""),
        f"  at once   {planned.concurrency} at most",
        f"  time      {planned.longest_s:,.0f} s at worst: {planned.timeout_s:g} s a question"
        + (f" and {planned.max_wait_s:g} s of waiting between its attempts" if planned.max_wait_s else ""),
    ]
    if planned.worst:
        tokens = [many(int(str(planned.worst["tokens"])), "token")] if "tokens" in planned.worst else []
        money = [f"{planned.worst['cost']:g} {planned.worst['currency']}"] if "cost" in planned.worst else []
        made.append(f"  at worst  {', '.join(tokens + money)} (declared worst case, every retry)")
    limits = {"max_cost": "cost", "max_tokens": "tokens", "max_calls": "calls"}
    for name, of in limits.items():
        if name in planned.ceiling:
            made.append(f"  ceiling   {name} = {planned.ceiling[name]}, of which {planned.ceiling[of]} are spent")
    if planned.asked_at_least is not None and planned.asked_at_least < planned.calls:
        made.append(
            f"            at their worst case {planned.asked_at_least} of the {many(planned.calls, 'question')} fit; "
            "the others would be missing(cost_ceiling)"
        )
    return made
