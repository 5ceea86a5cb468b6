"""How much faster the measures are than the tools of the field: ratios only, each tool run by turns with ours.

    python -m bench.measures [regular] [awkward] [long] [arrays] [flips] [rouge]    (all but `long` without names)

A tool that is not installed is skipped, and said so. trec_eval is looked for on PATH and in $TREC_EVAL. Set
BENCH_FOLDER to keep the generated files, BENCH_ROUNDS (3) and BENCH_QUESTIONS (6980) to change the amount, and
BENCH_PYTHON to the interpreter that has the other tools, if they are not in this one.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench import data

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
QUESTIONS = int(os.environ.get("BENCH_QUESTIONS", str(data.QUESTIONS)))
THEIRS = os.environ.get("BENCH_PYTHON", sys.executable)
OURS = """
import sys
from ragassay.measures import evaluate
names = "ndcg(mode=trec)@10 recall(mode=trec)@100 ap(mode=trec) rr(mode=trec) precision(mode=trec)@10 hit(mode=trec)@10"
result = evaluate(sys.argv[1], sys.argv[2], names.split())
print(*(f"{one.value:.10f}" for one in result.summaries()))
"""
PYTREC = """
import sys, pytrec_eval
qrels = pytrec_eval.parse_qrel(open(sys.argv[1]))
run = pytrec_eval.parse_run(open(sys.argv[2]))
names = ["ndcg_cut_10", "recall_100", "map", "recip_rank", "P_10", "success_10"]
asked = {"ndcg_cut.10", "recall.100", "map", "recip_rank", "P.10", "success.10"}
found = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
print(*(f"{sum(one[name] for one in found.values()) / len(found):.10f}" for name in names))
"""
RANX = """
import sys, ranx
names = ["ndcg@10", "recall@100", "map", "mrr", "precision@10", "hit_rate@10"]
qrels = ranx.Qrels.from_file(sys.argv[1], kind="trec")
run = ranx.Run.from_file(sys.argv[2], kind="trec")
found = ranx.evaluate(qrels, run, names, make_comparable=True)
print(*(f"{found[name]:.10f}" for name in names))
"""
IR_MEASURES = """
import sys, ir_measures
from ir_measures import AP, RR, R, P, nDCG, Success
qrels, run = ir_measures.read_trec_qrels(sys.argv[1]), ir_measures.read_trec_run(sys.argv[2])
names = [nDCG @ 10, R @ 100, AP, RR, P @ 10, Success @ 10]
found = ir_measures.calc_aggregate(names, qrels, run)
print(*(f"{found[name]:.10f}" for name in names))
"""


class Took(NamedTuple):
    """One process from its start to its end."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    said: str


def run(command: list[str], environment: dict[str, str] | None = None) -> Took:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as out:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - begin
        out.seek(0)
        said = out.read().decode()
    if process.returncode:
        raise RuntimeError(f"{command[:2]} ended with {process.returncode}")
    return Took(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, said.strip())


