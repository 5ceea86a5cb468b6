"""Options of `ragassay measure` and names of trec_eval, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError, UsageError
from ragassay.measures import command


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """One relevant item, second of its list."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q1 0 a 0\nq1 0 b 1\n")
    run.write_text("q1 Q0 a 1 2 mine\nq1 Q0 b 2 1 mine\n")
    return str(qrels), str(run)


def test_names_of_trec_eval_in_both_forms(files: tuple[str, str]) -> None:
    stems = ("P", "recall", "ndcg_cut", "map_cut", "success", "unj")
    for between in ("@", "_", "."):
        lines = list(command.trec_output(*files_of(files), [f"{stem}{between}5" for stem in stems]))
        assert sorted(line.split()[0] for line in lines) == sorted(f"{stem}_5" for stem in stems), between
    (line,) = command.trec_output(*files_of(files), ["num_rel_ret"])
    assert line.split() == ["num_rel_ret", "all", "1"]


def files_of(files: tuple[str, str]) -> tuple[str, list[str]]:
    return files[0], [files[1]]


def test_a_list_is_cut_at_the_depth(files: tuple[str, str]) -> None:
    values = [
        command.measure_runs(*files_of(files), ["ap"], depth=depth).evaluations[0].summaries()[0].value
        for depth in (None, 2, 1)
    ]
    assert values == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("mode", ["trec", "trec10"])
def test_an_item_twice_is_refused_as_trec_eval_does(files: tuple[str, str], mode: str) -> None:
    Path(files[1]).write_text("q1 Q0 a 1 2 mine\nq1 Q0 a 2 1 mine\n")
    with pytest.raises(InputError, match="'a' stands twice in one list") as caught:
        list(command.trec_output(*files_of(files), mode=mode))
    assert caught.value.line == 2


def test_standard_input_once_is_fine() -> None:
    command.check_runs("-", ["run"])
    command.check_runs("qrels", ["run", "-"])
    with pytest.raises(UsageError, match="once only"):
        list(command.trec_output("-", ["-"]))


def test_progress_is_told_in_trec_format_too(files: tuple[str, str]) -> None:
    told: list[tuple[str, int, int]] = []
    list(command.trec_output(*files_of(files), progress=lambda run, done, size: told.append((run, done, size))))
    size = Path(files[1]).stat().st_size
    assert told == [(files[1], size, size)]


def test_what_is_not_there_is_not_said(files: tuple[str, str]) -> None:
    measured = command.measure_runs(*files_of(files), ["ap"])
    assert command.as_table(measured).splitlines()[-1].split()[0] == "ap(rel=1)"
    (row,) = command.as_json(measured)["runs"][0]["measures"]
    assert (row["missing"], "bounds_over_missing" in row) == (0, False)


def test_nothing_relevant_anywhere_is_undefined_in_the_table(files: tuple[str, str]) -> None:
    Path(files[0]).write_text("q1 0 a 0\n")
    (line,) = command.as_table(command.measure_runs(*files_of(files), ["ap"])).splitlines()[1:]
    assert line.split() == ["ap(rel=1)", "undefined", "undefined", "0", "1", "0"]
