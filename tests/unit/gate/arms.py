"""Evidence of a gate from rows written by hand, and rules as people write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.unit.compare.written import Written

from ragassay.gate.decide import measures_of, outcome_of, read_demands
from ragassay.gate.evidence import Evidence, read_evidence
from ragassay.gate.policy_file import policy_of
from ragassay.gate.rules import Arms
from ragassay.gate.verdicts import questions
from ragassay.records.decision import Result, RuleResult
from ragassay.records.policy import Policy
from ragassay.records.score import Bounds, Observation
from ragassay.score.table import load_world
from ragassay.store import Store

RECALL = "recall(rel=2)@5"
Said = float | str | tuple[float, float] | None
"""A value; error, missing or undefined; the bounds of a missing one; None: no row."""


def row(query_id: str, said: Said, measure: str = RECALL, step: str | None = "context", **more: Any) -> Observation:
    """One observation of one question."""
    fields: dict[str, Any] = {"query_id": query_id, "repeat": 0, "measure": measure, "step": step, **more}
    if isinstance(said, str):
        return Observation(status=said, reason="why", **fields)  # type: ignore[arg-type]
    if isinstance(said, tuple):
        return Observation(status="missing", reason="why", bounds=Bounds(low=said[0], high=said[1]), **fields)
    return Observation(status="value", value=said, **fields)


class Bench:
    """A store with n questions q000, q001, ... of which any number of arms is written."""

    def __init__(self, folder: Path, size: int = 30, *, each: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        cases = [{"queryId": f"q{one:03}", **(each or {}).get(f"q{one:03}", {})} for one in range(size)]
        self.store = Store.open(folder / "store", create=True)
        self.written = Written(self.store, cases)
        self.ids = [one["queryId"] for one in cases]
        self.count = 0

    def rows(self, said: Sequence[Said], measure: str = RECALL, step: str | None = "context") -> list[Observation]:
        """One row a question, in their order."""
        pairs = zip(self.ids, said, strict=True)
        return [row(name, one, measure, step) for name, one in pairs if one is not None]

    def arm(self, rows: Iterable[Observation], **scoring: Any) -> Evidence:
        """An arm of exactly these rows."""
        self.count += 1
        digest = self.written.table(rows, f"arm{self.count}", estimates=False, **scoring)
        return read_evidence(self.store, digest, f"arm{self.count}")

    def read(
        self, policy: Mapping[str, Any] | Policy, candidate: Evidence, baseline: Evidence | None = None
    ) -> list[RuleResult]:
        """The results of a policy's demands."""
        made = policy if isinstance(policy, Policy) else policy_of({"name": "p", **policy})
        assert measures_of(made) is not None
        world = load_world(self.store, candidate.run, candidate.protocol, candidate.subject, candidate.benchmark)
        asked = questions(self.store, candidate, made, world)
        return read_demands(Arms(self.store, made, candidate, baseline), asked)

    def one(self, rule: Mapping[str, Any], said: Sequence[Said], base: Sequence[Said] | None = None) -> RuleResult:
        """The one result of one rule over recall in the context."""
        both = [] if base is None else self.rows([1.0] * len(self.ids), "judged@5")
        baseline = None if base is None else self.arm([*self.rows(base), *both])
        policy = {"rules": [{"measure": RECALL, "class": "answerable", **rule}]}
        (found,) = self.read(policy, self.arm([*self.rows(said), *both]), baseline)
        return found


def outcome(results: Sequence[RuleResult]) -> Result:
    """The outcome of these results."""
    return outcome_of(results)
