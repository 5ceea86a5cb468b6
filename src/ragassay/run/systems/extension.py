"""An adapter of another package, found by entry point. Knows nothing of what it asks.

The entry point group is `ragassay.adapters`; a member is a class or function that takes the keys of `[system]` and
returns a system. If it has parameters named folder, documents, passages or as_of, they are given too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ragassay.errors import UsageError
from ragassay.extensions import Extension
from ragassay.records.protocol import SystemIdentity
from ragassay.run.contract import Request, System
from ragassay.run.foreign import foreign
from ragassay.run.pace import Conditions

ADAPTERS = "ragassay.adapters"


class ExtensionSystem:
    """A system that an extension made; its identity also names the package and its version."""

    def __init__(self, system: System, extension: Extension) -> None:
        identity = getattr(system, "identity", None)
        if not callable(getattr(system, "ask", None)) or not isinstance(identity, SystemIdentity):
            raise UsageError(
                f"{extension.identity} made no system: it needs `ask(request)` and an `identity`",
                field="kind",
                hint="`ragassay.contracts.adapter.check_adapter` says what is missing",
            )
        self._system = system
        self.max_wait_s = float(getattr(system, "max_wait_s", 0.0))
        self.identity = msgspec.structs.replace(
            identity,
            adapter=extension.name,
            settings={**identity.settings, "extension": extension.identity},
        )

    def attach(self, conditions: Conditions) -> None:
        """Hand the conditions on, if they are wanted."""
        attach: Callable[[Conditions], Any] | None = getattr(self._system, "attach", None)
        if callable(attach):
            with foreign(f"{self.identity.adapter!r}, as it was made ready,", "kind"):
                attach(conditions)

    def ask(self, request: Request) -> Any:
        """Whatever the adapter returns: a value, a Reply, or something to await."""
        return self._system.ask(request)

    async def aclose(self) -> None:
        """Close the adapter, if it can be closed."""
        close: Callable[[], Any] | None = getattr(self._system, "aclose", None)
        if callable(close):
            await close()
