"""`ragassay keys trust`: a trust policy that names each key once and by a name of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ragassay.cli import exit_code_of
from ragassay.cli.keys import trust
from ragassay.errors import UsageError
from ragassay.seal.keys import key_id, read_public
from ragassay.seal.trust import read_trust


def code(*words: str) -> int:
    return exit_code_of(list(words))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for one in ("anna", "bert"):
        (tmp_path / one).mkdir()
        assert code("keys", "new", f"{one}/release.key") == 0
    return tmp_path


def test_keys_with_one_file_name_have_different_names_in_it(folder: Path) -> None:
    assert code("keys", "new", "audit.key") == 0
    assert code("keys", "trust", "anna/release.key.pub", "bert/release.key.pub", "audit.key.pub") == 0
    made = read_trust(folder / "trust.toml")
    names = {identity: one.entry.name for identity, one in made.keys.items()}
    paths = {"anna/release.key": "anna/release.key", "bert/release.key": "bert/release.key", "audit.key": "audit.key"}
    assert names == {key_id(read_public(folder / f"{path}.pub")): name for path, name in paths.items()}


def test_it_says_where_a_key_lies_from_where_the_policy_does(folder: Path) -> None:
    (folder / "policies").mkdir()
    assert code("keys", "trust", "anna/release.key.pub", "--out", "policies/trust.toml") == 0
    assert 'file = "../anna/release.key.pub"' in (folder / "policies" / "trust.toml").read_text()
    assert len(read_trust(folder / "policies" / "trust.toml").keys) == 1


def test_one_key_twice_is_not_two_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy("anna/release.key.pub", "other.pub")
    capsys.readouterr()
    assert code("keys", "trust", "anna/release.key.pub", "other.pub") == 2
    told = capsys.readouterr().err
    assert "other.pub" in told
    assert "the same key as anna/release.key.pub" in told
    assert not (folder / "trust.toml").exists()


def test_no_key_is_a_policy_over_nobody(folder: Path) -> None:
    with pytest.raises(UsageError, match="no key is named"):
        trust(())
    assert not (folder / "trust.toml").exists()


@pytest.mark.parametrize("name", ["clé \U0001f511.pub", 'a "b" \\ c.pub', "tab\there.pub"])
def test_any_name_that_a_settings_file_can_hold(name: str, folder: Path) -> None:
    shutil.copy("anna/release.key.pub", name)
    assert code("keys", "trust", name) == 0
    assert [one.entry.name for one in read_trust(folder / "trust.toml").keys.values()] == [name.removesuffix(".pub")]


@pytest.mark.parametrize("name", ["key\udcff.pub", "key\x7f.pub"], ids=["not UTF-8", "a control character"])
def test_a_name_that_no_settings_file_can_hold_is_refused(name: str, folder: Path) -> None:
    shutil.copy("anna/release.key.pub", name)
    with pytest.raises(UsageError, match="a trust policy cannot hold this name"):
        trust((Path(name),))
    assert not (folder / "trust.toml").exists()
