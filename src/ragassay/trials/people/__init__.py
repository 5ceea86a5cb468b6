"""Judges before people: items drawn for them, their answers read back, a judge measured by them. Asks no judge."""

from ragassay.trials.people.calibrating import Calibrated, calibrate
from ragassay.trials.people.drawing import Drawn, draw
from ragassay.trials.people.files import sample_text
from ragassay.trials.people.importing import Imported, import_verdicts

__all__ = ["Calibrated", "Drawn", "Imported", "calibrate", "draw", "import_verdicts", "sample_text"]
