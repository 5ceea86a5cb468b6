"""The ways to tamper with evidence, by name: what each does to a copy of a project, and why it must be refused."""

from __future__ import annotations

import io
import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.audit.archive import PAGE, Manifest, read_manifest, rewrite
from ragassay.audit.remake import LINES
from ragassay.records.canonical import canonical_bytes, digest_bytes
from ragassay.records.decision import Decision
from ragassay.records.score import ScoreTable
from ragassay.seal.bundle import decode, encode, sign
from ragassay.seal.keys import read_private
from ragassay.store import Store

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
    """The names of the run stand for an older run, of which everything is signed as well."""
    some = [("run",), ("run", "scores"), ("run", "scores", "protocol"), ("run", "scores", "protocol", "decision")]
    for kind in place.dice.choice(some):
        shutil.copy(place.ref(f"{kind}/worse"), place.ref(f"{kind}/good"))


def older_verdict(place: Place) -> None:
    """The name of the decision stands for the one that was made, and signed, before it; or for nothing."""
    ref = place.ref("decision/good")
    if place.dice.random() < 0.5:
        ref.write_bytes((place.folder / "older.json").read_bytes())
    else:
        ref.unlink()


def behind_what_was_made(place: Place) -> None:
    """A table of the scores or of the decision has a bit that is another, or is gone."""
    store = Store.open(place.root)
    record = place.dice.choice([store.get_record(ScoreTable, place.digest("scores/good")),
                                store.get_record(Decision, place.digest("decision/good"))])  # fmt: skip
    table = place.dice.choice([one for name in LINES[type(record)] if (one := getattr(record, name)) is not None])
    if place.dice.random() < 0.8:
        flip(store.blob_path(table), place.dice)
    else:
        store.blob_path(table).unlink()


def page(place: Place) -> None:
    """The page in an exported file says another verdict, and the manifest names that page."""
    path = place.folder / "evidence.zip"
    manifest = read_manifest(path)
    with zipfile.ZipFile(path) as opened:
        members = {one.filename: opened.read(one) for one in opened.infolist()}
    members[PAGE] = members[PAGE].replace(b"pass", place.dice.choice([b"fail", b"review"]))
    fields = {name: getattr(manifest, name) for name in Manifest.__struct_fields__}
    out = io.BytesIO()
    rewrite(Manifest(**fields | {"page": digest_bytes(members[PAGE])}), members, out)
    path.write_bytes(out.getvalue())


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
    "record edited": (edit_record, {"LedgerError", "RecordError", *BYTES}),
    "table behind what was made": (behind_what_was_made, BYTES),
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
    "older run replayed": (replay, {"LedgerError"}),
    "older verdict replayed": (older_verdict, {"LedgerError"}),
    "page edited": (page, {"FormError"}),
    "file dropped": (drop, {"StoreError", "UntrustedKeyError", *ENTRY, *BYTES}),
    "tombstone forged": (tombstone, {"IntegrityError", "AbsentError", "missing"}),
    "file added": (add, {"foreign", "damaged"}),
    "bit of a name": (
        lambda one: flip(one.ref(one.dice.choice(["run/good", "scores/good", "protocol/good"])), one.dice),
        {"StoreError", "LedgerError", *BYTES}),
    "time stamp changed": (restamped, {"FormError", "SignatureError", "UntrustedKeyError", "LedgerError"}),
    "ledger and witness rolled back": (rolled_back, {"LedgerError"}),
    "archive": (archive, {"FormError", *BYTES}),
}  # fmt: skip
"""Way -> what it does, and the reasons of which one must be given."""
ARCHIVED = ("archive", "page edited")


def _flip_bundle(place: Place) -> None:
    ref = place.bundle()
    data = bytearray(place.data_of(ref))
    at = place.dice.randrange(len(data) * 8)
    data[at // 8] ^= 1 << at % 8
    place.point(ref, bytes(data))
