"""Questions of which each must hold, in every repeat: counts, no statistics. Reads observations, averages nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ragassay.gate.bounds import TOLERANCE
from ragassay.gate.evidence import Evidence
from ragassay.gate.idle import REASON, idle
from ragassay.gate.judges import uncalibrated
from ragassay.gate.policy_file import label_of
from ragassay.gate.reading import NoColumn, place_of, range_of
from ragassay.gate.results import result
from ragassay.records.case import Case
from ragassay.records.decision import RuleResult
from ragassay.records.policy import MustHold, Need
from ragassay.records.score import Observation, Status
from ragassay.records.text import many
from ragassay.store import Store


def read_must_hold(store: Store, evidence: Evidence, rules: Sequence[MustHold]) -> Iterator[RuleResult]:
    """One result for each rule: fail if any named question does not hold, inconclusive if of any it is not known."""
    for rule in rules:
        yield _read(store, evidence, rule)


def _read(store: Store, evidence: Evidence, rule: MustHold) -> RuleResult:
    cases, unknown = _cases(evidence, rule)
    measure = evidence.spelled(rule.measure)
    place = place_of(evidence, measure, rule.step)
    why = uncalibrated(store, evidence, measure, cases)
    if not cases and not unknown:
        place = NoColumn("empty_population", "no question is marked must_hold, and the rule names none")
    elif (told := idle(rule, range_of(measure.declared))) is not None:
        place = NoColumn(REASON, f"nothing could break {told}")
    elif why is not None:
        place = NoColumn("uncalibrated_judge", why)
    if isinstance(place, NoColumn):
        return result(label_of(rule), "must_hold", rule.on_fail, None, f"Nothing was read: {place.told}.",
                      [place.reason], measure=str(measure), step=rule.step, questions=unknown)  # fmt: skip
    rows = evidence.observed.at(str(measure), place)
    counts, broken, open_ = Counter[Status](), [], [*unknown]
    counts["missing"] += len(unknown)
    reasons = ["unknown_question"] if unknown else []
    for case in cases:
        status, holds = holding(rows.get(case.query_id, ()), rule, evidence.subject.repeats)
        counts[status] += 1
        if holds is None:
            open_.append(case.query_id)
            reasons.append(f"questions_{'in_error' if status == 'error' else status}")
        elif not holds:
            broken.append(case.query_id)
    held = False if broken else None if open_ else True
    every = len(cases) + len(unknown)
    told = f"{every - len(broken) - len(open_):,} of {many(every, 'question')} hold"
    told += f"; not: {', '.join(broken[:5])}" if broken else ""
    told += f"; not known: {', '.join(open_[:5])}" if open_ else ""
    return result(
        label_of(rule), "must_hold", rule.on_fail, held, f"{told}.", ["threshold", *reasons] if broken else reasons,
        counts=counts, questions=[*broken, *open_], measure=str(measure), step=place,
        threshold=rule.at_least if rule.at_least is not None else rule.at_most, method="count",
    )  # fmt: skip


def _cases(evidence: Evidence, rule: MustHold) -> tuple[list[Case], list[str]]:
    """The questions of a rule, and the names that no question has."""
    if not rule.cases:
        return [one for one in evidence.cases if one.must_hold], []
    by_id = {str(one.query_id): one for one in evidence.cases}
    named = [str(one) for one in rule.cases]
    return [by_id[one] for one in named if one in by_id], [one for one in named if one not in by_id]


def holding(rows: Sequence[Observation], rule: MustHold | Need, repeats: int) -> tuple[Status, bool | None]:
    """Whether a question holds in every repeat; None where that is not known, with the status that is to blame.

    A repeat without a row is missing. One whose bounds are all on one side of the threshold is known.
    """
    found: list[tuple[Status, bool | None]] = [_holds(row, rule) for row in rows]
    found += [("missing", None)] * max(0, repeats - len(rows))
    if not found:
        return "missing", None
    if any(holds is False for _, holds in found):
        return "value", False
    for status in ("error", "missing", "undefined"):
        if any(one == status and holds is None for one, holds in found):
            return status, None
    return "value", (True if all(holds for _, holds in found) else None)


def _holds(row: Observation, rule: MustHold | Need) -> tuple[Status, bool | None]:
    if row.status == "value" and row.bounds is None:
        return "value", meets(row, rule.at_least, rule.at_most)
    if row.bounds is None:
        return row.status, None
    ends = (row.bounds.low, row.bounds.high)
    if rule.at_least is not None:
        sides = [one >= rule.at_least - TOLERANCE for one in ends]
    else:
        sides = [one <= (rule.at_most or 0.0) + TOLERANCE for one in ends]
    if all(sides):
        return "value", True
    return (row.status, None) if any(sides) else ("value", False)


def meets(row: Observation, at_least: float | None, at_most: float | None) -> bool:
    """Whether a value is on the right side: as exact fractions where it is a quotient of counts, else within 1e-12."""
    value: Fraction | float = row.value if row.value is not None else 0.0
    parts = (row.numerator, row.denominator)
    exact = all(one is not None and float(one).is_integer() for one in parts) and bool(row.denominator)
    if exact:
        quotient = Fraction(int(parts[0] or 0), int(parts[1] or 1))
        if abs(float(quotient) - float(value)) <= TOLERANCE:
            if at_least is not None:
                return quotient >= exactly(at_least)
            return quotient <= exactly(at_most or 0.0)
    if at_least is not None:
        return float(value) >= at_least - TOLERANCE
    return float(value) <= (at_most or 0.0) + TOLERANCE


def exactly(threshold: float) -> Fraction:
    """A threshold as it was written: 0.1 is one tenth."""
    return Fraction(repr(threshold))
