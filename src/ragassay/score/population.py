"""Whether a question can have a value of a measure at all, whatever the system did. Reads labels, never a trace."""

from __future__ import annotations

from ragassay.measures import Measure, Outcome
from ragassay.score.facts import without_facts
from ragassay.score.hold import Reader
from ragassay.score.judged import nothing_asked
from ragassay.score.labels import Labels
from ragassay.score.ranking import by_document, by_evidence, by_passage, is_ranked, rank
from ragassay.score.rows import missing, undefined

BY_FACTS = frozenset({"fact_coverage", "survival", "dedup_coverage"})
BY_EVIDENCE = frozenset({"context_precision", "context_recall", "evidence_density", "paraphrase_overlap"})
OUTSIDE = frozenset({"nothing_relevant", "all_hidden", "no_facts", "unlabelled"})
"""Reasons that lie in the labels alone."""


def outside(measure: Measure, labels: Labels) -> Outcome | None:
    """Why this question has no value of this measure whatever was retrieved; None if it could have one.

    So a list that nobody reported is *missing* only where it could have given a value: a question with nothing
    relevant is undefined with and without the list, and widens no bounds.
    """
    if measure.name in BY_FACTS:
        return None if labels.required else without_facts(labels)
    if (nothing := nothing_asked(measure.name, labels)) is not None:
        return nothing
    if measure.name in BY_EVIDENCE:
        if labels.state == "unlabelled":
            return missing("unlabelled")
        if not labels.relevant(int(measure.get("rel") or labels.world.rel)):
            return undefined("all_hidden" if labels.none_visible else "nothing_relevant")
    if is_ranked(measure.name):
        unit = measure.get("unit")
        if unit == "document":
            ranked = by_document((), labels)
        elif unit == "passage":
            found = by_passage((), labels)
            if isinstance(found, str):
                return missing("unlabelled") if labels.state == "unlabelled" else None
            ranked = found
        else:
            ranked = by_evidence((), labels, Reader(labels.visible, labels.world, 1.0))
        outcome = rank(measure, ranked, labels)[0]
        return outcome if outcome.reason in OUTSIDE else None
    return None
