"""The clocks that a run reads, passed in so that a test can pass its own. Nothing else in this room reads time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from ragassay.records.base import Instant


def _now() -> Instant:
    return Instant(datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"))


@dataclass(frozen=True, slots=True)
class Clock:
    """Wall time for the envelope, and a steady clock in seconds for durations."""

    now: Callable[[], Instant] = _now
    steady_s: Callable[[], float] = time.perf_counter
    name: str = "system wall clock; perf_counter for durations"

    def since_ms(self, start_s: float) -> float:
        """Milliseconds since a reading of `steady_s`, to the microsecond."""
        return round((self.steady_s() - start_s) * 1000, 3)


SYSTEM_CLOCK = Clock()
