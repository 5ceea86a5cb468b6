"""The tenant service over a LangChain and a LlamaIndex retriever in Qdrant: right with the filter, wrong without."""

from __future__ import annotations

import importlib.util
import os

import pytest
from tests.e2e.tenants import ADA, BEN, BUDGET, OTHER, seen, started

PACKAGES = {"langchain": "langchain_qdrant", "llamaindex": "llama_index.vector_stores.qdrant"}


@pytest.fixture(params=sorted(PACKAGES))
def framework(request: pytest.FixtureRequest) -> str:
    try:
        there = importlib.util.find_spec(PACKAGES[request.param]) is not None
    except ModuleNotFoundError:
        there = False
    if not there:
        reason = f"{PACKAGES[request.param]} is not installed (dependency group `adapters`)"
        if os.environ.get("RAGASSAY_REQUIRE_ALL"):
            pytest.fail(reason)
        pytest.skip(reason)
    return str(request.param)


def test_with_the_filter_everybody_gets_their_own(framework: str) -> None:
    with started("frameworks.py", "--with", framework) as client:
        assert "grows by 11 percent" in client.ask(ADA, BUDGET).json()["answer"]["text"]
        for person in (BEN, OTHER):
            reply = client.ask(person, BUDGET)
            assert "northwind-budget" not in reply.text
            assert seen(reply) <= {person.partition("@")[2]}


def test_without_it_others_are_seen(framework: str) -> None:
    with started("frameworks.py", "--with", framework, "--hole", "no_filter") as client:
        assert "northwind-budget" in client.ask(OTHER, BUDGET).text
