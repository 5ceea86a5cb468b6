"""What a run may cost at most: calls, tokens and money, counted before a question is sent. Sends and stops nothing.

A call is one request to the system under test, retries included. A call that was refused (429, 503, 529) or never
reached the system counts as a call and costs no tokens. Every other call counts the tokens and the cost that the system
reported; where it reported none, the declared worst case. Before a call is sent its worst case is reserved; what it
really took replaces that when it is finished. So the ceiling can be passed only by what calls in flight used beyond
their declared worst case, and by calls that were out when the process was killed, which no journal knows.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from msgspec import Meta

from ragassay.errors import UsageError
from ragassay.records.base import Metadata, Record
from ragassay.records.text import many
from ragassay.records.trace import Attempt, Measurements

Money = Annotated[float, Meta(ge=0)]
Whole = Annotated[int, Meta(ge=0)]
_REFUSED = frozenset({"503", "529"})
_NEVER_REACHED = frozenset({"ConnectError", "ConnectTimeout"})
_SLACK = 1e-9
NO_USAGE = "declare the worst case of one call: [system.prices] most_input_tokens and most_output_tokens"


class Prices(Record, frozen=True, kw_only=True):
    """[system.prices]"""

    input: Money | None = None
    """Of a million input tokens."""
    output: Money | None = None
    """Of a million output tokens."""
    call: Money = 0.0
    """Of one call, beside its tokens."""
    currency: str = "USD"
    most_input_tokens: Whole | None = None
    """Of one call; counted where the system reports no usage, and reserved before each call."""
    most_output_tokens: Whole | None = None


class Facts(NamedTuple):
    """What the measurements of one question say about its cost."""

    calls: int
    billed: int
    """Calls that may have cost something."""
    input_tokens: int | None
    output_tokens: int | None
    amount: float | None
    currency: str


class Spent(NamedTuple):
    """Calls, tokens and money."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    assumed: int = 0
    """Calls of which the worst case was counted, since nothing was reported."""

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.assumed + other.assumed,
        )


def facts_of(measured: Measurements) -> Facts:
    """The facts of one question; one without attempts was one call."""
    attempts = measured.attempts or (Attempt(duration_ms=0.0),)
    usage, cost = measured.usage, measured.cost
    return Facts(
        len(attempts),
        sum(not _free(one) for one in attempts),
        usage.input_tokens if usage else None,
        usage.output_tokens if usage else None,
        cost.amount if cost else None,
        cost.currency if cost else "",
    )


def _free(attempt: Attempt) -> bool:
    """Whether a call was refused at once or never reached the system."""
    failure = attempt.failure
    if failure is None:
        return False
    code = failure.code or ""
    return failure.cause == "rate_limited" or code in _REFUSED or code in _NEVER_REACHED


class Ceiling:
    """The most that a run may use, what it has used, and what is reserved for calls in flight."""

    def __init__(
        self,
        *,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        max_calls: int | None = None,
        prices: Prices | None = None,
    ) -> None:
        """UsageError if a ceiling cannot be kept: no prices for a cost, no worst case for tokens."""
        self.max_cost, self.max_tokens, self.max_calls = max_cost, max_tokens, max_calls
        self.prices = prices or Prices()
        self.spent = Spent()
        self.reserved = 0
        for field, most in (("max_cost", max_cost), ("max_tokens", max_tokens), ("max_calls", max_calls)):
            if most is not None and not (most >= 0 and math.isfinite(most)):
                raise UsageError(f"{most!r} is no ceiling", field=f"run.{field}", hint="0 or more")
        self._check()
        self.worst = self._worst()

    def _check(self) -> None:
        prices = self.prices
        priced = prices.input is not None or prices.output is not None
        if self.max_cost is not None and not priced and not prices.call:
            raise UsageError(
                "max_cost needs prices",
                field="run.max_cost",
                hint="[system.prices] input and output (a million tokens), or call",
            )
        needs = self.max_tokens is not None
        for most, price, name in (
            (prices.most_input_tokens, prices.input, "most_input_tokens"),
            (prices.most_output_tokens, prices.output, "most_output_tokens"),
        ):
            if most is None and (needs or (self.max_cost is not None and price)):
                what = "max_tokens" if needs else "max_cost"
                raise UsageError(f"{what} needs {name}", field=f"run.{what}", hint=NO_USAGE)

    def __bool__(self) -> bool:
        return not (self.max_cost is self.max_tokens is self.max_calls is None)

    def _worst(self) -> Spent:
        given = self.prices
        tokens = (given.most_input_tokens or 0, given.most_output_tokens or 0)
        return Spent(1, sum(tokens), self._price(*tokens) + given.call, 1)

    def _price(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * (self.prices.input or 0.0) + output_tokens * (self.prices.output or 0.0)) / 1e6

    def cost_of(self, facts: Facts) -> Spent:
        """What one question counts as."""
        if not facts.billed:
            return Spent(calls=facts.calls)
        given = self.prices
        last = (
            given.most_input_tokens or 0 if facts.input_tokens is None else facts.input_tokens,
            given.most_output_tokens or 0 if facts.output_tokens is None else facts.output_tokens,
        )
        reported = facts.amount is not None and facts.currency == given.currency
        cost = facts.amount if reported and facts.amount is not None else self._price(*last) + given.call
        assumed = facts.billed - 1
        if (facts.input_tokens is None or facts.output_tokens is None) and (
            self.max_tokens is not None or not reported
        ):
            assumed += 1
        others = facts.billed - 1
        return Spent(facts.calls, sum(last) + others * self.worst.tokens, cost + others * self.worst.cost, assumed)

    def has_room(self, calls: int = 1) -> bool:
        """Whether so many more calls fit at their worst, beside what is spent and reserved."""
        more = self.reserved + calls
        limits = (self.max_calls, self.max_tokens, self.max_cost)
        return all(
            most is None or spent + more * worst <= most * (1 + _SLACK) + _SLACK
            for most, spent, worst in zip(limits, self.spent, self.worst, strict=False)
        )

    def reserve(self) -> bool:
        """Reserve the worst case of one call, if it fits."""
        if not self.has_room():
            return False
        self.reserved += 1
        return True

    def settle(self, reserved: int, facts: Facts | None) -> None:
        """Give back what was reserved for a question, and count what it took."""
        self.reserved -= reserved
        if facts is not None:
            self.spent = self.spent.plus(self.cost_of(facts))

    def describe(self) -> str:
        """`3.21 of 5.00 USD, 812 of 1,000 calls`: what is spent under each ceiling that is set."""
        parts = []
        if self.max_cost is not None:
            parts.append(f"{self.spent.cost:.4g} of {self.max_cost:g} {self.prices.currency}")
        if self.max_tokens is not None:
            parts.append(f"{self.spent.tokens:,} of {many(self.max_tokens, 'token')}")
        if self.max_calls is not None:
            parts.append(f"{self.spent.calls:,} of {many(self.max_calls, 'call')}")
        return ", ".join(parts)

    def to_metadata(self) -> Metadata:
        """What the envelope says: the ceilings, what was counted, and how many calls at their worst case."""
        if not self:
            return {}
        limits = {"max_cost": self.max_cost, "max_tokens": self.max_tokens, "max_calls": self.max_calls}
        return {
            **{name: most for name, most in limits.items() if most is not None},
            "calls": self.spent.calls,
            "tokens": self.spent.tokens,
            "cost": round(self.spent.cost, 6),
            "currency": self.prices.currency,
            "assumed_calls": self.spent.assumed,
        }
