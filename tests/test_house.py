"""Rules of the house that a machine can check: what is documented, how long files are, what imports cost."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from keyword import iskeyword
from pathlib import Path

import pytest

import ragassay
from ragassay import errors
from ragassay.cli import COMMANDS, GROUPS

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src" / "ragassay").rglob("*.py"))


def test_public_names_are_sorted_and_importable() -> None:
    assert list(ragassay.__all__) == sorted(ragassay.__all__)
    for name in ragassay.__all__:
        assert getattr(ragassay, name) is not None


def test_every_error_is_in_the_drawn_tree_with_its_exit_code() -> None:
    tree = errors.__doc__ or ""
    kinds = [one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, errors.RagassayError)]
    for kind in kinds:
        assert re.search(rf"{kind.__name__}\s+{int(kind.exit_code)}\b", tree) or kind is errors.RagassayError, kind


@pytest.mark.parametrize("code", list(errors.ExitCode))
def test_every_exit_code_is_documented(code: errors.ExitCode) -> None:
    assert re.search(rf"^\|\s*{int(code)}\s*\|", (ROOT / "docs" / "commands.md").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_exists_and_is_documented(name: str) -> None:
    assert importlib.import_module(f"ragassay.cli.{name}_" if iskeyword(name) else f"ragassay.cli.{name}")
    assert f"ragassay {name}" in (ROOT / "docs" / "commands.md").read_text("utf-8")


@pytest.mark.parametrize("path", [*SOURCES, *sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))], ids=str)
def test_every_command_that_a_text_names_exists(path: Path) -> None:
    for name, verb in re.findall(r"`ragassay ([a-z]+)(?: ([a-z]+))?[^`]*`", path.read_text("utf-8")):
        assert name in COMMANDS, f"ragassay {name}"
        assert name not in GROUPS or not verb or verb in GROUPS[name], f"ragassay {name} {verb}"


FOREIGN_OPTIONS = {
    "--insecure-ignore-tlog",
    "--type",  # of cosign
    "--fields",
    "--flag",
    "--git-dir",
    "--help",
    "--install-completion",
    "--list",
    "--no-deps",
    "--porcelain",
    "--require-hashes",
    "--stdin",
    "--untracked-files",
    "--verify",
}
"""Of git, of pip, of pytest and the like, or of none."""
SCRIPTS = [path for folder in ("tools", "bench", "examples", "trials") for path in (ROOT / folder).rglob("*.py")]
SCRIPT_OPTIONS = {
    one for path in SCRIPTS for one in re.findall(r'add_argument\(\s*"(--[a-z-]+)"', path.read_text("utf-8"))
}


@pytest.mark.parametrize("path", [*SOURCES, ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=str)
def test_every_option_that_a_text_names_exists(path: Path) -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    columns = re.findall(r"^│ (?:\*  |   )?(?=\S)(.*?)(?:  |│)", page, re.MULTILINE)
    taken = {word for one in columns for word in one.split() if word.startswith("--")}
    assert {"--resume", "--no-resume", "--config", "--json"} <= taken
    named = set(re.findall(r"(?<![-\w<])--[a-z][a-z-]*[a-z]\b", path.read_text("utf-8")))
    assert named <= taken | FOREIGN_OPTIONS | SCRIPT_OPTIONS


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_has_a_docstring_and_is_not_too_long(path: Path) -> None:
    text = path.read_text("utf-8")
    assert ast.get_docstring(ast.parse(text)), "a module says what it is responsible for"
    assert len(text.splitlines()) <= 400


def test_tracked_files_name_no_registry_and_no_machine() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    bad = re.compile(r"pypi\.o" + r"rg|python" + r"hosted|npm" + r"js\.|/" + "work/|/" + "root/")
    for name in listed.stdout.split():
        path = ROOT / name
        if path.is_file() and path.suffix not in {".png", ".zst"} and "demo/data" not in name:
            assert not bad.search(path.read_text("utf-8", errors="replace")), name


def test_importing_the_package_is_light() -> None:
    code = "import sys, ragassay, ragassay.cli; print(*(m for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "scipy", "bm25s", "httpx2", "anyio", "rich", "jinja2", "cyclopts", "cryptography", "asyncio"}
    assert not heavy & set(loaded)
