"""Traces and questions to the score table: observations, estimates, survival. Opens no socket and reads no clock."""

from ragassay.score.estimates import estimate
from ragassay.score.fates import fates_of
from ragassay.score.fill import complete
from ragassay.score.labels import Labels
from ragassay.score.named import InForce, in_force, is_superseded
from ragassay.score.observe import observe
from ragassay.score.rows import Holding, Scores
from ragassay.score.table import again, load_world, table
from ragassay.score.world import World

__all__ = [
    "Holding",
    "InForce",
    "Labels",
    "Scores",
    "World",
    "again",
    "complete",
    "estimate",
    "fates_of",
    "in_force",
    "is_superseded",
    "load_world",
    "observe",
    "table",
]
