"""A scorecard as Markdown and as a few terminal lines; untrusted text is cleaned and escaped. Computes no number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragassay.records.score import Estimate
from ragassay.report.data import text as data_text
from ragassay.report.dimensions import leading, shown_unit
from ragassay.report.grounding import text as grounding_text
from ragassay.report.grounding.model import JudgeView
from ragassay.report.grounding.text import mark
from ragassay.report.model import Dimension, Funnel, RuntimeRow, Scorecard
from ragassay.report.probed import NOT_PROBED, markdown_of
from ragassay.report.refusal import text as refusal_text
from ragassay.report.svg import FATE_WORDS
from ragassay.report.tied import Tied, spread, why
from ragassay.report.words import NOT_MEASURED, class_name, code, literal, many, number, of, plain, value_text

MOST_QUESTIONS = 2_000


def summary(card: Scorecard) -> list[str]:
    """A few plain lines: what this is, survival by class, the five dimensions, and the verdict last."""
    lines = [plain(f"{card.title} on {card.benchmark}, as of {card.as_of}")]
    lines += [f"caveat: {plain(one)}" for one in card.caveats]
    for funnel in card.funnels:
        way = " -> ".join(
            f"{plain(step.step, 40)} {step.held:,}{f' ({step.unknown:,} cannot be told)' if step.unknown else ''}"
            for step in funnel.steps
        )
        lines.append(f"facts held, {class_name(funnel.class_)} ({funnel.facts:,} needed): {way or NOT_MEASURED}")
    for dimension in card.dimensions:
        lines.append(f"{dimension.name.lower()}: {_headline(dimension, card.judges)}")
    lines += refusal_text.lines(card.refusal)
    lines += grounding_text.lines(card.judges)
    lines += [f"probes of suite {plain(one.suite, 80)}: {plain(one.sentence, 400)}" for one in card.probed]
    lines += [] if card.probed else ["authorization: not probed"]
    lines.append(_tied(card.tied))
    lines.append(plain(data_text.line(card.data), 600))
    lines.append(plain(data_text.unrecorded(card.five), 1_000))
    lines.append(plain(card.verdict.sentence, 2_000))
    return lines


def _headline(dimension: Dimension, judges: Sequence[JudgeView]) -> str:
    told = [
        f"{plain(row.measure, 60)}{f' at {plain(row.step, 40)}' if row.step else ''} "
        f"{value_text(row.value or 0.0, shown_unit(row))} "
        f"({class_name(row.population.class_)}, {many(row.scored, 'question')} of {row.attempted:,})"
        f"{mark(row.measure, judges)}"
        for row in leading(dimension.headline)
        if row.status == "value"
    ]
    return "; ".join(told[:3]) if told and dimension.measured else NOT_MEASURED


def markdown(card: Scorecard) -> str:
    """The scorecard as GitHub-flavoured Markdown with the numbers of the page; long texts are cut with their length."""
    parts = [
        f"# {literal(card.title)} on {literal(card.benchmark)}",
        f"as of {card.as_of}; {many(card.traces, 'trace')} of {number(card.asked)} asked; scores `{card.scores}`",
        f"**{literal(card.verdict.lead, 2_000)}**",
        "\n".join(f"- {literal(one, 2_000)}" for one in card.verdict.reasons),
        "\n".join(f"- *Caveat:* {literal(one, 2_000)}" for one in card.caveats),
        "## Where the evidence was lost",
        *[part for funnel in card.funnels for part in _funnel(funnel)],
        *([] if card.funnels else [f"Survival: {NOT_MEASURED}."]),
        "### How items were tied to documents",
        table(TIED, [_tied_cells(one) for one in card.tied]) if card.tied else f"Items: {NOT_MEASURED}.",
        "## Five dimensions",
        *[part for one in card.dimensions for part in _dimension(one, card.judges)],
        *(_dimension(card.beside, card.judges) if card.beside.headline else ()),
        "## Expected and actual outcomes",
        _outcomes(card),
        *refusal_text.markdown(card.refusal),
        *grounding_text.markdown(card.judges, card.among),
        "## Citations, correctness, authorization",
        *[part for one in card.other for part in _dimension(one, card.judges)],
        _access(card),
        "## Authorization: cross-tenant probes",
        *(["\n".join(markdown_of(one)).rstrip() for one in card.probed] or [NOT_PROBED]),
        "## Runtime",
        _runtime(card),
        "## Distributions",
        _distributions(card),
        "## Classes and slices",
        _populations(card),
        "## All measures at every step",
        _estimates(card.estimates),
        "## Questions",
        _questions(card),
        *data_text.markdown(card.data, card.five),
        "## What is sealed",
        *[
            f"### {name}\n\n"
            + "\n".join(
                f"- {one.label}: {literal(one.value, 1_000) if one.value else f'none ({literal(one.absent or str())})'}"
                for one in lines
            )
            for name, lines in (
                ("Sealed", card.identity.sealed),
                ("Settings", card.identity.settings),
                ("Circumstances", card.identity.circumstances),
            )
        ],
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the cells are escaped already."""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def _funnel(one: Funnel) -> list[str]:
    fates = ", ".join(f"{count:,} {FATE_WORDS[fate]}" for fate, count in one.fates.items() if count)
    head = f"### {class_name(one.class_).capitalize()}: {many(one.facts, 'fact')} needed by "
    head += many(one.questions, "question")
    rows = [
        (
            literal(step.step),
            literal(step.kind),
            of(step.held, one.facts),
            number(step.lost_whole),
            number(step.lost_in_parts),
            ", ".join(f"{n} with {literal(o)}" for o, n in step.joint.items()),
            number(step.unknown),
            number(step.absent),
        )
        for step in one.steps
    ]
    heads = ("Step", "Kind", "Holds", "Lost whole", "Lost in parts", "At once with", "Cannot be told", "Step absent")
    return [head, f"{fates}.", table(heads, rows)]


