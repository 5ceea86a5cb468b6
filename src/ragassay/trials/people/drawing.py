"""Items of a run drawn for people, by stratum and with the chance that each had. Shows nobody a judge's verdict."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of
from ragassay.records.judgement import SCALES, About, JudgementSet, Sample, SampledItem
from ragassay.records.text import many
from ragassay.run.judges.contract import Item
from ragassay.run.judges.matter import Matter
from ragassay.score.named import judges_on, of_judges
from ragassay.score.verdicts import Ruling, Verdicts, verdicts_of
from ragassay.store import Store

STRATA = ("contradicted", "disagreement", "no_verdict", "low_confidence", "several_documents", "rest")
"""An item is in the first of these that it fits."""
NEAR = 0.1
"""Share of a judge's scored items that count as of low confidence: those nearest to where its label changes."""
DRAWN = ("claim", "citation", "fact", "answer")


class Drawn(NamedTuple):
    """A sample with what people are to be shown."""

    sample: Sample
    digest: Digest
    items: tuple[tuple[SampledItem, Item], ...]


def draw(
    store: Store,
    run_digest: str,
    judges: Sequence[str],
    *,
    size: int,
    seed: int = 0,
    about: Sequence[About] = (),
    plain: bool = False,
) -> Drawn:
    """Draw `size` items of a run that these judges ruled on, and keep the sample as `samples/RUN/DIGEST`.

    Without `judges`: all that are no people.

    Stratified: half of the size in equal parts over the strata, half by how many items they have; within a stratum each
    item has the same chance, which is recorded. `plain`: all items have the same chance; only such a sample corrects
    an estimate. The same seed draws the same items.

    Raises UsageError where none of the judges has judged this run, or nothing is left to draw.
    """
    if size < 1:
        raise UsageError(f"{size} items cannot be drawn", field="size", hint="1 or more")
    matter = Matter(store, run_digest)
    judges = judges or judges_on(store, matter.run.identity(), "judge")
    found = of_judges(store, matter.run, judges).judged
    absent = [one for one in judges if one not in found]
    if absent or not found:
        raise UsageError(
            f"{absent[0] if absent else 'no judge'} has not judged this run",
            field="judge",
            hint="`ragassay judge` puts its answers to the judges of the settings",
        )
    wanted: tuple[str, ...] = tuple(about) or DRAWN
    sets = {name: store.get_record(JudgementSet, digest) for name, digest in found.items()}
    records = {name: one for name, one in sets.items() if not one.cuts}
    if len({one.cut for one in records.values()}) > 1:
        raise UsageError(
            "these judges took other claims of the same answers",
            field="judge",
            hint="draw a sample for those that share their claims (`claims` in [judges.NAME]), then one for the others",
        )
    if cut := next((one.cut for one in records.values()), None):
        matter = Matter(store, run_digest, cut=store.get_record(JudgementSet, cut))
    by = {name: verdicts_of(store, one) for name, one in records.items()}
    near = {name: _near(one) for name, one in by.items()}
    strata: dict[str, list[Item]] = defaultdict(list)
    for batch in matter.batches(wanted):  # type: ignore[arg-type]
        for item in batch.items:
            rulings = {name: ruling for name, one in by.items() if (ruling := _ruling(one, item))}
            if rulings:
                strata["all" if plain else _stratum(item, rulings, near)].append(item)
    if not strata:
        raise UsageError("there is nothing to draw from", field="about", hint=f"kinds of items: {', '.join(DRAWN)}")
    return _kept(store, matter.run.identity(), found, strata, size, seed, plain=plain)


def _kept(
    store: Store,
    run: str,
    judged: Mapping[str, Digest],
    strata: Mapping[str, Sequence[Item]],
    size: int,
    seed: int,
    *,
    plain: bool,
) -> Drawn:
    sizes = {name: len(strata[name]) for name in ("all", *STRATA) if strata.get(name)}
    items: list[tuple[SampledItem, Item]] = []
    for name, count in shares(sizes, size).items():
        chosen = sorted(strata[name], key=lambda one: _lot(seed, run, one))[:count]
        for one in sorted(chosen, key=lambda one: (one.query_id, one.repeat, one.about, one.target)):
            items.append((_sampled(one, run, name, count / sizes[name]), one))
    items.sort(key=lambda pair: _lot(seed + 1, run, pair[1]))  # strata must not show in the order
    sample = Sample(
        run=Digest(run),
        judged=dict(judged),
        drawn="random" if plain else "stratified",
        seed=seed,
        strata=sizes,
        items=store.put_lines(one for one, _ in items),
    )
    digest = store.put_record(sample)
    store.set_ref(f"samples/{run[7:23]}/{digest[7:23]}", digest, kind="sample")
    return Drawn(sample, digest, tuple(items))


