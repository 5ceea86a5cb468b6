"""ragassay: evaluate retrieval-augmented generation the way an assay office tests gold.

from ragassay import evaluate_sync
scorecard = evaluate_sync(cases, system)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragassay.version import VERSION

if TYPE_CHECKING:
    from ragassay.assay import Assayed, evaluate, evaluate_sync

__version__ = VERSION
__all__ = ["Assayed", "evaluate", "evaluate_sync"]


def __getattr__(name: str) -> object:
    """Load the doors when they are first named, so that `import ragassay` stays light."""
    if name in __all__:
        from ragassay import assay

        return getattr(assay, name)
    raise AttributeError(f"module 'ragassay' has no attribute {name!r}")
