"""The states of a job and the only ways between them. Does no work itself."""

from __future__ import annotations

from typing import Literal

from ragassay.errors import IntegrityError

State = Literal["created", "running", "interrupted", "stopped", "complete", "sealed", "failed"]

TRANSITIONS: dict[State, frozenset[State]] = {
    "created": frozenset({"running"}),
    "running": frozenset({"interrupted", "stopped", "complete", "failed"}),
    "interrupted": frozenset({"running"}),
    "stopped": frozenset({"running"}),
    "failed": frozenset({"running"}),
    "complete": frozenset({"sealed"}),
    "sealed": frozenset(),
}
"""created: opened, nothing asked. running: a process holds the lease. interrupted: stopped or killed, all that was
finished is kept. stopped: a ceiling on cost is reached and a partial run was sealed; it may go on with a higher one.
failed: the error budget is spent and a partial run was sealed; it may go on with a larger one. complete: every question
is in the journal. sealed: the run is in the store, nothing moves any more."""


def advance(current: State, wanted: State) -> State:
    """`wanted`, if the table allows it from `current`; IntegrityError otherwise (a journal that says so is damaged)."""
    if wanted not in TRANSITIONS[current]:
        raise IntegrityError(
            f"a job cannot go from {current} to {wanted}",
            hint=f"from {current} it can go to: {', '.join(sorted(TRANSITIONS[current])) or 'nothing, it is final'}",
        )
    return wanted
