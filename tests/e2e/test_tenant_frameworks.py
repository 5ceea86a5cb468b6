"""The tenant service over a LangChain and a LlamaIndex retriever in Qdrant: right with the filter, wrong without."""

from __future__ import annotations

import importlib.util
import os

import pytest
from tests.e2e.tenants import ADA, BEN, BUDGET, OTHER, seen, started
from trials.twins import asked, settings

PEOPLE = (ADA, BEN, OTHER)
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


def test_the_probe_finds_nothing_wrong_with_the_filter(framework: str) -> None:
    with started("frameworks.py", "--with", framework) as client:
        found = asked(settings(client.address, PEOPLE, languages=()))
    assert found["exit"] == 0, found["findings"][:3]
    assert not [one for one in found["findings"] if one["severity"] != "review"]
    every, authorized = found["rates"][0], found["rates"][1]
    assert every["leaked"] == every["error"] == 0
    assert (authorized["key"], authorized["leaked"]) == ("authorized", 0)
    assert authorized["clean"] > 0.8 * authorized["attempted"], "the owners get what is theirs"
    assert [(one["step"], one["violated"]) for one in found["filters"] if one["step"] == "dense"] == [("dense", 0)]


@pytest.mark.parametrize("hole", ["no_filter", "filter_after_ranking", "filter_wildcard"])
def test_the_probe_names_the_step_where_the_filter_is_wrong(framework: str, hole: str) -> None:
    with started("frameworks.py", "--with", framework, "--hole", hole) as client:
        found = asked(settings(client.address, PEOPLE, languages=(), oracle_documents=0))
    leaks = [one for one in found["findings"] if one["severity"] == "leak"]
    assert found["exit"] == 1
    assert ("items", "dense") in {(one["channel"], one.get("step")) for one in leaks}
    if hole == "filter_wildcard":
        assert {one["wording"] for one in leaks} <= {"filter", "tenant_case"}
