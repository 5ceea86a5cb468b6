"""One file with all evidence of a run, by a manifest, and back. Nothing in it is executed, and nothing is unpacked
that the manifest does not name.

The file is a zip archive in one byte form: the manifest first, then the ledger, the page and the objects by name; no
compression, no dates, no comments, no permissions. Whatever would be written as other bytes is refused, so that the
archive's own metadata is no place to hide.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal, cast

from ragassay.audit.page import evidence_page
from ragassay.audit.reach import TEXTS, reach
from ragassay.errors import FormError, IntegrityError, RecordError, StoreError, UsageError
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import canonical_bytes, digest_bytes, is_digest, parse
from ragassay.records.document import Count, Name
from ragassay.records.ledger import Absence
from ragassay.store import Store
from ragassay.store.absence import LEFT_OUT
from ragassay.store.ledger import LEDGER, read_chain
from ragassay.store.links import Target
from ragassay.store.refs import Ref, check_name

FORMAT: Literal["ragassay-evidence/1"] = "ragassay-evidence/1"
MANIFEST, PAGE, OBJECTS = "manifest.json", "index.html", "objects/"
MOST_MANIFEST = 64 * 1024 * 1024
_DATE = (1980, 1, 1, 0, 0, 0)
_PIECE = 1024 * 1024
_HINT = "get the file again from who exported it; only `ragassay export` makes such files"


class Member(Record, frozen=True, kw_only=True):
    """One object of the archive."""

    digest: Digest
    size: Count


class Manifest(Record, frozen=True, kw_only=True):
    """All that an archive holds, and what was left out of it on purpose."""

    format: Literal["ragassay-evidence/1"]
    run: Digest
    refs: tuple[Ref, ...]
    objects: tuple[Member, ...]
    """By digest."""
    ledger: Digest | None = None
    page: Digest | None = None
    public: bool = False
    """Without texts: digests and scores only."""
    left_out: tuple[Digest, ...] = ()
    """Objects with texts, of a public archive."""
    ragassay_version: Name


def export(store: Store, run: Digest, out: IO[bytes], *, version: str, public: bool = False) -> Manifest:
    """Write the archive of a run; the same records give the same bytes. Raises IntegrityError for damaged objects."""
    reached = reach(store, run)
    page = evidence_page(store, run, reached, version)
    named = {one.digest for one in reached.refs}
    hidden = {one for one, target in reached.objects.items() if public and one not in named and _has_texts(target)}
    kept = sorted(reached.objects.keys() - hidden)
    data = store.ledger.bytes()
    manifest = Manifest(
        format=FORMAT,
        run=run,
        refs=tuple(one for one in reached.refs if one.digest not in hidden),
        objects=tuple(Member(digest=one, size=store.blob_path(one).stat().st_size) for one in kept),
        ledger=digest_bytes(data) if data else None,
        page=digest_bytes(page),
        public=public,
        left_out=tuple(sorted(hidden)),
        ragassay_version=version,
    )
    _write(
        manifest,
        _Forward(out),
        lambda name: data if name == LEDGER else page if name == PAGE else store.get(_digest(name)),
    )
    return manifest


def _has_texts(target: Target) -> bool:
    """Whether an object holds texts of documents, questions or answers; raw bytes may, but for what is optional."""
    return target.holds == "objects" or (target.holds == "bytes" and not target.optional) or target.kind in TEXTS


def _digest(name: str) -> str:
    return f"sha256:{name.removeprefix(OBJECTS)}"


def _names(manifest: Manifest) -> Iterator[str]:
    if manifest.ledger is not None:
        yield LEDGER
    if manifest.page is not None:
        yield PAGE
    for one in manifest.objects:
        yield OBJECTS + one.digest.removeprefix("sha256:")


def _write(manifest: Manifest, out: _Forward, get: Callable[[str], bytes]) -> None:
    with zipfile.ZipFile(cast(IO[bytes], out), "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(_info(MANIFEST), canonical_bytes(manifest))
        for name in _names(manifest):
            archive.writestr(_info(name), get(name))


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DATE)
    info.create_system, info.external_attr, info.compress_type = 3, 0o644 << 16, zipfile.ZIP_STORED
    return info


def read_manifest(path: Path) -> Manifest:
    """The manifest of an archive, whose members are exactly those that it names. FormError otherwise."""
    with _opened(path) as archive:
        return _manifest(archive, path)


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except OSError as cause:
        raise UsageError(f"cannot be read: {cause.strerror}", file=str(path), hint="name a file") from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as cause:
        raise FormError(f"not an archive of evidence: {cause}", file=str(path), hint=_HINT) from None


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    members = archive.infolist()
    if not members or members[0].filename != MANIFEST or members[0].file_size > MOST_MANIFEST:
        raise FormError(f"{MANIFEST} is not its first member", file=str(path), hint=_HINT)
    try:
        data = _member(archive, members[0], path)
        manifest = parse(Manifest, data, file=MANIFEST)
        canonical = canonical_bytes(manifest)
    except RecordError as cause:
        raise FormError(f"the manifest: {cause.message}", file=str(path), field=cause.field, hint=_HINT) from cause
    if canonical != data:
        raise FormError("the manifest is not in canonical form", file=str(path), hint=_HINT)
    _check_manifest(manifest, path)
    wanted = [MANIFEST, *_names(manifest)]
    got = [one.filename for one in members]
    if got != wanted:
        strange = next((one for one in got if one not in set(wanted)), None)
        lost = next((one for one in wanted if one not in set(got)), None)
        what = (
            f"holds {strange!r}, which" if strange else f"does not hold {lost}, which" if lost else "has an order that"
        )
        said = "the manifest does not name" if strange else "the manifest names" if lost else "is not the manifest's"
        raise FormError(f"{what} {said}", file=str(path), hint=_HINT)
    return manifest


def _check_manifest(manifest: Manifest, path: Path) -> None:
    digests = [one.digest for one in manifest.objects]
    if digests != sorted(set(digests)):
        raise FormError("objects stand twice or in another order", file=str(path), field="objects", hint=_HINT)
    if not is_digest(manifest.run) or manifest.run not in digests:
        raise FormError("the run itself is not in it", file=str(path), field="run", hint=_HINT)
    if manifest.left_out and not manifest.public:
        raise FormError("objects were left out of an archive that is not public", file=str(path), field="left_out",
                        hint=_HINT)  # fmt: skip
    names = [one.name for one in manifest.refs]
    if names != sorted(set(names)):
        raise FormError("names stand twice or in another order", file=str(path), field="refs", hint=_HINT)
    for one in manifest.refs:
        try:
            check_name(one.name)
        except StoreError as cause:
            raise FormError(cause.message, file=str(path), field="refs", hint=_HINT) from None
        if one.digest not in digests:
            raise FormError(
                f"the name {one.name} stands for what is not in it", file=str(path), field="refs", hint=_HINT
            )


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> bytes:
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.file_size != info.compress_size:
        raise FormError(f"{info.filename} is compressed or encrypted", file=str(path), hint=_HINT)
    try:
        with archive.open(info) as file:
            return file.read(info.file_size + 1)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as cause:
        raise FormError(f"{info.filename} cannot be read: {cause}", file=str(path), hint=_HINT) from None


def unpack(path: Path, target: Path, *, witness: Path | None = None) -> Manifest:
    """Make a store of an archive in a new folder; what is written there is only what the manifest names.

    Every object is hashed, the ledger is checked as a chain, and the archive is written again in memory, piece by
    piece, and compared with the file. Raises FormError for any other form, IntegrityError for an object that is not
    what its digest says, UsageError if the folder is there already.
    """
    if target.exists():
        raise UsageError(f"{target} is there already", hint="an archive becomes a store of its own: name a new folder")
    with _opened(path) as archive:
        manifest = _manifest(archive, path)
        members = {one.filename: one for one in archive.infolist()}
        sizes = {str(one.digest): one.size for one in manifest.objects}

        def get(name: str) -> bytes:
            return _checked(manifest, sizes, name, _member(archive, members[name], path), path)

        _check_form(manifest, get, path)
        store = Store.open(target, create=True, witness=witness)
        for one in manifest.objects:
            store.put(get(OBJECTS + one.digest.removeprefix("sha256:")))
        for ref in manifest.refs:
            store.set_ref(ref.name, ref.digest, kind=ref.kind)
        if manifest.left_out:
            gone = store.put_record(Absence(why="left_out", objects=manifest.left_out))
            store.set_ref(f"{LEFT_OUT}{manifest.run[7:23]}", gone, kind="absence")
        if manifest.ledger is not None:
            store.ledger.adopt(get(LEDGER))
    return manifest


def _checked(manifest: Manifest, sizes: Mapping[str, int], name: str, data: bytes, path: Path) -> bytes:
    wanted: Mapping[str, str | None] = {LEDGER: manifest.ledger, PAGE: manifest.page}
    digest = wanted.get(name) or _digest(name)
    if digest_bytes(data) != digest:
        raise IntegrityError(f"{name} is not what its digest says", file=str(path), field=digest, hint=_HINT)
    if name == LEDGER:
        read_chain(data, file=LEDGER)
    if name.startswith(OBJECTS) and len(data) != sizes[digest]:
        raise FormError(f"{name} has {len(data)} bytes, the manifest says {sizes[digest]}", file=str(path), hint=_HINT)
    return data


class _Forward(io.RawIOBase):
    """A file that is only ever written forward, so that every archive is laid out in the same way."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.size = out, 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any) -> int:
        """Hand the piece on."""
        piece = bytes(data)
        self.put(piece)
        self.size += len(piece)
        return len(piece)

    def put(self, piece: bytes) -> None:
        """To the file."""
        self.out.write(piece)

    def tell(self) -> int:
        """So many bytes were written."""
        return self.size


class _Compared(_Forward):
    """Written nowhere: each piece is compared with what stands in a file at that place."""

    same = True

    def put(self, piece: bytes) -> None:
        """Against the file."""
        self.same = self.same and self.out.read(len(piece)) == piece


def _check_form(manifest: Manifest, get: Callable[[str], bytes], path: Path) -> None:
    with path.open("rb") as file:
        compared = _Compared(file)
        _write(manifest, compared, get)
        if not compared.same or file.read(1):
            raise FormError("not in its one byte form: dates, comments, permissions, another order or bytes between",
                            file=str(path), hint=_HINT)  # fmt: skip
