"""What a judging job consists of: batches, controls among them, and what is known already. Asks and writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

import msgspec

from ragassay.claims import splitter
from ragassay.errors import StoreError, UsageError
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import digest_of
from ragassay.records.judgement import About, AnswerClaims, JudgeIdentity, JudgementSet, judge_digest
from ragassay.records.protocol import Run
from ragassay.records.text import many
from ragassay.run.judges.controls import ControlItem, draw, places
from ragassay.run.judges.matter import Batch, Matter, declined
from ragassay.run.judges.settings import JudgeSettings
from ragassay.run.log_lines import Key
from ragassay.score.named import judgements_ref
from ragassay.store import Store

NOT_UNASKED: frozenset[About] = frozenset({"item"})
"""What a judge rules on only where its settings say so: it is a verdict on every text of every context."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one judge is to be asked about one run."""

    batches: dict[str, Batch]
    controls: dict[str, ControlItem]
    claims: list[AnswerClaims]
    answers: int
    keys: list[Key]
    """Every batch and control in the order in which they are put, all again for each repeat."""
    items: int
    """Items of all batches, those that nobody can judge included, times the repeats."""
    job: Digest
    run: Digest
    splitter: str
    identity: JudgeIdentity
    """The evaluator's, with what cut the claims."""
    cut: Digest | None = None
    """Record of the set whose claims these are."""
    uncut: int = 0
    """Answers whose claims nobody knows, since the model that was to cut them did not."""
    chosen: frozenset[Key] = field(default_factory=frozenset)
    """The keys that a limit leaves; empty: all."""

    def after(self, _key: Key) -> tuple[Key, ...]:
        """Nothing waits for anything."""
        return ()


class Wanted:
    """A plan as a job sees it: only the keys that a limit leaves."""

    def __init__(self, plan: Plan) -> None:
        self.keys = [one for one in plan.keys if one in plan.chosen] if plan.chosen else plan.keys

    def after(self, _key: Key) -> tuple[Key, ...]:
        """Nothing waits for anything."""
        return ()


class PlannedJudge(Record, frozen=True, kw_only=True):
    """What judging would take, before it is begun."""

    name: str
    identity: Digest
    endpoint: str
    answers: int
    batches: int
    items: int
    controls: int
    kept: int
    """Batches that the journal of this job or the cache holds."""
    calls: int
    """At least so many requests, each batch asked once and well."""
    most_calls: int
    """With every re-ask and every retry that is allowed."""
    ceiling: dict[str, Any] = {}


def about_of(name: str, settings: JudgeSettings, rules_on: frozenset[About]) -> frozenset[About]:
    """What a judge is put; UsageError for a kind of item that it does not rule on."""
    wanted = frozenset(settings.about) or rules_on - NOT_UNASKED
    if unable := sorted(wanted - rules_on):
        raise UsageError(
            f"judge {name} does not rule on {', '.join(unable)}",
            field=f"judges.{name}.about",
            hint=f"it rules on {', '.join(one for one in get_args(About) if one in rules_on)}",
        )
    return wanted


class Taken(NamedTuple):
    """The claims of a model: its set, and the digest of that."""

    record: JudgementSet
    digest: Digest


def claims_from(store: Store, run_digest: str, name: str, settings: JudgeSettings) -> Taken | None:
    """The set by which a judge's claims are cut; None where sentences are. UsageError if it has not cut this run."""
    if settings.claims is None:
        return None
    run = store.get_record(Run, run_digest).identity()
    try:
        digest = store.ref(judgements_ref(settings.claims, run))
    except StoreError:
        raise UsageError(
            f"{settings.claims} has not cut the answers of this run",
            field=f"judges.{name}.claims",
            hint=f"ragassay judge --judge {settings.claims}, and {name} after it",
        ) from None
    record = store.get_record(JudgementSet, digest)
    if not record.cuts:
        raise UsageError(
            f"{settings.claims} rules on claims and makes none",
            field=f"judges.{name}.claims",
            hint='kind = "decompose"',
        )
    return Taken(record, digest)


