"""A comparison as the comment on a change: Markdown in which no text of a run is markup. Compares nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ragassay.records.comparison import Effect
from ragassay.report.compared import cells
from ragassay.report.compared.lines import MOST_IDS
from ragassay.report.compared.view import Compared, classes_of, standing_out
from ragassay.report.dimensions import is_runtime
from ragassay.report.fitting import fitting, left_out
from ragassay.report.text import table
from ragassay.report.versus.say import apart, better, caveats, sentence
from ragassay.report.words import class_name, code, literal, many

MARKER = "<!-- ragassay compare -->"
"""First line of the comment, by which a later run finds it again and replaces it."""
MOST_BYTES = 60_000
"""A comment may have 65,536 characters."""
MOST_SLICES = 20
MOST_SENTENCES = 3


def markdown(found: Compared, most_bytes: int = MOST_BYTES) -> str:
    """The comment, of at most `most_bytes` bytes; parts that do not fit are left out and named."""
    kept, left = fitting(_parts(found), most_bytes - len(MARKER) - 300, past_a_gap=True)
    return "\n\n".join([MARKER, *kept, *([left_out(left)] if left else [])]) + "\n"


def _parts(found: Compared) -> Iterator[tuple[str, str]]:
    record = found.record
    yield "the heading", f"## Compare: {literal(record.candidate.name, 80)} against {literal(record.baseline.name, 80)}"
    told = [one for one in standing_out(found.headline) if better(one) is not None]
    told.sort(key=lambda one: is_runtime(one.measure))
    worse = [one for one in told if better(one) is False][:MOST_SENTENCES]
    said = [*worse, *[one for one in told if better(one)][:MOST_SENTENCES]]
    lines = [literal(sentence(one), 400) for one in said] or ["No effect over a whole class is told from chance."]
    lines += [literal(one, 400) for one in caveats(record)]
    lines.append(f"{many(record.paired, 'question')} paired. Nothing is decided here: that is the gate's.")
    yield "what stands out", "\n".join(f"- {one}" for one in lines)
    for class_ in classes_of(found.headline):
        rows = [_row(one) for one in found.of_class(class_)]
        heads = ("Measure", "At", "Baseline", "Candidate", "Difference", f"{100 * record.level:g} %", "p", "Could see",
                 "Better/same/worse", "Not compared")  # fmt: skip
        doubts = cells.doubts(found.of_class(class_))
        note = f"\n\n? may cover less than {100 * record.level:g} %: {doubts}." if doubts else ""
        yield f"the table of {class_}", f"### {class_name(class_).capitalize()}\n\n{table(heads, rows)}{note}"
        if moved := list(_moved(found, class_)):
            yield f"the moves of {class_}", table(("Measure", "Largest gains", "Largest losses"), moved)
    yield from _slices(found)
    yield from _changes(found)
    yield (
        "what it rests on",
        (f"Baseline `{record.baseline.scores}`, candidate `{record.candidate.scores}`, comparison `{found.digest}`."),
    )


def _row(one: Effect) -> tuple[str, ...]:
    name = code(one.measure) + ("" if one.aggregation == "macro" else f" ({one.aggregation})")
    mark = "**" if apart(one) else ""
    return (
        name, literal(one.step or "", 40), cells.side(one.baseline, one), cells.side(one.candidate, one),
        f"{mark}{literal(cells.difference(one), 80)}{mark}", cells.interval(one), cells.p_value(one),
        cells.detectable(one), cells.won(one), cells.not_compared(one),
    )  # fmt: skip


def _moved(found: Compared, class_: str) -> Iterator[tuple[str, str, str]]:
    for one in found.of_class(class_):
        moves = found.largest.get((one.measure, one.step))
        if moves is None or one.status != "value" or one.aggregation not in ("macro", "micro"):
            continue
        own = moves._replace(
            gains=tuple(each for each in moves.gains if found.classes.get(each.query_id) == class_),
            losses=tuple(each for each in moves.losses if found.classes.get(each.query_id) == class_),
        )
        gains, losses = cells.moved(own, MOST_IDS)
        if gains or losses:
            yield code(one.measure), literal(gains), literal(losses)


def _slices(found: Compared) -> Iterator[tuple[str, str]]:
    every = found.slices
    if not every:
        return
    rows = standing_out(every)
    head = f"### Slices\n\n{cells.CORRECTED[found.record.slices].capitalize()}."
    if not rows:
        yield "the slices", f"{head} None of {many(len(every), 'effect')} is told from chance."
        return
    heads = ("Slice", "Measure", "At", "Difference", "Interval", "p")
    made = [
        (literal(str(one.population), 80), code(one.measure), literal(one.step or "", 40), cells.difference(one),
         cells.interval(one), cells.p_value(one))
        for one in rows[:MOST_SLICES]
    ]  # fmt: skip
    more = f"\n\n{len(rows) - MOST_SLICES:,} more are in the JSON." if len(rows) > MOST_SLICES else ""
    yield "the slices", f"{head}\n\n{table(heads, made)}{more}"


def _changes(found: Compared) -> Iterator[tuple[str, str]]:
    record = found.record
    counted = Counter(one.artefact for one in record.changes)
    told = ", ".join(f"{literal(name)} ({count:,})" for name, count in counted.items()) or "nothing that is recorded"
    lines = [f"Changed: {told}."]
    begins = [one for one in record.steps if one.first]
    for one in begins:
        why = "silent: every recorded identity is equal" if one.silent else literal(one.blamed or "")
        lines.append(f"{literal(one.step, 60)}: begins in {one.first:,} of {many(one.questions, 'answer')}; {why}.")
    if found.losses:
        ids = list(dict.fromkeys(one.query_id for one in found.losses))
        shown = ", ".join(literal(one, 60) for one in ids[:MOST_IDS])
        lines.append(f"{many(len(found.losses), 'fact')} lost anew, in {shown}{' …' if len(ids) > MOST_IDS else ''}.")
    yield "what changed", "### What changed\n\n" + "\n".join(f"- {one}" for one in lines)
