"""MTRAG to documents.jsonl, cases.jsonl and ragassay.toml: turns of 20 conversations between people and agents.

    python examples/mtrag.py ../shared/data/mtrag out/mtrag
    ragassay run --config out/mtrag/ragassay.toml

MTRAG (Apache-2.0, github.com/IBM/mt-rag-benchmark), the part that people rated: 159 turns, each with the turns before
it and the passages that were shown to the models. Only these 350 passages come with text, so the corpus is far smaller
than the one that the conversations were made over, and retrieval from it is easy. The two turns that ask nothing
(*conversational*) are left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from common import write_lines, write_settings

FILE = "evaluations/reference_subset_with_human_evaluations.json"
ROLES = {"user": "user", "agent": "assistant"}
ANSWERABLE = {"ANSWERABLE": "yes", "PARTIAL": "partial", "UNANSWERABLE": "no"}
MEASURES = (
    "recall(rel=2,unit=document)@5", "recall(rel=2)@20", "ndcg@10", "context_recall(rel=2)", "token_f1", "rouge_l",
    "abstention_rate", "false_refusal", "unsupported_answer",
)  # fmt: skip


def passage(row: dict[str, Any]) -> dict[str, Any]:
    """One passage; its title goes before its text where it has one."""
    text = "\n\n".join(part for part in (row.get("title") or "", row["text"]) if part.strip())
    return {
        "document_id": f"mtrag-{row['document_id']}",
        "text": text,
        "tenants": ["*"],
        "metadata": {"source": "mtrag"},
    }


def case(task: dict[str, Any]) -> dict[str, Any]:
    """One turn, asked after the turns before it."""
    talk, turn = task["task_id"].split("<::>")
    said = [{"role": ROLES[one["speaker"]], "text": one["text"]} for one in task["input"]]
    answerable = ANSWERABLE[task["Answerability"][0]]
    made: dict[str, Any] = {
        "query_id": f"mtrag-{talk[:8]}-{int(turn):02d}",
        "query": said[-1]["text"],
        "conversation": {"id": f"mtrag-{talk[:8]}", "turn": int(turn), "history": said[:-1]},
        "answerable": answerable,
        "class": "unanswerable" if answerable == "no" else "answerable",
        "relevant": [{"document_id": f"mtrag-{one['document_id']}", "grade": 2} for one in task["contexts"]],
        "slice": [f"collection={task['Collection'].split('-')[2]}", f"turn={'first' if len(said) == 1 else 'later'}"],
    }
    if answerable != "no":
        made["answers"] = [{"text": one["text"]} for one in task["targets"]]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of MTRAG")
    parser.add_argument("out", type=Path, help="folder to write")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    read = json.loads((given.data / FILE).read_text("utf-8"))
    tasks = [one for one in read["tasks"] if one["Answerability"][0] in ANSWERABLE]
    tasks.sort(key=lambda one: (one["task_id"].split("<::>")[0], int(one["task_id"].split("<::>")[1])))
    documents = write_lines(given.out / "documents.jsonl", map(passage, read["documents"]))
    cases = write_lines(given.out / "cases.jsonl", map(case, tasks))
    write_settings(
        given.out, "mtrag.py", name="mtrag", size=120, overlap=20, top_k=20, completeness="partial",
        benchmark='cases = "cases.jsonl"', measures=MEASURES,
    )  # fmt: skip
    print(f"{documents} documents and {cases} turns in {given.out}")
    print(f"next: ragassay run --config {given.out / 'ragassay.toml'}")


if __name__ == "__main__":
    main()
