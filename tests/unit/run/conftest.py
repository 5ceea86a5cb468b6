"""Fixtures of the run room: a small sealed world, and a real HTTP server on the loopback."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.run.small import Answer, Server, Small


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], Server]]:
    running: list[Server] = []

    def start(answer: Answer) -> Server:
        server = Server(answer)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.shutdown()
        server.server_close()
