"""What `ragassay export card.json` writes is taken by the validator of Croissant itself, and says what is recorded."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.conftest import ROOT, skip_or_fail

from ragassay.cli import exit_code_of

VALIDATOR = ROOT / ".venv-croissant" / "bin" / "mlcroissant"
SETTINGS = """
[corpus]
documents = "documents.jsonl"
default_tenants = ["*"]
{corpus}
[benchmark]
cases = "cases.jsonl"
{benchmark}
[system]
kind = "reference"
[segmentation]
chunker = "sentences"
window = 1
stride = 1
[run]
as_of = "2026-08-01"
[scoring]
measures = ["fact_coverage"]
"""
TOLD = {
    "corpus": """provenance = { licence = "CC-BY-4.0", owner = "Ministry of Rain", origin = "https://example.org/rain",
collection = "read off gauges, 2025", authorisation = "open data act",
transformations = [{ kind = "ocr", name = "reader 5.5" }], limits = ["no snow", "one gauge was broken"] }""".replace(
        "\n", " "
    ),
    "benchmark": 'provenance = { owner = "QA team", licence = "CC0-1.0" }',
}


def card(folder: Path, monkeypatch: pytest.MonkeyPatch, told: dict[str, str]) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    (folder / "documents.jsonl").write_text('{"document_id": "rain", "text": "Rain falls."}\n')
    case = {"query_id": "q1", "query": "When?", "relevant": [{"document_id": "rain", "grade": 3}]}
    (folder / "cases.jsonl").write_text(json.dumps(case) + "\n")
    (folder / "ragassay.toml").write_text(SETTINGS.format(**{"corpus": "", "benchmark": "", **told}))
    assert exit_code_of(["run"]) == 0
    assert exit_code_of(["score"]) == 0
    assert exit_code_of(["export", "card.json", "evidence.zip"]) == 0
    return dict(json.loads((folder / "card.json").read_text()))


def test_it_says_what_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = card(tmp_path, monkeypatch, TOLD)
    assert made["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert made["license"] == ["CC0-1.0", "CC-BY-4.0"]
    assert [one["name"] for one in made["creator"]] == ["QA team", "Ministry of Rain"]
    assert made["url"] == made["isBasedOn"] == "https://example.org/rain"
    assert made["rai:dataLimitations"] == ["no snow", "one gauge was broken"]
    assert made["rai:dataPreprocessingProtocol"] == "ocr reader 5.5"
    assert made["usageInfo"] == "open data act"
    assert "Rain falls" not in json.dumps(made)


def test_every_file_is_there_with_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is named is in the exported file of evidence, or is a file that was read; `sha256sum` says the same."""
    made = card(tmp_path, monkeypatch, {})
    with zipfile.ZipFile(tmp_path / "evidence.zip") as archive:
        names = set(archive.namelist())
        for one in made["distribution"]:
            place = one["contentUrl"]
            data = archive.read(place) if place in names else (tmp_path / place).read_bytes()
            assert hashlib.sha256(data).hexdigest() == one["sha256"]
    assert [one["contentUrl"].partition("/")[0] for one in made["distribution"]] == [
        "objects", "objects", "documents.jsonl",
    ]  # fmt: skip
    assert not {"license", "creator", "url"} & made.keys(), "nothing is filled in"


@pytest.mark.parametrize("told", [{}, TOLD], ids=["nothing is known", "all is told"])
def test_its_own_validator_takes_it(told: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not VALIDATOR.exists():
        skip_or_fail("the validator of Croissant files is not installed: make croissant")
    made = card(tmp_path, monkeypatch, told)
    assert validated(tmp_path / "card.json") == 0
    (tmp_path / "card.json").write_text(json.dumps({**made, "distribution": [{"@type": "cr:FileObject"}]}))
    assert validated(tmp_path / "card.json") != 0, "a validator that takes anything says nothing"


def test_its_own_reader_finds_questions_and_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the exported file, unpacked: `unzip`, then `zstd -d` of the two that the card names, which gives them other
    digests; the reader cannot unpack zstd."""
    if not VALIDATOR.exists():
        skip_or_fail("the validator of Croissant files is not installed: make croissant")
    made = card(tmp_path, monkeypatch, {})
    with zipfile.ZipFile(tmp_path / "evidence.zip") as archive:
        for one in made["distribution"][:2]:
            path = tmp_path / "unpacked" / one["contentUrl"]
            path.parent.mkdir(parents=True, exist_ok=True)
            data = zstandard.ZstdDecompressor().decompressobj().decompress(archive.read(one["contentUrl"]))
            path.write_bytes(data)
            one["sha256"] = hashlib.sha256(data).hexdigest()
    (tmp_path / "unpacked" / "card.json").write_text(json.dumps(made))
    for name, value in (("question", "When?"), ("document", "Rain falls.")):
        told = [VALIDATOR, "load", "--jsonld", tmp_path / "unpacked" / "card.json", "--record_set", f"{name}-records"]
        done = subprocess.run(told, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-600:]
        assert value in done.stdout + done.stderr
    assert [one["@id"] for one in made["recordSet"]] == ["question-records", "document-records"]


def validated(path: Path) -> int:
    done = subprocess.run([VALIDATOR, "validate", "--jsonld", str(path)], capture_output=True, text=True, check=False)
    return done.returncode
