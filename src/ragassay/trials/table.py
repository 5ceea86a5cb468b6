"""The table of an experiment for terminals, Markdown, HTML and JSON. Computes no number."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ragassay.records.score import Estimate
from ragassay.report.words import NOT_MEASURED, class_name, literal, many, plain
from ragassay.trials.asking import Row
from ragassay.trials.choice import column
from ragassay.trials.experiment import Result

FROM_CACHE = "a step came from the cache"


class Cell(NamedTuple):
    """One number with its interval, or why there is none."""

    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    step: str | None = None
    why: str = ""


class Line(NamedTuple):
    """One setting of a table."""

    number: int
    label: str
    cells: list[Cell]
    notes: list[str]


class Table(NamedTuple):
    """All settings on the questions of one class."""

    class_: str
    questions: int
    heads: list[str]
    lines: list[Line]


def tables(result: Result) -> list[Table]:
    """A table for each class of questions; that by which was chosen first."""
    counts: dict[str, int] = {}
    for one in result.rows[0].estimates:
        if one.population.slice is None:
            known = counts.get(one.population.class_, 0)
            counts[one.population.class_] = max(known, one.attempted)
    rule = result.record.choice
    classes = sorted(counts, key=lambda one: (one != rule.class_, one))
    return [_table(result, one, counts[one]) for one in classes]


def _table(result: Result, class_: str, questions: int) -> Table:
    rule = result.record.choice
    lines = []
    for place, row in enumerate(result.rows):
        cells = [_cell(row, one, class_, rule.step if one == rule.measure else None) for one in result.columns]
        cells.append(_time(row, class_))
        lines.append(Line(place + 1, row.tried.label, cells, notes_of(result, place, class_)))
    return Table(class_, questions, [*result.columns, "p95 latency"], lines)


def _cell(row: Row, measure: str, class_: str, step: str | None) -> Cell:
    found = column(row.estimates, measure, class_, step=step, last=row.last_list)
    one = found.estimate
    if one is None or one.value is None:
        why = "no such step" if one is None else (one.reason or one.status)
        return Cell(NOT_MEASURED, step=found.step, why=why)
    low, high = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
    digits = 3 if one.unit in (None, "ratio", "0 or 1") else 0
    return Cell(_spelled(one, low, high, digits), one.value, low, high, found.step)


def _spelled(one: Estimate, low: float | None, high: float | None, digits: int) -> str:
    shown = f"{one.value:.{digits}f}"
    return shown if low is None or high is None else f"{shown} [{low:.{digits}f}, {high:.{digits}f}]"


def _time(row: Row, class_: str) -> Cell:
    """The 95th percentile where no question had a step from the cache."""
    if row.tried.cached:
        return Cell(NOT_MEASURED, why=f"{FROM_CACHE} for {row.tried.cached} of {row.questions}")
    found = [one for one in row.estimates if one.measure == "latency" and one.aggregation == "p95"]
    own = [one for one in found if one.population.class_ == class_ and one.population.slice is None]
    if not own or own[0].value is None:
        return Cell(NOT_MEASURED, why=own[0].reason or own[0].status if own else "no such measure")
    return Cell(f"{own[0].value:,.0f} ms", own[0].value)


def notes_of(result: Result, place: int, class_: str) -> list[str]:
    """What a reader must know of one setting, in the table of one class."""
    row, record = result.rows[place], result.record
    notes = []
    if place == record.chosen:
        notes.append("chosen")
    if class_ != record.choice.class_:
        pass  # the test is on the questions that chose
    elif place in record.tied:
        notes.append("tied with the chosen one")
    elif place in record.not_told_apart:
        notes.append(f"not told apart (p {result.chosen.p[place]:.2g})")
    if row.same_as is not None:
        notes.append(f"the same system as {row.same_as + 1}")
    if row.failures:
        notes.append(f"{row.failures} of {row.questions} failed")
    if class_ == record.choice.class_ and row.counted.at_worst:
        of = "nothing" if row.counted.number is None else f"{row.counted.number:.3f}"
        notes.append(f"counts as {of} in the choice: {many(row.counted.at_worst, 'question')} at the worst")
    return notes


def sentences(result: Result) -> list[str]:
    """The choice, how sure it is, and what its number is worth."""
    record, rule = result.record, result.record.choice
    tried = len({one.subject for one in record.tried})
    said = [
        f"{many(len(record.tried), 'setting')} on {many(result.rows[0].questions, 'question')} for development "
        f"(says {record.split_by})" + (f"; {tried} different systems" if tried != len(record.tried) else "")
    ]
    if record.before:
        said.append(
            f"earlier experiments of this store tried {many(record.before, 'other setting')} on the same questions: "
            f"the choice is one of {tried + record.before}"
        )
    if record.chosen is None:
        return [
            *said,
            f"nothing is chosen: no setting has a value of {rule.measure} for {class_name(rule.class_)} questions",
        ]
    best = record.tried[record.chosen]
    better = "highest" if rule.direction == "higher" else "lowest"
    said.append(
        f"chosen: {record.chosen + 1}, {best.label} ({better} {rule.measure} on {class_name(rule.class_)} questions)"
    )
    if any(one.counted.at_worst for one in result.rows):
        said.append(
            "questions that failed, or without a value by a setting's own doing (not answered, an empty context), "
            "count at their worst in the choice; the table shows the mean of the others"
        )
    if record.tied:
        said.append(f"tied with it: {_places(record.tied)}; the one declared first was taken")
    apart = [one for one in record.not_told_apart if one not in record.tied]
    if apart:
        said.append(
            f"not told apart from it at {result.level:g}: {_places(apart)} (paired sign-flip test on "
            f"{result.chosen.questions} questions, family-wise)"
        )
    if tried + record.before > 1:
        said.append(
            f"the chosen number is the best of {tried + record.before} on these questions, so it is too good: measure "
            "the setting on questions that chose nothing before you report it"
        )
    if any(one.tried.cached for one in result.rows):
        said.append(f"p95 latency is {NOT_MEASURED} where {FROM_CACHE}; share = false under [experiment] measures it")
    return said


def _places(places: Sequence[int]) -> str:
    return ", ".join(str(one + 1) for one in places)


def terminal(result: Result) -> list[str]:
    """The tables in columns, then the sentences."""
    made: list[str] = []
    for table in tables(result):
        rows = [["#", "setting", *table.heads, "notes"]]
        for line in table.lines:
            label = plain(line.label, 100)
            rows.append([str(line.number), label, *(one.text for one in line.cells), "; ".join(line.notes)])
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        made.append(f"{class_name(table.class_)}: {many(table.questions, 'question')}")
        made += ["  ".join(one.ljust(width) for one, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        made.append("")
    return [*made, *(plain(one, 2_000) for one in sentences(result))]


def markdown(result: Result) -> str:
    """The same as GitHub-flavoured Markdown."""
    parts = [
        f"# Experiment {literal(result.record.name)}",
        "\n".join(f"- {literal(s, 2_000)}" for s in sentences(result)),
    ]
    for table in tables(result):
        heads = ["#", "setting", *table.heads, "notes"]
        lines = [f"| {' | '.join(literal(one) for one in heads)} |", "|--:|---|" + "---|" * (len(heads) - 2)]
        for line in table.lines:
            cells = [str(line.number), literal(line.label), *(literal(one.text) for one in line.cells)]
            lines.append(f"| {' | '.join([*cells, literal('; '.join(line.notes))])} |")
        parts += [f"## {class_name(table.class_)}: {many(table.questions, 'question')}", "\n".join(lines)]
    parts.append(f"experiment `{result.digest}`, level {result.level:g}")
    return "\n\n".join(parts) + "\n"


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#1c1c1c;"
    "background:#fff}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;"
    "border-bottom:1px solid #ccc;vertical-align:top}tr.chosen{background:#eef4e6}div{overflow-x:auto}"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#e8e8e8}tr.chosen{background:#28331d}}"
)


def page(result: Result) -> str:
    """The same as one HTML file without scripts."""
    title = f"Experiment {_safe(result.record.name)}"
    made = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body><main><h1>{title}</h1><ul>",
        *(f"<li>{_safe(one)}</li>" for one in sentences(result)),
        "</ul>",
    ]
    for table in tables(result):
        made.append(f"<h2>{class_name(table.class_)}: {many(table.questions, 'question')}</h2><div><table><thead><tr>")
        made.append("".join(f'<th scope="col">{_safe(one)}</th>' for one in ["#", "setting", *table.heads, "notes"]))
        made.append("</tr></thead><tbody>")
        for line in table.lines:
            chosen = ' class="chosen"' if line.number - 1 == result.record.chosen else ""
            made.append(f'<tr{chosen}><td>{line.number}</td><th scope="row">{_safe(line.label)}</th>')
            made += [f'<td title="{_safe(one.why or one.step or "")}">{_safe(one.text)}</td>' for one in line.cells]
            made.append(f"<td>{_safe('; '.join(line.notes))}</td></tr>")
        made.append("</tbody></table></div>")
    made.append(f"<p>experiment {result.digest}, level {result.level:g}</p></main></body></html>\n")
    return "\n".join(made)


def _safe(text: str) -> str:
    return html.escape(plain(text, 2_000))


def to_json(result: Result) -> dict[str, Any]:
    """The record, and the tables by class; a number that was not measured is absent and `why` says so."""
    found = []
    for table in tables(result):
        settings = []
        for line in table.lines:
            cells = {
                head: {key: one for key, one in cell._asdict().items() if one not in (None, "") and key != "text"}
                for head, cell in zip(table.heads, line.cells, strict=True)
            }
            settings.append({"number": line.number, "setting": line.label, "measures": cells, "notes": line.notes})
        found.append({"class": table.class_, "questions": table.questions, "settings": settings})
    p = {str(place + 1): one for place, one in result.chosen.p.items()}
    return {
        "experiment": result.digest,
        "record": msgspec.to_builtins(result.record),
        "tables": found,
        "p_against_chosen": p,
        "questions_of_test": result.chosen.questions,
        "level": result.level,
        "sentences": sentences(result),
    }
