"""`python -m trials [NAMES]`: run them and print the figures; exit code 1 if a promise was broken. `--list` names them.

`mutations` reads `--mutations` mutated inputs of every format that `trials/mutations.py` knows; that file run by itself
takes names of formats, and keeps inputs that break something.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from trials import mutations, store_kills
from trials.bad_day import run_bad_day
from trials.disks import run_disks
from trials.injections import run_injections
from trials.judge_kills import run_judge_kills
from trials.kills import run_kills
from trials.lives import TrialError
from trials.planted_secrets import run_secrets
from trials.probe_power import run_probe_power
from trials.probe_texts import run_probe_texts
from trials.real_texts import run_real_texts
from trials.tampers import run_tampers
from trials.twins import CORRECT, EXPECTED, figures_of, run_twins

Figures = list[tuple[str, str]]


def _kills(given: Namespace) -> Figures:
    """runs killed at every named point and at random, then finished: the digest of one that was not killed"""
    times = (1,) if given.short else (1, 3, 30)
    return run_kills(kills=given.kills, runs=given.runs, questions=given.questions, seed=given.seed, times=times)


def _disks(given: Namespace) -> Figures:
    """full disks, and pushes to the disk that fail"""
    fsyncs = (7,) if given.short else tuple(range(1, 41))
    limits = (9_000,) if given.short else (0, 200, 1_000, 3_000, 9_000, 20_000, 40_000)
    return run_disks(questions=24, fsyncs=fsyncs, limits=limits)


def _bad_day(given: Namespace) -> Figures:
    """a real HTTP service that misbehaves in every way there is, and its pace beside a bare client"""
    return run_bad_day(questions=240, rounds=5, seed=given.seed)


def _store(_: Namespace) -> Figures:
    """writers of one store, killed"""
    if store_kills.main([]):
        raise TrialError("a killed writer of a store broke a promise; see above")
    return []


def _mutations(given: Namespace) -> Figures:
    """mutated inputs of every format: an answer or a documented error"""
    figures = []
    for name in mutations.load_tables():
        found = mutations.run_format(name, count=given.mutations, seed=given.seed)
        for one in found["broken"]:
            raise TrialError(f"{name}, input {one['number']}: {one['why']}")
        told = f"{found['inputs']:,} mutations: {found['read']:,} read, {found['refused']:,} refused"
        figures.append((name, f"{told}, 0 broken; slowest {found['slowest_s']} s, {found['peak_mb']} MB"))
        print(": ".join(figures[-1]), file=sys.stderr, flush=True)
    return figures


def _tampers(given: Namespace) -> Figures:
    """evidence that was tampered with, in every way that has a name, and clean copies that must hold"""
    most = (220, 22, 20) if given.short else (given.tampers, 200, 500)
    return run_tampers(tamperings=most[0], commands=most[1], clean=most[2], seed=given.seed)


def _secrets(given: Namespace) -> Figures:
    """a labelled set of secrets and personal data: what is found, and what else is taken"""
    return run_secrets(given.seed)


def _real_texts(given: Namespace) -> Figures:
    """5,000 real texts of the public data sets (--data): what redaction takes of them, and its cost"""
    if not given.data.is_dir():
        return [("real_texts", f"left out: there is no {given.data}; name the data with --data")]
    return run_real_texts(given.data, given.seed)


def _twins(_: Namespace) -> Figures:
    """the probe on the tenant service and on each of its leaky twins: half an hour (in parts: trials.twins)"""
    with tempfile.TemporaryDirectory(prefix="twins-") as folder:
        return figures_of(run_twins(Path(folder), [CORRECT, *EXPECTED]))


def _probe_texts(given: Namespace) -> Figures:
    """leaks in every disguise, and 5,000 clean real texts (--data): what the probe's matcher finds"""
    return run_probe_texts(given.data, given.seed)


def _probe_power(given: Namespace) -> Figures:
    """what the probe's oracles of time and counts could show, and how often they see what is not there"""
    return run_probe_power(given.seed)


def _injections(_: Namespace) -> Figures:
    """orders to a judge hidden in what it judges: none stands outside of the fence, and what else finds them"""
    return run_injections()


def _judge_kills(given: Namespace) -> Figures:
    """judging jobs killed at random, then finished: no finished item is paid for twice"""
    return run_judge_kills(kills=max(1, given.kills // 10), items=60, seed=given.seed)


TRIALS: dict[str, Callable[[Namespace], Figures]] = {
    "kills": _kills, "disks": _disks, "bad_day": _bad_day, "store": _store, "tampers": _tampers,
    "mutations": _mutations, "secrets": _secrets, "real_texts": _real_texts, "injections": _injections,
    "judge_kills": _judge_kills, "probe_texts": _probe_texts, "probe_power": _probe_power, "twins": _twins,
}  # fmt: skip
SHORT = ("kills", "disks")


def main() -> int:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(
        prog="python -m trials", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAMES", help=f"all if left out: {', '.join(TRIALS)}")
    parser.add_argument("--list", action="store_true", help="say what there is, formats of input included")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=50, help="spread over at least so many runs")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--mutations", type=int, default=1000, help="mutated inputs of each format")
    parser.add_argument("--tampers", type=int, default=4800, help="tamperings in this process; 200 more by commands")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="public data sets, of real_texts")
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--short", action="store_true", help="the version that is part of the tests: kills and disks")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in TRIALS]:
        parser.error(f"no trial {unknown[0]!r}; there are: {', '.join(TRIALS)}")
    if given.list:
        for name, run in TRIALS.items():
            print(f"{name:<11}  {run.__doc__}")
        print(f"formats of mutations: {', '.join(mutations.load_tables())}")
        return 0
    if given.short:
        given.kills, given.runs, given.questions = 20, 2, 24
    figures: Figures = []
    try:
        for name in given.names or (SHORT if given.short else TRIALS):
            figures += TRIALS[name](given)
    except TrialError as broken:
        print(f"BROKEN PROMISE: {broken}", file=sys.stderr)
        return 1
    finally:
        width = max((len(what) for what, _ in figures), default=0)
        for what, value in figures:
            print(f"{what:<{width}}  {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
