"""A sample as a file that people fill in, and such a file read back, strictly. Knows no store and judges nothing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ragassay.corpus.csv_rows import open_csv
from ragassay.corpus.lines import lines_of
from ragassay.errors import InputError, RagassayError, UsageError
from ragassay.records.judgement import SCALES, SampledItem
from ragassay.records.strict_json import load_json
from ragassay.records.text import many
from ragassay.report.tables import plain_text, safe_text
from ragassay.run.judges.contract import Item
from ragassay.trials.people.drawing import Drawn

UNSURE = "unsure"
COLUMNS = ("sample", "item", "about", "labels", "question", "statement", "evidence", "answer", "label", "comment")
FOREIGN = ("query_id", "repeat", "about", "target", "scale", "label", "comment")
"""Columns of a file that no sample made: what was judged is named in full."""
MOST = 100_000
LONGEST = 20_000


class Line(NamedTuple):
    """One filled-in row, with its place."""

    values: Mapping[str, str]
    line: int


def sample_text(drawn: Drawn, form: Literal["csv", "jsonl"]) -> str:
    """The file: a row an item, `label` and `comment` blank. No row shows what a judge said, nor which system answered.

    In CSV a cell that a spreadsheet could run begins with an apostrophe.
    """
    rows = [_row(drawn, *pair) for pair in drawn.items]
    if form == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False).translate(_LINE_ENDS) + "\n" for row in rows)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in COLUMNS])
    return buffer.getvalue()


_LINE_ENDS = {0x2028: "\\u2028", 0x2029: "\\u2029", 0x85: "\\u0085"}


def _row(drawn: Drawn, sampled: SampledItem, item: Item) -> dict[str, str]:
    shown = [f"[{one.title}] {one.text}" if one.title else one.text for one in item.evidence]
    return {
        "sample": drawn.digest[7:23],
        "item": sampled.item_id,
        "about": item.about if item.about != "answer" else item.target,
        "labels": " / ".join((*SCALES.get(item.scale, ()), UNSURE)),
        "question": item.question,
        "statement": item.statement,
        "evidence": "\n\n".join((*shown, *item.references)),
        "answer": item.answer,
        "label": "",
        "comment": "",
    }


def _cell(text: str) -> str:
    return "\n".join(safe_text(line) if line else "" for line in text.splitlines())


def read_filled(path: Path) -> Iterator[Line]:
    """The rows of a CSV or JSONL file whose label is not blank, in order.

    InputError with the line for what is no row, has no `label`, is too long, or for more than 100,000 rows.
    """
    if path.suffix.lower() not in (".csv", ".tsv", ".jsonl"):
        raise UsageError(
            f"{path.name} is neither .csv nor .jsonl", field="file", hint="`ragassay judge sample` wrote it?"
        )
    rows = _json_rows(path) if path.suffix.lower() == ".jsonl" else _csv_rows(path)
    for count, one in enumerate(rows, 1):
        if count > MOST:
            raise InputError(f"more than {MOST:,} rows", file=str(path), line=one.line, hint="split the file")
        if "label" not in one.values:
            raise InputError("there is no label", file=str(path), line=one.line, field="label", hint=_hint())
        for name, value in one.values.items():
            if name in ("label", "comment") and len(value) > LONGEST:
                raise InputError(
                    f"longer than {many(LONGEST, 'character')}", file=str(path), line=one.line, field=name,
                    hint="shorten it",
                )  # fmt: skip
        if one.values["label"].strip():
            yield one


def _hint() -> str:
    return f"columns {', '.join(COLUMNS)}; or {', '.join(FOREIGN)}"


def _csv_rows(path: Path) -> Iterator[Line]:
    def broken(error: InputError) -> None:
        raise error

    def fits(names: list[str]) -> int:
        return len({*names} & {*COLUMNS, *FOREIGN})

    sheet = open_csv(path, fits, broken)
    if "label" not in sheet.names:
        raise InputError("no column label", file=str(path), line=sheet.line, field="label", hint=_hint())
    for row in sheet.rows:
        yield Line({name: plain_text(value) for name, value in row.values.items()}, row.line)


def _json_rows(path: Path) -> Iterator[Line]:
    for number, raw in lines_of(path):
        if not raw.strip():
            continue
        try:
            value: Any = load_json(raw)
        except RagassayError as error:
            raise error.at(file=str(path), line=number)  # noqa: B904  the same error, with its place
        if not isinstance(value, dict):
            raise InputError("not an object", file=str(path), line=number, hint=_hint())
        values: dict[str, str] = {}
        for name, one in value.items():
            if not isinstance(one, str | int) or isinstance(one, bool):
                raise InputError(
                    f"{type(one).__name__} is no text", file=str(path), line=number, field=str(name), hint=_hint()
                )
            values[str(name)] = str(one)
        yield Line(values, number)
