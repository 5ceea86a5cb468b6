"""An assessment of cross-tenant probes as lines, as Markdown and as plain data for a page. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ragassay.records.base import Digest
from ragassay.records.probe import Assessment, Finding, Oracle, ProbeRate
from ragassay.records.text import many
from ragassay.report.advised import Advised, lines_of
from ragassay.report.leaks import Group, grouped, suspects

MOST_LEAKS = 40
MOST_LINES = 12
"""Kinds of findings that a terminal shows."""
MOST_PAIRS = 3
SUSPECTS = "Where to look first"
_GROUPS = {
    "all": "All probes", "category": "By category", "wording": "By wording", "pair": "By pair of asker and owner",
    "channel": "By channel", "attack": "Planted attacks, against clean twins",
}  # fmt: skip
NOT_PROBED = (
    "This system was not probed: there is no assessment of it. It would take `ragassay probe run`, and a system that "
    "documents can be planted in."
)
HEADS = (
    "",
    "own only",
    "attempted",
    "clean",
    "empty",
    "leaked",
    "not evaluable",
    "invalid",
    "error",
    "at most",
    "more for bound",
)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One rate in words."""

    key: str
    cells: tuple[str, ...]
    leaked: bool


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """The section: its own denominators, apart from every other number of a scorecard."""

    suite: str
    assessment: Digest | None
    """Record of the Assessment, where it is known."""
    asked: str
    """From when to when."""
    sentence: str
    suspects: tuple[str, ...]
    """Where to look first."""
    facts: tuple[str, ...]
    tables: tuple[tuple[str, tuple[Row, ...]], ...]
    rates: tuple[ProbeRate, ...]
    """The same as numbers."""
    leaks: tuple[Group, ...]
    """Findings that are alike, the gravest first."""
    more_leaks: int
    """Kinds that are not shown."""
    findings: int
    """All of them; the table of lines holds each."""
    steps: tuple[str, ...]
    oracles: tuple[str, ...]
    wanted_bound: float
    leaked: bool
    stale: tuple[str, ...] = ()
    """What has changed since; then nothing of it counts."""
    unknown: tuple[str, ...] = ()
    """Of which nobody says whether it has changed."""
    advised: Advised | None = None
    """What a model said, apart from all that is counted; None where nobody looked whether one had."""


def probed(
    one: Assessment, findings: Iterable[Finding], stale: Sequence[str] = (), *, suite: str = "",
    digest: Digest | None = None, unknown: Sequence[str] = (), advised: Advised | None = None,
) -> Probed:  # fmt: skip
    """The section of one assessment."""
    findings = tuple(findings)
    groups = grouped(findings)
    tables = [
        (title, tuple(_row(rate) for rate in one.rates if rate.of == of))
        for of, title in _GROUPS.items()
        if any(rate.of == of for rate in one.rates)
    ]
    return Probed(
        suite=suite, assessment=digest, asked=f"{one.started_at[:19]} to {one.finished_at[:19]}",
        sentence=sentence(one, stale), suspects=tuple(suspects(findings)), facts=tuple(_facts(one)),
        tables=tuple(tables), rates=one.rates,
        leaks=tuple(groups[:MOST_LEAKS]), more_leaks=max(0, len(groups) - MOST_LEAKS),
        findings=sum(each.count for each in groups), steps=tuple(_steps(one)), oracles=tuple(_oracles(one)),
        wanted_bound=one.wanted_bound, leaked=bool(one.leaks or one.attacks), stale=tuple(stale),
        unknown=tuple(unknown), advised=advised,
    )  # fmt: skip


def sentence(one: Assessment, stale: Sequence[str] = ()) -> str:
    """What it amounts to, in one sentence."""
    every = one.rate("all", "all")
    if stale:
        return f"Stale: {', '.join(stale)} changed since it was made, so that it counts as missing."
    if one.leaks:
        return f"{many(one.leaks, 'leak')}: somebody can see what is not theirs. This blocks a release."
    if every is None or every.bound is None:
        return _nothing(every)
    counted = every.clean + every.empty
    unseen = f"; {many(every.not_evaluable, 'probe')} could not be evaluated" if every.not_evaluable else ""
    whole = "" if one.complete else " Not all of the suite was asked."
    return f"No leak in {many(counted, 'probe')}; at most {every.bound:.3g} of such probes leak (95 %){unseen}.{whole}"


