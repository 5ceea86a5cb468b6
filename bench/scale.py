"""Time and memory of run, score and report at 100, 1,000 and 10,000 questions: does the work grow with the questions?

    python -m bench.scale [--sizes 100 1000 10000] [--sources asked trec traces] [--out DIR] [--page docs/scale.md]

The questions are the demo's, asked again under new ids, over the demo's documents. Their answers come from the
reference pipeline (`asked`), from a TREC run file of what it found (`trec`), and from its stored traces (`traces`): all
three go through run, score and report. Each command is a process of its own. Seconds are of processor time (user and
system), which other work on the machine disturbs less than the clock does. *Each further question* is the difference to
the size before, divided by the questions between; the growth is its ratio to the same figure one size earlier: 1.00 is
linear.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.page import put_out

SETTINGS = """
[corpus]
documents = {documents}
[segmentation]
chunker = "markdown"
size = 120
overlap = 0
[benchmark]
cases = "cases.jsonl"
completeness = "partial"
[system]
{system}
[run]
as_of = {as_of}
"""
COMMANDS = (("run",), ("score",), ("report", "--out", "report"))
SOURCES = {
    "asked": 'kind = "reference"',
    "trec": 'kind = "trec"\nfile = "run.txt"',
    "traces": 'kind = "traces"\nfile = "traces.jsonl"',
}
HEAD = ("source", "command", "questions", "cpu s", "wall s", "peak MB", "ms a further question", "growth")


def make_project(folder: Path, questions: int, source: str, asked: Path | None) -> None:
    """A settings file, as many questions as wanted, and what an earlier run (`asked`) found for them."""
    from ragassay import demo

    folder.mkdir(parents=True)
    cases = [json.loads(line) for line in demo.CASES.read_text("utf-8").splitlines()]
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as file:
        head = [one for one in cases if "query_id" not in one]
        cases = [one for one in cases if "query_id" in one and not one.get("conversation")]
        for one in head:
            file.write(json.dumps(one) + "\n")
        for number in range(questions):
            round_, place = divmod(number, len(cases))
            case = {**cases[place], "query_id": f"{cases[place]['query_id']}-{round_}"}
            for key in ("cluster", "paraphrase_of"):
                if case.get(key):
                    case[key] = f"{case[key]}-{round_}"
            file.write(json.dumps(case) + "\n")
    told = {"documents": str(demo.DOCUMENTS), "as_of": str(demo.AS_OF)}
    text = SETTINGS.format(system=SOURCES[source], **{key: json.dumps(value) for key, value in told.items()})
    (folder / "ragassay.toml").write_text(text, "utf-8")
    if asked is not None:
        write_traces(asked, folder)


def write_traces(asked: Path, folder: Path) -> None:
    """The traces of a project's only run as JSON lines, and their contexts as a TREC run file."""
    from ragassay.records.canonical import canonical_bytes
    from ragassay.records.protocol import Run
    from ragassay.records.trace import Measurements, Trace, TraceContent
    from ragassay.store import Store

    store = Store.open(asked / ".ragassay")
    run = store.get_record(Run, store.resolve("latest", kind_prefix="run"))
    contents, measured = store.get_lines(TraceContent, run.contents), store.get_lines(Measurements, run.measurements)
    with (folder / "traces.jsonl").open("wb") as traces, (folder / "run.txt").open("w", encoding="utf-8") as ranks:
        for content, own in zip(contents, measured, strict=True):
            traces.write(canonical_bytes(Trace(content=content, measurements=own)) + b"\n")
            for rank, item in enumerate(content.context or (), 1):
                ranks.write(f"{content.query_id} Q0 {item.passage_id} {rank} {1 / rank:.6f} reference\n")


def one_command(arguments: list[str]) -> None:
    """Run one command in this process; its figures as JSON on the last line."""
    import resource

    from ragassay.cli import exit_code_of

    start = time.perf_counter()
    code = exit_code_of(arguments)
    used = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "code": code,
        "cpu_s": used.ru_utime + used.ru_stime,
        "wall_s": time.perf_counter() - start,
        "peak_mb": used.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024),
    }
    print("\n" + json.dumps(figures))


def measured(folder: Path, command: tuple[str, ...]) -> dict[str, Any]:
    """The figures of one command on one project."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.scale", "--one", *command],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} on {folder}: {done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def size_of(path: Path) -> float:
    """Megabytes of a file or of all files below a folder."""
    files = [path] if path.is_file() else path.rglob("*")
    return sum(one.stat().st_size for one in files if one.is_file()) / 1e6


Figures = dict[tuple[str, str, int], dict[str, Any]]
"""(source, command, questions) -> what was measured."""


def measure(root: Path, sizes: list[int], sources: list[str]) -> Figures:
    """All figures; those that `root` already holds are not measured again."""
    kept = root / "figures.jsonl"
    known = {}
    for line in kept.read_text("utf-8").splitlines() if kept.exists() else ():
        source, command, questions, found = json.loads(line)
        known[source, command, questions] = found
    root.mkdir(parents=True, exist_ok=True)
    for questions in sizes:
        asked = root / f"asked-{questions}"
        for source in ("asked", *(one for one in sources if one != "asked")):
            folder = root / f"{source}-{questions}"
            if not folder.exists():
                make_project(folder, questions, source, None if source == "asked" else asked)
            for name, *rest in COMMANDS if source in sources else COMMANDS[:1]:
                if (source, name, questions) not in known:
                    rest = [str(folder / one) if one == "report" else one for one in rest]
                    found = measured(folder, (name, *rest, "--config", str(folder / "ragassay.toml")))
                    known[source, name, questions] = found
                    with kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([source, name, questions, found]) + "\n")
                print(source, name, questions, known[source, name, questions], flush=True)
            store, report = size_of(folder / ".ragassay"), size_of(folder / "report")
            print(f"  store {store:.1f} MB, report {report:.1f} MB", flush=True)
    return known


def table(found: Figures) -> tuple[list[list[str]], float]:
    """The rows of the table, and the greatest growth."""
    rows, worst = [], 0.0
    for source in SOURCES:
        for name, *_ in COMMANDS:
            before, slope = None, 0.0
            for questions in sorted(number for one, two, number in found if (one, two) == (source, name)):
                own = found[source, name, questions]
                cells = [f"{questions:,}", f"{own['cpu_s']:.1f}", f"{own['wall_s']:.1f}", f"{own['peak_mb']:.0f}"]
                further = growth = ""
                if before is not None:
                    each = (own["cpu_s"] - before[1]) / (questions - before[0])
                    further = f"{each * 1000:.2f}"
                    if slope:
                        growth = f"{each / slope:.2f}"
                        worst = max(worst, each / slope)
                    slope = each
                before = (questions, own["cpu_s"])
                rows.append([source, name, *cells, further, growth])
    return rows, worst


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--sources", nargs="+", default=list(SOURCES), choices=list(SOURCES))
    parser.add_argument(
        "--out", type=Path, help="a folder that is kept, with its figures; what it already holds is not measured again"
    )
    parser.add_argument("--page", type=Path, help="also write the table below the mark of this page")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows, worst = table(measure(given.out or Path(scratch), given.sizes, given.sources))
    told = f"greatest growth {worst:.2f} (linear within 20 %: at most 1.20)"
    lines = [HEAD, ["---"] * 2 + ["---:"] * 6, *rows]
    put_out(["| " + " | ".join(one) + " |" for one in lines] + ["", told], given.page)
    return 0 if worst <= 1.2 else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one_command(sys.argv[2:])
    else:
        sys.exit(main())
