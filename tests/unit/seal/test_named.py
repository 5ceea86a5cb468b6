"""What was made of a run is hashed with it, and the ledger says what that is and which name it has."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.audit.conftest import made_once, project

from ragassay.audit.remake import LINES
from ragassay.cli import exit_code_of
from ragassay.errors import UntrustedKeyError
from ragassay.records.base import Digest, Instant, Record
from ragassay.records.canonical import canonical_bytes, digest_of
from ragassay.records.comparison import Comparison
from ragassay.records.decision import Decision
from ragassay.records.ledger import Entry
from ragassay.records.protocol import Run
from ragassay.records.score import ScoreTable
from ragassay.seal.evidence import made_of
from ragassay.seal.signatures import signers
from ragassay.seal.trust import read_trust
from ragassay.store import Store
from ragassay.store.ledger import Ledger

__all__ = ["made_once", "project"]
TABLES = [
    (name, kind, field)
    for name, kind in (("scores/good", ScoreTable), ("decision/good", Decision), ("comparison/worse/good", Comparison))
    for field in LINES[kind]
]


def code(*words: str) -> int:
    return exit_code_of(list(words))


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("change", [flipped, Path.unlink], ids=["flipped", "missing"])
@pytest.mark.parametrize(("name", "kind", "field"), TABLES, ids=[f"{name} {field}" for name, _, field in TABLES])
def test_every_table_of_what_was_made_is_hashed_although_the_same_would_be_made_again(
    name: str, kind: type[Record], field: str, change: Callable[[Path], None], project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    store = Store.open(project / ".ragassay")
    digest = getattr(store.get_record(kind, store.ref(name)), field)
    if digest is None:
        return
    change(store.blob_path(digest))
    capsys.readouterr()
    assert code("audit", "good") == 5
    said = capsys.readouterr()
    assert digest in said.out + said.err
    if kind is not Comparison:  # which is no part of what verify looks at
        assert code("verify", "good") == 5
        assert digest in capsys.readouterr().err


def test_a_table_that_was_taken_away_on_purpose_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store.open(project / ".ragassay")
    digest = store.get_record(ScoreTable, store.ref("scores/good")).observations
    assert code("store", "erase", digest, "--by", "Ann", "--reason", "asked to") == 0
    capsys.readouterr()
    assert code("verify", "good") == 0
    assert f"erased  {digest}" in capsys.readouterr().out
    assert code("audit", "good") == 0
    assert "its observations were taken away" in capsys.readouterr().out


EDITS: dict[str, tuple[type[Record], str, object]] = {
    "run/good": (Run, "failures", 1),
    "scores/good": (ScoreTable, "questions", 13),
    "decision/good": (Decision, "outcome", "fail"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_record_is_not_what_the_ledger_says_even_without_a_trust_policy(
    name: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, field, value = EDITS[name]
    store = Store.open(project / ".ragassay")
    record = json.loads(store.get(store.ref(name)))
    assert record[field] != value
    store.set_ref(name, store.put(canonical_bytes({**record, field: value})))
    capsys.readouterr()
    assert code("verify", "good") == 5
    assert "the ledger does not know the " in capsys.readouterr().err, kind


def decided(project: Path, least: float) -> Digest:
    """Decide by a policy of one rule, and sign that."""
    text = (project / "ragassay.toml").read_text().partition("[policy]")[2].replace("0.5", str(least))
    (project / "policy.toml").write_text("[policy]" + text)
    assert code("gate", "good", "--as-of", "2026-08-02", "--policy", "policy.toml") == 3, "nobody sealed that policy"
    assert code("sign", "decision/good", "--key", "release.key") == 0
    return Store.open(project / ".ragassay").ref("decision/good")


@pytest.fixture
def trusted(project: Path) -> Path:
    path = project / "trust.toml"
    path.write_text(path.read_text().partition("[require]")[0] + "[require]\nverdict = 1\n")
    return project


def verify(*words: str) -> int:
    return code("verify", *(words or ("good",)), "--trust", "trust.toml")


def test_a_signed_verdict_of_before_does_not_take_the_place_of_the_one_that_followed(
    trusted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store.open(trusted / ".ragassay")
    before = store.ref("decision/good")
    after = decided(trusted, 0.25)
    assert before != after
    assert verify() == 0
    store.set_ref("decision/good", before)
    capsys.readouterr()
    assert verify() == 5
    assert f"stands for {before}; the ledger says in line" in capsys.readouterr().err
    store.remove_ref("decision/good")
    assert verify() == 5
    assert code("verify", "good") == 5
    assert "stands for nothing" in capsys.readouterr().err
    store.set_ref("decision/good", after)
    assert verify() == 0


def test_to_decide_as_before_is_written_down_again(trusted: Path) -> None:
    store = Store.open(trusted / ".ragassay")
    first, second = decided(trusted, 0.25), decided(trusted, 0.3)
    assert decided(trusted, 0.25) == first != second
    lines = [one.entry for one in store.ledger.lines() if one.entry.act == "decided"][-3:]
    assert [one.objects["decision"] for one in lines] == [first, second, first]
    assert {one.name for one in lines} == {"good"}
    assert verify() == 0
    assert made_of(store, store.resolve("good", "run")).decision == first


def test_a_run_of_before_under_the_name_of_a_newer_one(trusted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything of the older one is properly signed."""
    for words in (("gate", "worse", "--as-of", "2026-08-02"), ("sign", "decision/worse", "--key", "release.key")):
        assert code(*words) == 0
    assert verify("worse") == 0
    refs = trusted / ".ragassay" / "refs"
    for kinds in (("run",), ("run", "scores", "protocol", "decision")):
        for kind in kinds:
            shutil.copy(refs / kind / "worse", refs / kind / "good")
        assert verify("good") == 5
        assert "the name " in capsys.readouterr().err


