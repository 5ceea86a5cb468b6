"""What a key is named and locked with: whatever cannot be used is a usage error, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import UsageError
from ragassay.seal.keys import new_keys, read_private, read_public


@pytest.mark.parametrize("passphrase", ["x" * 1024, "\udcff"], ids=["too-long", "not-utf-8"])
def test_a_passphrase_that_cannot_lock_a_key_is_refused(tmp_path: Path, passphrase: str) -> None:
    with pytest.raises(UsageError, match="the passphrase"):
        new_keys(tmp_path / "a.key", passphrase)
    assert not list(tmp_path.iterdir())
    made = new_keys(tmp_path / "b.key", "right")
    with pytest.raises(UsageError, match="the passphrase"):
        read_private(made.private, passphrase)


def test_the_longest_passphrase_locks_and_unlocks(tmp_path: Path) -> None:
    made = new_keys(tmp_path / "a.key", "x" * 1023)
    assert read_private(made.private, "x" * 1023).key_id == made.key_id


def test_a_key_without_a_file_name_is_refused() -> None:
    with pytest.raises(UsageError, match="a file name"):
        new_keys(Path())


def test_a_key_file_whose_name_no_system_takes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_public(tmp_path / "a\0b")
