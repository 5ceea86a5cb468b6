"""The store: one folder of blobs, refs and journals, behind the calls that the other rooms use. Computes no score."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar, overload

from ragassay.errors import IntegrityError, RecordError, StoreError
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import canonical_bytes, is_digest, load_json, parse
from ragassay.store import durable, lines
from ragassay.store.absence import Absences, absence_of, absent, forged
from ragassay.store.blobs import BLOBS, TEMPORARY, Blobs
from ragassay.store.check import LAYOUT, CheckReport, Level, check
from ragassay.store.ledger import Ledger
from ragassay.store.refs import REFS, Ref, Refs

T = TypeVar("T", bound=Record)
HEADER = "store.json"
JOURNALS = "journals"
FORMAT = {"format": "ragassay-store/1", "gc": "none/1"}
"""What `store.json` says. `gc`: the protocol under which blobs may be deleted; `none/1`: never."""
_NOT_YET = {
    "corpus": ("corpus", "`ragassay corpus add` makes one"),
    "benchmark": ("benchmark", "`ragassay benchmark build` makes one"),
    "protocol": ("protocol", "`ragassay seal` makes one"),
    "run": ("run", "`ragassay run` makes one"),
    "scores": ("scores", "`ragassay score` makes them from a run"),
    "experiment": ("experiment", "`ragassay experiment` makes one"),
}
"""Kind of name -> what it is called, and which command makes it."""


class Store:
    """Blobs by digest, names for some of them, and a place for journals, in one folder.

    Safe for many processes at once: a blob is linked into place whole, a ref is replaced whole, and both are on the
    disk when the call returns. Several stores on one folder are one store. Local POSIX file systems only.
    """

    def __init__(self, path: Path, witness: Path | None = None) -> None:
        self.path = path
        self.ledger = Ledger(path, witness)
        """What was done here, in order."""
        self.absences = Absences()
        """What is gone from here on purpose."""
        self._blobs = Blobs(path)
        self._refs = Refs(path)

    @classmethod
    def open(cls, path: Path | str, *, create: bool = False, witness: Path | None = None) -> Store:
        """Open the store in a folder; with `create`, make it there first if there is none.

        `witness` is a folder outside of it that remembers the last line of its ledger.
        Raises StoreError if the folder is no store, was made by another version, or cannot be made.
        """
        root = Path(path)
        if "\0" in str(root):
            raise StoreError("no path can hold a NUL character", file=str(root), hint="name another folder")
        if create and not os.path.exists(root / HEADER):  # noqa: PTH110  says no, where Path.exists raises
            _create(root)
        _check_header(root)
        return cls(root, witness)

    def put(self, data: bytes) -> Digest:
        """Store bytes; they are on the disk when this returns (StoreError otherwise, and nothing is lost)."""
        return self._blobs.put(data)

    def put_all(self, several: Iterable[bytes]) -> None:
        """Store many short pieces of bytes; all are on the disk when this returns. Each folder is pushed once."""
        self._blobs.put_all(several)

    def get(self, digest: str) -> bytes:
        """The bytes of a digest, hashed again (IntegrityError if missing or damaged; AbsentError if that is meant)."""
        try:
            return self._blobs.get(digest)
        except IntegrityError as error:
            raise self._absent(digest, error) from None

    def _absent(self, digest: str, error: IntegrityError) -> IntegrityError:
        """What is wrong with an object that could not be read: that it is gone on purpose, or the error."""
        gone = None if digest in self._blobs else absence_of(self, digest)
        if gone is not None:
            return absent(digest, gone)
        if digest not in self._blobs and forged(self, digest):
            error.message += "; a name calls it erased, and the ledger knows nothing of that"
        return error

    def __contains__(self, digest: str) -> bool:
        return digest in self._blobs

    def blob_path(self, digest: str) -> Path:
        """The file of a digest, there or not."""
        return self._blobs.path(digest)

    def put_record(self, record: Record) -> Digest:
        """Store a record's canonical bytes; the digest is `digest_of(record)`."""
        return self.put(canonical_bytes(record))

    def get_record(self, kind: type[T], digest: str) -> T:
        """A record by digest (IntegrityError if missing or damaged, RecordError if it is of another kind)."""
        return parse(kind, self.get(digest), file=digest)

    def put_lines(self, records: Iterable[Record | dict[str, Any] | bytes]) -> Digest:
        """Store records or plain objects as canonical JSON lines (zstd), in the order given; bytes are such a line."""
        return self._blobs.put_stream(lines.pack(records))

    @overload
    def get_lines(self, kind: type[T], digest: str) -> Iterator[T]: ...
    @overload
    def get_lines(self, kind: type[dict[str, Any]], digest: str) -> Iterator[dict[str, Any]]: ...
    def get_lines(self, kind: Any, digest: str) -> Iterator[Any]:
        """The records (or, with `dict`, plain objects) of a blob of lines, one at a time.

        The whole blob is hashed before the first one comes. A line has at most `canonical.MAX_BYTES` bytes.
        """
        numbered = enumerate(self.get_raw_lines(digest), 1)
        if issubclass(kind, dict):
            return (lines.read_object(line, name=digest, number=number) for number, line in numbered)
        return (lines.read_record(kind, line, name=digest, number=number) for number, line in numbered)

    def get_raw_lines(self, digest: str) -> Iterator[bytes]:
        """The lines of a blob as bytes; the digest of a stored record is the digest of its line."""
        try:
            return self._blobs.get_raw_lines(digest)
        except IntegrityError as error:
            raise self._absent(digest, error) from None

    def set_ref(self, name: str, digest: str, kind: str | type[Record] | None = None) -> None:
        """Point a name such as `run/demo` at a blob that is already stored; replaces what it pointed to.

        `kind` is a record or its name; by default the first part of the name says it.
        """
        if digest not in self._blobs:
            raise StoreError(f"cannot point {name} at {digest}: it is not stored", hint="store the blob first")
        self._refs.set(name, Digest(digest), kind)

    def remove_ref(self, name: str) -> None:
        """Take a name away; the blob that it stood for stays (StoreError with a did-you-mean)."""
        self._refs.remove(name)

    def ref(self, name: str) -> Digest:
        """The digest that a name stands for (StoreError with a did-you-mean)."""
        return self._refs.get(name).digest

    def refs(self, prefix: str = "") -> list[Ref]:
        """All names that begin with `prefix`, sorted."""
        return [self._refs.get(name) for name in self._refs.names(prefix)]

    def ref_names(self, prefix: str = "") -> list[str]:
        """All names that begin with `prefix`, sorted, whether or not their files can be read."""
        return self._refs.names(prefix)

    def read_ref(self, name: str) -> Ref:
        """A name with its digest and kind (StoreError as `ref`)."""
        return self._refs.get(name)

    def check(self, level: Level = "full", *, public: bool = False) -> CheckReport:
        """Look for damaged, missing and foreign objects; see `ragassay.store.check.check`."""
        return check(self, level, public=public)

    def resolve(self, text: str, kind_prefix: str = "run") -> Digest:
        """The digest that a person means: a name, `latest`, a digest, or the beginning of one (4 digits or more).

        A name may leave out `kind_prefix/`. `latest` is the name under `kind_prefix/` that was set last. A beginning
        is looked for among the names of this kind first, then among all blobs. StoreError if none or several fit.
        """
        kind = kind_prefix.strip("/")
        if text == "latest":
            return self._latest(kind)
        if is_digest(text):
            if text in self._blobs or absence_of(self, text) is not None:
                return Digest(text)
            raise StoreError(f"{text} is not in this store", hint="`ragassay store refs` lists its names")
        known = self._refs.names()
        for name in (text, f"{kind}/{text}"):
            if name in known:
                return self.ref(name)
        start = text.removeprefix("sha256:")
        if len(start) >= 4 and not set(start) - set("0123456789abcdef"):
            return self._begun(start, kind)
        return self.ref(text if "/" in text else f"{kind}/{text}")

    def _latest(self, kind: str) -> Digest:
        names = self._refs.names(f"{kind}/")
        if not names:
            what, hint = _NOT_YET.get(kind, (f"{kind}/", "`ragassay store refs` lists the names that it has"))
            raise StoreError(f"this store holds no {what} yet", file=str(self.path), hint=hint)
        return self.ref(max(names, key=lambda name: (self._refs.path(name).stat().st_mtime_ns, name)))

    def _begun(self, start: str, kind: str) -> Digest:
        own = {one.digest for one in self.refs(f"{kind}/") if one.digest.startswith(f"sha256:{start}")}
        found = sorted(own) or self._blobs.beginning_with(start)
        if len(found) == 1:
            return found[0]
        if not found:
            raise StoreError(f"nothing in this store begins with {start}", hint="`ragassay store refs` lists its names")
        raise StoreError(
            f"{len(found)} digests begin with {start}",
            hint=f"write more of it: {', '.join(one[7:23] for one in found[:4])}",
        )

    def journal_path(self, subject: str) -> Path:
        """Where the journal of the job on this subject is kept; the folder is there."""
        if not is_digest(subject):
            raise StoreError(f"{subject!r} is not a digest", hint="a journal belongs to the digest of a subject")
        return self.path / JOURNALS / f"{subject.removeprefix('sha256:')}.journal"