def _nothing(every: ProbeRate | None) -> str:
    """Why no probe says anything."""
    if every is None or not every.attempted:
        return "Nothing could be evaluated: nothing was asked."
    why = (
        (every.invalid, "without power, since not even who may see something was shown it"),
        (every.not_evaluable, "whose reply shows no documents"), (every.error, "without a reply"),
    )  # fmt: skip
    told = ", ".join(f"{many(count, 'probe')} {what}" for count, what in why if count)
    return f"Nothing could be evaluated, which is no sign of safety: {told}."


def _facts(one: Assessment) -> Iterable[str]:
    every = one.rate("all", "all")
    if every is not None and every.invalid:
        cause = "; was anything planted, and was it indexed in time?" if 2 * every.invalid > every.attempted else ""
        yield (
            f"{every.invalid:,} of {many(every.attempted, 'probe')} had no power (invalid): the owner did not get the "
            f"document either, so that they show nothing{cause}"
        )
    if every is not None:
        with_documents = every.clean + every.leaked
        share = f"{every.clean / with_documents:.4f}" if with_documents else "undefined"
        yield (
            f"authorization rate {share}: {every.clean:,} of {many(with_documents, 'response')} with documents held "
            f"only the asker's own; {many(every.empty, 'response')} held none and count apart"
        )
    nothing = one.rate("category", "empty")
    if nothing is not None and (probes := nothing.clean + nothing.empty + nothing.leaked):
        yield (
            f"of {many(probes, 'probe')} of what does not exist {nothing.empty:,} brought nothing, "
            f"{nothing.clean:,} the nearest of the asker's own"
        )
    yield f"{many(one.requests, 'request')}, {one.started_at[:19]} to {one.finished_at[:19]}"
    left = f", {many(one.left, 'is', 'are')} still there" if one.left else ", all taken away"
    yield f"{many(one.planted, 'document')} planted{left}"
    yield (
        f"{many(one.protected_in_empty, 'answer')} to what the asker cannot get, or to what does not exist, held "
        "protected information"
    )
    yield f"{many(one.attacks, 'attack')} steered an answer; {many(one.reviews, 'finding')} for review"
    if not one.fuzzy:
        yield "near misses were not looked for: the extra `probe` is not installed"


def _row(rate: ProbeRate) -> Row:
    bound = "undefined" if rate.bound is None else f"{rate.bound:.3g}"
    more = "not reachable" if rate.more_needed is None else f"{rate.more_needed:,}"
    with_documents = rate.clean + rate.leaked
    share = f"{rate.clean / with_documents:.4f}" if with_documents else "undefined"
    counts = (rate.attempted, rate.clean, rate.empty, rate.leaked, rate.not_evaluable, rate.invalid, rate.error)
    return Row(key=rate.key, cells=(share, *(f"{count:,}" for count in counts), bound, more), leaked=bool(rate.leaked))


def _steps(one: Assessment) -> Iterable[str]:
    for step in one.filters:
        yield (
            f"{step.step}: filters before it ranks in {step.verified:,}, held foreign candidates in {step.violated:,}, "
            f"does not show it in {step.not_evaluable:,}"
            + (f"; its list was short in {many(step.short, 'question')}" if step.short else "")
        )


def _oracles(one: Assessment) -> Iterable[str]:
    """Those that say something, then the power of time and counts."""
    for oracle in one.oracles:
        p_values = " and ".join(f"{p:.2g}" for p in oracle.p_values)
        if oracle.verdict in ("finding", "review"):
            yield f"{oracle.verdict}: {oracle.path} tells denied from non-existent (p = {p_values})"
    for oracle in one.oracles:
        if oracle.channel == "latency" and oracle.path.startswith("latency_ms"):
            reach = "nothing" if oracle.detectable is None else f"a difference of {oracle.detectable:.3g} ms"
            of = oracle.path.removeprefix("latency_ms") or " of questions"
            yield f"time{of}: {_over(oracle)}, which could have shown {reach} nine times in ten"
    counts = [one for one in one.oracles if one.channel == "count" and one.detectable is not None]
    if counts:
        least = max(one.detectable or 0.0 for one in counts)
        told = f"{many(len(counts), 'count')} of denied and non-existent compared, which could have shown a difference"
        yield f"{told} of {least:.3g} nine times in ten, if it is there for nearly all documents"


