"""Means, intervals and randomisation tests on arrays; it knows no measure and no question."""

from ragassay.stats.intervals import Interval, clopper_pearson, mean_interval, ratio_interval, wilson
from ragassay.stats.mean import mean
from ragassay.stats.randomise import BootstrapInterval, FlipTest, bootstrap_mean, sign_flip

__all__ = [
    "BootstrapInterval",
    "FlipTest",
    "Interval",
    "bootstrap_mean",
    "clopper_pearson",
    "mean",
    "mean_interval",
    "ratio_interval",
    "sign_flip",
    "wilson",
]
