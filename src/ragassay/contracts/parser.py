"""The contract of a parser (entry point group `ragassay.parsers`), for its author to run. Installs nothing."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ragassay.contracts.faults import broken, name_of
from ragassay.corpus.foreign import document_of
from ragassay.errors import InputError, RagassayError
from ragassay.records.document import Document

_KIND = "parser"
_DAMAGED = 60
_LARGEST = 256 * 1024


def check_parser(parser: Callable[[Path], Iterable[Any]], examples: Iterable[str | Path], *, seed: int = 0) -> None:
    """Call a parser as `ragassay corpus add` would, on your files (or folders), and on damaged copies of them.

    A parser is a callable of one path that yields mappings with the fields of a document, and an `InputError` for each
    thing that it cannot read. Promises: every example gives documents, of which each is valid and no (document_id,
    version) is there twice; the same source gives the same documents; a path where nothing is, an empty file, cut and
    changed copies give documents or InputErrors and never any other exception; the source is not changed.

    Raises ContractError for the first promise that is broken.
    """
    name = name_of(parser)
    given = [Path(one) for one in examples]
    if not given:
        broken(_KIND, name, "was given nothing to read", "give examples: files as users have them")
    for example in given:
        if not example.exists():
            broken(_KIND, name, f"the example {example} is not there", "give the path of a file or folder")
        before = _bytes(example)
        first = _documents(name, parser, example)
        if not first:
            broken(_KIND, name, f"makes no document of {example.name}", "examples are files that it can read")
        if first != _documents(name, parser, example):
            broken(_KIND, name, f"reads {example.name} differently the second time", "let nothing but the file decide")
        if _bytes(example) != before:
            broken(_KIND, name, f"changed {example.name}", "a parser only reads")
        _check_ids(name, first, example)
    with tempfile.TemporaryDirectory(prefix="contract-") as folder:
        _survive(name, parser, Path(folder) / "nothing-here", "a path where nothing is", errors=True)
        for example in given:
            for number, (copy, what) in enumerate(_damaged(example, Path(folder), seed)):
                _survive(name, parser, copy, f"{what} of {example.name} (seed {seed}, copy {number})")


def _documents(name: str, parser: Callable[[Path], Iterable[Any]], source: Path) -> list[Document]:
    made = []
    try:
        for one in parser(source):
            if isinstance(one, InputError):
                raise one
            made.append(document_of(one, None, "contract 0")[0])
    except RagassayError as error:
        broken(_KIND, name, f"{source.name}, document {len(made) + 1}: {error.message}", error.hint)
    except Exception as error:  # noqa: BLE001  whatever it raises is a fault of it
        broken(_KIND, name, f"raised {type(error).__name__} for {source.name}: {error}", "raise or yield an InputError")
    return made


def _check_ids(name: str, documents: list[Document], source: Path) -> None:
    seen: set[tuple[str, str]] = set()
    for one in documents:
        key = (one.document_id, one.version)
        if key in seen:
            broken(_KIND, name, f"document {key[0]!r} of {source.name} is there twice", "make ids unique")
        seen.add(key)


def _survive(
    name: str, parser: Callable[[Path], Iterable[Any]], source: Path, what: str, *, errors: bool = False
) -> None:
    """The source is read or refused: nothing but InputError, and every error with a message and a hint."""
    refused = False
    try:
        for one in parser(source):
            if isinstance(one, InputError):
                refused = True
                _check_error(name, one, what)
            else:
                document_of(one, None, "contract 0")
    except InputError as error:
        refused = True
        _check_error(name, error, what)
    except Exception as error:  # noqa: BLE001  whatever it raises is a fault of it
        broken(
            _KIND, name, f"raised {type(error).__name__} for {what}: {error}",
            "raise ragassay.errors.InputError with file, line and hint, or yield it and go on",
        )  # fmt: skip
    if errors and not refused:
        broken(_KIND, name, f"says nothing about {what}", "raise an InputError: an empty answer would go unseen")


def _check_error(name: str, error: InputError, what: str) -> None:
    if not error.message or not error.hint:
        broken(_KIND, name, f"an error without message or hint for {what}", "say what was expected and what to do next")


def _damaged(example: Path, folder: Path, seed: int) -> Iterator[tuple[Path, str]]:
    """Copies of an example: empty, cut at every eighth, changed in places."""
    files = sorted(one for one in example.rglob("*") if one.is_file()) if example.is_dir() else [example]
    chance = random.Random(seed)  # noqa: S311  no secret: it makes damage
    for number in range(_DAMAGED):
        file = chance.choice(files)
        data = bytearray(file.read_bytes()[:_LARGEST])
        what = "an empty copy" if number == 0 else "a cut copy" if number < 9 else "a changed copy"
        if number < 9:
            del data[len(data) * number // 9 :]
        else:
            for _ in range(chance.choice((1, 4, 16))):
                at = chance.randrange(len(data) + 1)
                data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(4))
        copy = folder / f"{number}" / example.name
        shutil.rmtree(copy.parent, ignore_errors=True)
        copy.parent.mkdir()
        if example.is_dir():
            shutil.copytree(example, copy)
            (copy / file.relative_to(example)).write_bytes(data)
        else:
            copy.write_bytes(data)
        yield copy, what


def _bytes(source: Path) -> dict[str, bytes]:
    files = source.rglob("*") if source.is_dir() else [source]
    return {str(one): one.read_bytes() for one in files if one.is_file()}
