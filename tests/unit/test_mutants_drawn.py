"""The sample of the mutants and its bound: shares of folders, the same for one seed, against scipy's interval."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from scipy.stats import binomtest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "mutants_drawn.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants_drawn", TOOL)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


FOLDERS = {f"{folder}.{at}": folder for folder, size in (("a", 500), ("b", 300), ("c", 200)) for at in range(size)}


def test_folders_have_their_share(tool: ModuleType) -> None:
    made = tool.drawn(FOLDERS, 100, 3)
    assert len(set(made)) == 100
    assert Counter(FOLDERS[name] for name in made) == {"a": 50, "b": 30, "c": 20}
    odd = Counter(FOLDERS[name] for name in tool.drawn(FOLDERS, 11, 3))  # 5.5, 3.3 and 2.2
    assert odd == {"a": 6, "b": 3, "c": 2}


def test_one_seed_one_sample_in_any_order_of_names(tool: ModuleType) -> None:
    made = tool.drawn(FOLDERS, 100, 3)
    assert tool.drawn(dict(reversed(FOLDERS.items())), 100, 3) == made
    assert tool.drawn(FOLDERS, 100, 4) != made
    assert made != sorted(made)
    assert sorted(tool.drawn(FOLDERS, 5_000, 3)) == sorted(FOLDERS)
    assert tool.drawn({}, 5, 3) == []


@pytest.mark.parametrize(("survived", "ran"), [(0, 30), (4, 100), (60, 1_500), (7, 8)])
def test_the_bound_is_that_of_clopper_and_pearson(tool: ModuleType, survived: int, ran: int) -> None:
    theirs = binomtest(survived, ran, alternative="less").proportion_ci(0.95, method="exact").high
    assert tool.at_most(survived, ran) == pytest.approx(theirs, abs=1e-9)
    assert tool.at_most(0, 30) == pytest.approx(1 - 0.05 ** (1 / 30))
    assert tool.at_most(3, 3) == tool.at_most(0, 0) == 1.0


def test_options_are_taken_out_of_the_line(tool: ModuleType) -> None:
    line = ["--sample", "5", "ppi", "--hold", "file"]
    assert (tool.number(line, "--sample"), tool.number(line, "--seed"), tool.option(line, "--hold")) == (
        5,
        None,
        "file",
    )
    assert line == ["ppi"]