def shares(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    """How many of each stratum: half of the size in equal parts, the rest by their sizes; never more than there are.

    >>> shares({"contradicted": 3, "rest": 97}, 20)
    {'contradicted': 3, 'rest': 17}
    """
    size = min(size, sum(sizes.values()))
    made = {name: min(count, max(1, size // (2 * len(sizes)))) for name, count in sizes.items()}
    while sum(made.values()) > size:
        made[max(made, key=lambda name: (made[name], name))] -= 1
    while (left := size - sum(made.values())) > 0:
        rest = {name: sizes[name] - made[name] for name in sizes if sizes[name] > made[name]}
        total = sum(rest.values())
        parts = {name: left * count // total for name, count in rest.items()}
        if not any(parts.values()):
            parts = {max(rest, key=lambda name: (rest[name], name)): 1}
        for name, part in parts.items():
            made[name] += part
    return {name: count for name, count in made.items() if count}


def _sampled(item: Item, run: str, stratum: str, chance: float) -> SampledItem:
    key = [run, item.query_id, str(item.repeat), item.about, item.target]
    return SampledItem(
        item_id=f"i-{digest_of(key)[7:23]}",
        query_id=item.query_id,  # type: ignore[arg-type]
        repeat=item.repeat,
        about=item.about,
        target=item.target,
        scale=item.scale,
        stratum=stratum,
        probability=chance,
    )


def _lot(seed: int, run: str, item: Item) -> bytes:
    """A random number of an item: who has the least ones is drawn. Depends on no order."""
    text = f"{seed}\n{run}\n{item.query_id}\n{item.repeat}\n{item.about}\n{item.target}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _ruling(verdicts: Verdicts, item: Item) -> Ruling | None:
    given = verdicts.given(item.query_id, item.repeat)
    return given.rulings.get((item.about, item.target)) if given else None


def _stratum(item: Item, rulings: Mapping[str, Ruling], near: Mapping[str, tuple[float, float]]) -> str:
    labels = {one.label for one in rulings.values() if one.label is not None}
    if "contradicted" in labels:
        return "contradicted"
    if len(labels) > 1 or any(one.flipped for one in rulings.values()):
        return "disagreement"
    if any(one.label is None for one in rulings.values()):
        return "no_verdict"
    for name, one in rulings.items():
        low, high = near.get(name, (0.0, -1.0))
        if one.score is not None and item.scale == "support/1" and low <= one.score <= high:
            return "low_confidence"
    documents = {span.document_id for one in rulings.values() for span in one.spans}
    return "several_documents" if len(documents) > 1 else "rest"


def _near(verdicts: Verdicts) -> tuple[float, float]:
    """The scores between which a judge is least sure: around where its label on support changes."""
    good = SCALES["support/1"][0]
    scored = sorted(
        (one.score, one.label == good)
        for one in verdicts.rulings()
        if one.score is not None and one.label in SCALES["support/1"]
    )
    yes, no = [score for score, is_good in scored if is_good], [score for score, is_good in scored if not is_good]
    if not yes or not no:
        return (0.0, -1.0)
    edge = (min(yes) + max(no)) / 2
    apart = sorted(abs(score - edge) for score, _ in scored)
    reach = apart[min(len(apart) - 1, int(NEAR * len(apart)))]
    return edge - reach, edge + reach


def told(drawn: Drawn) -> list[str]:
    """What was drawn, in lines."""
    count = Counter(one.stratum for one, _ in drawn.items)
    lines = [f"sample {drawn.digest}", f"  {many(len(drawn.items), 'item')}, {drawn.sample.drawn}"]
    for name, size in drawn.sample.strata.items():
        lines.append(f"  {name}: {count[name]} of {size}")
    return lines
