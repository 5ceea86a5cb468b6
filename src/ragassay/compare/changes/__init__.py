"""What changed between two runs: artefacts, steps, and where facts were lost anew. Decides nothing."""

from ragassay.compare.changes.artefacts import Sides, artefacts
from ragassay.compare.changes.losses import losses
from ragassay.compare.changes.steps import steps

__all__ = ["Sides", "artefacts", "losses", "steps"]
