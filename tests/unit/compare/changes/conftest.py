"""One store a module: the baseline is run once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.compare.changes.made import Bench, Made
from tests.unit.run.small import Server


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("changes"))


@pytest.fixture(scope="module")
def baseline(bench: Bench) -> Made:
    return bench.run()


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    """A chat endpoint on the loopback that answers with the last word of what it was sent and says who it is."""

    def answer(body: dict[str, Any], _before: int, _handler: Any) -> dict[str, Any]:
        said = body["messages"][-1]["content"].split()[-1]
        message = {"role": "assistant", "content": f"{body['model']}: {said}"}
        return {"model": body["model"], "choices": [{"message": message, "finish_reason": "stop"}]}

    server = Server(answer)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.url
    server.shutdown()
    server.server_close()
