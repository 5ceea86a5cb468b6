"""Verify and audit of a run against `sha256sum` over the same bytes plus one re-score; memory at a tenth and the whole.

    python -m bench.audit [--sizes 700 7000] [--sources places trec] [--rounds 1] [--out DIR] [--page PAGE]

The questions are the demo's, asked again under new ids; each is answered with 100 passages of the demo's documents: by
a program that names places (`places`; its raw responses are kept, and the audit makes every trace again from them) or
from a TREC run file (`trec`; there are no raw responses). Each command is a process of its own. The ratio is the time
of `ragassay verify` and `ragassay audit` together, by that of `sha256sum` over every file of the store and `ragassay
score` together, once by the clock and once in processor time (user and system), at the largest size. Flat is a memory
that grows by at most a fifth while the questions become ten times as many: of each question its id, class, slices, the
place of its rows in a temporary file, and one number of the measure that is summed up stay in memory, of its texts,
items and rows nothing. Exit 1 where a ratio is above 3 or a memory is not flat.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.page import put_out
from bench.scale import SETTINGS, make_project, measured, size_of

ITEMS = 100
MOST_RATIO = 3.0
MOST_GROWTH = 1.2
SYSTEMS = {
    "places": f'kind = "command"\ncommand = [{json.dumps(sys.executable)}, "system.py"]',
    "trec": 'kind = "trec"\nfile = "run.txt"',
}
PROGRAM = """
import json, sys
found = json.load(open("found.json"))
for line in sys.stdin:
    asked = json.loads(line)
    places = found[asked["query_id"].rpartition("-")[0]]
    contexts = [{"document_id": one[0], "start": one[1], "end": one[2], "score": 1 / rank}
                for rank, one in enumerate(places, 1)]
    print(json.dumps({"query_id": asked["query_id"], "answer": "As found.", "contexts": contexts}), flush=True)
"""
HEAD = ("source", "questions", "store MB", "command", "wall s", "cpu s", "peak MB")
KEYS = ("wall_s", "cpu_s", "peak_mb")
COMMANDS: dict[str, tuple[str, ...]] = {
    "sha256sum": (), "score": ("score", "latest"), "verify": ("verify",), "audit": ("audit",),
}  # fmt: skip
Place = tuple[str, str, int, int]
"""Passage, document, and where in it."""
Figures = dict[str, dict[str, Any]]


def write_project(folder: Path, questions: int, source: str) -> None:
    """Settings, questions, and a system that finds 100 passages for each."""
    from ragassay import demo

    make_project(folder, questions, "asked", None)
    told = {"documents": str(demo.DOCUMENTS), "as_of": str(demo.AS_OF)}
    text = SETTINGS.format(system=SYSTEMS[source], **{key: json.dumps(value) for key, value in told.items()})
    (folder / "ragassay.toml").write_text(f"{text}top_k = {ITEMS}\n", "utf-8")
    names = [json.loads(one).get("query_id") for one in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
    passages = cut()
    found = {name: chosen(name.rpartition("-")[0], passages) for name in names if name}
    if source == "places":
        (folder / "system.py").write_text(PROGRAM)
        places = {name.rpartition("-")[0]: [one[1:] for one in own] for name, own in found.items()}
        (folder / "found.json").write_text(json.dumps(places))
        return
    with (folder / "run.txt").open("w", encoding="utf-8") as file:
        for name, own in found.items():
            for rank, one in enumerate(own, 1):
                file.write(f"{name} Q0 {one[0]} {rank} {1 / rank:.6f} made\n")


def cut() -> list[Place]:
    """Every passage of the demo's documents: its id and its place."""
    from ragassay import corpus, demo

    made = corpus.chunk(corpus.read(demo.DOCUMENTS), chunker="markdown", size=120, overlap=0)
    return [(one.passage_id, span.document_id, span.start, span.end) for one in made for span in one.sources[:1]]


def chosen(name: str, passages: list[Place]) -> list[Place]:
    """A hundred passages that look drawn, the same ones for one question wherever it is asked."""
    drawn = random.Random(name)
    return drawn.sample(passages, ITEMS)


