"""One run lived in several processes, each ended somehow, and what the server saw of each. Judges what was seen."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2  # noqa: F401  loaded before the fork, so that a life begins at once

from ragassay import benchmark, corpus, seal
from ragassay.errors import RagassayError
from ragassay.records.base import Digest
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.document import Document
from ragassay.records.protocol import Policy, Protocol, Run, Scoring, Stated, Subject
from ragassay.redact import Redaction
from ragassay.run.executing import execute, job_digest
from ragassay.run.journal import no_point
from ragassay.run.systems.http import HttpSystem
from ragassay.store import Store

CONCURRENCY = 4
NAME = "trial"
ROOT = Path(__file__).resolve().parent.parent


class TrialError(AssertionError):
    """A promise was broken; the message says which."""


def promise(held: bool, what: str) -> None:
    if not held:
        raise TrialError(what)


@contextmanager
def server(*module: str) -> Iterator[int]:
    """A server (the counting one, or another module with its arguments) in a process of its own; its port."""
    command = [sys.executable, "-m", *(module or ("trials.server",))]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdin
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(10)


def system(port: int, path: str) -> HttpSystem:
    return HttpSystem(f"http://127.0.0.1:{port}/ask/{path}", name="counted", retries=0)


def build(folder: Path, *, questions: int) -> Digest:
    """A small sealed store; the digest of its protocol."""
    store = Store.open(folder, create=True)
    made = [
        Document(
            document_id=name, version="1", text=f"All that is known about {name}.", parser="text/1",
            normaliser="none/1", tenants=("*",),
        )
        for name in ("rain", "snow", "tea")
    ]  # fmt: skip
    record, _ = corpus.build(store, made, name=NAME)
    cut, _ = corpus.segment(store, record, made, chunker="tokens", name=NAME)
    lines = [parse_value(CaseLine, {"query_id": f"q{n:04d}", "query": f"question {n}"}) for n in range(questions)]
    built = benchmark.build(store, lines, record, made, name=NAME, version="1")
    subject = Subject(
        corpus=record.digest, segmentation=Stated(value=cut.identity()), benchmark=built.benchmark.identity(),
        system=system(1, "").identity, as_of="2026-08-01T00:00:00Z", seed=0, repeats=1, top_k=5, history="none",
        timeout_s=30.0, redaction=Redaction().digest,
    )  # fmt: skip
    scoring = Scoring(
        measures=("recall(rel=2)@5",), measure_versions={"recall": "1"}, hold=1.0, tokenizer="word/1",
        normalisation="squad", level=0.95, ties="list_order",
    )  # fmt: skip
    return seal.freeze(store, name=NAME, subject=subject, scoring=scoring, policy=Policy(name="none")).digest


@dataclass
class Trial:
    """One run in a copy of a sealed store, lived in as many processes as it takes."""

    base: Path
    folder: Path
    protocol: Digest
    port: int
    name: str
    kills: int = 0
    lives: list[set[str]] = field(default_factory=list)
    """What was in the journal when each life began; one more for the end."""
    killed: list[bool] = field(default_factory=list)
    error: str = ""
    """What stopped the last life, if something did."""

    def __post_init__(self) -> None:
        shutil.copytree(self.base, self.folder)
        self.lives.append(set())

    @property
    def journal(self) -> Path:
        store = Store.open(self.folder)
        subject = store.get_record(Protocol, self.protocol).subject
        return store.journal_path(job_digest(subject, NAME))

    def live(
        self,
        *,
        kill_after_s: float | None = None,
        since: str = "",
        on_point: Callable[[str], None] = no_point,
        prepare: Callable[[], None] | None = None,
    ) -> int:
        """One process that goes on with the run: 0 finished, -9 killed, 2 stopped by an error that is ours.

        It is killed so long after it was started or, with `since`, after it first got to that point.
        """
        ours, theirs = os.pipe()
        opened, opening = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(opened)
            hook = _telling(since, opening) if since else on_point
            os._exit(self._child(hook, prepare, theirs))
        os.close(theirs)
        os.close(opening)
        if since:
            os.read(opened, 1)
        os.close(opened)
        if kill_after_s is not None:
            time.sleep(kill_after_s)
            os.kill(child, signal.SIGKILL)
        with os.fdopen(ours, "rb") as stream:
            self.error = stream.read().decode()
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        killed = code == -signal.SIGKILL
        self.kills += killed
        self.killed.append(killed)
        self.lives.append(self.journaled())
        return code

    def _child(self, on_point: Callable[[str], None], prepare: Callable[[], None] | None, tell: int) -> int:
        """The life of the forked process; what stopped it goes to the parent through a pipe."""
        try:
            os.chdir(self.folder.parent)  # not in a repository: the machine is described faster
            store = Store.open(self.folder)
            if prepare is not None:
                prepare()
            asked = system(self.port, f"{self.name}/{len(self.killed)}")
            asyncio.run(
                execute(
                    store, self.protocol, asked, name=NAME, concurrency=CONCURRENCY, on_point=on_point, signals=False
                )
            )
        except RagassayError as error:
            os.write(tell, f"{type(error).__name__}: {error}".encode())
            return 2
        except BaseException:
            os.write(tell, traceback.format_exc().encode())
            return 3
        return 0

    def journaled(self) -> set[str]:
        """Questions whose whole line is in the journal, read without the product's own reader."""
        path = self.journal
        if not path.exists():
            return set()
        whole = path.read_bytes().split(b"\n")[:-1]
        found = [json.loads(line)["body"].get("question") for line in whole]
        return {one["content"]["query_id"] for one in found if one}

    def counts(self) -> list[dict[str, int]]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/counts/{self.name}") as reply:
            seen: dict[str, dict[str, int]] = json.loads(reply.read())
        return [seen.get(str(number), {}) for number in range(len(self.killed))]

    def check(self, reference: Digest, *, questions: int) -> dict[str, int]:
        """All promises of a run that was ended and resumed; figures for the table."""
        seen = self.counts()
        duplicates = in_flight = busy = 0
        for number, asked in enumerate(seen):
            before, after = self.lives[number], self.lives[number + 1]
            again = before & set(asked)
            promise(not again, f"{self.name}: life {number} asked journaled questions again: {sorted(again)}")
            promise(before <= after, f"{self.name}: life {number} lost journaled questions")
            promise(after - before <= set(asked), f"{self.name}: life {number} journaled what it never asked")
            promise(max(asked.values(), default=1) == 1, f"{self.name}: life {number} asked one question twice")
            lost = set(asked) - after
            promise(len(lost) <= 2 * CONCURRENCY, f"{self.name}: life {number} had {len(lost)} questions in flight")
            in_flight += len(lost)
            busy += bool(lost) and self.killed[number]
        total = sum(sum(one.values()) for one in seen)
        duplicates = total - questions
        promise(duplicates == in_flight, f"{self.name}: {duplicates} asked twice, {in_flight} were in flight")
        store = Store.open(self.folder)
        digest = store.ref(f"run/{NAME}")
        run = seal.verify_run(store, digest)
        promise(run.content == reference, f"{self.name}: the content digest is {run.content}, not {reference}")
        promise(run.answered == run.questions == questions, f"{self.name}: {run.answered} of {run.questions} answered")
        return {"kills": self.kills, "busy": busy, "lives": len(seen), "duplicates": duplicates, "asked": total}

    def remove(self) -> None:
        shutil.rmtree(self.folder)


def _telling(point: str, descriptor: int) -> Callable[[str], None]:
    """A hook that says when a point is first reached; as any hook, it makes the journal write a line in two pieces."""
    told: list[str] = []

    def hook(name: str) -> None:
        if name == point and not told:
            told.append(name)
            os.write(descriptor, b".")

    return hook


def reference_digest(base: Path, folder: Path, protocol: Digest, port: int, questions: int) -> Digest:
    """The content digest of an uninterrupted run."""
    trial = Trial(base, folder, protocol, port, "uninterrupted")
    promise(trial.live() == 0, "the uninterrupted run did not finish")
    store = Store.open(folder)
    run = store.get_record(Run, store.ref(f"run/{NAME}"))
    promise(run.answered == questions, "the uninterrupted run did not answer everything")
    return run.content
