"""Two runs of 7,000 questions compared: step by step, and against ranx's `compare` on the part that it does.

    python -m bench.compare [theirs] [steps] [--questions N] [--depth N] [--flips N]      (both without names)

*theirs*: 30 measures of two runs from arrays in memory and a paired randomisation test of each measure, by turns in one
process; ranx is warm. Needs an interpreter that has ranx and this package (BENCH_PYTHON); without it, it is skipped.
*steps*: two score tables (30 measures, 20 slices, lists of `--depth` items) are written once, then compared whole, each
step with its time; and what `ragassay diff` does with the same two runs. BENCH_FOLDER keeps the tables.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

THEIRS = os.environ.get("BENCH_PYTHON", sys.executable)
CUTS = (1, 3, 5, 10, 20)
FAMILIES = {"ndcg": "ndcg", "recall": "recall", "precision": "precision", "hit": "hit_rate", "rr": "mrr", "ap": "map"}
OURS = [f"{name}@{k}" for name in FAMILIES for k in CUTS]
RANX = [f"{name}@{k}" for name in FAMILIES.values() for k in CUTS]
SLICES = 20
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def runs(questions: int, depth: int) -> tuple[list[tuple[str, str, int]], Arrays, Arrays]:
    """Judgements (some three graded items a question) and two runs that order the same items a little differently."""
    dice = np.random.default_rng(7)
    queries = np.repeat([f"q{number:05d}" for number in range(questions)], depth)
    items = np.concatenate([dice.choice(1_000_000, depth, replace=False) for _ in range(questions)])
    names = np.array([f"d{item:07d}" for item in items])
    base = dice.gamma(9.0, 2.0, questions * depth)
    graded = np.flatnonzero(dice.random(questions * depth) < 3 / depth)
    kept = dict.fromkeys(queries[graded].tolist())
    first = [at for at in range(0, questions * depth, depth) if queries[at] not in kept]
    places = np.sort(np.concatenate((graded, np.array(first, np.int64))))
    qrels = [(queries[at], names[at], int(grade)) for at, grade in zip(places, dice.integers(1, 4, len(places)),
                                                                     strict=True)]  # fmt: skip
    base[places] += 6.0
    other = base + dice.normal(0.0, 1.5, len(base))
    return qrels, (queries.astype("S"), names.astype("S"), base), (queries.astype("S"), names.astype("S"), other)


def theirs(questions: int, depth: int, flips: int) -> None:
    """The same work by both, in this process: values of both runs, and a test of each measure."""
    from ragassay.measures import evaluate

    _by_ranx(*_for_ranx(50, depth), 100)  # compiles
    qrels, *both = runs(questions, depth)
    labels, known = _labels(qrels), _for_ranx(questions, depth)
    took: dict[str, list[float]] = {"ranx": [], "ours": []}
    for _ in range(2):
        begin = time.perf_counter()
        report = _by_ranx(*known, flips)
        middle = time.perf_counter()
        tested([evaluate(labels, one, OURS) for one in both], flips)
        took["ranx"].append(middle - begin)
        took["ours"].append(time.perf_counter() - middle)
        print(f"  ranx {took['ranx'][-1]:.2f} s, ours {took['ours'][-1]:.2f} s", flush=True)
    again = [evaluate(labels, one, OURS) for one in both]
    worst = max(
        abs(report.results[run][there] - evaluation[here].value)
        for run, evaluation in zip("ab", again, strict=True)
        for here, there in zip(OURS, RANX, strict=True)
        if not here.startswith("ndcg")
    )
    mean = {name: sum(one) / len(one) for name, one in took.items()}
    print(f"  {questions:,} questions of {depth} items, {len(OURS)} measures, {flips:,} permutations")
    print(f"  means apart by at most {worst:.0e} (nDCG aside: ranx discounts its gains otherwise)")
    print(f"  ours takes {mean['ours'] / mean['ranx']:.3f} of ranx's time ({mean['ranx'] / mean['ours']:.1f}x)")


def _for_ranx(questions: int, depth: int) -> tuple[Any, list[Any]]:
    import ranx

    qrels, *both = runs(questions, depth)
    relevant: dict[str, dict[str, int]] = {}
    for query, item, grade in qrels:
        relevant.setdefault(query, {})[item] = grade
    return ranx.Qrels(relevant), [ranx.Run(_nested(one), name=name) for name, one in zip("ab", both, strict=True)]


def _by_ranx(qrels: Any, lists: list[Any], flips: int) -> Any:
    import ranx

    return ranx.compare(qrels, lists, RANX, stat_test="fisher", n_permutations=flips)


def _labels(qrels: list[tuple[str, str, int]]) -> Any:
    from ragassay.measures.evaluate import load_labels

    with tempfile.NamedTemporaryFile("w", suffix=".qrels") as file:
        file.writelines(f"{query} 0 {item} {grade}\n" for query, item, grade in qrels)
        file.flush()
        return load_labels(file.name)


def _nested(run: Arrays) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, item, score in zip(*(one.tolist() for one in run), strict=True):
        found.setdefault(query.decode(), {})[item.decode()] = score
    return found


def tested(evaluations: list[Any], flips: int) -> list[Any]:
    """The tests of all measures, and their differences' intervals."""
    from ragassay.stats import mean_interval
    from ragassay.stats.shared_flips import FlipGroup, shared_flips

    columns = [[one.columns[measure].value for measure in one.measures] for one in evaluations]
    gaps = [after - before for before, after in zip(*columns, strict=True)]
    sizes = [float(np.abs(before).sum() + np.abs(after).sum()) for before, after in zip(*columns, strict=True)]
    table = np.stack(gaps, axis=1)
    group = FlipGroup(np.arange(len(table)), table, np.array(sizes))
    found = shared_flips([group], len(table), seed=0, flips=flips)[0]
    return [(flip, mean_interval(gap.tolist(), within=(-1.0, 1.0))) for flip, gap in zip(found, gaps, strict=True)]


