"""The tables of one index in PostgreSQL, how they are filled, and the filter as SQL. Connects to nothing.

`passages` has a number, its scope and its vector; a *scope* is a set of source documents; `documents` has what
decides who may see them and when they are valid. A scope is shut if one of its documents is, or is not known.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ragassay.corpus.access import PUBLIC
from ragassay.errors import InputError
from ragassay.records.base import Instant
from ragassay.records.canonical import digest_of
from ragassay.records.case import Principal
from ragassay.records.document import Document, Passage
from ragassay.run.systems.opening import Where

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAYOUT = "ragassay-pg/1"
"""Part of the name of what is stored: another layout gets tables of its own."""
_COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
_COPY_END = struct.pack(">h", -1)
_ROWS_AT_ONCE = 1000

REGISTRY = """
CREATE TABLE IF NOT EXISTS {registry} (
    stored text PRIMARY KEY, index_id text NOT NULL, embedder text NOT NULL, metric text NOT NULL,
    dimensions int NOT NULL, passages int NOT NULL, method text NOT NULL, built_at timestamptz NOT NULL DEFAULT now())
"""
REGISTER = """
INSERT INTO {registry} (stored, index_id, embedder, metric, dimensions, passages, method)
VALUES (%s, %s, %s, %s, %s, %s, %s)
"""
TABLES = """
CREATE TABLE {passages} (
    number int PRIMARY KEY, passage_id text NOT NULL, scope int NOT NULL, vector vector({dimensions}));
CREATE TABLE {documents} (
    document int PRIMARY KEY, document_id text NOT NULL, version text NOT NULL,
    tenants text[], has_acl bool NOT NULL, users text[] NOT NULL, groups text[] NOT NULL, roles text[] NOT NULL,
    valid_from timestamptz, valid_until timestamptz, metadata jsonb NOT NULL);
CREATE TABLE {scopes} (scope int NOT NULL, document int);
"""
EXACT = """
WITH shut AS (
    SELECT s.scope FROM {scopes} s LEFT JOIN {documents} d USING (document) WHERE NOT coalesce({allowed}, false)),
near AS MATERIALIZED (
    SELECT p.number, p.vector <#> %(vector)s::vector AS distance FROM {passages} p
    WHERE p.vector IS NOT NULL AND p.scope NOT IN (SELECT scope FROM shut))
SELECT n.number, p.vector FROM near n JOIN {passages} p USING (number)
WHERE n.distance <= coalesce((SELECT distance FROM near ORDER BY distance LIMIT 1 OFFSET %(top_k)s - 1) + %(margin)s,
                             'Infinity')
"""
"""Every open passage is compared; all that may be among the best once they are scored exactly come back."""
NEAREST = """
WITH shut AS (
    SELECT s.scope FROM {scopes} s LEFT JOIN {documents} d USING (document) WHERE NOT coalesce({allowed}, false))
SELECT p.number, p.vector FROM {passages} p
WHERE p.vector IS NOT NULL AND p.scope NOT IN (SELECT scope FROM shut)
ORDER BY p.vector <#> %(vector)s::vector LIMIT %(top_k)s
"""
FIRST = "SELECT number, vector FROM {passages} WHERE vector IS NOT NULL ORDER BY number LIMIT 1"
COUNTS = """
WITH state AS (
    SELECT s.scope, bool_or(NOT coalesce({visible}, false)) AS hidden,
        bool_or(NOT coalesce({visible} AND {valid}, false)) AS expired,
        bool_or(NOT coalesce({allowed}, false)) AS shut
    FROM {scopes} s LEFT JOIN {documents} d USING (document) GROUP BY s.scope)
SELECT count(*) FILTER (WHERE NOT coalesce(t.hidden, false)), count(*) FILTER (WHERE NOT coalesce(t.expired, false)),
    count(*) FILTER (WHERE NOT coalesce(t.shut, false))
