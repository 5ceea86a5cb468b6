"""Labels that cannot be held, or that are held too easily: dangling, coarse, overlong, cut. Scores nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ragassay.benchmark.check.material import Labelled, Limits, Question, finding
from ragassay.benchmark.check.model import Finding, Level, Place
from ragassay.corpus.words import words
from ragassay.records.document import Passage
from ragassay.records.text import many

Intervals = list[list[tuple[int, int]]]
"""For each passage of one document version, its intervals there."""


Cut = dict[tuple[str, str], Intervals]
"""(document id, version) -> its passages."""


def labels(asked: Sequence[Question], limits: Limits, *, by_document: bool, cut: Cut | None) -> list[Finding]:
    """Findings about single labels and facts; `by_document`: the benchmark says that its labels are on documents."""
    own = [one for one in asked if not one.foreign]
    return (
        _dangling(own)
        + _facts(own)
        + _quotes(own)
        + _whole_documents(own, by_document, cut or {})
        + _overlong(own, limits)
        + (_reach(own, cut) if cut is not None else [])
    )


def cut_of(passages: Iterable[Passage]) -> Cut:
    """The passages of each document version, as the intervals of their sources there."""
    cut: Cut = defaultdict(list)
    for passage in passages:
        own: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for source in passage.sources:
            own[source.document_id, source.version].append((source.start, source.end))
        for key, intervals in own.items():
            cut[key].append(intervals)
    return dict(cut)


def _at(one: Question, labelled: Labelled, detail: str | None = None) -> Place:
    return Place(query_id=one.case.query_id, evidence_id=labelled.label.id, detail=detail)


def _dangling(own: Sequence[Question]) -> list[Finding]:
    lost = [(one, each) for one in own for each in one.labels if each.document is None]
    what = "on a document or version that the corpus does not hold"
    do = "correct the document id or version, or add the document to the corpus"
    return finding(
        "dangling",
        "wrong",
        "label",
        what,
        why="it is relevant and stays in the denominator, so no system can reach full recall",
        do=do,
        places=[_at(one, each, each.label.document_id) for one, each in lost if each.label.grade >= one.rel],
    ) + finding(
        "dangling_not_relevant",
        "note",
        "label",
        f"below the least relevant grade {what}",
        why="it moves no recall; whoever retrieves such a document cannot be told that it was judged",
        do=do,
        places=[_at(one, each, each.label.document_id) for one, each in lost if each.label.grade < one.rel],
    )


def _facts(own: Sequence[Question]) -> list[Finding]:
    never: list[Place] = []
    weak: list[Place] = []
    for one in own:
        gone = {each.label.id for each in one.labels if each.document is None}
        low = {each.label.id for each in one.labels if each.label.grade < one.rel}
        for fact in one.case.facts:
            place = Place(query_id=one.case.query_id, fact_id=fact.id)
            if all(gone.intersection(group) for group in fact.any_of):
                never.append(place)
            elif all(low.intersection(group) for group in fact.any_of):
                weak.append(place)
    return finding(
        "dangling_fact",
        "wrong",
        "fact",
        "with a piece of every set of evidence on a document that the corpus does not hold",
        why="it reads `never found` for every system",
        do="correct the evidence, or add the document to the corpus",
        places=never,
    ) + finding(
        "fact_below_rel",
        "weak",
        "fact",
        "resting on evidence below the least relevant grade",
        why="the fact counts what recall does not count, so the two tables disagree",
        do="raise the grade of the evidence, or drop the fact",
        places=weak,
    )


def _quotes(own: Sequence[Question]) -> list[Finding]:
    missing: list[Place] = []
    several: list[Place] = []
    for one in own:
        for each in one.labels:
            quote, document = each.label.quote, each.document
            if quote is None or document is None or each.label.start is not None:
                continue
            first = document.text.find(quote)
            if first < 0:
                loosely = _loose(quote) in _loose(document.text)
                missing.append(_at(one, each, "there but for white space or case" if loosely else None))
            elif document.text.find(quote, first + 1) >= 0:
                several.append(_at(one, each))
    why = "the label counts for the whole document, so any part of it is taken for the evidence"
    return finding(
        "quote_not_found",
        "wrong",
        "label",
        "with a quote that does not stand in its document",
        why=why,
        do="copy the words from the stored text, letter for letter, or give start and end",
        places=missing,
    ) + finding(
        "quote_ambiguous",
        "wrong",
        "label",
        "with a quote that stands more than once in its document",
        why=why,
        do="quote more words, or give start and end",
        places=several,
    )


def _loose(text: str) -> str:
    return " ".join(text.split()).casefold()


def _whole_documents(own: Sequence[Question], by_document: bool, cut: Cut) -> list[Finding]:
    level: Level = "note" if by_document else "weak"
    coarse = [
        (one, each)
        for one in own
        for each in one.relevant
        if each.label.coarse and each.label.quote is None and each.document is not None
    ]
    whole: list[tuple[Question, Labelled]] = []
    short: list[tuple[Question, Labelled]] = []
    for one, each in coarse:
        key = (each.document.document_id, each.document.version) if each.document is not None else ("", "")
        (short if len(cut.get(key, ())) == 1 else whole).append((one, each))
    empty = [(one, each) for one, each in coarse if each.document is not None and not each.document.text.strip()]
    return (
        finding(
            "document_only",
            level,
            "label",
            "on a whole document rather than on the place that answers",
            why="any passage of the document counts as found, so recall flatters, most of all with long documents",
            do="read `unit=document` measures for these, or give a quote or start and end",
            places=[_at(one, each) for one, each in whole],
        )
        + finding(
            "document_is_passage",
            "note",
            "label",
            "on a whole document that is one passage of the segmentation",
            why="holding the passage and holding the document are the same here, so nothing flatters",
            do="nothing, unless the corpus is cut into smaller passages",
            places=[_at(one, each) for one, each in short],
        )
        + finding(
            "empty_document",
            "weak",
            "label",
            "relevant, on a document without text",
            why="a system that retrieves by text cannot find it, and it stays in the denominator",
            do="add the document's text, or drop the label",
            places=[_at(one, each) for one, each in empty],
        )
    )


def _overlong(own: Sequence[Question], limits: Limits) -> list[Finding]:
    places = []
    for one in own:
        for each in one.relevant:
            start, end, document = each.label.start, each.label.end, each.document
            if start is None or end is None or document is None:
                continue
            long = len(words(document.text[start:end]))
            whole = sum(not sign.isspace() for sign in document.text) if long > limits.short_label_words else 0
            share = sum(not sign.isspace() for sign in document.text[start:end]) / whole if whole else 0.0
            if long > limits.label_words or share >= limits.label_share:
                places.append(_at(one, each, f"{many(long, 'word')}, {share:.0%} of the document"))
    return finding(
        "overlong",
        "weak",
        "label",
        f"of more than {limits.label_words} words, or over {limits.label_share:.0%} of its document",
        why="all of it must be retrieved before it counts as held, and nobody can tell which sentence was meant; a "
        "system with small passages looks worse than it is",
        do="narrow it to the sentences that answer, as several pieces if need be",
        places=places,
    )


def _reach(own: Sequence[Question], cut: Cut) -> list[Finding]:
    """What a segmentation makes of labels: those that no passage holds alone, and those that all together do not."""
    divided: list[Place] = []
    unreachable: list[Place] = []
    for one in own:
        for each in one.relevant:
            if each.document is None or not each.document.text.strip():
                continue
            key = (each.document.document_id, each.document.version)
            pieces = cut.get(key, [])
            start, end = each.label.start, each.label.end
            if start is None or end is None:
                if not pieces:
                    unreachable.append(_at(one, each))
            elif not covered(each.document.text, start, end, [span for spans in pieces for span in spans]):
                unreachable.append(_at(one, each))
            elif not any(covered(each.document.text, start, end, spans) for spans in pieces):
                divided.append(_at(one, each))
    return finding(
        "unreachable",
        "wrong",
        "label",
        "not covered by all passages of the segmentation together",
        why="no system that retrieves these passages can find it, and it stays in the denominator",
        do="mend the chunker so that it drops no text, or move the label",
        places=unreachable,
    ) + finding(
        "divided",
        "note",
        "label",
        "not held by any single passage of the segmentation",
        why="several passages must be retrieved before it counts as held: first ranks and hit@1 cannot show it",
        do="nothing, if passages must stay small; else larger passages, more overlap or narrower labels",
        places=divided,
    )


def covered(text: str, start: int, end: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether `spans` cover every code point of `text[start:end]` that is not white space."""
    at = start
    for first, last in sorted(spans):
        if last <= at:
            continue
        if first > at and text[at : min(first, end)].strip():
            return False
        at = max(at, last)
        if at >= end:
            return True
    return not text[at:end].strip()
