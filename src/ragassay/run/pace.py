"""How many requests may be at one endpoint at once: the declared limit, cut when the endpoint is overloaded.

Multiplicative cut, additive rise, one cut an episode; Retry-After holds back the endpoint. Asks nothing itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from urllib.parse import urlsplit

from ragassay.records.protocol import PaceEvent
from ragassay.run.account import current
from ragassay.run.clock import SYSTEM_CLOCK, Clock

_MOST_SLEEP_S = 0.5
WINDOW = 8
"""So many of the latest attempts are looked at for silence ..."""
BURST = 4
"""... and so many silent ones among them are an overload."""


class Pace:
    """The limit in force at one endpoint, who is in it, and the moment before which nothing is sent.

    *Overload* is a 429, 503 or 529, or silence: BURST of the last WINDOW attempts sent since the last cut timed out,
    got a 502 or 504 from a gateway, or lost or were refused their connection although the endpoint had answered before
    (one that never answered is not overloaded; it is not there). Each overload of a request that was sent after the
    last cut halves the limit (1 at least). Each request sent after the last cut that is answered well raises it by
    1 / limit, so by one a round, up to the declared one.
    """

    def __init__(
        self,
        limit: int,
        clock: Clock = SYSTEM_CLOCK,
        *,
        endpoint: str = "system",
        on_event: Callable[[PaceEvent], None] | None = None,
    ) -> None:
        self.limit, self.endpoint = limit, endpoint
        self.cuts = 0
        self.cause = ""
        """Of the last cut; empty when the limit is back at the declared one."""
        self.used = False
        """Whether an adapter asks for slots here; then it also says what came of each attempt."""
        self._allowed = float(limit)
        self._clock, self._on_event = clock, on_event
        self._last_cut_s = float("-inf")
        self._hold_until_s = float("-inf")
        self._answered = False
        self._silent: deque[bool] = deque(maxlen=WINDOW)
        self._inside = 0
        self._queue: deque[asyncio.Event] = deque()

    @property
    def allowed(self) -> int:
        """Requests that may be out now; at least 1, at most the declared limit."""
        return max(1, int(self._allowed + 1e-9))

    @property
    def hold_s(self) -> float:
        """Seconds until something may be sent again; 0 if now."""
        return max(0.0, self._hold_until_s - self._clock.steady_s())

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """A place at the endpoint, first come first served, once no hold is on; gives the seconds waited for it.

        The question's own clock stands still meanwhile: it cannot run out because of others.
        """
        self.used = True
        waited = 0.0
        if self._queue or self._inside >= self.allowed or self.hold_s > 0:
            with current().waiting():
                waited = await self._enter()
        self._inside += 1
        self._wake()
        try:
            yield waited
        finally:
            self._inside -= 1
            self._wake()

    async def _enter(self) -> float:
        start_s = self._clock.steady_s()
        turn = asyncio.Event()
        self._queue.append(turn)
        try:
            while (hold_s := self.hold_s) > 0 or self._queue[0] is not turn or self._inside >= self.allowed:
                turn.clear()
                sleep_s = min(hold_s, _MOST_SLEEP_S) if hold_s > 0 else None
                with suppress(TimeoutError):
                    async with asyncio.timeout(sleep_s):
                        await turn.wait()
        finally:
            self._queue.remove(turn)
            self._wake()
        return self._clock.steady_s() - start_s

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].set()

    async def gate(self, most_s: float) -> float:
        """Wait until the hold is over, at most `most_s`; returns the seconds waited. For adapters without slots."""
        start = self._clock.steady_s()
        while (left := min(self.hold_s, most_s - (self._clock.steady_s() - start))) > 0:
            await asyncio.sleep(min(left, _MOST_SLEEP_S))
        return self._clock.steady_s() - start

    def succeeded(self, sent_s: float = float("inf")) -> None:
        """A request went through: the limit rises by one for each full round of those sent after the last cut."""
        self._heard(sent_s)
        if sent_s <= self._last_cut_s or self._allowed >= self.limit:
            return
        self._allowed = min(float(self.limit), self._allowed + 1 / self._allowed)
        if self._allowed >= self.limit - 1e-9:
            self._allowed, self.cause = float(self.limit), ""
            self._tell("recovered", "answers")
        self._wake()

    def answered(self, sent_s: float) -> None:
        """An answer that is neither good nor an overload (500, a redirect): the endpoint is there."""
        self._heard(sent_s)

    def _heard(self, sent_s: float) -> None:
        self._answered = True
        if sent_s > self._last_cut_s:
            self._silent.append(False)

    def overloaded(self, sent_s: float, retry_after_s: float | None = None, cause: str = "429") -> None:
        """The endpoint said that it is too much; `sent_s` is when that request went out.

        Requests that were already out when the limit was cut belong to the same episode and do not cut again.
        """
        self._answered = True
        self._cut(sent_s, cause)
        if retry_after_s is None:
            return
        before_s = self.hold_s
        self._hold_until_s = max(self._hold_until_s, self._clock.steady_s() + retry_after_s)
        if self.hold_s > before_s + 1e-3 and not before_s:
            self._tell("held", cause, self.hold_s)

    def silent(self, sent_s: float, cause: str) -> None:
        """A request got no answer: `timeout`, `connection` or `gateway`; enough of them are an overload."""
        if sent_s <= self._last_cut_s or (cause == "connection" and not self._answered):
            return
        self._silent.append(True)
        if sum(self._silent) >= BURST:
            self._cut(sent_s, cause)

    def _cut(self, sent_s: float, cause: str) -> None:
        if sent_s <= self._last_cut_s:
            return
        before = self.allowed
        self._allowed = max(1.0, self._allowed / 2)
        self._last_cut_s = self._clock.steady_s()
        self._silent.clear()
        if self.allowed < before:
            self.cuts, self.cause = self.cuts + 1, cause
            self._tell("cut", cause)

    def _tell(self, kind: str, cause: str, seconds: float | None = None) -> None:
        if self._on_event is not None:
            self._on_event(
                PaceEvent(
                    at=self._clock.now(),
                    endpoint=self.endpoint,
                    kind=kind,  # type: ignore[arg-type]
                    cause=cause,
                    limit=self.allowed,
                    seconds=None if seconds is None else round(seconds, 3),
                )
            )


class Paces:
    """The paces of a run: one an endpoint, each beginning at the declared limit."""

    def __init__(self, limit: int, clock: Clock = SYSTEM_CLOCK) -> None:
        self.limit = limit
        self.events: list[PaceEvent] = []
        """What happened and was not taken yet; the journal takes it with the next question."""
        self._clock = clock
        self._known: dict[str, Pace] = {}
        self.default = self.at("system")

    def at(self, endpoint: str) -> Pace:
        """The pace of one endpoint."""
        if endpoint not in self._known:
            self._known[endpoint] = Pace(self.limit, self._clock, endpoint=endpoint, on_event=self.events.append)
        return self._known[endpoint]

    def take(self) -> tuple[PaceEvent, ...]:
        """The events since the last call."""
        found = tuple(self.events)
        self.events.clear()
        return found

    def succeeded(self) -> None:
        """A question went through: raises the endpoints whose adapter does not say so itself."""
        for pace in self._known.values():
            if not pace.used:
                pace.succeeded()

    @property
    def tightest(self) -> Pace:
        """The pace with the lowest limit in force."""
        return min(self._known.values(), key=lambda one: one.allowed)

    @property
    def allowed(self) -> int:
        """Questions that may be in flight: a question may need every endpoint, so the lowest limit counts."""
        return self.tightest.allowed

    @property
    def hold_s(self) -> float:
        """Seconds until every endpoint may be sent to."""
        return max(pace.hold_s for pace in self._known.values())

    @property
    def cuts(self) -> int:
        """Cuts at all endpoints, in this process."""
        return sum(pace.cuts for pace in self._known.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a run tells an adapter before the first question."""

    timeout_s: float
    pace: Pace
    """Of a system that names no endpoint."""
    paces: Paces | None = None
    random: Random = field(default_factory=lambda: Random(0))  # noqa: S311  jitter, nothing secret
    clock: Clock = SYSTEM_CLOCK

    def pace_at(self, endpoint: str) -> Pace:
        """The pace of one endpoint (`endpoint_of` an address, or a declared name)."""
        return self.paces.at(endpoint) if self.paces is not None else self.pace


def endpoint_of(url: str) -> str:
    """`host:port/path` of an address, the port also where it is the usual one; no query, which may hold secrets."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return f"{parts.hostname}:{port}{parts.path or '/'}"
