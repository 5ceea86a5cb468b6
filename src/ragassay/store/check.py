"""Whether everything in the store is what it should be; names each damaged, missing or foreign object, changes none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ragassay.errors import IntegrityError, RagassayError, RecordError, StoreError, UsageError
from ragassay.records.base import Record
from ragassay.records.canonical import parse
from ragassay.records.text import many
from ragassay.store import durable, lines
from ragassay.store.absence import absence_of, absent, forged
from ragassay.store.blobs import BLOBS, TEMPORARY, hash_file
from ragassay.store.index import read_index, write_index
from ragassay.store.ledger import LEDGER
from ragassay.store.links import BYTES, Link, Target, links_of
from ragassay.store.refs import REFS, Ref, record_of

if TYPE_CHECKING:
    from ragassay.store.folder import Store

Level = Literal["quick", "full", "deep"]
LEVELS = ("quick", "full", "deep")
INDEX = "index.sqlite"
LAYOUT = ("blobs", "cache", INDEX, "journals", LEDGER, "refs", "store.json", "tmp")
"""What may stand in the folder of a store."""
_RECORDS_AT_MOST = 64 * 1024 * 1024


@dataclass(frozen=True)
class Finding:
    """One object that is not what it should be."""

    problem: Literal["damaged", "missing", "foreign", "absent"]
    object: str
    """A digest, the name of a ref, or a path relative to the store."""
    detail: str
    named_by: tuple[str, ...] = ()
    """Which refs and fields lead to it, for example `run/demo contents`."""


@dataclass(frozen=True)
class CheckReport:
    """What a check looked at and what it found; empty findings mean that all of that is as it should be."""

    level: Level
    blobs: int
    bytes: int
    refs: int
    damaged: tuple[Finding, ...]
    missing: tuple[Finding, ...]
    foreign: tuple[Finding, ...]
    temporary: int
    """Files that a killed or running process left in `tmp`; never read as stored."""
    unreferenced: int | None
    """Blobs that no ref leads to; counted at level deep only (None: not counted)."""
    index: Literal["current", "updated", "rebuilt", "not writable"]
    absent: tuple[Finding, ...] = ()
    """Named and gone on purpose: erased, or left out of a public file. Nothing is wrong with that."""

    @property
    def ok(self) -> bool:
        """Nothing damaged, missing or foreign."""
        return not (self.damaged or self.missing or self.foreign)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, every key present (`unreferenced` only where it was counted)."""
        found = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}
        for key in ("damaged", "missing", "foreign", "absent"):
            found[key] = [{**one, "named_by": list(one["named_by"])} for one in found[key]]
        if self.unreferenced is None:
            del found["unreferenced"]
        return {"ok": self.ok, **found}


def check(store: Store, level: Level = "full", *, public: bool = False) -> CheckReport:
    """Look at every blob and every ref.

    quick: presence and size (against the index), and what the records behind the refs name. full: also every blob is
    hashed. deep: also every line behind the refs is parsed strictly and what it names is looked for, and blobs that
    no ref reaches are counted. `public`: what a public file left out is absent; else it is missing, since nothing but
    a name says so. Writes nothing but the index.
    """
    if level not in LEVELS:
        raise UsageError(f"unknown level {level!r}", field="level", hint=f"one of {', '.join(LEVELS)}")
    look = _Look(store, level, public=public)
    look.at_layout()
    look.at_blobs()
    look.at_refs()
    look.at_ledger()
    look.at_index()
    return look.report()