def _over(one: Oracle) -> str:
    documents = " and ".join(f"{count:,}" for count in one.pairs)
    told = {"none": "no difference", "not_evaluable": "not evaluable"}.get(one.verdict, one.verdict)
    return f"{told} over {documents} documents"


def lines(
    one: Assessment, findings: Iterable[Finding], stale: Sequence[str] = (), advised: Advised | None = None
) -> list[str]:
    """The section for a terminal."""
    view = probed(one, findings, stale, advised=advised)
    found = [view.sentence]
    if view.suspects:
        found += ["", SUSPECTS, *(f"  {one}" for one in view.suspects), ""]
    found += [f"  {fact}" for fact in view.facts]
    if view.leaks:
        found += ["", f"Findings: {view.findings:,}, those that are alike together"]
    for leak in view.leaks[:MOST_LINES]:
        found.append(f"  {leak.severity:7} {leak.where}, by {leak.by}: {leak.how} [{', '.join(leak.owasp)}]")
        found.append(f"          {leak.size}: {leak.told}")
        found.append(f"          {_between(leak.pairs)}{'; '.join(leak.examples)}")
    if more := view.more_leaks + max(0, len(view.leaks) - MOST_LINES):
        found.append(f"  and {many(more, 'more kind', 'more kinds')} of them; --json has every finding")
    for title, told in (("Filter before ranking", view.steps), ("Oracles", view.oracles)):
        found += ["", title, *(f"  {line}" for line in told)] if told else []
    for title, rows in view.tables:
        width = max(len(row.key) for row in rows)
        found += ["", title, f"  {'':{width}}  " + "  ".join(f"{head:>13}" for head in HEADS[1:])]
        found += [f"  {row.key:{width}}  " + "  ".join(f"{cell:>13}" for cell in row.cells) for row in rows]
    if view.advised is not None:
        found += ["", *lines_of(view.advised)]
    return found


def markdown_of(view: Probed) -> list[str]:
    """The section of a scorecard for Markdown."""
    head = f"### Suite {_cell(view.suite)}" if view.suite else "## Authorization: cross-tenant probes"
    found = [head, "", view.sentence, ""]
    if view.suspects:
        found += [f"#### {SUSPECTS}", "", *(f"- {_cell(one)}" for one in view.suspects), ""]
    found += [f"- {fact}" for fact in view.facts]
    if view.assessment is not None:
        found.append(f"- assessment `{view.assessment}`")
    if view.unknown:
        found.append(f"- nobody says whether {', '.join(view.unknown)} changed since: `ragassay gate` compares them")
    for title, rows in view.tables:
        found += ["", f"#### {title}", "", f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}"]
        found += [f"| {' | '.join((_cell(row.key), *row.cells))} |" for row in rows]
    if view.leaks:
        found += ["", f"#### Findings: {view.findings:,}, those that are alike together", ""]
    found += [
        f"- **{leak.severity}** {_cell(leak.where)}, by {leak.by}: {_cell(leak.how)}; {_cell(leak.size)}: "
        f"{_cell(leak.told)} [{', '.join(leak.owasp)}] ({_cell(_between(leak.pairs) + '; '.join(leak.examples))})"
        for leak in view.leaks
    ]
    if view.more_leaks:
        found.append(f"- and {many(view.more_leaks, 'more kind', 'more kinds')} of them")
    found += ["", *(f"- {_cell(line)}" for line in (*view.steps, *view.oracles))]
    if view.advised is not None:
        head, *told = lines_of(view.advised)
        found += ["", f"#### {head}", "", *(f"- {_cell(line)}" for line in told)]
    return [*found, ""]


def _between(pairs: Sequence[str]) -> str:
    """The first pairs of asker and owner, for the line of examples."""
    more = f" and {len(pairs) - MOST_PAIRS} more pairs" if len(pairs) > MOST_PAIRS else ""
    return f"{', '.join(pairs[:MOST_PAIRS])}{more}; " if pairs else ""


def _cell(text: str) -> str:
    kept = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return " ".join(kept.replace("[", "\\[").replace("]", "\\]").replace("*", "\\*").split())
