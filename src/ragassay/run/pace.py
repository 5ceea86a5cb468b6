"""How many questions may be asked at once: the declared limit, cut only when the system says that it is too much.

Multiplicative cut, additive rise, one cut an episode; Retry-After holds back every question. Asks nothing itself.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random

from ragassay.run.clock import SYSTEM_CLOCK, Clock

_MOST_SLEEP_S = 0.5


class Pace:
    """The limit in force, and the moment before which nothing is sent."""

    def __init__(self, limit: int, clock: Clock = SYSTEM_CLOCK) -> None:
        self.limit = limit
        self._allowed = float(limit)
        self._clock = clock
        self._last_cut_s = float("-inf")
        self._hold_until_s = float("-inf")
        self.cuts = 0

    @property
    def allowed(self) -> int:
        """Questions that may be in flight now; at least 1, at most the declared limit."""
        return max(1, int(self._allowed))

    def succeeded(self) -> None:
        """A question went through: the limit rises by one for each full round of them."""
        self._allowed = min(float(self.limit), self._allowed + 1 / max(1.0, self._allowed))

    def overloaded(self, sent_s: float, retry_after_s: float | None = None) -> None:
        """The system said 429 or that it is overloaded; `sent_s` is when that request went out.

        Requests that were already out when the limit was cut belong to the same episode and do not cut again.
        """
        now = self._clock.steady_s()
        if sent_s > self._last_cut_s:
            self._allowed = max(1.0, self._allowed / 2)
            self._last_cut_s = now
            self.cuts += 1
        if retry_after_s is not None:
            self._hold_until_s = max(self._hold_until_s, now + retry_after_s)

    @property
    def hold_s(self) -> float:
        """Seconds until something may be sent again; 0 if now."""
        return max(0.0, self._hold_until_s - self._clock.steady_s())

    async def gate(self, most_s: float) -> float:
        """Wait until the hold is over, at most `most_s`; returns the seconds waited."""
        start = self._clock.steady_s()
        while (left := min(self.hold_s, most_s - (self._clock.steady_s() - start))) > 0:
            await asyncio.sleep(min(left, _MOST_SLEEP_S))
        return self._clock.steady_s() - start


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a run tells an adapter before the first question."""

    timeout_s: float
    pace: Pace
    random: Random = field(default_factory=lambda: Random(0))  # noqa: S311  jitter, nothing secret
    clock: Clock = SYSTEM_CLOCK
