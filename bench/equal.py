"""Question by question, bit by bit: our values on MS MARCO's size beside pytrec_eval's and trec_eval's.

    python -m bench.equal [regular] [awkward]

pytrec_eval (float32 order, mode=trec) is read from Python, so every bit counts. trec_eval (double order, mode=trec10)
prints: every printed digit counts. It prints four; a binary built from its sources with %6.4f made %.17g shows them
all. Give the binary as $TREC_EVAL. BENCH_FOLDER, BENCH_QUESTIONS and BENCH_PYTHON are those of bench.measures.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import data
from bench.measures import QUESTIONS, THEIRS, has

from ragassay.measures import evaluate

NAMES = {
    "ndcg_cut_10": "ndcg(mode={})@10",
    "recall_100": "recall(mode={})@100",
    "map": "ap(mode={})",
    "recip_rank": "rr(mode={})",
    "P_10": "precision(mode={})@10",
    "success_10": "hit(mode={})@10",
}
PYTREC = """
import sys, pytrec_eval
qrels = pytrec_eval.parse_qrel(open(sys.argv[1]))
run = pytrec_eval.parse_run(open(sys.argv[2]))
asked = {"ndcg_cut.10", "recall.100", "map", "recip_rank", "P.10", "success.10"}
for query, own in pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run).items():
    for name, value in own.items():
        print(name, query, value.hex())
"""


def ours(qrels: Path, run_file: Path, mode: str) -> dict[tuple[str, str], float]:
    """Our value of each measure (by trec_eval's name) and question of the run."""
    result = evaluate(str(qrels), str(run_file), [one.format(mode) for one in NAMES.values()])
    found = {}
    for name, measure in zip(NAMES, result.measures, strict=True):
        for at, query in enumerate(result.questions):
            if result.present[at]:
                found[name, query] = float(result.columns[measure].value[at])
    return found


def bits(value: float) -> bytes:
    """The eight bytes of a double."""
    return struct.pack("<d", value)


def compare(label: str, own: dict[tuple[str, str], float], said: dict[tuple[str, str], str]) -> None:
    """Count the values that are equal, and how many printed digits that rests on."""
    if own.keys() != said.keys():
        print(f"  {label}: OTHER QUESTIONS: {len(own)} of ours, {len(said)} of theirs")
        return
    said_so = in_every_bit = 0
    for key, text in said.items():
        value = own[key]
        theirs = float.fromhex(text) if "0x" in text else float(text)
        printed = f"{value:.{len(text.partition('.')[2])}f}"
        in_every_bit += bits(theirs) == bits(value)
        said_so += bits(theirs) == bits(value) or printed == text
    print(f"  {label}: of {len(said)} values {said_so} equal as printed, {in_every_bit} in every bit", flush=True)


def lines(command: list[str]) -> dict[tuple[str, str], str]:
    """Name, question and value in each line a tool prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return {(row[0], row[1]): row[2] for row in rows if len(row) == 3 and row[1] != "all" and row[0] in NAMES}


def main(names: list[str]) -> None:
    """Compare on the files that are named."""
    binary = os.environ.get("TREC_EVAL") or shutil.which("trec_eval")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.environ.get("BENCH_FOLDER") or temporary)
        for name in names or ["regular", "awkward"]:
            run_file, qrels = (data.regular if name == "regular" else data.awkward)(folder, QUESTIONS)
            arguments = [str(qrels), str(run_file)]
            if has("pytrec_eval"):
                said = lines([THEIRS, "-c", PYTREC, *arguments])
                compare(f"{name}: pytrec_eval, mode=trec", ours(qrels, run_file, "trec"), said)
            if binary:
                asked = [part for one in NAMES for part in ("-m", one[::-1].replace("_", ".", 1)[::-1])]
                asked = [part if part != "recip.rank" else "recip_rank" for part in asked]
                said = lines([binary, "-q", *asked, *arguments])
                compare(f"{name}: trec_eval, mode=trec10", ours(qrels, run_file, "trec10"), said)
            else:
                print("  trec_eval: no binary, skipped")


if __name__ == "__main__":
    main(sys.argv[1:])
