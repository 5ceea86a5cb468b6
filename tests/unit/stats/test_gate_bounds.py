"""The simulation behind docs/statistics.md in small; and no t interval, no bootstrap in the source of the gate."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ragassay.stats import clopper_pearson, mean_interval
from ragassay.stats.onesided import lower_bound, upper_bound

ROOT = Path(__file__).resolve().parents[3]
GATE = sorted((ROOT / "src" / "ragassay" / "gate").rglob("*.py"))
FORBIDDEN = ("mean_interval", "ratio_interval", "paired_interval", "bootstrap", "stdtr", "student", "scipy", "sem")
"""What would bring a t or a bootstrap interval into a gate, as (a part of) a name that is imported, called or read."""


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT))
    try:
        from bench import gate_bounds

        yield gate_bounds
    finally:
        sys.path.remove(str(ROOT))


@pytest.mark.parametrize("path", GATE, ids=lambda path: path.name)
def test_no_t_interval_and_no_bootstrap_in_the_gate(path: Path) -> None:
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {one.name for one in node.names} | {getattr(node, "module", None) or ""}
        names |= {getattr(node, "id", ""), getattr(node, "attr", "")}
    used = {name for name in names for word in FORBIDDEN if word in name.split(".") or (len(word) > 4 and word in name)}
    assert not used, used


def test_the_gate_is_read_at_all() -> None:
    assert any("onesided" in path.read_text("utf-8") for path in GATE)


@pytest.mark.parametrize("n", [20, 50, 150])
def test_bounds_hold_in_every_setting(bench: ModuleType, n: int) -> None:
    least = 0.95 - 3 * bench.error_of(0.05, 300)
    for setting in bench.SETTINGS:
        found = bench.examine(setting, n, 300, seed=5)
        for name, (low, high, width) in found.methods.items():
            assert low >= least, (setting.name, name)
            assert high >= least, (setting.name, name)
            assert width > 1


def test_t_would_pass_what_it_must_not(bench: ModuleType) -> None:
    """Rare large losses at the margin, 20 questions: t passes more than 15 of 100, betting at most 5."""
    setting = next(one for one in bench.SETTINGS if one.name == "loss 5 %")
    found = bench.examine(setting, 20, 1000, seed=5)
    assert 1 - found.t_holds[0] > 0.15
    assert 1 - found.methods["betting"][0] <= 0.05
    assert bench.region_of(found) == "outside"


def test_its_tables_are_made_of_the_functions_of_the_product(bench: ModuleType) -> None:
    for setting in bench.SETTINGS:
        drawn = setting.draw(np.random.default_rng(3), 4, 50)
        clusters = None if drawn.sizes is None else np.repeat(np.arange(len(drawn.sizes)), drawn.sizes).tolist()
        assert drawn.values.shape == (4, 50)
        assert drawn.sizes is None or drawn.sizes.sum() == 50
        halves = bench.t_halves(bench.spread(drawn)[0], 0.975)
        for values, half in zip(drawn.values, halves, strict=True):
            assert drawn.within[0] <= values.min() <= values.max() <= drawn.within[1]
            interval = mean_interval(values.tolist(), clusters)
            assert interval.high is not None
            assert interval.low is not None
            assert (interval.high - interval.low) / 2 == pytest.approx(half)
            if "rate" in setting.name:
                low, high = (float(one[0]) for one in bench.exact_bounds(values[None, :]))
                assert clopper_pearson(int(values.sum()), 50, 0.9)[1:3] == pytest.approx((low, high))
                assert lower_bound(values, (0, 1), 0.05, method="exact") == pytest.approx(low)
                assert upper_bound(values, (0, 1), 0.05, method="exact") == pytest.approx(high)


def test_settings_have_the_means_that_they_say(bench: ModuleType) -> None:
    for setting in bench.SETTINGS:
        drawn = setting.draw(np.random.default_rng(8), 3000, 20)
        means = drawn.values.mean(axis=1)
        assert drawn.mean == pytest.approx(means.mean(), abs=4.5 * means.std() / np.sqrt(3000)), setting.name


def test_the_page(bench: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Head\n\n<!-- tables -->\nan earlier table\n", "utf-8")
    assert bench.main(["--experiments", "60", "--n", "20", "150", "--out", str(page)]) in (0, 1)
    text = page.read_text("utf-8")
    assert text.startswith("# Head\n\n<!-- tables -->\n\n60 experiments a row")
    assert "an earlier table" not in text
    assert "No t interval is used in a gate" in text
    assert text.count("| loss 5 % | 150 |") == 3
    assert text.partition("<!-- tables -->")[2].strip() == capsys.readouterr().out.strip()
