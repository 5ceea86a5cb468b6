"""One project of trials/evidence.py, made once and copied for each test."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sys.path.insert(0, str(ROOT))
    try:
        from trials.evidence import make_project
    finally:
        sys.path.remove(str(ROOT))
    folder = tmp_path_factory.mktemp("project")
    make_project(folder)
    return folder


@pytest.fixture
def project(made_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(made_once, folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.chdir(folder)
    return folder
