"""Measures of other packages, declared as ours are and loaded only when one is named. Reads no trace and no store."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ragassay.errors import UsageError
from ragassay.extensions import load_extension
from ragassay.measures.contract import Declaration
from ragassay.measures.outcome import Outcome

MEASURES = "ragassay.measures"
"""The entry point group."""
STAGES = ("retrieval", "answer")
FAILED = Outcome("error", None, None, None, "measure_failed")
OUT_OF_RANGE = Outcome("error", None, None, None, "out_of_range")
PARAMETERS = ("rel", "gain", "unit", "p", "max", "over", "of", "by", "kind", "q", "split")
"""Parameters that a spelling may carry for it, with the meaning that they have for ours."""
_NAME = re.compile(r"[a-z][a-z0-9_]*[a-z]")


@dataclass(frozen=True)
class OwnMeasure:
    """What an entry point of the group `ragassay.measures` names: a declaration, and the function behind it.

    Stage `answer`: `score(answer, references, **params)`, called for an answered question that has references. Stage
    `retrieval`: `score(gains, ideal, *, rel, **params)`, called at every step: `gains` are the grades newly held at
    ranks 1, 2, ... (0: nothing new), already cut at the cut-off, which is handed on as `cutoff` where the declaration
    has one; `ideal` are the grades of all labels, of which at least one is `rel` or more. Either returns a number in
    the declared range, or an Outcome.
    """

    declaration: Declaration
    score: Callable[..., float | Outcome]
    package: str = ""
    """`DISTRIBUTION/VERSION`, filled in when it is loaded."""

    @property
    def version(self) -> str:
        """What scoring seals: the declared version, and the package that computes it."""
        return f"{self.declaration.version} {self.package}"

    def of_answer(self, answer: str, references: Sequence[str], params: dict[str, Any]) -> Outcome:
        """The outcome of one answer."""
        return self._call(answer, tuple(references), **params)

    def of_list(self, gains: Sequence[int], ideal: Sequence[int], params: dict[str, Any]) -> Outcome:
        """The outcome of one list; nothing relevant among the labels: undefined, and the function is not called."""
        if not any(grade >= params["rel"] for grade in ideal):
            return Outcome("undefined", None, None, None, "nothing_relevant")
        return self._call(tuple(gains), tuple(ideal), **params)

    def _call(self, *arguments: Any, **params: Any) -> Outcome:
        """A value in the declared range, or why there is none: whatever the function raises is this row's error."""
        try:
            found = self.score(*arguments, **params)
            made = found if isinstance(found, Outcome) else Outcome("value", float(found), float(found), 1.0)
        except Exception:  # noqa: BLE001  code of others
            return FAILED
        if made.status != "value":
            return made if made.value is None and made.reason else FAILED
        low, high = self.declaration.low, self.declaration.high
        value = made.value
        if value is None or not math.isfinite(value) or value < low or (high is not None and value > high):
            return OUT_OF_RANGE
        return made


def load(name: str) -> OwnMeasure | None:
    """The measure of an installed package; None if there is none. UsageError for one that is not declared as needed."""
    found = load_extension(MEASURES, name)
    if found is None:
        return None
    problem = fault(found.value, name)
    if problem:
        raise UsageError(
            f"measure {found.identity} {problem}", field=name, hint="docs/extending.md says what it must be"
        )
    return OwnMeasure(found.value.declaration, found.value.score, f"{found.distribution}/{found.version}")


def fault(measure: Any, name: str) -> str:
    """What is wrong with the declaration of a measure of this name; empty if nothing is."""
    declared = getattr(measure, "declaration", None)
    if not isinstance(declared, Declaration) or not callable(getattr(measure, "score", None)):
        return "is no OwnMeasure of a declaration and a function"
    blank = [one.name for one in fields(declared) if getattr(declared, one.name) == ""]
    unknown = [one for one in declared.params if one not in PARAMETERS]
    ranked = declared.stage == "retrieval"
    problems = {
        f"is declared as {declared.name!r}, but its entry point is {name!r}": declared.name != name,
        "has a name that is not lower case letters, digits and _, with a letter at both ends": not _NAME.fullmatch(
            name
        ),
        f"is of stage {declared.stage!r}; {' and '.join(STAGES)} are taken": declared.stage not in STAGES,
        f"leaves {', '.join(blank)} blank": bool(blank),
        f"takes {', '.join(unknown)}; parameters are {', '.join(PARAMETERS)}": bool(unknown),
        "has other names; only ours may": bool(declared.aliases),
        "needs rel among its params": ranked and "rel" not in declared.params,
        "takes rel or unit, which only lists have": not ranked and bool({"rel", "unit"} & {*declared.params}),
        "has a cut-off, which only lists have": not ranked and declared.cutoff != "none",
        "is not computed by *measures*, as a mean over questions": declared.computed_by != "measures"
        or declared.aggregation != "macro",
        "has no greatest value; a list needs one, since items may be unknown": ranked and declared.high is None,
        "has a range that is none": not math.isfinite(declared.low)
        or (declared.high is not None and not declared.low < declared.high < math.inf),
    }
    return next((words for words, wrong in problems.items() if wrong), "")
