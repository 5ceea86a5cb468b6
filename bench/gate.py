"""A policy read over two stored runs of 7,000 questions, a line a step: wall time, and time of this process alone.

    python -m bench.gate [--questions N] [--depth N]

The tables are those of `python -m bench.compare steps`: 30 measures, 20 slices. The policy has a floor and a margin for
each measure, a margin for each slice, a need of every question and a floor on the good ones. That a decision hashes and
scores both runs again comes on top: what `ragassay score` takes, for each (`python -m bench.scale`).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.compare import OURS, _labels, _rows, _traces, runs


def policies() -> dict[str, Any]:
    """A policy for each kind of demand."""
    from ragassay.gate.policy_file import policy_of

    slices = [f"{name}={number}" for name in ("topic", "age") for number in range(10)]
    rules: dict[str, list[dict[str, Any]]] = {
        "floors": [{"measure": one, "at_least": 0.1} for one in OURS],
        "margins": [{"measure": one, "margin": 0.05} for one in OURS],
        "margins of slices": [{"measure": "ndcg@10", "margin": 0.1, "slice": one} for one in slices],
    }
    made = {name: policy_of({"name": name, "rules": rows}) for name, rows in rules.items()}
    verdicts = {"needs": [{"measure": "ndcg@10", "at_least": 0.5}], "verdicts": [{"at_least": 0.1}]}
    return {**made, "verdicts of questions": policy_of({"name": "verdicts", **verdicts})}


def _tables(store: Any, questions: int, depth: int) -> None:
    """The tables of `bench.compare`, with measures as score tables spell them."""
    import msgspec
    from tests.unit.compare.written import Written

    from ragassay.measures import evaluate

    qrels, *both = runs(questions, depth)
    slices = [[f"topic={number % 10}", f"age={number * 7 // 5 % 10}"] for number in range(questions)]
    written = Written(store, [{"queryId": f"q{number:05d}", "slice": own} for number, own in enumerate(slices)])
    labels = _labels(qrels)
    for name, run in zip("ab", both, strict=True):
        found = _rows(evaluate(labels, run, OURS))
        rows = [msgspec.structs.replace(one, measure=one.measure.replace("rel=1", "rel=2")) for one in found]
        written.table(rows, name, traces=_traces(run, questions, depth), estimates=False)


def main() -> None:
    """Write the tables, then read them."""
    from ragassay.gate.check import check, given_of
    from ragassay.gate.decide import read_demands
    from ragassay.gate.evidence import check_alike, read_evidence
    from ragassay.gate.rules import Arms
    from ragassay.gate.verdicts import questions
    from ragassay.score.table import load_world
    from ragassay.store import Store

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=7_000)
    parser.add_argument("--depth", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get("BENCH_FOLDER", scratch)) / f"gate-{given.questions}-{given.depth}"
        store = Store.open(folder, create=True)
        if not store.refs("scores/"):
            _tables(store, given.questions, given.depth)
        print(f"  {given.questions:,} questions, lists of {given.depth}, {len(OURS)} measures, 20 slices")
        print("     wall      own")
        one, other = _timed(
            "read both runs", lambda: [read_evidence(store, store.ref(f"scores/{name}"), name, OURS) for name in "ab"]
        )
        world = load_world(store, one.run, one.protocol, one.subject, one.benchmark)
        results: Counter[str] = Counter()
        for name, policy in policies().items():
            asked: list[Any] = []
            if policy.verdicts:
                asked = _timed("each question by its needs", lambda: questions(store, one, policy, world))  # noqa: B023
            found = _timed(name, lambda: read_demands(Arms(store, policy, one, other), asked))  # noqa: B023
            results.update(each.result for each in found)
            _timed(f"  what the check says of {name}", lambda: check(policy, given_of(store, one)))  # noqa: B023
        _timed("whether both were measured alike", lambda: check_alike(store, one, other, ()))
        print(f"  results: {dict(results)}")


def _timed(name: str, call: Callable[[], Any]) -> Any:
    wall, own = time.perf_counter(), time.process_time()
    found = call()
    print(f"  {time.perf_counter() - wall:6.2f} s {time.process_time() - own:6.2f} s  {name}", flush=True)
    return found


if __name__ == "__main__":
    main()
