"""A measure: the share of a reference's numbers that the answer has too."""

import re

from ragassay.measures import Declaration, Outcome, OwnMeasure


def score(answer: str, references: tuple[str, ...]) -> Outcome:
    own = set(re.findall(r"[0-9]+", answer))
    wanted = [found for one in references if (found := set(re.findall(r"[0-9]+", one)))]
    if not wanted:
        return Outcome("undefined", None, None, None, "no_numbers")
    best = max(wanted, key=lambda one: len(one & own) / len(one))
    return Outcome("value", len(best & own) / len(best), float(len(best & own)), float(len(best)))


numbers = OwnMeasure(
    Declaration(
        name="numbers", stage="answer", summary="Share of a reference's numbers that the answer has, of the best one.",
        population="answered questions with a reference that holds a number", denominator="numbers of the reference",
        aggregation="macro", missing_labels="missing(no_reference)", nothing_relevant="undefined(no_numbers)",
        reference="this example", unsafe_alone_for="truth: the right numbers may stand in a wrong sentence"),
    score)  # fmt: skip
