"""Writers of one store killed with SIGKILL at random moments and at every step; nothing acknowledged may be lost.

    python trials/store_kills.py --rounds 25 --writers 4 --store DIR

Prints one JSON object; exit code 1 if anything is damaged, missing or foreign, or an acknowledged write is gone.
SIGKILL does not test fsync (the page cache survives); `tests/unit/store/test_power_loss.py` does.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ragassay.records.protocol import Policy
from ragassay.store import Store, durable

STEPS = ("open", "write", "fsync", "fchmod", "close", "link", "replace", "unlink", "mkdir")


class KilledAt:
    """The `os` module, except that the process kills itself just before or just after call number `count`."""

    def __init__(self, count: int, *, after: bool) -> None:
        self.left = count
        self.after = after

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in STEPS:
            return real

        def call(*arguments: Any, **named: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = real(*arguments, **named)
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call


def write_for_ever(path: Path, out: int, seed: int) -> None:
    """Store blobs, lines and refs, some of them equal to other writers', and say each one when it is durable."""
    source = random.Random(seed)
    store = Store.open(path)
    for number in range(10**9):
        shared = source.random() < 0.3
        size = source.choice((0, 10, 5_000, 300_000))
        data = random.Random(number if shared else seed * 1_000_003 + number).randbytes(size)
        acknowledge(out, store.put(data))
        lines = store.put_lines({"writer": seed, "number": number, "at": at} for at in range(50))
        acknowledge(out, lines)
        digest = store.put_record(Policy(name=f"{seed}-{number}"))
        store.set_ref(f"policy/{source.choice(('one', 'two', f'own-{seed}'))}", digest)
        acknowledge(out, digest)


def acknowledge(out: int, digest: str) -> None:
    os.write(out, f"{digest}\n".encode())


def fork(work: Any, *arguments: Any) -> tuple[int, int]:
    """A child that does `work` and writes to the pipe whose reading end is returned with its process id."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(*arguments[:1], writing, *arguments[1:])
        except BaseException as cause:
            os.write(2, f"writer failed: {cause!r}\n".encode())
            os._exit(3)
        os._exit(0)
    os.close(writing)
    return child, reading


def heard(reading: int) -> list[str]:
    """What a dead child had acknowledged (whole lines only)."""
    with os.fdopen(reading, "rb") as stream:
        return [line[:-1].decode() for line in stream.readlines() if line.endswith(b"\n")]


def kill_at_random(path: Path, rounds: int, writers: int, seed: int) -> dict[str, int]:
    source = random.Random(seed)
    acknowledged: set[str] = set()
    failed = 0
    for turn in range(rounds):
        children = [fork(write_for_ever, path, turn * writers + one + 1) for one in range(writers)]
        time.sleep(source.uniform(0.01, 0.25))
        for child, _ in children:
            os.kill(child, signal.SIGKILL)
        for child, reading in children:
            acknowledged.update(heard(reading))
            failed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGKILL
    return {"rounds": rounds, "kills": rounds * writers, "writers_failed": failed, **lost(path, acknowledged)}


def one_write(path: Path, out: int, count: int, after: bool, number: int) -> None:
    store = Store.open(path)
    durable.os = KilledAt(count, after=after)  # type: ignore[assignment]
    digest = store.put_record(Policy(name=f"step-{number}-{after}-{count}"))
    acknowledge(out, digest)
    store.set_ref(f"policy/step-{count}", digest)
    acknowledge(out, f"ref policy/step-{count} {digest}")


def kill_at_every_step(path: Path, most: int = 200) -> dict[str, int]:
    acknowledged: set[str] = set()
    wrong = steps = 0
    for after in (False, True):
        for count in range(1, most):
            child, reading = fork(one_write, path, count, after, count)
            said = heard(reading)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            acknowledged.update(one for one in said if not one.startswith("ref "))
            refs = [one.split() for one in said if one.startswith("ref ")]
            wrong += sum(Store.open(path).ref(name) != digest for _, name, digest in refs)
            if code == 0:
                break
            steps += 1
            wrong += code != -signal.SIGKILL
    return {
        "steps": steps,
        "steps_wrong": wrong,
        **{f"steps_{key}": one for key, one in lost(path, acknowledged).items()},
    }


def lost(path: Path, acknowledged: set[str]) -> dict[str, int]:
    store = Store.open(path)
    gone = sum(digest not in store for digest in acknowledged)
    for digest in acknowledged:
        store.get(digest)
    return {"acknowledged": len(acknowledged), "gone": gone}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", type=Path, help="a new folder (default: a temporary one)")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = chosen.store or Path(folder) / "store"
        Store.open(path, create=True)
        found: dict[str, Any] = kill_at_random(path, chosen.rounds, chosen.writers, chosen.seed)
        found |= kill_at_every_step(path)
        found["check"] = Store.open(path).check("deep").to_json()
    print(json.dumps(found))
    good = found["check"]["ok"] and found["acknowledged"] and found["steps_acknowledged"]
    return (
        0
        if good and not (found["gone"] or found["writers_failed"] or found["steps_wrong"] or found["steps_gone"])
        else 1
    )


if __name__ == "__main__":
    sys.exit(main())
