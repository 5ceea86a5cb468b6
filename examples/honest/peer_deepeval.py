"""What DeepEval prints for a data set, as JSON: run by compare.py in an interpreter that has DeepEval. Asks no model.

Its measures of retrieval and grounding ask a judge. The model behind the judge here finds nothing: no claim, no
verdict. That is what a model returns for an answer that it cannot take apart; what is printed then is no judgement.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.update(
    {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "ERROR_REPORTING": "NO", "DEEPEVAL_UPDATE_WARNING_OPT_OUT": "YES"}
)
warnings.filterwarnings("ignore")


def main() -> dict[str, Any]:
    from deepeval.metrics import (
        AnswerRelevancyMetric,
        ContextualPrecisionMetric,
        ContextualRecallMetric,
        ExactMatchMetric,
        FaithfulnessMetric,
    )
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase

    class FindsNothing(DeepEvalBaseLLM):  # type: ignore[misc,no-any-unimported]
        def load_model(self) -> Any:
            return self

        def get_model_name(self) -> str:
            return "finds-nothing"

        def generate(self, *_: Any, schema: Any = None, **__: Any) -> Any:
            fields = schema.model_fields.items()
            return schema(**{name: [] if "ist[" in str(field.annotation) else "" for name, field in fields})

        async def a_generate(self, *_: Any, schema: Any = None, **__: Any) -> Any:
            return self.generate(schema=schema)

    judged = {"model": FindsNothing(), "async_mode": False, "include_reason": False}
    makers = {
        "ExactMatch": lambda: ExactMatchMetric(),
        "Faithfulness": lambda: FaithfulnessMetric(**judged),
        "AnswerRelevancy": lambda: AnswerRelevancyMetric(**judged),
        "ContextualRecall": lambda: ContextualRecallMetric(**judged),
        "ContextualPrecision": lambda: ContextualPrecisionMetric(**judged),
    }
    rows = []
    for golden in json.loads(Path(sys.argv[1]).read_text("utf-8")):
        keys = ("input", "actual_output", "expected_output", "context", "retrieval_context")
        case = LLMTestCase(**{key: golden[key] for key in keys if golden.get(key) is not None})
        row: dict[str, float | str] = {}
        for name, make in makers.items():
            metric = make()
            try:
                metric.measure(case, **({} if name == "ExactMatch" else {"_show_indicator": False}))
                row[name] = float(metric.score)
            except Exception as cause:  # noqa: BLE001  what it says of a row is the finding
                row[name] = f"{type(cause).__name__}"
        rows.append(row)
    return {"version": version("deepeval"), "rows": rows}


if __name__ == "__main__":
    kept, sys.stdout = sys.stdout, sys.stderr
    kept.write(json.dumps(main()))
