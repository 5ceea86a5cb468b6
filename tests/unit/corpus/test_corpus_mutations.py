"""Some hundred seeded mutations of every format of documents; `trials/mutations.py` runs ten thousand of each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from trials.mutations import load_tables, one_input  # noqa: E402

FORMATS = {name: row for name, row in load_tables().items() if name.startswith("corpus-")}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_an_answer_or_a_documented_error(name: str, tmp_path: Path) -> None:
    sources = FORMATS[name].write(tmp_path)
    outcomes = [one_input(FORMATS[name], sources, name, 1, number) for number in range(150)]
    assert [said for kind, said in outcomes if kind == "BROKEN"] == []
    unpacks = {"jsonl", "csv", "beir", "ir_datasets", "trec"} & set(name.removesuffix("+gzip").split("-"))
    wanted = {"read", "refused"} if unpacks or not name.endswith("+gzip") else {"refused"}
    assert {kind for kind, _ in outcomes} >= wanted
