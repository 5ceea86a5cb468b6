"""What one question was granted: seconds that it waited for others, calls reserved for it. Decides nothing itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Account:
    """Of one question, while it is being asked."""

    def __init__(
        self, reserve: Callable[[], bool] | None = None, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        """`reserve` reserves one more call under the run's ceiling, or says no; absent: there is no ceiling.

        `clock_s` is the clock by which the question is timed out.
        """
        self.reserved = 0
        self._reserve, self._clock_s = reserve, clock_s
        self._waited_s = 0.0
        self._since_s: float | None = None

    @property
    def waited_s(self) -> float:
        """Seconds that this question stood in a queue of the run's own making, until now."""
        return self._waited_s + (0.0 if self._since_s is None else self._clock_s() - self._since_s)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """What is spent in here is not the question's own time."""
        self._since_s = self._clock_s()
        try:
            yield
        finally:
            self._waited_s, self._since_s = self.waited_s, None

    def may_call(self) -> bool:
        """Reserve one call to the system before it is sent; False if the ceiling has no room for it."""
        if self._reserve is not None and not self._reserve():
            return False
        self.reserved += 1
        return True


_CURRENT: ContextVar[Account | None] = ContextVar("ragassay_account", default=None)


def current() -> Account:
    """The account of the question that is being asked; one without a ceiling outside of a run."""
    return _CURRENT.get() or Account()


@contextmanager
def account_of(account: Account) -> Iterator[None]:
    """Tasks that begin in here work on this account."""
    token = _CURRENT.set(account)
    try:
        yield
    finally:
        _CURRENT.reset(token)
