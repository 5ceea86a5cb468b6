"""Time and memory of run, score and report at 100, 1,000 and 10,000 questions: does the work grow with the questions?

    python -m bench.scale [--sizes 100 1000 10000] [--out DIR]

The questions are the demo's, asked again under new ids, of the reference pipeline, over the demo's documents. Each
command is a process of its own. Seconds are of processor time (user and system), which other work on the machine
disturbs less than the clock does. *Each further question* is the difference to the size before, divided by the
questions between; the growth is its ratio to the same figure one size earlier: 1.00 is linear.
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
kind = "reference"
[run]
as_of = {as_of}
"""
COMMANDS = (("run",), ("score",), ("report", "--out", "report"))


def make_project(folder: Path, questions: int) -> None:
    """A settings file, and as many questions as wanted."""
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
    text = SETTINGS.format(documents=json.dumps(str(demo.DOCUMENTS)), as_of=json.dumps(str(demo.AS_OF)))
    (folder / "ragassay.toml").write_text(text, "utf-8")


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


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--out", type=Path, help="a new folder that is kept (default: a temporary one)")
    parser.add_argument("--commands", nargs="+", default=[one for one, *_ in COMMANDS])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = given.out or Path(scratch)
        print(
            f"{'command':8} {'questions':>9} {'cpu s':>8} {'wall s':>8} {'peak MB':>8} {'ms/further':>10} {'growth':>7}"
        )
        before: dict[str, tuple[int, float]] = {}
        slope: dict[str, float] = {}
        worst = 0.0
        for questions in given.sizes:
            folder = root / str(questions)
            make_project(folder, questions)
            for name, *rest in (one for one in COMMANDS if one[0] in given.commands):
                rest = [str(folder / one) if one == "report" else one for one in rest]
                found = measured(folder, (name, *rest, "--config", str(folder / "ragassay.toml")))
                line = f"{name:8} {questions:9,} {found['cpu_s']:8.1f} {found['wall_s']:8.1f} {found['peak_mb']:8.0f}"
                if name in before:
                    last, then = before[name]
                    own = (found["cpu_s"] - then) / (questions - last)
                    line += f" {own * 1000:10.2f}"
                    if slope.get(name):
                        worst = max(worst, own / slope[name])
                        line += f" {own / slope[name]:7.2f}"
                    slope[name] = own
                before[name] = (questions, found["cpu_s"])
                print(line, flush=True)
            print(f"         store {size_of(folder / '.ragassay'):.1f} MB, report {size_of(folder / 'report'):.1f} MB")
    print(f"greatest growth {worst:.2f} (linear within 20 %: at most 1.20)")
    return 0 if worst <= 1.2 else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one_command(sys.argv[2:])
    else:
        sys.exit(main())
