"""Extensions: the example packages as installed ones, what the checks find, what is sealed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import ragassay.extensions
from ragassay.cli import main
from ragassay.contracts.chunker import check_chunker
from ragassay.contracts.parser import check_parser
from ragassay.corpus import build, load, read, segment
from ragassay.errors import ContractError, InputError, UsageError
from ragassay.extensions import CHUNKERS, PARSERS, extension_names, load_extension
from ragassay.records.judgement import JudgeIdentity, Judgement, JudgementSet
from ragassay.store import Store

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = {one.name: one for one in sorted((ROOT / "examples" / "extensions").iterdir()) if one.is_dir()}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes an example package known as pip does: its module and its metadata are on the path."""

    def install(name: str) -> None:
        project = tomllib.loads((EXAMPLES[name] / "pyproject.toml").read_text("utf-8"))["project"]
        info = tmp_path / "site" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
        points = "".join(
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in found.items())
            for group, found in project["entry-points"].items()
        )
        (info / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        monkeypatch.syspath_prepend(str(EXAMPLES[name]))

    return install


@pytest.mark.parametrize("name", ["chunker-paragraphs", "evaluator-verbatim", "measure-numbers", "parser-fortune"])
def test_the_examples_keep_their_contracts_in_25_lines(name: str) -> None:
    (module,) = EXAMPLES[name].glob("*.py")
    assert len(module.read_text("utf-8").splitlines()) <= 25
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:cacheprovider", "tests"],
        env={"PYTHONPATH": str(EXAMPLES[name]), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False,
        cwd=EXAMPLES[name],
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_parser_of_another_package_is_named_and_sealed(
    tmp_path: Path, installed: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "wisdom"
    source.write_text("One.\n%\n\n%\nTwo.\n")
    with pytest.raises(UsageError, match="unknown format 'fortune'"):
        read(source, format="fortune")
    installed("parser-fortune")
    assert "fortune" in extension_names(PARSERS)
    assert "ragassay_fortune" not in sys.modules
    with pytest.raises(InputError, match="an empty fortune") as caught:
        read(source, format="fortune")
    assert caught.value.line == 3
    found = read(source, format="fortune", on_error="skip", default_tenants=["*"])
    assert [(one.document_id, one.text) for one in found] == [("wisdom-1", "One."), ("wisdom-3", "Two.")]
    assert {one.parser for one in found} == {"fortune ragassay-parser-fortune/1.0.0"}
    assert [(one.file, one.line) for one in found.skipped] == [("wisdom", 3)]
    store = Store.open(tmp_path / "store", create=True)
    corpus, _ = build(store, found, name="c")
    other, _ = build(store, [read_again(one, "fortune ragassay-parser-fortune/1.0.1") for one in found], name="d")
    assert corpus.digest != other.digest
    monkeypatch.delitem(sys.modules, "ragassay_fortune")


def read_again(document: Any, parser: str) -> Any:
    import msgspec

    return msgspec.structs.replace(document, parser=parser)


def test_a_chunker_of_another_package_is_named_and_sealed(tmp_path: Path, installed: Callable[[str], None]) -> None:
    installed("chunker-paragraphs")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("One.\n\nTwo.\n\nThree.\n")
    store = Store.open(tmp_path / "store", create=True)
    corpus, _ = build(store, read(tmp_path / "docs"), name="c")
    cut, _ = segment(store, corpus, load(store, corpus), chunker="paragraphs", name="c", paragraphs=2)
    assert (cut.chunker, cut.chunker_version) == ("paragraphs", "ragassay-chunker-paragraphs/1.0.0")
    assert (cut.parameters, cut.passages) == ({"paragraphs": 2}, 2)
    with pytest.raises(UsageError, match="no parameter 'size'"):
        segment(store, corpus, load(store, corpus), chunker="paragraphs", name="c", size=2)


def test_what_cannot_be_loaded_says_so(installed: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_extension(PARSERS, "none") is None
    installed("parser-fortune")
    (point,) = entry_points(group=PARSERS, name="fortune")
    monkeypatch.setattr(ragassay.extensions, "entry_points", lambda **_: [point, point])
    with pytest.raises(UsageError, match="is offered twice"):
        load_extension(PARSERS, "fortune")
    monkeypatch.setattr(
        ragassay.extensions, "entry_points", lambda **_: [type(point)("x", "no_such_module:f", CHUNKERS)]
    )
    with pytest.raises(UsageError, match="states no version"):
        load_extension(CHUNKERS, "x")


def halves(text: str, *, at: int = 2) -> list[tuple[int, int]]:
    return [(0, len(text) // at), (len(text) // at, len(text))]


def only_first(text: str) -> list[tuple[int, int]]:
    return [(0, 1)] if text.strip() and not text[0].isspace() and text[0].isprintable() else []


def whole(text: str) -> list[tuple[int, int]]:
    stripped = text.strip()
    start = text.find(stripped) if stripped else 0
    return [(start, start + len(stripped))] if stripped else []


@pytest.mark.parametrize(
    "chunker, message",
    [
        (halves, "returned (0, 0) for a text of 0"),
        (only_first, "no span of 'Some text.' holds 'ome text.'"),
        (lambda text: [(0, len(text) + 1)], "returned (0,"),
        (lambda text: 1 / 0, "ZeroDivisionError"),
        (lambda text: [], "no span of 'Some text.' holds"),
        (lambda text, size="a": [], "no whole number as default"),
        (lambda text: [*whole(text), *whole(text)], "a span twice"),
        (lambda text: [(0, len(text))] if text else [], "white space only"),
    ],
)
def test_the_chunker_check_finds(chunker: Callable[..., Iterable[tuple[int, int]]], message: str) -> None:
    with pytest.raises(ContractError) as caught:
        check_chunker(chunker, ["Some text."])
    assert message in caught.value.message
    assert caught.value.hint


def test_a_chunker_that_keeps_the_contract_and_one_that_leaves_text_out_on_purpose() -> None:
    check_chunker(whole, ["Some text."])
    check_chunker(only_first, ["Some text."], covers=False)
    with pytest.raises(ContractError, match="no text to cut"):
        check_chunker(whole, [" "])


def by_line(path: Path) -> Iterator[Any]:
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as cause:
        raise InputError(f"cannot be read: {cause}", file=str(path), hint="name a file") from cause
    for number, line in enumerate(text.split("\n"), 1):
        yield {"document_id": str(number), "text": line}


def broken_parser(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], Iterator[Any]]:
    return lambda path: (change(one) for one in by_line(path))


@pytest.mark.parametrize(
    "parser, message",
    [
        (broken_parser(lambda one: one | {"document_id": "same"}), "'same' of lines.txt is there twice"),
        (broken_parser(lambda one: one | {"parser": "me"}), "may not set 'parser'"),
        (broken_parser(lambda one: one | {"tenant": ["a"]}), "unknown field 'tenant'"),
        (broken_parser(lambda one: one["nothing"]), "KeyError"),
        (broken_parser(list), "yielded list"),
        (lambda path: [], "makes no document of lines.txt"),
        (lambda path: [{"document_id": "1", "text": path.read_text("utf-8")}], "FileNotFoundError"),
        (lambda path: list(by_line(path)) if path.exists() else [], "says nothing about a path where nothing is"),
    ],
)
def test_the_parser_check_finds(tmp_path: Path, parser: Callable[[Path], Iterable[Any]], message: str) -> None:
    example = tmp_path / "lines.txt"
    example.write_text("one\ntwo\n")
    with pytest.raises(ContractError) as caught:
        check_parser(parser, [example])
    assert message in caught.value.message
    assert caught.value.hint


def test_the_parser_check_damages_copies_and_never_the_example(tmp_path: Path) -> None:
    example = tmp_path / "lines.txt"
    example.write_text("one\ntwo\n")
    check_parser(by_line, [example])

    def strict(path: Path) -> Iterator[Any]:
        for one in by_line(path):
            if not one["text"].isascii():
                raise ValueError("not ASCII")
            yield one

    with pytest.raises(ContractError, match="ValueError for a changed copy"):
        check_parser(strict, [example])
    assert example.read_text() == "one\ntwo\n"


def test_an_evaluator_of_another_package_is_named_and_sealed(
    tmp_path: Path,
    installed: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ended(*words: str) -> int:
        with pytest.raises(SystemExit) as found:
            main(list(words))
        return int(found.value.code or 0)

    monkeypatch.chdir(tmp_path)
    assert ended("init", "p") == 0
    monkeypatch.chdir(tmp_path / "p")
    with Path("ragassay.toml").open("a", encoding="utf-8") as file:
        file.write('\n[judges.v]\nkind = "verbatim"\n')
    assert ended("run") == 0
    capsys.readouterr()
    assert ended("judge") == 2
    assert "verbatim" in capsys.readouterr().err
    installed("evaluator-verbatim")
    assert ended("judge") == 0
    store = Store.open(tmp_path / "p" / ".ragassay")
    (made,) = [store.get_record(JudgementSet, one.digest) for one in store.refs("judgements/v/")]
    identity = store.get_record(JudgeIdentity, made.judge)
    assert identity.settings["extension"] == "verbatim ragassay-evaluator-verbatim/1.0.0"
    labels = [one.label for one in store.get_lines(Judgement, made.judgements)]
    assert labels.count("supported") > 0, "the reference pipeline answers with sentences of its passages"
    monkeypatch.delitem(sys.modules, "ragassay_verbatim")
