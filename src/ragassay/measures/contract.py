"""What a measure must say about itself. It computes no score.

A declaration is the contract of a number: where it is taken, over whom, divided by what, and what happens
when the list is short, tied, doubled, unjudged or when there is nothing to find.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stage = Literal["retrieval", "facts", "nothing_to_find", "confidence", "context", "answer", "grounding",
                "refusal", "robustness", "authorization", "runtime"]  # fmt: skip
Aggregation = Literal["macro", "micro", "set"]
Direction = Literal["higher", "lower", "none"]
CutoffRule = Literal["required", "optional", "none"]

NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One measure's contract, in words and in the few fields that code reads."""

    name: str
    summary: str
    """The definition in one sentence."""
    stage: Stage
    population: str
    """Which questions the mean runs over; scores over different populations are never pooled."""
    denominator: str
    """What the value of one question is divided by."""
    aggregation: Aggregation
    """macro: mean over questions. micro: sum over items, interval clustered by question. set: a figure of all questions
    of the population together, such as an area under a curve, and no mean over them."""
    low: float = 0.0
    high: float | None = 1.0
    """Greatest value; None when the measure has no upper end."""
    direction: Direction = "higher"
    unit: str = "ratio"
    ties: str = NOT_APPLICABLE
    duplicates: str = NOT_APPLICABLE
    missing_labels: str
    unjudged: str = NOT_APPLICABLE
    negative_grades: str = NOT_APPLICABLE
    short_list: str = NOT_APPLICABLE
    nothing_relevant: str = NOT_APPLICABLE
    version: int = 1
    reference: str
    unsafe_alone_for: str
    """The conclusion that nobody should draw from this measure alone."""
    params: tuple[str, ...] = ()
    """Names of the parameters that its spelling may carry."""
    requires: tuple[str, ...] = ()
    """Those of them that it must carry: what they say is never implied."""
    of_stages: tuple[Stage, ...] = ()
    """Stages of the measures that its `of` may name; empty: any."""
    cutoff: CutoffRule = "none"
    aliases: tuple[str, ...] = ()
    """Other tools' names for it, which `parse` reads."""
    computed_by: Literal["measures", "score"] = "measures"
    """Which room computes it."""

    @property
    def bounded(self) -> bool:
        """True when the value has a least and a greatest, so that bounds over missing questions exist."""
        return self.high is not None

    @property
    def range_text(self) -> str:
        """The range as `[low, high]`, open above when unbounded."""
        return f"[{self.low:g}, {self.high:g}]" if self.high is not None else f"[{self.low:g}, inf)"
