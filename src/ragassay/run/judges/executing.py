"""The verb of judges: a sealed run and an evaluator to a set of judgements. Scores nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from ragassay.errors import CeilingError, ErrorBudgetError, UsageError
from ragassay.records.base import Digest
from ragassay.records.judgement import JudgementSet, judge_digest
from ragassay.records.text import many
from ragassay.redact import Redaction
from ragassay.run.ceiling import Ceiling
from ragassay.run.clock import SYSTEM_CLOCK, Clock
from ragassay.run.executing import stopped_by_signals
from ragassay.run.job import Job, Told, most_failures
from ragassay.run.judges.asking import Judging, Made
from ragassay.run.judges.cache import JudgeCache, Replies
from ragassay.run.judges.matter import Matter
from ragassay.run.judges.permission import check_permitted
from ragassay.run.judges.planning import Plan, PlannedJudge, Wanted, claims_from, plan_of
from ragassay.run.judges.sealing import seal_set
from ragassay.run.judges.settings import JudgeSettings, ceiling_of
from ragassay.run.judges.unit import FORMAT, Judged, JudgingLog
from ragassay.run.log import no_point, set_aside
from ragassay.run.log_lines import Header, Key
from ragassay.run.pace import Conditions, Paces
from ragassay.run.progress import Progress, Silent
from ragassay.run.threads import Writer
from ragassay.store import Store

NOT_CUT = "not_cut"
"""Why a set is partial: the model that cuts the answers into claims did not cut all of them."""
_AT_ONCE = 200
"""So many batches that are known already are written with one push to the disk."""


async def judge(
    store: Store,
    run_digest: str,
    evaluator: Any,
    *,
    name: str,
    settings: JudgeSettings,
    limit: int | None = None,
    progress: Progress | None = None,
    resume: bool = True,
    clock: Clock = SYSTEM_CLOCK,
    redaction: Redaction | None = None,
    signals: bool = True,
    on_point: Callable[[str], None] = no_point,
) -> tuple[JudgementSet, Digest]:
    """Put everything of a run that an evaluator rules on to it; the set of its verdicts, ref `judgements/NAME/RUN`.

    Every finished batch is durable at once: what is in the journal of this job (run, judge, name), or in the cache of
    the store under the same judge and the same texts, is never asked again. `limit` stops after the first so many
    answers. Without `resume` the journal is set aside; what the cache holds still is not asked again.

    Raises ErrorBudgetError (more batches with an item in error than `max_error_rate` allows) and CeilingError after a
    partial set was stored; UsageError, MixedRunError, IntegrityError, StoreError, Interrupted as a run does.
    """
    taken = claims_from(store, run_digest, name, settings)
    matter = Matter(store, run_digest, language=settings.language, cut=taken.record if taken else None)
    check_permitted(matter.benchmark, matter.cases, str(getattr(evaluator, "endpoint", "") or ""))
    plan = plan_of(matter, evaluator, name, settings, limit=limit, taken=taken)
    with _opened(store, plan, name, resume, clock, on_point) as (log, cache, writer):
        stopped: str | None = None
        if log.state not in ("sealed", "complete"):
            judging = _judging(evaluator, plan, settings, redaction, clock, log)
            ceiling = ceiling_of(settings)
            try:
                await _ask_all(
                    _Work(log, cache, writer, plan, judging, ceiling), evaluator, settings, progress, clock, signals,
                    on_point,
                )  # fmt: skip
            except (CeilingError, ErrorBudgetError) as ended:
                stopped = "cost_ceiling" if isinstance(ended, CeilingError) else "error_budget"
                log.move("stopped" if isinstance(ended, CeilingError) else "failed", clock.now())
                _seal(store, log, plan, name, stopped)
                raise
            stopped = "limit" if len(log.entries) < len(plan.keys) else None
            log.move("stopped" if stopped else "complete", clock.now())
        made, digest = _seal(store, log, plan, name, stopped)
        if log.state == "complete":
            log.move("sealed", clock.now(), run=digest)
        return made, digest


def _seal(store: Store, log: JudgingLog, plan: Plan, name: str, stopped: str | None) -> tuple[JudgementSet, Digest]:
    return seal_set(
        store, log, name=name, run=plan.run, identity=plan.identity, claims=plan.claims, splitter=plan.splitter,
        asked=plan.items, stopped=stopped or (NOT_CUT if plan.uncut else None), cut=plan.cut,
    )  # fmt: skip


def foresee(
    store: Store, run_digest: str, evaluator: Any, *, name: str, settings: JudgeSettings, limit: int | None = None
) -> PlannedJudge:
    """What `judge` would do with the same arguments; nothing is asked and nothing written."""
    taken = claims_from(store, run_digest, name, settings)
    matter = Matter(store, run_digest, language=settings.language, cut=taken.record if taken else None)
    plan = plan_of(matter, evaluator, name, settings, limit=limit, taken=taken)
    judging = _judging(evaluator, plan, settings, None, SYSTEM_CLOCK, None)
    path, ceiling = store.journal_path(plan.job), ceiling_of(settings)
    log = JudgingLog.peek(path) if path.exists() else None
    for entry in log.entries.values() if log else ():
        ceiling.settle(0, entry.facts)
    file = store.path / "cache" / "judges.sqlite"
    cache = JudgeCache(file) if file.exists() else None
    kept, calls, most = 0, 0, 0
    for key in Wanted(plan).keys:
        known = log is not None and key in log.entries
        known = known or (cache is not None and _cached(cache, judging, key) is not None)
        kept += known
        if not known and (items := judging.items_of(key[0])):
            least, worst = calls_of(evaluator, len(items))
            calls, most = calls + least, most + worst
    if cache is not None:
        cache.close()
    return PlannedJudge(
        name=name, identity=judging.judge, endpoint=str(getattr(evaluator, "endpoint", "") or ""),
        answers=plan.answers, batches=len(plan.keys) - len(plan.controls),
        items=plan.items, controls=len(plan.controls), kept=kept, calls=calls, most_calls=most,
        ceiling=ceiling.to_metadata(),
    )  # fmt: skip


def calls_of(evaluator: Any, items: int) -> tuple[int, int]:
    """Requests that a batch of so many items takes at least and at most, as the evaluator says; none if offline."""
    told = getattr(evaluator, "calls_of", None)
    if callable(told):
        least, most = told(items)
        return int(least), int(most)
    return (1, 1) if getattr(evaluator, "endpoint", "") else (0, 0)


def _judging(
    evaluator: Any,
    plan: Plan,
    settings: JudgeSettings,
    redaction: Redaction | None,
    clock: Clock,
    log: JudgingLog | None,
) -> Judging:
    known = sorted(log.versions.get("model", ())) if log is not None else []
    return Judging(
        evaluator, plan.batches, plan.controls, identity=plan.identity, timeout_s=settings.timeout_s,
        repeats=settings.repeats, redaction=redaction or Redaction(), clock=clock, version=known[0] if known else None,
    )  # fmt: skip


@contextmanager
def _opened(
    store: Store,
    plan: Plan,
    name: str,
    resume: bool,
    clock: Clock,
    on_point: Callable[[str], None],
) -> Iterator[tuple[JudgingLog, JudgeCache, Writer]]:
    path = store.journal_path(plan.job)
    if not resume:
        set_aside(path)
    header = Header(
        format=FORMAT, name=name, subject=plan.run, protocol=judge_digest(plan.identity),
        questions=len(plan.keys), started_at=clock.now(),
    )  # fmt: skip
    with JudgingLog(path, header, on_point=on_point) as log:
        cache, writer = JudgeCache.of_store(store.path), Writer()
        try:
            yield log, cache, writer
        finally:
            writer.close()
            cache.close()


class _Work:
    """What one run of a judging job works on."""

    def __init__(
        self, log: JudgingLog, cache: JudgeCache, writer: Writer, plan: Plan, judging: Judging, ceiling: Ceiling
    ) -> None:
        self.log, self.cache, self.writer = log, cache, writer
        self.plan, self.judging, self.ceiling = plan, judging, ceiling

    def keep(self, made: list[Made]) -> None:
        """Verdicts to the cache, before a line of them is in the journal: what was paid for is never lost to it."""
        self.cache.put(one.kept for one in made if one.kept is not None)

    def recall(self) -> int:
        """Write what the cache knows into the journal. Controls are asked again as soon as anything is asked."""
        left = [key for key in Wanted(self.plan).keys if key not in self.log.entries]
        found: dict[Key, Judged] = {}
        for key in left:
            known = _cached(self.cache, self.judging, key)
            if known is not None:
                found[key] = known
        fresh = [key for key in left if key not in found and self.judging.items_of(key[0])]
        if any(not self.judging.is_control(key) for key in fresh):
            found = {key: one for key, one in found.items() if not self.judging.is_control(key)}
        made = list(found.values())
        for start in range(0, len(made), _AT_ONCE):
            self.log.append_all(made[start : start + _AT_ONCE])
        return len(made)


def _cached(cache: JudgeCache, judging: Judging, key: Key) -> Judged | None:
    value = cache.get(judging.cache_key(key)) if judging.items_of(key[0]) else None
    return None if value is None else judging.from_cache(key, value)


async def _ask_all(
    work: _Work,
    evaluator: Any,
    settings: JudgeSettings,
    progress: Progress | None,
    clock: Clock,
    signals: bool,
    on_point: Callable[[str], None],
) -> None:
    paces = Paces(settings.concurrency, clock)
    terms = Conditions(
        timeout_s=settings.timeout_s, pace=paces.default, paces=paces, clock=clock,
        random=Random(int(work.plan.job[7:15], 16)),  # noqa: S311  jitter, nothing secret
    )  # fmt: skip
    attach = getattr(evaluator, "attach", None)
    if callable(attach):
        attach(terms, Replies(work.cache, work.writer))
    work.log.move("running", clock.now())
    work.recall()
    wanted = Wanted(work.plan)
    job = Job(
        work.log,
        work.judging,
        wanted,
        paces=paces,
        ceiling=work.ceiling,
        most_failures=most_failures(settings.max_error_rate, len(wanted.keys)),
        clock=clock,
        writer=work.writer,
        put=lambda _data: None,
        told=TOLD,
        first=work.keep,
    )
    job.report_to(progress or Silent(), on_point)
    stop = asyncio.Event()
    try:
        with stopped_by_signals(stop, signals):
            await job.run(stop)
    finally:
        close = getattr(evaluator, "aclose", None)
        if callable(close):
            await asyncio.wait({asyncio.ensure_future(close())}, timeout=5.0)


def _why(finished: Judged) -> str:
    wrong = next((one for one in finished.judgements if one.status == "error"), None)
    if wrong is None:
        said = finished.controls[0].reason if finished.controls else "unknown"
        return f"The first was a control: {said}"
    code = f" {wrong.failure.code}" if wrong.failure and wrong.failure.code else ""
    detail = " ".join((wrong.rationale or "").split())[:200]
    return f"The first was {wrong.query_id!r}, {wrong.about} {wrong.target}: {wrong.reason}{code}" + (
        f", {detail}" if detail else ""
    )


TOLD = Told(
    one="batch",
    several="batches",
    done="judged",
    budget_hint="mend the judge and give the same command with --no-resume: what has verdicts is not asked again; or "
    "raise max_error_rate in [judges.NAME] and go on from here",
    ceiling_hint="the others are not judged; with a higher ceiling in [judges.NAME] the same command goes on",
    why=_why,
)


def check_limit(limit: int | None) -> None:
    """UsageError for a limit of no answers."""
    if limit is not None and limit < 1:
        raise UsageError(f"a limit of {many(limit, 'answer')}", field="limit", hint="1 or more")
