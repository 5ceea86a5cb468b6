"""Whether two arms were judged equally well: labels made from one arm's results favour it. Decides no rule itself."""

from __future__ import annotations

from ragassay.gate.bounds import TOLERANCE
from ragassay.gate.evidence import Evidence
from ragassay.gate.grouped import base_of
from ragassay.gate.reading import Column, NoColumn, Part, column
from ragassay.measures import parse
from ragassay.score.derived import OVERLAP

NO_LABELS = "needs no labels"
"""What such a measure declares of missing labels."""


def judged_gap(
    candidate: Evidence, baseline: Evidence | None, read: Column, part: Part, most: float
) -> NoColumn | None:
    """Why a difference of a retrieval measure between these arms says nothing; None where it may be read.

    Judged@k, at the measure's own cut-off where it was taken there, else at the nearest, may differ by at most `most`;
    it must reach half of the places that the measure reads.
    Where every document was judged nothing unjudged can differ; nor does it matter to a measure that needs no labels.
    """
    measure = base_of(read.measure)
    of_lists = measure.declared.stage == "retrieval" or measure.name == OVERLAP
    if baseline is None or not of_lists or measure.name == "judged":
        return None
    if measure.declared.missing_labels == NO_LABELS:
        return None
    if candidate.benchmark.completeness == "complete":
        return None
    spelled = _nearest(candidate, read)
    if spelled is None:
        return NoColumn("judged_not_measured", "how much of the two lists was ever judged was not measured (judged@k)")
    if 2 * (parse(spelled).cutoff or 0) < (measure.cutoff or 0):
        told = f"{spelled} says nothing of most places that {measure} reads: measure judged@{measure.cutoff}"
        return NoColumn("judged_not_measured", told)
    ours, theirs = column(candidate, spelled, read.step, part), column(baseline, spelled, read.step, part)
    if isinstance(ours, NoColumn) or isinstance(theirs, NoColumn) or ours.value is None or theirs.value is None:
        return NoColumn("judged_not_measured", f"{spelled} has no value in both arms")
    if abs(ours.value - theirs.value) > most + TOLERANCE:
        told = f"{spelled} is {ours.value:.3f} here and {theirs.value:.3f} in the baseline, more than {most:g} apart"
        return NoColumn("judged_gap", told)
    return None


def _nearest(evidence: Evidence, read: Column) -> str | None:
    """The judged measure taken at the same place with the nearest cut-off."""
    cutoff = base_of(read.measure).cutoff or 10
    found = [
        (abs((one.cutoff or 0) - cutoff), str(one))
        for one in map(
            parse, (name for name in evidence.observed.places if name.partition("@")[0].partition("(")[0] == "judged")
        )
        if read.step in evidence.observed.places[str(one)]
    ]
    return min(found)[1] if found else None