def _tied(rows: Sequence[Tied]) -> str:
    """One line for the terminal."""
    if not rows or not rows[0].items:
        return f"items tied to documents: {NOT_MEASURED}"
    one = rows[0]
    lowest = f" (lowest score {one.lowest:g})" if one.lowest is not None else ""
    reasons = f" ({why(one)})" if one.reasons else ""
    among = f", {one.among:,} of these in several places alike" if one.among else ""
    return plain(
        f"items tied to documents: {one.declared:,} declared, {one.exact:,} exact, "
        f"{one.aligned:,} aligned{lowest}{among}, {one.unresolved:,} unresolved{reasons}, of {one.items:,}"
    )


TIED = (
    "Step", "Items", "Declared", "Exact", "Aligned", "Scores of the aligned", "In several places", "Unresolved",
    "Why unresolved",
)  # fmt: skip


def _tied_cells(one: Tied) -> tuple[str, ...]:
    """A row under TIED, escaped for Markdown."""
    return (
        literal(one.step or "all lists"),
        *map(number, (one.items, one.declared, one.exact, one.aligned)),
        spread(one),
        number(one.among),
        number(one.unresolved),
        why(one),
    )


COUNTS = ("Attempted", "Scored", "Undefined", "Missing", "Error")


def _counts(one: Estimate) -> tuple[str, ...]:
    return tuple(number(count) for count in (one.attempted, one.scored, one.undefined, one.missing, one.error))


def _value(one: Estimate | None) -> str:
    if one is None:
        return NOT_MEASURED
    if one.value is None:
        return f"{one.status} ({literal((one.reason or '').replace('_', ' '))})"
    return value_text(one.value, shown_unit(one))


def _row(one: Estimate, marked: str = "") -> tuple[str, ...]:
    inside = f"{one.interval.low:.3f} to {one.interval.high:.3f}" if one.interval else ""
    reasons = ", ".join(f"{literal(name.replace('_', ' '))} ×{count}" for name, count in sorted(one.reasons.items()))
    return (
        class_name(one.population.class_),
        literal(one.population.slice or "all"),
        code(one.measure) + marked,
        literal(one.step or "whole question"),
        one.aggregation,
        _value(one),
        of(one.numerator, one.denominator),
        inside,
        *_counts(one),
        reasons,
    )


HEADS = (
    "Class",
    "Slice",
    "Measure",
    "Step",
    "Aggregation",
    "Value",
    "Counted",
    "Interval",
    *COUNTS,
    "Why without value",
)


def _dimension(one: Dimension, judges: Sequence[JudgeView]) -> list[str]:
    made = [f"### {one.name}", f"{one.asks} *({one.stage})*"]
    if one.headline:
        made.append(table(HEADS, [_row(row, mark(row.measure, judges)) for row in one.headline]))
    made += [
        f"- {absent.measure}: **{NOT_MEASURED}**. It would take {absent.would_need}." for absent in one.not_measured
    ]
    return made


def _outcomes(card: Scorecard) -> str:
    if not card.outcomes:
        return f"Outcomes: {NOT_MEASURED}."
    heads = list(dict.fromkeys(name for row in card.outcomes for name in row.did))
    return table(
        ("Class", "Expected", *heads, "All"),
        [
            (
                class_name(row.class_),
                " or ".join(row.expected) or "not said",
                *(number(row.did.get(name, 0)) for name in heads),
                number(row.total),
            )
            for row in card.outcomes
        ],
    )