class _Look:
    """One check under way."""

    def __init__(self, store: Store, level: Level, *, public: bool) -> None:
        self.store = store
        self.public = public
        self.level = level
        self.sizes: dict[str, int] = {}
        self.found: dict[tuple[str, str], Finding] = {}
        self.before = read_index(store.path / INDEX)
        self.reached: set[str] = set()
        self.read: set[tuple[str, Target]] = set()
        self.refs = 0
        self.index_state: Literal["current", "updated", "rebuilt", "not writable"] = "current"

    def note(
        self,
        problem: Literal["damaged", "missing", "foreign", "absent"],
        what: str,
        detail: str,
        named_by: tuple[str, ...] = (),
    ) -> None:
        """Keep a finding; a second one on the same object adds who names it."""
        known = self.found.get((problem, what))
        if known is not None:
            named_by = tuple(dict.fromkeys((*known.named_by, *named_by)))
            detail = known.detail
        self.found[problem, what] = Finding(problem, what, detail, named_by)

    def at_layout(self) -> None:
        """Files and folders that do not belong where they are."""
        self._strangers(self.store.path, lambda one: one.name in LAYOUT)
        self._strangers(self.store.path / BLOBS.parent, lambda one: one.name == BLOBS.name)

    def _strangers(self, folder: Path, belongs: Any) -> None:
        for one in _entries(folder):
            if not belongs(one) or one.is_symlink():
                self.note("foreign", self._relative(one.path), "it does not belong in a store")

    def _relative(self, path: str | Path) -> str:
        return Path(path).relative_to(self.store.path).as_posix()

    def at_blobs(self) -> None:
        """Every blob: its name, its size against the index, and from level full on its hash."""
        for entry in self._blob_files():
            digest = f"sha256:{entry.name}"
            self.sizes[digest] = entry.stat().st_size
            if self.level != "quick" or (self.before or {}).get(digest, self.sizes[digest]) != self.sizes[digest]:
                self._hash(digest, Path(entry.path))

    def at_index(self) -> None:
        """What was here at an earlier check and is gone; then the index as it is now."""
        before = self.before
        for digest in (before or {}).keys() - self.sizes.keys():
            if not {("missing", digest), ("absent", digest)} & self.found.keys():
                detail = f"it was here at an earlier check; if it was taken away on purpose, delete {INDEX}"
                self.note("missing", digest, detail, ("index",))
        damaged = {what for problem, what in self.found if problem == "damaged"}
        good = {digest: size for digest, size in self.sizes.items() if digest not in damaged}
        after = {**(before or {}), **good}
        if after != before:
            self.index_state = "rebuilt" if before is None else "updated"
            if not write_index(self.store.path / INDEX, self.store.path / TEMPORARY, after):
                self.index_state = "not writable"

    def _blob_files(self) -> Iterator[os.DirEntry[str]]:
        for shard in sorted(_entries(self.store.path / BLOBS), key=lambda one: one.name):
            if not re.fullmatch("[0-9a-f]{2}", shard.name) or not shard.is_dir(follow_symlinks=False):
                self.note("foreign", self._relative(shard.path), "not a folder of blobs (two hexadecimal digits)")
                continue
            for entry in sorted(_entries(Path(shard.path)), key=lambda one: one.name):
                named_well = re.fullmatch("[0-9a-f]{64}", entry.name) and entry.name.startswith(shard.name)
                if named_well and entry.is_file(follow_symlinks=False):
                    yield entry
                else:
                    self.note("foreign", self._relative(entry.path), "not a blob: its name is no digest of this folder")

    def _hash(self, digest: str, path: Path) -> None:
        try:
            got = hash_file(path)
        except OSError as cause:
            self.note("damaged", digest, f"cannot be read: {cause.strerror}")
            return
        if got != digest:
            self.note("damaged", digest, f"{many(path.stat().st_size, 'byte')} that hash to {got}")

    def at_refs(self) -> None:
        """Every ref, and what it leads to."""
        top = self.store.path / REFS
        known = set(self.store.ref_names())
        for path in sorted(durable.entries_below(top)):
            name = path.relative_to(top).as_posix()
            if path.is_symlink() or (path.is_file() and name not in known):
                self.note("foreign", self._relative(path), "not a name that the store could have given")
        for name in sorted(known):
            try:
                one = self.store.read_ref(name)
            except StoreError as cause:
                self.note("damaged", name, cause.message)
                continue
            self.refs += 1
            kind = record_of(one.kind)
            self.walk(one, Target("record", kind) if kind else BYTES)

    def at_ledger(self) -> None:
        """The chain of acts, and its witness."""
        try:
            self.store.ledger.lines(torn=True)
        except RagassayError as cause:
            place = f" (line {cause.line})" if cause.line else ""
            self.note("damaged", LEDGER, cause.message + place)

    def walk(self, ref: Ref, target: Target) -> None:
        """All that a ref leads to, each blob once (once as each thing that it is taken for)."""
        todo = [(ref.name, Link("", ref.digest, target))]
        while todo:
            named_by, link = todo.pop()
            if link.digest not in self.sizes and link.digest in self.store:
                self.sizes[link.digest] = self.store.blob_path(link.digest).stat().st_size  # written meanwhile
            if link.digest not in self.sizes:
                if (gone := absence_of(self.store, link.digest)) is not None:
                    known = self.public or gone.why == "erased"
                    said = absent(link.digest, gone).message
                    self.note("absent" if known else "missing", link.digest, said, (named_by,))
                elif not link.target.optional:
                    detail = "it is named but not there"
                    if forged(self.store, link.digest):
                        detail += "; a name calls it erased, and the ledger knows nothing of that"
                    self.note("missing", link.digest, detail, (named_by,))
                continue
            damaged = self.found.get(("damaged", link.digest))
            if damaged is not None:
                self.note("damaged", link.digest, damaged.detail, (named_by,))
            self.reached.add(link.digest)
            if damaged is not None or (link.digest, link.target) in self.read:
                continue
            self.read.add((link.digest, link.target))
            todo.extend((f"{ref.name} {one.field}", one) for one in self._inside(link, named_by))

    def _inside(self, link: Link, named_by: str) -> list[Link]:
        """The links in one blob; what cannot be read as what it should be is a finding."""
        try:
            return [inner for record in self._records(link) for inner in links_of(record)]
        except (IntegrityError, RecordError) as cause:
            place = f" (line {cause.line})" if cause.line else ""
            self.note("damaged", link.digest, cause.message + place, (named_by,))
        except RagassayError as cause:
            self.note("damaged", link.digest, cause.message, (named_by,))
        return []

    def _records(self, link: Link) -> Iterable[Record]:
        holds, kind, _ = link.target
        if holds == "record" and kind is not None:
            if self.sizes[link.digest] > _RECORDS_AT_MOST:
                raise RecordError(f"{self.sizes[link.digest]} bytes are too many for one record")
            yield self.store.get_record(kind, link.digest)
        elif self.level == "deep" and holds != "bytes":
            for number, line in enumerate(self.store.get_raw_lines(link.digest), 1):
                if kind is None:
                    lines.read_object(line, name=link.digest, number=number)
                else:
                    yield parse(kind, line, file=link.digest, line=number)

    def report(self) -> CheckReport:
        """What was found, in a fixed order."""
        by_problem = {
            problem: tuple(one for (kind, _), one in sorted(self.found.items()) if kind == problem)
            for problem in ("damaged", "missing", "foreign", "absent")
        }
        return CheckReport(
            level=self.level,
            blobs=len(self.sizes),
            bytes=sum(self.sizes.values()),
            refs=self.refs,
            damaged=by_problem["damaged"],
            missing=by_problem["missing"],
            foreign=by_problem["foreign"],
            absent=by_problem["absent"],
            temporary=len(_entries(self.store.path / TEMPORARY)),
            unreferenced=len(self.sizes.keys() - self.reached) if self.level == "deep" else None,
            index=self.index_state,
        )


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        return []
    except OSError as cause:
        raise durable.failed("read a folder of the store", folder, cause) from cause
