"""A check as lines for a terminal; what comes from cases and documents is made fit to print. Decides nothing."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby

from ragassay.benchmark.check.model import Check, Finding, Stratum
from ragassay.records.text import many, shown

_WIDTH = 100
_PLACES = 8
_VALUES = 15


def lines(checked: Check) -> list[str]:
    """The whole check: findings first, the gravest on top, then the counts; no line is wider than 100 columns or so."""
    return [*_head(checked), *_findings(checked), *_strata(checked), *_slices(checked), *_labelling(checked)]


def _head(checked: Check) -> Iterator[str]:
    yield f"benchmark {shown(checked.name)} {shown(checked.version)}, {checked.benchmark}"
    yield f"  corpus {checked.corpus}" + (f", segmentation {checked.segmentation}" if checked.segmentation else "")
    against = f"; compared with {shown(checked.against)}" if checked.against else ""
    yield f"  {many(checked.cases, 'case')}, {checked.clusters} independent{against}"
    if not checked.segmentation:
        yield "  no segmentation: nothing is said about labels and passages"


def _findings(checked: Check) -> Iterator[str]:
    yield ""
    if not checked.findings:
        yield "Nothing was found."
    for one in checked.findings:
        yield from _finding(one)


def _finding(one: Finding) -> Iterator[str]:
    head = f"{one.level.upper():5}  {many(one.count, one.noun)} {one.what}  [{one.code}]"
    yield from textwrap.wrap(head, _WIDTH, subsequent_indent=" " * 7)
    if one.places:
        names = [str(place) for place in one.places[:_PLACES]]
        rest = len(one.places) - len(names)
        yield from _block("      ", ", ".join(names) + (f", and {rest:,} more" if rest > 0 else ""))
    yield from _block("  why:", one.why)
    yield from _block("  do: ", one.do)


def _block(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=f"{label:6} ", subsequent_indent=" " * 7, break_on_hyphens=False)


def _strata(checked: Check) -> Iterator[str]:
    for dimension, group in groupby(checked.strata, key=lambda one: one.dimension):
        rows = sorted(group, key=lambda one: (-one.cases, one.value))
        yield ""
        yield from _stratum(dimension, rows)


def _stratum(dimension: str, rows: Sequence[Stratum]) -> list[str]:
    """One dimension; `copied` are the lexically easy cases, `without` what is left of the stratum without them."""
    table = [(shown(dimension, limit=40), "cases", "copied", "without")]
    table += [(shown(one.value, limit=40), f"{one.cases}", f"{one.easy}", f"{one.without}") for one in rows[:_VALUES]]
    out = columns(table)
    return [*out, f"  and {many(len(rows) - _VALUES, 'more value')}"] if len(rows) > _VALUES else out


def _slices(checked: Check) -> Iterator[str]:
    yield ""
    table = [("slice of the vocabulary", "declared", "recognised", "either")]
    for one in checked.slices:
        recognised = f"{one.recognised}" if one.derivable else "-"
        table.append((shown(one.name, limit=40), f"{one.declared}", recognised, f"{one.either}"))
    for line, how in zip(columns(table), ["how", *(one.how for one in checked.slices)], strict=True):
        yield from textwrap.wrap(f"{line}  {how}", _WIDTH, subsequent_indent=" " * (len(line) + 2))


def _labelling(checked: Check) -> Iterator[str]:
    one = checked.labelling
    yield ""
    yield f"Labels, declared {one.declared}"
    yield f"  {many(one.labelled, 'case')} with labels, {one.unlabelled} without, {one.truth_empty} with empty truth"
    yield f"  {many(one.labels, 'label')}: {one.spans} on spans, {one.coarse} on whole documents"
    yield (
        f"  {one.below_rel} below the least relevant grade, in {many(one.with_negatives, 'case')}; "
        f"{many(one.one_relevant_document, 'case has', 'cases have')} one relevant document"
    )
    yield f"  {one.documents_labelled:,} of {many(one.documents, 'document')} with a label"
    answered = many(one.with_answers, "case has", "cases have")
    yield f"  {many(one.facts, 'fact')} in {many(one.with_facts, 'case')}; {answered} an answer"


def columns(table: Sequence[Sequence[str]]) -> list[str]:
    """Rows under each other, the first column to the left, numbers to the right; wide signs count as two columns."""
    widths = [max(_width(row[at]) for row in table) for at in range(len(table[0]))]
    return [
        "  "
        + row[0]
        + " " * (widths[0] - _width(row[0]))
        + "".join(f"  {' ' * (widths[at] - _width(row[at]))}{row[at]}" for at in range(1, len(row)))
        for row in table
    ]


def _width(text: str) -> int:
    return sum(0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)
