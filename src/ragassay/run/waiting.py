"""What of a job is still to be done, in order. Begins nothing."""

from __future__ import annotations

import heapq
from collections.abc import Callable

from ragassay.run.log_lines import Key


class Waiting:
    """The questions that are still to be asked, in order; one whose earlier turns are not finished is not ready."""

    def __init__(
        self, keys: list[Key], finished: Callable[[Key], bool], after: Callable[[Key], tuple[Key, ...]]
    ) -> None:
        self._order = {key: number for number, key in enumerate(keys)}
        self._ready: list[int] = []
        self._keys = keys
        self._open: dict[Key, int] = {}
        self._followers: dict[Key, list[Key]] = {}
        for number, key in enumerate(keys):
            if finished(key):
                continue
            earlier = [one for one in after(key) if not finished(one)]
            if not earlier:
                self._ready.append(number)
                continue
            self._open[key] = len(earlier)
            for one in earlier:
                self._followers.setdefault(one, []).append(key)

    def __len__(self) -> int:
        return len(self._ready) + len(self._open)

    def take(self) -> Key | None:
        """The first that is ready."""
        return self._keys[heapq.heappop(self._ready)] if self._ready else None

    def put_back(self, key: Key) -> None:
        """One that was taken and not asked."""
        heapq.heappush(self._ready, self._order[key])

    def finished(self, key: Key) -> None:
        """A question is in the journal: those that waited for it may be ready."""
        for one in self._followers.pop(key, ()):
            self._open[one] -= 1
            if not self._open[one]:
                del self._open[one]
                self.put_back(one)
