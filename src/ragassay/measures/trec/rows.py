"""trec_eval's own rows: its names, its order, its averages; what it prints with -m official and -m all_trec.

Not here: relstring, G, ndcg_rel, Rndcg, gain maps of ndcg, preference and multi-judge measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from ragassay.errors import UsageError
from ragassay.measures.lists import Floats, Ints, Lists, places, summed
from ragassay.measures.ranking import column
from ragassay.measures.spelling import Measure, parse

Version = Literal["trec", "trec10"]
Average = Literal["sum", "mean", "geometric"]

_RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_LEVELS = tuple(round(0.1 * n, 1) for n in range(11))
_MULTIPLES = tuple(round(0.2 * n, 1) for n in range(1, 11))
_FLOOR = 0.00001

_NAMES = "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
_MORE = (
    "recall infAP gm_bpref Rprec_mult utility 11pt_avg binG ndcg ndcg_cut map_cut relative_P success set_P "
    "set_relative_P set_recall set_map set_F num_nonrel_judged_ret rbp rbp_resid unj"
)
OFFICIAL = tuple(_NAMES.split())
ALL_TREC = (*OFFICIAL, *_MORE.split())
"""All that are computed here, in trec_eval's order."""


class Row(NamedTuple):
    """One row name, its value for each question, and how trec_eval averages and prints it."""

    name: str
    values: Floats
    average: Average = "mean"
    whole: bool = False
    """Printed without decimals."""
    summary_only: bool = False


class Asked(NamedTuple):
    """Least relevant grade, version to follow, and the measure's parameters as they were written."""

    rel: int
    version: Version
    given: str


def rows(name: str, lists: Lists, rel: int, version: Version) -> list[Row]:
    """The rows of one trec_eval measure: `map`, `P` (all its default cut-offs), or with parameters as in `P.5,10`.

    Raises:
        UsageError: the measure is not computed here.
    """
    stem, _, given = name.partition(".")
    maker = _makers().get(stem)
    if maker is None:
        raise UsageError(
            f"there is no trec_eval measure {name!r} here",
            hint=f"official, all_trec, {', '.join(ALL_TREC)}; cut-offs as in P.5,10",
        )
    return maker(lists, Asked(rel, version, given))


def expanded(names: Iterable[str]) -> list[str]:
    """The measures with `official` and `all_trec` written out, each once."""
    known = {"official": OFFICIAL, "all_trec": ALL_TREC}
    return list(dict.fromkeys(one for name in names for one in known.get(name, (name,))))


