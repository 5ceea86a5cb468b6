"""A judging log to a set of judgements in the store: blobs, the record, then its name. Asks nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ragassay.errors import StoreError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_set
from ragassay.records.judgement import AnswerClaims, JudgeIdentity, Judgement, JudgementSet, JudgeWork
from ragassay.run.clock import SYSTEM_CLOCK
from ragassay.run.judges.controls import disqualified
from ragassay.run.judges.unit import JudgingLog
from ragassay.score.named import judgements_ref
from ragassay.store import Store, superseding

KIND = "judgementset"


def in_force(store: Store, name: str, run: str) -> Digest | None:
    """The set of this judge and run that is in force; None if there is none."""
    try:
        return store.ref(judgements_ref(name, run))
    except StoreError:
        return None


def seal_set(
    store: Store,
    log: JudgingLog,
    *,
    name: str,
    run: Digest,
    identity: JudgeIdentity,
    claims: Sequence[AnswerClaims],
    splitter: str,
    asked: int,
    stopped: str | None = None,
    cut: Digest | None = None,
) -> tuple[JudgementSet, Digest]:
    """Store what the log holds and point `judgements/NAME/RUN` at it last; the same log gives the same bytes.

    A set that says what the one in force says is that one. `stopped` says why not every item was asked; a judge that
    fails its controls is disqualified, and one whose model changed in mid-run made a partial set.
    """
    units = [log.read(key) for key in sorted(log.entries)]
    judgements = sorted((one for unit in units for one in unit.judgements), key=lambda one: one.key)
    work = sorted((one for unit in units for one in unit.work), key=_key)
    controls = sorted((one for unit in units for one in unit.controls), key=lambda one: one.name)
    why = disqualified(controls)
    changed = "model_changed" if any(unit.changed for unit in units) else None
    made_here = [one for unit in units for one in unit.claims]
    ordered = sorted([*claims, *made_here], key=lambda one: (one.query_id, one.repeat))
    made = JudgementSet(
        name=name,
        run=run,
        judge=store.put_record(identity),
        state="disqualified" if why else "partial" if changed or stopped else "complete",
        claims=store.put_lines(ordered),
        judgements=store.put_lines(judgements),
        content=content_of(ordered, judgements),
        splitter=splitter,
        asked=max(asked, len(judgements)),
        valued=sum(one.status == "value" for one in judgements),
        work=store.put_lines(work) if work else None,
        stopped=why or changed or stopped,
        controls=tuple(controls),
        cut=cut,
    )
    return supersede(store, made)


def supersede(
    store: Store, made: JudgementSet, *, by: str | None = None, reason: str | None = None
) -> tuple[JudgementSet, Digest]:
    """Put a set in force; the one before stays in the store and is named. One that says the same is left in force.

    Who replaced it, and why, stands in the ledger: the judge itself, and what changed of it, unless that is given.
    """
    before = in_force(store, made.name, made.run)
    if before is not None:
        old = store.get_record(JudgementSet, before)
        if _same(old, made):
            return old, before
        made = msgspec.structs.replace(made, supersedes=before)
    digest = store.put_record(made)
    if before is not None:
        why = reason or _why_anew(store, old, made)
        superseding.supersede(store, KIND, before, digest, by=by or made.name, reason=why, at=SYSTEM_CLOCK.now())
    store.set_ref(judgements_ref(made.name, made.run), digest, kind=KIND)
    return made, digest


def _why_anew(store: Store, old: JudgementSet, new: JudgementSet) -> str:
    """What is another in the judge than before; else, what is another in what it said."""
    before, after = (store.get_record(JudgeIdentity, one.judge) for one in (old, new))
    changed = [name for name in after.__struct_fields__ if getattr(before, name) != getattr(after, name)]
    if changed:
        return f"judged again with another {', '.join(changed)}"
    return (
        "judged again by the same judge" if old.asked == new.asked else f"judged on: {new.asked} asked, not {old.asked}"
    )


def content_of(claims: Iterable[AnswerClaims], judgements: Iterable[Judgement]) -> Digest:
    """What two equal sets share, however they are packed."""
    return digest_of([digest_set(map(digest_of, claims)), digest_set(map(digest_of, judgements))])


def _same(old: JudgementSet, new: JudgementSet) -> bool:
    """Equal but for what it superseded, and what the work took."""
    free = {"supersedes": None, "work": None}
    return msgspec.structs.replace(old, **free) == msgspec.structs.replace(new, **free)


def _key(work: JudgeWork) -> tuple[str, int, str, str, int]:
    return (work.query_id, work.repeat, work.about, work.target, work.judge_repeat or 0)
