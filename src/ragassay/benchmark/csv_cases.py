"""Cases from a spreadsheet saved as CSV, by a declared mapping of columns. Guesses no meaning of a column."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ragassay.benchmark.cases import CaseReading, Place
from ragassay.benchmark.cells import parts
from ragassay.benchmark.gold import Gold, QueryIds
from ragassay.benchmark.intake import OnError, Problems
from ragassay.benchmark.rows import Dialect, Row, rows_of
from ragassay.errors import InputError, UsageError
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.document import Document
from ragassay.records.text import instant, many

ONE = ("query_id", "query", "class", "answerable", "answerability_scope", "notes", "risk", "paraphrase_of",
       "principal", "added_in", "must_hold", "valid_from", "valid_until")  # fmt: skip
SEVERAL = ("answers", "documents", "grades", "quotes", "slice", "expect", "tenants", "roles", "groups", "threats")
FIELDS = (*ONE, *SEVERAL)
_TRUE, _FALSE = ("true", "yes", "1", "x"), ("false", "no", "0")
_PROVENANCE = {"kind": "imported"}


def read_csv(
    path: str | Path,
    columns: Mapping[str, str],
    *,
    separator: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    corpus: Iterable[Document] | None = None,
    on_error: OnError = "stop",
) -> CaseReading:
    """Cases of a CSV or TSV file whose first row names its columns; `columns` says which one is which field.

    `query` is needed. `query_id` is made from the question if no column is it. `documents` are ids of relevant ones,
    with `grades` (one for all, or one for each; without: 3 for a single one, else 2); `quotes` are texts in them, or,
    without `documents`, texts that are looked up in `corpus` (without one they are documents of their own). Several
    values in a cell are parted by `separator`; without it a cell is one value. `slice.NAME` makes the slice
    `NAME=value`. `answerable` is yes, no, true, false, 1, 0 or partial; `principal` an id, with `tenants`, `roles`,
    `groups`. An empty cell says nothing. The delimiter is the one of , ; tab | under which the columns are there.

    Raises UsageError for a field that there is not, InputError with file, line and column.
    """
    path = Path(path)
    _check(columns)
    problems = Problems(on_error)
    gold, ids = Gold("csv", corpus), QueryIds("csv")
    found = CaseReading()
    unread: dict[str, None] = {}
    for row in rows_of(path, problems, wanted=tuple(columns.values()), dialect=Dialect(delimiter, encoding)):
        missing = [name for name in columns.values() if name not in row.values]
        if missing:
            raise _no_column(missing[0], list(row.values), path)
        unread.update(dict.fromkeys(name for name in row.values if name not in columns.values()))
        with problems.at(path, row.line):
            found.add(_case(row, columns, separator, gold, ids), Place(str(path), row.line or 0))
    found.documents = gold.documents
    found.said_not = tuple(_said_not(columns))
    found.remarks = (*_unread(list(unread)), *gold.notes(), *ids.notes())
    return found.settle(problems, path, "the first row names the columns, each further one is a question")


def _check(columns: Mapping[str, str]) -> None:
    for field in columns:
        if field not in FIELDS and not (field.startswith("slice.") and len(field) > len("slice.")):
            close = difflib.get_close_matches(field, FIELDS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"fields: {', '.join(FIELDS)}, slice.NAME"
            raise UsageError(f"a case has no field {field!r}", field="columns", hint=hint)
    if "query" not in columns:
        raise UsageError("no column is the question", field="columns", hint='columns = { query = "Question" }')
    for field, needs in (
        ("grades", "documents"),
        ("tenants", "principal"),
        ("roles", "principal"),
        ("groups", "principal"),
    ):
        if field in columns and needs not in columns:
            raise UsageError(f"{field} without {needs}", field="columns", hint=f"name the column of {needs} too")


def _no_column(name: str, there: list[str], path: Path) -> InputError:
    close = difflib.get_close_matches(name, there, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return InputError(
        f"no column is named {name!r}", file=str(path), line=1, hint=f"{hint}columns: {', '.join(there)[:300]}"
    )


def _case(row: Row, columns: Mapping[str, str], separator: str | None, gold: Gold, ids: QueryIds) -> CaseLine:
    query = row.wanted(columns["query"])
    one = {field: (row.text(columns[field]) or "").strip() for field in ONE if field in columns}
    several = {field: parts(row.text(columns[field]), separator) for field in SEVERAL if field in columns}
    value: dict[str, Any] = {"query_id": one.get("query_id") or ids.of(query), "query": query, "lossy": row.lossy}
    if "query_id" in columns and not one["query_id"]:
        raise InputError("missing, or empty", field=columns["query_id"], hint="each question needs its own id")
    for field in ("class", "answerability_scope", "notes", "risk", "paraphrase_of", "added_in"):
        if one.get(field):
            value[field] = one[field]
    for field in ("valid_from", "valid_until"):
        if one.get(field):
            value[field] = instant(one[field])
    if one.get("answerable"):
        value["answerable"] = _answerable(one["answerable"].lower(), columns["answerable"])
    if one.get("must_hold"):
        value["must_hold"] = _bool(one["must_hold"].lower(), columns["must_hold"])
    if several.get("answers"):
        value["answers"] = [{"text": text} for text in several["answers"]]
    for field in ("expect", "threats"):
        if several.get(field):
            value[field] = list(several[field])
    value["slice"] = [*several.get("slice", ()), *_dimensions(row, columns)]
    if one.get("principal"):
        groups = {field: list(several[field]) for field in ("tenants", "roles", "groups") if several.get(field)}
        value["principal"] = {"id": one["principal"], **groups}
    labels = _labels(several, columns, gold)
    if labels:
        value["evidence"] = labels
    return parse_value(CaseLine, value)


def _dimensions(row: Row, columns: Mapping[str, str]) -> list[str]:
    found = []
    for field, name in columns.items():
        text = (row.text(name) or "").strip()
        if field.startswith("slice.") and text:
            found.append(f"{field.removeprefix('slice.')}={text}")
    return found


def _labels(several: Mapping[str, tuple[str, ...]], columns: Mapping[str, str], gold: Gold) -> list[dict[str, Any]]:
    documents, quotes = several.get("documents", ()), several.get("quotes", ())
    if quotes and len(documents) == 1:
        documents *= len(quotes)
    count = len(documents) or len(quotes)
    if quotes and documents and len(quotes) != len(documents):
        raise InputError(
            f"{many(len(quotes), 'quote')} of {many(len(documents), 'document')}",
            field=columns["quotes"],
            hint="one for each, in order",
        )
    grades = _grades(several.get("grades", ()), count, columns)
    if not documents:
        return [
            gold.evidence(text, f"r{number}", grade, _PROVENANCE)
            for number, (text, grade) in enumerate(zip(quotes, grades, strict=True), 1)
        ]
    return [
        {"id": f"r{number}", "document_id": name, "grade": grade, "provenance": _PROVENANCE}
        | ({"quote": quotes[number - 1]} if quotes else {})
        for number, (name, grade) in enumerate(zip(documents, grades, strict=True), 1)
    ]


def _grades(given: tuple[str, ...], count: int, columns: Mapping[str, str]) -> list[int]:
    if not given:
        return [3 if count == 1 else 2] * count
    if len(given) not in (1, count) or not all(
        one.isascii() and one.lstrip("+-").isdigit() and len(one) < 9 for one in given
    ):
        raise InputError(
            f"{many(len(given), 'grade')} for {many(count, 'label')}, or not whole numbers",
            field=columns["grades"],
            hint="one whole number for all documents, or one for each in order",
        )
    numbers = [int(one) for one in given]
    return numbers * count if len(numbers) == 1 else numbers


def _answerable(text: str, column: str) -> str:
    if text in ("partial", "not_applicable"):
        return text
    return "yes" if _bool(text, column) else "no"


def _bool(text: str, column: str) -> bool:
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise InputError(f"{text!r} is neither yes nor no", field=column, hint="yes, no, true, false, 1 or 0")


def _said_not(columns: Mapping[str, str]) -> Iterable[str]:
    if "documents" not in columns and "quotes" not in columns:
        yield "which documents are relevant: no column says it, so retrieval is not measured"
    elif "grades" not in columns:
        yield "how relevant a document is: a single one is taken as grade 3, each of several as grade 2"
    if "answerable" not in columns and "class" not in columns:
        yield "whether a question can be answered: each is taken to be answerable"
    if "answers" not in columns:
        yield "a reference answer: answers are not compared with anything"
    if "principal" not in columns:
        yield "who asks: access is not judged"


def _unread(names: list[str]) -> Iterable[str]:
    if names:
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        yield f"columns that are not read: {', '.join(names[:20])}{more}"
