"""Questions with judged documents, in the layouts of BEIR, MTEB and ir_datasets, to cases. Knows no corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ragassay.benchmark.cases import CaseReading, Place
from ragassay.benchmark.intake import OnError, Problems
from ragassay.benchmark.rows import Row, ending_of, rows_of
from ragassay.benchmark.trec import EXTERNAL, read_trec
from ragassay.errors import BenchmarkError, InputError
from ragassay.records.canonical import parse_value
from ragassay.records.case import EXTERNAL_RUBRIC, CaseLine
from ragassay.records.text import many

QUERY_ID = ("_id", "id", "query-id", "query_id", "qid")
QUERY_TEXT = ("text", "query", "question", "title")
JUDGED_QUERY = ("query-id", "query_id", "qid")
JUDGED_DOCUMENT = ("corpus-id", "corpus_id", "doc_id", "docid")
GRADE = ("score", "relevance", "grade")
MOST_WRITTEN = 5
SAID_NOT = (
    "which other documents are relevant: only those in the qrels were judged, and an unjudged one is not irrelevant",
    "what a grade means: the least grade that counts as relevant is taken to be 1, under the rubric 'external'",
    "whether a question can be answered: each is taken to be answerable",
    "where in a document the evidence stands: every label is on a whole document, so facts are not measured",
    "who may see what: access is not judged",
    "a reference answer: answers are not compared with anything",
)
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}(\.0{1,9})?")


class _Query(NamedTuple):
    text: str
    line: int | None
    lossy: bool


def read_beir(folder: str | Path, *, split: str = "test", on_error: OnError = "stop") -> CaseReading:
    """Cases of a BEIR folder: `queries.jsonl` and `qrels/SPLIT.tsv` (packed by gzip or not).

    As in BEIR only the questions that the split judges are cases; the others are counted in `notes`. Labels are on
    whole documents, with the rubric `external` and 1 as least relevant grade. InputError and BenchmarkError name file,
    line and field: a header that is missing, a grade that is no whole number, a document judged twice for a
    question, a judged question without text.
    """
    folder = Path(folder)
    queries = _one_of(folder, ("queries.jsonl", "queries.jsonl.gz"), "a BEIR folder holds queries.jsonl")
    names = [f"qrels/{split}{ending}" for ending in (".tsv", ".tsv.gz", ".jsonl", ".parquet")]
    judged = _one_of(folder, names, f"a BEIR folder holds qrels/{split}.tsv")
    return read_mteb(queries, judged, on_error=on_error)


def read_mteb(queries: str | Path, qrels: str | Path, *, on_error: OnError = "stop") -> CaseReading:
    """Cases of two tables, each JSON lines, TSV with a header, or Parquet (extra `parquet`).

    Questions have `_id` or `id`, and `text`; judgements have `query-id`, `corpus-id` and `score`. Rules as in
    `read_beir`.
    """
    queries, qrels = Path(queries), Path(qrels)
    problems = Problems(on_error)
    asked = _queries(queries, problems)
    judged = _judgements(qrels, problems)
    found = CaseReading(defaults=EXTERNAL)
    for query_id, grades in judged.items():
        line = next(iter(grades.values()))[1]
        with problems.at(qrels, line):
            if query_id not in asked:
                raise BenchmarkError(
                    f"query {query_id!r} has judgements but no text in {queries.name}",
                    hint="take the questions that belong to these qrels",
                )
            found.add(_case(query_id, asked[query_id], grades), Place(str(queries), asked[query_id].line or 0))
    unasked = len(asked) - sum(one in judged for one in asked)
    found.said_not = SAID_NOT
    if unasked > 0:
        found.remarks = (f"{many(unasked, 'question')} of {queries.name} without judgement in {qrels.name}: left out",)
    return found.settle(problems, queries, "a table of _id and text")


def read_ir_datasets(
    queries: str | Path, qrels: str | Path, *, text: str | None = None, on_error: OnError = "stop"
) -> CaseReading:
    """Cases of what `ir_datasets export NAME queries` and `... qrels` write.

    Questions are JSON lines with `query_id` (`text` names the field that is the question; else the first of text,
    query, question, title), or lines of id, tab, question. Judgements are TREC qrels. A question without judgements
    is unlabelled.
    """
    queries, qrels = Path(queries), Path(qrels)
    if ending_of(queries) not in (".jsonl", ".ndjson"):
        found = read_trec(queries, qrels, on_error=on_error, tabbed=True)
        found.said_not = SAID_NOT
        return found
    from ragassay.benchmark.trec import cases_of, read_qrels

    problems = Problems(on_error)
    asked = _queries(queries, problems, (text,) if text else QUERY_TEXT)
    judgements = read_qrels(qrels, problems=problems)
    found = cases_of(
        [(name, one.text, one.line or 0, one.lossy) for name, one in asked.items()],
        judgements,
        queries,
        qrels,
        problems,
    )
    found.said_not = SAID_NOT
    return found.settle(problems, queries, "JSON lines of query_id and text")


def _queries(path: Path, problems: Problems, texts: Sequence[str] = QUERY_TEXT) -> dict[str, _Query]:
    asked: dict[str, _Query] = {}
    for row in rows_of(path, problems, wanted=(*QUERY_ID, *texts)):
        with problems.at(path, row.line):
            name = row.identifier(_present(row, QUERY_ID))
            query = row.wanted(_present(row, texts))
            if name in asked:
                raise InputError(f"query {name!r} is there twice", field=row.place("_id"), hint="keep one of them")
            asked[name] = _Query(query, row.line, row.lossy)
    return asked


def _judgements(path: Path, problems: Problems) -> dict[str, dict[str, tuple[int, int | None]]]:
    """Query -> document -> grade and line."""
    judged: dict[str, dict[str, tuple[int, int | None]]] = {}
    for row in rows_of(path, problems, wanted=(*JUDGED_QUERY, *JUDGED_DOCUMENT, *GRADE)):
        with problems.at(path, row.line):
            query = row.identifier(_present(row, JUDGED_QUERY))
            document = row.identifier(_present(row, JUDGED_DOCUMENT))
            grade = _grade(row, _present(row, GRADE))
            own = judged.setdefault(query, {})
            if document in own:
                raise InputError(
                    f"document {document!r} is judged twice for query {query!r}", hint="keep one of the two"
                )
            own[document] = (grade, row.line)
    if not judged and not problems.found:
        raise InputError("no judgement in this file", file=str(path), hint="columns query-id, corpus-id, score")
    return judged


def _present(row: Row, names: Iterable[str]) -> str:
    """The first of these names that this row has at all."""
    names = tuple(names)
    for name in names:
        if name in row.values:
            return name
    there = ", ".join(list(row.values)[:MOST_WRITTEN]) or "nothing"
    raise InputError(
        f"none of the fields {', '.join(names[:MOST_WRITTEN])}; there are: {there}",
        field=row.path,
        hint=f"the first line of a .tsv or .csv names its columns; here one must be named {names[0]}",
    )


def _grade(row: Row, name: str) -> int:
    value = row.values[name]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e9:
        return int(value)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text.isascii() or not _WHOLE.fullmatch(text.strip()):
        raise InputError(f"{value!r} is not a grade", field=row.place(name), hint="a whole number")
    return int(text.strip().partition(".")[0])


def _case(query_id: str, asked: _Query, grades: dict[str, tuple[int, int | None]]) -> CaseLine:
    provenance = {"kind": "imported", "rubric": EXTERNAL_RUBRIC.name}
    labels = [
        {"id": f"r{number}", "document_id": document, "grade": grade, "provenance": provenance}
        for number, (document, (grade, _)) in enumerate(grades.items(), 1)
    ]
    value = {"query_id": query_id, "query": asked.text, "evidence": labels, "lossy": asked.lossy}
    return parse_value(CaseLine, value)


def _one_of(folder: Path, names: Iterable[str], hint: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"no {next(iter(names))} in this folder", file=str(folder), hint=hint)
