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
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
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


def content(text: str) -> str:
    """The words of a text in the form in which they are compared, without a possessive 's."""
    return same_words(_POSSESSIVE.sub(" ", text))


def copied(asked: Sequence[Question], library: Library, limits: Limits) -> list[Copied]:
    """The questions of the benchmark that are copied from a heading or from the text of their own evidence."""
    own: dict[str, list[str]] = {one.case.query_id: content(one.case.query).split() for one in asked if not one.foreign}
    wanted = {word for words in own.values() for word in words}
    about: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in asked:
        for each in one.relevant if not one.foreign else ():
            about[each.label.document_id, each.document.version if each.document else ""].append(one.case.query_id)
    spread: Counter[str] = Counter()
    headed: list[tuple[str, str, frozenset[str]]] = []
    found: dict[str, str] = {}
    for document in library.documents:
        text = content(document.text)
        spread.update(wanted.intersection(f"{text} {content(document.title or '')}".split()))
        asking = sorted(set(about.get((document.document_id, document.version), ())))
        lines = [(line, frozenset(content(line).split())) for line in headings(document)] if asking else []
        for name in asking:
            headed.extend((name, line, words) for line, words in lines if not words.isdisjoint(own[name]))
            if len(own[name]) >= _FEWEST_COPIED_WORDS and f" {' '.join(own[name])} " in f" {text} ":
                place = f"text of {document.document_id}"
                found[name] = min(found.get(name, place), place)
    weights = {word: _weight(spread[word], len(library.documents)) for word in wanted}
    best: dict[str, tuple[float, str]] = {}
    for name, line, held in headed:
        mine = sorted(set(own[name]))
        share = math.fsum(weights[word] for word in mine if word in held) / math.fsum(weights[word] for word in mine)
        if share >= limits.heading:
            best[name] = max(best.get(name, (0.0, "")), (share, line))
    found |= {name: f"heading {line!r}, {share:.0%}" for name, (share, line) in best.items()}
    return [Copied(name, detail) for name, detail in sorted(found.items())]


def _weight(held: int, documents: int) -> float:
    """Weight of a word that so many of the documents hold; above 0."""
    return math.log(1 + (documents - held + 0.5) / (held + 0.5))


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
            words = content(answer.text)
            if len(words) < _FEWEST_ANSWER_SIGNS or words in _NO_ANSWER:
                continue
            if f" {words} " in f" {content(one.case.query)} ":
                yield one, answer.text
                break
