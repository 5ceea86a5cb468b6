"""pytrec_eval's and ranx's calls over our kernels, so that a team can switch by one import; nothing more than theirs.

    from ragassay.measures.drop_in import RelevanceEvaluator      # was: from pytrec_eval import RelevanceEvaluator
    from ragassay.measures.drop_in import evaluate                # was: from ranx import evaluate

Values are those of mode=trec: pytrec_eval's own, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ragassay.errors import UsageError
from ragassay.measures.evaluate import Evaluation, as_lists
from ragassay.measures.evaluate import evaluate as native_evaluate
from ragassay.measures.lists import Floats
from ragassay.measures.spelling import parse
from ragassay.measures.trec.columns import labels_from_dict, run_from_dict
from ragassay.measures.trec.rows import ALL_TREC, OFFICIAL, Row, rows

supported_measures = frozenset(ALL_TREC) - {"runid", "num_q"}
"""The trec_eval measures that are computed here."""
_LEAST_IN_LOG = 0.00001
supported_nicknames = frozenset({"official", "all_trec"})


class RelevanceEvaluator:
    """pytrec_eval.RelevanceEvaluator: `evaluate(run)` gives {query: {measure: value}} for queries in both.

    Args:
        query_relevance: {query: {item: grade}}.
        measures: trec_eval's names: `map`, `P.5,10`, `ndcg_cut`, `official`.
        relevance_level: least relevant grade.
        judged_docs_only_flag: drop unjudged items first (trec_eval -J).

    Raises:
        UsageError: a measure that is not in `supported_measures`.
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        wanted = [measures] if isinstance(measures, str) else sorted(measures)
        known = {"official": OFFICIAL, "all_trec": ALL_TREC}
        names = [one for name in wanted for one in known.get(name, (name,))]
        self._names = [name for name in dict.fromkeys(map(_dotted, names)) if name not in {"runid", "num_q"}]
        for name in self._names:
            if name.partition(".")[0] not in supported_measures:
                raise UsageError(
                    f"unsupported measure {name!r}", hint=f"one of {', '.join(sorted(supported_measures))}"
                )
        self._labels = labels_from_dict(query_relevance)
        self._rel, self._judged_only = int(relevance_level), judged_docs_only_flag

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """The measures of each query that the run and the judgements share."""
        run = run_from_dict(scores, self._labels, ("single",))
        lists = as_lists(run, "single")
        if self._judged_only:
            lists = lists.condensed()
        table: list[Row] = [row for name in self._names for row in rows(name, lists, self._rel, "trec")]
        columns = [(row.name, _as_theirs(row).tolist()) for row in table]
        return {
            run.labels.names[at].decode("utf-8", "surrogatepass"): {name: values[at] for name, values in columns}
            for at in np.flatnonzero(run.retrieved >= 0).tolist()
        }


def _as_theirs(row: Row) -> Floats:
    """The values of one row; of a geometric mean pytrec_eval gives the logarithms that are to be averaged."""
    return np.log(np.maximum(row.values, _LEAST_IN_LOG)) if row.average == "geometric" else row.values


def _dotted(name: str) -> str:
    """pytrec_eval also takes `P_5`; here it is `P.5`."""
    stem, _, tail = name.rpartition("_")
    return f"{stem}.{tail}" if stem in supported_measures and tail.replace(".", "", 1).isdigit() else name


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Sequence[str],
    return_mean: bool = True,
    make_comparable: bool = False,
) -> float | dict[str, float] | np.ndarray[Any, np.dtype[np.float64]] | dict[str, Any]:
    """ranx.evaluate: one number for one metric, a dictionary for several, arrays with return_mean=False.

    `qrels` and `run` are dictionaries, or ranx's own objects. As in ranx a query that the run lacks is an error, or
    counts 0 with `make_comparable`. Where ranx breaks ties by insertion order, we do it by id.
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    judged, ranked = (one.to_dict() if hasattr(one, "to_dict") else one for one in (qrels, run))
    lacking = sorted(set(judged) - set(ranked)) if isinstance(judged, Mapping) and isinstance(ranked, Mapping) else []
    if lacking and not make_comparable:
        raise UsageError(f"the run lacks query {lacking[0]!r}", hint="give make_comparable=True to count it 0")
    spelled = [_from_ranx(name) for name in names]
    found: Evaluation = native_evaluate(judged, ranked, spelled, complete=True)
    values = {name: found.columns[found[text].measure].value for name, text in zip(names, spelled, strict=True)}
    if return_mean:
        means = {name: float(np.mean(one)) for name, one in values.items()}
        return means[names[0]] if isinstance(metrics, str) else means
    return values[names[0]] if isinstance(metrics, str) else values


def _from_ranx(name: str) -> str:
    """`ndcg_burges@10`, `hit_rate@5-l2`, `r-precision` in our spelling, in mode trec10 (double scores)."""
    stem, _, level = name.partition("-l") if "-l" in name else (name, "", "")
    base, at, cut = stem.partition("@")
    base, params = base.replace("-", "_"), {"mode": "trec10"}
    if base == "ndcg_burges":
        base, params["gain"] = "ndcg", "exp"
    if base == "precision" and not at:
        base = "set_precision"
    measure = parse(f"{base}@{cut}" if at else base).with_params(**params)
    return str(measure.with_rel(int(level) if level else 1))


__all__ = ["RelevanceEvaluator", "evaluate", "supported_measures", "supported_nicknames"]
