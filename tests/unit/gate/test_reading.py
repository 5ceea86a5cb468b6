"""The gate's reader against the arrays of `compare`, on drawn tables; the policy of the docs and of the example."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from tests.unit.compare.test_pairs import CASES, drawn
from tests.unit.compare.written import Written

from ragassay.compare import pairs as compared
from ragassay.compare.side import open_side
from ragassay.gate.evidence import read_evidence
from ragassay.gate.policy_file import policy_of
from ragassay.gate.reading import Column, Part, column, paired
from ragassay.records.score import Population
from ragassay.store import Store

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("measure", ["ndcg@10", "recall(rel=2)@20"])
@pytest.mark.parametrize("slice_", [None, "a"])
def test_both_readers_read_the_same(tmp_path: Path, measure: str, slice_: str | None) -> None:
    """Values and ends of every question, and differences of every pair, in one order."""
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, CASES)
    tables = [written.table(drawn(written, seed), f"t{seed}", repeats=3) for seed in (1, 2)]
    arms = [read_evidence(store, one, "arm") for one in tables]
    sides = [open_side(store, one, "arm") for one in tables]
    population = Population(class_="answerable", slice=slice_)
    columns = []
    for arm, side in zip(arms, sides, strict=True):
        own = column(arm, measure, "bm25", Part("answerable", slice_))
        assert isinstance(own, Column)
        other = compared.column(side, measure, population, "bm25", "macro")
        known = sorted((one.query_id, one.value) for one in own.lines if one.value is not None)
        assert [name for name, _ in known] == list(other.query_ids)
        np.testing.assert_allclose([value for _, value in known], other.values, atol=1e-12)
        assert other.ends is not None
        lines = sorted(own.lines, key=lambda one: one.query_id)
        np.testing.assert_allclose([one.low for one in lines], other.ends.low, atol=1e-12)
        np.testing.assert_allclose([one.high for one in lines], other.ends.high, atol=1e-12)
        columns.append(own)
    lines, _ = paired(columns[1], columns[0], arms[1].cases)
    both = compared.pairs(sides[0], sides[1], measure, population, "bm25", "macro")
    known = sorted((one.query_id, one.value) for one in lines if one.value is not None)
    assert [name for name, _ in known] == list(both.query_ids)
    np.testing.assert_allclose([value for _, value in known], both.differences, atol=1e-12)


def test_the_policy_of_the_docs_is_a_policy() -> None:
    (text,) = re.findall(r"```toml\n(\[policy\].*?)```", (ROOT / "docs" / "gate.md").read_text("utf-8"), re.S)
    made = policy_of(tomllib.loads(text)["policy"])
    assert (len(made.rules), len(made.needs), made.refusal is not None, made.review is not None) == (3, 1, True, True)


def test_the_policy_of_the_example_is_one_without_its_marks() -> None:
    text = (ROOT / "src" / "ragassay" / "cli" / "example" / "ragassay.toml").read_text("utf-8")
    lines = text[text.index("# [policy]") :].splitlines()
    body = "\n".join(line.removeprefix("# ") for line in lines[: lines.index("")])
    assert len(policy_of(tomllib.loads(body)["policy"]).must_hold) == 1
