"""What a reader is told and what it hands on: documents, and everything that it left out. Reads no file itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import msgspec

from ragassay.errors import InputError, UsageError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_bytes
from ragassay.records.document import Document, SkippedLine
from ragassay.records.provenance import Provenance, Source, SourceFile
from ragassay.records.text import clean, shown

OnError = Literal["stop", "skip"]
MOST_SKIPPED = 100_000
"""More lines left out than this are another format, not broken lines."""
ENCODINGS = ("utf-8", "latin-1", "iso-8859-15", "cp1252", "cp1250", "cp1251", "koi8-r", "utf-16", "shift_jis", "euc-jp",
             "gb18030", "big5", "euc-kr")  # fmt: skip
"""What `encoding` may say. It is declared, never guessed."""


class Reading(list[Document]):
    """A list of documents; `raws` holds the bytes of those that are `lossy`, so that `build` can keep them."""

    def __init__(
        self,
        documents: Iterable[Document] = (),
        *,
        raws: dict[Digest, bytes] | None = None,
        default_tenants: tuple[str, ...] | None = None,
        skipped: Iterable[SkippedLine] = (),
    ) -> None:
        super().__init__(documents)
        self.raws: dict[Digest, bytes] = raws or {}
        self.default_tenants = default_tenants
        self.skipped: list[SkippedLine] = list(skipped)
        """What could not be read and was left out, because `on_error` was `skip`."""
        self.sources: list[SourceFile] = []
        """The files that it was read from, by name."""
        self.provenance: Provenance | None = None
        """What the data set says of all its documents."""
        self.format = ""
        """Which reader read it."""
        self.unread: list[str] = []
        """Columns, or files of a folder, that hold something which was not read."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every reader may be told; see `ragassay.corpus.read` for what each means."""

    default_tenants: Sequence[str] | None = None
    on_error: OnError = "stop"
    columns: Mapping[str, str | int | Sequence[str]] = field(default_factory=dict)
    encoding: str = "utf-8"
    delimiter: str | None = None

    def __post_init__(self) -> None:
        if self.on_error not in get_args(OnError):
            raise UsageError(f"on_error is {self.on_error!r}", field="on_error", hint="stop or skip")
        check_writing(self.encoding, self.delimiter)

    @property
    def tenants(self) -> tuple[str, ...] | None:
        """`default_tenants` as documents hold them."""
        return tuple(self.default_tenants) if self.default_tenants is not None else None


def check_writing(encoding: str, delimiter: str | None) -> None:
    """UsageError for an encoding or a delimiter that nothing is read in."""
    if encoding not in ENCODINGS:
        raise UsageError(
            f"encoding is {shown(str(encoding))!r}", field="encoding", hint=f"one of {', '.join(ENCODINGS)}"
        )
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise UsageError(f"delimiter is {delimiter!r}", field="delimiter", hint='one sign, such as ";"')


class Intake:
    """The documents of one source as they come: no id twice, broken lines by `on_error`, all of it counted."""

    def __init__(self, source: Path, options: Options, name: str) -> None:
        self.source = source
        self.options = options
        self.found = Reading(default_tenants=options.tenants)
        self.found.format = name
        self._seen: dict[tuple[str, str], tuple[Path, int | None]] = {}
        self._names: dict[Path, str] = {}
        self._counts: dict[Path, int] = {}

    def keep(
        self, document: Document, *, file: Path, line: int | None = None, raw: bytes | None = None, whole: bool = True
    ) -> None:
        """Take a document that was read at this place. `raw` are its bytes; `whole`: they are the file's own, and not
        what a library made of them. They are kept if it is lossy.

        An id (with its version) that is there already is an error that names both places; the first one stays.
        """
        key = (document.document_id, document.version)
        before = self._seen.get(key)
        if before is not None:
            raise InputError(
                f"document {shown(key[0])!r} version {shown(key[1])!r} stands {_two_places(before, (file, line))}",
                file=str(file),
                line=line,
                field="document_id",
                hint="give each version of a document its own `version`, or remove one of the two",
            )
        self._seen[key] = (file, line)
        if raw is not None and document.raw is not None:
            self.found.raws[document.raw] = raw
        if file not in self._names:
            self._names[file] = self._named(str(file))
        digest = digest_bytes(raw) if raw is not None and whole else None
        source = Source(file=self._names[file], line=line, digest=digest)
        self._counts[file] = self._counts.get(file, 0) + 1
        self.found.append(msgspec.structs.replace(document, source=source))

    def broken(self, error: InputError) -> None:
        """A line that cannot be read: raised, or listed and left out."""
        if self.options.on_error == "stop":
            raise error
        if len(self.found.skipped) >= MOST_SKIPPED:
            raise InputError(
                f"more than {MOST_SKIPPED} lines cannot be read, the last one: {error.message}",
                file=error.file,
                line=error.line,
                field=error.field,
                hint="is this the format that was named?",
            )
        self.found.skipped.append(
            SkippedLine(
                file=self._named(error.file),
                line=error.line or None,
                field=clean(error.field).text or None,
                reason=shown(error.message, limit=400),
            )
        )

    @contextmanager
    def at(self, file: Path, line: int | None = None) -> Iterator[None]:
        """An InputError within is about this place; it ends the reading only if `on_error` is `stop`."""
        try:
            yield
        except InputError as error:
            error.at(file=str(file), line=line)
            self.broken(error)

    def settle(self, hint: str) -> Reading:
        """All that was read; InputError if that is nothing."""
        if self.found:
            files = sorted(self._counts, key=lambda one: self._names[one])
            self.found.sources = [self._source(one) for one in files if one.is_file()]
            return self.found
        left_out = self.found.skipped
        if not left_out:
            raise InputError("no document in it", file=str(self.source), hint=hint)
        raise InputError(
            f"no document could be read; {len(left_out)} left out, the first: {left_out[0].reason}",
            file=str(self.source),
            line=left_out[0].line if left_out[0].file == self.source.name else None,
            field=left_out[0].field or "",
            hint=hint,
        )

    def _source(self, file: Path) -> SourceFile:
        """The digest of a file as it is now, which is what was read just before."""
        try:
            with file.open("rb") as opened:
                digest, size = hashlib.file_digest(opened, "sha256").hexdigest(), opened.tell()
        except OSError as cause:
            raise InputError(f"cannot be read: {cause.strerror}", file=str(file), hint="read it again") from cause
        return SourceFile(
            file=self._names[file], digest=Digest(f"sha256:{digest}"), size=size, documents=self._counts[file]
        )

    def _named(self, file: str) -> str:
        """A file as the source names it: no path of this machine is recorded."""
        path = Path(file) if file else self.source
        inside = path.is_relative_to(self.source) and path != self.source
        return clean((path.relative_to(self.source).as_posix() if inside else path.name) or "source").text


def _two_places(first: tuple[Path, int | None], second: tuple[Path, int | None]) -> str:
    if first[0] == second[0]:
        return f"on line {first[1]} and on line {second[1]}"
    return " and in ".join(f"{'in ' if not at else ''}{_place(*one)}" for at, one in enumerate((first, second)))


def _place(file: Path, line: int | None) -> str:
    return shown(f"{file}:{line}" if line is not None else str(file), limit=300)
