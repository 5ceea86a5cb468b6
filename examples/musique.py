"""A sample of MuSiQue to documents.jsonl, cases.jsonl and ragassay.toml: 200 questions over several paragraphs each.

    python examples/musique.py ../shared/data/musique out/musique
    ragassay run --config out/musique/ragassay.toml

MuSiQue (CC BY 4.0, github.com/StonyBrookNLP/musique; this sample by HippoRAG): its paragraphs are Wikipedia (CC BY-SA).
Each hop is one fact. A label is on a whole paragraph, as the annotators gave it: the cases say so (`coarse`).
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import document, unique, write_lines, write_settings

PROVENANCE = {"kind": "imported", "by": "MuSiQue", "rubric": "supporting paragraph of a hop"}
MEASURES = (
    "recall(rel=2)@5", "recall(rel=2)@20", "hit(rel=2)@5", "rr(rel=2)@20", "ndcg@10", "fact_coverage",
    "context_precision(rel=2)", "context_recall(rel=2)", "exact_match", "token_f1", "abstention_rate", "false_refusal",
)  # fmt: skip


def paragraphs(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The documents of a question, in its order."""
    for one in row["paragraphs"]:
        yield document("musique", one["title"], one["paragraph_text"])


def case(row: dict[str, Any]) -> dict[str, Any]:
    """One question: a fact for each hop, carried by the paragraph that supports it."""
    ids = [one["document_id"] for one in paragraphs(row)]
    hops = row["question_decomposition"]
    evidence: dict[str, dict[str, Any]] = {}
    facts = []
    for number, hop in enumerate(hops, 1):
        place = ids[hop["paragraph_support_idx"]]
        label = evidence.setdefault(
            place, {"id": f"h{number}", "document_id": place, "grade": 2, "provenance": PROVENANCE}
        )
        question = re.sub(r"#(\d+)", lambda mark: hops[int(mark[1]) - 1]["answer"], hop["question"])
        facts.append({"id": f"hop{number}", "text": f"{question}: {hop['answer']}", "any_of": [[label["id"]]]})
    if len(evidence) == 1:
        next(iter(evidence.values()))["grade"] = 3
    together = [one["id"] for one in evidence.values()]
    return {
        "query_id": f"musique-{row['id']}",
        "query": row["question"],
        "class": "multi_hop",
        "answerable": "yes",
        "evidence": list(evidence.values()),
        "facts": facts,
        "answers": [{"text": text, "fact_set": together} for text in (row["answer"], *row["answer_aliases"])],
        "slice": ["language=en", "doc_type=encyclopedia", "source=musique", f"hops={len(hops)}"],
    }


def read(folder: Path) -> list[dict[str, Any]]:
    """All rows, in the order of the file."""
    return [json.loads(line) for line in (folder / "musique.json").read_text("utf-8").splitlines() if line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with musique.json")
    parser.add_argument("out", type=Path, help="folder to write")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = read(given.data)
    everything = unique(one for row in rows for one in paragraphs(row))
    documents = write_lines(given.out / "documents.jsonl", everything)
    cases = write_lines(given.out / "cases.jsonl", (case(row) for row in rows))
    write_settings(
        given.out, "musique.py", name="musique", size=200, overlap=40, top_k=20, completeness="partial",
        benchmark='cases = "cases.jsonl"', measures=MEASURES,
    )  # fmt: skip
    print(f"{documents} documents and {cases} cases in {given.out}")
    print(f"next: ragassay run --config {given.out / 'ragassay.toml'}")


if __name__ == "__main__":
    main()
