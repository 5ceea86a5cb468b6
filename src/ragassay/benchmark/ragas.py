"""Data sets of ragas (an exported EvaluationDataset, old and new names) to cases and outputs. Runs no metric of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragassay.benchmark.cases import CaseReading
from ragassay.benchmark.cells import objects, texts
from ragassay.benchmark.evaluation_sets import PROVENANCE, Collected
from ragassay.benchmark.intake import OnError, Problems
from ragassay.benchmark.outputs import Output, OutputContext
from ragassay.benchmark.rows import Dialect, Row, rows_of
from ragassay.errors import InputError
from ragassay.records.document import Document
from ragassay.records.text import many

QUESTION = ("user_input", "question")
RETRIEVED = ("retrieved_contexts", "contexts")
RESPONSE = ("response", "answer")
REFERENCE = ("reference", "ground_truth")
OLD_REFERENCES = "ground_truths"
GOLD = "reference_contexts"
RETRIEVED_IDS = "retrieved_context_ids"
GOLD_IDS = "reference_context_ids"
SLICES = ("persona_name", "query_style", "query_length", "synthesizer_name")
NAMES = (
    "query_id",
    *QUESTION,
    *RETRIEVED,
    *RESPONSE,
    *REFERENCE,
    OLD_REFERENCES,
    GOLD,
    RETRIEVED_IDS,
    GOLD_IDS,
    *SLICES,
)
_ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant"}


def read_ragas(
    path: str | Path,
    *,
    corpus: Iterable[Document] | None = None,
    separator: str | None = None,
    on_error: OnError = "stop",
) -> CaseReading:
    """Cases of a ragas data set: JSON lines, JSON, CSV or Parquet with `user_input` (once `question`).

    `reference` (`ground_truth`, `ground_truths`) is the reference answer, `reference_contexts` the labels: places in
    `corpus` where that holds them letter for letter, else documents of their own; `reference_context_ids` are labels
    on documents of these ids. `response` (`answer`) and `retrieved_contexts` (`contexts`) are what a system did: see
    `outputs`. A list of messages in `user_input` is a conversation, and its last human message the question. In CSV a
    list is JSON or what Python prints, or its parts stand between `separator`s. What ragas has no word for is in
    `notes`.

    Raises InputError with file, line and field.
    """
    path = Path(path)
    problems = Problems(on_error)
    kept = Collected("ragas", path, corpus, problems)
    own: dict[str, int] = {"tool": 0}
    for row in rows_of(path, problems, wanted=NAMES, dialect=Dialect()):
        with problems.at(path, row.line):
            _read(row, kept, separator, own)
    notes = (
        [f"tool messages of {many(own['tool'], 'conversation')} are left out: a history holds what was said"]
        if own["tool"]
        else []
    )
    return kept.settled(notes, "each record needs user_input (or, once, question)")


def _read(row: Row, kept: Collected, separator: str | None, own: dict[str, int]) -> None:
    name = row.has(*QUESTION)
    if name is None:
        raise InputError("no question", field=row.place(QUESTION[0]), hint="each record needs user_input")
    value = row.values[name]
    messages = objects(row, name) if isinstance(value, list) or _is_conversation(value) else None
    said: str | None = None
    history: list[dict[str, str]] = []
    if messages is None:
        query = row.wanted(name)
    else:
        query, history, said, tools = _conversation(row, name, messages)
        own["tool"] += tools
    query_id = row.identifier("query_id") if row.has("query_id") else kept.ids.of(query)
    case: dict[str, Any] = {"query_id": query_id, "query": query, "slice": _slices(row)}
    if history:
        turn = 1 + sum(one["role"] == "user" for one in history)
        case["conversation"] = {"id": query_id, "turn": turn, "history": history}
    answers = _references(row)
    if answers:
        case["answers"] = [{"text": text} for text in answers]
    response = row.has(*RESPONSE)
    answer = row.text(response) if response else said
    output = Output(query_id, answer, _contexts(row, separator))
    kept.note_unread(row, NAMES)
    gold = texts(row, GOLD, separator=separator)
    ids = texts(row, GOLD_IDS, separator=separator)
    if gold or not ids:
        kept.add(row, case, gold or (), output, GOLD)
        return
    distinct = list(dict.fromkeys(ids))
    for one in distinct:
        kept.gold.named(one)
    grade = 3 if len(distinct) == 1 else 2
    labels = [
        {"id": f"r{number}", "document_id": one, "grade": grade, "provenance": PROVENANCE}
        for number, one in enumerate(distinct, 1)
    ]
    kept.keep(row, {**case, "evidence": labels}, output)


def _is_conversation(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith("[{") and "content" in value


def _conversation(
    row: Row, name: str, messages: list[dict[str, Any]]
) -> tuple[str, list[dict[str, str]], str | None, bool]:
    """The last human message, what was said before it, what the system said after it, and whether tools spoke."""
    turns: list[dict[str, str]] = []
    tools = False
    for number, one in enumerate(messages):
        kind, content = one.get("type") or one.get("role"), one.get("content")
        if kind == "tool":
            tools = True
            continue
        if kind not in _ROLES or not isinstance(content, str):
            raise InputError(
                "not a message",
                field=row.place(f"{name}[{number}]"),
                hint='{"type": "human" or "ai" or "tool", "content": "…"}',
            )
        turns.append({"role": _ROLES[kind], "text": content})
    last = max((at for at, one in enumerate(turns) if one["role"] == "user" and one["text"].strip()), default=-1)
    if last < 0:
        raise InputError("a conversation in which nobody asks", field=row.place(name), hint="one message is of a human")
    after = [one["text"] for one in turns[last + 1 :]]
    return turns[last]["text"], turns[:last], after[-1] if after else None, tools


def _references(row: Row) -> tuple[str, ...]:
    name = row.has(*REFERENCE)
    if name is not None:
        text = row.text(name) if isinstance(row.values[name], str) else None
        found = (text,) if text is not None else texts(row, name) or ()
    else:
        found = texts(row, OLD_REFERENCES) or ()
    return tuple(dict.fromkeys(one for one in found if one.strip()))


def _contexts(row: Row, separator: str | None) -> tuple[OutputContext, ...] | None:
    name = row.has(*RETRIEVED)
    ids = texts(row, RETRIEVED_IDS, separator=separator)
    if name is None:
        return None if ids is None else tuple(OutputContext(None, one) for one in ids)
    found = texts(row, name, separator=separator) or ()
    if ids is None:
        return tuple(OutputContext(one) for one in found)
    if len(ids) != len(found):
        raise InputError(
            f"{many(len(ids), 'id')} of {many(len(found), 'context')}",
            field=row.place(RETRIEVED_IDS),
            hint="one for each, in order",
        )
    return tuple(OutputContext(text, one) for text, one in zip(found, ids, strict=True))


def _slices(row: Row) -> list[str]:
    return [f"{name}={text.strip()}" for name in SLICES if (text := row.text(name)) and text.strip()]
