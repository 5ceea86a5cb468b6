"""The settings file: strict, and every complaint with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.cli.settings import read_settings
from ragassay.errors import RagassayError, UsageError
from ragassay.records.toml_file import line_of

GOOD = """\
[corpus]
documents = "docs"
[benchmark]
cases = "cases.jsonl"
[system]
kind = "reference"
[run]
as_of = 2026-12-01
top_k = 5
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "ragassay.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_good_file_is_read_with_defaults_and_a_toml_date(tmp_path: Path) -> None:
    settings = read_settings(write(tmp_path, GOOD))
    assert settings.run.as_of == "2026-12-01"
    assert (settings.run.top_k, settings.run.repeats, settings.store.path) == (5, 1, ".ragassay")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("top_k = 5", "topk = 5", 9, ["topk", "did you mean 'top_k'"]),
        ("top_k = 5", "top_k = 0", 9, ["run.top_k", ">= 1"]),
        ("top_k = 5", 'top_k = "5"', 9, ["run.top_k", "int"]),
        ("as_of = 2026-12-01", 'as_of = "yesterday"', 8, ["run.as_of", "yesterday"]),
        ('kind = "reference"', "kind reference", 6, ["not TOML"]),
        ('cases = "cases.jsonl"', 'topics = "t"', 3, ["benchmark", "qrels"]),
        ("[run]", "[runs]", 7, ["runs", "did you mean 'run'"]),
        ("as_of = 2026-12-01", 'as_of = "2026-02-30"', 8, ["run.as_of", "calendar"]),
        ("top_k = 5", "repeats = 100000000000", 9, ["run.repeats", "1000"]),
        ("top_k = 5", 'name = "../x"', 9, ["run.name", "cannot be a name"]),
        ('documents = "docs"', 'documents = "docs"\nname = ""', 3, ["corpus.name", "cannot be a name"]),
        ('cases = "cases.jsonl"', 'cases = "c"\nname = "a b"', 5, ["benchmark.name", "cannot be a name"]),
        ('cases = "cases.jsonl"', 'cases = "c"\nversion = ""', 5, ["benchmark.version", ">= 1"]),
        ("[system]", "[segmentation]\nsize = 5\n[system]", 5, ["segmentation.overlap", "less than size"]),
        ("[system]", "[scoring]\nabstention_rules = ['(']\n[system]", 6, ["scoring.abstention_rules[0]", "regular"]),
        ("[system]", "[scoring]\nabstention_rules = ['(a+)+$']\n[system]", 6, ["abstention_rules[0]", "for ever"]),
        ("[system]", "[scoring]\nnormalisation = 'nope'\n[system]", 6, ["scoring.normalisation", "squad"]),
        ("[system]", "[scoring]\nmeasures = ['ndcg@10', 'nope']\n[system]", 6, ["scoring.measures[1]", "nope"]),
        ("[system]", "[redact.patterns]\nkey = '('\n[system]", 6, ["redact.patterns.key", "regular"]),
    ],
)
def test_a_wrong_file_is_an_error_with_line_and_hint(
    tmp_path: Path, old: str, new: str, line: int, words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        read_settings(write(tmp_path, GOOD.replace(old, new)))
    assert caught.value.line == line
    assert caught.value.hint
    for word in words:
        assert word in str(caught.value)


def test_a_missing_file_names_init(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ragassay init"):
        read_settings(tmp_path / "ragassay.toml")


def test_the_example_that_init_writes_is_valid(tmp_path: Path) -> None:
    from ragassay.cli.init import init

    init(tmp_path / "new")
    settings = read_settings(tmp_path / "new" / "ragassay.toml")
    assert settings.system["kind"] == "reference"


def test_line_of_finds_dotted_keys_and_sections() -> None:
    text = 'a.b = 1\n[s]\nx = 2\n[s.t]\n"y" = 3\n'
    assert line_of(text, "a.b") == 1
    assert line_of(text, "s.x") == 3
    assert line_of(text, "s.t.y") == 5
    assert line_of(text, "nowhere.at.all") is None


@given(st.text(max_size=300))
def test_any_text_is_settings_or_a_usage_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "ragassay.toml"
    path.write_text(text, "utf-8", errors="replace")
    with pytest.raises(RagassayError):
        read_settings(path)


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "ragassay.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    windows = read_settings(path)
    assert windows == read_settings(write(tmp_path, GOOD))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD + "a = " + "[" * 5000, "not TOML"),
        (GOOD.replace("top_k = 5", "top_k = " + "9" * 5000), "not TOML"),
        ("#" * 1024 * 1024 + "#", "more than 1048576 bytes"),
    ],
)
def test_a_file_that_no_parser_should_swallow_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        read_settings(write(tmp_path, text))
    assert caught.value.file.endswith("ragassay.toml")
    assert caught.value.hint
