"""What the data sets of ragas and DeepEval share: gold contexts as labels, outputs, and what they do not say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragassay.benchmark.cases import CaseReading, Place
from ragassay.benchmark.gold import Gold, QueryIds
from ragassay.benchmark.intake import Problems
from ragassay.benchmark.outputs import Output
from ragassay.benchmark.rows import Row
from ragassay.errors import InputError
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.document import Document
from ragassay.records.text import many

PROVENANCE = {"kind": "imported"}
SAID_NOT = (
    "how relevant a gold context is, and which of several are needed together: a single one is taken as grade 3, each "
    "of several as grade 2, and no facts are declared, so survival of facts is not measured",
    "what else is relevant: only gold contexts are labelled, so another retrieved text is unjudged, not irrelevant",
    "whether a question can be answered: each is taken to be answerable, so refusals count as wrong",
    "who may see what: access is not judged",
)
NO_CORPUS = (
    "the corpus: gold contexts are taken as its only documents, so what else a retriever could have found is unknown, "
    "and a retrieved text that is none of them letter for letter is unresolved"
)


class Collected:
    """Cases and outputs of one data set while it is read."""

    def __init__(self, source: str, path: Path, corpus: Iterable[Document] | None, problems: Problems) -> None:
        self.path = path
        self.problems = problems
        self.gold = Gold(source, corpus)
        self.ids = QueryIds(source)
        self.found = CaseReading()
        self.unread: Counter[str] = Counter()
        self._own_corpus = corpus is None

    def add(self, row: Row, value: Mapping[str, Any], gold: Sequence[str], output: Output | None, key: str) -> None:
        """One question: its labels are the gold contexts (`key` names their field); equal ones count once."""
        labels = []
        for number, text in enumerate(dict.fromkeys(gold), 1):
            try:
                grade = 3 if len(set(gold)) == 1 else 2
                labels.append(self.gold.evidence(text, f"r{number}", grade, PROVENANCE))
            except InputError as error:
                raise error.at(field=row.place(f"{key}[{list(gold).index(text)}]"))  # noqa: B904  the same error, with its place
        self.keep(row, {**value, **({"evidence": labels} if labels else {})}, output)

    def keep(self, row: Row, value: Mapping[str, Any], output: Output | None) -> None:
        """One case line and what a system said to it."""
        try:
            case = parse_value(CaseLine, {**value, "lossy": row.lossy})
        except InputError as error:
            error.field = row.place(error.field).rstrip(".")
            raise
        if case.query_id in self.found.places:
            raise InputError(f"id {case.query_id!r} is there twice", field=row.path, hint="keep one of them")
        self.found.places[case.query_id] = Place(str(self.path), row.line or 0)
        self.found.append(case)
        if output is not None and (output.answer is not None or output.contexts is not None):
            self.found.outputs.append(output)

    def note_unread(self, row: Row, known: Iterable[str]) -> None:
        """Count the fields of a row that hold something and are not read."""
        read = set(known)
        self.unread.update(
            name for name, value in row.values.items() if name not in read and value not in (None, [], {})
        )

    def settled(self, own: Iterable[str], hint: str) -> CaseReading:
        """The reading with all notes, once the file is read to its end."""
        found = self.found
        found.documents = self.gold.documents
        labelled = sum(case.evidence is not None for case in found)
        answered = sum(bool(case.answers) for case in found)
        notes = list(SAID_NOT)
        if self._own_corpus:
            notes.append(NO_CORPUS)
        if labelled < len(found):
            notes.append(
                f"gold contexts of {len(found) - labelled} of {many(len(found), 'question')}: there retrieval is not "
                "measured"
            )
        if answered < len(found):
            notes.append(
                f"a reference answer to {len(found) - answered} of {many(len(found), 'question')}: there answers are "
                "compared with nothing"
            )
        found.said_not = tuple(notes)
        remarks = list(own)
        if self.unread:
            names = [f"{name} ({count})" for name, count in self.unread.most_common(20)]
            remarks.append(f"fields that are not read, with the number of questions that have them: {', '.join(names)}")
        found.remarks = (*remarks, *self.gold.notes(), *self.ids.notes())
        return found.settle(self.problems, self.path, hint)
