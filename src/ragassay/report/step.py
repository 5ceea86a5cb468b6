"""A scorecard as the Markdown of a GitHub step summary, within a number of bytes. Writes no file, counts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from ragassay.report.dimensions import leading, shown_unit
from ragassay.report.fitting import fitting, left_out
from ragassay.report.model import Scorecard
from ragassay.report.text import table
from ragassay.report.trouble import find, rank
from ragassay.report.words import NOT_MEASURED, class_name, code, literal, many, number, of, value_text

MOST_BYTES = 900_000
"""GitHub drops a step's summary, without failing the step, when its file is above 1 MiB."""
MOST_QUESTIONS = 50
TAIL = 400
"""Bytes kept free for the sentence that says what did not fit."""


def step_summary(card: Scorecard, most_bytes: int = MOST_BYTES) -> str:
    """Verdict, survival, dimensions and the questions in trouble, as Markdown of at most `most_bytes` bytes.

    Parts that do not fit are left out whole, and the last line says so. Empty if there is no room at all.
    """
    kept, left = fitting(_parts(card), most_bytes - TAIL)
    if not kept and most_bytes < TAIL:
        return ""
    if left:
        kept.append(f"{left_out(left)} The whole report has them.")
    return "\n\n".join(kept) + "\n"


def _parts(card: Scorecard) -> Iterator[tuple[str, str]]:
    head = f"## {literal(card.title, 120)} on {literal(card.benchmark, 120)}\n\n"
    head += f"as of {literal(card.as_of)}; {many(card.traces, 'trace')} of {number(card.asked)} asked; "
    head += f"scores `{card.scores}`"
    yield "the heading", head
    yield "the verdict", f"**{literal(card.verdict.lead, 2_000)}**"
    yield "why", "\n".join(f"- {literal(one, 2_000)}" for one in card.verdict.reasons)
    if card.caveats:
        yield "caveats", "\n".join(f"- *Caveat:* {literal(one, 2_000)}" for one in card.caveats)
    for funnel in card.funnels:
        rows = [
            (literal(one.step, 60), of(one.held, funnel.facts), number(one.lost_whole), number(one.lost_in_parts))
            for one in funnel.steps
        ]
        title = f"### {class_name(funnel.class_).capitalize()}: {many(funnel.facts, 'fact')} needed"
        yield "survival", f"{title}\n\n{table(('Step', 'Holds', 'Lost whole', 'Lost in parts'), rows)}"
    yield "dimensions", _dimensions(card)
    if card.failures:
        told = ", ".join(f"{count:,} {literal(cause.replace('_', ' '))}" for cause, count in card.failures.items())
        yield "failures", f"Failures: {told}, of {card.asked:,} asked."
    if questions := _questions(card):
        yield "questions in trouble", questions


def _dimensions(card: Scorecard) -> str:
    rows = []
    for one in card.dimensions:
        measured = [row for row in leading(one.headline) if row.status == "value"]
        for row in measured:
            where = f" at {literal(row.step, 60)}" if row.step else ""
            rows.append(
                (
                    one.name,
                    class_name(row.population.class_),
                    code(row.measure) + where,
                    value_text(row.value or 0.0, shown_unit(row)),
                    f"{row.scored:,} of {row.attempted:,}",
                )
            )
        if not measured:
            rows.append((one.name, "", "", NOT_MEASURED, ""))
    return f"### Five dimensions\n\n{table(('Dimension', 'Class', 'Measure', 'Value', 'Scored of attempted'), rows)}"


def _questions(card: Scorecard) -> str:
    bad = []
    for one in card.questions:
        head = (literal(one.query_id, 80), class_name(one.class_), literal(one.query.text, 160))
        found = (find(one, view) for view in one.repeats)
        bad += [(rank(one), (*head, literal(what.words, 200))) for what in found if what.state in ("failed", "bad")]
    if not bad:
        return ""
    rows = [row for _, row in sorted(bad, key=itemgetter(0))[:MOST_QUESTIONS]]
    text = f"### Questions in trouble\n\n{table(('Id', 'Class', 'Question', 'What happened'), rows)}"
    rest = len(bad) - len(rows)
    return text + (f"\n\n{rest:,} more of {len(bad):,} are in the report." if rest else "")
