"""Vector search in PostgreSQL with pgvector: filters in SQL before ranking, rankings as in memory. Answers nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ragassay.errors import UsageError
from ragassay.records.base import Instant
from ragassay.records.canonical import digest_of
from ragassay.records.case import Principal
from ragassay.records.document import Document, Passage
from ragassay.records.index import IndexArtefact
from ragassay.records.text import many
from ragassay.run.clock import SYSTEM_CLOCK, Clock
from ragassay.run.systems.declared import Secret
from ragassay.run.systems.opening import Hits, Where
from ragassay.run.systems.pipeline import pg_tables
from ragassay.run.systems.pipeline.dense import METRIC, VectorIndex, margin, ranked
from ragassay.run.systems.pipeline.embedders import Embedder
from ragassay.run.systems.pipeline.pg_database import Database, versions
from ragassay.run.systems.pipeline.vectors import Embedded, VectorCache

if TYPE_CHECKING:
    import numpy as np
    import psycopg
    from numpy.typing import NDArray

_SCHEMA = re.compile("[a-z_][a-z0-9_]{0,62}")
_MOST_DIMENSIONS, _MOST_HNSW_DIMENSIONS = 16_000, 2_000


class Hnsw(NamedTuple):
    """An approximate index, declared: what it does not find is not found, and two builds may differ."""

    m: int = 16
    ef_construction: int = 64
    ef_search: int = 40

    def __str__(self) -> str:
        return f"hnsw m={self.m} ef_construction={self.ef_construction} ef_search={self.ef_search}"


_HNSW_RANGES = {"m": (2, 100), "ef_construction": (4, 1000), "ef_search": (1, 1000)}


class PostgresIndex(VectorIndex):
    """An index in tables of its own in `schema`, built once and found again by its contents.

    `connection` names the environment variable with the connection string: `{ env = "NAME" }`. Without `hnsw` every
    open passage is compared: the database's float32 distances find the candidates, with their error allowed for, and
    float64 ranks them, so that rankings and scores are those of `DenseIndex`, ties included. With `hnsw` (`True`, or
    m, ef_construction, ef_search) candidates are what the index finds, and are then ranked in the same way.

    The tables follow the passages, the embedder and everything that decides access: another acl is another index.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        passages: Sequence[Passage],
        embedder: Embedder,
        *,
        connection: Mapping[str, str] | Secret,
        schema: str = "ragassay",
        hnsw: Mapping[str, int] | bool = False,
        query_embedder: Embedder | None = None,
        cache: VectorCache | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        kept = list(documents)
        super().__init__(kept, passages, embedder, query_embedder=query_embedder, cache=cache, clock=clock)
        if not isinstance(schema, str) or not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
            raise UsageError(
                f"{schema!r} cannot name a schema", field="schema", hint="small letters, digits and _, not pg_..."
            )
        self.schema, self.hnsw = schema, _hnsw(hnsw)
        most = _MOST_HNSW_DIMENSIONS if self.hnsw else _MOST_DIMENSIONS
        if embedder.dimensions > most:
            raise UsageError(
                f"pgvector takes {most} dimensions at most here, the embedder has {embedder.dimensions}",
                field="index",
                hint="use an embedder of fewer dimensions, or the index in memory",
            )
        self._rows = pg_tables.Rows(kept, self.passages)
        self._database = Database(connection)
        self._counts: dict[Any, tuple[int, int, int]] = {}

    def check_secrets(self) -> None:
        """UsageError if the connection, or a secret that an embedder sends, is not set."""
        super().check_secrets()
        self._database.check_secret()

    @cached_property
    def stored(self) -> str:
        """The name of what is stored: index, access, method, layout."""
        method = f"hnsw m={self.hnsw.m} ef_construction={self.hnsw.ef_construction}" if self.hnsw else "exact"
        return digest_of([self.content.index, self._rows.digest(), method, pg_tables.LAYOUT])

    @property
    def identity(self) -> str:
        """The retriever's version. An exact one needs no server to say it; HNSW depends on the server's version."""
        return self._named(f"pgvector {self.hnsw} {self.server}" if self.hnsw else "pgvector exact")

    @cached_property
    def server(self) -> str:
        """Versions of the server and of pgvector, which is created there if it may be."""
        found: str = self._database.work(versions)
        return found

    @cached_property
    def artefact(self) -> IndexArtefact:
        """The index as a record; builds it in one transaction, or finds it."""
        began_s = self._clock.steady_s()
        server = self.server
        got = self._database.work(self._find_or_build)
        made = got or self._nothing()
        if got is None and (kept := self._database.work(self._one_of)) is not None:
            made = made._replace(calls=self._try_kept(self.passages[kept[0]].text, pg_tables.vector_of(kept[1])))
        return self._built(began_s, made, server=server, reused=got is None)

    def _one_of(self, connection: psycopg.Connection[Any]) -> tuple[int, bytes] | None:
        """The first passage that has a vector, with it."""
        with connection.cursor(binary=True) as cursor:
            cursor.execute(self._sql(pg_tables.FIRST))
            found: tuple[int, bytes] | None = cursor.fetchone()
        return found

    def _nothing(self) -> Embedded:
        import numpy as np

        return Embedded(np.zeros((0, self.embedder.dimensions), dtype=np.float32), 0, 0, 0)

    def search_vector(
        self,
        vector: NDArray[np.float32],
        *,
        top_k: int,
        principal: Principal | None,
        as_of: Instant,
        where: Where | None = None,
    ) -> Hits:
        """As in `VectorIndex`."""
        import numpy as np

        self.warm()
        asked = pg_tables.filter_of(principal, as_of, where)
        visible, valid, matching = self._counted(asked, (principal, as_of, repr(sorted((where or {}).items()))))
        hits = []
        if top_k >= 1 and vector.any():
            values = {
                "vector": pg_tables.vector_text(vector),
                "top_k": top_k,
                "margin": margin(len(vector)),
                **asked.values,
            }
            rows = self._database.work(lambda connection: self._near(connection, asked, values))
            numbers = np.array([number for number, _ in rows], dtype=np.int64)
            if numbers.size:
                hits = ranked(numbers, np.stack([pg_tables.vector_of(data) for _, data in rows]), vector, top_k)
        return Hits(hits, len(self.passages), visible, valid, matching if where else None)

    def _near(
        self, connection: psycopg.Connection[Any], asked: pg_tables.Filter, values: dict[str, Any]
    ) -> list[tuple[int, bytes]]:
        with connection.transaction(), connection.cursor(binary=True) as cursor:
            if self.hnsw:
                wide = min(max(self.hnsw.ef_search, values["top_k"]), _HNSW_RANGES["ef_search"][1])
                cursor.execute(
                    "SELECT set_config('hnsw.ef_search', %s, true), set_config('enable_seqscan', 'off', true), "
                    "set_config('enable_sort', 'off', true), set_config('hnsw.iterative_scan', 'strict_order', true)",
                    [str(wide)],
                )
            statement = pg_tables.NEAREST if self.hnsw else pg_tables.EXACT
            cursor.execute(self._sql(statement, allowed=asked.allowed), values)
            return cursor.fetchall()

    def _counted(self, asked: pg_tables.Filter, key: Any) -> tuple[int, int, int]:
        """How many passages are visible, valid besides, and with the metadata besides; asked once for each filter."""
        if key not in self._counts:
            statement = self._sql(pg_tables.COUNTS, visible=asked.visible, valid=asked.valid, allowed=asked.allowed)
            self._counts[key] = self._database.work(lambda one: one.execute(statement, asked.values).fetchone())
        return self._counts[key]

    def _sql(self, statement: str, **parts: Any) -> Any:
        from psycopg import sql

        short = self.stored.removeprefix("sha256:")[:24]
        tables = {name: sql.Identifier(self.schema, f"{name}_{short}") for name in ("passages", "documents", "scopes")}
        registry = sql.Identifier(self.schema, "indexes")
        shown = {name: sql.SQL(str(one)) for name, one in parts.items()}
        return sql.SQL(statement).format(registry=registry, **tables, **shown)

    def _find_or_build(self, connection: psycopg.Connection[Any]) -> Embedded | None:
        """What was embedded for a new index; None if it is there."""
        if self._found(connection):
            return None
        got = self._embedded()
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"ragassay {self.schema}"])
            if self._found(connection):
                return None
            self._build(cursor, got.vectors)
        return got

    def _found(self, connection: psycopg.Connection[Any]) -> bool:
        """Whether the index is there; UsageError if it is there and not what it says."""
        there = connection.execute("SELECT to_regclass(%s)", [f"{self.schema}.indexes"]).fetchone()
        if there is None or there[0] is None:
            return False
        row = connection.execute(self._sql("SELECT 1 FROM {registry} WHERE stored = %s"), [self.stored]).fetchone()
        if row is None:
            return False
        short = f"passages_{self.stored.removeprefix('sha256:')[:24]}"
        column = connection.execute(
            "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'vector'",
            [f"{self.schema}.{short}"],
        ).fetchone()
        if column is None:
            raise self._altered("its tables are gone")
        if column[0] != self.embedder.dimensions:
            raise self._altered(f"its vectors have {column[0]} dimensions, the embedder {self.embedder.dimensions}")
        counted = connection.execute(self._sql("SELECT count(*) FROM {passages}")).fetchone()
        if counted is None or counted[0] != len(self.passages):
            raise self._altered(
                f"it holds {many(counted[0] if counted else 0, 'passage')} instead of {len(self.passages)}"
            )
        return True

    def _altered(self, what: str) -> UsageError:
        return UsageError(
            f"the index in schema {self.schema!r} is not what was built: {what}",
            field="index",
            hint=f"somebody changed it; drop the schema ({self.schema}) and run again, or name another",
        )

    def _build(self, cursor: psycopg.Cursor[Any], vectors: NDArray[np.float32]) -> None:
        from psycopg import sql

        cursor.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self.schema)))
        cursor.execute(self._sql(pg_tables.REGISTRY))
        cursor.execute(self._sql(pg_tables.TABLES, dimensions=self.embedder.dimensions))
        with cursor.copy(self._sql("COPY {documents} FROM STDIN")) as copy:
            for row in self._rows.document_rows():
                copy.write_row(row)
        with cursor.copy(self._sql("COPY {scopes} FROM STDIN")) as copy:
            for pair in self._rows.scopes:
                copy.write_row(pair)
        with cursor.copy(self._sql("COPY {passages} FROM STDIN (FORMAT BINARY)")) as copy:
            for piece in self._rows.passage_bytes(vectors):
                copy.write(piece)
        if self.hnsw:
            made = "CREATE INDEX ON {passages} USING hnsw (vector vector_ip_ops) WITH (m = {m}, ef_construction = {ef})"
            cursor.execute(self._sql(made, m=self.hnsw.m, ef=self.hnsw.ef_construction))
        cursor.execute(self._sql("ANALYZE {passages}"))
        about = [
            self.stored, self.content.index, self.content.embedder, METRIC, self.content.dimensions,
            self.content.passages, str(self.hnsw or "exact"),
        ]  # fmt: skip
        cursor.execute(self._sql(pg_tables.REGISTER), about)

    def close(self) -> None:
        """Close the connections, and what the embedders hold open."""
        self._database.close()
        super().close()


def _hnsw(given: Mapping[str, int] | bool) -> Hnsw | None:
    if isinstance(given, bool):
        return Hnsw() if given else None
    for name, value in given.items():
        if name not in _HNSW_RANGES:
            raise UsageError(f"hnsw has no {name!r}", field="hnsw", hint=f"it has {', '.join(_HNSW_RANGES)}")
        least, most = _HNSW_RANGES[name]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise UsageError(f"hnsw.{name} is {value!r}", field="hnsw", hint=f"a whole number from {least} to {most}")
    made = Hnsw(**given)
    if made.ef_construction < 2 * made.m:
        raise UsageError("hnsw.ef_construction is below 2 m", field="hnsw", hint="pgvector wants at least twice m")
    return made
