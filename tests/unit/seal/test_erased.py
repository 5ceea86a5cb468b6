"""What was erased by the rules is told as erased; what is merely gone is broken, whoever calls it erased."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.unit.audit.conftest import made_once, project

from ragassay.cli import exit_code_of
from ragassay.records.base import Digest, Instant
from ragassay.records.document import Corpus
from ragassay.records.ledger import Absence
from ragassay.records.protocol import Protocol, Run
from ragassay.records.score import ScoreTable
from ragassay.records.trace import Measurements
from ragassay.store import Store
from ragassay.store.absence import absence_of

__all__ = ["made_once", "project"]
AT = Instant("2026-08-03T00:00:00Z")
WHO = ("--by", "Ada", "--reason", "asked to by the person")
TRUST = ("--trust", "trust.toml")


@pytest.fixture
def store(project: Path) -> Store:
    return Store.open(project / ".ragassay")


def require(text: str) -> None:
    path = Path("trust.toml")
    path.write_text(path.read_text().partition("[require]")[0] + f"[require]\n{text}\n")


def objects(store: Store) -> dict[str, Digest]:
    """One of each kind of object that a text stands in."""
    run = store.get_record(Run, store.ref("run/good"))
    raw = next(one.raw for one in store.get_lines(Measurements, run.measurements) if one.raw is not None)
    table = store.get_record(ScoreTable, store.ref("scores/good"))
    return {"raw": raw, "texts": run.texts, "contents": run.contents, "estimates": table.estimates}


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    found = exit_code_of(list(words))
    out, err = capsys.readouterr()
    assert found == code, out + err
    return out + err


@pytest.mark.parametrize("what", ["raw", "texts", "contents", "estimates"])
def test_verify_says_erased_and_lists_what_is_gone(store: Store, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    require("pre-registration = 1\nnumbers = 1\nverdict = 1\nerasure = 1")
    digest = objects(store)[what]
    told(capsys, "store", "erase", digest, *WHO, "--key", "release.key")
    said = told(capsys, "verify", "good", *TRUST)
    assert "every byte that is here is as it was sealed" in said
    assert f"erased  {digest}  at " in said
    assert "by Ada: asked to by the person" in said
    assert "numbers  signed by release.key" in said
    assert "erasure  signed by release.key" in said
    found = json.JSONDecoder().raw_decode(told(capsys, "verify", "good", *TRUST, "--json"))[0]["gone"]
    assert [(one["object"], one["why"], one["by"]) for one in found] == [(digest, "erased", "Ada")]
    assert "all as it was stored" in told(capsys, "store", "check")


def records(store: Store) -> dict[str, Digest]:
    """The records themselves, of which each names others."""
    run = store.get_record(Run, store.ref("run/good"))
    protocol = store.get_record(Protocol, run.protocol)
    layers = {"subject": protocol.subject, "scoring": protocol.scoring, "policy": protocol.policy}
    objects = {str(role): digest for role, digest in protocol.objects.items()}
    made = {"scores": store.ref("scores/good"), "decision": store.ref("decision/good")}
    return {"run": store.ref("run/good"), "protocol": run.protocol, "envelope": run.envelope,
            **layers, **objects, **made}  # fmt: skip


ROLES = ("run", "protocol", "envelope", "subject", "scoring", "policy", "corpus", "benchmark", "scores", "decision")


@pytest.mark.parametrize("what", ROLES)
def test_a_record_that_was_erased_is_told_as_erased_and_the_rest_is_checked(
    store: Store, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    require("pre-registration = 1\nnumbers = 1\nverdict = 1\nerasure = 1")
    digest = records(store)[what]
    told(capsys, "store", "erase", digest, *WHO, "--key", "release.key")
    said = told(capsys, "verify", "good", *TRUST)
    assert f"erased  {digest}  at " in said
    assert said.count("erased  ") == 1
    for kind in ("pre-registration", "numbers", "verdict", "erasure"):
        assert f"{kind}  signed by release.key" in said


def test_beside_an_erased_run_a_changed_document_is_still_found(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = records(store)["run"]
    corpus = store.get_record(Corpus, records(store)["corpus"])
    told(capsys, "store", "erase", digest, *WHO)
    told(capsys, "verify", digest)
    path = store.blob_path(corpus.blob)
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert "is damaged" in told(capsys, "verify", digest, code=5)


@pytest.mark.parametrize("what", ["raw", "texts", "contents", "estimates"])
def test_a_file_under_erased_alone_is_believed_by_nobody(
    store: Store, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = objects(store)[what]
    forged = store.put_record(Absence(why="erased", objects=(digest,), at=AT, by="Eve", reason="so that nobody asks"))
    store.set_ref(f"erased/{digest[7:]}", forged, kind="absence")
    store.blob_path(digest).unlink()
    assert absence_of(store, digest) is None
    if what != "estimates":  # a table of scores is looked at where a policy asks for its signature
        assert "the ledger knows nothing of that" in told(capsys, "verify", "good", code=5)
    require("numbers = 1")
    assert "is missing from the store" in told(capsys, "verify", "good", *TRUST, code=5)
    said = told(capsys, "store", "check", code=5)
    assert f"missing: {digest}" in said
    assert "on purpose" not in said


def test_a_tombstone_of_something_else_is_no_tombstone_of_this(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    first, other = objects(store)["raw"], objects(store)["texts"]
    told(capsys, "store", "erase", first, *WHO)
    shutil.copy(store.path / "refs" / "erased" / first[7:], store.path / "refs" / "erased" / other[7:])
    store.blob_path(other).unlink()
    told(capsys, "verify", "good", code=5)


def test_a_ledger_that_is_broken_vouches_for_no_erasure(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    digest = objects(store)["texts"]
    told(capsys, "store", "erase", digest, *WHO)
    path = store.path / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"act":"sealed"', b'"act":"scored"', 1))
    told(capsys, "verify", "good", code=5)
    assert absence_of(store, digest) is None


def test_a_policy_that_asks_for_signed_erasures_refuses_one_that_nobody_signed(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    require("erasure = 1")
    told(capsys, "verify", "good", *TRUST)
    digest = objects(store)["raw"]
    told(capsys, "store", "erase", digest, *WHO)
    (store.path / "refs" / "erased" / digest[7:]).unlink()  # the ledger still says it
    assert "no signature on the erasure" in told(capsys, "verify", "good", *TRUST, code=5)


def test_what_a_public_file_left_out_is_passed_over_only_if_one_says_that_it_is_such(
    store: Store, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "export", "public.zip", "--scores", "good", "--public")
    told(capsys, "import", "public.zip", "--store", "public")
    assert "left out of the public file" in told(capsys, "verify", "good", *TRUST, "--store", "public", code=5)
    require("pre-registration = 1\nnumbers = 1\nverdict = 1")
    said = told(capsys, "verify", "good", *TRUST, "--store", "public", "--public")
    assert said.count("left out  sha256:") > 3
    assert "verdict  signed by release.key" in said
    assert "missing: sha256:" in told(capsys, "store", "check", "--store", "public", code=5)
    assert "all as it was stored" in told(capsys, "store", "check", "--store", "public", "--public")
