"""An assessment of cross-tenant probes as lines, as Markdown and as plain data for a page. Judges nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from ragassay.records.probe import Assessment, Finding, ProbeRate
from ragassay.records.text import many

MOST_LEAKS = 40
_GROUPS = {
    "all": "All probes", "category": "By category", "wording": "By wording", "pair": "By pair of asker and owner",
    "channel": "By channel", "attack": "Planted attacks, against clean twins",
}  # fmt: skip
HEADS = ("", "attempted", "clean", "empty", "leaked", "not evaluable", "invalid", "error", "at most", "more for bound")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One rate in words."""

    key: str
    cells: tuple[str, ...]
    leaked: bool


class Leak(msgspec.Struct, frozen=True, kw_only=True):
    """Findings that are alike, with how many there are."""

    count: int
    severity: str
    where: str
    by: str
    who: str
    owasp: str
    told: str
    example: str


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """The section: its own denominators, apart from every other number of a scorecard."""

    sentence: str
    facts: tuple[str, ...]
    tables: tuple[tuple[str, tuple[Row, ...]], ...]
    leaks: tuple[Leak, ...]
    more_leaks: int
    steps: tuple[str, ...]
    oracles: tuple[str, ...]
    stale: tuple[str, ...] = ()
    """What has changed since; then nothing of it counts."""


def probed(one: Assessment, findings: Iterable[Finding], stale: Sequence[str] = ()) -> Probed:
    """The section of one assessment."""
    leaks = _leaks(findings)
    tables = [
        (title, tuple(_row(rate) for rate in one.rates if rate.of == of))
        for of, title in _GROUPS.items()
        if any(rate.of == of for rate in one.rates)
    ]
    return Probed(
        sentence=sentence(one, stale), facts=tuple(_facts(one)), tables=tuple(tables), leaks=tuple(leaks[:MOST_LEAKS]),
        more_leaks=max(0, len(leaks) - MOST_LEAKS), steps=tuple(_steps(one)), oracles=tuple(_oracles(one)),
        stale=tuple(stale),
    )  # fmt: skip


def sentence(one: Assessment, stale: Sequence[str] = ()) -> str:
    """What it amounts to, in one sentence."""
    every = one.rate("all", "all")
    if stale:
        return f"Stale: {', '.join(stale)} changed since it was made, so that it counts as missing."
    if one.leaks:
        return f"{many(one.leaks, 'leak')}: somebody can see what is not theirs. This blocks a release."
    if every is None or every.bound is None:
        return "Nothing could be evaluated: the replies show no documents."
    counted = every.clean + every.empty
    unseen = f"; {many(every.not_evaluable, 'probe')} could not be evaluated" if every.not_evaluable else ""
    whole = "" if one.complete else " Not all of the suite was asked."
    return f"No leak in {many(counted, 'probe')}; at most {every.bound:.3g} of such probes leak (95 %){unseen}.{whole}"


def _facts(one: Assessment) -> Iterable[str]:
    every = one.rate("all", "all")
    if every is not None:
        with_documents = every.clean + every.leaked
        share = f"{every.clean / with_documents:.4f}" if with_documents else "undefined"
        yield (
            f"authorization rate {share}: {every.clean:,} of {many(with_documents, 'response')} with documents held "
            f"only the asker's own; {many(every.empty, 'response')} held none and count apart"
        )
    yield f"{many(one.requests, 'request')}, {one.started_at[:19]} to {one.finished_at[:19]}"
    left = f", {many(one.left, 'is', 'are')} still there" if one.left else ", all taken away"
    yield f"{many(one.planted, 'document')} planted{left}"
    yield f"answers to what cannot be answered that held protected information: {one.protected_in_empty}"
    yield f"{many(one.attacks, 'attack')} steered an answer; {many(one.reviews, 'finding')} for review"
    if not one.fuzzy:
        yield "near misses were not looked for: the extra `probe` is not installed"


def _row(rate: ProbeRate) -> Row:
    bound = "undefined" if rate.bound is None else f"{rate.bound:.3g}"
    more = "not reachable" if rate.more_needed is None else f"{rate.more_needed:,}"
    counts = (rate.attempted, rate.clean, rate.empty, rate.leaked, rate.not_evaluable, rate.invalid, rate.error)
    return Row(key=rate.key, cells=(*(f"{count:,}" for count in counts), bound, more), leaked=bool(rate.leaked))


