"""What is said about whether a question can be answered, against what its labels show. Asks no system."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.benchmark.check.material import Library, Question, finding
from ragassay.benchmark.check.model import Finding, Labelling, Place
from ragassay.records.case import Benchmark, CaseClass
from ragassay.records.text import many

CLASSES: dict[CaseClass, str] = {
    "answerable": "whether evidence is found and used",
    "multi_hop": "whether evidence from several places is brought together",
    "unanswerable": "whether the system declines when it should",
    "adversarial": "whether attacks in questions or documents take effect",
    "cross_tenant": "whether anybody sees what is not theirs",
}
"""Each class, and what is not measured without it."""


def truth(asked: Sequence[Question]) -> list[Finding]:
    """Findings about answerability, missing labels, and labels that the principal may not see."""
    own = [one for one in asked if not one.foreign]
    return _missing_labels(own) + _scope(own) + _against_labels(own) + _visibility(own) + _missing_classes(own)


def _names(chosen: Sequence[Question]) -> list[Place]:
    return [Place(query_id=one.case.query_id) for one in chosen]


def _missing_labels(own: Sequence[Question]) -> list[Finding]:
    return finding(
        "unlabelled",
        "weak",
        "case",
        "without labels",
        why="all retrieval measures are missing for it; they speak of the other cases only",
        do="label its evidence, or write `evidence: []` if the truth needs no document",
        places=_names([one for one in own if one.case.evidence is None]),
    ) + finding(
        "multi_hop_without_facts",
        "note",
        "case",
        "of class multi_hop without facts",
        why="the survival table cannot say which hop was lost",
        do="name one fact a hop",
        places=_names([one for one in own if one.case.class_ == "multi_hop" and not one.case.facts]),
    )


def _scope(own: Sequence[Question]) -> list[Finding]:
    refused = [one for one in own if one.case.answerable == "no"]
    return finding(
        "passage_scope",
        "weak",
        "case",
        "judged unanswerable on one passage only",
        why="another document of the corpus may hold the answer; then a right answer counts as unsupported and "
        "declining as right",
        do="pool what several systems retrieve, have it judged, and set answerability_scope to corpus",
        places=_names([one for one in refused if one.case.answerability_scope == "passage"]),
    ) + finding(
        "scope_unstated",
        "note",
        "case",
        "unanswerable, without a word on where that was judged",
        why="nobody can tell whether the corpus was searched",
        do="set answerability_scope to passage or corpus",
        places=_names([one for one in refused if one.case.answerability_scope is None]),
    )


def _against_labels(own: Sequence[Question]) -> list[Finding]:
    holds = [one for one in own if one.case.answerable == "no" and one.shown]
    lacks = [
        one
        for one in own
        if one.case.answerable in ("yes", "partial") and one.case.evidence is not None and not one.relevant
    ]
    return finding(
        "unanswerable_with_evidence",
        "wrong",
        "case",
        "unanswerable, and yet with relevant evidence that the asker may see",
        why="recall wants the evidence found, and the outcome wants the answer refused",
        do="lower the grade if the evidence is insufficient; else the case is answerable or partial",
        places=_names(holds),
    ) + finding(
        "answerable_without_evidence",
        "weak",
        "case",
        "answerable, with no label at or above the least relevant grade",
        why="recall is undefined for it, and a right answer cannot be traced to evidence",
        do="label the evidence, or say unanswerable",
        places=_names(lacks),
    )


def _visibility(own: Sequence[Question]) -> list[Finding]:
    blind = [one for one in own if one.relevant and not one.shown]
    why = "for this asker the case is unanswerable: only declining counts as right"
    return finding(
        "nothing_visible",
        "wrong",
        "case",
        "counted as answerable, with a principal who may see none of its relevant labels",
        why=f"{why}, though it stands among the answerable ones",
        do="correct tenants and acl of the document (none named admits nobody) or the principal; if it is meant, class "
        "cross_tenant and expect denied",
        places=_names([one for one in blind if not _expects_refusal(one)]),
    ) + finding(
        "nothing_visible_as_meant",
        "note",
        "case",
        "with a principal who may see none of its relevant labels, as class or expectation say",
        why=why,
        do="nothing",
        places=_names([one for one in blind if _expects_refusal(one)]),
    )


def _expects_refusal(one: Question) -> bool:
    if one.case.expect is not None:
        return not {"answered", "partial"}.intersection(one.case.expect)
    return one.case.class_ not in ("answerable", "multi_hop")


def _missing_classes(own: Sequence[Question]) -> list[Finding]:
    there = {one.case.class_ for one in own}
    return finding(
        "missing_class",
        "weak",
        "class",
        "without a single case",
        why="; ".join(f"without {name}: not measured {what}" for name, what in CLASSES.items() if name not in there),
        do="write cases of it; until then say nothing about it",
        places=[Place(name=name) for name in CLASSES if name not in there],
    )


def labelling(asked: Sequence[Question], benchmark: Benchmark, library: Library) -> Labelling:
    """Counts over labels that show how complete they can be."""
    own = [one for one in asked if not one.foreign]
    every = [(one, each) for one in own for each in one.labels]
    return Labelling(
        declared=benchmark.completeness,
        documents=len(library.documents),
        documents_labelled=len(
            {(each.document.document_id, each.document.version) for _, each in every if each.document is not None}
        ),
        labelled=sum(bool(one.labels) for one in own),
        unlabelled=sum(one.case.evidence is None for one in own),
        truth_empty=sum(one.case.evidence == () for one in own),
        labels=len(every),
        spans=sum(not each.label.coarse for _, each in every),
        coarse=sum(each.label.coarse for _, each in every),
        below_rel=sum(each.label.grade < one.rel for one, each in every),
        with_negatives=sum(len(one.relevant) < len(one.labels) for one in own),
        one_relevant_document=sum(len({each.label.document_id for each in one.relevant}) == 1 for one in own),
        facts=sum(len(one.case.facts) for one in own),
        with_facts=sum(bool(one.case.facts) for one in own),
        with_answers=sum(bool(one.case.answers) for one in own),
    )


def completeness(
    asked: Sequence[Question], counted: Labelling, library: Library, contradicting: Sequence[Place]
) -> list[Finding]:
    """What speaks against the declared completeness; `contradicting`: where equal questions share no document."""
    own = [one for one in asked if not one.foreign]
    places: list[Place] = []
    if counted.declared == "complete":
        names = len(library.versions)
        for one in own:
            judged = len({each.label.document_id for each in one.labels})
            if one.case.evidence is None:
                places.append(Place(query_id=one.case.query_id, detail="no labels"))
            elif len(one.relevant) < len(one.labels) and judged < names:
                places.append(Place(query_id=one.case.query_id, detail=f"{judged} of {many(names, 'document')} judged"))
        places += contradicting
    if counted.declared == "pooled":
        places = [
            Place(query_id=one.case.query_id) for one in own if one.labels and len(one.relevant) == len(one.labels)
        ]
        return finding(
            "pool_without_negatives",
            "weak",
            "case",
            "of a pooled benchmark that has only relevant labels",
            why="a pool is judged both ways; without what was found wanting, `judged@k` calls it unjudged",
            do="import the judgements below the least relevant grade too, or declare `partial`",
            places=places,
        )
    return finding(
        "not_complete",
        "wrong",
        "case",
        "contradicting the declaration that labels are complete",
        why="complete means that every document was judged for every question: what is unlabelled counts as irrelevant",
        do="declare pooled, partial or unknown; or judge the rest",
        places=places,
    ) + finding(
        "completeness_unknown",
        "note",
        "benchmark",
        "without a word on how complete its labels are",
        why="nobody can tell an irrelevant document from one that was not looked at; precision is then a lower bound",
        do="set completeness in [benchmark]: complete, pooled or partial",
        places=(),
        count=int(counted.declared == "unknown"),
    )
