"""Expected outcomes against what the system did, by class, as counts. Rules on no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

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


def outcome_rows(rows: Mapping[tuple[str, tuple[str, ...]], Counter[str]]) -> list[OutcomeRow]:
    """One row a class and set of expected outcomes, out of the counts of `did`; none if `outcome` was not measured."""
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
