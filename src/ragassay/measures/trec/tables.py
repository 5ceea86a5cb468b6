"""Tables of any make as three columns: query, item, and grade or score; no table library is imported.

A table is anything with `__arrow_c_stream__` (pandas, polars, pyarrow, duckdb), anything whose columns come by name
and can become numpy arrays, or simply three columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ragassay.errors import InputError
from ragassay.measures.trec.arrow import read_stream
from ragassay.measures.trec.texts import Texts

QUERIES = ("query_id", "query", "qid", "q_id", "query-id", "topic")
ITEMS = ("doc_id", "item", "item_id", "document", "document_id", "docid", "docno", "did", "corpus-id")
GRADES = ("grade", "relevance", "rel", "label", "score")
SCORES = ("score", "rank_score", "sim", "similarity")


def three_columns(table: Any, values: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """The three columns of a table.

    Raises:
        InputError: a column cannot be found; the message lists the names that are looked for and those there are.
    """
    if isinstance(table, (tuple, list)) and len(table) == 3:
        return table[0], table[1], table[2]
    if hasattr(table, "__arrow_c_stream__") and not hasattr(table, "iloc"):
        found = read_stream(table)
        names = [_chosen(list(found), wanted) for wanted in (QUERIES, ITEMS, values)]
        return _column(found[names[0]]), _column(found[names[1]]), _column(found[names[2]])
    names_there = _names(table)
    query, item, value = (_array(table[_chosen(names_there, wanted)]) for wanted in (QUERIES, ITEMS, values))
    return query, item, value


def _column(column: Any) -> Any:
    return column if isinstance(column, Texts) else np.asarray(column)


def _array(column: Any) -> Any:
    to_numpy = getattr(column, "to_numpy", None)
    return to_numpy() if to_numpy is not None else column


def _names(table: Any) -> list[str]:
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    if isinstance(table, np.ndarray) and table.dtype.names:
        return list(table.dtype.names)
    columns = getattr(table, "columns", None)
    if columns is None:
        raise InputError(
            f"a {type(table).__name__} is not a table",
            hint="give a file path, a dictionary of dictionaries, a table, or three columns (query, item, number)",
        )
    return [str(name) for name in columns]


def _chosen(there: list[str], wanted: tuple[str, ...]) -> str:
    for name in wanted:
        if name in there:
            return name
    raise InputError(
        f"no column named {' or '.join(wanted[:3])}", hint=f"the table has: {', '.join(there) or 'no columns'}"
    )
