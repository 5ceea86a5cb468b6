"""The drop-ins call by call: names in every spelling, levels, what is refused and with which words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import pytrec_eval

from ragassay.errors import UsageError
from ragassay.measures import drop_in
from ragassay.measures.drop_in import RelevanceEvaluator

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"c": 2, "d": 1}, "é": {"a": 1}}
RUN = {"q1": {"b": 2.0, "x": 1.5, "a": 1.0, "c": 0.5}, "q2": {"d": 5.0, "y": 4.0}, "q9": {"z": 1.0}, "é": {"a": 1.0}}


@pytest.mark.parametrize(
    "names",
    [{"map"}, {"P_5", "ndcg_cut_2"}, {"P.2,5"}, {"ndcg_cut"}, {"recall.1,2", "recip_rank"}, {"official"},
     {"gm_map", "gm_bpref"}, {"success"}, {"iprec_at_recall_0.50"}, {"iprec_at_recall.0.10,0.50"}],
)  # fmt: skip
@pytest.mark.parametrize("level", [1, 2])
def test_the_same_table_as_pytrec_evals(names: set[str], level: int) -> None:
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, names, relevance_level=level).evaluate(RUN)
    ours = RelevanceEvaluator(QRELS, names, relevance_level=level).evaluate(RUN)
    assert ours.keys() == theirs.keys() == {"q1", "q2", "é"}
    for query, values in theirs.items():
        for left_out in ("runid", "num_q"):
            values.pop(left_out, None)
        assert ours[query] == pytest.approx(values, abs=1e-12)


def test_judged_only_and_one_name_alone() -> None:
    only = RelevanceEvaluator(QRELS, "recip_rank", judged_docs_only_flag=True).evaluate(RUN)
    assert only["q1"] == {"recip_rank": 1 / 2}  # b a c
    assert RelevanceEvaluator(QRELS, ["recip_rank"]).evaluate(RUN)["q1"] == {"recip_rank": 1 / 3}
    assert RelevanceEvaluator(QRELS, "all_trec").evaluate(RUN)["q2"]["map"] == 1 / 2


def test_what_is_supported() -> None:
    assert drop_in.supported_nicknames == {"official", "all_trec"}
    assert {"map", "P", "ndcg_cut", "bpref", "infAP", "Rprec"} <= drop_in.supported_measures
    with pytest.raises(UsageError, match=r"^unsupported measure 'nope\.5'") as caught:
        RelevanceEvaluator(QRELS, {"nope.5", "map"})
    assert caught.value.hint == f"one of {', '.join(sorted(drop_in.supported_measures))}"


class Ranx:
    """ranx's objects give their dictionary."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table

    def to_dict(self) -> dict[str, Any]:
        return self.table


LOG = np.log2(3)
RANX = {
    "mrr": [1 / 3, 1, 0],
    "hit_rate@1": [0, 1, 0],
    "hits@3": [1, 1, 0],
    "precision": [2 / 4, 1 / 2, 0],
    "precision@3": [1 / 3, 1 / 3, 0],
    "recall@3": [1 / 2, 1 / 2, 0],
    "recall@3-l2": [0, 0, 0],
    "recall@4-l2": [1, 0, 0],
    "r-precision": [0, 1 / 2, 0],
    "map": [(1 / 3 + 2 / 4) / 2, 1 / 2, 0],
    "ndcg@1": [0, 1 / 2, 0],
    "ndcg_burges@1": [0, 1 / 3, 0],
    "ndcg": [(1 / 2 + 2 / np.log2(5)) / (2 + 1 / LOG), 1 / (2 + 1 / LOG), 0],
    "bpref": [0, 1 / 2, 0],
}


@pytest.mark.parametrize("name", RANX)
def test_ranx_names_by_hand(name: str) -> None:
    qrels = {"q1": QRELS["q1"], "q2": QRELS["q2"], "q3": {"e": 1}}
    for judged, run in ((qrels, RUN), (Ranx(qrels), Ranx(RUN))):
        found = drop_in.evaluate(judged, run, name, return_mean=False, make_comparable=True)
        assert found.tolist() == pytest.approx(RANX[name])
    assert drop_in.evaluate(qrels, RUN, name, make_comparable=True) == pytest.approx(sum(RANX[name]) / 3)
    table = drop_in.evaluate(qrels, RUN, [name, "mrr"], make_comparable=True)
    assert table == {name: pytest.approx(sum(RANX[name]) / 3), "mrr": pytest.approx((1 / 3 + 1) / 3)}
    arrays = drop_in.evaluate(qrels, RUN, [name], return_mean=False, make_comparable=True)
    assert arrays[name].tolist() == pytest.approx(RANX[name])


@pytest.mark.parametrize(
    "call, message, hint",
    [
        (lambda: drop_in.evaluate(QRELS | {"q0": {"a": 1}, "q00": {"a": 1}}, RUN, "map"), "the run lacks query 'q0'",
         "give make_comparable=True to count it 0"),
        (lambda: drop_in.evaluate(QRELS, RUN, "nope@3"), "there is no measure named 'nope'", None),
    ],
)  # fmt: skip
def test_refusals(call: Callable[[], object], message: str, hint: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert caught.value.message == message
    assert hint is None or caught.value.hint == hint


def test_a_query_that_is_not_judged_is_left_out() -> None:
    assert drop_in.evaluate(QRELS, RUN, "mrr") == pytest.approx((1 / 3 + 1 + 1) / 3)
