"""Questions that repeat a heading or the text of their evidence, and questions that hold their answer. Ranks nothing.

A question is *copied from a heading* if one heading (the title, or a Markdown `#` line) of a document with relevant
evidence holds at least a given share of it, where each word weighs as in BM25: ln(1 + (N - n + 0.5) / (n + 0.5)) for a
word in n of N documents. So "what is the" counts little in any language that the corpus is written in. It is *copied
from the text* if its words, at least five, stand there in this order. Words are compared as written, but for case.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragassay.benchmark.check.material import Library, Limits, Question, finding, same_words
from ragassay.benchmark.check.model import Finding, Place
from ragassay.records.document import Document

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.{1,500}?)[ \t]*#*[ \t]*$", re.MULTILINE)
_FEWEST_COPIED_WORDS = 5
_FEWEST_ANSWER_SIGNS = 3
_NO_ANSWER = frozenset({"yes", "no", "true", "false"})


class Copied(NamedTuple):
    """A lexically easy question and how it shows."""

    query_id: str
    detail: str


def headings(document: Document) -> list[str]:
    """The title of a document and its Markdown headings of the form `# …`."""
    return [*((document.title,) if document.title else ()), *_HEADING.findall(document.text)]


def copied(asked: Sequence[Question], library: Library, limits: Limits) -> list[Copied]:
    """The questions of the benchmark that are copied from a heading or from the text of their own evidence."""
    own = [one for one in asked if not one.foreign]
    about: dict[tuple[str, str], list[Question]] = defaultdict(list)
    for one in own:
        for key in {(each.document.document_id, each.document.version) for each in one.relevant if each.document}:
            about[key].append(one)
    wanted = {word for one in own for word in one.text.split()}
    spread: Counter[str] = Counter()
    headed: list[tuple[Question, str, frozenset[str]]] = []
    found: dict[str, str] = {}
    for document in library.documents:
        text = same_words(document.text)
        spread.update(wanted.intersection((text + " " + same_words(document.title or "")).split()))
        asking = about.get((document.document_id, document.version), ())
        lines = [(line, frozenset(same_words(line).split())) for line in headings(document)] if asking else []
        for one in asking:
            headed.extend((one, line, known) for line, known in lines if known.intersection(one.text.split()))
            if len(one.text.split()) >= _FEWEST_COPIED_WORDS and f" {one.text} " in f" {text} ":
                found[one.case.query_id] = f"text of {document.document_id}"
    weights = _weights(spread, len(library.documents))
    best: dict[str, tuple[float, str]] = {}
    for one, line, known in headed:
        mine = sorted(set(one.text.split()))
        total = math.fsum(weights(word) for word in mine)
        share = math.fsum(weights(word) for word in mine if word in known) / total if total else 0.0
        if share >= limits.heading:
            best[one.case.query_id] = max(best.get(one.case.query_id, (0.0, "")), (share, line))
    found |= {name: f"heading {line!r}, {share:.0%}" for name, (share, line) in best.items()}
    return [Copied(name, detail) for name, detail in sorted(found.items())]


class _weights:  # noqa: N801  a function that remembers
    """Weight of a word by the number of documents that hold it."""

    def __init__(self, spread: Counter[str], documents: int) -> None:
        self._spread, self._documents = spread, documents

    def __call__(self, word: str) -> float:
        held = self._spread[word]
        return math.log(1 + (self._documents - held + 0.5) / (held + 0.5))


def easy(asked: Sequence[Question], found: Sequence[Copied]) -> list[Finding]:
    """Findings about questions that are copied, and about questions that hold their reference answer."""
    return finding(
        "copied",
        "weak",
        "case",
        "repeating a heading or the text of its own evidence",
        why="any search by words finds it: retrieval scores flatter, and differences between systems shrink",
        do="reword it as a user asks; until then read scores without them: slice `derived:lexical=free`",
        places=[Place(query_id=one.query_id, detail=one.detail) for one in found],
    ) + finding(
        "answer_in_question",
        "weak",
        "case",
        "with its reference answer word for word in the question",
        why="a system that repeats the question scores on exact match and token_f1",
        do="ask without the answer, unless the question offers a choice",
        places=[Place(query_id=one.case.query_id, detail=answer) for one, answer in _answered(asked)],
    )


def _answered(asked: Sequence[Question]) -> Iterator[tuple[Question, str]]:
    for one in asked:
        for answer in one.case.answers if not one.foreign else ():
            words = same_words(answer.text)
            if len(words) >= _FEWEST_ANSWER_SIGNS and words not in _NO_ANSWER and f" {words} " in f" {one.text} ":
                yield one, answer.text
                break
