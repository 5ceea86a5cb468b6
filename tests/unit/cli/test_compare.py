"""`ragassay compare` through its own door, over a store that holds runs of one small example."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from ragassay.cli import exit_code_of
from ragassay.cli.init import init
from ragassay.cli.run import run
from ragassay.records.comparison import Comparison
from ragassay.report.compared import MARKER
from ragassay.store import Store


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs of the example: passages half as long, and a document's text another one."""
    folder = tmp_path_factory.mktemp("compare")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        init()
        run(name="before")
        settings = folder / "ragassay.toml"
        text = settings.read_text()
        settings.write_text(text.replace("\nsize = 120 ", "\nsize = 60 "))
        run(name="after")
        document = folder / "documents" / "limits.md"
        document.write_text(document.read_text() + "\nOne more sentence.\n")
        run(name="edited")
    return folder


@pytest.fixture
def ask(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """A command line in the project -> (exit code, standard output, standard error)."""
    monkeypatch.chdir(project)

    def asked(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = exit_code_of(["compare", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return asked


def test_two_runs(ask: Any, project: Path) -> None:
    code, out, err = ask("before", "after")
    assert code == 0, err
    assert "4 questions paired" in out
    assert "answerable: 95 % intervals" in out
    assert "better/same/worse" in out
    assert "segmentation  size: 120 -> 60" in out
    assert err.splitlines()[-1].startswith("next: ragassay gate after --baseline before")
    store = Store.open(project / ".ragassay")
    assert out.splitlines()[-1] == f"comparison {store.ref('comparison/before/after')}"
    assert store.check("deep").ok


def test_json_csv_and_markdown_say_the_same(ask: Any, tmp_path: Path) -> None:
    files = tmp_path / "e.csv", tmp_path / "c.md"
    code, out, err = ask("before", "after", "--json", "--csv", str(files[0]), "--md", str(files[1]))
    assert code == 0, err
    made = json.loads(out)
    assert made["record"]["paired"] == 4
    with files[0].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(made["effects"])
    for row, effect in zip(rows, made["effects"], strict=True):
        assert (row["measure"], row["class"]) == (effect["measure"], effect["population"]["class"])
        assert row["effect"] == ("" if effect.get("effect") is None else repr(float(effect["effect"])))
    text = files[1].read_text()
    assert text.startswith(MARKER + "\n")
    assert made["comparison"] in text


def test_a_changed_corpus_is_refused_until_it_is_declared(ask: Any, project: Path) -> None:
    code, out, err = ask("before", "edited")
    assert (code, out) == (2, "")
    assert "the corpora differ (document_text limits" in err
    assert "--variation document_text" in err
    code, out, err = ask("before", "edited", "--variation", "corpus")
    assert code == 0, err
    assert "(declared)" in out


def test_several_runs_are_a_table_that_says_not_measured(ask: Any, project: Path) -> None:
    settings = project / "ragassay.toml"
    text = settings.read_text()
    try:
        settings.write_text(text.replace("[scoring]\n", '[scoring]\nmeasures = ["recall(rel=2)@5", "hit(rel=2)@1"]\n'))
        run(name="other")
    finally:
        settings.write_text(text)
    code, out, err = ask("edited", "other", "edited", "--variation", "measure")
    assert code == 0, err
    table = out.split("baseline   ")[0]
    assert "not measured" in table
    line = next(one for one in table.splitlines() if one.strip().startswith("hit(rel=2)@1"))
    cells = [one for one in line.split("  ") if one.strip()]
    assert cells[-1].strip() == cells[-3].strip() == "not measured"
    assert "not measured" not in cells[-2]
    code, out, _ = ask("edited", "other", "edited", "--json")
    made = json.loads(out)
    assert made["names"] == ["edited", "other", "edited"]
    assert len(made["comparisons"]) == 2


def test_the_built_in_system_is_not_weaker_than_itself(ask: Any, project: Path) -> None:
    code, out, _ = ask("before", "after", "--reference", "before")
    assert code == 0
    assert "the baseline is not weak" in out
    made = Store.open(project / ".ragassay").get_record(Comparison, out.splitlines()[-1].split()[1])
    assert (made.weak_baseline, made.margin, made.stored_configuration) == ((), 0.05, True)


@pytest.mark.parametrize(
    "words, says",
    [
        (("nothing", "after"), "there is no scores/nothing"),
        (("before", "after", "--level", "2"), "a level lies between 0 and 1"),
        (("before", "after", "--flips", "0"), "flips are 1 to"),
        (("before", "after", "--margin", "-1"), "a margin lies between 0 and 1"),
        (("before", "after", "--variation", "corpse"), "'corpse' is nothing that can vary"),
        (("before", "after", "edited", "--html", "x.html"), "a page shows two runs"),
        (("before", "after", "--csv", "no/folder/x.csv"), "cannot write into no/folder/x.csv"),
    ],
)
def test_what_cannot_be_done_says_why(ask: Any, words: tuple[str, ...], says: str) -> None:
    code, _, err = ask(*words)
    assert code == 2
    assert says in err
    assert "Traceback" not in err


def test_the_page(ask: Any, tmp_path: Path) -> None:
    file = tmp_path / "x.html"
    code, out, err = ask("before", "after", "--html", str(file))
    assert code == 0, err
    assert str(file) in err
    page = file.read_text("utf-8")
    assert "<h1>after against before</h1>" in page
    assert "size" in page[page.index('<section id="changes">') : page.index('<section id="steps">')]
    digest = out.splitlines()[-1].removeprefix("comparison ")
    assert digest in page
