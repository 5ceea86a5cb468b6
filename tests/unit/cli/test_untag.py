"""A tag can be taken off a run; the run, its names and its other tags stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.cli import runs
from ragassay.errors import StoreError, UsageError
from ragassay.report import history
from ragassay.store import Store


def test_a_tag_is_set_and_taken_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "store"
    store = Store.open(folder, create=True)
    first, second = store.put(b"one"), store.put(b"two")
    store.set_ref("run/a", first)
    store.set_ref("run/b", second)
    for run, name in (("a", "nightly"), ("a", "good"), ("b", "nightly")):
        runs.tag(run, name, store=folder)
    runs.untag("a", "nightly", store=folder)
    assert f"{first} is no longer tagged nightly" in capsys.readouterr().out
    left = {(one.name.split("/")[-2], one.digest) for one in Store.open(folder).refs(history.TAGS)}
    assert left == {("good", first), ("nightly", second)}
    assert store.get(first) == b"one"
    assert store.resolve("a", kind_prefix="run") == first
    with pytest.raises(UsageError, match="has no tag nightly") as caught:
        runs.untag("a", "nightly", store=folder)
    assert caught.value.hint == "it has: good"
    runs.tag("a", "nightly", store=folder)
    runs.untag("a", "nightly", store=folder)


@pytest.mark.parametrize("name", ["run/c", "tags/x/y"])
def test_a_name_that_is_not_there_cannot_be_removed(tmp_path: Path, name: str) -> None:
    store = Store.open(tmp_path / "store", create=True)
    store.set_ref("run/a", store.put(b"one"))
    with pytest.raises(StoreError, match="there is no"):
        store.remove_ref(name)
    assert store.ref_names() == ["run/a"]
