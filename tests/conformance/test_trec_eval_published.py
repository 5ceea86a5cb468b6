"""trec_eval's published outputs, row by row and in every printed digit; which rows are covered and which are not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ragassay.measures.command import trec_output
from ragassay.measures.trec.rows import ALL_TREC

pytestmark = pytest.mark.shared

PARAMETERS = (
    "iprec_at_recall..10,.20,.25,.75,.50 P.5,7,3 recall.20,2000 Rprec_mult.5.0,0.2,0.35 utility.2,-1,0,0 "
    "11pt_avg..25,.5,.75 ndcg_cut.10,20,23.4 success.2,5,20"
)
FILES: list[tuple[str, str, str, dict[str, Any], set[str]]] = [
    # published output, judgements, run, options, rows that are not covered
    ("out.test", "qrels.test", "results.test", {}, set()),
    ("out.test", "qrels.test.with-comments", "results.test", {}, set()),
    ("out.test.a", "qrels.test", "results.test", {"names": ["all_trec"]}, {"G", "Rndcg", "ndcg_rel"}),
    ("out.test.aq", "qrels.test", "results.test", {"names": ["all_trec"], "by_query": True},
     {"G", "Rndcg", "ndcg_rel", "relstring"}),
    ("out.test.aqc", "qrels.test", "results.trunc", {"names": ["all_trec"], "by_query": True, "complete": True},
     {"G", "Rndcg", "ndcg_rel", "relstring"}),
    ("out.test.aqcM", "qrels.test", "results.trunc",
     {"names": ["all_trec"], "by_query": True, "complete": True, "depth": 100},
     {"G", "Rndcg", "ndcg_rel", "relstring"}),
    ("out.test.aql", "qrels.rel_level", "results.test", {"names": ["all_trec"], "by_query": True, "rel": 2},
     {"G", "Rndcg", "ndcg_rel", "relstring_20"}),
    ("out.test.meas_params", "qrels.test", "results.test", {"names": PARAMETERS.split(), "by_query": True},
     {"ndcg_1=3,2=9,4=4.5"}),
]  # fmt: skip


@pytest.mark.parametrize("published, qrels, run, options, not_covered", FILES, ids=["-".join(one[:2]) for one in FILES])
def test_every_covered_row_is_equal_as_printed(
    shared_data: Path, published: str, qrels: str, run: str, options: dict[str, Any], not_covered: set[str]
) -> None:
    folder = shared_data / "trec_eval"
    lines = trec_output(str(folder / qrels), [str(folder / run)], mode="trec10", **options)
    ours = {tuple(line.split()[:2]): line for line in lines}
    theirs = {tuple(line.split()[:2]): line for line in (folder / published).read_text().splitlines()}
    assert {name for name, query in theirs if (name, query) not in ours} == not_covered
    assert set(ours) <= set(theirs)
    assert [line for key, line in ours.items() if theirs[key] != line] == []
    assert len(ours) >= len(theirs) * 0.9


def test_the_table_of_covered_rows_is_what_is_computed(shared_data: Path) -> None:
    text = (shared_data / "trec_eval" / "out.test.a").read_text()
    stems = {line.split()[0] for line in text.splitlines()}
    covered = {one for one in stems if any(re.fullmatch(rf"{name}(_[0-9.]+)?", one) for name in ALL_TREC)}
    assert stems - covered == {"G", "Rndcg", "ndcg_rel"}
