"""A grid of 24 settings on 600 questions against 24 separate runs; killed and resumed; settings alone, byte for byte.

    python -m bench.experiment [--questions 600] [--alone 24] [--one-store] [--out FOLDER]

CLAPnq and MuSiQue as one benchmark for development, hybrid retrieval and late interaction. The grid is killed (SIGKILL)
when about a third of it is done, and begun again. Separate runs are `ragassay run` and `ragassay score` with the same
settings and measures, each in a store of its own, as somebody would do it without the grid; with `--one-store` then the
same in one store, in which vectors are kept. `--alone` of them, drawn with a fixed seed, are measured, and the total is
their mean times 24. Times are of the wall clock and of the processor (all threads of the processes): the second is the
one to trust on a machine that others use. EXPERIMENT_DATA names the folder of the data sets.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ragassay.records.experiment import Experiment
from ragassay.records.protocol import Run
from ragassay.store import Store
from ragassay.trials.grid import applied, read_experiment

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("EXPERIMENT_DATA", ROOT.parent / "shared" / "data"))
SEED = 3
"""Of the sample of settings that are asked alone: four of them are each size with each number of candidates once."""
BASE = """[store]
path = "grid-store"
[corpus]
documents = "documents.jsonl"
name = "dev"
[segmentation]
chunker = "tokens"
size = 80
overlap = 20
[benchmark]
cases = "cases.jsonl"
name = "clapnq-musique-dev"
completeness = "partial"
[run]
as_of = "2026-06-01"
[system]
kind = "pipeline"
[[system.retrievers]]
kind = "lexical"
candidates = 20
[[system.retrievers]]
kind = "vector"
embedder = "wordllama"
candidates = 20
[system.fusion]
top_n = 20
[system.rerank]
kind = "maxsim"
embedder = "minilm"
"""
GRID = """[experiment]
name = "grid"
choose = "ndcg@5"
class = "multi_hop"
[experiment.grid]
"segmentation.size" = [80, 160]
"system.fusion.k" = [10, 60]
"system.rerank.candidates" = [8, 16]
"system.context.tokens" = [300, 600, 1200]
"""
SCORED = """[scoring]
measures = ["ndcg@5", "recall(rel=2)@20", "context_tokens", "latency", "cache_hits", "error_rate"]
"""


class Took(NamedTuple):
    """Seconds."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:,.0f} s ({self.processor:,.0f} s of processor)"


