"""The tables of `bench.pipelines`, in Markdown. Asks nothing."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ragassay import benchmark
from ragassay.assay import Frozen
from ragassay.records.score import Estimate, FactFate, SurvivalRow
from ragassay.records.trace import Measurements
from ragassay.store import Store

LIST_STEP = "dedup"
"""The list that generation gets, in every pipeline."""


class World(NamedTuple):
    """A data set, frozen, with the questions that are asked."""

    name: str
    store: Store
    frozen: Frozen
    built: Any
    rel: int
    of: int
    """Questions that the data set has."""


class Asked(NamedTuple):
    """What came of one pipeline on one data set."""

    estimates: list[Estimate]
    survival: list[SurvivalRow]
    fates: list[FactFate]
    measured: list[Measurements]


COLUMNS = {
    "recall@5": "recall(rel={rel})@5",
    "recall@20": "recall(rel={rel})@20",
    "ndcg@10": "ndcg@10",
    "context recall": "context_recall(rel={rel})",
    "refused": "abstention_rate",
}


def table_lines(world: World, asked: dict[str, Asked]) -> Iterator[str]:
    """One row for each class and pipeline, in the columns of the one table."""
    classes = dict.fromkeys(
        one.population.class_ for found in asked.values() for one in found.estimates if one.population.slice is None
    )
    for class_ in classes:
        for name, found in asked.items():
            whole = [one for one in found.estimates if one.population.slice is None and one.population.class_ == class_]
            cells = [cell(whole, spelled.format(rel=world.rel)) for spelled in COLUMNS.values()]
            times = sorted(one.latency_ms or 0.0 for one in found.measured)
            p95 = times[min(len(times) - 1, int(0.95 * len(times)))]
            cells.append(f"{statistics.median(times):.0f} / {p95:.0f}")
            count = max((one.attempted for one in whole), default=0)
            yield f"| {world.name}, {class_} ({count}) | {name} | {' | '.join(cells)} |"


def cell(estimates: Sequence[Estimate], measure: str) -> str:
    """A measure at the list that generation gets, or of the whole question."""
    step = LIST_STEP if "@" in measure else None
    found = [one for one in estimates if one.measure == measure and step in (None, one.step)]
    found = sorted(
        (one for one in found if one.aggregation in ("macro", "micro")), key=lambda one: one.aggregation != "macro"
    )
    return shown(found[0]) if found else "-"


def shown(one: Estimate) -> str:
    """A value with its interval; a dash where nothing can be scored."""
    if one.value is None:
        return "-" if one.reason == "nothing_scored" else f"{one.status}: {one.reason}"
    said = f"{one.value:.3f}" + (f" of {one.scored}" if one.scored < one.attempted else "")
    return said if one.interval is None else f"{said} ({one.interval.low:.2f} to {one.interval.high:.2f})"


def survival_lines(asked: dict[str, Asked], world: World) -> Iterator[str]:
    """Where facts die: what each step of each pipeline still holds, and what became of facts by number of hops."""
    cases = list(benchmark.load(world.store, world.built.benchmark))
    rows = [one for found in asked.values() for one in found.survival if one.population.slice is None]
    classes = list(dict.fromkeys(one.population.class_ for one in rows if one.facts))
    if not classes:
        yield "No facts are labelled."
        return
    yield "| class | pipeline | step | facts | held | lost here whole | lost here in parts |"
    yield "|---|---|---|--:|--:|--:|--:|"
    for class_ in classes:
        for name, found in asked.items():
            for row in found.survival:
                if row.population.slice is None and row.population.class_ == class_ and row.facts:
                    share = f"{row.held} ({row.held / row.facts:.0%})"
                    joint = f" (and {sum(row.joint.values())} jointly)" if row.joint else ""
                    yield (
                        f"| {class_} | {name} | {row.step} | {row.facts} | {share} | {row.lost_whole}{joint} | "
                        f"{row.lost_in_parts} |"
                    )
            classes_of = {str(one.query_id): one.class_ for one in cases}
            fates = [one for one in found.fates if classes_of[str(one.query_id)] == class_]
            never = sum(one.fate == "never_found" for one in fates)
            if fates:
                yield f"| {class_} | {name} | (never found) | {len(fates)} | {never} ({never / len(fates):.0%}) | | |"
    hops = {str(one.query_id): slice_of(one.slice, "hops") for one in cases}
    if not any(hops.values()):
        return
    yield ""
    yield "| hops | pipeline | facts | in the context | never found | lost on the way | questions with all |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for count in sorted({one for one in hops.values() if one}):
        for name, found in asked.items():
            fates = [one for one in found.fates if hops[str(one.query_id)] == count]
            what = Counter(one.fate for one in fates)
            whole = defaultdict(list)
            for one in fates:
                whole[one.query_id].append(one.fate == "held")
            complete = sum(all(one) for one in whole.values())
            lost = len(fates) - what["held"] - what["never_found"]
            yield (
                f"| {count} | {name} | {len(fates)} | {what['held']} ({what['held'] / len(fates):.0%}) | "
                f"{what['never_found']} ({what['never_found'] / len(fates):.0%}) | {lost} ({lost / len(fates):.0%}) | "
                f"{complete} of {len(whole)} |"
            )


def slice_of(slices: Sequence[str], name: str) -> str:
    """The value of one slice of a question."""
    return next((one.partition("=")[2] for one in slices if one.startswith(f"{name}=")), "")


def time_lines(asked: dict[str, Asked]) -> Iterator[str]:
    """Mean milliseconds of each step, and what was in a cache."""
    steps = ("lexical", "vector", "fuse", "rerank", "dedup", "assemble", "generate")
    yield f"| pipeline | {' | '.join(steps)} | all | texts from memory |"
    yield "|---|" + "--:|" * (len(steps) + 2)
    for name, found in asked.items():
        cells = []
        for step in steps:
            took = [s.duration_ms or 0.0 for one in found.measured for s in one.steps if s.step_id == step]
            cells.append(f"{statistics.fmean(took):.1f}" if took else "-")
        hits = sum(one.cache_hits or 0 for one in found.measured)
        every = statistics.fmean(one.latency_ms or 0.0 for one in found.measured)
        yield f"| {name} | {' | '.join(cells)} | {every:.1f} | {hits:,} |"
