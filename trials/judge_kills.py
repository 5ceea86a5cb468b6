"""A judging job killed again and again: no finished item is paid for twice; the verdicts are those of a calm one."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2  # noqa: F401  loaded before the fork, so that a life begins at once
from tests.unit.run.judges.world import RunWorld

from ragassay.records.base import Digest
from ragassay.records.judgement import Judgement, JudgementSet
from ragassay.run.judges.executing import judge
from ragassay.run.judges.making import make_evaluator
from ragassay.run.judges.settings import JudgeSettings, judge_settings
from ragassay.store import Store
from trials.lives import promise, server

AT_ONCE = 32
MOST_KILLS_A_JOB = 20
_LONGEST_S = 0.9


def statement(query_id: str) -> str:
    """The one claim of an answer, so that the server can tell which item it was asked about."""
    return f"The ferry number {int(query_id[1:])} leaves at 07:40 on weekdays."


def sealed(folder: Path, items: int) -> Digest:
    """A store with a run of so many answers of one claim each; the run."""
    made = RunWorld(folder.parent / "made", questions=items, answer=statement)
    made.store.path.rename(folder)
    return made.digest


def settings(port: int, life: str, **more: Any) -> JudgeSettings:
    """One call an item; whatever the life, the judge is the same."""
    url = f"http://127.0.0.1:{port}/v1/{life}/chat/completions"
    return judge_settings(
        "slow",
        {"kind": "llm", "url": url, "model": "slow", "endpoint": "slow", "about": ["claim"], "together": 1,
         "concurrency": AT_ONCE, "max_error_rate": 0.0, "numbers": "none",
         **more},
    )  # fmt: skip


def judged(folder: Path, run: Digest, declared: JudgeSettings, **more: Any) -> tuple[JudgementSet, Digest]:
    """The job as the command does it."""
    store = Store.open(folder)
    evaluator = make_evaluator("slow", declared, store=store.path)
    return asyncio.run(judge(store, run, evaluator, name="slow", settings=declared, signals=False, **more))


def journaled(folder: Path) -> set[str]:
    """Claims whose verdict stands in a whole line of a journal, read without the product's own reader."""
    found = set()
    for path in (folder / "journals").glob("*.journal"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            for one in (json.loads(line)["body"].get("question") or {}).get("judgements", ()):
                found.add(statement(one["query_id"]))
    return found


def live(folder: Path, run: Digest, port: int, life: str, kill_after_s: float | None) -> int:
    """One process that goes on with the job; its exit code, -9 if it was killed in time."""
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder.parent)
            judged(folder, run, settings(port, life))
        except BaseException:
            os._exit(3)
        os._exit(0)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def counts(port: int) -> dict[str, dict[str, int]]:
    """What the server was asked in each life."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/counts") as reply:
        return dict(json.loads(reply.read()))


def verdicts(folder: Path, digest: Digest) -> list[tuple[str, str, str]]:
    """What a set of judgements says, without what it took."""
    store = Store.open(folder)
    lines = store.get_lines(Judgement, store.get_record(JudgementSet, digest).judgements)
    return sorted((one.query_id, one.status, one.label or "") for one in lines)


def run_judge_kills(*, kills: int, items: int, seed: int) -> list[tuple[str, str]]:
    """The trial; figures as (what, value). Raises TrialError when a promise is broken."""
    chance, totals, began = random.Random(seed), Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ragassay-trials-") as name, server("trials.slow_judge") as port:
        base = Path(name) / "base"
        run = sealed(base, items)
        calm = Path(name) / "calm"
        shutil.copytree(base, calm)
        wanted = verdicts(calm, judged(calm, run, settings(port, "calm"))[1])
        while totals["kills"] < kills:
            folder = Path(name) / f"job{totals['jobs']}"
            shutil.copytree(base, folder)
            totals.update(one_job(folder, run, port, chance, min(MOST_KILLS_A_JOB, kills - totals["kills"]), wanted))
            totals["jobs"] += 1
            shutil.rmtree(folder)
    return [
        ("kills", str(totals["kills"])),
        ("jobs that they were spread over", str(totals["jobs"])),
        ("items a job", str(items)),
        ("calls about items", str(totals["asked"])),
        ("of them again (all in flight at a kill)", str(totals["asked"] - items * totals["jobs"])),
        ("finished items that were asked about again", "0"),
        ("sets of verdicts equal to that of the calm job", f"{totals['jobs']} of {totals['jobs']}"),
        ("seconds", f"{time.monotonic() - began:.0f}"),
    ]


def one_job(
    folder: Path, run: Digest, port: int, chance: random.Random, most: int, wanted: list[tuple[str, str, str]]
) -> dict[str, int]:
    """A job that is killed up to `most` times, then finishes; what it took."""
    kills = asked = 0
    done: set[str] = set()
    ours = {statement(query_id) for query_id, *_ in wanted}
    while True:
        life = f"{folder.name}-{kills}"
        code = live(folder, run, port, life, chance.uniform(0.1, _LONGEST_S) if kills < most else None)
        seen = {text: number for text, number in counts(port).get(life, {}).items() if text in ours}
        promise(not done & set(seen), f"{life}: finished items were asked about again: {sorted(done & set(seen))[:3]}")
        promise(max(seen.values(), default=1) == 1, f"{life}: one item was asked about twice")
        after = journaled(folder)
        promise(done <= after, f"{life}: finished items were lost")
        promise(len(set(seen) - after) <= 2 * AT_ONCE, f"{life}: {len(set(seen) - after)} items were in flight")
        asked, done = asked + sum(seen.values()), after
        if code == 0:
            promise(len(done) == len(ours), f"{life}: {len(done)} of {len(ours)} items are in the journal at the end")
            break
        promise(code == -signal.SIGKILL, f"{life}: ended with {code}")
        kills += 1
    store = Store.open(folder)
    (name,) = store.ref_names("judgements/slow/")
    digest = store.ref(name)
    promise(verdicts(folder, digest) == wanted, f"{folder.name}: other verdicts than those of the calm job")
    return {"kills": kills, "asked": asked}
