"""Values that a tool wrote into one cell (a list as JSON or as Python, parts with a separator). Evaluates no code."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from ragassay.benchmark.rows import Row
from ragassay.corpus.jsonl import clean_strings
from ragassay.errors import InputError, RecordError
from ragassay.records.canonical import load_json
from ragassay.records.text import clean, many

MOST_ITEMS = 10_000
MOST_LITERAL = 64 * 1024
"""Characters of a cell that holds Python objects rather than a list of texts."""
_ITEM = re.compile(r"\s*+(?:('(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")|(-?[0-9]{1,18}))\s*+([,\]])", re.DOTALL)

_BROKEN_LIST = re.compile(r"\s*+\[\s*+['\"]")
"""How a list of texts begins: where it is none, something was cut, and its parts would be wrong texts."""


def texts(row: Row, name: str, *, separator: str | None = None) -> tuple[str, ...] | None:
    """A list of texts; None if there is none.

    A list of the file as it is; from a cell: a JSON or Python list, else the parts between `separator`s. Numbers
    become text (ids). InputError for anything else, and for more than MOST_ITEMS.
    """
    value = row.values.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        value = _of_cell(row, name, value, separator)
    if not isinstance(value, list):
        raise row.wrong(name, "a list of texts", value)
    if len(value) > MOST_ITEMS:
        told = f"{many(len(value), 'entry')}; the most is {MOST_ITEMS}"
        raise InputError(told, field=row.place(name), hint="look at it")
    out = []
    for number, one in enumerate(value):
        if isinstance(one, bool) or not isinstance(one, str | int):
            raise row.wrong(f"{name}[{number}]", "text", one)
        out.append(str(one))
    return tuple(out)


def parts(cell: str | None, separator: str | None) -> tuple[str, ...]:
    """The parts of a cell without the white space at their ends; blank ones are left out."""
    if cell is None:
        return ()
    pieces = cell.split(separator) if separator else [cell]
    return tuple(piece.strip() for piece in pieces if piece.strip())


def objects(row: Row, name: str) -> list[dict[str, Any]] | None:
    """A list of objects; from a cell as JSON or, up to MOST_LITERAL characters, as Python wrote it."""
    value = row.values.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        value = _loaded(row, name, value)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise row.wrong(name, "a list of objects", value)
    return value


def mapping(row: Row, name: str) -> dict[str, Any]:
    """An object; from a cell as `objects` reads it. Empty if there is none."""
    value = row.values.get(name)
    if value is None:
        return {}
    if isinstance(value, str):
        value = _loaded(row, name, value)
    if not isinstance(value, dict):
        raise row.wrong(name, "an object", value)
    return value


def _of_cell(row: Row, name: str, cell: str, separator: str | None) -> Any:
    if separator is not None and not cell.lstrip().startswith("["):
        return list(parts(cell, separator))
    try:
        return load_json(cell)
    except RecordError:
        pass
    found = _python_list(cell.strip())
    if found is not None:
        return found
    if separator is not None and not _BROKEN_LIST.match(cell):
        return list(parts(cell, separator))
    raise InputError(
        "not a list of texts",
        field=row.place(name),
        hint="a list as JSON (or as Python prints it), or say the separator that stands between the texts",
    )


def _python_list(cell: str) -> list[str] | None:
    """The texts of a list as Python prints it; None if it is none."""
    if not cell.startswith("["):
        return None
    if not cell[1:].strip(" \t\r\n").rstrip("]"):
        return [] if cell[1:].strip() == "]" else None
    found: list[str] = []
    at, mark = 1, ","
    while mark == ",":
        item = _ITEM.match(cell, at)
        if item is None or len(found) > MOST_ITEMS:
            return None
        text, number, mark = item.groups()
        try:
            found.append(clean(str(ast.literal_eval(text))).text if text else number)
        except (ValueError, SyntaxError, MemoryError):
            return None
        at = item.end()
    return found if at == len(cell) else None


def _loaded(row: Row, name: str, cell: str) -> Any:
    try:
        return load_json(cell)
    except RecordError as error:
        if len(cell) > MOST_LITERAL:
            raise error.at(field=row.place(name))  # noqa: B904  the same error, with its place
    try:
        return clean_strings(load_json(json.dumps(ast.literal_eval(cell.strip()))))[0]
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError, RecordError):
        raise InputError("neither JSON nor a Python value", field=row.place(name), hint="write it as JSON") from None
