"""Which engine should hold the score table: read JSON lines, group, average, count; ratios to plain Python.

Run `python bench/tables.py`. Engines that are not installed are named and left out. Import and install size count too,
since every command starts a process and the core must stay small.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import json
import math
import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

QUESTIONS, STEPS, MEASURES, ROUNDS = 600, 6, 14, 5


def make_lines() -> bytes:
    """Observations as the score room stores them."""
    draw = random.Random(7)
    rows = []
    for question in range(QUESTIONS):
        for step in range(STEPS):
            for measure in range(MEASURES):
                row = {"query_id": f"q{question}", "repeat": 0, "step": f"s{step}", "measure": f"m{measure}"}
                row["class"] = ("answerable", "unanswerable", "multi_hop")[question % 3]
                row["status"] = "value" if draw.random() < 0.9 else "missing"
                row["value" if row["status"] == "value" else "reason"] = (
                    draw.random() if row["status"] == "value" else "not_reported"
                )
                rows.append(json.dumps(row))
    return "\n".join(rows).encode()


def plain(lines: bytes) -> int:
    import msgspec

    class Row(msgspec.Struct, frozen=True):
        query_id: str
        repeat: int
        step: str
        measure: str
        status: str
        class_: str = msgspec.field(name="class")
        value: float | None = None
        reason: str | None = None

    decoder = msgspec.json.Decoder(Row)
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for line in lines.split(b"\n"):
        row = decoder.decode(line)
        groups[row.class_, row.step, row.measure].append(row)
    made = []
    for key, members in groups.items():
        values = [row.value for row in members if row.value is not None]
        made.append((key, math.fsum(values) / len(values), len(members) - len(values)))
    return len(made)


def numpy_(lines: bytes) -> int:
    import numpy as np

    rows = [json.loads(line) for line in lines.split(b"\n")]
    keys = np.array([f"{row['class']}|{row['step']}|{row['measure']}" for row in rows])
    values = np.array([row.get("value", np.nan) for row in rows])
    names, places = np.unique(keys, return_inverse=True)
    scored = ~np.isnan(values)
    sums = np.bincount(places[scored], values[scored], minlength=len(names))
    counts = np.bincount(places[scored], minlength=len(names))
    return len(sums / counts)


def pyarrow_(lines: bytes) -> int:
    import pyarrow.json

    table = pyarrow.json.read_json(io.BytesIO(lines))
    grouped = table.group_by(["class", "step", "measure"]).aggregate([("value", "mean"), ("value", "count")])
    return grouped.num_rows


def polars_(lines: bytes) -> int:
    import polars as pl

    table = pl.read_ndjson(io.BytesIO(lines), infer_schema_length=None)
    return len(
        table.group_by("class", "step", "measure").agg(pl.col("value").mean(), pl.col("value").count().alias("n"))
    )


def installed_mb(*names: str) -> float:
    """Megabytes of files of these distributions."""
    files = (file for name in names for file in importlib.metadata.files(name) or ())
    return sum(path.stat().st_size for file in files if (path := Path(str(file.locate()))).is_file()) / 1e6


def import_s(module: str) -> float:
    """Median seconds of a new process that imports `module`."""
    took = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
        took.append(time.perf_counter() - start)
    return statistics.median(took)


ENGINES: dict[str, tuple[str, tuple[str, ...], Callable[[bytes], int]]] = {
    "plain Python + msgspec": ("msgspec", ("msgspec",), plain),
    "numpy": ("numpy", ("numpy",), numpy_),
    "pyarrow": ("pyarrow", ("pyarrow",), pyarrow_),
    "polars": ("polars", ("polars", "polars-runtime-32"), polars_),
}


def main() -> None:
    """One line an engine."""
    lines = make_lines()
    print(f"{QUESTIONS * STEPS * MEASURES} observations, {len(lines) / 1e6:.1f} MB; median of {ROUNDS}, ratio to first")
    base_time = base_import = 0.0
    for name, (module, distributions, work) in ENGINES.items():
        if importlib.util.find_spec(module) is None:
            print(f"{name:24} not installed")
            continue
        took = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            found = work(lines)
            took.append(time.perf_counter() - start)
        assert found == 3 * STEPS * MEASURES
        seconds, load = statistics.median(took), import_s(module)
        base_time, base_import = base_time or seconds, base_import or load
        size = installed_mb(*distributions)
        print(f"{name:24} work x{seconds / base_time:.2f}  import x{load / base_import:.2f}  installed {size:.1f} MB")


if __name__ == "__main__":
    main()
