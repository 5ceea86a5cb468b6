"""The nine defects that were reproduced in other tools, each beside the test that shows the right value with ours.

1. One good row and nine failed ones give 0.9: `test_ragas_headline_one_good_row_and_nine_failed_rows_is_not_0_9`.
2. One verdict for five statements gives 1.0: here; no judge ships yet, so nothing may read 1.0.
3. Model B gets the answers of model A from a cache: here.
4. A fresh installation cannot be imported: here, every module with the core's distributions alone.
5. Seven of ten samples without a score give 1.0:
   `test_inspect_ten_samples_of_which_seven_have_no_score_is_not_a_plain_1`.
6. Failures of the judge are failures of the product: `test_deepeval_failures_are_not_failures_of_the_product`.
7. nDCG of a short list is 1.0: `test_ndcg_of_a_short_list_is_0_613`.
8. nDCG of 2.13, AP of 1.0 for one of ten, division by zero: `test_ndcg_with_a_duplicated_hit_is_not_2_13`,
   `test_ap_is_not_1_when_1_of_10_relevant_is_found`, `test_empty_ground_truth_is_undefined_and_divides_by_nothing`.
9. A criterion without a metric passes: here; there is no gate yet, so nothing may read as passed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from ragassay import evaluate_sync
from ragassay.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = [
    {
        "query_id": "q1",
        "query": "Which model?",
        "relevant": [{"document_id": "a", "grade": 3}],
        "answers": [{"text": "model A"}],
    }
]
UNJUDGED = ("faithfulness", "citation_precision", "citation_recall", "answer_relevance", "correctness")


def made(model: str) -> Any:
    """One code, two models."""

    def ask(request: Any) -> dict[str, Any]:
        return {"answer": {"text": f"model {model}", "outcome": "answered"}, "contexts": ["a"]}

    return ask


class Held:
    """A system that holds its model where no identity sees it."""

    def __init__(self, model: str) -> None:
        self.model = [model]

    def __call__(self, request: Any) -> dict[str, Any]:
        return made(self.model[0])(request)


def evaluated(system: Any, *measures: str, store: Path | None = None) -> Any:
    return evaluate_sync(
        CASES, system, documents={"a": "hello"}, as_of="2026-12-01", store=store, measures=list(measures)
    )


def test_ragas_faithfulness_reads_not_measured_where_nobody_judged() -> None:
    found = evaluated(made("A"), *UNJUDGED, "exact_match")
    rows = [one for one in found.scorecard.estimates if one.measure in UNJUDGED]
    assert {one.measure for one in rows} == set(UNJUDGED)
    assert {(one.status, one.value, one.scored, one.missing) for one in rows} == {("undefined", None, 0, 1)}
    assert all(one.bounds is not None and (one.bounds.low, one.bounds.high) == (0.0, 1.0) for one in rows)


@pytest.mark.parametrize("system", [made, Held])
def test_ragas_cache_model_b_never_gets_the_answers_of_model_a(system: Any, tmp_path: Path) -> None:
    values = []
    for model in ("A", "B"):
        found = evaluated(system(model), "exact_match", store=tmp_path / "store")
        values += [one.value for one in found.scorecard.estimates if one.measure == "exact_match"]
    assert values == [1.0, 0.0]


def test_ragas_import_every_module_with_the_core_alone() -> None:
    """No module of the package, but for pytest's own plugin, imports what `pip install ragassay` did not bring."""
    lock = (ROOT / "locks" / "core.lock").read_text("utf-8")
    core = {_plain(name) for name in re.findall(r"^([A-Za-z0-9._-]+)==", lock, re.MULTILINE)}
    assert len(core) > 10
    foreign = sorted(
        module
        for module, owners in packages_distributions().items()
        if not {_plain(one) for one in owners} & core and module not in ("ragassay", "__pycache__")
    )
    assert "pytest" in foreign
    package = ROOT / "src" / "ragassay"
    names = [".".join(path.relative_to(package.parent).with_suffix("").parts) for path in package.rglob("*.py")]
    names = sorted(one.removesuffix(".__init__") for one in names if not one.endswith("__main__"))
    names = [one for one in names if ".cli.example" not in one]
    names.remove("ragassay.pytest_plugin")  # pytest itself loads it, and nobody else
    code = (
        f"import sys, importlib\nfor name in {foreign!r}: sys.modules[name] = None\n"
        f"for name in {names!r}: importlib.import_module(name)\nprint(len({names!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def test_mlflow_gate_a_criterion_without_a_metric_passes_nothing() -> None:
    with pytest.raises(UsageError, match="qality"):
        evaluated(made("A"), "qality@10")
    card = evaluated(made("A"), "stale_in_context").scorecard
    assert {(one.value, one.scored) for one in card.estimates if one.measure.startswith("stale")} == {(None, 0)}
    assert "Not decided: no policy was declared" in card.verdict.sentence


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