def data(folder: Path, questions: int) -> int:
    """Documents of both sets and every n-th question of each, as one benchmark."""
    documents: list[str] = []
    cases: list[str] = []
    for name, share in (("clapnq", 2 / 3), ("musique", 1 / 3)):
        script, out = ROOT / "examples" / f"{name}.py", folder / name
        subprocess.run([sys.executable, str(script), str(DATA / name), str(out)], check=True, capture_output=True)
        documents += (out / "documents.jsonl").read_text("utf-8").splitlines()
        lines = (out / "cases.jsonl").read_text("utf-8").splitlines()
        most = min(len(lines), round(questions * share))
        cases += [lines[number * len(lines) // most] for number in range(most)]
    (folder / "documents.jsonl").write_text("".join(one + "\n" for one in dict.fromkeys(documents)), "utf-8")
    (folder / "cases.jsonl").write_text("".join(one + "\n" for one in cases), "utf-8")
    (folder / "ragassay.toml").write_text(BASE, "utf-8")
    (folder / "grid.toml").write_text(GRID, "utf-8")
    return len(cases)


def command(folder: Path, *words: str, kill_after: int = 0) -> Took:
    """One `ragassay` in a process of its own; with `kill_after`, killed after so many finished settings."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    line = [sys.executable, "-m", "ragassay", *words]
    with subprocess.Popen(line, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said, finished, asked = "", 0, 0
        for text in process.stderr:
            said = said[-2000:] + text
            finished += text.startswith("setting ")
            asked += finished >= kill_after
            if kill_after and asked > 1:  # in the midst of the next setting
                process.send_signal(signal.SIGKILL)
                break
        code = process.wait()
    if code not in (0, -signal.SIGKILL if kill_after else 0):
        raise SystemExit(f"ragassay {' '.join(words)}: exit code {code}\n{said}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(time.perf_counter() - began, processor)


def toml(value: Any, name: str = "") -> str:
    """A mapping as TOML: enough for settings."""
    plain = {key: one for key, one in value.items() if not isinstance(one, dict) and not _is_tables(one)}
    made = f"[{name}]\n" if name else ""
    made += "".join(f"{key} = {json.dumps(one)}\n" for key, one in plain.items())
    for key, one in value.items():
        inner = f"{name}.{key}" if name else key
        if isinstance(one, dict):
            made += toml(one, inner)
        elif _is_tables(one):
            made += "".join(
                f"[[{inner}]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in row.items()) for row in one
            )
    return made


def _is_tables(one: Any) -> bool:
    return isinstance(one, list) and bool(one) and isinstance(one[0], dict)


def alone(folder: Path, number: int, store: str) -> tuple[Took, Run]:
    """One setting by `ragassay run` and `ragassay score`, without the grid."""
    import tomllib

    declared = read_experiment(folder / "grid.toml")
    settings = applied(tomllib.loads((folder / "ragassay.toml").read_text("utf-8")), declared.settings[number])
    settings["store"] = {"path": store}
    settings["run"]["name"] = f"alone-{number}"
    name = f"alone-{number}.toml"
    (folder / name).write_text(toml(settings) + SCORED, "utf-8")
    ran = command(folder, "run", "--config", name)
    scored = command(folder, "score", f"alone-{number}", "--config", name)
    kept = Store.open(folder / store)
    run = kept.get_record(Run, kept.ref(f"run/alone-{number}"))
    return Took(ran.wall + scored.wall, ran.processor + scored.processor), run


def main() -> int:
    """Everything, printed as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--alone", type=int, default=24)
    parser.add_argument("--one-store", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "experiment")
    given = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data sets in {DATA}: EXPERIMENT_DATA names their folder", file=sys.stderr)
        return 1
    folder: Path = given.out
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    count = data(folder, given.questions)
    declared = read_experiment(folder / "grid.toml")
    total = len(declared.settings)
    print(f"{total} settings on {count} questions", flush=True)

    first = command(folder, "experiment", "grid.toml", kill_after=total // 3)
    print(f"grid, killed (SIGKILL) after {total // 3} settings and a part of the next: {first}", flush=True)
    rest = command(folder, "experiment", "grid.toml", "--out", "tables")
    grid = Took(first.wall + rest.wall, first.processor + rest.processor)
    print(f"the same command again: {rest}\ngrid, both together: {grid}", flush=True)
    again = command(folder, "experiment", "grid.toml")
    print(f"the same command when all is finished: {again}", flush=True)

    store = Store.open(folder / "grid-store")
    record = store.get_record(Experiment, store.ref("experiment/grid"))
    places = sorted(Random(SEED).sample(range(total), min(total, given.alone)))
    bad = 0
    ways = [("each in a store of its own", "alone-store-{}"), ("in one store", "alone-store")]
    for what, stores in ways[: 1 + given.one_store]:
        took = []
        for place in places:
            one, run = alone(folder, place, stores.format(place))
            took.append(one)
            same = store.get_record(Run, record.tried[place].run).content == run.content
            bad += not same
            print(
                f"  setting {place + 1} alone, {what}: {one}; contents of its traces "
                + ("equal to those in the grid" if same else "DIFFER from those in the grid"),
                flush=True,
            )
            if "{}" in stores:
                shutil.rmtree(folder / stores.format(place))
        scale = total / len(took)
        whole = Took(sum(one.wall for one in took) * scale, sum(one.processor for one in took) * scale)
        how = "" if len(took) == total else f" ({len(took)} of them measured, times {scale:g})"
        print(f"{total} separate runs, {what}{how}: {whole}")
        print(
            f"grid / separate runs, {what}: {grid.wall / whole.wall:.3f} of the time, "
            f"{grid.processor / whole.processor:.3f} of the processor's",
            flush=True,
        )
    print("\n" + re.sub(r"^# .*\n", "", (folder / "tables" / "grid.md").read_text("utf-8")))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