def sha256sum(folder: Path) -> dict[str, Any]:
    """Figures of `sha256sum` over every file of the store."""
    files = [str(one) for one in (folder / ".ragassay").rglob("*") if one.is_file()]
    listed = b"\0".join(one.encode() for one in files)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(["xargs", "-0", "sha256sum"], input=listed, stdout=subprocess.DEVNULL, check=True)
    used, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": wall, "cpu_s": cpu, "peak_mb": 0.0}


def figures(folder: Path, rounds: int) -> Figures:
    """Command -> its figures on one project, the least of the rounds each; the commands take turns."""
    best: Figures = {}
    for _ in range(rounds):
        for name, words in COMMANDS.items():
            own = measured(folder, (*words, "--config", str(folder / "ragassay.toml"))) if words else sha256sum(folder)
            known = best.setdefault(name, own)
            best[name] = {key: min(known[key], own[key]) for key in KEYS}
    return best


def ratios(own: Figures) -> dict[str, float]:
    """Time of verify and audit by that of the others together: by the clock and of the processor."""
    return {
        key: (own["verify"][key] + own["audit"][key]) / (own["sha256sum"][key] + own["score"][key]) for key in KEYS[:2]
    }


def main() -> int:
    """The table, and whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[700, 7000])
    parser.add_argument("--sources", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--out", type=Path, help="a folder that is kept; a run that it holds is not made again")
    parser.add_argument("--page", type=Path, help="also write the table below the mark of this page")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = given.out or Path(scratch)
        for source, size in ((one, size) for one in given.sources for size in given.sizes):
            if not (folder := root / f"{source}-{size}").exists():
                write_project(folder, size, source)
                for words in (("run",), COMMANDS["score"]):
                    measured(folder, (*words, "--config", str(folder / "ragassay.toml")))
        found = {(source, size): figures(root / f"{source}-{size}", given.rounds)
                 for source in given.sources for size in given.sizes}  # fmt: skip
        bytes_ = {key: size_of(root / f"{key[0]}-{key[1]}" / ".ragassay") for key in found}
    lines, good = told(found, bytes_)
    put_out(lines, given.page)
    return 0 if good else 1


def told(found: dict[tuple[str, int], Figures], sizes: dict[tuple[str, int], float]) -> tuple[list[str], bool]:
    """The table with a sentence a source, and whether all of it is within the limits."""
    rows = [[source, f"{size:,}", f"{sizes[source, size]:.1f}", name, f"{own['wall_s']:.2f}", f"{own['cpu_s']:.2f}",
             f"{own['peak_mb']:.0f}" if own["peak_mb"] else ""]
            for (source, size), each in found.items() for name, own in each.items()]  # fmt: skip
    lines = ["| " + " | ".join(one) + " |" for one in (HEAD, ["---", "---:", "---:", "---"] + ["---:"] * 3, *rows)]
    good = True
    for source in dict.fromkeys(source for source, _ in found):
        small, large = (choose(size for one, size in found if one == source) for choose in (min, max))
        ratio = ratios(found[source, large])
        growth = {name: found[source, large][name]["peak_mb"] / found[source, small][name]["peak_mb"]
                  for name in ("verify", "audit")}  # fmt: skip
        more = found[source, large]["audit"]["peak_mb"] - found[source, small]["audit"]["peak_mb"]
        further = 1024 * more / max(large - small, 1)
        good = good and max(ratio.values()) <= MOST_RATIO and max(growth.values()) <= MOST_GROWTH
        lines += ["", f"{source}: verify and audit of {large:,} questions take {ratio['wall_s']:.2f} times (clock) and "
                  f"{ratio['cpu_s']:.2f} times (processor) what `sha256sum` and one re-score take; memory from "
                  f"{small:,} to {large:,} questions: verify {growth['verify']:.2f} times, audit "
                  f"{growth['audit']:.2f} times ({further:.1f} KB a further question)."]  # fmt: skip
    return lines, good


if __name__ == "__main__":
    sys.exit(main())