def identity_of(evaluator: Any, taken: Taken | None) -> JudgeIdentity:
    """Who judges: with claims that a model made it is another judge than with sentences."""
    known: JudgeIdentity = evaluator.identity
    if taken is None:
        return known
    return msgspec.structs.replace(known, settings={**known.settings, "claims": taken.record.judge})


def plan_of(
    matter: Matter,
    evaluator: Any,
    name: str,
    settings: JudgeSettings,
    *,
    limit: int | None = None,
    taken: Taken | None = None,
) -> Plan:
    """The plan of one judge for one run. `limit` leaves the batches of the first so many answers, and all controls."""
    about = about_of(name, settings, evaluator.about)
    identity = identity_of(evaluator, taken)
    judge = judge_digest(identity)
    cuts, uncut, answers = "decomposition" in about, 0, 0
    batches: dict[str, Batch] = {}
    claims: list[AnswerClaims] = []
    first: set[str] = set()
    for number, answered in enumerate(matter.answers()):
        if answered.cut and not cuts:
            claims.append(answered.claims)
        answers += 1
        uncut += not answered.cut and not declined(answered.content)
        for one in matter.batches_of(answered, about):
            batches[one.name] = one
            if limit is None or number < limit:
                first.add(one.name)
    asks = _asks(evaluator)
    controls = {f"control {one.name}": one for one in draw(about, judge)} if asks and batches else {}
    order = _mixed(list(batches), list(controls), judge)
    keys = [(one, repeat) for repeat in range(settings.repeats) for one in order if repeat == 0 or one in batches]
    chosen = (
        frozenset(key for key in keys if key[0] in first or key[0] in controls) if limit is not None else frozenset()
    )
    run = matter.run.identity()
    job = digest_of(
        [
            run,
            judge,
            name,
            sorted(about),
            str(settings.repeats),
            settings.language or "",
            *([taken.record.content] if taken else []),
        ]
    )
    items = settings.repeats * sum(len(one.items) + len(one.missing) for one in batches.values())
    by = f"decompose {judge}" if cuts else taken.record.splitter if taken else splitter()
    return Plan(
        batches,
        controls,
        claims,
        answers,
        keys,
        items,
        job,
        run,
        by,
        identity,
        taken.digest if taken else None,
        uncut,
        chosen,
    )


def describe(planned: PlannedJudge) -> list[str]:
    """The plan in lines."""
    lines = [
        f"{planned.name} would be put {many(planned.items, 'item')} of {many(planned.answers, 'answer')} in "
        f"{many(planned.batches, 'batch', 'batches')}, and {many(planned.controls, 'control')}",
        f"  kept      {many(planned.kept, 'batch', 'batches')} in journal and cache",
    ]
    if planned.endpoint:
        retried = f"; with every re-ask and retry {planned.most_calls:,}" if planned.most_calls > planned.calls else ""
        lines.append(f"  calls     {planned.calls:,} at least to {planned.endpoint}{retried}")
        limits = {"max_cost": "cost", "max_tokens": "tokens", "max_calls": "calls"}
        lines += [
            f"  ceiling   {key} = {planned.ceiling[key]}, of which {planned.ceiling[of]} are spent"
            for key, of in limits.items()
            if key in planned.ceiling
        ]
    else:
        lines.append("  calls     none: it judges on this machine")
    return lines


def _asks(evaluator: Any) -> bool:
    import inspect

    return inspect.iscoroutinefunction(evaluator.judge)


def _mixed(batches: Sequence[str], controls: Sequence[str], seed: str) -> list[str]:
    """Batches in their order with the controls among them, at places that the seed draws."""
    at = places(controls, len(batches), seed)
    found: dict[int, list[str]] = {}
    for place, name in zip(at, controls, strict=True):
        found.setdefault(place, []).append(name)
    made: list[str] = []
    for number in range(len(batches) + 1):
        made += found.get(number, [])
        made += batches[number : number + 1]
    return made


Count = Callable[[Key], int]
