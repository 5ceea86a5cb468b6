"""Judges as lines for a terminal and as Markdown; untrusted text is cleaned and escaped. Computes no number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragassay.records.score import Interval
from ragassay.report.grounding.model import Among, JudgeView
from ragassay.report.grounding.words import FAILURES, TOLD_BY, UNCALIBRATED
from ragassay.report.words import NOT_MEASURED, class_name, literal, many, number, plain


def doubted(measure: str, judges: Sequence[JudgeView]) -> bool:
    """Whether a measure is by a judge that nobody has held against people as it is."""
    names = {part[3:] for part in re.split(r"[(),/]", measure) if part[:3] in ("by=", "by:")}
    return any(not one.calibrated and one.name in names for one in judges)


def mark(measure: str, judges: Sequence[JudgeView]) -> str:
    """What stands behind a number of such a judge."""
    return f" ({UNCALIBRATED})" if doubted(measure, judges) else ""


def caveats(judges: Sequence[JudgeView]) -> Iterator[str]:
    """What must be known before a number of a judge is believed."""
    for one in judges:
        if one.state == "disqualified":
            yield f"Judge {one.name} is disqualified ({(one.stopped or '').replace('_', ' ')}): nothing it said counts."
        elif not one.calibrated:
            yield f"Judge {one.name} ({one.kind}) is {one.calibration}. {one.cannot_see}"
        if one.state == "partial" and one.kind != "person":
            yield f"Judge {one.name} did not rule on everything ({(one.stopped or '').replace('_', ' ')})."


def lines(judges: Sequence[JudgeView]) -> Iterator[str]:
    """A few plain lines a judge: verdicts, what is wrong with claims, what people make of it."""
    for one in judges:
        state = "" if one.calibrated else f", {UNCALIBRATED}"
        told = f"{number(one.valued)} of {many(one.asked, 'item')} have a verdict"
        yield plain(f"judge {one.name} ({one.kind}{state}): {told}")
        for row in one.failures[:6]:
            yield plain(f"  {class_name(row.class_)}, {many(row.claims, 'claim')}: {FAILURES[row.failure]}")
        for fixed in one.corrected:
            yield plain(
                f"  {class_name(fixed.class_)}, {fixed.measure} {fixed.raw:.3f} by the judge; by people "
                f"{fixed.estimate:.3f} ({fixed.low:.3f} to {fixed.high:.3f}, {many(fixed.people, 'item')})"
            )


def markdown(judges: Sequence[JudgeView], among: Sequence[Among] = ()) -> Iterator[str]:
    """The section with all that the page shows of judges."""
    yield "## Grounding: who judged, and how far to believe it"
    if not judges:
        yield f"Grounding: {NOT_MEASURED}. It would take verdicts of a judge or of people."
    for one in judges:
        yield f"### {literal(one.name)} ({one.kind}{f', {literal(one.model)}' if one.model else ''})"
        yield f"{literal(one.calibration, 600)}. {one.cannot_see}"
        told = [f"{number(one.valued)} of {many(one.asked, 'item')} have a verdict; {many(one.claims, 'claim')}"]
        told += [f"{count} {literal(cause.replace('_', ' '))}" for cause, count in one.causes.items()]
        yield f"{'; '.join(told)}."
        if one.failures:
            wrong = [
                (class_name(row.class_), FAILURES[row.failure], number(row.claims),
                 ", ".join(f"{TOLD_BY[by]} ({count})" for by, count in row.told_by.items()),
                 ", ".join(f"{literal(step)} ({count})" for step, count in row.lost_at.items()))
                for row in one.failures
            ]  # fmt: skip
            yield _table(("Class", "What is wrong", "Claims", "Told", "Lost at"), wrong)
        if one.corrected:
            fixed_rows = [
                (class_name(row.class_), f"`{row.measure}`", f"{row.raw:.3f}", number(row.items), number(row.people),
                 f"{row.estimate:.3f} ({row.low:.3f} to {row.high:.3f})",
                 f"{row.ppi[0]:.3f} ({row.ppi[1]:.3f} to {row.ppi[2]:.3f})" if row.ppi else "outside its safe region")
                for row in one.corrected
            ]  # fmt: skip
            yield _table(("Class", "Measure", "Judge", "Items", "People ruled on", "Corrected", "PPI++"), fixed_rows)
        elif one.not_corrected and one.kind != "person":
            yield f"No corrected estimate: {one.not_corrected}."
        if one.agreements:
            agreed = [
                (class_name(row.class_) if row.class_ else "all", row.about, number(row.items), number(row.unjudged),
                 _between(row.kappa, row.kappa_interval), _between(row.sensitivity, row.sensitivity_interval),
                 _between(row.specificity, row.specificity_interval))
                for row in one.agreements
            ]  # fmt: skip
            heads = ("Class", "About", "Items", "No verdict", "Kappa", "Sensitivity", "Specificity")
            yield _table(heads, agreed)

    if among:
        both = [
            (one.about, literal(", ".join(one.judges)), number(one.items),
             "" if one.raw is None else f"{one.raw:.3f}", *_pairwise(one), _between(one.alpha, one.alpha_interval))
            for one in among
        ]  # fmt: skip
        yield "### Judges among themselves"
        yield _table(("About", "Judges", "Items", "Equal labels", "Kappa", "AC1", "Alpha"), both)


def _pairwise(one: Among) -> tuple[str, str]:
    if len(one.judges) > 2:
        return "", ""
    return _between(one.kappa, one.kappa_interval), _between(one.ac1, one.ac1_interval)


def _between(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.3f}" + (f" ({interval.low:.3f} to {interval.high:.3f})" if interval else "")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    made = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join([*made, *(f"| {' | '.join(row)} |" for row in rows)])
