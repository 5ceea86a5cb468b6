"""A small language model on this machine as a judge of 100 demo items, held against people, and put before the gate.

    make judge-demo
    python examples/local_model/judge.py [--items 100] [--limit N] [--out out/judge-demo] [--url URL] [--tokens 240]

The items are claims that people wrote: the first sentence of a CLAPnq annotator's answer, beside the passage that the
annotator wrote it from. In every second item the sentence belongs to another question, and the passage is of course
none that says it. So what people say of each item is known: *supported* or *unsupported*, half of each. The answers are
sealed as a run; the model (behind `tools/model_server.py` on a free port of the loopback interface, or `--url`) rules
on each claim under JSON Schema, the lexical judge does the same; both are calibrated against the people, and a policy
that asks for `faithfulness(by=...)` is decided for each. The commands are those that anybody would give; the script
prints them, and what they say. Exit code 0 if the gate let the model satisfy no rule, 1 if it did.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from run import ROOT, served

from ragassay import demo as demo_data
from ragassay.claims import split

AUTHOR, RUBRIC = "annotators", "clapnq-own-or-other"
MODEL, WORDS = "small", "words"
SETTINGS = """[store]
path = ".ragassay"

[corpus]
documents = "documents.jsonl"
name = "judge-demo"

[benchmark]
cases = "cases.jsonl"
name = "judge-demo"
version = "1"
completeness = "partial"

[system]
kind = "traces"
file = "answers.jsonl"

[run]
as_of = "2026-06-01"
name = "judge-demo"

[scoring]
measures = ["faithfulness"]
judges = ["{model}", "{words}"]

[judges.{words}]
kind = "lexical"
about = ["claim"]

[judges.{model}]
kind = "llm"
about = ["claim"]
url = "{url}"
endpoint = "judge-demo"
model = "{name}"
form = "json_schema"
options = {{ max_tokens = {tokens}, cache_prompt = false }}
reasks = 0
rubrics = {{ claim = "{rubric}" }}
rubric = "short/1"
concurrency = 1
timeout_s = 300.0
max_error_rate = 1.0

[policy]
name = "judge-demo"

[[policy.rules]]
measure = "faithfulness(by={words})"
at_least = {floor}

[[policy.rules]]
measure = "faithfulness(by={model})"
at_least = {floor}
"""
SHORT = (
    "Does the evidence say what the item says? supported: it says it. contradicted: it says the opposite. "
    "unsupported: anything else."
)
"""In place of our rubric: a model of this size reads some 50 tokens a second."""
FLOOR = 0.3
"""Half of the claims are supported: a judge that sees it clears this floor with 100 items."""


class Claim(NamedTuple):
    """One item: a question with its passage, a sentence that a person wrote, and whether of this passage."""

    case: dict[str, Any]
    document: dict[str, Any]
    text: str
    own: bool


def claims(most: int) -> list[Claim]:
    """The questions of CLAPnq with the shortest passages; every second has the sentence of one half a list away."""
    documents = {one["document_id"]: one for one in map(json.loads, _lines(demo_data.DOCUMENTS))}
    found = []
    for case in map(json.loads, _lines(demo_data.CASES)):
        places = {one["document_id"] for one in case.get("evidence", ())}
        if case["class"] != "answerable" or "source=clapnq" not in case["slice"] or len(places) != 1:
            continue
        text = case["answers"][0]["text"]
        said = [text[one.start : one.end] for one in split(text, "en") if one.kind == "claim"]
        if said:
            found.append((case, documents[places.pop()], " ".join(said[0].split())))
    found.sort(key=lambda one: (len(one[1]["text"]), one[0]["query_id"]))
    kept = found[:most]
    away = len(kept) // 2 | 1
    return [
        Claim(case, document, said if number % 2 == 0 else kept[(number + away) % len(kept)][2], number % 2 == 0)
        for number, (case, document, said) in enumerate(kept)
    ]


def write(items: Sequence[Claim], folder: Path, *, url: str, name: str, tokens: int) -> None:
    """The project: documents, questions, answers, what people say, settings with the policy."""
    folder.mkdir(parents=True, exist_ok=True)
    _put(folder / "documents.jsonl", {one.document["document_id"]: one.document for one in items}.values())
    _put(folder / "cases.jsonl", [one.case for one in items])
    _put(folder / "answers.jsonl", [_trace(one) for one in items])
    settings = SETTINGS.format(
        url=url, name=name, tokens=tokens, model=MODEL, words=WORDS, rubric=SHORT, floor=FLOOR
    )  # fmt: skip
    (folder / "ragassay.toml").write_text(settings, "utf-8")
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("query_id", "repeat", "about", "target", "label", "comment"))
        for one in items:
            label = "supported" if one.own else "unsupported"
            rows.writerow((one.case["query_id"], 0, "claim", "c1", label, ""))


def _trace(one: Claim) -> dict[str, Any]:
    text = one.document["text"]
    item = {
        "item_id": "p1", "rank": 1, "resolution": "declared", "transform": "slice",
        "sources": [{"document_id": one.document["document_id"], "version": one.document.get("version", "1"),
                     "start": 0, "end": len(text)}],
    }  # fmt: skip
    return {
        "query_id": one.case["query_id"],
        "repeat": 0,
        "as_of": "2026-06-01T00:00:00Z",
        "answer": {"text": one.text, "outcome": "answered", "outcome_source": "system"},
        "context": [item],
    }


def command(folder: Path, *words: str, allowed: Sequence[int] = (0,)) -> tuple[int, str]:
    """One command of ragassay in the project, printed with what it says."""
    print(f"\n$ ragassay {' '.join(words)}", flush=True)
    told = subprocess.run(
        [sys.executable, "-m", "ragassay", *words, "--config", "ragassay.toml"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    print(told.stdout.rstrip(), flush=True)
    if told.returncode not in allowed:
        sys.exit(f"ragassay {words[0]} ended with {told.returncode}:\n{told.stderr}")
    return told.returncode, told.stdout


def judged(folder: Path, limit: int | None = None) -> bool:
    """Run, judge, import, calibrate, score, gate; whether the gate let the model satisfy its rule."""
    command(folder, "run")
    command(folder, "judge", "--judge", WORDS)
    began = time.perf_counter()
    command(folder, "judge", "--judge", MODEL, *(["--limit", str(limit)] if limit else []), allowed=(0, 4))
    print(f"{time.perf_counter() - began:.0f} s")
    command(folder, "judge", "import", "people.csv", "--author", AUTHOR, "--rubric", RUBRIC)
    for judge in (WORDS, MODEL):
        command(folder, "judge", "calibrate", judge)
    command(folder, "score")
    _, told = command(folder, "gate", "latest", allowed=(0, 1, 3, 4))
    return any(line.split()[:2] == ["pass", f"faithfulness(by={MODEL}):"] for line in told.splitlines())


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _put(path: Path, rows: Any) -> None:
    path.write_text("".join(json.dumps(one, ensure_ascii=False, sort_keys=True) + "\n" for one in rows), "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--limit", type=int, help="put only the first so many to the model; once more goes on")
    parser.add_argument("--tokens", type=int, default=240, help="the most of a reply; a longer one is an error")
    parser.add_argument("--name", default="smollm2-135m", help="what the endpoint calls the model")
    parser.add_argument("--url", help="a chat endpoint instead of a server of our own")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "judge-demo")
    given = parser.parse_args()
    with served(given.url) as url:
        write(claims(given.items), given.out, url=url, name=given.name, tokens=given.tokens)
        return int(judged(given.out, given.limit))


if __name__ == "__main__":
    sys.exit(main())
