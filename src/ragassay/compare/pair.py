"""Two score tables, question by question: the comparison as a record. Shows nothing and decides nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragassay.compare.alike import check_alike, declared, of_measuring, variation_of
from ragassay.compare.changes import Sides, artefacts, losses, steps
from ragassay.compare.effect import differences
from ragassay.compare.effects import Setting, common_keys, effects, populations
from ragassay.compare.families import Purpose
from ragassay.compare.moved import moves
from ragassay.compare.pairs import joined, pairs
from ragassay.compare.side import Side, open_side
from ragassay.compare.weak import MARGIN, stored_configuration, weak_baseline
from ragassay.errors import UsageError
from ragassay.records.base import Digest, QueryId
from ragassay.records.comparison import Arm, Comparison, Unpaired
from ragassay.score.named import uncalibrated
from ragassay.store import Store

MOST_CHANGES = 1_000
MOST_FLIPS = 10_000_000
JUDGED = "judged"


def pair(
    store: Store,
    baseline: Digest,
    candidate: Digest,
    *,
    variation: Iterable[str] = (),
    names: tuple[str, str] = ("baseline", "candidate"),
    seed: int = 0,
    flips: int = 10_000,
    level: float = 0.95,
    slices: Purpose = "explore",
    reference: Digest | None = None,
    margin: float = MARGIN,
) -> tuple[Comparison, Digest]:
    """Compare two score tables and store what came out as `comparison/BASELINE/CANDIDATE`; the same input gives the
    same bytes.

    Args:
        baseline, candidate: records of ScoreTable.
        variation: artefacts that are meant to differ; `corpus` stands for all that a corpus is made of.
        names: of the two, as the user calls them.
        seed: of the random signs.
        flips: random sign patterns, where more than 16 clusters differ.
        level: of the intervals.
        slices: what they are looked at for, which says how their p-values are corrected.
        reference: score table of the built-in BM25 on the same questions, to hold the baseline against.
        margin: by which the baseline may be worse than it, as a part of a measure's range.

    Raises:
        UsageError: corpora, benchmarks or ways of measuring differ and that was not declared.
        IntegrityError: a record of the store is missing or damaged.
    """
    check_setting(level, flips, margin)
    meant = variation_of(variation)
    a, b = (open_side(store, one, name) for one, name in zip((baseline, candidate), names, strict=True))
    return pair_sides(a, b, meant, Setting(seed, flips, level, slices), reference, margin)


def check_setting(level: float, flips: int, margin: float) -> None:
    """UsageError for a number that means nothing."""
    if not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, this is {level:g}", field="level", hint="for example 0.95")
    if not 1 <= flips <= MOST_FLIPS:
        raise UsageError(f"flips are 1 to {MOST_FLIPS:,}, this is {flips:,}", field="flips", hint="10000 is usual")
    if not 0 <= margin <= 1:
        raise UsageError(f"a margin lies between 0 and 1, this is {margin:g}", field="margin", hint="for example 0.05")


def pair_sides(
    a: Side, b: Side, meant: Sequence[str], setting: Setting, reference: Digest | None = None, margin: float = MARGIN
) -> tuple[Comparison, Digest]:
    """`pair` on arms that are open. `meant`: as `variation_of` gives it."""
    store, known = a.store, Sides(a.store, a.run, b.run)
    changes = declared(artefacts(store, a.run, b.run, scores=(a.table, b.table), sides=known), meant)
    check_alike(a, b, of_measuring(known, changes), meant)
    join = joined(a, b)
    asked = list(zip(join.ids, join.baseline.tolist(), join.candidate.tolist(), strict=True))
    made = Comparison(
        baseline=arm(a),
        candidate=arm(b),
        variation=tuple(meant),  # type: ignore[arg-type]
        level=setting.level,
        seed=setting.seed,
        flips=setting.flips,
        slices=setting.slices,
        paired=sum(left >= 0 and right >= 0 for _, left, right in asked),
        unpaired=tuple(
            Unpaired(query_id=QueryId(name), side="baseline" if right < 0 else "candidate")
            for name, left, right in asked
            if left < 0 or right < 0
        ),
        changes=tuple(changes[:MOST_CHANGES]),
        changes_left_out=max(len(changes) - MOST_CHANGES, 0),
        steps=steps(store, a.run, b.run, changes, sides=known),
        effects=store.put_lines(effects(a, b, setting)),
        moves=store.put_lines(moves(a, b)),
        losses=store.put_lines(losses(store, a.table, b.table, changes, sides=known)),
        judged=judged(a, b),
        weak_baseline=() if reference is None else _weak(a, reference, margin),
        reference=reference,
        margin=None if reference is None else margin,
        uncalibrated=tuple(sorted({name for one in (a, b) for name in uncalibrated(store, one.table, one.scoring)})),
        stored_configuration=stored_configuration(store, a.subject, a.protocol),
    )
    digest = store.put_record(made)
    store.set_ref(f"comparison/{ref_part(a.name)}/{ref_part(b.name)}", digest, kind="comparison")
    return made, digest


def arm(side: Side) -> Arm:
    """One side as a comparison names it."""
    return Arm(
        name=side.name,
        run=side.run.identity(),
        run_record=side.table.run_record,
        scores=side.digest,
        subject=side.run.subject,
        protocol=side.run.protocol,
        mixed=side.run.mixed,
    )


def ref_part(name: str) -> str:
    """A name as a part of a ref: what may not stand there is a dash."""
    told = re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip(".")[:100]
    return told or "unnamed"


def judged(a: Side, b: Side) -> dict[str, tuple[float, float]]:
    """Step -> Judged@k of both arms, at the greatest k, in the class in which they differ most."""
    found: dict[str, tuple[float, float]] = {}
    depth: dict[str, int] = {}
    for measure, step in common_keys(a, b):
        name, _, k = measure.partition("@")
        if name.partition("(")[0] != JUDGED or step is None or int(k or 0) < depth.get(step, 0):
            continue
        every = [
            (own.baseline, own.candidate)
            for population in populations(a, b)
            if population.slice is None and population in b.populations(measure)
            if (own := differences(pairs(a, b, measure, population, step)))
        ]
        if every:
            found[step], depth[step] = max(every, key=lambda one: abs(one[1] - one[0])), int(k or 0)
    return found


def _weak(baseline: Side, reference: Digest, margin: float) -> tuple[str, ...]:
    built_in = open_side(baseline.store, reference, "reference")
    known = Sides(baseline.store, built_in.run, baseline.run)
    changes = artefacts(baseline.store, *known.runs, scores=(built_in.table, baseline.table), sides=known)
    check_alike(built_in, baseline, of_measuring(known, changes), ())
    return weak_baseline(baseline, built_in, margin)
