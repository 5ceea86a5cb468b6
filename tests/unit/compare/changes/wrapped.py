"""Systems that say one thing of themselves and do another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any


class Silently:
    """A system whose identity is the inner one's and whose responses `turn` changes."""

    def __init__(self, inner: Any, turn: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self.inner, self.identity, self._turn = inner, inner.identity, turn

    def attach(self, conditions: Any) -> None:
        self.inner.attach(conditions)

    async def ask(self, request: Any) -> Any:
        reply = await self.inner.ask(request)
        return replace(reply, value=self._turn(reply.value))


class Reporting(Silently):
    """Reports which build of the index it used."""

    def __init__(self, inner: Any, which: str) -> None:
        super().__init__(inner, lambda value: {**value, "versions": {"index_build": which}})
