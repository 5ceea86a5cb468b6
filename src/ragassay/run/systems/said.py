"""Which parts of a trace a system reports, and which are missing. Scores nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ragassay.records.trace import Item, Measurements, TraceContent
from ragassay.run.normalise import CONTEXT_STEP

PARTS = (
    "items", "steps", "ids of passages", "places", "texts", "scores", "score direction", "query of a step",
    "principal seen", "context", "answer", "outcome", "citations", "confidence", "finish reason", "retrieval verdict",
    "versions", "latency", "step times", "first token", "usage", "cost",
)  # fmt: skip
"""What a system may report, in the order of a table."""


class Said(NamedTuple):
    """In how many of the questions that did not fail a part was reported."""

    questions: int
    counts: Counter[str]

    @property
    def missing(self) -> tuple[str, ...]:
        """Parts that were reported for no question."""
        return tuple(one for one in PARTS if not self.counts[one])


def said(traces: Iterable[tuple[TraceContent, Measurements]]) -> Said:
    """What a system reported over the questions of a run; failed questions are left out."""
    counts: Counter[str] = Counter()
    questions = 0
    for content, measured in traces:
        if content.failure is None:
            questions += 1
            counts.update(parts_of(content, measured))
    return Said(questions, counts)


def parts_of(content: TraceContent, measured: Measurements) -> set[str]:
    """The parts that one trace has. An empty list is said; an absent one is not."""
    lists = [one for one in (content.context, *(step.items_out for step in content.steps)) if one is not None]
    items = [item for one in lists for item in one]
    answer = content.answer
    made_up = [step.name for step in content.steps] == [CONTEXT_STEP]  # a list of contexts without steps of its own
    has = {
        "items": bool(lists),
        "steps": bool(content.steps) and not made_up,
        "ids of passages": any(one.passage_id is not None and one.resolution == "declared" for one in items),
        "places": any(map(_has_place, items)),
        "texts": any(one.text_digest is not None or one.resolution == "exact" for one in items),
        "scores": any(one.score is not None for one in items),
        "score direction": any(step.score_direction is not None for step in content.steps),
        "query of a step": any(step.query_text is not None for step in content.steps),
        "principal seen": any(step.principal_seen is not None for step in content.steps),
        "context": content.context is not None,
        "answer": answer is not None,
        "outcome": answer is not None and answer.outcome_source == "system",
        "citations": answer is not None and answer.citations is not None,
        "confidence": answer is not None and answer.confidence is not None,
        "finish reason": answer is not None and answer.finish_reason is not None,
        "retrieval verdict": content.retrieval is not None,
        "versions": bool(content.versions),
        "latency": measured.latency_ms is not None,
        "step times": any(one.duration_ms is not None for one in measured.steps),
        "first token": measured.first_token_ms is not None,
        "usage": measured.usage is not None,
        "cost": measured.cost is not None,
    }
    return {name for name, there in has.items() if there}


def _has_place(item: Item) -> bool:
    return item.resolution == "declared" and not item.whole_document and item.passage_id is None
