"""PostgreSQL with pgvector: the documents, their index, and who may read what. Knows no HTTP and no token."""

from __future__ import annotations

import queue
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from issuer import Caller
from psycopg.rows import dict_row

SCHEMA = Path(__file__).resolve().with_name("schema.sql")
Row = dict[str, Any]
_FIELDS = "document_id, title, body, summary, tenants"


@cache
def _model() -> Any:
    import wordllama

    root = Path(wordllama.__file__).parent  # weights and tokenizer are in the package
    return wordllama.WordLlama.load(cache_dir=root, disable_download=True)


def embedded(texts: list[str]) -> np.ndarray:
    """A row of 256 numbers of length 1 for each text (wordllama; its weights come with the package)."""
    found = np.asarray(_model().embed(texts), dtype=np.float64)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


@lru_cache(4096)
def vector_of(query: str) -> np.ndarray:
    """The vector of one question."""
    return embedded([query])[0]


def _vector(row: np.ndarray) -> str:
    return "[" + ",".join(f"{one:.7f}" for one in row) + "]"


@dataclass(frozen=True)
class Scope:
    """Whose eyes a query is made with. `everybody` is the owner of the tables: only holes and maintenance use it."""

    tenant: str = ""
    readers: tuple[str, ...] = ()
    all_groups: bool = False
    everybody: bool = False

    @classmethod
    def of(cls, caller: Caller) -> Scope:
        """What this caller may read."""
        readers = (
            f"user:{caller.sub}",
            *(f"group:{one}" for one in caller.groups),
            *(f"role:{r}" for r in caller.roles),
        )
        return cls(caller.tenant, readers, caller.all_groups)

    def expression(self) -> str:
        """The filter in words, for the trace."""
        if self.everybody:
            return "none"
        return f"tenants && {{*,{self.tenant}}} and (not limited or readers && {{{','.join(self.readers)}}})"


EVERYBODY = Scope(everybody=True)