def compiled(arguments: list[str]) -> dict[str, str]:
    """The environment in which ours runs: with its byte code, which installing a package leaves, as for the others.

    A checkout has none until a first run writes it, and never where PYTHONDONTWRITEBYTECODE is set.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    kept["PYTHONPYCACHEPREFIX"] = str(Path(os.environ["BENCH_FOLDER"]) / "bytecode")
    run([sys.executable, "-c", OURS, *arguments], kept)
    return kept


def files(name: str, run_file: Path, qrels: Path) -> None:
    """File to numbers, interpreter start included."""
    arguments = [str(qrels), str(run_file)]
    environment = compiled(arguments)
    tools = {"ragassay": [sys.executable, "-c", OURS, *arguments]}
    if has("pytrec_eval"):
        tools["pytrec_eval"] = [THEIRS, "-c", PYTREC, *arguments]
    binary = os.environ.get("TREC_EVAL") or shutil.which("trec_eval")
    if binary:
        names = ["ndcg_cut.10", "recall.100", "map", "recip_rank", "P.10", "success.10"]
        options = [part for name in names for part in ("-m", name)]
        tools["trec_eval"] = [binary, *options, *arguments]
    else:
        print("  trec_eval: no binary, skipped")
    if name == "regular" and has("ranx"):
        run([THEIRS, "-c", RANX, *arguments])  # compiles and fills its cache
        tools["ranx, warm"] = [THEIRS, "-c", RANX, *arguments]
    took: dict[str, list[Took]] = {tool: [] for tool in tools}
    for _ in range(ROUNDS):
        for tool, command in tools.items():
            took[tool].append(run(command, environment if tool == "ragassay" else None))
    if name == "regular" and has("ir_measures"):
        took["ir_measures, once"] = [run([THEIRS, "-c", IR_MEASURES, *arguments])]
    report(name, took)


def report(name: str, took: dict[str, list[Took]]) -> None:
    """Medians of the others over ours."""
    ours = took["ragassay"]
    for tool, rounds in took.items():
        if tool == "ragassay":
            continue
        wall, cpu, peak = (
            statistics.median(one[at] for one in rounds) / statistics.median(one[at] for one in ours) for at in range(3)
        )
        note = ""
        if tool == "pytrec_eval":
            note = "  equal numbers" if rounds[0].said == ours[0].said else "  NUMBERS DIFFER"
        print(
            f"  {name}: {tool:<18} {wall:6.1f}x wall  {cpu:6.1f}x processor  {peak:5.1f}x peak memory{note}", flush=True
        )


def has(module: str) -> bool:
    """Whether the other interpreter has a module."""
    done = subprocess.run([THEIRS, "-c", f"import {module}"], capture_output=True, check=False)
    if done.returncode:
        print(f"  {module}: not installed, skipped")
    return done.returncode == 0


def long(folder: Path) -> None:
    """Ten times the questions: how much longer, and how much more memory."""
    took: dict[int, Took] = {}
    environment: dict[str, str] = {}
    for questions in (QUESTIONS, 10 * QUESTIONS):
        run_file, qrels = data.regular(folder, questions)
        arguments = [str(qrels), str(run_file)]
        environment = environment or compiled(arguments)
        took[questions] = run([sys.executable, "-c", OURS, *arguments], environment)
    small, big = took.values()
    print(f"  long: 10x the questions take {big.wall_s / small.wall_s:.1f}x the time, "
          f"{big.cpu_s / small.cpu_s:.1f}x the processor, {big.peak_mb / small.peak_mb:.2f}x the memory")  # fmt: skip


def alternating(name: str, ours: Callable[[], object], theirs: dict[str, Callable[[], object]], times: int = 1) -> None:
    """Medians of calls in one process, by turns; `times`: how often theirs must run to do the same work."""
    took: dict[str, list[float]] = {"ours": [], **{tool: [] for tool in theirs}}
    for call in (ours, *theirs.values()):
        call()
    for _ in range(ROUNDS):
        for tool, call in {"ours": ours, **theirs}.items():
            begin = time.perf_counter()
            call()
            took[tool].append(time.perf_counter() - begin)
    base = statistics.median(took.pop("ours"))
    for tool, seconds in took.items():
        print(f"  {name}: {tool:<28} {times * statistics.median(seconds) / base:6.1f}x", flush=True)


def in_process(name: str) -> None:
    """Run one of the comparisons that need the other tool in our process, with the interpreter that has both."""
    done = subprocess.run([THEIRS, "-m", "bench.inside", name], check=False, cwd=Path(__file__).parent.parent)
    if done.returncode:
        print(f"  {name}: could not be run")


def main(names: list[str]) -> None:
    """Run the comparisons that are named."""
    wanted = names or ["regular", "awkward", "arrays", "flips", "rouge"]
    kept = os.environ.get("BENCH_FOLDER")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(kept or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["BENCH_FOLDER"] = str(folder)
        for name in wanted:
            if name in {"regular", "awkward"}:
                make = data.regular if name == "regular" else data.awkward
                files(name, *make(folder, QUESTIONS))
            elif name == "long":
                long(folder)
            else:
                in_process(name)


if __name__ == "__main__":
    main(sys.argv[1:])
