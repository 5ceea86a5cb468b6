"""Refusal on sixty questions with a system that says how sure it is: prints its lines, writes the scorecard.

    python examples/refusal.py [--out FOLDER]

The system is a table: what it answers, how sure it is, and whether its retriever found enough are written below, so
that every figure of `docs/refusal.md` can be counted by hand.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ragassay import evaluate_sync
from ragassay.cli.report import write_report
from ragassay.report import summary

EM = "of=exact_match"
MEASURES = (
    "exact_match", "false_refusal", "unsupported_answer", "abstention_precision", "abstention_recall",
    "answerability_coverage", f"answered_right({EM})", f"aurc({EM})", f"selective_risk(coverage=0.5,{EM})",
    f"calibration_error(bins=5,{EM})", f"brier({EM})", "retrieval_sufficient", "retrieval_auroc(score=confidence)",
    "paraphrase_consistency(of=outcome)",
)  # fmt: skip
DECLINED = "That is not in the documents."


def answerable(number: int) -> dict[str, Any]:
    """Forty of them: every tenth is declined; of the sure ones few are wrong, of the unsure ones many."""
    if number % 10 == 9:
        return {"answer": {"text": DECLINED, "outcome": "abstained"}, "retrieval": {"sufficient": number < 20}}
    sure = 0.95 - 0.1 * (number % 9)
    wrong = number % 9 > 5 or number == 18
    text = "elsewhere" if wrong else f"place {number}"
    return {
        "answer": {"text": text, "outcome": "answered", "confidence": round(sure, 2)},
        "retrieval": {"sufficient": True, "confidence": round(0.5 + sure / 2, 3)},
    }


def unanswerable(number: int) -> dict[str, Any]:
    """Twelve of them: three are answered all the same, two of those although the retriever found nothing."""
    if number < 3:
        return {
            "answer": {"text": "somewhere", "outcome": "answered", "confidence": 0.6},
            "retrieval": {"sufficient": number == 0, "confidence": 0.7 if number == 0 else 0.2},
        }
    # No outcome field: the declared rule reads the text.
    return {"answer": {"text": DECLINED}, "retrieval": {"sufficient": False, "confidence": 0.1 + 0.02 * number}}


def paraphrase(number: int) -> dict[str, Any]:
    """Two more wordings of each of four questions; one wording of the second question is declined."""
    if number == 3:
        return {"answer": {"text": DECLINED, "outcome": "abstained"}, "retrieval": {"sufficient": False}}
    return {
        "answer": {"text": f"place {number // 2}", "outcome": "answered", "confidence": 0.9},
        "retrieval": {"sufficient": True, "confidence": 0.9},
    }


def cases() -> list[dict[str, Any]]:
    """The sixty questions."""
    made = [
        {"query_id": f"a{n:02d}", "query": f"Where is thing {n}?", "answers": [{"text": f"place {n}"}],
         "relevant": [{"document_id": "list", "grade": 3}]}
        for n in range(40)
    ]  # fmt: skip
    made += [
        {"query_id": f"u{n:02d}", "query": f"Where is nothing {n}?", "class": "unanswerable", "answerable": "no"}
        for n in range(12)
    ]
    made += [
        {"query_id": f"p{n}", "query": f"In which place is thing {n // 2}{'' if n % 2 else ' kept'}?",
         "paraphrase_of": f"a{n // 2:02d}", "answers": [{"text": f"place {n // 2}"}],
         "relevant": [{"document_id": "list", "grade": 3}]}
        for n in range(8)
    ]  # fmt: skip
    return made


def system(request: Any) -> dict[str, Any]:
    """What stands above, by the first letter of the id."""
    kind, number = request.query_id[0], int(request.query_id[1:])
    told = {"a": answerable, "u": unanswerable, "p": paraphrase}[kind](number)
    return {**told, "contexts": [{"document_id": "list"}]}


def assay() -> Any:
    """The run, scored."""
    documents = [{"document_id": "list", "text": " ".join(f"Thing {n} is at place {n}." for n in range(40))}]
    return evaluate_sync(
        cases(), system, documents=documents, as_of="2026-01-01", name="refusal", measures=MEASURES,
        abstention_rules=(r"not in the documents",),
    )  # fmt: skip


def main() -> None:
    """Print the lines of the scorecard; with --out write its page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    made = assay()
    for line in summary(made.scorecard):
        print(line)
    if out is not None:
        write_report(made.scorecard, out, ("html", "md", "json"))


if __name__ == "__main__":
    main()
