"""Means, intervals and randomisation tests on arrays; it knows no measure and no question."""

from ragassay.stats.families import bh, holm
from ragassay.stats.intervals import Interval, clopper_pearson, mean_interval, ratio_interval, wilson
from ragassay.stats.mean import mean
from ragassay.stats.onesided import lower_bound, upper_bound
from ragassay.stats.paired import McNemar, mcnemar, newcombe, tango
from ragassay.stats.power import Detectable, detectable, units_needed
from ragassay.stats.randomise import BootstrapInterval, FlipTest, bootstrap_mean, sign_flip
from ragassay.stats.region import Described, Region, in_region, paired_interval

__all__ = [
    "BootstrapInterval",
    "Described",
    "Detectable",
    "FlipTest",
    "Interval",
    "McNemar",
    "Region",
    "bh",
    "bootstrap_mean",
    "clopper_pearson",
    "detectable",
    "holm",
    "in_region",
    "lower_bound",
    "mcnemar",
    "mean",
    "mean_interval",
    "newcombe",
    "paired_interval",
    "ratio_interval",
    "sign_flip",
    "tango",
    "units_needed",
    "upper_bound",
    "wilson",
]
