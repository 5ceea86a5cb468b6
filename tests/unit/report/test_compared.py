"""A comparison in words: no text of a run steers a terminal or Markdown, nothing is left out without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.compare.test_pair import rows
from tests.unit.compare.written import Written

from ragassay.compare.pair import pair
from ragassay.records.comparison import Comparison, Effect
from ragassay.records.score import Observation
from ragassay.report import compared
from ragassay.report.compared.cells import p_value
from ragassay.report.compared.rows import COLUMNS
from ragassay.report.tables import csv_parts, read_csv
from ragassay.store import Store

HOSTILE = "q\x1b[31m|<script>`x`\u202e[a](http://x)"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Comparison, compared.Compared]:
    """Thirty questions, the first with a hostile id; two repeats fail, two questions have no row now."""
    store = Store.open(Path(tmp_path_factory.mktemp("words")) / "s", create=True)
    names = [HOSTILE, *(f"q{number:02}" for number in range(29))]
    written = Written(
        store, [{"queryId": name, "slice": ["odd" if at % 2 else "even"]} for at, name in enumerate(names)]
    )
    before = rows(dict.fromkeys(names, 0.9))
    after = rows({name: 0.1 * (at % 5) for at, name in enumerate(names) if at not in (3, 4)})
    after[-1] = Observation(query_id=after[-1].query_id, repeat=0, measure="ndcg@10", status="error", step="bm25",
                            reason="timeout")  # fmt: skip
    record, digest = pair(store, written.table(before, "a"), written.table(after, "b"), names=("a", "b\x1b[2J|*x*"))
    return store, record, compared.read(store, digest, dict.fromkeys(names, "answerable"))


def test_lines_hold_what_stands_in_the_record(made: tuple[Store, Comparison, compared.Compared]) -> None:
    text = "\n".join(compared.lines(made[2]))
    (one,) = [each for each in made[2].headline if each.measure == "ndcg@10"]
    assert "30 questions paired" in text
    assert f"{one.baseline:.3f}" in text
    assert "0 / 0 / 27" in text
    assert "1 error, 2 missing: could be" in text
    assert "largest losses: " in text
    assert "slices are explored: p is corrected by Benjamini and Hochberg" in text
    assert "≤ 0.0001" in text


def test_no_text_of_a_run_steers_what_shows_it(made: tuple[Store, Comparison, compared.Compared]) -> None:
    terminal = "\n".join(compared.lines(made[2], everything=True))
    page = compared.markdown(made[2])
    for text in (terminal, page):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>" not in page
    assert "](http" not in page.replace("\\]", "")
    table = [line for line in page.splitlines() if line.startswith("| ")]
    widths = {line.replace("\\|", "").count("|") for line in table}
    assert widths <= {4, 7, 11}  # moves, slices, effects: an id with a bar opens no column


def test_a_comment_that_is_too_long_says_what_it_leaves_out(made: tuple[Store, Comparison, compared.Compared]) -> None:
    whole = compared.markdown(made[2])
    short = compared.markdown(made[2], most_bytes=1_200)
    assert "Left out" not in whole
    assert len(short.encode()) <= 1_200
    assert "**Left out for want of room: " in short


def test_csv_comes_back_as_it_went(made: tuple[Store, Comparison, compared.Compared], tmp_path: Path) -> None:
    store, record, _ = made
    found = list(store.get_lines(Effect, record.effects))
    path = tmp_path / "e.csv"
    path.write_bytes(b"".join(csv_parts(compared.effect_rows(("a", "b", one) for one in found))))
    back = read_csv(path, COLUMNS)
    names = [column.name for column in COLUMNS]
    assert len(back) == len(found)
    for row, one in zip(back, found, strict=True):
        cells = dict(zip(names, row, strict=True))
        assert (cells["effect"], cells["pairs"], cells["error"]) == (one.effect, one.pairs, one.error)
        assert cells["p"] == (one.test.p if one.test else None)
        assert cells["slice"] == one.population.slice


def test_a_p_at_its_floor_is_shown_as_at_most(made: tuple[Store, Comparison, compared.Compared]) -> None:
    whole = next(one for one in made[2].effects if one.population.slice is None)
    part = next(one for one in made[2].effects if one.population.slice == "odd")
    assert p_value(whole) == "≤ 0.0001"
    assert part.test is not None
    assert part.test.method == "exact"  # 13 clusters differ
    assert p_value(part) == f"{part.test.adjusted:.4f}"
