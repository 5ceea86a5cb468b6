"""Adapters of other packages: found by entry point, sealed with their package, and checked against their contract."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
import tomllib
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.unit.run.small import TEXTS, Small

from ragassay.cli.systems import make_system
from ragassay.contracts.adapter import CREDENTIAL, check_adapter
from ragassay.errors import ContractError, UsageError
from ragassay.records.protocol import Stated, SystemIdentity
from ragassay.records.trace import TraceContent
from ragassay.run import execute
from ragassay.run.contract import Request
from ragassay.run.systems.extension import ADAPTERS
from ragassay.run.systems.python import PythonSystem
from ragassay.run.systems.reference import ReferenceSystem

EXAMPLE = Path(__file__).parents[4] / "examples" / "extensions" / "adapter-sqlite"
NONE = Stated(absent="none")


def install(place: Path, name: str, points: str, monkeypatch: pytest.MonkeyPatch, *code: Path) -> None:
    """A package as pip leaves it: its metadata, and its modules on the path."""
    info = place / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ragassay.adapters]\n{points}\n")
    for one in (place, *code):
        monkeypatch.syspath_prepend(str(one))


def frozen(small: Small) -> Any:
    return SimpleNamespace(documents=small.documents, passages=small.passages)


@pytest.fixture
def sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    ((name, value),) = project["entry-points"][ADAPTERS].items()
    install(tmp_path / "site", project["name"], f"{name} = {value}", monkeypatch, EXAMPLE)
    with closing(sqlite3.connect(tmp_path / "faq.db")) as db, db:
        db.execute("CREATE VIRTUAL TABLE passages USING fts5(document_id UNINDEXED, body)")
        db.executemany("INSERT INTO passages VALUES (?, ?)", TEXTS.items())
    return tmp_path


def test_the_example_is_short_and_passes_its_own_test() -> None:
    assert len((EXAMPLE / "ragassay_sqlite.py").read_text().splitlines()) <= 25
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:cacheprovider", str(EXAMPLE / "tests")],
        env={"PYTHONPATH": str(EXAMPLE), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False,
        cwd=EXAMPLE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["sqlite", "ext:sqlite"])
def test_it_is_a_kind_like_any_other(kind: str, sqlite: Path, small: Small) -> None:
    system = make_system({"kind": kind, "file": "faq.db"}, sqlite, frozen(small))
    assert system.identity.adapter == "sqlite"
    assert system.identity.settings["extension"] == "sqlite ragassay-adapter-sqlite/1.0"
    run, _ = asyncio.run(execute(small.store, small.seal(system.identity), system))
    assert run.failures == 0
    content = next(iter(small.store.get_lines(TraceContent, run.contents)))
    assert [one.sources[0].document_id for one in content.steps[0].items_out or ()] == ["rain"]


def test_its_keys_are_checked_like_any_others(sqlite: Path, small: Small) -> None:
    for section, message in (
        ({"kind": "sqlite", "fiel": "faq.db"}, "unknown key 'fiel'"),
        ({"kind": "sqlite"}, "'file' is missing"),
        ({"kind": "sqlite", "file": "faq.db", "folder": "/"}, "unknown key 'folder'"),
        ({"kind": "sqlit"}, "no kind of system 'sqlit'"),
    ):
        with pytest.raises(UsageError, match=message) as caught:
            make_system(section, sqlite, frozen(small))
    assert "sqlite" in caught.value.hint


def test_what_makes_no_system_is_said(tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd_adapters.py").write_text(
        "number = 3\ndef nothing(): return 3\ndef takes(**all): raise ValueError(all)\n"
    )
    points = "\n".join(f"{one} = odd_adapters:{one}" for one in ("number", "nothing", "lost", "takes"))
    install(tmp_path / "site", "odd-adapters", points, monkeypatch, tmp_path)
    for kind, message in (("number", "not callable"), ("nothing", "made no system"), ("lost", "cannot be loaded")):
        with pytest.raises(UsageError, match=message):
            make_system({"kind": kind}, tmp_path, frozen(small))
    with pytest.raises(UsageError, match="'x': 1"):
        make_system({"kind": "takes", "x": 1}, tmp_path, frozen(small))


class Good:
    def __init__(self) -> None:
        self.identity = SystemIdentity(name="g", adapter="g", retriever=NONE, generator=NONE, prompt=NONE, settings={})

    async def ask(self, request: Request) -> Any:
        await asyncio.sleep(0.01)
        return {"answer": request.query, "contexts": [request.query]}


class Blocking(Good):
    async def ask(self, request: Request) -> Any:
        time.sleep(0.7)
        return []


class Changing(Good):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        Changing.made += 1
        self.identity = msgspec.structs.replace(self.identity, settings={"made": Changing.made})


class Leaking(Good):
    async def ask(self, request: Request) -> Any:
        self.identity = msgspec.structs.replace(self.identity, settings={"with": request.credential or "none"})
        return []


class Nameless(Good):
    def __init__(self) -> None:
        self.identity = {"name": "x"}  # type: ignore[assignment]


class Deaf(Good):
    async def ask(self, request: Request) -> Any:
        try:
            await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            await asyncio.sleep(3)
        return []


class Wrong(Good):
    async def ask(self, request: Request) -> Any:
        return {"contexts": 3}


class Slow(Good):
    async def ask(self, request: Request) -> Any:
        await asyncio.sleep(9)


class Clinging(Good):
    async def aclose(self) -> None:
        await asyncio.sleep(9)


class Dumb:
    identity = Good().identity


def test_the_contract_test_says_which_parts_are_reported(small: Small) -> None:
    assert check_adapter(Good) == {"items", "texts", "context", "answer"}
    assert check_adapter(lambda: PythonSystem(lambda request: ["rain"]), documents=small.documents) >= {
        "items",
        "context",
    }
    parts = check_adapter(lambda: ReferenceSystem(small.documents, small.passages), documents=small.documents)
    assert {"steps", "context", "answer", "outcome", "citations", "step times"} <= parts
    assert "usage" not in parts


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        (Blocking, "event loop busy"),
        (Changing, "another one each time"),
        (Leaking, "changed the identity"),
        (Nameless, "identity is a dict"),
        (Deaf, "after it was cancelled"),
        (Wrong, "no response: contexts"),
        (Slow, "nothing came"),
        (Clinging, "aclose did not end"),
        (Dumb, "no ask"),
    ],
)
def test_the_contract_test_finds_each_broken_promise(adapter: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        check_adapter(adapter, timeout_s=0.2 if adapter is Slow else 30.0)


def test_the_contract_test_needs_a_question() -> None:
    assert CREDENTIAL
    with pytest.raises(ContractError, match="no question"):
        check_adapter(Good, questions=())
