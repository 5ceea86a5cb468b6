"""`ragassay verify`: each way in which evidence does not hold has its own error, and exit code 5."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.audit.conftest import made_once, project

from ragassay.cli import exit_code_of

__all__ = ["made_once", "project"]
TRUST = ("--trust", "trust.toml")


def command(*words: str) -> None:
    assert exit_code_of(list(words)) == 0, words


def code(*words: str) -> int:
    return exit_code_of(list(words))


def require(folder: Path, text: str) -> None:
    path = folder / "trust.toml"
    path.write_text(path.read_text().partition("[require]")[0] + f"[require]\n{text}\n")


def test_all_that_was_signed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    require(project, "pre-registration = 1\nnumbers = 1\nverdict = 1")
    capsys.readouterr()
    assert code("verify", "good", *TRUST) == 0
    told = capsys.readouterr().out
    for one in ("pre-registration  signed by release.key", "numbers  signed", "verdict  signed", "witness agrees"):
        assert one in told


def test_without_a_policy_it_says_that_nobody_looked_at_signatures(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert project
    assert code("verify", "good") == 0
    assert "not looked at" in capsys.readouterr().out


def test_two_signers_are_asked_for_and_one_signed_twice(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command("sign", "decision/good", "--key", "release.key")
    text = (project / "trust.toml").read_text()
    other = text.partition("[require]")[0].replace("release", "other")
    (project / "trust.toml").write_text(other + text)
    require(project, "verdict = 2")
    assert code("verify", "good", *TRUST) == 5
    assert "the trust policy asks for 2" in capsys.readouterr().err
    command("sign", "decision/good", "--key", "other.key")
    assert code("verify", "good", *TRUST) == 0


def test_a_key_that_nobody_trusts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / "trust.toml"
    path.write_text(path.read_text().replace("release.key.pub", "other.key.pub"))
    assert code("verify", "good", *TRUST) == 5
    assert "none that the trust policy names" in capsys.readouterr().err


def test_a_protocol_signed_after_its_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = project / "ragassay.toml"
    settings.write_text(settings.read_text().replace('as_of = "2026-08-01"', 'as_of = "2026-08-01"\nseed = 5'))
    command("run", "--name", "late")
    command("seal", "--sign", "release.key", "--name", "late")
    assert code("verify", "late", *TRUST) == 5
    assert "before the first question was asked" in capsys.readouterr().err


def test_a_ledger_that_was_rolled_back_or_taken_away(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = project / ".ragassay" / "ledger.jsonl"
    whole = ledger.read_bytes()
    ledger.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert code("verify", "good", *TRUST) == 5
    assert "rolled back" in capsys.readouterr().err
    ledger.unlink()
    assert code("verify", "good", *TRUST) == 5
    assert code("verify", "good") == 5
    ledger.mkdir()
    assert code("verify", "good") == 5
    ledger.rmdir()
    ledger.write_bytes(whole)
    assert code("verify", "good", *TRUST) == 0


def test_a_policy_that_names_another_ledger(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / "trust.toml"
    path.write_text(f'ledger = "sha256:{"0" * 64}"\n' + path.read_text())
    assert code("verify", "good", *TRUST) == 5
    assert "another ledger" in capsys.readouterr().err


def test_a_verdict_of_another_run_does_not_count(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    require(project, "verdict = 1")
    assert code("verify", "worse", *TRUST) == 5
    assert "none for this run" in capsys.readouterr().err


def test_one_bundle_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command("sign", "protocol/good", "--key", "release.key", "--out", "p.sigstore.json")
    store = project / ".ragassay"
    import json

    digest = json.loads((store / "refs" / "protocol" / "good").read_text())["digest"].removeprefix("sha256:")
    subject = store / "blobs" / "sha256" / digest[:2] / digest
    alone = ("verify", "--bundle", "p.sigstore.json", *TRUST, "--subject")
    assert code(*alone, str(subject)) == 0
    assert code(*alone, "ragassay.toml") == 5
    assert code(*alone, str(subject), "--kind", "verdict") == 5
    assert code("verify", "--bundle", "p.sigstore.json") == 2
    capsys.readouterr()


@pytest.mark.parametrize("name", ["run/good", "protocol", "x", "protocol/"])
def test_what_cannot_be_signed(project: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert project
    assert code("sign", name, "--key", "release.key") == 2
    assert "hint:" in capsys.readouterr().err
