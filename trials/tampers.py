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
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.audit.archive import unpack
from ragassay.errors import RagassayError
from ragassay.records.canonical import canonical_bytes
from ragassay.seal.bundle import decode, encode, sign
from ragassay.seal.evidence import made_of, verify_evidence
from ragassay.seal.git_witness import check_git
from ragassay.seal.keys import read_private
from ragassay.seal.trust import read_trust
from ragassay.store import Store
from trials.authority import Authority
from trials.evidence import command, inside, make_project
from trials.lives import TrialError

BYTES = {"IntegrityError", "damaged", "missing"}
ENTRY = {"LedgerError", "damaged"}
BUNDLE = {"FormError", "LedgerError", "SignatureError", "UntrustedKeyError", "PredicateError", "SubjectError", *BYTES}


class Place(NamedTuple):
    """A copy of the project that may be changed, and the dice that say where."""

    folder: Path
    dice: random.Random

    @property
    def root(self) -> Path:
        """The store."""
        return self.folder / ".ragassay"

    def blobs(self) -> list[Path]:
        """Every object, in order."""
        return sorted(one for one in (self.root / "blobs").rglob("*") if one.is_file())

    def blob(self) -> Path:
        """One of the objects behind the run `good`: those of the run that is not looked at prove nothing."""
        return self.dice.choice([one for one in self.blobs() if one.name in self.reached()])

    def reached(self) -> set[str]:
        """Names of the objects behind the run."""
        return set(json.loads((self.folder / "reached.json").read_text()))

    def ref(self, name: str) -> Path:
        """The file of a name."""
        return self.root / "refs" / name

    def digest(self, name: str) -> str:
        """What a name stands for."""
        return str(json.loads(self.ref(name).read_text())["digest"])

    def bundle(self) -> Path:
        """The file of the name of one of the bundles about the run."""
        about = [self.digest(one)[7:] for one in ("protocol/good", "scores/good", "decision/good")]
        return next((self.root / "refs" / "bundle" / self.dice.choice(about)).iterdir())

    def point(self, ref: Path, data: bytes) -> None:
        """Store bytes properly and let a name stand for them."""
        digest = Store.open(self.root).put(data)
        ref.write_bytes(canonical_bytes({**json.loads(ref.read_text()), "digest": digest}))

    def data_of(self, ref: Path) -> bytes:
        """The bytes that a name stands for."""
        return Store.open(self.root).get(json.loads(ref.read_text())["digest"])


def write(path: Path, data: bytes) -> None:
    """Over what is there, whatever its permissions."""
    path.chmod(0o644)
    path.write_bytes(data)