def _create(root: Path) -> None:
    """Make the folders, and the header last, so that a half-made store is no store."""
    try:
        if root.exists() and (others := {one.name for one in root.iterdir()} - set(LAYOUT)):
            raise StoreError(
                f"the folder holds other things ({', '.join(sorted(others)[:3])})",
                file=str(root),
                hint="name an empty or a new folder",
            )
        missing = [one for one in (root, *root.parents) if not one.exists()]
        for folder in (*reversed(missing), root / "blobs", root / BLOBS):
            durable.make_folder(folder)
        for name in (REFS, TEMPORARY, JOURNALS):
            durable.make_folder(root / name)
        with durable.Temporary(root / TEMPORARY) as temporary:
            temporary.write(canonical_bytes(FORMAT) + b"\n")
            temporary.finish(0o644)
            temporary.link(root / HEADER)
    except OSError as cause:
        raise durable.failed("make a store", root, cause) from cause


def _check_header(root: Path) -> None:
    header = root / HEADER
    try:
        found = load_json(durable.read_file(header))
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            "this is not a store",
            file=str(root),
            hint="`ragassay run` makes the one that the settings name; --store names another",
        ) from None
    except OSError as cause:
        raise durable.failed("open the store", header, cause) from cause
    except RecordError as cause:
        raise StoreError(f"store.json is damaged: {cause.message}", file=str(header), hint="restore it") from cause
    for key, wanted in FORMAT.items():
        if not isinstance(found, dict) or found.get(key) != wanted:
            got = found.get(key) if isinstance(found, dict) else found
            raise StoreError(
                f"a store with {key} {got!r}; this version reads {wanted!r}",
                file=str(header),
                field=key,
                hint="use the version of ragassay that made it",
            )
