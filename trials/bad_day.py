"""A service that misbehaves in every way, and one that is overloaded for a while: what the table says, and how fast.

    python -m trials.bad_day [--questions 240] [--rounds 5]

1. Every question of a run against a service that misbehaves at random (by a seed) is in the table with its cause, the
   bounds say how little is known, memory stays small, and with the usual error budget the exit code is 4.
2. On a calm server (16 requests at once, answered in 100 ms each) a run takes at most 1.10 times as long as a bare
   asyncio client that keeps nothing; medians of interleaved rounds. What is timed is the asking, from the first
   question until the last one is on the disk; checking the seal before it and sealing the run after it are told
   apart. The same for answers in 50 ms is told and not promised.
3. After an overload the throughput of the run is that of the calm server again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tests.unit.run.faulty import BRISK_S, CALM_S, KINDS, chosen

from ragassay import assay, benchmark
from ragassay.errors import ErrorBudgetError
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.document import Document
from ragassay.records.protocol import Envelope, Run
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.trace import Measurements, TraceContent
from ragassay.run.progress import Standing
from ragassay.run.systems.http import HttpSystem
from ragassay.store import Store
from trials.lives import TrialError, promise, server

AT_ONCE = 16
MOST_RATIO = 1.10
TIMEOUT_S = 1.0
MOST_MB = 160
Figures = list[tuple[str, str]]


def service(seed: int) -> AbstractContextManager[int]:
    """The faulty service in a process of its own; its port."""
    return server("tests.unit.run.faulty", "--seed", str(seed))


class Watch:
    """Keeps when how many questions were done, and the lowest limit."""

    def __init__(self) -> None:
        self.done: list[tuple[float, int]] = []
        self.lowest = AT_ONCE

    def begin(self, standing: Standing) -> None:
        self.done.append((time.perf_counter(), standing.done))

    def tick(self, standing: Standing) -> None:
        self.done.append((time.perf_counter(), standing.done))
        self.lowest = min(self.lowest, standing.limit)

    def end(self, standing: Standing, state: str) -> None:  # noqa: ARG002
        self.done.append((time.perf_counter(), standing.done))


class World:
    """A store with one document and many questions."""

    def __init__(self, folder: Path, questions: int) -> None:
        self.store = Store.open(folder, create=True)
        documents = [
            Document(
                document_id="rain", version="1", text="All that is known about rain.", parser="text/1",
                normaliser="none/1", tenants=("*",),
            )
        ]  # fmt: skip
        self.frozen = assay.freeze_corpus(self.store, documents, name="bad", chunker="tokens", size=40, overlap=5)
        lines = [
            parse_value(CaseLine, {"query_id": f"q{number:05d}", "query": f"question {number}",
                                   "relevant": [{"document_id": "rain", "grade": 3}]})
            for number in range(questions)
        ]  # fmt: skip
        self.built = benchmark.build(
            self.store, lines, self.frozen.corpus, self.frozen.documents, name="bad", version="1"
        )

    def run(self, system: HttpSystem, name: str, **plan: Any) -> tuple[Run, str, float, Watch]:
        """A run by the path that the command line walks; its record, digest, seconds, and what was watched."""
        plan = {"as_of": "2026-08-01", "concurrency": AT_ONCE, "timeout_s": 30.0, "max_error_rate": 1.0, **plan}
        chosen_plan = assay.Plan(name=name, measures=("hit(rel=2)@5", "latency", "error_rate"), **plan)
        sealed = assay.seal(self.store, chosen_plan, self.frozen, self.built, system.identity)
        watch = Watch()
        start = time.perf_counter()
        run, digest = asyncio.run(assay.perform(self.store, chosen_plan, sealed, system, progress=watch, resume=True))
        return run, digest, watch.done[-1][0] - watch.done[0][0] if watch.done else time.perf_counter() - start, watch


def check_table(world: World, run: Run, digest: str, seed: int) -> Figures:
    """Promise 1: every question with its cause, and bounds that say how little is known."""
    contents = {one.query_id: one for one in world.store.get_lines(TraceContent, run.contents)}
    details = {one.query_id: one for one in world.store.get_lines(Measurements, run.measurements)}
    promise(len(contents) == run.questions, f"{len(contents)} of {run.questions} questions are in the table")
    causes: Counter[str] = Counter()
    for query_id, content in contents.items():
        kind = chosen(query_id, seed)
        failure = content.failure
        found = f"{failure.cause} {failure.code or ''}".strip() if failure else ""
        wanted = KINDS[kind][1]
        held = found.startswith(wanted) if wanted else not found
        promise(held and bool(found) == bool(wanted), f"{query_id} ({kind}) is {found!r}, not {wanted!r}")
        promise(not failure or bool(details[query_id].failure_detail), f"{query_id} ({kind}) says nothing")
        causes[found or "answered"] += 1
    world.store.set_ref("run/bad", digest, kind="run")
    sealed = world.store.ref("protocol/bad")
    from ragassay.records.protocol import Protocol

    scoring = world.store.get_record(Protocol, sealed).scoring
    table = world.store.get_record(ScoreTable, assay.measure(world.store, digest, scoring, name="bad"))
    hits = [one for one in world.store.get_lines(Estimate, table.estimates)
            if one.measure == "hit(rel=2)@5" and one.aggregation == "macro" and one.step == "context"]  # fmt: skip
    promise(len(hits) == 1 and hits[0].bounds is not None, "the bounds are not widened")
    hit = hits[0]
    assert hit.bounds
    failed = run.failures / run.questions
    width = hit.bounds.high - hit.bounds.low
    promise(abs(width - failed) < 1e-9, f"{failed:.3f} of the questions failed; the bounds are {width:.3f} wide")
    promise(hit.error == run.failures and hit.attempted == run.questions, "the counts of the estimate are wrong")
    return [
        ("questions", f"{run.questions}, {run.failures} of them failed"),
        *((f"  {cause}", str(count)) for cause, count in sorted(causes.items())),
        (
            "hit@5 of the answered",
            f"{hit.value:.3f} of {hit.scored}, bounds {hit.bounds.low:.3f} to {hit.bounds.high:.3f}",
        ),
    ]


def run_chaos(folder: Path, questions: int, seed: int) -> Figures:
    """Promise 1."""
    with service(seed) as port:
        system = HttpSystem(f"http://127.0.0.1:{port}/ask/random", name="faulty", max_wait_s=0.5)
        world = World(folder / "chaos", questions)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run, digest, took_s, _ = world.run(system, "bad", timeout_s=TIMEOUT_S, concurrency=8)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        figures = check_table(world, run, digest, seed)
        promise(grown < MOST_MB, f"memory grew by {grown:.0f} MB")
        try:
            world.run(system, "strict", timeout_s=TIMEOUT_S, concurrency=8, max_error_rate=0.2)
            raise TrialError("the error budget was not kept")
        except ErrorBudgetError as spent:
            code = int(spent.exit_code)
        promise(code == 4, f"over the error budget the exit code is {code}")
        return [
            *figures,
            ("seconds, and memory that it took", f"{took_s:.1f}, {grown:.0f} MB (some answers are 1 GB)"),
            ("exit code with max_error_rate = 0.2", str(code)),
        ]


async def bare(port: int, path: str, questions: int, at_once: int) -> float:
    """Seconds of a client that writes requests to sockets, reads the answers, and keeps nothing."""
    waiting = iter(range(questions))

    async def work() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in waiting:
            body = json.dumps({"query_id": f"q{number:05d}", "query": f"question {number}"}).encode()
            writer.write(f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            json.loads(await reader.readexactly(length))
        writer.close()
        await writer.wait_closed()

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return time.perf_counter() - start


def run_calm(folder: Path, questions: int, rounds: int) -> tuple[Figures, float]:
    """Promise 2; the figures, and the questions a second of the bare client on the slower of the two."""
    figures: Figures = []
    rates = []
    with service(1) as port:
        world = World(folder / "calm", questions)
        for kind, seconds in (("calm", CALM_S), ("brisk", BRISK_S)):
            ours, theirs, around = [], [], []
            system = HttpSystem(f"http://127.0.0.1:{port}/ask/{kind}", name=kind)
            for number in range(rounds + 1):
                theirs.append(asyncio.run(bare(port, f"/ask/{kind}", questions, AT_ONCE)))
                start = time.perf_counter()
                ours.append(world.run(system, f"{kind}{number}")[2])
                around.append(time.perf_counter() - start - ours[-1])
            ours, theirs, around = ours[1:], theirs[1:], around[1:]  # the first round warms both up
            ratio = statistics.median(ours) / statistics.median(theirs)
            promised = kind == "calm"
            promise(not promised or ratio <= MOST_RATIO, f"a run takes {ratio:.3f} times as long as a bare client")
            rates.append(questions / statistics.median(theirs))
            figures += [
                (
                    f"calm server, {seconds * 1000:.0f} ms an answer, {AT_ONCE} at once",
                    f"{questions} questions, {rounds} rounds",
                ),
                ("  bare asyncio client, median s", f"{statistics.median(theirs):.3f}"),
                ("  run (every answer on the disk), median s", f"{statistics.median(ours):.3f}"),
                ("  ratio", f"{ratio:.3f}" + (f" (at most {MOST_RATIO:.2f})" if promised else "")),
                ("  sealing the protocol and the run, median s", f"{statistics.median(around):.3f}"),
            ]
    return figures, rates[0]


def run_overload(folder: Path, questions: int, calm_rate: float) -> Figures:
    """Promise 3: a server that takes 4 at once for two seconds, then all."""
    with service(1) as port:
        world = World(folder / "busy", questions)
        system = HttpSystem(f"http://127.0.0.1:{port}/ask/busy", name="busy", retries=20)
        run, _, took_s, watch = world.run(system, "busy")
    envelope = world.store.get_record(Envelope, run.envelope)
    told = Counter(one.kind for one in envelope.pace)
    measured = list(world.store.get_lines(Measurements, run.measurements))
    refused = sum(one.failure is not None for each in measured for one in each.attempts)
    last = [one for one in watch.done if one[1] >= questions * 2 // 3]
    rate = (last[-1][1] - last[0][1]) / (last[-1][0] - last[0][0])
    promise(run.failures == 0, f"{run.failures} questions failed in an overload that passes")
    promise(told["cut"] > 0 and told["recovered"] > 0, f"the envelope says {dict(told)}")
    promise(rate * MOST_RATIO >= calm_rate, f"{rate:.0f} a second after the overload, {calm_rate:.0f} on a calm server")
    return [
        ("overload (429 above 4 at once for 2 s)", f"{questions} questions in {took_s:.1f} s, 0 failed"),
        ("  cuts, recoveries, lowest limit", f"{told['cut']}, {told['recovered']}, {watch.lowest} of {AT_ONCE}"),
        ("  requests refused", str(refused)),
        ("  questions a second afterwards", f"{rate:.0f}; bare client on a calm server {calm_rate:.0f}"),
    ]


def run_bad_day(*, questions: int, rounds: int, seed: int) -> Figures:
    """All three; TrialError if a promise was broken."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        figures = run_chaos(folder, questions, seed)
        calm, rate = run_calm(folder, questions * 2, rounds)
        return figures + calm + run_overload(folder, questions * 4, rate)


def main() -> int:
    """Run them and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=240, help="of the bad day; twice as many on a calm server")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=20260801)
    given = parser.parse_args()
    try:
        figures = run_bad_day(questions=given.questions, rounds=given.rounds, seed=given.seed)
    except TrialError as broken:
        print(f"BROKEN PROMISE: {broken}", file=sys.stderr)
        return 1
    width = max(len(what) for what, _ in figures)
    for what, value in figures:
        print(f"{what:<{width}}  {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
