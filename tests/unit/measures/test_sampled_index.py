"""A scattered file whose sample of lines misleads is read as its lines sorted are: the index is made again from all."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragassay.errors import InputError
from ragassay.measures.trec import run as reading
from ragassay.measures.trec.columns import labels_from_dict
from ragassay.measures.trec.run import RunRows, read_run

QUERIES = 7
LABELS = {f"q{query}": {f"d{query}-{item:05}": 1 + item % 2 for item in range(0, 4000, 17)} for query in range(QUERIES)}


def blocks(strangers: int, seed: int) -> list[str]:
    """Each query in five long blocks, far longer than the stride of the sample; single lines of others in some."""
    dice, items = random.Random(seed), dict.fromkeys(range(QUERIES), 0)

    def line(query: int) -> str:
        items[query] += 1
        return f"q{query} Q0 d{query}-{items[query]:05} 1 {dice.randrange(100)} t"

    made = [[line(number % QUERIES) for _ in range(700)] for number in range(5 * QUERIES)]
    for number in dice.sample(range(len(made)), strangers):
        made[number].insert(dice.randrange(100, 600), line((number + 3) % QUERIES))
    return [one for block in made for one in block]


def same(one: RunRows, other: RunRows) -> bool:
    ranked = zip(one.ranked["double"], other.ranked["double"], strict=True)
    arrays = [(one.retrieved, other.retrieved), (one.duplicates, other.duplicates), *ranked]
    return all(np.array_equal(left, right) for left, right in arrays)


@pytest.fixture
def indexes(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each index that was made looked at every line."""
    made: list[bool] = []

    def noted(*arguments: Any, every_line: bool = False) -> Any:
        made.append(every_line)
        return gathered(*arguments, every_line=every_line)

    gathered = reading.gathered
    monkeypatch.setattr(reading, "gathered", noted)
    return made


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("piece", [30_000, 200_000])
@pytest.mark.parametrize("strangers", [0, 1, 12])
def test_lines_that_no_sample_met(
    tmp_path: Path, indexes: list[bool], strangers: int, piece: int, threads: int
) -> None:
    lines = blocks(strangers, seed=strangers)
    path, grouped = tmp_path / "run", tmp_path / "grouped"
    path.write_text("\n".join(lines) + "\n")
    grouped.write_text("\n".join(sorted(lines, key=lambda one: one.split()[0])) + "\n")
    labels = labels_from_dict(LABELS)
    run = read_run(str(path), labels, piece=piece, threads=threads)
    # A single stranger may stand where every line is looked at anyway.
    assert indexes in {0: [[False]], 1: [[False], [False, True]], 12: [[False, True]]}[strangers]
    assert same(run, read_run(str(grouped), labels, threads=1))
    assert run.retrieved.sum() == len(lines)


@pytest.mark.parametrize("place", [0, 333, 20_000, -1])
def test_a_broken_line_has_its_number_whichever_index_finds_it(tmp_path: Path, place: int) -> None:
    lines = blocks(12, seed=5)
    at = place % len(lines)
    lines[at] = lines[at].replace(" t", "x t")
    path = tmp_path / "run"
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match="is not a number") as caught:
        read_run(str(path), labels_from_dict(LABELS), piece=30_000)
    assert caught.value.line == at + 1