FROM {passages} p LEFT JOIN state t USING (scope)
"""
_VISIBLE = """(d.tenants && %(tenants)s::text[] AND (NOT d.has_acl OR %(user)s = ANY(d.users)
    OR d.groups && %(groups)s::text[] OR d.roles && %(roles)s::text[]))"""
_VALID = """((d.valid_from IS NULL OR d.valid_from <= %(as_of)s::timestamptz)
    AND (d.valid_until IS NULL OR %(as_of)s::timestamptz < d.valid_until))"""


class Filter(NamedTuple):
    """SQL over a document `d`, with the values that go with it."""

    visible: str
    valid: str
    allowed: str
    """All of it: visible, valid, and with the metadata asked for."""
    values: dict[str, Any]


def filter_of(principal: Principal | None, as_of: Instant, where: Where | None) -> Filter:
    """Who asks, when, and for which metadata, as SQL; the same as `Openings.opened`."""
    from psycopg.types.json import Jsonb

    values: dict[str, Any] = {"as_of": as_of}
    visible = "d.document IS NOT NULL"
    if principal is not None:
        visible = _VISIBLE
        values["tenants"] = _storable([PUBLIC, *principal.tenants])
        values["groups"], values["roles"] = _storable(principal.groups), _storable(principal.roles)
        values["user"] = principal.id if "\0" not in principal.id else None
    parts = [visible, _VALID]
    for number, (key, value) in enumerate(sorted((where or {}).items())):
        if "\0" in key or (isinstance(value, str) and "\0" in value):
            parts.append("false")
            continue
        parts.append(f"d.metadata -> %(key{number})s @> %(value{number})s")
        values |= {f"key{number}": key, f"value{number}": Jsonb(value)}
    return Filter(visible, _VALID, "(" + " AND ".join(parts) + ")", values)


def _storable(names: Iterable[str]) -> list[str]:
    """Names that PostgreSQL can hold; it holds none with a NUL, so such a one opens nothing."""
    return [one for one in names if "\0" not in one]


class Rows:
    """What goes into the tables of an index."""

    def __init__(self, documents: Sequence[Document], passages: Sequence[Passage]) -> None:
        self.documents, self.passages = documents, passages
        place = {(one.document_id, one.version): number for number, one in enumerate(documents)}
        known: dict[tuple[int | None, ...], int] = {}
        self.scope_of: list[int] = []
        for one in passages:
            found = {place.get((span.document_id, span.version)) for span in one.sources}
            scope = tuple(sorted(found, key=lambda number: -1 if number is None else number))
            self.scope_of.append(known.setdefault(scope, len(known)))
        self.scopes = [(number, document) for scope, number in known.items() for document in scope]

    def digest(self) -> str:
        """Of everything that decides which passages are open."""
        return digest_of([[digest_of(one.entry()) for one in self.documents], self.scopes, self.scope_of])

    def document_rows(self) -> Iterator[tuple[Any, ...]]:
        """In the order of the columns; InputError for a NUL, which PostgreSQL cannot hold."""
        from psycopg.types.json import Jsonb

        for number, one in enumerate(self.documents):
            acl = one.acl
            row = (
                number, one.document_id, one.version,
                None if one.tenants is None else list(one.tenants), acl is not None,
                list(acl.users) if acl else [], list(acl.groups) if acl else [], list(acl.roles) if acl else [],
                one.valid_from, one.valid_until,
            )  # fmt: skip
            if _holds_nul([*row, *one.metadata, *one.metadata.values()]):
                raise InputError(
                    f"document {one.document_id!r} has a NUL character in its id, access or metadata",
                    field="index",
                    hint="PostgreSQL cannot hold it: take it out, or use the index in memory",
                )
            yield (*row, Jsonb(dict(one.metadata)))

    def passage_bytes(self, vectors: NDArray[np.float32]) -> Iterator[bytes]:
        """All passages in PostgreSQL's binary COPY form; a blank passage has no vector."""
        yield _COPY_HEAD
        head = struct.pack(">hh", vectors.shape[1], 0)
        pending: list[bytes] = []
        for number, (one, scope) in enumerate(zip(self.passages, self.scope_of, strict=True)):
            name = _passage_name(one)
            pending.append(struct.pack(f">hiii{len(name)}sii", 4, 4, number, len(name), name, 4, scope))
            if one.text.strip():
                data = head + vectors[number].astype(">f4").tobytes()
                pending.append(struct.pack(">i", len(data)) + data)
            else:
                pending.append(struct.pack(">i", -1))
            if len(pending) >= _ROWS_AT_ONCE:
                yield b"".join(pending)
                pending = []
        yield b"".join([*pending, _COPY_END])


def _passage_name(passage: Passage) -> bytes:
    if "\0" in passage.passage_id:
        raise InputError(
            f"passage {passage.passage_id!r} has a NUL character in its id", field="index", hint="name it otherwise"
        )
    return passage.passage_id.encode("utf-8")


def _holds_nul(values: Iterable[Any]) -> bool:
    """Whether a text, or a text in a list, has a NUL."""
    return any(
        "\0" in part for one in values for part in (one if isinstance(one, list) else [one]) if isinstance(part, str)
    )


def vector_text(vector: NDArray[np.float32]) -> str:
    """A vector as PostgreSQL reads it, every bit kept (9 digits are enough for float32)."""
    return "[" + ",".join(f"{float(one):.9g}" for one in vector) + "]"


def vector_of(data: bytes) -> NDArray[np.float32]:
    """A vector in PostgreSQL's binary form."""
    import numpy as np

    return np.frombuffer(data, dtype=">f4", offset=4).astype(np.float32)
