"""One exported file, audited without a network and without its store, by several Pythons and numpys.

    python -m bench.rebuilt [--make PYTHON:NUMPY ...] [--questions 300] [--out FOLDER]

A project of the demo's documents and questions is signed, run by the reference pipeline and by a worse one, scored,
compared, decided and exported. `--make /path/to/python3.13:2.4.6` builds an environment with that numpy (and the same
other packages) in FOLDER; without it the only one is this Python. In each, and in a network namespace of its own
(`unshare -n`, needs root) with the project deleted, the file is imported, verified against the trust policy, audited:
score tables, comparison and decision are made again. The table says whether verdicts are equal, and the greatest
difference of a number from what was stored.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.page import put_out

ROOT = Path(__file__).parent.parent
HEAD = ("Python", "numpy", "scipy", "network", "verify", "audit", "verdict", "numbers", "greatest difference")
POLICY = """
[scoring]
measures = ["recall(rel=2)@5", "ndcg@10", "fact_coverage", "token_f1", "exact_match"]
[policy]
name = "release"
[[policy.rules]]
measure = "recall(rel=2)@5"
step = "context"
class = "answerable"
at_least = 0.2
"""


def make_export(folder: Path, questions: int) -> Path:
    """A signed project with two runs, a comparison and a decision; its file and trust policy in `folder/handed`."""
    from bench.scale import make_project

    project, handed = folder / "project", folder / "handed"
    make_project(project, questions, "asked", None)
    settings = (project / "ragassay.toml").read_text()
    (project / "ragassay.toml").write_text(settings + POLICY)
    (project / "worse.toml").write_text(settings + "top_k = 3\n" + POLICY)
    handed.mkdir()
    run = [sys.executable, "-m", "ragassay"]
    here = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    for words in (
        ["keys", "new", "release.key"],
        ["keys", "trust", "release.key.pub"],
        ["seal", "--sign", "release.key", "--name", "worse", "--config", "worse.toml"],
        ["run", "--name", "worse", "--config", "worse.toml"],
        ["score", "worse"],
        ["seal", "--sign", "release.key", "--name", "good"],
        ["run", "--name", "good"],
        ["score", "good"],
        ["compare", "worse", "good", "--variation", "top_k"],
        ["gate", "good", "--as-of", "2026-08-02"],
        ["sign", "decision/latest", "--key", "release.key"],
        ["sign", "scores/good", "--key", "release.key"],
        ["export", str(handed / "evidence.zip"), "--scores", "good"],
    ):
        done = subprocess.run([*run, *words], cwd=project, env=here, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1, 3):
            raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    for name in ("trust.toml", "release.key.pub"):
        shutil.copy(project / name, handed / name)
    shutil.rmtree(project)
    shutil.rmtree(folder / "state")
    return handed


def environment(python: str, numpy: str, folder: Path) -> Path:
    """A Python with this numpy and the packages of locks/core.lock, made once."""
    made = folder / f"python{python.replace(chr(47), chr(45))}-numpy-{numpy}"
    if not (made / "ready").exists():
        subprocess.run([python, "-m", "venv", "--clear", str(made)], check=True)
        names = [line.split()[0] for line in (ROOT / "locks/core.lock").read_text().splitlines() if "==" in line]
        wanted = [f"numpy=={numpy}" if one.startswith("numpy==") else one for one in names]
        pip = [str(made / "bin/python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *wanted], check=True)
        (made / "ready").touch()
    return made / "bin/python"


def rebuild(handed: Path, store: Path) -> dict[str, Any]:
    """In this process: import, verify, audit, and every number beside what is made of it here."""
    import importlib.metadata
    import platform
    import socket

    from ragassay.audit.archive import unpack
    from ragassay.audit.remake import audit
    from ragassay.records.decision import Decision
    from ragassay.seal.evidence import made_of, verify_evidence
    from ragassay.seal.trust import read_trust
    from ragassay.store import Store

    try:
        socket.create_connection(("192.0.2.1", 80), timeout=2)
        network = "reached"
    except OSError as cause:
        network = f"none ({cause.strerror})"
    manifest = unpack(handed / "evidence.zip", store)
    opened = Store.open(store)
    about = made_of(opened, manifest.run)
    signed = verify_evidence(opened, about, read_trust(handed / "trust.toml")).signed
    checks = list(audit(opened, manifest.run))
    numbers, greatest = differences(opened, manifest.run)
    return {
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "scipy": importlib.metadata.version("scipy"),
        "network": network,
        "verify": f"{len(signed)} signature{'s' * (len(signed) != 1)}",
        "audit": ", ".join(f"{one.kind} {one.result}" for one in checks if one.result != "equal") or "equal",
        "verdict": "none" if about.decision is None else opened.get_record(Decision, about.decision).outcome,
        "numbers": numbers,
        "difference": greatest,
    }


def differences(store: Any, run: str) -> tuple[int, float]:
    """How many numbers the run's tables and comparisons hold, and the greatest difference to those made here."""
    import msgspec

    from ragassay.audit.remake import LINES, named
    from ragassay.compare.pair import pair
    from ragassay.records.comparison import Comparison
    from ragassay.records.score import ScoreTable
    from ragassay.score.table import table
    from ragassay.store.unwritten import Unwritten

    scratch = Unwritten.over(store.path)
    both: list[tuple[Any, Any]] = []
    for one in named(scratch, ScoreTable, "scores/").values():
        if one.run_record == run:
            both.append((one, table(scratch, one.run_record, one.scoring)[0]))
    for found in named(scratch, Comparison, "comparison/").values():
        a, b = found.baseline, found.candidate
        made, _ = pair(scratch, a.scores, b.scores, variation=found.variation, names=(a.name, b.name),
                       seed=found.seed, flips=found.flips, level=found.level, slices=found.slices)  # fmt: skip
        both.append((found, made))
    count, greatest = 0, 0.0
    for stored, made in both:
        for field in (one for one in LINES[type(stored)] if getattr(stored, one) is not None):
            left, right = (scratch.get_raw_lines(getattr(one, field)) for one in (stored, made))
            for old, new in zip(left, right, strict=True):
                pairs = zip(floats(msgspec.json.decode(old)), floats(msgspec.json.decode(new)), strict=True)
                for x, y in pairs:
                    count, greatest = count + 1, max(greatest, abs(x - y))
    return count, greatest


