"""Evidence that somebody tampered with: each way has a declared set of reasons, of which one must be given.

A copy of a small signed project, with time stamps and a second witness in git, is changed in one place and checked as
`ragassay verify` and `ragassay store check` do, in this process, and some through the command line too, which must say
the same. Clean copies, on other file systems, with
other times and permissions, must hold.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from ragassay.audit.archive import unpack
from ragassay.errors import RagassayError
from ragassay.seal.evidence import made_of, verify_evidence
from ragassay.seal.git_witness import check_git
from ragassay.seal.trust import read_trust
from ragassay.store import Store
from trials.authority import Authority
from trials.evidence import command, inside, make_project
from trials.lives import TrialError
from trials.tamper_ways import ARCHIVED, WAYS, Place


class Told(NamedTuple):
    """Why evidence does not hold: the name of the error or finding, and its words."""

    reason: str
    words: str


def reason_of(folder: Path, *, archived: bool = False) -> Told | None:
    """Why the evidence does not hold; None if it holds. Asked in this process."""
    store_path, target = folder / ".ragassay", folder / "copy"
    try:
        if archived:
            unpack(folder / "evidence.zip", target)
            store_path = target
        store = Store.open(store_path, witness=folder / "state" / "ragassay")
        about = made_of(store, store.resolve("run/good", "run"))
        verify_evidence(store, about, read_trust(folder / "trust.toml"))
        if not archived:
            check_git(folder / "witness", store.ledger.lines())
        report = store.check("deep")
        if report.ok:
            return None
        found = (report.damaged or report.missing or report.foreign)[0]
        return Told(found.problem, found.problem)
    except RagassayError as error:
        return Told(type(error).__name__, error.message)
    finally:
        shutil.rmtree(target, ignore_errors=True)


def command_told(folder: Path, *, archived: bool = False) -> str | None:
    """The same through the command line: all that it says, or None for exit code 0."""
    told = [["verify", "good", "--trust", "trust.toml", "--witness", "witness"], ["store", "check"]]
    if archived:
        told = [["import", "evidence.zip", "--store", "copy"]]
    for words in told:
        done = subprocess.run(
            [sys.executable, "-m", "ragassay", *words], cwd=folder, capture_output=True, text=True, check=False,
            env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        )  # fmt: skip
        if "Traceback" in done.stderr:
            raise TrialError(f"{words}: {done.stderr[-800:]}")
        if done.returncode not in (0, 2, 5):
            raise TrialError(f"{words} ended with {done.returncode}")
        if done.returncode:
            return done.stderr + done.stdout
    return None


def prepared(folder: Path) -> Path:
    """The project, signed and stamped, with an exported file, a witness in git, and a trust policy that asks for all
    of it."""
    project = folder / "project"
    project.mkdir()
    make_project(project)
    from ragassay.audit.reach import reach

    with inside(project):
        command("gate", "worse", "--as-of", "2026-08-02")
        for name in ("scores/worse", "decision/worse"):
            command("sign", name, "--key", "release.key")
        Path("loose.toml").write_text("[policy]" + Path("ragassay.toml").read_text().partition("[policy]")[2].replace(
            "0.5", "0.25"))  # fmt: skip
        command("gate", "good", "--as-of", "2026-08-02", "--policy", "loose.toml")
        command("sign", "decision/good", "--key", "release.key")
        shutil.copy(".ragassay/refs/decision/good", "older.json")
        command("gate", "good", "--as-of", "2026-08-02")
        authority = Authority(Path("authority"))
        for name in ("scores/good", "decision/good"):
            command("sign", name, "--key", "release.key", "--time-query", "q.tsq")
            Path("r.tsr").write_bytes(authority.stamp(Path("q.tsq").read_bytes()))
            command("sign", name, "--key", "release.key", "--time-reply", "r.tsr")
        subprocess.run(["git", "init", "-q", "witness"], check=True)
        command("store", "witness", "witness")
        command("export", "evidence.zip", "--scores", "good")
        trust = Path("trust.toml").read_text().partition("[require]")[0]
        asked = "[require]\npre-registration = 1\nnumbers = 1\nverdict = 1\n"
        times = '[time]\nroots = ["authority/root.pem"]\n'
        Path("trust.toml").write_text(trust + asked + times)
        store = Store.open(Path(".ragassay"))
        reached = reach(store, store.resolve("good", "run"))
        needed = [one[7:] for one, target in reached.objects.items() if not target.optional]
        Path("reached.json").write_text(json.dumps(needed))
    return project


def run_tampers(*, tamperings: int, commands: int, clean: int, seed: int) -> list[tuple[str, str]]:
    """All of it; TrialError for tampered evidence that holds, a reason that is not declared, or a false alarm."""
    found: dict[str, Counter[str]] = {name: Counter() for name in WAYS}
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as scratch:
        project = prepared(Path(scratch))
        names = list(WAYS)
        for number in range(tamperings + commands):
            name = names[number % len(names)]
            reason = _tampered(project, Path(scratch) / "copy", name, dice.random(), by_command=number >= tamperings)
            found[name][reason] += 1
        alarms = sum(_clean(project, Path(scratch), number, dice) is not None for number in range(clean))
    if alarms:
        raise TrialError(f"{alarms} of {clean} clean verifications were refused")
    figures = [(name, ", ".join(f"{count} {why}" for why, count in each.most_common())) for name, each in found.items()]
    total = sum(sum(each.values()) for each in found.values())
    return [*figures, ("tamperings found", f"{total} of {total}"), ("false alarms", f"{alarms} of {clean}")]


def _tampered(project: Path, copy: Path, name: str, seed: float, *, by_command: bool) -> str:
    change, reasons = WAYS[name]
    shutil.copytree(project, copy)
    try:
        change(Place(copy, random.Random(seed)))
        told = reason_of(copy, archived=name in ARCHIVED)
        if told is None:
            raise TrialError(f"{name}, seed {seed}: not found")
        if told.reason not in reasons:
            raise TrialError(f"{name}, seed {seed}: {told.reason} is not among {sorted(reasons)}")
        if by_command:
            said = command_told(copy, archived=name in ARCHIVED)
            if said is None or told.words not in said:
                raise TrialError(f"{name}, seed {seed}: the command line says {said!r}, not {told.words!r}")
        return told.reason
    finally:
        shutil.rmtree(copy)


def _clean(project: Path, scratch: Path, number: int, dice: random.Random) -> Told | None:
    """A copy that is the same: on another file system, through tar, with other times or permissions, or exported."""
    memory = Path("/dev/shm")
    top = memory if number % 2 and memory.is_dir() else scratch
    copy = Path(tempfile.mkdtemp(dir=top)) / "copy"
    try:
        if number % 3 == 1:
            copy.mkdir()
            packed = subprocess.run(["tar", "-cf", "-", "."], cwd=project, capture_output=True, check=True).stdout
            subprocess.run(["tar", "-xf", "-"], cwd=copy, input=packed, check=True)
        else:
            shutil.copytree(project, copy, copy_function=shutil.copy if number % 3 else shutil.copy2)
        for one in (copy / ".ragassay" / "blobs").rglob("*"):
            if one.is_file() and dice.random() < 0.3:
                one.chmod(dice.choice([0o444, 0o644, 0o600]))
                os.utime(one, (dice.randrange(10**9), dice.randrange(10**9)))
        return reason_of(copy, archived=number % 5 == 0)
    finally:
        shutil.rmtree(copy.parent)
