"""ragassay: evaluate retrieval-augmented generation the way an assay office tests gold."""

from __future__ import annotations

__version__ = "0.1.0"
