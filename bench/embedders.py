"""What an embedder's vectors depend on besides the text, and how fast it is: measured on this machine.

    python -m bench.embedders [wordllama] [minilm]        (both without names; two minutes)

Real passages of CLAPnq are embedded alone, in batches, in another order, with one thread and with two, and in a second
process; the largest difference between two vectors of one text is printed, 0 where every byte is the same. Exit code 1
if anything but 0 comes out: then vectors of a shared cache would depend on who asked first, by that much.
BENCH_DATA names the folder of the data sets.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench.splitters import pages

from ragassay.run.systems.pipeline.embedders import embedder

DATA = Path(os.environ.get("BENCH_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
COUNT = {"wordllama": 2000, "minilm": 160}
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "wordllama": {},
    "minilm": {"batches of 1": {"batch_size": 1}, "batches of 64": {"batch_size": 64}, "2 threads": {"threads": 2}},
}
OTHER_PROCESS = """
import json, sys
from ragassay.run.systems.pipeline.embedders import embedder
sys.stdout.buffer.write(embedder(sys.argv[1]).embed(json.load(sys.stdin)).tobytes())
"""


def measure(kind: str, texts: list[str]) -> bool:
    """Print the lines of one embedder; whether every byte was the same."""
    start = time.perf_counter()
    made = embedder(kind)
    made.embed(["load"])
    loaded_s = time.perf_counter() - start
    start = time.perf_counter()
    first = made.embed(texts)
    took_s = time.perf_counter() - start
    words = sum(len(one.split()) for one in texts) / len(texts)
    print(f"{made.identity}")
    print(f"  load {loaded_s:.1f} s; {len(texts) / took_s:.0f} texts/s of {words:.0f} words, 1 thread")
    found = {
        "one text at a time": np.vstack([made.embed([one]) for one in texts]),
        "the other way round": made.embed(texts[::-1])[::-1],
    }
    found |= {name: embedder(kind, **settings).embed(texts) for name, settings in VARIANTS[kind].items()}
    there = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, kind], input=json.dumps(texts).encode(), capture_output=True, check=True
    ).stdout
    found["a second process"] = np.frombuffer(there, dtype=np.float32).reshape(first.shape)
    same = True
    for name, vectors in found.items():
        most = float(np.abs(vectors - first).max())
        changed = int((vectors != first).any(axis=1).sum())
        same = same and vectors.tobytes() == first.tobytes()
        print(f"  {name:22} largest difference {most:.3g}, {changed} of {len(texts)} vectors differ")
    print(f"  sha256 of all vectors {hashlib.sha256(first.tobytes()).hexdigest()[:16]} (another machine may differ)")
    return same


def main(names: list[str]) -> int:
    """One block an embedder."""
    if not DATA.is_dir():
        print(f"no data sets at {DATA}: set BENCH_DATA", file=sys.stderr)
        return 2
    texts = [one.text for one in pages(DATA, "clapnq")]
    same = [measure(name, texts[: COUNT[name]]) for name in names or list(COUNT)]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
