"""How many workers a computation starts unless it is told. Starts none."""

from __future__ import annotations

import os


def cores() -> int:
    """The cores that this process may use; 1 or more."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)
