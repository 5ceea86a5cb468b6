"""The tenant service of the examples as a process of its own, and what a test says to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg

FOLDER = Path(__file__).parents[2] / "examples" / "tenants"
OPERATOR = {"X-Operator": "the operator"}
BUDGET = "What is the budget of Northwind?"
ADA, BEN, OTHER = "ada@northwind", "ben@northwind", "ada@kestrel"


class Client:
    """What a test says to a service."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._http = httpx2.Client(base_url=address, timeout=30)

    def close(self) -> None:
        self._http.close()

    def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        return self._http.post(path, json=body, headers=headers)

    def token(self, person: str, variant: str = "plain", session: str = "") -> str:
        wanted = {"principal": person, "variant": variant, "session": session}
        return str(self._http.post("/issuer/token", json=wanted, headers=OPERATOR).json()["token"])

    def ask(self, person: str, query: str, variant: str = "plain", **more: Any) -> httpx2.Response:
        return self.post("/ask", {"query": query, **more}, Authorization=f"Bearer {self.token(person, variant)}")

    def operate(self, path: str, body: Any) -> Any:
        return self._http.post(f"/admin/{path}", json=body, headers=OPERATOR).json()

    def document(self, person: str, key: str) -> httpx2.Response:
        return self._http.get(f"/documents/{key}", headers={"Authorization": f"Bearer {self.token(person)}"})


@contextmanager
def started(script: str, *arguments: str) -> Iterator[Client]:
    """A script of the example, once it can be asked."""
    command = [sys.executable, str(FOLDER / script), "--port", "0", *arguments]
    environment = os.environ | {"TENANTS_OPERATOR": OPERATOR["X-Operator"]}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("ready on "), line
        client = Client(line.split()[2])
        try:
            yield client
        finally:
            client.close()
            process.terminate()


@contextmanager
def running(database: str, *holes: str) -> Iterator[Client]:
    """A service with a database of its own."""
    name = f"tenants_{'_'.join(holes) or 'correct'}"
    with psycopg.connect(database, autocommit=True) as made:
        made.execute(f"create database {name}")  # type: ignore[arg-type]
    opened = [part for hole in holes for part in ("--hole", hole)]
    with started("serve.py", "--database", database.replace("/postgres?", f"/{name}?"), *opened) as client:
        yield client


def seen(reply: httpx2.Response) -> set[str]:
    """Whose documents stand anywhere in the reply."""
    return {one for one in ("northwind", "kestrel", "strasse", "straße") if f"{one}-" in reply.text}
