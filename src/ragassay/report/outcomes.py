"""Expected outcomes against what the system did, by class, as counts. Rules on no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ragassay.records.case import REFUSING, Case
from ragassay.records.trace import TraceContent
from ragassay.report.funnel import CLASS_ORDER
from ragassay.report.model import OutcomeRow

DID = ("answered", "partial", "abstained", "clarified", "escalated", "denied", "failed", "empty answer", "not said")


def did(content: TraceContent | None) -> str:
    """What a trace says that the system did: its outcome, or why there is none."""
    if content is None or content.failure is not None:
        return "failed"
    if content.answer is None:
        return "not said"
    if content.answer.outcome is not None:
        return content.answer.outcome
    return "empty answer" if not content.answer.text.strip() else "not said"


def expected(case: Case, *, hidden: bool) -> tuple[str, ...]:
    """The allowed outcomes: declared, else derived from the truth; `hidden`: the asker may see no relevant label."""
    if case.expect is not None:
        return case.expect
    if hidden:
        return (*REFUSING, "denied")
    derived: dict[str, tuple[str, ...]] = {
        "yes": ("answered",),
        "partial": ("answered", "partial", "clarified"),
        "no": REFUSING,
    }
    return derived.get(case.answerable or "", ())


def outcome_rows(
    keys: Iterable[tuple[str, int]],
    contents: Mapping[tuple[str, int], TraceContent],
    expect_of: Mapping[str, tuple[str, ...]],
    class_of: Mapping[str, str],
    ruled: Mapping[tuple[str, int], str],
) -> list[OutcomeRow]:
    """One row a class and set of expected outcomes. `ruled` holds outcomes that scoring rules found in answers."""
    rows: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
    for key in keys:
        group = (class_of[key[0]], expect_of[key[0]])
        rows.setdefault(group, Counter())[ruled.get(key) or did(contents.get(key))] += 1
    ordered = sorted(rows, key=lambda group: (CLASS_ORDER.index(group[0]), group[1]))
    return [
        OutcomeRow(
            class_=class_,
            expected=expect,
            did={name: rows[class_, expect][name] for name in DID if rows[class_, expect][name]},
            total=rows[class_, expect].total(),
        )
        for class_, expect in ordered
    ]
