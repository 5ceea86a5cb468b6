"""The steps of a chat model over retrieval from elsewhere, as a trace reports them. Asks nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ragassay.records.base import StepId
from ragassay.records.trace import Failure
from ragassay.run.contract import Entry, Reply, StepIn
from ragassay.run.normalise import item_id
from ragassay.run.systems.prompt import Assembled

CONTEXT_STEP, GENERATE_STEP = "context", "generate"


def steps_of(steps: Sequence[StepIn], entries: Sequence[Entry], assembled: Assembled) -> list[dict[str, Any]]:
    """The retrieval's steps, what was put together of them, and that a model is asked."""
    kept = [msgspec.to_builtins(entries[place]) for place in assembled.kept]
    last = [steps[-1].step_id or f"s{len(steps)}"] if steps else []
    taken = {one.step_id for one in steps}
    names = {one: one if one not in taken else f"{one}-chat" for one in (CONTEXT_STEP, GENERATE_STEP)}
    decisions = [
        {"action": "drop", "item_id": item_id(entries[place]), "reason": why} for place, why in assembled.dropped
    ]
    context = {
        "step_id": names[CONTEXT_STEP], "name": names[CONTEXT_STEP], "kind": "assemble", "parents": last,
        "items_in": [msgspec.to_builtins(one) for one in entries], "items_out": kept, "decisions": decisions,
    }  # fmt: skip
    generate = {
        "step_id": names[GENERATE_STEP], "name": names[GENERATE_STEP], "kind": "generate",
        "parents": [names[CONTEXT_STEP]],
    }  # fmt: skip
    return [*(msgspec.to_builtins(one) for one in steps), context, generate]


def failed_at(made: list[dict[str, Any]], generate: dict[str, Any], reply: Reply, failure: Failure) -> Reply:
    """The failure of a question at its model, with what was retrieved before."""
    steps = [*made[:-1], {**generate, "error": {"code": failure.code or failure.cause}}]
    at = msgspec.structs.replace(failure, step=StepId(generate["step_id"]))
    return replace(reply, value={"steps": steps}, failure=at)
