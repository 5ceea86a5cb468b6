"""`python -m trials`: run them and print the figures; exit code 1 if a promise was broken."""

from __future__ import annotations

import argparse
import sys

from trials import store_kills
from trials.bad_day import run_bad_day
from trials.disks import run_disks
from trials.kills import run_kills
from trials.lives import TrialError


def main() -> int:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(prog="python -m trials", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=50, help="spread over at least so many runs")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--short", action="store_true", help="the version that is part of the tests")
    given = parser.parse_args()
    if given.short:
        given.kills, given.runs, given.questions = 20, 2, 24
    times = (1,) if given.short else (1, 3, 30)
    fsyncs = (7,) if given.short else tuple(range(1, 41))
    limits = (9_000,) if given.short else (0, 200, 1_000, 3_000, 9_000, 20_000, 40_000)
    try:
        figures = run_kills(kills=given.kills, runs=given.runs, questions=given.questions, seed=given.seed, times=times)
        figures += run_disks(questions=24, fsyncs=fsyncs, limits=limits)
        if not given.short:
            figures += run_bad_day(questions=240, rounds=5, seed=given.seed)
    except TrialError as broken:
        print(f"BROKEN PROMISE: {broken}", file=sys.stderr)
        return 1
    width = max(len(what) for what, _ in figures)
    for what, value in figures:
        print(f"{what:<{width}}  {value}")
    if given.short:
        return 0
    print("writers of one store, killed:")
    return store_kills.main([])


if __name__ == "__main__":
    sys.exit(main())
