"""Expected outcomes against what the system did, by class, as counts. Rules on no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ragassay.records.case import REFUSING, Case
from ragassay.records.score import CLASS_ORDER, Observation
from ragassay.report.model import OutcomeRow

DID = ("answered", "partial", "abstained", "clarified", "escalated", "denied")
NO_OUTCOME = {"empty_answer": "empty answer", "no_outcome": "not said", "no_answer": "no answer"}


def did(one: Observation) -> str:
    """What the score table says that the system did: its outcome, or in few words why there is none."""
    if one.status == "value":
        return one.target or "not said"
    return "failed" if one.status == "error" else NO_OUTCOME.get(one.reason or "", (one.reason or "").replace("_", " "))


def expected(case: Case, *, hidden: bool) -> tuple[str, ...]:
    """The allowed outcomes: declared, else derived from the truth; `hidden`: the asker may see no relevant label."""
    if case.expect is not None:
        return case.expect
    if hidden:
        return (*REFUSING, "denied")
    truth = case.answerable or {"answerable": "yes", "multi_hop": "yes", "unanswerable": "no"}.get(
        case.class_ or "answerable"
    )
    derived: dict[str, tuple[str, ...]] = {
        "yes": ("answered",),
        "partial": ("answered", "partial", "clarified"),
        "no": REFUSING,
    }
    return derived.get(truth or "", ())


def outcome_rows(
    observations: Iterable[Observation], expect_of: Mapping[str, tuple[str, ...]], class_of: Mapping[str, str]
) -> list[OutcomeRow]:
    """One row a class and set of expected outcomes, from the observations of `outcome`; none if it was not measured."""
    rows: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
    for one in observations:
        if one.measure.partition("(")[0] == "outcome":
            group = (class_of[one.query_id], expect_of[one.query_id])
            rows.setdefault(group, Counter())[did(one)] += 1
    ordered = sorted(rows, key=lambda group: (CLASS_ORDER.index(group[0]), group[1]))
    return [
        OutcomeRow(
            class_=class_,
            expected=expect,
            did=dict(sorted(rows[class_, expect].items(), key=_place)),
            total=rows[class_, expect].total(),
        )
        for class_, expect in ordered
    ]


def _place(row: tuple[str, int]) -> tuple[int, str]:
    return (DID.index(row[0]) if row[0] in DID else len(DID), row[0])
