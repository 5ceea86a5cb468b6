"""`ragassay doctor` lists every extra that the package declares, without importing one."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ragassay.cli.doctor import EXTRAS, doctor

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_the_list_is_that_of_the_package() -> None:
    declared = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    wanted = {name: [re.split(r"[^A-Za-z0-9._-]", one)[0] for one in packages] for name, packages in declared.items()}
    assert {name: list(packages) for name, (_, packages) in EXTRAS.items()} == wanted


def test_an_absent_extra_is_no_failure_and_says_how_to_install_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    known = importlib.metadata.version

    def version(name: str) -> str:
        if name == "pyarrow":
            raise importlib.metadata.PackageNotFoundError(name)
        return "9.9.9" if name == "lxml" else known(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.chdir(tmp_path)
    assert doctor(json=True) == 0
    found = {one["what"]: one for one in json.loads(capsys.readouterr().out)}
    parquet, html = found["extra parquet"], found["extra html"]
    assert parquet["ok"]
    assert "not installed (pyarrow)" in parquet["detail"]
    assert "pip install 'ragassay[parquet]'" in parquet["detail"]
    assert html["detail"] == "documents in HTML: lxml 9.9.9"
    assert {one.removeprefix("extra ") for one in found if one.startswith("extra ")} == set(EXTRAS)


def test_nothing_of_an_extra_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from ragassay.cli.doctor import doctor; doctor(); "
        "print([one for one in ('pyarrow', 'lxml', 'pandas', 'polars', 'sacrebleu', 'langchain_core', 'onnxruntime') "
        "if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
