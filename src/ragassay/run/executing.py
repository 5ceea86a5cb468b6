"""The room's verb: a sealed protocol and a system to a sealed run. Scores nothing."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any

import msgspec

from ragassay import seal
from ragassay.errors import CeilingError, ErrorBudgetError, IntegrityError, UsageError
from ragassay.records.base import Digest, Instant
from ragassay.records.canonical import digest_of
from ragassay.records.protocol import Run
from ragassay.redact import Redaction
from ragassay.run.ceiling import Ceiling
from ragassay.run.clock import SYSTEM_CLOCK, Clock
from ragassay.run.contract import Circumstances, System
from ragassay.run.job import Job, most_failures
from ragassay.run.journal import FORMAT, MOST_EVENTS, Header, Journal, no_point, set_aside
from ragassay.run.pace import Conditions, Paces
from ragassay.run.progress import Progress, Silent
from ragassay.run.question import Questioner
from ragassay.run.sealing import seal_run
from ragassay.run.states import State
from ragassay.run.threads import Writer
from ragassay.run.world import World, check_redaction, check_system, load_world
from ragassay.store import Store

POINTS = (
    "open", "before_ask", "after_answer", "mid_append", "before_fsync", "after_fsync", "before_blobs", "after_blobs",
    "before_ref", "after_ref",
)  # fmt: skip
"""Where `on_point` is called, in order; a trial kills the process at each."""


async def execute(
    store: Store,
    protocol_digest: Digest,
    system: System,
    *,
    name: str = "latest",
    concurrency: int = 4,
    error_budget: float | int = 0.2,
    ceiling: Ceiling | None = None,
    progress: Progress | None = None,
    resume: bool = True,
    reuse: bool = True,
    clock: Clock = SYSTEM_CLOCK,
    redaction: Redaction | None = None,
    credentials: Mapping[str, str] | None = None,
    signals: bool = True,
    on_point: Callable[[str], None] = no_point,
) -> tuple[Run, Digest]:
    """Ask a system every question of a sealed protocol; returns the run and its digest, named `run/NAME`.

    Everything that the protocol reaches is hashed again first. Every finished question is durable at once. With
    `resume`, questions in the journal of this job (subject and name) are never asked again, and a job that is already
    sealed is returned as it is and gets its name back; without, the old journal is set aside and all is asked anew.
    Without `reuse` only an unfinished job is gone on with: for a caller that cannot know that the system is the same.
    `error_budget` is a count (int) or a fraction (float) of questions that may fail. When `ceiling` has no room for
    another question, or more failed than `error_budget` allows, the partial run is sealed and named, and the job can
    go on under a higher one; an earlier run of this job counts too. `credentials` maps principal ids
    to what the system needs to know them; they are sent and never stored. With `signals`, SIGINT and SIGTERM stop the
    run and keep what is finished (only in the main thread).

    Raises IntegrityError (stored bytes are damaged), UsageError (another system or redaction than was sealed, or the
    job is being run elsewhere), MixedRunError, ErrorBudgetError, CeilingError, Interrupted, StoreError (the disk says
    no).
    """
    if concurrency < 1:
        raise UsageError(f"a concurrency of {concurrency}", field="concurrency", hint="1 or more")
    world = load_world(store, protocol_digest)
    transform = redaction or Redaction()
    check_system(world.subject, system.identity)
    check_redaction(world.subject, transform)
    most_failures(error_budget, len(world.keys))
    goes_on = resume and (reuse or not _is_sealed(store, world, name, clock))
    with open_job(store, world, name=name, resume=goes_on, clock=clock, on_point=on_point) as journal:
        on_point("open")
        if journal.state == "sealed":
            return _sealed(store, journal, name)
        if journal.state != "complete":
            paces, most = Paces(concurrency, clock), ceiling or Ceiling()
            with _writer() as writer:
                questioner = Questioner(
                    world,
                    system,
                    redaction=transform,
                    credentials=credentials or {},
                    clock=clock,
                    own_answer=journal.answer,
                )
                budget = most_failures(error_budget, len(world.keys))
                job = Job(
                    journal,
                    questioner,
                    world,
                    paces=paces,
                    ceiling=most,
                    most_failures=budget,
                    clock=clock,
                    writer=writer,
                    put=store.put,
                )
                job.report_to(progress or Silent(), on_point)
                terms = Conditions(
                    timeout_s=world.subject.timeout_s,
                    pace=paces.default,
                    paces=paces,
                    random=_jitter(world),
                    clock=clock,
                )
                try:
                    await _ask_all(job, journal, system, terms, signals)
                except (CeilingError, ErrorBudgetError) as stopped:
                    state: State = "stopped" if isinstance(stopped, CeilingError) else "failed"
                    _end(state, journal, paces, most, clock, _circumstances(system))
                    seal_run(store, journal, at=clock.now(), on_point=on_point)
                    raise
            _end("complete", journal, paces, most, clock, _circumstances(system))
        return seal_run(store, journal, at=clock.now(), on_point=on_point)


@contextmanager
def _writer() -> Iterator[Writer]:
    writer = Writer()
    try:
        yield writer
    finally:
        writer.close()


def job_digest(subject: Digest, name: str) -> Digest:
    """The identity of a job: its subject and the name of its run."""
    return digest_of([subject, name])


def open_job(
    store: Store,
    world: World,
    *,
    name: str,
    resume: bool = True,
    clock: Clock = SYSTEM_CLOCK,
    on_point: Callable[[str], None] = no_point,
) -> Journal:
    """The journal of a job under its lease, begun or gone on with."""
    path = store.journal_path(job_digest(world.protocol.subject, name))
    if not resume:
        set_aside(path)
    header = Header(
        format=FORMAT,
        name=name,
        subject=world.protocol.subject,
        protocol=world.protocol_digest,
        questions=len(world.keys),
        started_at=clock.now(),
    )
    return Journal(path, header, on_point=on_point)


def _is_sealed(store: Store, world: World, name: str, clock: Clock) -> bool:
    if not store.journal_path(job_digest(world.protocol.subject, name)).exists():
        return False
    with open_job(store, world, name=name, clock=clock) as journal:
        return journal.state == "sealed"


def _sealed(store: Store, journal: Journal, name: str) -> tuple[Run, Digest]:
    """The run that a job ended with, under its name again: the name may be gone, or another subject may have it."""
    if journal.run is None:
        raise IntegrityError("a sealed journal names no run", file=str(journal.path), hint="begin anew")
    run = store.get_record(Run, journal.run)
    store.set_ref(f"run/{name}", journal.run, kind="run")
    return run, journal.run


def _circumstances(system: Any) -> Circumstances:
    """What the system says of itself; nothing if it says nothing, or something else by this name."""
    ask = getattr(system, "circumstances", None)
    found = ask() if callable(ask) else None
    return found if isinstance(found, Circumstances) else Circumstances()


def _end(state: State, journal: Journal, paces: Paces, ceiling: Ceiling, clock: Clock, said: Circumstances) -> None:
    """Move to `complete`, `stopped` or `failed`, with the envelope."""
    now, last = clock.now(), paces.take()
    envelope = seal.describe_machine(
        started_at=Instant(journal.header.started_at),
        finished_at=now,
        clock=clock.name,
        concurrency=paces.limit,
        resumed=journal.resumed,
    )
    events = (*journal.pace, *last)
    envelope = msgspec.structs.replace(
        envelope,
        pace=events[:MOST_EVENTS],
        pace_left_out=journal.pace_left_out + len(events[MOST_EVENTS:]),
        spent=ceiling.to_metadata(),
        indexes=said.indexes,
        notes=said.notes,
    )
    journal.move(state, now, envelope=envelope, pace=last)


def _jitter(world: World) -> Random:
    return Random(world.subject.seed)  # noqa: S311  jitter of waiting times, nothing secret


async def _ask_all(job: Job, journal: Journal, system: Any, terms: Conditions, signals: bool) -> None:
    attach = getattr(system, "attach", None)
    if callable(attach):
        attach(terms)
    journal.move("running", terms.clock.now())
    stop = asyncio.Event()
    try:
        with stopped_by_signals(stop, signals):
            await job.run(stop)
    finally:
        close = getattr(system, "aclose", None)
        if callable(close):
            await asyncio.wait({asyncio.ensure_future(close())}, timeout=5.0)


@contextmanager
def stopped_by_signals(stop: asyncio.Event, wanted: bool) -> Iterator[None]:
    """The first SIGINT or SIGTERM sets `stop`; a second one does what it did before this run."""
    if not wanted or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    loop = asyncio.get_running_loop()

    def restore() -> None:
        for one, handler in before.items():
            signal.signal(one, handler)

    def heard(_number: int, _frame: object) -> None:
        restore()
        loop.call_soon_threadsafe(stop.set)

    for one in before:
        signal.signal(one, heard)
    try:
        yield
    finally:
        restore()
