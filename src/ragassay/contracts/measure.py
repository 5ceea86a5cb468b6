"""The contract of a measure (entry point group `ragassay.measures`), for its author to run. Installs nothing."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from ragassay.contracts.faults import HOSTILE_TEXTS, broken
from ragassay.measures import Outcome, OwnMeasure
from ragassay.measures.foreign import fault

_KIND = "measure"
_LISTS = 200
Example = tuple[Any, Any, float]
"""(answer, references, value) of a measure of answers; (gains, ideal, value) of a measure of lists."""


def check_measure(
    measure: OwnMeasure,
    examples: Sequence[Example],
    *,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    seed: int = 0,
) -> None:
    """Call a measure as scoring would: on your examples, on hostile texts, on lists of every shape.

    Promises: it is declared as scoring needs it, under the name of its entry point (`name`; the declared one if left
    out); every example gives the value that you worked out by hand; whatever comes, it returns a number in the
    declared range or an Outcome with a reason; the same input gives the same outcome. `params` are handed on with each
    call (`rel` is 2 unless given); lists of no relevant label are never asked.

    Raises ContractError for the first promise that is broken.
    """
    declared = getattr(measure, "declaration", None)
    named = name or str(getattr(declared, "name", type(measure).__name__))
    problem = fault(measure, named)
    if problem:
        broken(_KIND, named, problem, "see docs/extending.md, and ragassay.measures.contract.Declaration")
    if not examples:
        broken(_KIND, named, "was given no example", "give (input, labels, value), the value worked out by hand")
    ranked = measure.declaration.stage == "retrieval"
    told = {**({"rel": 2} if ranked else {}), **(params or {})}
    if ranked and measure.declaration.cutoff == "required":
        told.setdefault("cutoff", 5)
    for first, second, value in examples:
        found = _outcome(measure, named, (first, second), told)
        if found.status != "value" or not math.isclose(found.value or 0.0, value, rel_tol=1e-9, abs_tol=1e-12):
            broken(
                _KIND, named, f"says {_shown(found)} of {first!r}, {second!r}; the example says {value!r}",
                "one of the two is wrong",
            )  # fmt: skip
    for arguments in _lists(seed) if ranked else _texts():
        _outcome(measure, named, arguments, told)


def _outcome(measure: OwnMeasure, name: str, arguments: tuple[Any, Any], params: dict[str, Any]) -> Outcome:
    """What it says, twice; a fault if that is no outcome, or another one the second time."""
    call = measure.of_list if measure.declaration.stage == "retrieval" else measure.of_answer
    found = call(*arguments, params)
    shown = repr(arguments) if len(repr(arguments)) < 120 else repr(arguments)[:117] + "..."
    if found.reason == "measure_failed":
        try:
            measure.score(*map(tuple_or_text, arguments), **params)
            what = "returns something that is neither a number nor an Outcome with a reason"
        except Exception as cause:  # noqa: BLE001  whatever it raises is a fault of it
            what = f"raised {type(cause).__name__}: {cause}"
        broken(_KIND, name, f"{what}, for {shown}", "an Outcome says why there is no value")
    if found.reason == "out_of_range":
        broken(_KIND, name, f"leaves its declared range for {shown}", f"it declares {measure.declaration.range_text}")
    if call(*arguments, params) != found:
        broken(_KIND, name, f"says something else the second time, for {shown}", "let nothing but the input decide")
    return found


def tuple_or_text(value: Any) -> Any:
    """An argument as scoring hands it on: a text as it is, a list as a tuple."""
    return value if isinstance(value, str) else tuple(value)


def _shown(found: Outcome) -> str:
    return repr(found.value) if found.status == "value" else f"{found.status} ({found.reason})"


def _texts() -> list[tuple[Any, Any]]:
    return [(one, (other,)) for one in HOSTILE_TEXTS for other in (one, "a reference", *HOSTILE_TEXTS[:3])]


def _lists(seed: int) -> list[tuple[Any, Any]]:
    """Lists in which each rank newly holds one label's grade or nothing, empty and long ones among them."""
    chance = random.Random(seed)  # noqa: S311  no secret: it makes lists
    made = []
    for number in range(_LISTS):
        ideal = [chance.randrange(4) for _ in range(chance.randrange(1, 8))] + [3]
        held = chance.sample(ideal, chance.randrange(len(ideal) + 1)) if number else []
        gains = held + [0] * chance.choice((0, 1, 5, 200 if number % 50 == 0 else 2))
        chance.shuffle(gains)
        made.append((tuple(gains), tuple(ideal)))
    return made
