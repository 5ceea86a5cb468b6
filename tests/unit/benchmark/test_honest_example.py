"""The example that sets our numbers beside those of ragas and DeepEval: its own half by hand, theirs skipped."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "honest"


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("honest_compare", EXAMPLE / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "honest_compare", module)
    spec.loader.exec_module(module)
    for name in module.NAMES.values():
        monkeypatch.delenv(name, raising=False)
    return module


def test_the_six_traps(compare: ModuleType, tmp_path: Path) -> None:
    documents = list(compare.corpus.read(EXAMPLE / "documents.jsonl"))
    data = compare.DataSet("traps", "ragas", EXAMPLE / "traps.jsonl", documents)
    table, notes = compare.ours(data, tmp_path)
    assert [row["context_recall"] for row in table.rows] == [
        "1.0000", "1.0000", "0.0000", "0.0000", "error (invalid_response)", "missing (unlabelled)",
    ]  # fmt: skip
    assert table.total["context_recall"].startswith("0.5000, 4 of 6")  # (1 + 1 + 0 + 0) / 4
    assert table.total["exact_match"] == "0.5000, 4 of 6, in [0.3333, 0.6667]"  # 2 of 4; 2 of 6 to 4 of 6
    assert any("who may see what" in one for one in notes)
    assert compare.theirs(data) == "ragas was not run: set RAGAS_PYTHON to an interpreter that has it"
    page = (ROOT / "docs" / "honest-numbers.md").read_text("utf-8")
    for name in ("exact_match", "rouge_l", "bleu"):
        mean, of, between = table.total[name].split(", ", 2)
        low, high = between.removeprefix("in [").removesuffix("]").split(", ")
        assert f"{mean}, {of}, between {low} and {high}" in page


def test_published_files_are_read_from_a_folder(compare: ModuleType, tmp_path: Path) -> None:
    lists = {"user_inputs": ["Who?"], "retrieved_contexts": [["a"]], "responses": ["b"], "references": ["c"]}
    page = "```python\n" + "".join(f"{name} = [\n    {values[0]!r},\n]\n" for name, values in lists.items()) + "```\n"
    (tmp_path / "vertexai_x_ragas.md").write_text(page)
    (tmp_path / "goldens.json").write_text(json.dumps([{"input": "Who?", "actual_output": "x"}]))
    (tmp_path / "scratch").mkdir()
    guide, goldens = compare.published(tmp_path, tmp_path / "scratch")
    assert json.loads(guide.path.read_text()) == {
        "user_input": "Who?", "retrieved_contexts": ["a"], "response": "b", "reference": "c",
    }  # fmt: skip
    table, _ = compare.ours(goldens, tmp_path)
    assert table.rows[0]["exact_match"] == "missing (no_reference)"
    (tmp_path / "vertexai_x_ragas.md").write_text("another page")
    with pytest.raises(SystemExit, match="holds no list"):
        list(compare.published(tmp_path, tmp_path / "scratch"))
