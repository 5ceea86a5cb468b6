"""TREC topics and qrels to cases with document-level labels. Knows no corpus; never joins by guess."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from ragassay.benchmark.cases import CaseReading, HeaderDefaults, Place
from ragassay.corpus.jsonl import lines_of
from ragassay.errors import BenchmarkError, InputError
from ragassay.records.base import DocumentId, EvidenceId, QueryId
from ragassay.records.case import EXTERNAL_RUBRIC, CaseLine, Evidence, LabelProvenance
from ragassay.records.text import clean

EXTERNAL = HeaderDefaults(relevance_unit="document", rubric=EXTERNAL_RUBRIC, rel=1)
_TOP = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"<(\w+)>(.*?)(?=</\1>|<\w+>|\Z)", re.DOTALL)
_PREFIXES = {
    "num": re.compile(r"\s*Number\s*:\s*", re.IGNORECASE),
    "title": re.compile(r"\s*Topic\s*:\s*", re.IGNORECASE),
}


class Topic(NamedTuple):
    """One question as its file prints it."""

    number: str
    query: str
    line: int
    lossy: bool


class Judged(NamedTuple):
    """One line of a qrels file."""

    query_id: str
    document_id: str
    grade: int
    line: int


def read_trec(topics: str | Path, qrels: str | Path, *, join: Literal["id", "position"] = "id") -> CaseReading:
    """Cases from a topics file and a qrels file; the labels are on whole documents, with the rubric `external`.

    `join="id"`: a topic's printed number is the qrels' query id. `join="position"`: the qrels count 1 to N and mean
    the first to the N-th topic of the file (Cranfield); the case then has the qrels' id, and its note the printed one.
    A topic without judgements is unlabelled. A qrels id without a topic is an error: it could not be asked.
    """
    asked = read_topics(topics)
    judged: dict[str, list[Judged]] = defaultdict(list)
    for one in read_qrels(qrels):
        judged[one.query_id].append(one)
    names = _names(asked, list(judged), Path(topics), Path(qrels), join)
    found = CaseReading(defaults=EXTERNAL)
    for name, topic in zip(names, asked, strict=True):
        found.add(_case(name, topic, judged.get(name), join), Place(str(topics), topic.line))
    return found


def read_topics(path: str | Path) -> list[Topic]:
    """Topics as `<top>` blocks with `<num>` and `<title>` (closing tags and a root are optional), or `id<TAB>query`."""
    path = Path(path)
    lines = list(lines_of(path))
    text, lossy = clean(b"\n".join(raw for _, raw in lines))
    text = text.removeprefix("\ufeff")
    found = list(_blocks(path, lines) if "<top>" in text.lower() else _tabbed(path, lines))
    if not found:
        raise InputError("no topic in this file", file=str(path), hint="<top> blocks, or lines of id, tab, query")
    seen: dict[str, int] = {}
    for topic in found:
        if topic.number in seen:
            raise BenchmarkError(
                f"topic {topic.number!r} is there twice",
                file=str(path),
                line=topic.line,
                hint=f"it stands first at line {seen[topic.number]}",
            )
        seen[topic.number] = topic.line
    return [topic._replace(lossy=topic.lossy or (lossy and "\ufffd" in topic.query)) for topic in found]


def read_qrels(path: str | Path) -> list[Judged]:
    """Judgements of a qrels file: query id, a column that is not read, document id, grade. `#` begins a comment line.

    Raises InputError with the line for another number of columns, a grade that is no whole number, or a document
    judged twice for one query.
    """
    path = Path(path)
    found: dict[tuple[str, str], Judged] = {}
    for number, raw in lines_of(path):
        columns = clean(raw).text.split()
        if columns[:1] and columns[0].startswith("#"):
            continue
        if len(columns) != 4:
            raise InputError(
                f"{len(columns)} columns; a qrels line has 4",
                file=str(path),
                line=number,
                hint="query id, 0, document id, grade, with white space between",
            )
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", columns[3]):
            raise InputError(f"{columns[3]!r} is not a grade", file=str(path), line=number, hint="a whole number")
        one = Judged(columns[0], columns[2], int(columns[3]), number)
        before = found.setdefault((one.query_id, one.document_id), one)
        if before is not one:
            raise InputError(
                f"document {one.document_id!r} is judged twice for query {one.query_id!r}",
                file=str(path),
                line=number,
                hint=f"it stands first on line {before.line}; keep one of them",
            )
    if not found:
        raise InputError("no judgement in this file", file=str(path), hint="query id, 0, document id, grade")
    return list(found.values())


def _names(asked: list[Topic], judged: list[str], topics: Path, qrels: Path, join: str) -> list[str]:
    """The query id of each topic."""
    if join == "position":
        wanted = {str(number) for number in range(1, len(asked) + 1)}
        strange = [name for name in judged if name not in wanted]
        if strange:
            raise BenchmarkError(
                f"join by position needs qrels ids from 1 to {len(asked)} (one a topic), but there is {strange[0]!r}",
                file=str(qrels),
                hint='use join = "id" if the qrels name the numbers that the topics print',
            )
        return [str(number) for number in range(1, len(asked) + 1)]
    known = {topic.number for topic in asked}
    orphans = [name for name in judged if name not in known]
    if orphans:
        counted = set(judged) == {str(number) for number in range(1, len(asked) + 1)}
        raise BenchmarkError(
            f"{len(orphans)} of {len(judged)} query ids have judgements but no topic in {topics.name}: "
            f"{', '.join(orphans[:5])}{', …' if len(orphans) > 5 else ''}",
            file=str(qrels),
            hint=f"the qrels count 1 to {len(asked)} and there are {len(asked)} topics: "
            'they most likely join by position, join = "position"'
            if counted
            else "take the topics file that belongs to these qrels",
        )
    return [topic.number for topic in asked]


def _blocks(path: Path, lines: list[tuple[int, bytes]]) -> Iterator[Topic]:
    numbers = [number for number, _ in lines]
    text = "\n".join(clean(raw).text for _, raw in lines)
    for block in _TOP.finditer(text):
        line = numbers[text.count("\n", 0, block.start())]
        fields: dict[str, str] = {}
        for field in _FIELD.finditer(block.group(1)):
            name, value = field.group(1).lower(), html.unescape(field.group(2))
            prefix = _PREFIXES[name].match(value) if name in _PREFIXES else None
            fields.setdefault(name, value[prefix.end() if prefix else 0 :].strip())
        number, query = fields.get("num", ""), " ".join(fields.get("title", "").split())
        if not number or not query:
            raise InputError(
                f"a topic without {'<num>' if not number else '<title>'}",
                file=str(path),
                line=line,
                hint="each <top> block has <num> and <title>",
            )
        yield Topic(number, query, line, False)


def _tabbed(path: Path, lines: list[tuple[int, bytes]]) -> Iterator[Topic]:
    for number, raw in lines:
        name, tab, query = clean(raw).text.removeprefix("\ufeff").partition("\t")
        if not tab or not name.strip() or not query.strip():
            raise InputError(
                "not a topic", file=str(path), line=number, hint="<top> blocks, or lines of id, tab, query"
            )
        yield Topic(name.strip(), " ".join(query.split()), number, False)


def _case(name: str, topic: Topic, judged: list[Judged] | None, join: str) -> CaseLine:
    labelled = LabelProvenance(kind="imported", rubric=EXTERNAL_RUBRIC.name)
    evidence = None
    if judged is not None:
        evidence = tuple(
            Evidence(
                id=EvidenceId(f"r{number}"),
                document_id=DocumentId(one.document_id),
                grade=one.grade,
                provenance=labelled,
            )
            for number, one in enumerate(judged, 1)
        )
    return CaseLine(
        query_id=QueryId(name),
        query=topic.query,
        evidence=evidence,
        notes=f"the topics file prints number {topic.number}" if join == "position" else None,
        lossy=topic.lossy,
    )
