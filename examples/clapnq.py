"""CLAPnq to documents.jsonl, cases.jsonl and ragassay.toml: 600 real questions with evidence by sentence.

    python examples/clapnq.py ../shared/data/clapnq out/clapnq
    ragassay run --config out/clapnq/ragassay.toml

CLAPnq (Apache-2.0, github.com/primeqa/clapnq): its passages are Wikipedia (CC BY-SA). *Unanswerable* was judged on one
passage: another passage may hold an answer. So those questions carry the judged passage at grade 0 and the scope
`passage`; they are never counted as questions that have no answer in the whole corpus.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from common import document, unique, write_lines, write_settings

FILES = ("clapnq_dev_answerable.jsonl", "clapnq_dev_unanswerable.jsonl")
PROVENANCE = {"kind": "imported", "by": "CLAPnq annotators", "rubric": "sentences that support the answer"}
MEASURES = (
    "recall(rel=2)@5", "recall(rel=2)@20", "recall(rel=2,unit=document)@5", "hit(rel=2)@5", "rr(rel=2)@20", "ndcg@10",
    "judged@10", "fact_coverage", "context_precision(rel=2)", "context_recall(rel=2)", "token_f1", "abstention_rate",
    "false_refusal", "unsupported_answer",
)  # fmt: skip


def passage(row: dict[str, Any]) -> dict[str, Any]:
    """The document of a question."""
    (one,) = row["passages"]
    return document("clapnq", one["title"], one["text"])


def case(row: dict[str, Any]) -> dict[str, Any]:
    """One question: a set of sentences for each annotator, or the judged passage at grade 0 if there is no answer."""
    found = passage(row)
    sets = [_sentences(row, answer) for answer in row["output"]]
    answers = [(one["answer"], names) for one, names in zip(row["output"], sets, strict=True) if one["answer"]]
    made: dict[str, Any] = {"query_id": f"clapnq-{row['id']}", "query": row["input"], "answerability_scope": "passage"}
    if not answers:
        whole = {"id": "p", "document_id": found["document_id"], "grade": 0, "provenance": PROVENANCE}
        notes = "judged unanswerable from this passage only; another passage may hold an answer"
        return made | {
            "class": "unanswerable",
            "evidence": [whole],
            "notes": notes,
            "slice": ["language=en", "doc_type=encyclopedia", "source=clapnq"],
        }
    alternatives = [list(names) for names in dict.fromkeys(tuple(names) for names in sets if names)]
    evidence = _evidence(row, found, alternatives)
    if not alternatives:
        alternatives = [["p"]]
    return made | {
        "class": "answerable",
        "evidence": evidence,
        "facts": [{"id": "answer", "any_of": alternatives}],
        "answers": [{"text": text, **({"fact_set": names} if names else {})} for text, names in answers],
        "slice": [
            "language=en",
            "doc_type=encyclopedia",
            "source=clapnq",
            f"difficulty={_difficulty(row, alternatives)}",
        ],
    }


def _sentences(row: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    sentences = row["passages"][0]["sentences"]
    return [f"s{sentences.index(one)}" for one in answer["selected_sentences"]]


def _evidence(row: dict[str, Any], found: dict[str, Any], alternatives: list[list[str]]) -> list[dict[str, Any]]:
    """The sentences that any annotator chose; grade 3 where one alone was somebody's whole set."""
    shared = {"document_id": found["document_id"], "provenance": PROVENANCE}
    if not alternatives:
        return [{"id": "p", "grade": 3, **shared}]
    used = {name for names in alternatives for name in names}
    alone = {names[0] for names in alternatives if len(names) == 1}
    evidence, at = [], len(found["title"]) + 2
    for number, sentence in enumerate(row["passages"][0]["sentences"]):
        start = found["text"].index(sentence, at)
        at = start + len(sentence)
        name = f"s{number}"
        if name in used:
            evidence.append({"id": name, "start": start, "end": at, "grade": 3 if name in alone else 2, **shared})
    return evidence


def _difficulty(row: dict[str, Any], alternatives: list[list[str]]) -> str:
    """easy: one sentence is enough; hard: every annotator needed sentences that do not follow each other."""
    if any(len(names) == 1 for names in alternatives):
        return "easy"
    apart = all(one["meta"]["non_consecutive"] for one in row["output"] if one["selected_sentences"])
    return "hard" if apart else "medium"


def read(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Answerable and unanswerable rows, in the order of their files."""
    answerable, unanswerable = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines() if line] for name in FILES
    )
    return answerable, unanswerable


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with the two CLAPnq files")
    parser.add_argument("out", type=Path, help="folder to write")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = [row for part in read(given.data) for row in part]
    documents = write_lines(given.out / "documents.jsonl", unique(passage(row) for row in rows))
    cases = write_lines(given.out / "cases.jsonl", (case(row) for row in rows))
    write_settings(
        given.out, "clapnq.py", name="clapnq", size=80, overlap=20, top_k=20, completeness="partial",
        benchmark='cases = "cases.jsonl"', measures=MEASURES,
    )  # fmt: skip
    print(f"{documents} documents and {cases} cases in {given.out}")
    print(f"next: ragassay run --config {given.out / 'ragassay.toml'}")


if __name__ == "__main__":
    main()
