"""What is put aside on a disk comes back as it was, and a score table is the same whether anything was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.compare.changes.made import Bench

from ragassay import score
from ragassay.records.canonical import canonical_bytes
from ragassay.records.score import Observation
from ragassay.score import pile
from ragassay.score.pile import Columns, Pile

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.binary(max_size=400), max_size=12), st.integers(1, 300))
def test_bytes_come_back(several: list[bytes], most: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pile, "_IN_MEMORY", most)
        with Pile() as made:
            places = [(made.put(one), one) for one in several]
            assert [made.get(place) for place, _ in reversed(places)] == [one for _, one in reversed(places)]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["", "x"]), NUMBERS), max_size=30), st.integers(1, 500)
)
def test_rows_come_back_by_measure_and_step_in_their_order(rows: list[tuple[str, str, float]], most: int) -> None:
    made = [
        Observation(query_id="q", repeat=number, measure=measure, step=step or None, status="value", value=value)
        for number, (measure, step, value) in enumerate(rows)
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pile, "_IN_MEMORY", most)
        with Pile() as kept:
            columns = Columns(kept)
            for one in made:
                columns.add(one.measure, one.step or "", canonical_bytes(one))
            wanted: dict[tuple[str, str], list[Observation]] = {}
            for one in made:
                wanted.setdefault((one.measure, one.step or ""), []).append(one)
            assert dict(columns) == wanted
            assert len(columns) == len(wanted)


def test_a_table_is_the_same_from_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path)
    made = bench.run()
    monkeypatch.setattr(pile, "_IN_MEMORY", 64)
    assert score.table(bench.store, made.run_digest, made.table.scoring)[1] == made.table_digest


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pile, "_IN_MEMORY", 1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Pile() as made:
        assert made.get(made.put(b"words")) == b"words"
        assert list(tmp_path.iterdir()) == []