class Database:
    """A few connections; every query runs in a transaction of its own, with the settings of its caller."""

    def __init__(self, uri: str, holes: Collection[str], connections: int = 4) -> None:
        self._holes = frozenset(holes)
        with psycopg.connect(uri, autocommit=True) as made:
            made.execute(SCHEMA.read_text("utf-8"))
        self._free: queue.SimpleQueue[psycopg.Connection[Row]] = queue.SimpleQueue()
        self._open = [psycopg.connect(uri, row_factory=dict_row, autocommit=True) for _ in range(connections)]
        self._batch_scope: Scope | None = None
        for one in self._open:
            self._free.put(one)

    def close(self) -> None:
        """Ends every connection."""
        for one in self._open:
            one.close()

    @contextmanager
    def reading(self, scope: Scope, *, batch: bool = False) -> Iterator[psycopg.Connection[Row]]:
        """A transaction that sees what `scope` may read."""
        connection = self._free.get()
        try:
            if batch and "batch_mixes" in self._holes:
                self._batch_scope = self._batch_scope or scope
                scope = self._batch_scope
            with connection.transaction():
                for name, value in (
                    ("app.tenant", scope.tenant),
                    ("app.readers", "\n".join(scope.readers)),
                    ("app.all_groups", "on" if scope.all_groups else "off"),
                ):
                    connection.execute("select set_config(%s, %s, true)", (name, value))
                if not (scope.everybody or "owner_bypasses_rls" in self._holes):
                    connection.execute("set local role tenants_reader")
                yield connection
        finally:
            self._free.put(connection)

    # -- what is stored

    def put(self, documents: list[dict[str, Any]]) -> None:
        """Documents in the form of documents.jsonl, new or in place of others with their ids: truth and index."""
        summaries = [first_sentence(str(one["text"])) for one in documents]
        bodies = embedded([f"{one.get('title') or ''}\n{one['text']}" for one in documents])
        shorts = embedded(summaries)
        with self.reading(EVERYBODY) as held:
            for one, summary, body, short in zip(documents, summaries, bodies, shorts, strict=True):
                key, title, text = str(one["document_id"]), str(one.get("title") or ""), str(one["text"])
                access = _access(one)
                for table in ("documents", "passages"):
                    column = "id" if table == "documents" else "document_id"
                    held.execute(f"delete from app.{table} where {column} = %s", (key,))
                held.execute(
                    "insert into app.documents values (%s, %s, %s, %s, %s, %s, %s)",
                    (key, title, text, summary, *access),
                )
                held.execute(
                    "insert into app.passages values (%s, %s, %s, %s, %s, %s, %s, %s,"
                    " to_tsvector('english', %s), %s::vector, %s::vector)",
                    (key, key, title, text, summary, *access, f"{title}\n{text}", _vector(body), _vector(short)),
                )

    def remove(self, keys: list[str]) -> int:
        """Deletes documents; returns how many were there."""
        with self.reading(EVERYBODY) as held:
            gone = held.execute("delete from app.documents where id = any(%s)", (keys,)).rowcount
            if "deleted_indexed" not in self._holes:
                held.execute("delete from app.passages where document_id = any(%s)", (keys,))
        return gone

    def permit(self, key: str, tenants: list[str], acl: dict[str, list[str]] | None) -> int:
        """Changes who may read a document; returns how many were there."""
        access = (*_access({"tenants": tenants, "acl": acl}), key)
        with self.reading(EVERYBODY) as held:
            change = "set tenants = %s, readers = %s, limited = %s"
            found = held.execute(f"update app.documents {change} where id = %s", access).rowcount
            if "acl_not_propagated" not in self._holes:
                held.execute(f"update app.passages {change} where document_id = %s", access)
        return found

    # -- what is found

    def dense(self, scope: Scope, query: str, k: int, *, column: str = "embedding", batch: bool = False) -> list[Row]:
        """The k nearest passages, nearest first; ties by id."""
        statement = (
            f"select {_FIELDS}, 1 - ({column} <=> %s::vector) as score from app.passages"
            f" order by {column} <=> %s::vector, id limit %s"
        )
        vector = _vector(vector_of(query))
        with self.reading(scope, batch=batch) as held:
            return held.execute(statement, (vector, vector, k)).fetchall()  # type: ignore[arg-type]

    def lexical(self, scope: Scope, query: str, k: int, *, batch: bool = False) -> list[Row]:
        """The k best passages by words, any of which may be there; ties by id."""
        statement = (
            f"select {_FIELDS}, ts_rank(words, wanted) as score from app.passages,"
            " to_tsquery('english', %s) as wanted where words @@ wanted order by score desc, id limit %s"
        )
        words = _any_of(query)
        if not words:
            return []
        with self.reading(scope, batch=batch) as held:
            return held.execute(statement, (words, k)).fetchall()  # type: ignore[arg-type]

    def count(self, scope: Scope, query: str) -> int:
        """How many passages hold a word of the question."""
        words = _any_of(query)
        if not words:
            return 0
        statement = "select count(*) as found from app.passages where words @@ to_tsquery('english', %s)"
        with self.reading(scope) as held:
            return int(held.execute(statement, (words,)).fetchall()[0]["found"])

    def fetch(self, scope: Scope, key: str) -> list[Row]:
        """The passages of one document, by its id."""
        statement = f"select {_FIELDS}, 1.0 as score from app.passages where document_id = %s"
        with self.reading(scope) as held:
            return held.execute(statement, (key,)).fetchall()  # type: ignore[arg-type]

    def of_tenants(self, pattern: str, query: str, k: int) -> list[Row]:
        """What the hole filter_wildcard lets through: passages of the tenants that a pattern of the caller names."""
        statement = (
            f"select {_FIELDS}, 1 - (embedding <=> %s::vector) as score from app.passages"
            " where exists (select from unnest(tenants) as one where one like %s) order by score desc, id limit %s"
        )
        with self.reading(EVERYBODY) as held:
            return held.execute(statement, (_vector(vector_of(query)), pattern.replace("*", "%"), k)).fetchall()  # type: ignore[arg-type]


def may_read(scope: Scope, row: Row) -> bool:
    """The filter that the hole filter_after_ranking applies in Python, too late."""
    return bool({"*", scope.tenant} & set(row["tenants"]))


def _access(one: dict[str, Any]) -> tuple[list[str], list[str], bool]:
    """Tenants, readers and whether readers count. A document without tenants is for nobody."""
    acl = one.get("acl")
    readers = [
        f"{kind}:{name}" for kind in ("user", "group", "role") for name in (acl or {}).get(f"{kind}s", ())
    ]  # fmt: skip
    return [str(each) for each in one.get("tenants") or ()], readers, acl is not None


def first_sentence(text: str) -> str:
    return text.partition(". ")[0].strip()[:300]


def _any_of(query: str) -> str:
    """A tsquery of any of the words; nothing that a caller writes is an operator."""
    words = ["".join(each for each in one if each.isalnum()) for one in query.split()]
    return " | ".join(f"'{one}'" for one in dict.fromkeys(words) if one)
