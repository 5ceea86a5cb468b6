"""Refusal as lines for a terminal and as Markdown; untrusted text is cleaned and escaped. Computes no number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.records.score import Estimate
from ragassay.report.dimensions import shown_unit
from ragassay.report.refusal.model import Confident, Group, Refusal
from ragassay.report.refusal.svg import coverage_of
from ragassay.report.words import NOT_MEASURED, class_name, code, literal, many, number, of, plain, value_text

MOST_LINES = 6


def lines(sheet: Refusal) -> Iterator[str]:
    """A few plain lines: who said the outcome, how far a confidence can be trusted, what the retriever said, and the
    paraphrase that stands apart."""
    if sheet.sources:
        yield plain(f"outcome said by: {_sources(sheet)}", 1_000)
    for one in sheet.confident[:MOST_LINES]:
        if one.points:
            yield plain(f"confidence, {class_name(one.class_)}, {one.right}: {_confident(one)}", 1_000)
    for row in sheet.retrieval[:MOST_LINES]:
        if row.status == "value":
            yield plain(f"retriever's word, {class_name(row.population.class_)}: {row.measure} {_figure(row)}")
    least = next((one for one in sheet.groups if one.value is not None), None)
    if least is not None:
        yield plain(f"paraphrases that agree least: {_group(least)}")
    elif sheet.paraphrases:
        yield plain(f"paraphrases: {_figure(sheet.paraphrases[0])}")


def _sources(sheet: Refusal) -> str:
    return ", ".join(f"{who} {count:,}" for who, count in sheet.sources.items())


def _confident(one: Confident) -> str:
    told = [f"{one.decisions:,} decisions of {one.asked:,} asked"]
    told.append(f"aurc {_figure(one.aurc)}")
    told += [f"risk at coverage {coverage_of(risk):g} {_figure(risk)}" for risk in one.risks]
    fewest = min((each.n for each in one.bins), default=0)
    told.append(
        f"calibration error {_figure(one.calibration_error)}, {many(len(one.bins), 'bin')} of {fewest:,} or more"
    )
    told.append(f"brier {_figure(one.brier)}")
    return "; ".join(told)


def _figure(one: Estimate | None) -> str:
    if one is None:
        return NOT_MEASURED
    if one.value is None:
        return f"{one.status} ({(one.reason or '').replace('_', ' ')})"
    unit = shown_unit(one)
    told = value_text(one.value, unit)
    parts = [of(one.numerator, one.denominator)] if one.measure.startswith("selective_risk") else []
    if one.interval is not None:
        parts.append(f"{value_text(one.interval.low, unit)} to {value_text(one.interval.high, unit)}")
    return f"{told} ({'; '.join(parts)})" if parts else told


def _group(one: Group) -> str:
    worst = f", {one.worst} stands apart" if one.worst is not None else ""
    where = f" at {one.step}" if one.step else ""
    return f"{one.wordings[0].query_id} and {len(one.wordings) - 1} more, {one.measure}{where} {one.value:.3f}{worst}"


def markdown(sheet: Refusal) -> Iterator[str]:
    """The parts of the page as Markdown, without the pictures."""
    yield "## Refusal"
    yield _rows(sheet.declining) if sheet.declining else f"Declining: {NOT_MEASURED}."
    if sheet.sources:
        yield f"The outcome was said by {literal(_sources(sheet), 1_000)}."
    yield "### Confidence of answers"
    for one in sheet.confident:
        yield f"{class_name(one.class_).capitalize()}, {code(one.right)}: {literal(_confident(one), 1_000)}."
        if one.bins:
            yield _bins(one)
    if not sheet.confident:
        yield f"Risk by coverage and calibration: {NOT_MEASURED}."
    yield "### The retriever's own word"
    yield _verdicts(sheet) if sheet.verdicts else f"retrieval.sufficient: {NOT_MEASURED}."
    if sheet.retrieval:
        yield _rows(sheet.retrieval)
    yield "### Paraphrases"
    yield _rows(sheet.paraphrases) if sheet.paraphrases else f"paraphrase_consistency: {NOT_MEASURED}."
    if sheet.groups:
        yield _groups(sheet.groups)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from ragassay.report.text import table

    return table(heads, rows)


def _rows(estimates: Sequence[Estimate]) -> str:
    heads = ("Measure", "Class", "Value", "Attempted", "Scored", "Undefined", "Missing", "Error")
    return _table(
        heads,
        [
            (
                code(one.measure) + (f" at {literal(one.step)}" if one.step else ""),
                class_name(one.population.class_),
                literal(_figure(one)),
                *(number(count) for count in (one.attempted, one.scored, one.undefined, one.missing, one.error)),
            )
            for one in estimates
        ],
    )


def _bins(one: Confident) -> str:
    heads = ("Confidence", "n", "Mean confidence", "Right", "Share right")
    return _table(
        heads,
        [
            (
                f"{each.low:.3f} to {each.high:.3f}", number(each.n), f"{each.confidence:.3f}", number(each.right),
                f"{each.right / each.n:.3f}",
            )
            for each in one.bins
        ],
    )  # fmt: skip


def _verdicts(sheet: Refusal) -> str:
    heads = ("Class", "Expected", "The retriever said", "Answered", "Declined", "No outcome")
    return _table(
        heads,
        [
            (
                class_name(row.class_), literal(" or ".join(row.expected) or "not said"), said,
                *(number(did[name]) for name in ("answered", "declined", "neither")),
            )
            for row in sheet.verdicts
            for said, did in row.counts.items()
        ],
    )  # fmt: skip


def _groups(groups: Sequence[Group]) -> str:
    heads = ("Measure", "Class", "Agreement", "Worst wording", "All wordings")
    return _table(
        heads,
        [
            (
                code(one.measure) + (f" at {literal(one.step)}" if one.step else ""),
                class_name(one.class_),
                "no value" if one.value is None else f"{one.value:.3f}",
                literal(one.worst or "none stands apart"),
                "; ".join(f"{literal(each.query_id, 64)}: {literal(each.told, 80)}" for each in one.wordings),
            )
            for one in groups
        ],
    )