def averaged(row: Row, used: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """trec_eval's summary of a row over the questions that it used, added in their order."""
    values = row.values[used]
    if not len(values):
        return 0.0
    if row.average == "geometric":
        return float(np.exp(np.cumsum(np.log(np.maximum(values, _FLOOR)))[-1] / len(values)))
    total = float(np.cumsum(values)[-1])
    return total if row.average == "sum" else total / len(values)


def _values(spelling: str, lists: Lists, rel: int, version: Version) -> Floats:
    measure: Measure = parse(spelling).with_rel(rel).with_params(mode=version)
    return column(measure, lists).value


def _plain(name: str, spelling: str, average: Average = "mean", *, summary_only: bool = False) -> _Maker:
    def make(lists: Lists, asked: Asked) -> list[Row]:
        _refuse(name, asked.given)
        return [Row(name, _values(spelling, lists, asked.rel, asked.version), average, summary_only=summary_only)]

    return make


def _cut(name: str, spelling: str, default: tuple[int, ...]) -> _Maker:
    def make(lists: Lists, asked: Asked) -> list[Row]:
        cuts = sorted({int(float(one)) for one in _split(name, asked.given)}) if asked.given else default
        return [Row(f"{name}_{k}", _values(f"{spelling}@{k}", lists, asked.rel, asked.version)) for k in cuts]

    return make


def _counted(name: str, count: Callable[[Lists, int], Ints]) -> _Maker:
    def make(lists: Lists, asked: Asked) -> list[Row]:
        _refuse(name, asked.given)
        return [Row(name, count(lists, asked.rel).astype(np.float64), "sum", whole=True)]

    return make


_Maker = Callable[[Lists, Asked], list[Row]]


def _split(name: str, given: str) -> list[str]:
    parts = given.split(",")
    try:
        if all(float(one) >= 0 for one in parts):
            return parts
    except ValueError:
        pass
    raise UsageError(f"{given!r} of {name} is not a list of numbers", hint=f"as in {name}.5,10")


def _refuse(name: str, given: str) -> None:
    if given:
        raise UsageError(f"{name} takes no parameters here", hint=f"write {name}")


def _found(lists: Lists, rel: int) -> tuple[Ints, Ints, Ints]:
    """Relevant rows: question, rank, and how many relevant ones so far."""
    good = lists.grade >= rel
    query = lists.query[good]
    return query, lists.rank[good], places(query, lists.queries)


def _interpolated(lists: Lists, rel: int, fraction: float, version: Version) -> Floats:
    """Greatest precision at or after the rank where this share of the relevant items is found."""
    total = lists.relevant_labels(rel)
    share = fraction * total
    needed = np.floor(share + 0.5) if version == "trec10" else np.floor(share + 0.9)
    query, rank, so_far = _found(lists, rel)
    result = np.zeros(lists.queries)
    late = so_far >= needed[query]
    np.maximum.at(result, query[late], so_far[late] / rank[late])
    return result


def _iprec(lists: Lists, asked: Asked) -> list[Row]:
    levels = sorted({float(one) for one in _split("iprec_at_recall", asked.given)}) if asked.given else _LEVELS
    return [Row(f"iprec_at_recall_{one:.2f}", _interpolated(lists, asked.rel, one, asked.version)) for one in levels]


def _eleven(lists: Lists, asked: Asked) -> list[Row]:
    levels = sorted({float(one) for one in _split("11pt_avg", asked.given)}) if asked.given else _LEVELS
    total = np.zeros(lists.queries)
    for one in levels:
        total = total + _interpolated(lists, asked.rel, one, asked.version)
    return [Row(f"11pt_avg_{asked.given}" if asked.given else "11pt_avg", total / len(levels))]


def _multiples(lists: Lists, asked: Asked) -> list[Row]:
    levels = sorted({float(one) for one in _split("Rprec_mult", asked.given)}) if asked.given else _MULTIPLES
    total = lists.relevant_labels(asked.rel)
    query, rank, _ = _found(lists, asked.rel)
    result = []
    for one in levels:
        cut = np.floor(one * total + 0.9).astype(np.int64)
        hits = np.bincount(query[rank <= cut[query]], minlength=lists.queries)
        value = np.divide(hits, cut, out=np.zeros(lists.queries), where=cut > 0)
        result.append(Row(f"Rprec_mult_{one:.2f}", value))
    return result


def _utility(lists: Lists, asked: Asked) -> list[Row]:
    weights = [float(one) for one in asked.given.split(",")] if asked.given else [1.0, -1.0, 0.0, 0.0]
    if len(weights) != 4 or weights[3] != 0:
        raise UsageError("utility takes four weights, the last of them 0", hint="as in utility.1,-1,0,0")
    hits, total = lists.count(lists.grade >= asked.rel), lists.relevant_labels(asked.rel)
    value = weights[0] * hits + weights[1] * (lists.retrieved - hits) + weights[2] * (total - hits)
    return [Row(f"utility_{asked.given}" if asked.given else "utility", value.astype(np.float64))]


def _bin_g(lists: Lists, asked: Asked) -> list[Row]:
    _refuse("binG", asked.given)
    query, rank, so_far = _found(lists, asked.rel)
    total = lists.relevant_labels(asked.rel)
    gained = summed(query, 1.0 / np.log2(2.0 + rank - so_far), lists.queries)
    return [Row("binG", np.divide(gained, total, out=np.zeros(lists.queries), where=total > 0))]


def _relative(name: str, default: tuple[int, ...]) -> _Maker:
    def make(lists: Lists, asked: Asked) -> list[Row]:
        query, rank, _ = _found(lists, asked.rel)
        total = lists.relevant_labels(asked.rel)
        result = []
        cuts: Iterator[Ints | int]
        cuts = iter(
            sorted({int(one) for one in _split(name, asked.given)}) if asked.given else default or (lists.retrieved,)
        )
        for cut in cuts:
            limit = np.broadcast_to(np.asarray(cut), (lists.queries,))
            hits = np.bincount(query[rank <= limit[query]], minlength=lists.queries)
            below = np.minimum(limit, total)
            value = np.divide(hits, below, out=np.zeros(lists.queries), where=below > 0)
            result.append(Row(f"{name}_{cut}" if default or asked.given else name, value))
        return result

    return make


def _rbp(lists: Lists, asked: Asked) -> list[Row]:
    _refuse("rbp", asked.given)
    greatest = np.zeros(lists.queries)
    np.maximum.at(greatest, lists.label_query, lists.label_grade)
    scale = np.where(greatest > 1, greatest, 1.0)
    worth = np.maximum(lists.grade, 0) / scale[lists.query]
    return [Row("rbp", 0.1 * summed(lists.query, worth * 0.9 ** (lists.rank - 1.0), lists.queries))]


def _rbp_residual(lists: Lists, asked: Asked) -> list[Row]:
    """As printed by trec_eval 10: the tail is lost where all retrieved items are judged."""
    _refuse("rbp_resid", asked.given)
    value = _values("rbp_residual(p=0.9)", lists, asked.rel, asked.version)
    return [Row("rbp_resid", np.where(lists.count(lists.judged) < lists.retrieved, value, 0.0))]


def _unjudged(lists: Lists, asked: Asked) -> list[Row]:
    result = []
    for cut in sorted({int(one) for one in _split("unj", asked.given)}) if asked.given else (5, 10, 20):
        known = lists.count(lists.judged & (lists.rank <= cut))
        result.append(Row(f"unj_{cut}", (np.minimum(lists.retrieved, cut) - known) / cut))
    return result


def _set_f(lists: Lists, asked: Asked) -> list[Row]:
    _refuse("set_F", asked.given)
    precision = _values("set_precision", lists, asked.rel, asked.version)
    recall = _values("recall", lists, asked.rel, asked.version)
    both = precision + recall
    return [Row("set_F", np.divide(2 * precision * recall, both, out=np.zeros(lists.queries), where=both > 0))]


def _makers() -> dict[str, _Maker]:
    """How each measure's rows are made, by trec_eval's name."""
    return {
        "num_ret": _counted("num_ret", lambda lists, _: lists.retrieved),
        "num_rel": _counted("num_rel", lambda lists, rel: lists.relevant_labels(rel)),
        "num_rel_ret": _counted("num_rel_ret", lambda lists, rel: lists.count(lists.grade >= rel)),
        "map": _plain("map", "ap"),
        "gm_map": _plain("gm_map", "ap", "geometric", summary_only=True),
        "Rprec": _plain("Rprec", "r_precision"),
        "bpref": _plain("bpref", "bpref"),
        "recip_rank": _plain("recip_rank", "rr"),
        "iprec_at_recall": _iprec,
        "P": _cut("P", "precision", _RANKS),
        "recall": _cut("recall", "recall", _RANKS),
        "infAP": _plain("infAP", "infap"),
        "gm_bpref": _plain("gm_bpref", "bpref", "geometric", summary_only=True),
        "Rprec_mult": _multiples,
        "utility": _utility,
        "11pt_avg": _eleven,
        "binG": _bin_g,
        "ndcg": _plain("ndcg", "ndcg"),
        "ndcg_cut": _cut("ndcg_cut", "ndcg", _RANKS),
        "map_cut": _cut("map_cut", "ap", _RANKS),
        "relative_P": _relative("relative_P", _RANKS),
        "success": _cut("success", "hit", (1, 5, 10)),
        "set_P": _plain("set_P", "set_precision"),
        "set_relative_P": _relative("set_relative_P", ()),
        "set_recall": _plain("set_recall", "recall"),
        "set_map": _plain("set_map", "set_ap"),
        "set_F": _set_f,
        "num_nonrel_judged_ret": _counted(
            "num_nonrel_judged_ret", lambda lists, rel: lists.count(lists.judged & (lists.grade < rel))
        ),
        "rbp": _rbp,
        "rbp_resid": _rbp_residual,
        "unj": _unjudged,
    }
