"""The same CLAPnq questions through seven doors (examples/adapters): the same scores, and what each cannot report."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
DATA = ROOT.parent / "shared" / "data" / "clapnq"
QUESTIONS = 30
LIBRARIES = {"langchain": "langchain_core", "llamaindex": "llama_index", "haystack": "haystack"}

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.is_dir(), reason="the CLAPnq files are not beside this checkout (../shared/data)"),
]


@pytest.fixture(scope="module")
def compare() -> Any:
    before, loaded = list(sys.path), set(sys.modules)
    spec = importlib.util.spec_from_file_location("adapters_compare", ROOT / "examples" / "adapters" / "compare.py")
    assert spec
    assert spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before
    for name in set(sys.modules) - loaded & {"search", "doors", "clapnq", "common"}:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def doors(compare: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    found, closed = compare.compare(DATA, QUESTIONS, tmp_path_factory.mktemp("doors"))
    missing = [name for name, module in LIBRARIES.items() if importlib.util.find_spec(module) is None]
    assert [one.split(":")[0] for one in closed] == missing, "only what is not installed is left out"
    if missing:
        pytest.skip(f"dependency group `adapters` is not installed: {', '.join(missing)}")
    return found


def test_the_same_scores_through_every_door(doors: Any) -> None:
    assert list(doors) == ["python", "http", "command", "trec", "langchain", "llamaindex", "haystack"]
    first = doors["python"].scores
    assert len({key.split()[0] for key, _ in first}) == QUESTIONS
    for name, door in doors.items():
        assert door.said.questions == QUESTIONS
        assert door.scores == first, name


def test_the_scores_are_those_that_a_hand_calculation_gives(doors: Any, compare: Any) -> None:
    """rr(rel=2)@20 of each question, worked out from the labels and the search alone."""
    import search

    folder = Path(search.opened()._folder)
    cases, read = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").split("\n") if line]
        for name in ("cases.jsonl", "documents.jsonl")
    )
    documents = {one["document_id"]: one["text"] for one in read}
    checked = 0
    for case in cases:
        if case["class"] != "answerable":
            continue
        wanted = [one for one in case["evidence"] if one["grade"] >= 2]
        covered: list[set[int]] = [set() for _ in wanted]
        rank_of_first = 0
        for rank, (one, _) in enumerate(search.opened().best(case["query"], 20), 1):
            for seen, label in zip(covered, wanted, strict=True):
                if one["document_id"] == label["document_id"]:
                    seen.update(
                        range(max(one["start"], label.get("start", 0)), min(one["end"], label.get("end", 10**9)))
                    )
                needed = range(label.get("start", 0), label.get("end", len(documents[label["document_id"]])))
                text = documents[label["document_id"]]
                if "start" in label and all(at in seen or text[at].isspace() for at in needed):
                    rank_of_first = rank_of_first or rank
        if any("start" not in label for label in wanted):
            continue
        expected = f"{1 / rank_of_first if rank_of_first else 0:.4f}"
        assert doors["python"].scores[f"{case['query_id']} bm25", "rr(rel=2)@20"] == expected, case["query_id"]
        checked += 1
    assert checked > 10


def test_what_each_door_cannot_report_is_missing(doors: Any) -> None:
    def missing(name: str, *parts: str) -> set[str]:
        return set(doors[name].said.missing) & set(parts)

    assert not missing("python", "scores", "score direction", "versions", "latency")
    assert missing("http", "texts", "places", "versions") == {"texts", "places"}
    assert missing("trec", "scores", "score direction", "versions", "latency") == {"versions", "latency"}
    assert missing("langchain", "scores", "places", "texts", "versions", "latency") == {"scores", "versions"}
    for name in ("llamaindex", "haystack"):
        assert missing(name, "scores", "score direction", "places", "texts") == {"score direction"}
    for door in doors.values():
        assert {"answer", "context", "outcome", "usage"} <= set(door.said.missing)


def test_the_tables_name_every_door(doors: Any, compare: Any) -> None:
    text = compare.tables(doors, ["x: not installed"])
    assert "| reported | python | http | command | trec | langchain | llamaindex | haystack |" in text
    assert "| scores | yes | yes | yes | yes | missing | yes | yes |" in text
    assert "not compared: x: not installed" in text