def steps(questions: int, depth: int, flips: int) -> None:
    """The whole comparison of two stored tables, a line a step."""
    from ragassay.audit.against import difference
    from ragassay.compare.changes import Sides, artefacts, losses
    from ragassay.compare.changes import steps as changed_steps
    from ragassay.compare.effects import Setting, effects
    from ragassay.compare.moved import moves
    from ragassay.compare.pair import judged, pair
    from ragassay.compare.side import open_side
    from ragassay.records.score import ScoreTable
    from ragassay.store import Store

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get("BENCH_FOLDER", scratch)) / f"compare-{questions}-{depth}"
        store = Store.open(folder, create=True)
        if not store.refs("scores/"):
            list(_tables(store, questions, depth))
        a, b = (store.ref(f"scores/{name}") for name in "ab")
        print(f"  {questions:,} questions, lists of {depth}, {len(OURS)} measures, {SLICES} slices, {flips:,} flips")
        _timed("compare, whole", lambda: pair(store, a, b, flips=flips))
        one, other = (open_side(store, digest, name) for digest, name in ((a, "a"), (b, "b")))
        _timed("  read both tables", lambda: (one.keys, other.keys))
        known = Sides(store, one.run, other.run)
        changes = _timed("  what changed", lambda: artefacts(store, one.run, other.run, sides=known))
        found = _timed("  effects, intervals, tests", lambda: effects(one, other, Setting(0, flips, 0.95, "explore")))
        _timed("  effects without tests", lambda: effects(one, other, Setting(0, 1, 0.95, "explore")))
        moved = _timed("  moves", lambda: list(moves(one, other)))
        _timed("  Judged@k", lambda: judged(one, other))
        _timed("  steps", lambda: changed_steps(store, one.run, other.run, changes, sides=known))
        lost = _timed("  facts lost", lambda: list(losses(store, one.table, other.table, changes, sides=known)))
        _timed("  store effects, moves, losses", lambda: [store.put_lines(each) for each in (found, moved, lost)])
        print(f"  {len(found):,} effects, {len(moved):,} moves")
        tables = [store.get_record(ScoreTable, digest) for digest in (a, b)]
        _timed("diff, whole", lambda: difference(store, tables[0].run_record, tables[1].run_record))


def _timed(name: str, call: Callable[[], Any]) -> Any:
    begin = time.perf_counter()
    found = call()
    print(f"  {time.perf_counter() - begin:7.2f} s  {name}", flush=True)
    return found


def _tables(store: Any, questions: int, depth: int) -> Iterator[Any]:
    from tests.unit.compare.written import Written

    from ragassay.measures import evaluate

    qrels, *both = runs(questions, depth)
    cases = [
        {"queryId": f"q{number:05d}", "slice": [f"topic={number % 10}", f"age={number * 7 // 5 % 10}"]}
        for number in range(questions)
    ]
    written = Written(store, cases)
    labels = _labels(qrels)
    for name, run in zip("ab", both, strict=True):
        evaluation = evaluate(labels, run, OURS)
        yield written.table(_rows(evaluation), name, traces=_traces(run, questions, depth), estimates=False)


def _rows(evaluation: Any) -> Iterator[Any]:
    from ragassay.records.score import Observation

    for measure in evaluation.measures:
        values = evaluation.columns[measure].value.tolist()
        for query, value in zip(evaluation.questions, values, strict=True):
            yield Observation(
                query_id=query, repeat=0, measure=str(measure), status="value", step="lexical", value=value,
                numerator=value, denominator=1.0,
            )  # fmt: skip


def _traces(run: Arrays, questions: int, depth: int) -> list[Any]:
    from ragassay.records.document import Span
    from ragassay.records.trace import Item, Step, TraceContent

    queries, items, scores = run
    made = []
    for number in range(questions):
        own = slice(number * depth, (number + 1) * depth)
        order = np.argsort(-scores[own], kind="stable")
        listed = tuple(
            Item(
                item_id=name.decode(), rank=rank, resolution="declared", transform="slice", whole_document=True,
                sources=(Span(document_id=name.decode(), version="1", start=0, end=1),), score=float(score),
            )
            for rank, (name, score) in enumerate(zip(items[own][order], scores[own][order], strict=True), 1)
        )  # fmt: skip
        step = Step(step_id="lexical-0", name="lexical", kind="lexical", parents=(), items_out=listed)
        made.append(
            TraceContent(query_id=queries[own][0].decode(), repeat=0, as_of="2026-08-01T00:00:00Z", steps=(step,))
        )
    return made


def main(words: list[str]) -> int:
    """Run what is named."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("parts", nargs="*", choices=["theirs", "steps", "inside", []], default=[])
    asked.add_argument("--questions", type=int, default=7_000)
    asked.add_argument("--depth", type=int, default=100)
    asked.add_argument("--flips", type=int, default=10_000)
    given = asked.parse_args(words)
    amount = given.questions, given.depth, given.flips
    for part in given.parts or ["theirs", "steps"]:
        if part == "steps":
            steps(*amount)
        elif part == "inside":
            theirs(*amount)
        elif subprocess.run([THEIRS, "-c", "import ranx, ragassay"], capture_output=True, check=False).returncode:
            print("  ranx: not installed, skipped")
        else:
            counts = [f"--questions={amount[0]}", f"--depth={amount[1]}", f"--flips={amount[2]}"]
            subprocess.run([THEIRS, "-m", "bench.compare", "inside", *counts], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
