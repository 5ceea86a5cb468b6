"""Means, intervals and randomisation tests on arrays; it knows no measure and no question."""

from ragassay.stats.intervals import Interval, clopper_pearson, mean_interval, ratio_interval, wilson
from ragassay.stats.mean import mean

__all__ = ["Interval", "clopper_pearson", "mean", "mean_interval", "ratio_interval", "wilson"]
