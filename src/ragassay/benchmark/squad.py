"""SQuAD 1.1 and 2.0 (the official JSON) to cases with spans. Asks nothing and guesses no answer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragassay.benchmark.cases import CaseReading, HeaderDefaults, Place
from ragassay.benchmark.gold import Gold, Spot
from ragassay.benchmark.intake import OnError, Problems, whole_file
from ragassay.corpus.jsonl import clean_strings
from ragassay.errors import InputError
from ragassay.records.canonical import load_json, parse_value
from ragassay.records.case import CaseLine
from ragassay.records.document import Document
from ragassay.records.text import clean

SAID_NOT = (
    "whether another paragraph holds an answer: each question was judged on its own paragraph only, so an unanswerable "
    "one may be answerable in the corpus, and what stands elsewhere is unjudged",
    "a wider context of an answer: evidence is the answer's own words, so a passage that only cuts them out counts",
    "how relevant anything is: an annotated answer is taken as grade 3, the paragraph of an unanswerable question as 0",
    "who may see what: access is not judged",
)
_PROVENANCE = {"kind": "imported", "rubric": "answer span chosen by an annotator"}


def read_squad(
    path: str | Path, *, corpus: Iterable[Document] | None = None, on_error: OnError = "stop"
) -> CaseReading:
    """Cases of SQuAD's JSON: `data[].paragraphs[].{context, qas[]}`.

    Each answer with its `answer_start` is a span with its quote; different spans are alternatives (one fact, any one
    of them). `is_impossible` is class unanswerable, judged on the paragraph alone (scope `passage`, the paragraph at
    grade 0); `plausible_answers` are not answers and are not read. The paragraphs are `documents`, or places in
    `corpus` where that holds them letter for letter.

    Raises InputError with file and field (`data[0].paragraphs[2].qas[1]`): another shape, an answer that does not
    stand where it says, an answerable question without an answer, an id twice.
    """
    path = Path(path)
    problems = Problems(on_error)
    text, lossy = clean(whole_file(path))
    try:
        value, unpaired = clean_strings(load_json(text))
    except InputError as error:
        raise error.at(file=str(path))  # noqa: B904  the same error, with its place
    gold = Gold("squad", corpus)
    found = CaseReading(defaults=HeaderDefaults())
    articles: list[_Part] = []
    with problems.at(path):
        articles = _Part(value, "").parts("data")
    for article in articles:
        title = article.value.get("title") if isinstance(article.value, dict) else None
        paragraphs: list[_Part] = []
        with problems.at(path):
            paragraphs = article.parts("paragraphs")
        for paragraph in paragraphs:
            _paragraph(paragraph, title, gold, found, problems, path, lossy or unpaired)
    found.documents = gold.documents
    found.said_not, found.remarks = SAID_NOT, tuple(gold.notes())
    return found.settle(problems, path, '{"data": [{"paragraphs": [{"context": "…", "qas": [{"id": …}]}]}]}')


class _Part:
    """An object of the file, and where it stands."""

    def __init__(self, value: Any, path: str) -> None:
        self.value = value
        self.path = path

    def get(self, name: str, kind: type, what: str) -> Any:
        """A value that must be there, of its type."""
        value = self.value.get(name) if isinstance(self.value, dict) else None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            where = f"{self.path}.{name}".lstrip(".")
            raise InputError(f"expected {what}", field=where, hint="this is the official SQuAD JSON? see docs/cases.md")
        return value

    def parts(self, name: str) -> list[_Part]:
        """The objects of a list that must be there."""
        base = f"{self.path}.{name}".lstrip(".")
        return [_Part(one, f"{base}[{number}]") for number, one in enumerate(self.get(name, list, "a list"))]


def _paragraph(
    paragraph: _Part, title: Any, gold: Gold, found: CaseReading, problems: Problems, path: Path, lossy: bool
) -> None:
    questions: list[_Part] = []
    with problems.at(path):
        context = paragraph.get("context", str, "text")
        try:
            spot = gold.spot(context, title=title if isinstance(title, str) else None)
        except InputError as error:
            raise error.at(field=f"{paragraph.path}.context")  # noqa: B904  the same error, with its place
        questions = paragraph.parts("qas")
    for question in questions:
        with problems.at(path):
            case = _case(question, context, spot, lossy)
            if case.query_id in found.places:
                raise InputError(f"id {case.query_id!r} is there twice", field=question.path, hint="keep one of them")
            found.places[case.query_id] = Place(str(path), 0)
            found.append(case)


def _case(question: _Part, context: str, spot: Spot, lossy: bool) -> CaseLine:
    value: dict[str, Any] = {
        "query_id": question.get("id", str, "text"),
        "query": question.get("question", str, "text"),
        "answerability_scope": "passage",
        "lossy": lossy and "\ufffd" in context,
    }
    impossible = question.value.get("is_impossible", False)
    if not isinstance(impossible, bool):
        raise InputError("expected true or false", field=f"{question.path}.is_impossible", hint="as in SQuAD 2.0")
    place = {"document_id": spot.document_id, "version": spot.version, "provenance": _PROVENANCE}
    answers = question.parts("answers") if "answers" in question.value or not impossible else []
    if impossible:
        if answers:
            raise InputError(
                "is_impossible, but it has answers", field=question.path, hint="plausible answers go elsewhere"
            )
        value |= {"class": "unanswerable", "evidence": [{"id": "p", "grade": 0, **place}]}
    else:
        value |= {"class": "answerable", **_answers(question, answers, context, spot, place)}
    try:
        return parse_value(CaseLine, value)
    except InputError as error:
        error.field = f"{question.path}.{error.field}".rstrip(".")
        raise


def _answers(question: _Part, answers: list[_Part], context: str, spot: Spot, place: dict[str, Any]) -> dict[str, Any]:
    spans: dict[tuple[int, str], str] = {}
    for answer in answers:
        text, start = answer.get("text", str, "text"), answer.get("answer_start", int, "a whole number")
        if not text.strip() or start < 0 or context[start : start + len(text)] != text:
            raise InputError(
                f"the answer does not stand at {start} of its context",
                field=f"{answer.path}.answer_start",
                hint="answer_start counts Unicode code points from 0",
            )
        spans.setdefault((start, text), f"a{len(spans) + 1}")
    if not spans:
        raise InputError("no answer", field=f"{question.path}.answers", hint="is_impossible says that there is none")
    evidence = [
        {
            "id": name,
            "grade": 3,
            "start": spot.base + start,
            "end": spot.base + start + len(text),
            "quote": text,
            **place,
        }
        for (start, text), name in spans.items()
    ]
    return {
        "evidence": evidence,
        "facts": [{"id": "answer", "any_of": [[name] for name in spans.values()]}],
        "answers": [{"text": text, "fact_set": [name]} for (_, text), name in spans.items()],
    }
