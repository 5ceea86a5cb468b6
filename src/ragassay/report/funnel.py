"""The survival table by class: what each step still held, and the sentence that sums it up. Traces no loss itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ragassay.records.score import CLASS_ORDER, FactFate, SurvivalRow
from ragassay.report.model import Funnel, FunnelStep
from ragassay.report.words import class_name, many

FATES = ("held", "lost_whole", "lost_in_parts", "between", "never_found", "unknown")


def funnels(survival: Iterable[SurvivalRow], fates: Iterable[FactFate], class_of: Mapping[str, str]) -> list[Funnel]:
    """One funnel a class that has facts, in the order of CLASS_ORDER.

    The number of required facts is that of the fates, so that the fates of a class add up to its facts.
    """
    by_class: dict[str, list[FactFate]] = {}
    for fate in fates:
        if fate.required:
            by_class.setdefault(class_of[fate.query_id], []).append(fate)
    steps: dict[str, list[SurvivalRow]] = {}
    for row in survival:
        if row.population.slice is None:
            steps.setdefault(row.population.class_, []).append(row)
    made = []
    for class_ in CLASS_ORDER:
        if class_ not in by_class and class_ not in steps:
            continue
        own = by_class.get(class_, [])
        counts = Counter(fate.fate for fate in own)
        made.append(
            Funnel(
                class_=class_,
                facts=len(own),
                questions=len({fate.query_id for fate in own}),
                fates={name: counts.get(name, 0) for name in FATES},  # type: ignore[call-overload]
                steps=tuple(_step(row) for row in sorted(steps.get(class_, []), key=lambda row: row.order)),
            )
        )
    return made


def _step(row: SurvivalRow) -> FunnelStep:
    return FunnelStep(
        step=row.step,
        kind=row.kind,
        held=row.held,
        not_held=row.not_held,
        unknown=row.unknown,
        absent=row.absent,
        lost_whole=row.lost_whole,
        lost_in_parts=row.lost_in_parts,
        joint=dict(sorted(row.joint.items())),
        inferred=row.inferred,
    )


def tell(funnel: Funnel) -> str:
    """One sentence: how many facts were needed, held, lost (mostly where) and never found."""
    if not funnel.facts:
        return ""
    name = class_name(funnel.class_)
    need = "needs" if funnel.questions == 1 else "need"
    asked = many(funnel.questions, f"{name} question")
    head = f"Of {many(funnel.facts, 'fact')} that {asked} {need}, the context held {funnel.fates['held']:,}"
    parts = [head]
    if loss := _loss(funnel):
        parts.append(loss)
    never = funnel.fates["never_found"]
    if never:
        parts.append(f"{never:,} {'was' if never == 1 else 'were'} never found by any step")
    cannot = funnel.fates["unknown"]
    if cannot:
        parts.append(f"for {cannot:,} it cannot be told")
    return "; ".join(parts) + "."


def _loss(funnel: Funnel) -> str:
    lost = funnel.fates["lost_whole"] + funnel.fates["lost_in_parts"] + funnel.fates["between"]
    if not lost:
        return ""
    worst = max(funnel.steps, key=lambda step: step.lost_whole + step.lost_in_parts, default=None)
    most = worst.lost_whole + worst.lost_in_parts if worst else 0
    told = f"{lost:,} {'was' if lost == 1 else 'were'} found and lost again"
    if worst is None or not most:
        return told
    pieces = [
        f"{count:,} {how}" for count, how in ((worst.lost_whole, "whole"), (worst.lost_in_parts, "in parts")) if count
    ]
    if lost == 1:
        return f"{told} at {worst.step} ({pieces[0].partition(' ')[2]})"
    share = "all of them" if most >= lost else "most of them" if 2 * most > lost else "the largest share"
    return f"{told}, {share} at {worst.step} ({', '.join(pieces)})"


def last_steps(steps: Sequence[str]) -> tuple[str, ...]:
    """Steps from the last backwards, the context first: where a headline number is taken."""
    return tuple(sorted(steps, key=lambda step: (step != "context", -steps.index(step))))
