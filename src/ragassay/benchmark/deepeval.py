"""Data sets of DeepEval (goldens and test cases) to cases and outputs. Runs no metric of it and sends nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragassay.benchmark.cases import CaseReading
from ragassay.benchmark.cells import mapping, objects, texts
from ragassay.benchmark.evaluation_sets import Collected
from ragassay.benchmark.intake import OnError, Problems
from ragassay.benchmark.outputs import Output, OutputContext
from ragassay.benchmark.rows import Dialect, Row, rows_of
from ragassay.errors import InputError
from ragassay.records.canonical import snake
from ragassay.records.document import Document

SEPARATOR = "|"
"""What DeepEval writes between contexts in a cell; older versions wrote `;`."""
READ = ("input", "expected_output", "actual_output", "context", "retrieval_context", "comments", "source_file", "name",
        "turns", "scenario")  # fmt: skip
EXTRA = ("additional_metadata", "custom_column_key_values", "metadata")
_MARKER = re.compile(r"deepeval_source=(?P<source>.*?),deepeval_context=(?P<context>.*)", re.DOTALL)


def read_deepeval(
    path: str | Path,
    *,
    corpus: Iterable[Document] | None = None,
    separator: str | None = None,
    slices: Sequence[str] = (),
    on_error: OnError = "stop",
) -> CaseReading:
    """Cases of DeepEval goldens: JSON, JSON lines or CSV, in snake_case or camelCase.

    `input` is the question, `expected_output` the reference answer, `context` the labels (places in `corpus` where
    that holds them letter for letter, else documents of their own); `actual_output` and `retrieval_context` are what a
    system did: see `outputs`. `comments`, `source_file` and `name` become the case's notes. In a cell contexts are
    parted by `separator` (`|` unless given). `slices` names keys of `additional_metadata` or
    `custom_column_key_values` that become slices. A conversational golden's last user turn is the question; its
    `scenario` and `expected_outcome` are instructions for a judge, not a reference answer. What DeepEval has no word
    for is in `notes`.

    Raises InputError with file, line and field.
    """
    path = Path(path)
    problems = Problems(on_error)
    kept = Collected("deepeval", path, corpus, problems)
    wanted = (*READ, *EXTRA, "actualOutput", "expectedOutput", "retrievalContext", "sourceFile")
    for row in rows_of(path, problems, wanted=wanted, dialect=Dialect()):
        with problems.at(path, row.line):
            _read(_snake(row), kept, separator or SEPARATOR, slices)
    return kept.settled([], "each golden needs input")


def _snake(row: Row) -> Row:
    values: dict[str, Any] = {}
    for name, value in row.values.items():
        stored = snake(name)
        if stored in values:
            raise InputError("this key stands here in two spellings", field=row.place(stored), hint="keep one of them")
        values[stored] = value
    return row._replace(values=values)


def _read(row: Row, kept: Collected, separator: str, slices: Sequence[str]) -> None:
    case: dict[str, Any] = {}
    turns = objects(row, "turns")
    if row.has("input") is None and (turns or row.has("scenario")):
        query, history, answer, retrieved = _conversation(row, turns or [])
        query_id = kept.ids.of(query)
        if history:
            turn = 1 + sum(one["role"] == "user" for one in history)
            case["conversation"] = {"id": query_id, "turn": turn, "history": history}
    else:
        query = row.wanted("input")
        query_id = kept.ids.of(query)
        answer, retrieved = row.text("actual_output"), _retrieved(row, separator)
    reference = row.text("expected_output")
    if reference is not None and reference.strip():
        case["answers"] = [{"text": reference}]
    notes = [f"{name}: {text.strip()}" for name in ("name", "comments", "source_file") if (text := row.text(name))]
    if notes:
        case["notes"] = "; ".join(notes)
    case |= {"query_id": query_id, "query": query, "slice": _slices(row, slices)}
    kept.note_unread(row, (*READ, *EXTRA) if slices else READ)
    gold = texts(row, "context", separator=separator) or ()
    kept.add(row, case, gold, Output(query_id, answer, retrieved), "context")


def _retrieved(row: Row, separator: str) -> tuple[OutputContext, ...] | None:
    value = row.values.get("retrieval_context")
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return tuple(_context(row, one, number) for number, one in enumerate(value))
    found = texts(row, "retrieval_context", separator=separator)
    return None if found is None else tuple(_marked(one) for one in found)


def _context(row: Row, value: Any, number: int) -> OutputContext:
    if isinstance(value, str):
        return _marked(value)
    text, source = (value.get("context"), value.get("source")) if isinstance(value, dict) else (None, None)
    if not isinstance(text, str) or not isinstance(source, str):
        raise row.wrong(f"retrieval_context[{number}]", "a text, or an object of context and source", value)
    return OutputContext(text, source or None)


def _marked(text: str) -> OutputContext:
    """A context, with the source that DeepEval writes before it."""
    found = _MARKER.fullmatch(text)
    return OutputContext(found["context"], found["source"] or None) if found else OutputContext(text)


def _conversation(
    row: Row, turns: list[dict[str, Any]]
) -> tuple[str, list[dict[str, str]], str | None, tuple[OutputContext, ...] | None]:
    """The last user turn, what was said before it, and what the system answered to it."""
    if not turns:
        raise InputError(
            "a conversation without turns",
            field=row.place("turns"),
            hint="a simulator would make them from the scenario; only what was said can be scored",
        )
    for number, one in enumerate(turns):
        if one.get("role") not in ("user", "assistant") or not isinstance(one.get("content"), str):
            raise InputError(
                "not a turn",
                field=row.place(f"turns[{number}]"),
                hint='{"role": "user" or "assistant", "content": "…"}',
            )
    asked = [at for at, one in enumerate(turns) if one["role"] == "user" and one["content"].strip()]
    if not asked:
        raise InputError("a conversation in which nobody asks", field=row.place("turns"), hint="one turn is of a user")
    last = asked[-1]
    history = [{"role": one["role"], "text": one["content"]} for one in turns[:last]]
    if last + 1 == len(turns):
        return turns[last]["content"], history, None, None
    reply = turns[last + 1]
    said = row._replace(path=row.place(f"turns[{last + 1}]"), values=reply)
    return turns[last]["content"], history, reply["content"], _retrieved(said, SEPARATOR)


def _slices(row: Row, wanted: Sequence[str]) -> list[str]:
    if not wanted:
        return []
    values = {key: value for name in EXTRA for key, value in mapping(row, name).items()}
    found = []
    for name in wanted:
        value = values.get(name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str | int) and not isinstance(one, bool) and str(one).strip():
                found.append(f"{name}={str(one).strip()}")
    return list(dict.fromkeys(found))
