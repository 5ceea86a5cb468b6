"""What ragas prints for a data set, as JSON: run by compare.py in an interpreter that has ragas. Asks no model."""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["RAGAS_DO_NOT_TRACK"] = "true"
warnings.filterwarnings("ignore")


def main() -> dict[str, Any]:
    from ragas import EvaluationDataset, evaluate
    from ragas.metrics import (
        BleuScore,
        ExactMatch,
        NonLLMContextPrecisionWithReference,
        NonLLMContextRecall,
        NonLLMStringSimilarity,
        RougeScore,
    )

    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text("utf-8").splitlines()]
    answers = [RougeScore(), ExactMatch(), BleuScore(), NonLLMStringSimilarity()]
    groups = [answers]
    if any(row.get("reference_contexts") for row in rows):
        groups.insert(0, [NonLLMContextRecall(), NonLLMContextPrecisionWithReference()])
    found: dict[str, Any] = {"version": version("ragas"), "printed": {}, "rows": [{} for _ in rows]}
    for metrics in groups:
        result = evaluate(EvaluationDataset.from_list(rows), metrics=metrics, show_progress=False)
        found["printed"].update({name: float(value) for name, value in result._repr_dict.items()})
        for kept, scores in zip(found["rows"], result.scores, strict=True):
            kept.update({name: None if value != value else float(value) for name, value in scores.items()})
    return found


if __name__ == "__main__":
    kept, sys.stdout = sys.stdout, sys.stderr
    kept.write(json.dumps(main()))
