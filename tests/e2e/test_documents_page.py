"""The forms of documents that docs/cases.md shows are read as it says, and docs/extending.md runs as it stands."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ragassay.corpus import load
from ragassay.records.document import Corpus
from ragassay.store import Store

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "cases.md").read_text("utf-8")
DOCUMENTS = PAGE[PAGE.index("## Documents") :]
FORMS = dict(re.findall(r"### ([^\n]+)\n\n```text\n(.*?)```\n\n```toml\n.*?```", DOCUMENTS, re.DOTALL))
SETTINGS = dict(re.findall(r"### ([^\n]+)\n\n```text\n.*?```\n\n```toml\n(.*?)```", DOCUMENTS, re.DOTALL))
PLACES = {"A folder": "documents/limits.md", "BEIR": "scifact/corpus.jsonl"}
EXTRAS = {"Parquet": "pyarrow", "HTML": "lxml"}
WANTED = {
    "JSON lines": {("limits.md", "1"): "120 publishes per minute.", ("faq", "2"): "Yes."},
    "A folder": {("limits.md", "1"): "# Limits\n\n120 publishes per minute.\n"},
    "CSV": {("1", "1"): "Wie viele?\n\n120 je Minute;\ndanach Status 429"},
    "Parquet": {("limits.md", "1"): "120 publishes per minute."},
    "HTML": {("limits.html", "1"): "# Limits\n\n| limit | value |\n|---|---|\n| publishes per minute | 120 |"},
    "BEIR": {("d1", "1"): "Limits\n\n120 publishes per minute.", ("d2", "1"): "Drafts are for editors."},
    "TREC text": {("FT911-3", "1"): "Limits\n\n120 publishes per minute.", ("FT911-4", "1"): "AT&T said so."},
}


def ragassay(*words: str, cwd: Path, python_path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONWARNINGS": "error", **({"PYTHONPATH": str(python_path)} if python_path else {})}
    return subprocess.run(
        [sys.executable, "-m", "ragassay", *words], cwd=cwd, capture_output=True, text=True, check=False,
        env=environment,
    )  # fmt: skip


def project(folder: Path, corpus: str, segmentation: str | None = None, system: str | None = None) -> Path:
    """The project that `ragassay init` writes, with other documents."""
    assert ragassay("init", "p", cwd=folder).returncode == 0
    toml = folder / "p" / "ragassay.toml"
    text = re.sub(r"documents = .*\n", lambda _: corpus, toml.read_text("utf-8"), count=1)
    for name, said in (("segmentation", segmentation), ("system", system)):
        if said is not None:
            text = re.sub(rf"\[{name}\]\n(.|\n)*?(?=\n\[)", lambda _, said=said: said, text)
    toml.write_text(text, "utf-8")
    return folder / "p"


def stored(folder: Path) -> dict[tuple[str, str], str]:
    store = Store.open(folder / ".ragassay")
    found = load(store, store.get_record(Corpus, store.ref("corpus/corpus")))
    return {(one.document_id, one.version): one.text for one in found}


def test_every_form_of_the_page_is_tested() -> None:
    assert set(FORMS) == set(SETTINGS) == set(WANTED)


@pytest.mark.parametrize("form", WANTED)
def test_the_page_s_documents_are_read_as_it_says(form: str, tmp_path: Path) -> None:
    if (library := EXTRAS.get(form)) and importlib.util.find_spec(library) is None:
        pytest.skip(f"needs {library}")
    folder = project(tmp_path, SETTINGS[form])
    file = folder / PLACES.get(form, tomllib.loads(SETTINGS[form])["documents"])
    file.parent.mkdir(exist_ok=True)
    if file.parent.name == "documents":
        for one in file.parent.iterdir():
            one.unlink()
    if form == "Parquet":
        import pyarrow as pa
        from pyarrow import parquet

        kinds = {"string": pa.string(), "list<string>": pa.list_(pa.string())}
        fields = [pa.field(name, kinds[kind]) for name, kind in re.findall(r"(\w+): ([\w<>]+)", FORMS[form])]
        row = {"document_id": "limits.md", "text": "120 publishes per minute.", "tenants": ["acme"]}
        parquet.write_table(pa.Table.from_pylist([row], schema=pa.schema(fields)), file)
    else:
        file.write_text(FORMS[form], "utf-8")
    done = ragassay("corpus", "add", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert stored(folder) == WANTED[form]
    assert json.loads(done.stdout)["skipped"] == []


def test_the_extensions_that_the_page_shows_keep_their_contracts_and_are_named_by_settings(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extending.md").read_text("utf-8")
    (package,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    *parts, check = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    site = tmp_path / "site"
    info = site / "my_ragassay_parts-1.0.0.dist-info"
    info.mkdir(parents=True)
    said = tomllib.loads(package)["project"]
    (info / "METADATA").write_text(f"Name: {said['name']}\nVersion: {said['version']}\n")
    groups = said["entry-points"]
    lines = [f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in found.items()) for group, found in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    (site / "my_parts.py").write_text("\n\n".join(parts), "utf-8")
    (site / "test_parts.py").write_text(f"from my_parts import Constant, parse, split\n\n{check}", "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:cacheprovider", "test_parts.py"],
        env={"PYTHONPATH": str(site), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False, cwd=site,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout
    folder = project(
        tmp_path,
        'documents = "wisdom"\nformat = "fortune"\n',
        '[segmentation]\nchunker = "paragraphs"\nparameters = { paragraphs = 2 }\n',
        '[system]\nkind = "ext:constant"\nanswer = "42"\n',
    )
    (folder / "wisdom").write_text("One.\n\nTwo.\n\nThree.\n%\nFour.\n", "utf-8")
    (folder / "cases.jsonl").write_text('{"query_id": "q", "query": "What?"}\n', "utf-8")
    done = ragassay("run", cwd=folder, python_path=site)
    assert done.returncode == 0, done.stderr
    shown = ragassay("corpus", "show", "--json", cwd=folder, python_path=site)
    assert [one.get("passages") for one in json.loads(shown.stdout)] == [None, 3]
    told = ragassay("report", "--out", "r", cwd=folder, python_path=site)
    assert told.returncode == 0, told.stderr
    assert "my-ragassay-parts/1.0.0" in (folder / "r" / "scorecard.json").read_text("utf-8")