def _access(card: Scorecard) -> str:
    one = card.access
    if not one.questions:
        return "Access review: no trace of a question asked by a principal reported a context."
    named = ", ".join(literal(name, 100) for name in one.denied_questions)
    return (
        f"Access review: {many(one.questions, 'trace')} of questions asked by a principal, "
        f"{many(one.items, 'item')} in their "
        f"contexts: {one.allowed:,} allowed, {one.denied:,} of documents that the principal may not see, "
        f"{one.unknown:,} unknown." + (f" In: {named}." if named else "")
    )


def _runtime(card: Scorecard) -> str:
    failed = ", ".join(f"{count:,} {cause.replace('_', ' ')}" for cause, count in card.failures.items())
    tail = f"Failures: {failed}, of {card.asked:,} asked." if failed else ""
    if not card.runtime:
        return f"Latency, tokens and cost: {NOT_MEASURED}. {tail}".strip()
    figures = [
        name
        for name in ("p50", "p95", "p99", "mean", "sum")
        if any(name in row.figures or name in row.at_least for row in card.runtime)
    ]
    rows = [
        (
            class_name(row.class_),
            code(row.measure),
            literal(row.step or "whole question"),
            *(_figure(row, name) for name in figures),
            number(row.censored),
            number(row.attempted),
            number(row.scored),
            number(row.undefined),
            number(row.missing),
            number(row.error),
        )
        for row in card.runtime
    ]
    note = "A timeout is right-censored, never left out: ≥ stands where only the least of a figure is known."
    return "\n\n".join(
        part for part in (table(("Class", "Measure", "Step", *figures, "Censored", *COUNTS), rows), note, tail) if part
    )


def _figure(row: RuntimeRow, name: str) -> str:
    if name in row.figures:
        return value_text(row.figures[name], row.unit)
    if name in row.at_least:
        return f"≥ {value_text(row.at_least[name], row.unit)}"
    return "" if row.figures or row.at_least else NOT_MEASURED


def _distributions(card: Scorecard) -> str:
    if not card.distributions:
        return f"Distributions: {NOT_MEASURED}."
    rows = [
        (
            class_name(one.class_),
            code(one.measure),
            literal(one.step or "whole question"),
            number(one.scored),
            number(one.without),
            value_text(one.median, one.unit),
            ", ".join(
                f"{number(bar.low)}{'' if bar.low == bar.high else f' to {number(bar.high)}'}: {bar.count}"
                for bar in one.bars
                if bar.count
            ),
        )
        for one in card.distributions
    ]
    return table(("Class", "Measure", "Step", "Values", "Without", "Median", "How many in each part"), rows)


def _populations(card: Scorecard) -> str:
    heads = [f"{code(measure)}{f' at {literal(step)}' if step else ''}" for measure, step in card.population_measures]
    rows = [
        (
            class_name(row.class_),
            literal(row.slice or "all"),
            number(row.questions),
            *(_counted(one) for one in row.cells),
        )
        for row in card.populations
    ]
    return table(("Class", "Slice", "Questions", *heads), rows)


def _counted(one: Estimate | None) -> str:
    counted = of(one.numerator, one.denominator) if one else ""
    return f"{_value(one)} ({counted})" if counted else _value(one)


def _estimates(estimates: Sequence[Estimate]) -> str:
    return table(HEADS, [_row(one) for one in estimates]) if estimates else f"Measures: {NOT_MEASURED}."


def _questions(card: Scorecard) -> str:
    rows = []
    for one in card.questions[:MOST_QUESTIONS]:
        fates = [fate for view in one.repeats for fate in view.fates if fate.required]
        lost = dict.fromkeys(
            f"{fate.fact_id} {FATE_WORDS[fate.fate]}{' at ' + ' and '.join(fate.steps) if fate.steps else ''}"
            for fate in fates
            if fate.fate != "held"
        )
        did = dict.fromkeys(view.failure or view.outcome or "not said" for view in one.repeats)
        rows.append(
            (
                literal(one.query_id, 100),
                class_name(one.class_),
                literal(one.query.text, 160),
                " or ".join(one.expect) or "not said",
                literal(", ".join(did)),
                of(sum(fate.fate == "held" for fate in fates), len(fates)) if fates else "",
                literal("; ".join(lost), 200),
            )
        )
    told = table(("Id", "Class", "Question", "Expected", "Did", "Facts in context", "What was lost"), rows)
    rest = len(card.questions) - len(rows)
    more = many(rest, "more question is", "more questions are")
    return told + (f"\n\n{more} in the JSON and HTML reports." if rest else "")
