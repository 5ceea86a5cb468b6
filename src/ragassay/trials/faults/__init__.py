"""Fifteen planted faults: does the gate catch them, and is the right step named? Plants; judges nothing."""

from ragassay.trials.faults.catalogue import FAULTS, Fault
from ragassay.trials.faults.chance import struck
from ragassay.trials.faults.ground import WHERE, ground
from ragassay.trials.faults.plant import SilentSystem, Site, loud, loud_corpus, silent

__all__ = ["FAULTS", "WHERE", "Fault", "SilentSystem", "Site", "ground", "loud", "loud_corpus", "silent", "struck"]
