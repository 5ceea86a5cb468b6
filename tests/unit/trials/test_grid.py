"""The file of an experiment: what it means, and that every fault is named with file, line and field."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import UsageError
from ragassay.trials.grid import applied, read_experiment

HEAD = '[experiment]\nname = "e"\nchoose = "ndcg@5"\n'
MANY = "".join(f'"system.k{n}" = [1, 2, 3, 4]\n' for n in range(6))


def written(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_grid_is_every_combination_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = read_experiment(
        written(tmp_path, HEAD + '[experiment.grid]\n"system.a" = [1, 2]\n"run.top_k" = [5, 9, 7]\n')
    )
    assert [one.changes for one in found.settings] == [
        {"system.a": a, "run.top_k": k} for a in (1, 2) for k in (5, 9, 7)
    ]
    assert [one.label for one in found.settings][:2] == ["a=1, top_k=5", "a=1, top_k=9"]


def test_a_list_of_settings_is_crossed_with_the_grid(tmp_path: Path) -> None:
    text = HEAD + '[[experiment.settings]]\n"system.a" = 1\n[[experiment.settings]]\n"system.b" = 2\n'
    assert len(read_experiment(written(tmp_path, text)).settings) == 2
    both = read_experiment(written(tmp_path, text + '[experiment.grid]\n"system.c" = [3, 4]\n')).settings
    assert [one.changes for one in both] == [
        {"system.a": 1, "system.c": 3}, {"system.a": 1, "system.c": 4},
        {"system.b": 2, "system.c": 3}, {"system.b": 2, "system.c": 4},
    ]  # fmt: skip


def test_the_name_of_a_run_does_not_depend_on_the_rest_of_the_grid(tmp_path: Path) -> None:
    one = read_experiment(written(tmp_path, HEAD + '[experiment.grid]\n"system.a" = [1, 2]\n'))
    more = read_experiment(written(tmp_path, HEAD + '[experiment.grid]\n"system.a" = [3, 2]\n'))
    assert one.run_name(one.settings[1]) == more.run_name(more.settings[1])
    assert one.run_name(one.settings[0]) != more.run_name(more.settings[0])


def test_changes_reach_into_lists_and_an_empty_table_takes_a_key_out(tmp_path: Path) -> None:
    base = tomllib.loads('[system]\nkind = "x"\n[system.rerank]\nkind = "m"\n[[system.retrievers]]\nk1 = 1\n')
    text = (
        HEAD + '[experiment.grid]\n"system.retrievers[0].k1" = [2]\n"system.rerank" = [{}]\n"system.fusion.k" = [5]\n'
    )
    (only,) = read_experiment(written(tmp_path, text)).settings
    assert applied(base, only)["system"] == {"kind": "x", "retrievers": [{"k1": 2}], "fusion": {"k": 5}}
    assert base["system"]["retrievers"] == [{"k1": 1}], "the base stays as it is"
    assert "rerank=none" in only.label


@pytest.mark.parametrize(
    ("text", "field", "line", "says"),
    [
        (HEAD + '[experiment.grid]\n"corpus.name" = ["a"]\n', "experiment.grid.corpus.name", 5, "cannot vary"),
        (HEAD + '[experiment.grid]\n"run.seed" = [1]\n', "experiment.grid.run.seed", 5, "cannot vary"),
        (HEAD + '[experiment.grid]\n"sistem.k" = [1]\n', "experiment.grid.sistem.k", 5, "no such section"),
        (HEAD + '[experiment.grid]\n"system.k" = []\n', "experiment.grid.system.k", 5, "no values"),
        (HEAD + '[experiment.grid]\n"system.k" = 3\n', "experiment.grid.system.k", 5, "not in a list"),
        (HEAD + '[experiment.grid]\n"system..k" = [3]\n', "experiment.grid.system..k", 5, "no key"),
        (HEAD + '[experiment.grid]\n"system.k" = [3, 3]\n', "experiment.grid", 4, "twice"),
        (HEAD, "experiment.grid", 1, "nothing varies"),
        (HEAD + "chose = 1\n", "experiment", 4, "unknown field"),
        (HEAD.replace("ndcg@5", "ndgc@5"), "experiment.choose", 3, "no measure"),
        (HEAD.replace("ndcg@5", "latency"), "experiment.choose", 3, "not measured where steps are shared"),
        (HEAD + 'split = "release"\n', "experiment.split", 4, "release"),
        (HEAD.replace('"e"', '"a/b"'), "experiment.name", 2, "cannot be a name"),
        ("[other]\n", "other", 1, "does not belong"),
        ("", "experiment", None, "no [experiment]"),
        (HEAD + "[experiment.grid]\n" + MANY, "experiment.grid", 4, "4,096"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, text: str, field: str, line: int | None, says: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_experiment(path)
    error = caught.value
    assert (error.file, error.field, error.line) == (str(path), field, line)
    assert says in error.message
    assert error.hint


def test_a_key_that_the_base_does_not_have(tmp_path: Path) -> None:
    text = HEAD + '[experiment.grid]\n"system.retrievers[1].k1" = [2]\n'
    (only,) = read_experiment(written(tmp_path, text)).settings
    with pytest.raises(UsageError, match=r"no place \[1\]"):
        applied({"system": {"retrievers": [{"k1": 1}]}}, only)
    with pytest.raises(UsageError, match="the base settings have no"):
        applied({"system": {"retrievers": 3}}, only)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: (HEAD + text).encode()))
def test_any_bytes_are_an_experiment_or_a_usage_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    found: UsageError | None = None
    try:
        assert read_experiment(path).settings
    except UsageError as error:
        found = error
    assert found is None or str(path) in str(found)