def flip(path: Path, dice: random.Random) -> None:
    """One bit of a file."""
    data = bytearray(path.read_bytes())
    at = dice.randrange(len(data) * 8)
    data[at // 8] ^= 1 << at % 8
    write(path, bytes(data))


def swap(place: Place) -> None:
    """Two objects exchange their bytes."""
    one, other = place.blob(), place.blob()
    while other.read_bytes() == one.read_bytes():
        other = place.blob()
    left, right = one.read_bytes(), other.read_bytes()
    write(one, right)
    write(other, left)


def edit_record(place: Place) -> None:
    """A number in the record behind a name, stored properly under its new digest."""
    ref = place.ref(place.dice.choice(["run/good", "scores/good", "decision/good"]))
    value = json.loads(place.data_of(ref))
    key = place.dice.choice([key for key, one in value.items() if isinstance(one, int | str) and key != "run_record"])
    one = value[key]
    if isinstance(one, int):
        value[key] = one + 1
    elif one.startswith("sha256:"):
        value[key] = "sha256:" + one[7:][::-1]
    else:
        value[key] = one + "x"
    place.point(ref, canonical_bytes(value))


def twice(place: Place) -> None:
    """A key that stands twice in a record or a bundle, stored properly."""
    ref = place.bundle() if place.dice.random() < 0.5 else place.ref(place.dice.choice(["run/good", "scores/good"]))
    data = place.data_of(ref)
    key = next(iter(json.loads(data)))
    place.point(ref, b"{" + json.dumps(key).encode() + b":1," + data[1:])


def rebundled(place: Place, change: Callable[[dict[str, Any]], Any]) -> None:
    """A bundle with its JSON changed."""
    ref = place.bundle()
    value = json.loads(place.data_of(ref))
    change(value)
    place.point(ref, canonical_bytes(value))


def another_signature(place: Place) -> None:
    """The same statement signed by a key that nobody trusts, under its own name or that of the trusted key."""
    ref = place.bundle()
    found = decode(place.data_of(ref))
    other = sign(json.loads(found.payload), read_private(place.folder / "other.key"))
    place.point(ref, other if place.dice.random() < 0.5 else encode(decode(other)._replace(key_id=found.key_id)))


def another_subject(place: Place) -> None:
    """A valid bundle of the trusted key, about the protocol of another run or about another thing of this one."""
    ref = place.bundle()
    others = [one for one in (place.root / "refs" / "bundle").rglob("*") if one.is_file() and one != ref]
    place.point(ref, place.data_of(place.dice.choice(others)))


def another_predicate(place: Place) -> None:
    """The statement with another predicate type, signed by the trusted key itself."""
    ref = place.bundle()
    statement = json.loads(decode(place.data_of(ref)).payload)
    kinds = ["https://slsa.dev/provenance/v1", "urn:ragassay:evaluation-run:v0.1", "urn:ragassay:pre-registration:v0.1"]
    statement["predicateType"] = place.dice.choice([one for one in kinds if one != statement["predicateType"]])
    place.point(ref, sign(statement, read_private(place.folder / "release.key")))


def other_words(place: Place) -> None:
    """A statement that says something else than the records, signed by the trusted key itself."""
    ref = place.bundle()
    statement = json.loads(decode(place.data_of(ref)).payload)
    statement["predicate"]["note"] = str(place.dice.random())
    place.point(ref, sign(statement, read_private(place.folder / "release.key")))


def lines(place: Place, change: Callable[[list[bytes]], Any]) -> None:
    """The ledger with its lines changed."""
    path = place.root / "ledger.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)
    before = list(kept)
    while kept == before:
        change(kept)
    path.write_bytes(b"".join(kept))


def replay(place: Place) -> None:
    """The names of the run stand for an older run."""
    for kind in place.dice.choice([("run",), ("run", "scores"), ("run", "scores", "protocol")]):
        shutil.copy(place.ref(f"{kind}/worse"), place.ref(f"{kind}/good"))


def drop(place: Place) -> None:
    """An object, a bundle's name, the run's name or the ledger is gone."""
    choice = place.dice.random()
    gone = [place.blob(), place.bundle(), place.ref("run/good"), place.root / "ledger.jsonl"]
    gone[min(int(choice * 8), 3) if choice > 0.5 else 0].unlink()


def tombstone(place: Place) -> None:
    """An object is gone, and a file under refs/ calls it erased, or says that a public file left it out."""
    gone = place.blob()
    digest = f"sha256:{gone.name}"
    told = {"why": "left_out", "objects": [digest]}
    if place.dice.random() < 0.5:
        told |= {"why": "erased", "at": "2026-08-03T00:00:00Z", "by": "Eve", "reason": "so that nobody asks"}
    ref = place.ref(f"{told['why']}/{gone.name if told['why'] == 'erased' else gone.name[:16]}")
    ref.parent.mkdir(exist_ok=True)
    ref.write_bytes(canonical_bytes({"kind": "absence", "digest": Store.open(place.root).put(canonical_bytes(told))}))
    gone.unlink()


def add(place: Place) -> None:
    """A file that does not belong there."""
    name = place.dice.choice(
        ["blobs/sha256/aa/x", "x", "blobs/sha256/zz", "refs/.x", "blobs/x", "blobs/sha256/aa/" + "f" * 64]
    )
    path = place.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(place.dice.randbytes(8))


def restamped(place: Place) -> None:
    """The time stamp of a bundle is that of another bundle, or has a bit that is another."""
    ref, other = (place.ref(f"bundle/{place.digest(one)[7:]}") for one in ("scores/good", "decision/good"))
    ref, other = (next(one.iterdir()) for one in place.dice.sample([ref, other], 2))
    found = decode(place.data_of(ref))
    stamp = bytearray(found.timestamp)
    at = place.dice.randrange(len(stamp) * 8)
    stamp[at // 8] ^= 1 << at % 8
    stamps = [decode(place.data_of(other)).timestamp, bytes(stamp), bytes(stamp)]
    place.point(ref, encode(found._replace(timestamp=place.dice.choice(stamps))))


def rolled_back(place: Place) -> None:
    """The ledger and the witness of the user's state are those of before; the witness in git is not."""
    path = place.root / "ledger.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(kept[: -place.dice.randint(1, 4)]))
    shutil.rmtree(place.folder / "state")


def archive(place: Place) -> None:
    """Metadata or bytes of an exported file."""
    import io
    import zipfile

    path = place.folder / "evidence.zip"
    data = path.read_bytes()
    choice = place.dice.randrange(5)
    if choice == 0:
        flip(path, place.dice)
        return
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if choice == 1:
                info.date_time = (2020, 1, 1, 0, 0, place.dice.randrange(0, 60, 2))
            if choice == 2:
                info.comment = place.dice.randbytes(3)
            if choice == 3:
                info.external_attr = place.dice.randrange(1, 1 << 31)
            new.writestr(info, content)
        new.comment = b"" if choice != 4 else place.dice.randbytes(5)


WAYS: dict[str, tuple[Callable[[Place], Any], set[str]]] = {
    "bit of an object": (lambda one: flip(one.blob(), one.dice), BYTES),
    "object cut": (lambda one: (path := one.blob(), write(path, path.read_bytes()[: -one.dice.randint(1, 40)])), BYTES),
    "object emptied": (lambda one: write(one.blob(), b""), BYTES),
    "objects swapped": (swap, BYTES),
    "record edited": (edit_record, {"UntrustedKeyError", "RecordError", *BYTES}),
    "key twice": (twice, {"RecordError", "UntrustedKeyError", *BUNDLE}),
    "bit of a bundle": (lambda one: _flip_bundle(one), BUNDLE),
    "signature replaced": (another_signature, {"UntrustedKeyError", "SignatureError"}),
    "signature removed": (
        lambda one: one.bundle().unlink() if one.dice.random() < 0.5 else rebundled(
            one, lambda value: value["dsseEnvelope"].update(signatures=[])), {"UntrustedKeyError", "FormError"}),
    "signature doubled": (
        lambda one: rebundled(one, lambda value: value["dsseEnvelope"]["signatures"].append(
            value["dsseEnvelope"]["signatures"][0])), {"FormError"}),
    "another subject": (another_subject, {"PredicateError", "SubjectError"}),
    "another predicate": (another_predicate, {"PredicateError"}),
    "other words": (other_words, {"SubjectError"}),
    "ledger reordered": (lambda one: lines(one, one.dice.shuffle), ENTRY),
    "ledger line dropped": (lambda one: lines(one, lambda kept: kept.pop(one.dice.randrange(len(kept)))), ENTRY),
    "ledger cut": (lambda one: lines(one, lambda kept: kept.__delitem__(slice(one.dice.randint(1, 8), None))), ENTRY),
    "bit of the ledger": (lambda one: flip(one.root / "ledger.jsonl", one.dice), ENTRY),
    "older run replayed": (replay, {"UntrustedKeyError", "LedgerError"}),
    "file dropped": (drop, {"StoreError", "UntrustedKeyError", *ENTRY, *BYTES}),
    "tombstone forged": (tombstone, {"IntegrityError", "AbsentError", "missing"}),
    "file added": (add, {"foreign", "damaged"}),
    "bit of a name": (
        lambda one: flip(one.ref(one.dice.choice(["run/good", "scores/good", "protocol/good"])), one.dice),
        {"StoreError", *BYTES}),
    "time stamp changed": (restamped, {"FormError", "SignatureError", "UntrustedKeyError", "LedgerError"}),
    "ledger and witness rolled back": (rolled_back, {"LedgerError"}),
    "archive": (archive, {"FormError", *BYTES}),
}  # fmt: skip
"""Way -> what it does, and the reasons of which one must be given."""


def _flip_bundle(place: Place) -> None:
    ref = place.bundle()
    data = bytearray(place.data_of(ref))
    at = place.dice.randrange(len(data) * 8)
    data[at // 8] ^= 1 << at % 8
    place.point(ref, bytes(data))


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
        told = reason_of(copy, archived=name == "archive")
        if told is None:
            raise TrialError(f"{name}, seed {seed}: not found")
        if told.reason not in reasons:
            raise TrialError(f"{name}, seed {seed}: {told.reason} is not among {sorted(reasons)}")
        if by_command:
            said = command_told(copy, archived=name == "archive")
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
