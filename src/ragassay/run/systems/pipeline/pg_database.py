"""Connections to a PostgreSQL with pgvector, by a secret of the environment. Knows no table of ours."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragassay.errors import MissingExtraError, SystemUnderTestError, UsageError
from ragassay.run.systems.declared import Secret

if TYPE_CHECKING:
    from psycopg import Connection as PsycopgConnection

    Connection = PsycopgConnection[Any]

_CONNECT_S = 10
EXTENSION = "vector"
_SCHEMA_OF_IT = """
SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = %s
"""


class Database:
    """Connections that are opened when wanted and used again; safe for threads."""

    def __init__(self, connection: Mapping[str, str] | Secret) -> None:
        self._secret = _secret(connection)
        self._idle: list[Connection] = []
        self._lock = threading.Lock()

    def check_secret(self) -> None:
        """UsageError if the variable with the connection string is not set."""
        self._secret.resolve("postgres.connection")

    def work(self, work: Callable[[Connection], Any]) -> Any:
        """Work on a connection; once more on a new one if it turns out to be broken.

        UsageError where a permission is missing, SystemUnderTestError for all else that the server refuses.
        """
        psycopg = _psycopg()
        for again in (True, False):
            try:
                with self._connection() as connection:
                    return work(connection)
            except psycopg.errors.InsufficientPrivilege as cause:
                raise UsageError(
                    f"PostgreSQL does not permit it: {cause.diag.message_primary}",
                    field="index",
                    hint="grant the role CREATE on the database, or use of the schema and its tables",
                ) from cause
            except psycopg.Error as cause:
                if not _is_lost(cause):
                    raise SystemUnderTestError(
                        f"PostgreSQL refused: {cause.diag.message_primary or cause}",
                        field="index",
                        hint="the log of the server says more",
                    ) from cause
                if not again:
                    raise self._lost("lost the connection to PostgreSQL", cause) from cause
                self.close()
        raise AssertionError("not reached")

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            if not connection.closed:
                with self._lock:
                    self._idle.append(connection)

    def _connect(self) -> Connection:
        psycopg = _psycopg()
        text = self._secret.resolve("postgres.connection")
        try:
            given = psycopg.conninfo.conninfo_to_dict(text)
        except psycopg.ProgrammingError:
            raise UsageError(
                f"the environment variable {self._secret.env} holds no connection string",
                field="system.postgres.connection",
                hint="postgresql://user:password@host:5432/database",
            ) from None
        try:
            seconds = given.get("connect_timeout", _CONNECT_S)
            made = psycopg.connect(text, autocommit=True, connect_timeout=seconds)
        except psycopg.OperationalError as cause:
            raise self._lost("cannot connect to PostgreSQL", cause, str(given.get("password") or "")) from None
        try:
            made.execute("SELECT set_config('jit', 'off', false)")
            _find_vector(made)
        except BaseException:
            made.close()
            raise
        opened: Connection = made
        return opened

    def _lost(self, what: str, cause: Exception, password: str = "") -> SystemUnderTestError:
        said = " ".join(str(cause).split())
        if password:
            said = said.replace(password, "...")
        return SystemUnderTestError(
            f"{what}: {said[:400]}", field="system.postgres.connection", hint=f"see the address in {self._secret.env}"
        )

    def close(self) -> None:
        """Close the connections that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.close()


def versions(connection: Connection) -> str:
    """Of the server and of pgvector."""
    row = connection.execute(
        "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'"
    ).fetchone()
    return f"PostgreSQL {row[0]} pgvector {row[1]}" if row else ""


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as cause:
        raise MissingExtraError(
            f"an index in PostgreSQL needs psycopg: {cause}", field="index", hint="pip install 'ragassay[postgres]'"
        ) from cause
    return psycopg


def _is_lost(cause: Any) -> bool:
    """Whether the connection is gone: no word from the server, its connection errors, its shutdown."""
    psycopg = _psycopg()
    if isinstance(cause, psycopg.InterfaceError):
        return True
    state = cause.sqlstate or ""
    return isinstance(cause, psycopg.OperationalError) and (not state or state.startswith(("08", "57P")))


def _find_vector(connection: Connection) -> None:
    """Make pgvector's type known on this connection; create the extension if it is installed there and may be."""
    psycopg = _psycopg()
    found = connection.execute(_SCHEMA_OF_IT, [EXTENSION]).fetchone()
    if found is None:
        there = connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = %s", [EXTENSION]).fetchone()
        if there is None:
            raise UsageError(
                "this PostgreSQL has no pgvector", field="index", hint="install the extension `vector` on the server"
            )
        try:
            connection.execute("SELECT pg_advisory_lock(hashtextextended('ragassay extension', 0))")
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.errors.InsufficientPrivilege as cause:
            raise UsageError(
                f"pgvector is not enabled in this database: {cause.diag.message_primary}",
                field="index",
                hint="let its owner run: CREATE EXTENSION vector",
            ) from None
        finally:
            connection.execute("SELECT pg_advisory_unlock(hashtextextended('ragassay extension', 0))")
        found = connection.execute(_SCHEMA_OF_IT, [EXTENSION]).fetchone()
    connection.execute("SELECT set_config('search_path', quote_ident(%s), false)", [found[0] if found else "public"])


def _secret(connection: Any) -> Secret:
    if isinstance(connection, Secret):
        return connection
    if isinstance(connection, Mapping) and set(connection) == {"env"} and isinstance(connection["env"], str):
        return Secret(env=connection["env"])
    raise UsageError(
        "a connection string would be stored", field="connection", hint='name its variable: { env = "DATABASE_URL" }'
    )
