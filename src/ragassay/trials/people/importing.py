"""What people said of items of a run, as judgements of their own: newer ones supersede, none is overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ragassay.claims import splitter
from ragassay.errors import InputError, RecordError, StoreError, UsageError
from ragassay.records.base import Digest
from ragassay.records.judgement import SCALES, JudgeIdentity, Judgement, JudgementSet, Sample, SampledItem
from ragassay.records.text import many
from ragassay.run.judges.contract import Item
from ragassay.run.judges.matter import Matter
from ragassay.run.judges.sealing import content_of, supersede
from ragassay.score.named import judgements_ref, judges_on, of_judges
from ragassay.store import Store
from ragassay.store.refs import check_name
from ragassay.trials.people.drawing import DRAWN
from ragassay.trials.people.files import UNSURE, Line, read_filled

SAMPLED = "sampled"
OF_CLAIMS = ("claim", "citation")
Key = tuple[str, int, str, str]


class _Known(NamedTuple):
    """A sample that a row names."""

    digest: Digest
    items: dict[str, Key]


class Imported(NamedTuple):
    """The set of one person, and what its file held."""

    record: JudgementSet
    digest: Digest
    rows: int
    replaced: int
    """Items on which this person had said something else before."""


def import_verdicts(
    store: Store, run_digest: str, path: Path, *, author: str, rubric: str, reason: str = ""
) -> Imported:
    """Read a filled-in file as verdicts of `author` under `rubric`, and put them in force as `judgements/AUTHOR/RUN`.

    Rows with a blank label are left out. What the person had said of other items under the same rubric stays in force;
    what is said anew of one item replaces it, with `reason`, and the older set stays in the store. A comment is the
    rationale; *unsure* is a verdict that did not come.

    Raises InputError with the line for a row that is no item of this run or of its sample, a label that its scale does
    not have, or an item that stands twice; UsageError where `author` is the name of a judge that is no person, or where
    verdicts are replaced without a reason.
    """
    _check_author(author, rubric)
    matter = Matter(store, run_digest)
    run = matter.run.identity()
    identity = JudgeIdentity(name=author, kind="person", rubric=rubric)
    judge = store.put_record(identity)
    before = _before(store, matter, author, judge)
    known = _items(matter)
    cuts = {cut: Matter(store, run_digest, cut=store.get_record(JudgementSet, cut)) for cut in _cuts(store, run)}
    of_cut = {cut: _items(one) for cut, one in cuts.items()}
    known |= {key: item for items in of_cut.values() for key, item in items.items()}
    samples: dict[str, _Known] = {}
    made: dict[Key, Judgement] = {}
    for line in read_filled(path):
        try:
            item = _item(store, line, run, known, samples)
            if _key(item) in made:
                raise InputError("this item stands twice", field="item", hint="keep one of the rows")
            made[_key(item)] = _judgement(line, item, judge)
        except InputError as error:
            raise error.at(file=str(path), line=line.line)  # noqa: B904  the same error, with its place
    if not made:
        raise InputError("no row is filled in", file=str(path), field="label", hint=f"one of the labels, or {UNSURE}")
    kept = {one.key[:4]: one for one in before}
    anew = sum(kept[key] != made[key] for key in kept.keys() & made.keys())
    if anew and not reason.strip():
        raise UsageError(
            f"{many(anew, 'verdict')} of {author} would be replaced by others", field="reason", hint="say why: --reason"
        )
    every = sorted({**kept, **made}.values(), key=lambda one: one.key)
    cut = next((one for one in cuts if any(key[2] in OF_CLAIMS and key[:4] in of_cut[one] for key in made)), None)
    by = cuts[cut] if cut else matter
    claims = sorted((one.claims for one in by.answers() if one.cut), key=lambda one: (one.query_id, one.repeat))
    record, digest = supersede(
        store,
        JudgementSet(
            name=author,
            run=run,
            judge=judge,
            state="partial",
            claims=store.put_lines(claims),
            judgements=store.put_lines(every),
            content=content_of(claims, every),
            splitter=splitter() if cut is None else store.get_record(JudgementSet, cut).splitter,
            asked=len(every),
            valued=sum(one.status == "value" for one in every),
            stopped=SAMPLED,
            sample=next(iter(samples.values())).digest if len(samples) == 1 else None,
            cut=cut,
        ),
        by=author,
        reason=reason.strip() or None,
    )
    return Imported(record, digest, len(made), anew)


def _items(matter: Matter) -> dict[Key, Item]:
    return {_key(item): item for batch in matter.batches(DRAWN) for item in batch.items}  # type: ignore[arg-type]


def _cuts(store: Store, run: str) -> list[Digest]:
    """The sets of models by which a judge of this run took its claims."""
    sets = (store.get_record(JudgementSet, store.ref(judgements_ref(one, run))) for one in judges_on(store, run))
    return list(dict.fromkeys(one.cut for one in sets if one.cut is not None))


def _check_author(author: str, rubric: str) -> None:
    try:
        check_name(f"judgements/{author}/x")
    except StoreError:
        raise UsageError(
            f"{author!r} cannot be the name of a judge", field="author", hint="letters, digits, `.`, `_`, `-`"
        ) from None
    if "/" in author or not rubric.strip():
        raise UsageError("author and rubric must be said", field="rubric", hint="by which rules the items were judged")


def _before(store: Store, matter: Matter, author: str, judge: Digest) -> list[Judgement]:
    """What this person said under this rubric, as far as it is in force."""
    found = of_judges(store, matter.run, [author]).judged.get(author)
    if found is None:
        return []
    old = store.get_record(JudgementSet, found)
    if store.get_record(JudgeIdentity, old.judge).kind != "person":
        raise UsageError(f"{author} is a judge that is no person", field="author", hint="give another name")
    return list(store.get_lines(Judgement, old.judgements)) if old.judge == judge else []


def _item(store: Store, line: Line, run: str, known: dict[Key, Item], samples: dict[str, _Known]) -> Item:
    """The item of a row: by its id in the sample that it names, or by query_id, repeat, about and target."""
    values = line.values
    if values.get("item"):
        key = _sampled(store, values.get("sample", ""), values["item"], run, samples)
    else:
        if not values.get("query_id"):
            raise InputError("neither item nor query_id", field="item", hint="which item is this?")
        repeat = values.get("repeat", "0") or "0"
        if not repeat.isascii() or not repeat.isdigit():
            raise InputError(f"{repeat!r} is no repeat", field="repeat", hint="a whole number from 0")
        key = (values["query_id"], int(repeat), values.get("about", ""), values.get("target", ""))
    if key not in known:
        raise InputError(f"this run has no item {' '.join(map(str, key))}", field="item", hint="was it of another run?")
    return known[key]


def _sampled(store: Store, sample: str, item_id: str, run: str, samples: dict[str, _Known]) -> Key:
    if sample not in samples:
        samples[sample] = _opened(store, sample, run)
    key = samples[sample].items.get(item_id)
    if key is None:
        raise InputError(
            f"the sample has no item {item_id!r}", field="item", hint="was the row copied from another file?"
        )
    return key


def _opened(store: Store, sample: str, run: str) -> _Known:
    try:
        digest = store.ref(f"samples/{run[7:23]}/{sample}")
    except (StoreError, RecordError):
        raise InputError(
            f"{sample!r} is no sample of this run", field="sample", hint="name the run that the sample was drawn from"
        ) from None
    items = store.get_lines(SampledItem, store.get_record(Sample, digest).items)
    return _Known(digest, {one.item_id: (one.query_id, one.repeat, one.about, one.target) for one in items})


def _judgement(line: Line, item: Item, judge: Digest) -> Judgement:
    label = line.values["label"].strip().lower()
    scale = SCALES[item.scale]
    if label != UNSURE and label not in scale:
        hint = f"one of {', '.join(scale)}, or {UNSURE}"
        raise InputError(f"{line.values['label']!r} is no label of {item.scale}", field="label", hint=hint)
    sure = label != UNSURE
    return Judgement(
        query_id=item.query_id,  # type: ignore[arg-type]
        repeat=item.repeat,
        judge=judge,
        about=item.about,
        target=item.target,
        scale=item.scale,
        status="value" if sure else "missing",
        label=label if sure else None,
        reason=None if sure else UNSURE,
        rationale=line.values.get("comment", "").strip() or None,
    )


def _key(item: Item) -> Key:
    return (item.query_id, item.repeat, item.about, item.target)
