"""Build the demo's data from the public data sets and the invented documents; the same input gives the same bytes.

    .venv/bin/python tools/build_demo.py ../shared/data

Writes `documents.jsonl` and `cases.jsonl` in `src/ragassay/demo/data/`. The invented part is in `tools/demo/`: one file
a document (a JSON line about it, a blank line, then its text), and `cases.jsonl`. Fails if a quote is not found exactly
once, if a label names a document that is not there, or if the whole is larger than 2 MB.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))

import clapnq  # noqa: E402
import musique  # noqa: E402
from common import unique, write_lines  # noqa: E402

from ragassay import benchmark, corpus  # noqa: E402
from ragassay.demo import AS_OF, CASES, CORPUS_VERSION, DOCUMENTS, FOLDER, load  # noqa: E402
from ragassay.store import Store  # noqa: E402

ANSWERABLE, UNANSWERABLE, MULTI_HOP = 150, 80, 60
LARGEST_BYTES = 2_000_000
TARGET = FOLDER
INVENTED = ROOT / "tools" / "demo"


def invented() -> list[dict[str, Any]]:
    """The invented documents, in the order of their file names."""
    found = []
    for path in sorted(INVENTED.glob("*.md")):
        about, _, text = path.read_text("utf-8").partition("\n\n")
        found.append({"metadata": {"source": "invented"}, **json.loads(about), "text": text.rstrip("\n") + "\n"})
    return found


def lines_of(path: Path) -> list[dict[str, Any]]:
    """JSON lines of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def write(data: Path) -> None:
    """All files of the demo."""
    answerable, unanswerable = clapnq.read(data / "clapnq")
    usable = [row for row in answerable if any(one["selected_sentences"] for one in row["output"])]
    questions = [*usable[:ANSWERABLE], *unanswerable[:UNANSWERABLE]]
    hops = musique.read(data / "musique")[:MULTI_HOP]
    wikipedia = [
        *(clapnq.passage(row) for row in questions),
        *(one for row in hops for one in musique.paragraphs(row)),
    ]
    cases = [
        *(clapnq.case(row) for row in questions),
        *(musique.case(row) for row in hops),
        *lines_of(INVENTED / "cases.jsonl"),
    ]
    documents = [*unique(wikipedia), *invented()]
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, lines in (
        (DOCUMENTS.name, documents),
        (CASES.name, [{"corpus_version": CORPUS_VERSION, **line} for line in cases]),
    ):
        print(f"{write_lines(TARGET / name, lines):6} lines {(TARGET / name).stat().st_size:9} bytes  {name}")


def check() -> None:
    """Build it once: every quote found, nothing dangling, small enough."""
    demo = load()
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "store", create=True)
        sealed, _ = corpus.build(store, demo.documents, name="demo")
        built = benchmark.build(store, demo.cases, sealed, demo.documents, name="demo", version="1", as_of=AS_OF)
    print("\n".join(built.report.lines()))
    wrong = [*built.report.not_found, *built.report.ambiguous, *built.report.dangling]
    if wrong:
        sys.exit(f"labels to mend: {', '.join(map(str, wrong))}")
    size = sum(path.stat().st_size for path in TARGET.rglob("*") if path.is_file())
    print(f"{size} bytes in all")
    if size > LARGEST_BYTES:
        sys.exit(f"more than {LARGEST_BYTES} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with clapnq/ and musique/")
    write(parser.parse_args().data)
    check()


if __name__ == "__main__":
    main()
