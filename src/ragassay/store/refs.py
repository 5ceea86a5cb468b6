"""Names for digests, in `refs/<kind>/<name>`, each replaced as a whole. Does not look into what they point to."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from ragassay.errors import RecordError, StoreError
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import canonical_bytes, is_digest, parse
from ragassay.records.schema import RECORDS
from ragassay.store import durable

REFS = "refs"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")
_LONGEST = 200
_ALIASES = {"scores": "scoretable"}


class Ref(Record, frozen=True, kw_only=True):
    """A name, the digest that it stands for, and which kind of record that is."""

    name: str
    digest: Digest
    kind: str


class _Stored(Record, frozen=True, kw_only=True):
    digest: Digest
    kind: str


def check_name(name: str) -> str:
    """The name itself if it may be one, such as `run/demo` (StoreError otherwise)."""
    if not _NAME.fullmatch(name) or any(len(part) > _LONGEST for part in name.split("/")):
        raise StoreError(
            f"{name!r} cannot be a name in the store",
            hint=f"write KIND/NAME with letters, digits, `.`, `_`, `-`; no part starts with a dot or is longer than "
            f"{_LONGEST}, for example run/demo",
        )
    return name


def kind_name(kind: str | type[Record] | None, name: str) -> str:
    """The stored word for a kind: a record's name in lower case; by default the first part of the ref's name."""
    word = name.split("/", maxsplit=1)[0] if kind is None else kind if isinstance(kind, str) else kind.__name__
    return _ALIASES.get(word.lower(), word.lower())


def record_of(kind: str) -> type[Record] | None:
    """The record that a stored word for a kind means; None for bytes that are no record."""
    return RECORDS.get(_ALIASES.get(kind, kind))


class Refs:
    """The refs of one store folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        """Where a ref is or would be."""
        return self.root / REFS / check_name(name)

    def set(self, name: str, digest: Digest, kind: str | type[Record] | None = None) -> None:
        """Point a name at a digest, durably and as a whole."""
        final = self.path(name)
        data = canonical_bytes(_Stored(digest=digest, kind=kind_name(kind, name)))
        try:
            durable.make_folders(self.root / REFS, final.parent)
            with durable.Temporary(self.root / "tmp") as temporary:
                temporary.write(data)
                temporary.finish(0o644)
                temporary.replace(final)
        except OSError as cause:
            raise durable.failed(f"set {name}", final, cause) from cause

    def remove(self, name: str) -> None:
        """Take a name away, durably; what it stood for stays (StoreError with the nearest name if there is none)."""
        path = self.path(name)
        try:
            path.unlink()
            durable.sync_folder(path.parent)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as cause:
            if path.is_file():
                raise durable.failed(f"remove {name}", path, cause) from cause
            raise self._unknown(name) from None
        except OSError as cause:
            raise durable.failed(f"remove {name}", path, cause) from cause

    def get(self, name: str) -> Ref:
        """What a name stands for (StoreError with the nearest name if there is none)."""
        path = self.path(name)
        try:
            data = durable.read_file(path)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise self._unknown(name) from None
        except OSError as cause:
            raise durable.failed(f"read {name}", path, cause) from cause
        try:
            stored = parse(_Stored, data, file=str(path))
            if not is_digest(stored.digest):
                raise RecordError("not a digest", file=str(path), field="digest")
            if canonical_bytes(stored) != data:
                raise RecordError("not in canonical form", file=str(path))
            if record_of(stored.kind) is None and stored.kind != "bytes":
                raise RecordError(f"there is no record {stored.kind!r}", file=str(path), field="kind")
        except RecordError as cause:
            raise StoreError(
                f"the ref {name} is damaged: {cause.message}",
                file=str(path),
                hint="move the file away; the blobs are untouched and can be named by digest",
            ) from cause
        return Ref(name=name, digest=stored.digest, kind=stored.kind)

    def _unknown(self, name: str) -> StoreError:
        known = self.names()
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        if not close:
            same = [one for one in known if one.split("/")[0] == name.split("/", maxsplit=1)[0]]
            listed = ", ".join(same[:8] or known[:8])
            return StoreError(
                f"there is no {name} in this store", hint=f"there is: {listed}" if listed else "the store has no names"
            )
        return StoreError(f"there is no {name} in this store", hint=f"did you mean {close[0]}?")

    def names(self, prefix: str = "") -> list[str]:
        """Every name that begins with `prefix`, sorted; files that cannot be names are left to `check`."""
        top = self.root / REFS
        below = top / prefix.rpartition("/")[0] if _NAME.fullmatch(f"{prefix}x/x") else top
        if not below.is_dir() or below.is_symlink():
            below = top
        found = (one.relative_to(top).as_posix() for one in durable.entries_below(below) if one.is_file())
        return sorted(one for one in found if one.startswith(prefix) and _NAME.fullmatch(one))