def floats(value: Any) -> Iterator[float]:
    """Every number of a JSON value, in order."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from floats(value[key])
    elif isinstance(value, list):
        for one in value:
            yield from floats(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def measured(python: Path | str, handed: Path, number: int) -> dict[str, Any]:
    """`rebuild` by another Python, without a network."""
    store = handed.parent / f"copy-{number}"
    told = ["unshare", "-n", str(python), "-m", "bench.rebuilt", "--one", str(handed), str(store)]
    here = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = subprocess.run(told, cwd=handed, env=here, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{python}: {done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", nargs="*", default=[], metavar="PYTHON:NUMPY")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--out", type=Path, help="keep the environments here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        handed = make_export(Path(scratch), given.questions)
        pythons: list[Path | str] = [sys.executable]
        for one in given.make:
            python, _, numpy = one.rpartition(":")
            pythons.append(environment(python, numpy, given.out or Path(scratch)))
        found = [measured(one, handed, number) for number, one in enumerate(pythons)]
    rows = [[*(str(one[key]) for key in list(one)[:-2]), f"{one['numbers']:,}", f"{one['difference']:.2g}"]
            for one in found]  # fmt: skip
    lines = [HEAD, ["---"] * len(HEAD), *rows]
    put_out(["| " + " | ".join(one) + " |" for one in lines], None)
    good = all("differs" not in one["audit"] and one["difference"] <= 1e-12 for one in found)
    return 0 if good and len({one["verdict"] for one in found}) == 1 else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(rebuild(Path(sys.argv[2]), Path(sys.argv[3]))))
    else:
        sys.exit(main())
