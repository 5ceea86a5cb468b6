"""One file with all evidence of a run, by a manifest, and back. Nothing in it is executed, and nothing is unpacked
that the manifest does not name.

The file is a zip archive in one byte form: the manifest first, then the ledger, the page and the objects by name; no
compression, no dates, no comments, no permissions. Whatever would be written as other bytes is refused, so that the
archive's own metadata is no place to hide.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Literal, cast

from ragassay.audit.forward import Compared, Forward
from ragassay.audit.page import evidence_page
from ragassay.audit.reach import TEXTS, reach
from ragassay.errors import FormError, IntegrityError, RecordError, StoreError, UsageError
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import canonical_bytes, digest_bytes, is_digest, parse
from ragassay.records.document import Count, Name
from ragassay.records.ledger import Absence
from ragassay.store import Store
from ragassay.store.absence import LEFT_OUT, absence_of
from ragassay.store.ledger import LEDGER, read_chain
from ragassay.store.links import Target
from ragassay.store.refs import Ref, check_name
from ragassay.version import VERSION

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
    named = {one.digest for one in reached.refs}
    gone = [why for one in reached.absent if (why := absence_of(store, one)) is not None and why.why == "left_out"]
    before = {one for why in gone for one in why.objects}  # what was behind these is not reached
    public = public or bool(before)
    hidden = {one for one, target in reached.objects.items() if public and one not in named and _has_texts(target)}
    kept = sorted(reached.objects.keys() - hidden)
    refs = tuple(one for one in reached.refs if one.digest not in hidden)
    page = evidence_page(store, run, refs, len(kept), version)
    data = store.ledger.bytes()
    manifest = Manifest(
        format=FORMAT,
        run=run,
        refs=refs,
        objects=tuple(Member(digest=one, size=store.blob_path(one).stat().st_size) for one in kept),
        ledger=digest_bytes(data) if data else None,
        page=digest_bytes(page),
        public=public,
        left_out=tuple(sorted(hidden | before)),
        ragassay_version=version,
    )
    _write(
        manifest,
        Forward(out),
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


def _write(manifest: Manifest, out: Forward, get: Callable[[str], bytes]) -> None:
    with zipfile.ZipFile(cast(IO[bytes], out), "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(_info(MANIFEST), canonical_bytes(manifest))
        for name in _names(manifest):
            archive.writestr(_info(name), get(name))


def rewrite(manifest: Manifest, members: Mapping[str, bytes], out: IO[bytes]) -> None:
    """The one byte form of a manifest and what it names; nothing is checked."""
    _write(manifest, Forward(out), members.__getitem__)


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
    if list(manifest.left_out) != sorted(set(manifest.left_out) - set(digests)):
        raise FormError("what was left out stands twice, in another order, or is there", file=str(path),
                        field="left_out", hint=_HINT)  # fmt: skip
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
    piece, and compared with the file; so is its page with what the records say. Raises FormError for any other form,
    and for what the run does not reach; IntegrityError for an object that is not what its digest says; UsageError if
    the folder is there already. Where it is refused, the folder is not there.
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
        try:
            store = Store.open(target, create=True)
            _fill(store, manifest, get)
            _check_whole(store, manifest, get, path)
            Store.open(target, witness=witness).ledger.introduce()
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)  # it was not there before
            raise
    return manifest


def _fill(store: Store, manifest: Manifest, get: Callable[[str], bytes]) -> None:
    for one in manifest.objects:
        store.put(get(OBJECTS + one.digest.removeprefix("sha256:")))
    for ref in manifest.refs:
        store.set_ref(ref.name, ref.digest, kind=ref.kind)
    if manifest.left_out:
        gone = store.put_record(Absence(why="left_out", objects=manifest.left_out))
        store.set_ref(f"{LEFT_OUT}{manifest.run[7:23]}", gone, kind="absence")
    if manifest.ledger is not None:
        store.ledger.adopt(get(LEDGER))


def _check_whole(store: Store, manifest: Manifest, get: Callable[[str], bytes], path: Path) -> None:
    """The archive holds what a run reaches and nothing else, and its page says what these records say.

    The page only if this version wrote it: another one may say the same in other words.
    """
    reached = reach(store, manifest.run)
    named = {(one.name, one.digest) for one in reached.refs}
    for ref in manifest.refs:
        if (ref.name, ref.digest) not in named:
            raise FormError(f"the name {ref.name} has nothing to do with the run", file=str(path), field="refs",
                            hint=_HINT)  # fmt: skip
    for one in manifest.objects:
        if one.digest not in reached.objects:
            raise FormError(f"{one.digest} has nothing to do with the run: nothing in it names it", file=str(path),
                            field="objects", hint=_HINT)  # fmt: skip
    if (
        manifest.page is not None
        and manifest.ragassay_version == VERSION
        and get(PAGE) != evidence_page(store, manifest.run, manifest.refs, len(manifest.objects), VERSION)
    ):
        raise FormError(f"{PAGE} says something else than the records beside it", file=str(path), hint=_HINT)


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


def _check_form(manifest: Manifest, get: Callable[[str], bytes], path: Path) -> None:
    with path.open("rb") as file:
        compared = Compared(file)
        _write(manifest, compared, get)
        if not compared.same or file.read(1):
            raise FormError("not in its one byte form: dates, comments, permissions, another order or bytes between",
                            file=str(path), hint=_HINT)  # fmt: skip