def test_a_name_that_went_on_to_another_run_leaves_the_older_one_as_it_is(project: Path) -> None:
    store = Store.open(project / ".ragassay")
    old = store.ref("run/good")
    settings = project / "ragassay.toml"
    settings.write_text(settings.read_text().replace('as_of = "2026-08-01"', 'as_of = "2026-08-01"\nseed = 5'))
    for words in (("run", "--name", "good"), ("score", "good")):
        assert code(*words) == 0
    assert store.ref("run/good") != old
    assert code("verify", "good") == 0
    assert code("verify", old) == 0


def test_a_clock_that_was_set_back_gives_a_revoked_key_no_time(project: Path) -> None:
    """A line stands below others because it was written after them, whatever its clock said."""
    path = project / "trust.toml"
    path.write_text(path.read_text().replace("# revoked = ", "revoked = ").partition("[require]")[0]
                    + "[require]\nnumbers = 1\n")  # fmt: skip
    store, trust = Store.open(project / ".ragassay"), read_trust(path)
    scores = store.ref("scores/good")
    bundle = next(one.digest for one in store.refs(f"bundle/{scores[7:]}/"))

    def entries(*times: str) -> list[Entry]:
        first = Entry(number=0, act="founded", at=Instant(times[0]), nonce="n")
        ran = Entry(number=1, act="ran", at=Instant(times[1]), previous=digest_of("0"), objects={"run": digest_of("r")})
        about = {"bundle": bundle, "scores": scores}
        return [first, ran, Entry(number=2, act="signed", at=Instant(times[2]), previous=digest_of("1"), objects=about)]

    early, late = "2026-07-01T00:00:00Z", "2026-09-01T00:00:00Z"
    assert len(signers(store, trust, "numbers", scores, entries(early, early, early))) == 1
    for times in ((early, early, late), (early, late, early), (late, early, early)):
        with pytest.raises(UntrustedKeyError, match="was revoked"):
            signers(store, trust, "numbers", scores, entries(*times))


CUTS = {
    "sealed": (("seal", "--sign", "release.key", "--name", "good"), "`ragassay seal` was cut short"),
    "ran": (("run", "--name", "good"), "`ragassay run` was cut short"),
    "scored": (("score", "good", "--measure", "token_f1"), "`ragassay score` was cut short"),
    "decided": (("gate", "good", "--as-of", "2026-08-03"), "`ragassay gate` was cut short"),
}


@pytest.mark.parametrize("act", CUTS)
def test_a_command_that_was_cut_between_name_and_ledger_is_named_and_repeating_it_mends_that(
    act: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, told = CUTS[act]
    settings = project / "ragassay.toml"
    if act in ("sealed", "ran"):
        settings.write_text(settings.read_text().replace('as_of = "2026-08-01"', 'as_of = "2026-08-01"\nseed = 5'))
    before = Ledger.record

    def cut(self: Ledger, what: str, *given: object, **more: object) -> object:
        if what == act:
            raise KeyboardInterrupt
        return before(self, what, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Ledger, "record", cut)
    assert code(*words) not in (0, 1)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(project / "state"))
    monkeypatch.chdir(project)
    capsys.readouterr()
    assert code("verify", "good") == 5
    assert told in capsys.readouterr().err
    assert code(*words) in (0, 1)
    assert code("verify", "good") == 0
