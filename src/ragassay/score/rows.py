"""Observations of one question in the making: each measure once, with its columns filled in. Computes no measure."""

from __future__ import annotations

from typing import NamedTuple

from ragassay.measures import Outcome
from ragassay.records.case import Case
from ragassay.records.score import Bounds, ClaimFailure, FactFate, Observation


class Holding(NamedTuple):
    """Whether the output of all steps of one name holds one required fact."""

    query_id: str
    repeat: int
    fact_id: str
    step: str
    kind: str
    order: int
    """Place of the name in its trace."""
    state: str
    """held, not_held or unknown."""


class Scores(NamedTuple):
    """All that is said about one (query_id, repeat)."""

    query_id: str
    repeat: int
    failure: str
    """Cause, if there is no trace to measure; else empty."""
    observations: tuple[Observation, ...]
    runtime: tuple[Observation, ...]
    fates: tuple[FactFate, ...]
    holdings: tuple[Holding, ...]
    failures: tuple[ClaimFailure, ...] = ()


def value(numerator: float, denominator: float = 1.0) -> Outcome:
    """An outcome with a value."""
    return Outcome("value", numerator / denominator, float(numerator), float(denominator))


def undefined(reason: str) -> Outcome:
    """An outcome that has no value in truth."""
    return Outcome("undefined", None, None, None, reason)


def missing(reason: str, denominator: float | None = None) -> Outcome:
    """An outcome whose value is not known; the denominator where that is known all the same."""
    return Outcome("missing", None, None, denominator, reason)


def error(cause: str, denominator: float | None = None) -> Outcome:
    """An outcome that something prevented."""
    return Outcome("error", None, None, denominator, cause)


class Rows:
    """Collects the observations of one (query_id, repeat)."""

    def __init__(self, case: Case, repeat: int) -> None:
        self.case = case
        self.repeat = repeat
        self.made: list[Observation] = []

    def add(
        self,
        measure: str,
        outcome: Outcome,
        step: str | None = None,
        *,
        target: str | None = None,
        bounds: Bounds | None = None,
        unjudged: Bounds | None = None,
        whole: float | None = None,
        coarse: bool = False,
        inferred: bool = False,
    ) -> None:
        """One row."""
        case = self.case
        self.made.append(
            Observation(
                query_id=case.query_id,
                repeat=self.repeat,
                measure=measure,
                status=outcome.status,
                step=step,
                target=target,
                value=outcome.value,
                numerator=outcome.numerator,
                denominator=outcome.denominator,
                whole=whole,
                reason=None if outcome.status == "value" else outcome.reason,
                bounds=bounds,
                unjudged=unjudged,
                coarse=coarse,
                inferred=inferred,
                principal=None if case.principal is None else case.principal.id,
                turn=None if case.conversation is None else case.conversation.turn,
            )
        )
