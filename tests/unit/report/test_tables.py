"""Tables as CSV and Parquet: reading back gives equal values, and no cell is a formula or steers a terminal."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import msgspec
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report import sample

from ragassay.errors import UsageError
from ragassay.records.score import Bounds
from ragassay.report import tables

HOSTILE = (
    "=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", "＋1", "－1", "＠x", "﹦1", "\t=1", "\r=1",
    " =1", "\u3000=1", "\u200b=1", "'=1",
    "'", "", "\\u{41}", "\\\\u{41}", "a,b\n\"c\"", "\x1b[31m",
    "\u202e", "\U000e0041", "|cmd", "−1", "\ufeff=1", "C:\\users",
)  # fmt: skip


def written(table: tables.Table, path: Path) -> str:
    path.write_bytes(b"".join(tables.csv_parts(table)))
    return path.read_text("utf-8")


@pytest.mark.parametrize("name", ["observations", "estimates", "fates"])
def test_reading_back_gives_equal_values(name: str, tmp_path: Path) -> None:
    made = sample.material()
    rows = (*made.observations, *made.runtime) if name == "observations" else getattr(made, name)
    make = getattr(tables, name)
    wanted = list(make(rows).rows)
    assert len(wanted) == len(rows)
    columns = make(rows).columns
    written(make(rows), tmp_path / "t.csv")
    assert tables.read_csv(tmp_path / "t.csv", columns) == wanted
    tables.write_parquet(make(rows), tmp_path / "t.parquet")
    stored = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    assert stored.column_names == [one.name for one in columns]
    assert [tuple(row.values()) for row in stored.to_pylist()] == wanted


def test_hostile_ids_are_no_formulas_and_come_back(tmp_path: Path) -> None:
    row = sample.material().observations[0]
    rows = [msgspec.structs.replace(row, principal=text) for text in HOSTILE]
    text = written(tables.observations(rows), tmp_path / "t.csv")
    assert not set(text) & set("\x1b\u202e\u200b\t\r\ufeff\U000e0041")
    cells = [line["principal"] for line in csv.DictReader(text.splitlines())]
    assert len(cells) == len(HOSTILE)
    for cell in cells:
        assert cell.strip()[:1] not in tuple("=+-@|%＝＋－＠﹦−")
    assert cells[0] == "'=1+1"
    assert cells[4] == "'＝1+1"
    assert cells[-1] == "C:\\users"
    back = tables.read_csv(tmp_path / "t.csv", tables.OBSERVATIONS)
    assert [one[14] for one in back] == list(HOSTILE)


@given(st.text(alphabet=st.characters(), max_size=40))
def test_every_text_comes_back(text: str) -> None:
    cell = tables.safe_text(text)
    assert tables.plain_text(cell) == text
    assert cell
    assert not any(ord(one) < 32 or 0xD800 <= ord(one) < 0xE000 for one in cell)


@given(st.floats(allow_nan=False))
def test_every_number_comes_back(value: float) -> None:
    back = tables._value(tables._cell(value, "number"), "number")
    assert isinstance(back, float)
    assert back == value
    assert math.copysign(1, back) == math.copysign(1, value)


def test_another_file_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    with pytest.raises(UsageError, match="header"):
        tables.read_csv(path, tables.FATES)
    path.write_text(",".join(one.name for one in tables.FATES) + "\nq,x,f,true,held,[],[],false\n")
    with pytest.raises(UsageError, match="not a row") as caught:
        tables.read_csv(path, tables.FATES)
    assert caught.value.line == 2


def test_what_unjudged_items_could_do_stands_in_both_tables(tmp_path: Path) -> None:
    made = sample.material()
    row = msgspec.structs.replace(made.observations[0], unjudged=Bounds(low=0.25, high=0.75))
    whole = msgspec.structs.replace(made.estimates[0], unjudged=Bounds(low=0.125, high=1.0))
    for table, ends in ((tables.observations([row]), ["0.25", "0.75"]), (tables.estimates([whole]), ["0.125", "1.0"])):
        (cells,) = csv.DictReader(written(table, tmp_path / "t.csv").splitlines())
        assert [cells["unjudged_low"], cells["unjudged_high"]] == ends
