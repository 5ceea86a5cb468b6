"""TREC topics and qrels to cases with document-level labels. Knows no corpus; never joins by guess."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from ragassay.benchmark.cases import CaseReading, HeaderDefaults, Place
from ragassay.benchmark.intake import OnError, Problems, lines_in
from ragassay.errors import BenchmarkError, InputError
from ragassay.records.base import DocumentId, EvidenceId, QueryId
from ragassay.records.case import EXTERNAL_RUBRIC, CaseLine, Evidence, LabelProvenance
from ragassay.records.text import clean, many

EXTERNAL = HeaderDefaults(relevance_unit="document", rubric=EXTERNAL_RUBRIC, rel=1)
_TOP = re.compile(r"<(/?)top>", re.IGNORECASE)
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


def read_trec(
    topics: str | Path,
    qrels: str | Path,
    *,
    join: Literal["id", "position"] = "id",
    on_error: OnError = "stop",
    tabbed: bool = False,
) -> CaseReading:
    """Cases from a topics file and a qrels file; the labels are on whole documents, with the rubric `external`.

    `join="id"`: a topic's printed number is the qrels' query id. `join="position"`: the qrels count 1 to N and mean
    the first to the N-th topic of the file (Cranfield); the case then has the qrels' id, and its note the printed one.
    A topic without judgements is unlabelled. A qrels id without a topic is an error: it could not be asked.
    With `on_error="skip"` lines that are wrong are left out and stand in `skipped`; what does not join stays an error.
    With `tabbed` a topic is exactly id, tab, question.
    """
    problems = Problems(on_error)
    asked = read_topics(topics, problems=problems, tabbed=tabbed)
    judged = read_qrels(qrels, problems=problems)
    known = [(topic.number, topic.query, topic.line, topic.lossy) for topic in asked]
    found = cases_of(known, judged, Path(topics), Path(qrels), problems, join=join)
    return found.settle(problems, Path(topics), "<top> blocks, or lines of id, tab, query")


def cases_of(
    asked: list[tuple[str, str, int, bool]],
    judgements: list[Judged],
    topics: Path,
    qrels: Path,
    problems: Problems,
    *,
    join: Literal["id", "position"] = "id",
) -> CaseReading:
    """Cases of topics (id, question, line, lossy) and judgements; see `read_trec`."""
    known = [Topic(*one) for one in asked]
    judged: dict[str, list[Judged]] = defaultdict(list)
    for one in judgements:
        judged[one.query_id].append(one)
    if problems.on_error == "stop":
        problems.settle(0)
    names = _names(known, list(judged), topics, qrels, join)
    found = CaseReading(defaults=EXTERNAL)
    for name, topic in zip(names, known, strict=True):
        with problems.at(topics, topic.line):
            found.add(_case(name, topic, judged.get(name), join), Place(str(topics), topic.line))
    return found


def read_topics(path: str | Path, *, problems: Problems | None = None, tabbed: bool = False) -> list[Topic]:
    """Topics as `<top>` blocks with `<num>` and `<title>` (closing tags and a root are optional), or `id<TAB>query`.

    What is wrong goes to `problems`; without them it is raised when the file is read to its end.
    """
    path = Path(path)
    kept = problems or Problems()
    lines = list(lines_in(path))
    blocks = not tabbed and any(b"<top>" in raw.lower() for _, raw in lines)
    found: list[Topic] = []
    seen: dict[str, int] = {}
    for topic in _blocks(path, lines, kept) if blocks else _tabbed(path, lines, kept, tabbed):
        with kept.at(path, topic.line):
            if topic.number in seen:
                raise BenchmarkError(
                    f"topic {topic.number!r} is there twice", hint=f"it stands first at line {seen[topic.number]}"
                )
            seen[topic.number] = topic.line
            found.append(topic)
    if problems is None:
        kept.settle(len(found))
    if not found and not kept.found:
        raise InputError("no topic in this file", file=str(path), hint="<top> blocks, or lines of id, tab, query")
    return found


def read_qrels(path: str | Path, *, problems: Problems | None = None) -> list[Judged]:
    """Judgements of a qrels file: query id, a column that is not read, document id, grade. `#` begins a comment line.

    InputError with the line for another number of columns, a grade that is no whole number, or a document judged
    twice for one query goes to `problems`; without them it is raised when the file is read to its end.
    """
    path = Path(path)
    kept = problems or Problems()
    found: dict[tuple[str, str], Judged] = {}
    for number, raw in lines_in(path):
        columns = clean(raw).text.split()
        if columns[:1] and columns[0].startswith("#"):
            continue
        with kept.at(path, number):
            one = _judged(columns, number)
            before = found.setdefault((one.query_id, one.document_id), one)
            if before is not one:
                raise InputError(
                    f"document {one.document_id!r} is judged twice for query {one.query_id!r}",
                    hint=f"it stands first on line {before.line}; keep one of them",
                )
    if problems is None:
        kept.settle(len(found))
    if not found and not kept.found:
        raise InputError("no judgement in this file", file=str(path), hint="query id, 0, document id, grade")
    return list(found.values())


def _judged(columns: list[str], line: int) -> Judged:
    if len(columns) != 4:
        raise InputError(
            f"{many(len(columns), 'column')}; a qrels line has 4",
            hint="query id, 0, document id, grade, with white space between",
        )
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", columns[3]):
        raise InputError(f"{columns[3]!r} is not a grade", hint="a whole number")
    return Judged(columns[0], columns[2], int(columns[3]), line)


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
            hint=f"the qrels count 1 to {len(asked)} as the {many(len(asked), 'topic')} could: "
            'they most likely join by position, join = "position"'
            if counted
            else "take the topics file that belongs to these qrels",
        )
    return [topic.number for topic in asked]


def _blocks(path: Path, lines: list[tuple[int, bytes]], problems: Problems) -> Iterator[Topic]:
    numbers = [number for number, _ in lines]
    decoded = [clean(raw) for _, raw in lines]
    text, lossy = "\n".join(one.text for one in decoded), any(one.lossy for one in decoded)
    marks = list(_TOP.finditer(text))
    at = line = 0
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        line += text.count("\n", at, mark.start())
        at = mark.start()
        if mark.group(1):
            continue
        with problems.at(path, numbers[line]):
            if following is None or not following.group(1):
                raise InputError("a <top> without its </top>", hint="each topic begins with <top>, ends with </top>")
            yield _topic(text[mark.end() : following.start()], numbers[line], lossy)


def _topic(block: str, line: int, lossy: bool) -> Topic:
    fields: dict[str, str] = {}
    for field in _FIELD.finditer(block):
        name, value = field.group(1).lower(), html.unescape(field.group(2))
        prefix = _PREFIXES[name].match(value) if name in _PREFIXES else None
        fields.setdefault(name, value[prefix.end() if prefix else 0 :].strip())
    number, query = fields.get("num", ""), " ".join(fields.get("title", "").split())
    if not number or not query:
        raise InputError(
            f"a topic without {'<num>' if not number else '<title>'}", hint="each <top> block has <num> and <title>"
        )
    return Topic(number, query, line, lossy and "\ufffd" in query)


def _tabbed(path: Path, lines: list[tuple[int, bytes]], problems: Problems, exactly: bool) -> Iterator[Topic]:
    for number, raw in lines:
        with problems.at(path, number):
            text, lossy = clean(raw)
            name, tab, query = text.partition("\t")
            if not tab or not name.strip() or not query.strip():
                raise InputError("not a topic", hint="<top> blocks, or lines of id, tab, query")
            if exactly and "\t" in query:
                raise InputError(
                    f"{many(text.count(chr(9)) + 1, 'column')} where id and question are needed",
                    hint="export two fields: ir_datasets export NAME queries --fields query_id title",
                )
            yield Topic(name.strip(), " ".join(query.split()), number, lossy)


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