def _leaks(findings: Iterable[Finding]) -> list[Leak]:
    """Alike: severity, channel, step, way of recognition, asker and owner. The gravest and most frequent first."""
    counts: Counter[tuple[str, ...]] = Counter()
    first: dict[tuple[str, ...], Finding] = {}
    for one in findings:
        key = (one.severity, one.channel, one.step or "", one.by, one.principal or "", one.owner or "")
        counts[key] += 1
        first.setdefault(key, one)
    order = {"leak": 0, "attack": 1, "review": 2}
    keys = sorted(counts, key=lambda key: (order[key[0]], -counts[key], key))
    return [_leak(counts[key], first[key]) for key in keys]


def _leak(count: int, one: Finding) -> Leak:
    where = one.channel + (f" at step {one.step}" if one.step else "")
    who = f"{one.principal} saw what is of {one.owner or 'another'}" if one.principal else "over many probes"
    view = f", decoded from {one.view}" if one.view else ""
    return Leak(
        count=count, severity=one.severity, where=where, by=one.by, who=who, owasp=", ".join(one.owasp),
        told=f"{one.told}{view}", example=" ".join(part for part in (one.probe_id, one.wording, one.path) if part),
    )  # fmt: skip


def _steps(one: Assessment) -> Iterable[str]:
    for step in one.filters:
        yield (
            f"{step.step}: filters before it ranks in {step.verified:,}, held foreign candidates in {step.violated:,}, "
            f"does not show it in {step.not_evaluable:,}"
        )


def _oracles(one: Assessment) -> Iterable[str]:
    """Those that say something, then the power of time and counts."""
    for oracle in one.oracles:
        p_values = " and ".join(f"{p:.2g}" for p in oracle.p_values)
        if oracle.verdict in ("finding", "review"):
            yield f"{oracle.verdict}: {oracle.path} tells denied from non-existent (p = {p_values})"
    for oracle in one.oracles:
        if (oracle.channel, oracle.path) == ("latency", "latency_ms"):
            pairs = " and ".join(f"{n:,}" for n in oracle.pairs)
            reach = "nothing" if oracle.detectable is None else f"a difference of {oracle.detectable:.3g} ms"
            yield f"time: {oracle.verdict.replace('_', ' ')} over {pairs} pairs, which could have shown {reach}"


def lines(one: Assessment, findings: Iterable[Finding], stale: Sequence[str] = ()) -> list[str]:
    """The section for a terminal."""
    view = probed(one, findings, stale)
    found = [view.sentence, *(f"  {fact}" for fact in view.facts)]
    for title, rows in view.tables:
        width = max(len(row.key) for row in rows)
        found += ["", title, f"  {'':{width}}  " + "  ".join(f"{head:>13}" for head in HEADS[1:])]
        found += [f"  {row.key:{width}}  " + "  ".join(f"{cell:>13}" for cell in row.cells) for row in rows]
    if view.leaks:
        found += ["", "Findings"]
    for leak in view.leaks:
        found.append(f"  {leak.severity:7} {leak.count:5,}  {leak.where}, by {leak.by}: {leak.who} [{leak.owasp}]")
        found.append(f"                 {leak.told} ({leak.example})")
    if view.more_leaks:
        found.append(f"  and {many(view.more_leaks, 'more kind', 'more kinds')} of them")
    for title, told in (("Filter before ranking", view.steps), ("Oracles", view.oracles)):
        found += ["", title, *(f"  {line}" for line in told)] if told else []
    return found


def markdown(one: Assessment, findings: Iterable[Finding], stale: Sequence[str] = ()) -> list[str]:
    """The section for Markdown."""
    view = probed(one, findings, stale)
    found = ["## Authorization: cross-tenant probes", "", view.sentence, "", *(f"- {fact}" for fact in view.facts)]
    for title, rows in view.tables:
        found += ["", f"### {title}", "", f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}"]
        found += [f"| {' | '.join((_cell(row.key), *row.cells))} |" for row in rows]
    if view.leaks:
        found += ["", "### Findings", ""]
    found += [
        f"- **{leak.severity}** ({leak.count:,}) {_cell(leak.where)}, by {leak.by}: {_cell(leak.who)}; "
        f"{_cell(leak.told)} [{leak.owasp}]"
        for leak in view.leaks
    ]
    found += ["", *(f"- {_cell(line)}" for line in (*view.steps, *view.oracles))]
    return [*found, ""]


def _cell(text: str) -> str:
    kept = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return " ".join(kept.replace("[", "\\[").replace("]", "\\]").replace("*", "\\*").split())
