"""`python trials/mutations.py`: seeded mutations of every input format. An answer or a documented error, nothing else.

A format is one row of `FORMATS`: how its seeds are written into a folder, and how that folder is read. Mutated input is
read in a child with a cap on memory and on the time of each input; the parent names the input on which a child fails,
hangs, or ends. `--keep FOLDER` keeps such inputs. Exit code 1 if there was one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]  # so that `trials` is found when this is run as a file

from ragassay.errors import RagassayError  # noqa: E402

MEMORY_BYTES = 768 * 1024 * 1024
"""Address space that reading may take on top of what the child has after its imports."""
TIMEOUT_S = 10.0
"""Of processor time for one input of a few kilobytes: a machine that is busy with other things is no hang."""
MOST_WAITING_S = 600.0
"""By the clock, for an input that takes no processor time."""
LARGEST = 64 * 1024
"""Bytes of a mutated file."""
TOKENS = (
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80", b"\r", b"\n", b"\r\n", b"\t", b'"', b'""',
    b"'", b";", b",", b"|", b"{", b"}", b"[", b"]", b":", b"null", b"NaN", b"-0", b"1e999", b"9" * 400, b"<", b">",
    b"&", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<script>", b"</script>", b"<table>", b"<pre>", b"<DOC>",
    b"</DOC>", b"<TEXT>", b"&#x110000;", b"&amp", b"=1+1", b"\\ud800", b"\\u0000", b"true", b"\x1f\x8b", b"PAR1",
    b"[" * 300, b"<div>" * 200, "\u202e\u200b\U000e0041".encode(), b"__import__('os')",
    b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00",
)  # fmt: skip


class Seeded(NamedTuple):
    """A format: `write` puts its seeds into a folder (several folders for several seeds), `read` reads one."""

    write: Callable[[Path], list[Path]]
    """Returns the sources, each a file or a folder of its own."""
    read: Callable[[Path, random.Random], Any]
    """Reads a source; the generator may choose between ways of reading (`on_error`, detection)."""
    change: Callable[[Path, Path, random.Random], Path] | None = None
    """Makes a mutated copy of a source in a folder; by default `mutated`, which knows nothing of the format."""


def mutate(data: bytes, chance: random.Random) -> bytes:
    """One to eight random edits of bytes: flips, cuts, repeats, swaps, hostile tokens."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(made) + 1)
        end = min(len(made), at + chance.choice((1, 1, 2, 4, 16, 64, 1024)))
        kind = chance.randrange(8)
        if kind == 0 and at < len(made):
            made[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(made):
            made[at] = chance.randrange(256)
        elif kind == 2:
            del made[at:end]
        elif kind == 3:
            made[at:at] = made[at:end] * chance.choice((1, 2, 50))
        elif kind == 4:
            made[at:at] = chance.choice(TOKENS)
        elif kind == 5:
            made[at:end] = chance.choice(TOKENS)
        elif kind == 6:
            other = chance.randrange(len(made) + 1)
            made[other:other] = made[at:end]
        else:
            del made[at if chance.random() < 0.5 else end :]
    return bytes(made[:LARGEST])


def mutated(source: Path, out: Path, chance: random.Random) -> Path:
    """A copy of a source in which one file is mutated; now and then a file is gone, or there twice."""
    target = out / source.name
    if source.is_file():
        target.write_bytes(mutate(source.read_bytes(), chance))
        return target
    shutil.copytree(source, target)
    files = sorted(path for path in target.rglob("*") if path.is_file())
    chosen = chance.choice(files)
    chosen.write_bytes(mutate(chosen.read_bytes(), chance))
    if chance.random() < 0.03:
        chosen.rename(
            chosen.with_name(chance.choice(("x", "corpus.jsonl", "docs.tsv", "a.md", "b.parquet", ".hidden")))
        )
    return target


def one_input(seeded: Seeded, sources: list[Path], name: str, seed: int, number: int) -> tuple[str, str]:
    """Mutate, read: (`read` or `refused` or `BROKEN`, what was said)."""
    chance = random.Random(f"{name}/{seed}/{number}")
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        source = (seeded.change or mutated)(chance.choice(sources), Path(folder), chance)
        try:
            seeded.read(source, chance)
        except RagassayError as error:
            if not error.message or not error.hint:
                return "BROKEN", f"an error without message or hint: {error!r}"
            return "refused", error.message
        except BaseException:
            return "BROKEN", traceback.format_exc()
    return "read", ""


class TooSlow(BaseException):
    """An input took longer than it may."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """TooSlow inside, unless native code holds on; then the parent ends the child."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _child(name: str, sources: list[Path], seed: int, first: int, last: int, say: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seeded = FORMATS[name]
    for source in sources:  # imports happen before the cap
        with suppress(RagassayError):
            seeded.read(source, random.Random(0))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    cap = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
    for number in range(first, last):
        say.send((number, "begun", ""))
        with deadline(TIMEOUT_S):
            outcome = one_input(seeded, sources, name, seed, number)
        say.send((number, *outcome))


def run_format(name: str, *, count: int, seed: int) -> dict[str, Any]:
    """`count` mutations of one format: how many were read and refused, and what broke."""
    with tempfile.TemporaryDirectory(prefix="seeds-") as folder:
        sources = FORMATS[name].write(Path(folder))
        tally = {"format": name, "inputs": count, "read": 0, "refused": 0, "slowest_s": 0.0, "peak_mb": 0}
        broken: list[dict[str, Any]] = []
        number = 0
        while number < count:
            number = _watch(name, sources, seed, number, count, tally, broken)
            if len(broken) > 20:
                break
    return tally | {"broken": broken}


def _watch(
    name: str, sources: list[Path], seed: int, first: int, last: int, tally: dict[str, Any], broken: list[Any]
) -> int:
    """One child until it ends; the number of the next input."""
    hear, say = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(name, sources, seed, first, last, say))
    child.start()
    say.close()
    at, begun, done = first, time.monotonic(), first
    try:
        while _heard(hear, child.pid or 0):
            at, kind, said = hear.recv()
            if kind == "begun":
                begun = time.monotonic()
                continue
            done = at + 1
            tally["slowest_s"] = round(max(tally["slowest_s"], time.monotonic() - begun), 2)
            if kind == "BROKEN":
                broken.append({"number": at, "why": said})
            else:
                tally[kind] += 1
        broken.append({"number": at, "why": "a hang in native code"})
    except EOFError:
        child.join()
        if child.exitcode:
            broken.append({"number": at, "why": f"the process ended with {child.exitcode}"})
    finally:
        if child.is_alive():
            child.kill()
        child.join()
        hear.close()
    tally["peak_mb"] = max(tally["peak_mb"], resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
    return last if done >= last else max(done, at + 1 if broken and broken[-1]["number"] == at else done)


def _heard(hear: Any, pid: int) -> bool:
    """Whether the child says something more; not if it works or waits for too long in silence."""
    since, used = time.monotonic(), _cpu_s(pid)
    while not hear.poll(1.0):
        if _cpu_s(pid) - used > 3 * TIMEOUT_S or time.monotonic() - since > MOST_WAITING_S:
            return False
    return True


def _cpu_s(pid: int) -> float:
    """Processor time of a process; 0 for one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


FORMATS: dict[str, Seeded] = {}
"""Name -> format. The modules below fill it; add a row with `FORMATS["name"] = Seeded(write, read)`."""
TABLES = (
    "trials.mutations_corpus", "trials.mutations_systems", "trials.mutations_questions", "trials.mutations_parquet",
)  # fmt: skip
"""Modules with a function `formats()` that returns rows of `FORMATS`."""


def load_tables() -> dict[str, Seeded]:
    """All rows; what is read from a file that is not Parquet is also a row inside gzip."""
    packed = importlib.import_module("trials.mutations_gzip").packed
    for module in TABLES:
        FORMATS.update(importlib.import_module(module).formats())
    for name, row in list(FORMATS.items()):
        if not name.startswith("reply") and "+" not in name:
            FORMATS[f"{name}+gzip"] = packed(row)
    return FORMATS


def main() -> int:
    """Parse, run, print."""
    load_tables()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"formats; all if left out: {', '.join(FORMATS)}")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=20260801)
    parser.add_argument("--keep", type=Path, help="folder for the inputs that broke something")
    given = parser.parse_args()
    failed = False
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in given.names or FORMATS:
        begun = time.monotonic()
        result = run_format(name, count=given.count, seed=given.seed)
        failed = failed or bool(result["broken"])
        print(json.dumps(result | {"seconds": round(time.monotonic() - begun, 1), "broken": len(result["broken"])}))
        for one in result["broken"]:
            print(f"BROKEN PROMISE: {name} input {one['number']}: {one['why']}", file=sys.stderr)
            if given.keep:
                _keep(name, given.seed, one["number"], given.keep)
    return int(failed)


def _keep(name: str, seed: int, number: int, out: Path) -> None:
    target = out / f"{name}-{number}"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        chance = random.Random(f"{name}/{seed}/{number}")
        change = FORMATS[name].change or mutated
        change(chance.choice(FORMATS[name].write(Path(folder))), target, chance)


if __name__ == "__main__":
    sys.modules["trials.mutations"] = sys.modules["__main__"]
    sys.exit(main())
