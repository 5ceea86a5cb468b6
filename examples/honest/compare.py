"""The honest numbers of a ragas or DeepEval data set beside what those print, row by row.

    RAGAS_PYTHON=... DEEPEVAL_PYTHON=... python examples/honest/compare.py [FOLDER]

Without FOLDER: the six questions of traps.jsonl. FOLDER may hold published files, as docs/honest-numbers.md names
them. A tool whose interpreter is not named is left out, and the output says so. No model is asked.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragassay import corpus, evaluate_sync
from ragassay.benchmark import read_benchmark
from ragassay.records.document import Document
from ragassay.records.score import Estimate, Observation, ScoreTable
from ragassay.run.systems.replay import ReplaySystem
from ragassay.store import Store
from ragassay.version import VERSION

HERE = Path(__file__).parent
AS_OF = "2026-01-01T00:00:00Z"
MEASURES = ("context_recall", "context_precision", "exact_match", "token_f1", "rouge_l", "bleu")
NAMES = {"ragas": "RAGAS_PYTHON", "deepeval": "DEEPEVAL_PYTHON"}
SHORT = {
    "non_llm_context_recall": "context recall",
    "non_llm_context_precision_with_reference": "context precision",
    "rouge_score(mode=fmeasure)": "rouge_l",
    "non_llm_string_similarity": "string similarity",
    "bleu_score": "bleu",
}


class DataSet(NamedTuple):
    """A file that a tool can score, and the corpus that belongs to it, where there is one."""

    title: str
    kind: str
    path: Path
    documents: list[Document] | None = None


class Table(NamedTuple):
    """Values by row and measure, and what stands below them."""

    name: str
    rows: list[dict[str, str]]
    total: dict[str, str]


def ours(data: DataSet, folder: Path) -> tuple[Table, list[str]]:
    """The table of ragassay, and what the data set does not say."""
    cases = read_benchmark(data.path, format=data.kind, corpus=data.documents)  # type: ignore[arg-type]
    documents = data.documents or cases.documents
    system = ReplaySystem(data.kind, data.path, documents, as_of=AS_OF)  # type: ignore[arg-type]
    done = evaluate_sync(
        list(cases), system, documents=documents or None, as_of=AS_OF, store=folder / "store", name=data.path.stem,
        measures=MEASURES, max_error_rate=1.0,
    )  # fmt: skip
    store = Store.open(folder / "store")
    table = store.get_record(ScoreTable, done.scores)
    rows: dict[str, dict[str, str]] = {one.query_id: {} for one in cases}
    for one in store.get_lines(Observation, table.observations):
        if one.measure.split("(")[0] in MEASURES:
            rows[one.query_id][one.measure.split("(")[0]] = shown(one.status, one.value, one.reason)
    total = {}
    for mean in store.get_lines(Estimate, table.estimates):
        name = mean.measure.split("(")[0]
        if name in MEASURES and str(mean.population) == "answerable":
            number = f"{mean.value:.4f}" if mean.value is not None else mean.status
            total[name] = f"{number}, {mean.scored} of {mean.attempted}{bounds(mean)}"
    return Table(f"ragassay {VERSION}", list(rows.values()), total), cases.notes


def shown(status: str, value: float | None, reason: str | None) -> str:
    return f"{value:.4f}" if value is not None else f"{status} ({reason})"


def bounds(mean: Estimate) -> str:
    """Between what and what the mean lies if the questions without a value are counted at their worst and best."""
    if mean.scored == mean.attempted or mean.bounds is None:
        return ""
    return f", in [{mean.bounds.low:.4f}, {mean.bounds.high:.4f}]"


def theirs(data: DataSet) -> Table | str:
    """The table of the tool that the file belongs to, or why there is none."""
    python = os.environ.get(NAMES[data.kind])
    if not python:
        return f"{data.kind} was not run: set {NAMES[data.kind]} to an interpreter that has it"
    command = [python, str(HERE / f"peer_{data.kind}.py"), str(data.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        return f"{data.kind} failed: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no reason'}"
    found = json.loads(done.stdout)
    rows = [{SHORT.get(name, name): told(value) for name, value in row.items()} for row in found["rows"]]
    total = {SHORT.get(name, name): told(value) for name, value in found.get("printed", {}).items()}
    return Table(f"{data.kind} {found['version']}", rows, total)


def told(value: float | str | None) -> str:
    return "nan" if value is None else value if isinstance(value, str) else f"{value:.4f}"


def published(folder: Path, scratch: Path) -> Iterator[DataSet]:
    """The published files that the folder holds, as data sets."""
    if (page := folder / "vertexai_x_ragas.md").is_file():
        names = {"user_input": "user_inputs", "retrieved_contexts": "retrieved_contexts", "response": "responses",
                 "reference": "references"}  # fmt: skip
        columns = {key: literal(page.read_text("utf-8"), name) for key, name in names.items()}
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        yield DataSet("ragas: three questions of a guide", "ragas", lines(scratch / "guide.jsonl", rows))
    if (feedback := folder / "edited_chain_runs.json").is_file():
        runs = json.loads(feedback.read_text("utf-8"))["answer_correctness"]
        rows = [one["metric_input"] for one in runs]
        yield DataSet("ragas: 18 judged answers", "ragas", lines(scratch / "judged.jsonl", rows))
    for goldens in sorted(folder.glob("goldens*.json")):
        yield DataSet(f"DeepEval: {goldens.name} of its tests", "deepeval", goldens)


def literal(page: str, name: str) -> Any:
    """A list that a page prints as Python."""
    found = re.search(rf"^{name} = (\[.*?^\])", page, re.DOTALL | re.MULTILINE)
    if found is None:
        raise SystemExit(f"the page holds no list {name}: is it the one that docs/honest-numbers.md names?")
    return ast.literal_eval(found[1])


def lines(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def markdown(table: Table) -> str:
    names = list(dict.fromkeys(name for row in (*table.rows, table.total) for name in row))
    out = [f"| {table.name} | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    out += [
        f"| {number} | " + " | ".join(row.get(name, "-") for name in names) + " |"
        for number, row in enumerate(table.rows, 1)
    ]
    if table.total:
        out.append("| **all** | " + " | ".join(table.total.get(name, "-") for name in names) + " |")
    return "\n".join(out)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="folder with the published files")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        own = corpus.read(HERE / "documents.jsonl")
        sets = [DataSet("six traps", "ragas", HERE / "traps.jsonl", list(own))]
        sets += published(given.folder, scratch) if given.folder else ()
        for data in sets:
            table, notes = ours(data, scratch)
            other = theirs(data)
            print(f"## {data.title}\n\n{other if isinstance(other, str) else markdown(other)}\n\n{markdown(table)}\n")
            print("\n".join(f"- {one}" for one in notes), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
