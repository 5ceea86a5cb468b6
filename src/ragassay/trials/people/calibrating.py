"""A judge held against people on one run: agreement by class, biases, cost, a threshold. Changes no verdict."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.case import CaseClass
from ragassay.records.judgement import (
    About,
    Agreement,
    Calibration,
    JudgeIdentity,
    Judgement,
    JudgementSet,
    Sample,
)
from ragassay.records.text import many
from ragassay.records.trace import Cost
from ragassay.run.clock import SYSTEM_CLOCK
from ragassay.run.judges.matter import Matter
from ragassay.score.named import calibration_ref, judgements_ref, judges_on, of_judges
from ragassay.score.verdicts import NOT_JUDGED, Ruling, Verdicts, verdicts_of
from ragassay.stats import ratio_interval
from ragassay.stats.agreement import kappa, raw
from ragassay.store import Store, superseding
from ragassay.trials.people.biases import biases_of
from ragassay.trials.people.held import Held, record_interval

Key = tuple[str, int, str, str]


class Calibrated(NamedTuple):
    """A calibration, and what is worth saying besides."""

    record: Calibration
    digest: Digest
    people: tuple[str, ...]
    tied: int
    """Items on which people were split evenly; left out."""
    unsure: int
    """Items of which people gave no label; left out."""


def calibrate(
    store: Store,
    run_digest: str,
    name: str,
    *,
    people: Sequence[str] = (),
    threshold: float | None = None,
    fit: bool = False,
    seed: int = 0,
    level: float = 0.95,
) -> Calibrated:
    """Hold the judge `name` against what people said of the same run; kept as `calibrations/NAME/IDENTITY`.

    `people`: whose verdicts count; all of this run if left out. Of several the majority counts, an even split is left
    out. `threshold`: the least score of *supported* under which the judge will be read, as the scoring layer has it.
    `fit`: choose it here, on one half of the questions, and report the agreement on the other half.

    Raises UsageError where judge or people have not ruled on this run, or `fit` has no scores of both kinds.
    """
    matter = Matter(store, run_digest)
    found = of_judges(store, matter.run, [name]).judged
    if name not in found:
        raise UsageError(f"{name} has not judged this run", field="name", hint=f"ragassay judge --judge {name}")
    record = store.get_record(JudgementSet, found[name])
    if record.cut is not None:
        matter = Matter(store, run_digest, cut=store.get_record(JudgementSet, record.cut))
    if store.get_record(JudgeIdentity, record.judge).kind == "person":
        raise UsageError(f"{name} is a person", field="name", hint="a judge is calibrated, by people")
    sets = _people(store, matter.run.identity(), people)
    said, tied, unsure = _consensus(store, sets)
    fitted = None
    if fit:
        threshold, fitted = _fit(_held(matter, said, verdicts_of(store, record)), seed)
    held = _held(matter, said, verdicts_of(store, record, threshold))
    if fit:
        held = [one for one in held if not _first_half(one, seed) or one.scale != "support/1"]
    if not held:
        raise UsageError(
            "people and judge ruled on no item in common", field="people", hint="draw a sample of this run"
        )
    made = Calibration(
        judge=record.judge,
        people=store.put_lines(_lines(store, sets)),
        judged=found[name],
        raters=len(sets),
        rubric=" / ".join(sorted({store.get_record(JudgeIdentity, one.judge).rubric or "" for one in sets.values()})),
        agreements=tuple(_agreements(held, seed, level)),
        drawn=_drawn(store, list(sets.values())),
        threshold=threshold,
        fitted=fitted,
        biases=tuple(biases_of(held, seed, level)),
        cost=_cost(store.get_lines(Judgement, record.judgements)),
    )
    digest = store.put_record(made)
    named = calibration_ref(name, record.judge)
    before = store.ref(named) if named in store.ref_names("calibrations/") else digest
    if before != digest:
        told = f"calibrated again, on {many(len(held), 'item')} of {many(len(sets), 'person', 'people')}"
        superseding.supersede(store, "calibration", before, digest, by=name, reason=told, at=SYSTEM_CLOCK.now())
    store.set_ref(named, digest, kind="calibration")
    return Calibrated(made, digest, tuple(sets), tied, unsure)


def _people(store: Store, run: str, wanted: Sequence[str]) -> dict[str, JudgementSet]:
    kept = {
        one: store.get_record(JudgementSet, store.ref(judgements_ref(one, run)))
        for one in judges_on(store, run, "person")
    }
    absent = [one for one in wanted if one not in kept]
    if absent or not kept:
        raise UsageError(
            f"{absent[0] if absent else 'no person'} has ruled on nothing in this run",
            field="people",
            hint="`ragassay judge sample` writes what to rule on, `ragassay judge import` reads it",
        )
    return {one: kept[one] for one in wanted or kept}


def _lines(store: Store, sets: dict[str, JudgementSet]) -> list[Judgement]:
    every = (line for one in sets.values() for line in store.get_lines(Judgement, one.judgements))
    return sorted(every, key=lambda one: (*one.key, one.judge))


def _consensus(store: Store, sets: dict[str, JudgementSet]) -> tuple[dict[Key, str], int, int]:
    """What most people say of each item; how many items are left out as even splits, and as unsure."""
    labels: dict[Key, Counter[str]] = defaultdict(Counter)
    for one in _lines(store, sets):
        labels[one.key[:4]].update([one.label] if one.label is not None else [])
    said: dict[Key, str] = {}
    tied = unsure = 0
    for key, votes in labels.items():
        ranked = votes.most_common()
        if not ranked:
            unsure += 1
        elif len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
            tied += 1
        else:
            said[key] = ranked[0][0]
    return said, tied, unsure


def _held(matter: Matter, said: dict[Key, str], verdicts: Verdicts) -> list[Held]:
    """Every item on which people have a label, with what the judge said of it."""
    made = []
    kinds = tuple({key[2] for key in said})
    for answered in matter.answers():
        case = answered.case
        claims = [one.claim_id for one in answered.claims.claims]
        for batch in matter.batches_of(answered, kinds):  # type: ignore[arg-type]
            for item in batch.items:
                label = said.get((item.query_id, item.repeat, item.about, item.target))
                if label is None:
                    continue
                given = verdicts.given(item.query_id, item.repeat)
                ruling = given.rulings.get((item.about, item.target)) if given else None
                place = item.target.partition(":")[0]
                made.append(
                    Held(
                        about=item.about,
                        scale=item.scale,
                        class_=case.class_ or "answerable",
                        cluster=case.cluster,
                        people=label,
                        ruling=ruling or Ruling("missing", None, NOT_JUDGED, repeats=0),
                        length=len(item.statement),
                        place=claims.index(place) / len(claims) if place in claims else None,
                    )
                )
    return made


def _agreements(held: Sequence[Held], seed: int, level: float) -> list[Agreement]:
    kinds = sorted({(one.about, one.scale) for one in held})
    made = []
    for about, scale in kinds:
        own = [one for one in held if (one.about, one.scale) == (about, scale)]
        made.append(_agreement(about, scale, None, own, seed, level))
        for class_ in sorted({one.class_ for one in own}):
            of_class = [one for one in own if one.class_ == class_]
            made.append(_agreement(about, scale, class_, of_class, seed, level))
    return made


def _agreement(
    about: About, scale: str, class_: CaseClass | None, held: Sequence[Held], seed: int, level: float
) -> Agreement:
    both = [one for one in held if one.ruling.label is not None]
    pairs = [(one.people, one.ruling.label or "") for one in both]
    clusters = [one.cluster for one in both]
    table: dict[str, dict[str, int]] = defaultdict(dict)
    for one in held:
        told = one.ruling.label or f"[{one.ruling.reason}]"
        table[one.people][told] = table[one.people].get(told, 0) + 1
    agreed = kappa(pairs, clusters, seed=seed, level=level)
    good, bad = [one for one in both if one.good], [one for one in both if not one.good]
    right = ratio_interval([float(one.judge_good) for one in good], [1.0] * len(good),
                           [one.cluster for one in good], level, (0.0, 1.0))  # fmt: skip
    refused = ratio_interval([float(not one.judge_good) for one in bad], [1.0] * len(bad),
                             [one.cluster for one in bad], level, (0.0, 1.0))  # fmt: skip
    return Agreement(
        about=about,
        scale=scale,
        class_=class_,
        items=len(both),
        unjudged=len(held) - len(both),
        confusion={people: dict(sorted(row.items())) for people, row in sorted(table.items())},
        raw=raw(pairs, clusters, seed=seed, level=level).value,
        kappa=agreed.value,
        kappa_interval=record_interval(agreed.interval),
        sensitivity=right.estimate,
        sensitivity_interval=record_interval(right),
        specificity=refused.estimate,
        specificity_interval=record_interval(refused),
    )


def _fit(held: Sequence[Held], seed: int) -> tuple[float, int]:
    """The threshold with the greatest mean of sensitivity and specificity on the first half of the questions."""
    scored = [
        (one.ruling.score, one.good)
        for one in held
        if one.scale == "support/1" and one.ruling.score is not None and _first_half(one, seed)
    ]
    goods = sum(good for _, good in scored)
    if not goods or goods == len(scored):
        raise UsageError(
            "no threshold can be chosen: half of the questions hold no scores of both kinds",
            field="fit",
            hint="more items by people, or a judge that gives scores",
        )
    scores = sorted({score for score, _ in scored})
    edges = [(low + high) / 2 for low, high in pairwise(scores)] or [scores[0]]

    def quality(edge: float) -> float:
        caught = sum(good and score >= edge for score, good in scored) / goods
        return caught + sum(not good and score < edge for score, good in scored) / (len(scored) - goods)

    best = max(edges, key=lambda edge: (quality(edge), edge))
    return best, len(scored)


def _first_half(one: Held, seed: int) -> bool:
    return hashlib.sha256(f"{seed}\n{one.cluster}".encode("utf-8", "surrogatepass")).digest()[0] < 128


def _drawn(store: Store, sets: Sequence[JudgementSet]) -> Literal["random", "stratified", "unknown"]:
    """random only where all items came from random samples."""
    kinds = {None if one.sample is None else store.get_record(Sample, one.sample).drawn for one in sets}
    return "unknown" if None in kinds else "random" if kinds == {"random"} else "stratified"


def _cost(judgements: Iterable[Judgement]) -> tuple[Cost, ...]:
    sums: dict[str, list[float]] = defaultdict(list)
    for one in judgements:
        if one.cost is not None:
            sums[one.cost.currency].append(one.cost.amount)
    return tuple(Cost(amount=math.fsum(amounts), currency=name) for name, amounts in sorted(sums.items()))
