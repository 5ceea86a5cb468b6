"""Asks a system every question of a sealed benchmark and keeps what it did, durably. Scores and judges nothing."""

from typing import TYPE_CHECKING

from ragassay.run.contract import Reply, Request, Response, System, system_schema

if TYPE_CHECKING:
    from ragassay.run.executing import execute

__all__ = ["Reply", "Request", "Response", "System", "execute", "system_schema"]


def __getattr__(name: str) -> object:
    """`execute` loads asyncio and the rooms below, so it is imported on first use."""
    if name == "execute":
        from ragassay.run.executing import execute

        return execute
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
