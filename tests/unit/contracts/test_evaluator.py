"""The contract check of evaluators: ours keeps it, and each broken promise is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ragassay.contracts.evaluator import check_evaluator, claim
from ragassay.errors import ContractError
from ragassay.records.base import DocumentId
from ragassay.records.document import Span
from ragassay.records.judgement import JudgeIdentity
from ragassay.run.judges.contract import Item, Verdict
from ragassay.run.judges.lexical import lexical

GOOD = Verdict("value", "supported", score=1.0)
EXAMPLES = [(claim("Rain is wet.", "Rain is wet."), "supported"), (claim("Snow is hot.", "Rain."), "unsupported")]


class Plain:
    """Says *supported* where the claim stands in what is shown."""

    about = frozenset({"claim"})
    identity = JudgeIdentity(name="plain", kind="lexical")

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    def judge(self, items: Sequence[Item]) -> Sequence[Any]:
        return [self.one(one) for one in items]

    def one(self, item: Item) -> Any:
        held = any(item.statement in one.text for one in item.evidence)
        return GOOD if held else Verdict("value", "unsupported", score=0.0)


class Waiting(Plain):
    """The same as a coroutine."""

    async def judge(self, items: Sequence[Item]) -> Sequence[Any]:  # type: ignore[override]
        return [self.one(one) for one in items]


def test_ours_and_plain_ones_keep_it() -> None:
    check_evaluator(lexical, EXAMPLES)
    check_evaluator(Plain, EXAMPLES)
    check_evaluator(Waiting, EXAMPLES)


class Few(Plain):
    def judge(self, items: Sequence[Item]) -> Sequence[Any]:
        return super().judge(items)[:1]


class Raises(Plain):
    def one(self, item: Item) -> Any:
        return super().one(item) if item.statement.strip() else 1 / 0


class Beside(Plain):
    def judge(self, items: Sequence[Item]) -> Sequence[Any]:
        found = super().judge(items)
        return found if len(items) > 1 else [Verdict("value", "contradicted", score=0.0)]


class OtherLabel(Plain):
    def one(self, item: Item) -> Any:
        return Verdict("value", "yes")


class NoReason(Plain):
    def one(self, item: Item) -> Any:
        return Verdict("missing")


class Elsewhere(Plain):
    def one(self, item: Item) -> Any:
        span = Span(document_id=DocumentId("secret"), version="1", start=0, end=1)
        return super().one(item)._replace(spans=(span,))


class NoNumber(Plain):
    def one(self, item: Item) -> Any:
        return super().one(item)._replace(score=float("nan"))


class Changing(Plain):
    def judge(self, items: Sequence[Item]) -> Sequence[Any]:
        made = super().judge(items)
        assert isinstance(items, list)
        items.pop()
        return made


class Unsteady(Plain):
    count = 0

    def __init__(self, settings: Any) -> None:
        Unsteady.count += 1
        self.identity = JudgeIdentity(name=f"plain{Unsteady.count}", kind="lexical")


class Nobody(Plain):
    identity = None  # type: ignore[assignment]


class Aboutless(Plain):
    about = frozenset({"weather"})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Few, "gave 1 for 2 items"), (Raises, "raised ZeroDivisionError"), (Beside, "says something else alone"),
        (OtherLabel, "label 'yes'"), (NoReason, "the reason None"), (Elsewhere, "which it was not shown"),
        (NoNumber, "the score nan"), (Changing, "changed the list"), (Unsteady, "another identity"),
        (Nobody, "the identity None"), (Aboutless, "rules on"),
    ],
)  # fmt: skip
def test_each_broken_promise_is_named(make: Any, says: str) -> None:
    with pytest.raises(ContractError, match=says):
        check_evaluator(make, EXAMPLES)


def test_examples_are_needed_and_must_agree() -> None:
    with pytest.raises(ContractError, match="was given no example"):
        check_evaluator(Plain, [])
    with pytest.raises(ContractError, match="the example says unsupported"):
        check_evaluator(Plain, [(EXAMPLES[0][0], "unsupported")])
