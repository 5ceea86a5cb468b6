"""One setting out of several by a declared measure, and which ones cannot be told from it. Asks nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragassay.errors import UsageError
from ragassay.measures import declaration, parse
from ragassay.records.case import Case, CaseClass
from ragassay.records.experiment import Choice
from ragassay.records.score import Estimate
from ragassay.records.text import many
from ragassay.records.trace import TraceContent
from ragassay.store import Store
from ragassay.trials.grid import Section

SEED, FLIPS = 20_260_101, 10_000
"""Of the random signs of the paired test: the same experiment gives the same p."""
_NO_LISTS = frozenset({"assemble", "guard", "cite"})


def choice_of(section: Section, cases: Sequence[Case]) -> Choice:
    """The rule that a file declares for these questions; UsageError where it must name a class, or names none."""
    measure = parse(section.choose)
    counts = Counter(case.class_ or "answerable" for case in cases)
    class_: CaseClass | None = section.class_
    if class_ is None:
        fitting: list[CaseClass] = [one for one in counts if one != "unanswerable"] or list(counts)
        if len(fitting) > 1:
            raise UsageError(
                f"the questions are of {len(fitting)} classes, which are never pooled",
                field="experiment.class",
                hint="choose by one of them: "
                + " or ".join(f'class = "{one}" ({many(counts[one], "question")})' for one in sorted(fitting)),
            )
        (class_,) = fitting
    if class_ not in counts:
        raise UsageError(
            f"no question is of class {class_}",
            field="experiment.class",
            hint=f"there are: {', '.join(sorted(counts))}",
        )
    direction = declaration(measure.name).direction
    return Choice(
        measure=str(measure),
        class_=class_,
        step=section.step,
        direction="lower" if direction == "lower" else "higher",
    )


class Column(NamedTuple):
    """A measure at one place of a pipeline."""

    estimate: Estimate | None
    step: str | None


def list_step(store: Store, contents: str) -> str | None:
    """The step that hands on the last list before the context, in the first trace that has one and did not fail."""
    for content in store.get_lines(TraceContent, contents):
        if content.failure is not None:  # it may have ended earlier
            continue
        lists = [one.name for one in content.steps if one.items_out is not None and one.kind not in _NO_LISTS]
        if lists:
            return lists[-1]
    return None


def column(estimates: Sequence[Estimate], measure: str, class_: str, *, step: str | None, last: str | None) -> Column:
    """The estimate of a measure over a whole class: at `step`, else at the last list, else where it stands alone.

    The mean over questions where there is one, else the sum over items.
    """
    own = [one for one in estimates if one.measure == measure and one.population.class_ == class_]
    own = [one for one in own if one.population.slice is None and one.aggregation in ("macro", "micro")]
    steps = {one.step for one in own}
    if step is not None and (step in steps or len(steps) > 1):
        place: str | None = step
    else:
        place = next((one for one in (last, "context", None) if one in steps), None)
    found = sorted((one for one in own if one.step == place), key=lambda one: one.aggregation)
    return Column(found[0] if found else None, place)


class Chosen(NamedTuple):
    """What was chosen, and what could have been as well. Places are those of the settings."""

    place: int | None
    tied: tuple[int, ...] = ()
    p: Mapping[int, float] = {}
    """Of each other setting: adjusted for all comparisons with the chosen one (max-T)."""
    questions: int = 0
    """On which the test rests."""

    def not_told_apart(self, level: float) -> tuple[int, ...]:
        """Settings whose difference from the chosen one may be chance."""
        return tuple(place for place, p in self.p.items() if p > 1 - level)


def choose(
    rule: Choice, numbers: Sequence[float | None], by_question: Sequence[Mapping[str, float]], cases: Sequence[Case]
) -> Chosen:
    """The best number (see `worst`); of equal ones the first declared. Others are compared question by question.

    `numbers` and `by_question` are in the order of the settings; None is no value. The test rests on the questions that
    every setting with a number has. Two-sided sign-flip test, family-wise over all comparisons, questions of one
    cluster flipped together. Chosen on the same questions that it is tested on, the chosen setting has an advantage:
    what is told apart may still be no better elsewhere.
    """
    sign = 1.0 if rule.direction == "higher" else -1.0
    known = [(place, sign * one) for place, one in enumerate(numbers) if one is not None]
    if not known:
        return Chosen(None)
    top = max(value for _, value in known)
    best = [place for place, value in known if value == top]
    place, others = best[0], [one for one, _ in known if one != best[0]]
    cluster = {case.query_id: case.cluster for case in cases if (case.class_ or "answerable") == rule.class_}
    shared = [one for one in cluster if all(one in by_question[each] for each, _ in known)]
    if not others or not shared:
        return Chosen(place, tuple(best[1:]), {}, len(shared))
    from ragassay.stats import sign_flip

    table = [[by_question[place][one] - by_question[other][one] for other in others] for one in shared]
    test = sign_flip(table, seed=SEED, clusters=[cluster[one] for one in shared], flips=FLIPS)
    adjusted = {other: float(p) for other, p in zip(others, test.p_adjusted, strict=True)}
    return Chosen(place, tuple(best[1:]), adjusted, len(shared))
