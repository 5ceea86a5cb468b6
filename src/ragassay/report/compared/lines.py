"""A comparison as lines for a terminal. Every text of a run is cleaned before it is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.records.comparison import Comparison, Effect
from ragassay.report.compared import cells
from ragassay.report.compared.view import Compared, classes_of, standing_out
from ragassay.report.dimensions import is_runtime
from ragassay.report.versus.say import caveats
from ragassay.report.words import class_name, many, plain

MOST_IDS = 5
MOST_ROWS = 40
HEADS = ("measure", "at", "baseline", "candidate", "difference", "interval", "p", "could see", "better/same/worse")


def lines(found: Compared, *, everything: bool = False) -> Iterator[str]:
    """The whole comparison; with `everything` each step and each slice, else what is nearest to the answer."""
    record = found.record
    for name, arm in (("baseline", record.baseline), ("candidate", record.candidate)):
        yield f"{name:9}  {plain(arm.name, 80)}  {arm.scores}"
    yield f"{many(record.paired, 'question')} paired"
    yield from caveats(record)
    if record.reference is not None and not record.weak_baseline:
        margin = f"{record.margin or 0:g} of a measure's range"
        yield f"the baseline is not weak: in no class worse than the built-in BM25 by more than {margin}"
    yield from _unpaired(record)
    yield from _judged(record)
    for class_ in classes_of(found.headline):
        yield ""
        rows = [one for one in found.effects if one.population.class_ == class_ and one.population.slice is None]
        yield from _class(found, class_name(class_), rows if everything else found.of_class(class_), everything)
    yield ""
    yield from _slices(found, everything)


def _unpaired(record: Comparison) -> Iterator[str]:
    for side in ("baseline", "candidate"):
        own = [plain(one.query_id, 60) for one in record.unpaired if one.side == side]
        if own:
            more = f" and {len(own) - MOST_IDS:,} more" if len(own) > MOST_IDS else ""
            yield f"only in the {side}: {', '.join(own[:MOST_IDS])}{more}"


def _judged(record: Comparison) -> Iterator[str]:
    for step, (before, after) in record.judged.items():
        if abs(after - before) > 0.05:
            yield f"judged at {plain(step, 40)}: {before:.3f} before, {after:.3f} now: labels favour one arm"


def _class(found: Compared, name: str, rows: Sequence[Effect], everything: bool) -> Iterator[str]:
    level = f"{100 * found.record.level:g} %"
    valued = [one for one in rows if one.status == "value"]
    yield f"{name}: {level} intervals"
    yield from _table([HEADS, *(_cells(one) for one in valued)])
    if told := cells.doubts(valued):
        yield f"  ? may cover less than {level}: {told}"
    yield from _without(rows)
    for one in valued:
        if everything or not is_runtime(one.measure):
            yield from _details(found, one)


def _without(rows: Sequence[Effect]) -> Iterator[str]:
    """Measures without an effect, those that lack it for one reason on one line."""
    by: dict[str, list[str]] = {}
    for one in rows:
        if one.status != "value":
            place = f" at {plain(one.step, 40)}" if one.step else ""
            told = f"{cells.difference(one)} ({cells.not_compared(one) or 'no question'})"
            by.setdefault(plain(told), []).append(f"{plain(one.measure, 60)}{place}")
    for told, names in by.items():
        yield f"  no effect, {told}: {', '.join(names)}"


def _cells(one: Effect) -> tuple[str, ...]:
    name = one.measure if one.aggregation == "macro" else f"{one.measure} ({one.aggregation})"
    return (
        plain(name, 60), plain(one.step or "", 40), cells.side(one.baseline, one), cells.side(one.candidate, one),
        cells.difference(one), cells.interval(one), cells.p_value(one), cells.detectable(one), cells.won(one),
    )  # fmt: skip


def _details(found: Compared, one: Effect) -> Iterator[str]:
    """Of a row in which something moved or is not known: the distribution, the largest moves by id, the bounds."""
    place = f"{plain(one.measure, 60)}{f' at {plain(one.step, 40)}' if one.step else ''}"
    told = []
    if one.aggregation in ("macro", "micro") and one.quantiles and any(one.quantiles):
        told.append(f"differences: {cells.spread(one)}")
        moves = found.largest.get((one.measure, one.step))
        if moves is not None:
            own = moves._replace(
                gains=tuple(each for each in moves.gains if _is_of(found, each.query_id, one)),
                losses=tuple(each for each in moves.losses if _is_of(found, each.query_id, one)),
            )
            gains, losses = cells.moved(own, MOST_IDS)
            told += [f"largest gains: {plain(gains)}"] if gains else []
            told += [f"largest losses: {plain(losses)}"] if losses else []
    if beside := cells.not_compared(one):
        told.append(f"not compared: {beside}")
    if told:
        yield f"  {place}"
        for each in told:
            yield f"    {each}"


def _is_of(found: Compared, query_id: str, one: Effect) -> bool:
    class_ = one.population.class_
    return class_ == "answerability" or found.classes.get(query_id) == class_


def _slices(found: Compared, everything: bool) -> Iterator[str]:
    every = found.slices
    if not every:
        yield "slices: none"
        return
    rows = every if everything else standing_out(every)
    sizes = [one.test.family or 0 for one in every if one.test]
    yield f"slices: {cells.CORRECTED[found.record.slices]} (families of up to {many(max(sizes, default=0), 'slice')})"
    if not rows:
        yield f"  none of {many(len(every), 'effect')} is told from chance"
    made = [(str(one.population), *_cells(one)) for one in rows[: None if everything else MOST_ROWS]]
    yield from _table([("slice", *HEADS), *((plain(row[0], 60), *row[1:]) for row in made)] if made else [])
    if len(rows) > len(made):
        yield f"  … {len(rows) - len(made)} more; --all has them"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns of one width, numbers to the right; a column that is empty in every row is left out."""
    if len(rows) < 2:
        return
    kept = [place for place in range(len(rows[0])) if any(row[place] for row in rows[1:])]
    wide = {place: max(len(row[place]) for row in rows) for place in kept}
    words = 3 if rows[0][0] == "slice" else 2
    for row in rows:
        parts = [f"{row[at]:{'<' if at < words else '>'}{wide[at]}}" for at in kept]
        yield f"  {'  '.join(parts)}".rstrip()
