"""`ragassay benchmark check`: whether a benchmark is fit to measure with. Finds nothing by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import ragassay.benchmark
import ragassay.corpus
from ragassay.benchmark import CaseReading
from ragassay.benchmark.check import Check, Split, lines, with_derived
from ragassay.benchmark.check import check as check_benchmark
from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, read_settings
from ragassay.cli.workspace import Workspace, benchmark_of, cases_of, corpus_of, open_store, open_workspace
from ragassay.errors import ExitCode, StoreError, UsageError
from ragassay.records.base import Instant
from ragassay.records.canonical import canonical_bytes
from ragassay.records.case import Benchmark, Case
from ragassay.records.document import Corpus, Document, Passage, Segmentation
from ragassay.records.text import instant, many
from ragassay.store import Store
from ragassay.store.unwritten import Unwritten


class Material(NamedTuple):
    """What is checked."""

    store: Store
    benchmark: Benchmark
    cases: list[Case]
    corpus: Corpus
    documents: list[Document]
    segmentation: Segmentation | None
    passages: list[Passage]


def check(
    name: str = "",
    *,
    against: str = "",
    segmentation: str = "",
    strict: bool = False,
    write_cases: Path | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> int:
    """Say what is wrong, weak or missing in questions and labels: counts, names, why it matters, what to do.

    Parameters
    ----------
    name
        A benchmark of the store: a name, a digest or its beginning. Without it, what the settings name is frozen first.
    against
        Another benchmark, such as dev against release: questions in both are found. A name or digest of the store, or
        else a file of questions, in the format that the settings name; `./dev` is always a file.
    segmentation
        A segmentation of the store, if the corpus was cut in several ways.
    strict
        Exit code 1 if anything was found that makes numbers wrong; otherwise the exit code is 0 whatever was found.
    write_cases
        Write the cases with the slices that were derived for them (`derived:…`) to this file, for a further version.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Everything as JSON on standard output, with all names.
    """
    given = _stored(open_store(config, store), name, segmentation) if name else _named(config, store, segmentation)
    found = check_benchmark(
        given.benchmark,
        given.cases,
        given.documents,
        segmentation=given.segmentation,
        passages=given.passages,
        against=_other(given, against, config) if against else None,
    )
    if write_cases is not None:
        _write(write_cases, with_derived(given.cases, found))
    if json:
        talk.data_json(_plain(found))
    else:
        for line in lines(found):
            talk.data(talk.plain(line))
    counts = ", ".join(f"{sum(one.level == level for one in found.findings)} {level}" for level in ("wrong", "weak"))
    talk.say(f"{counts}; wrong: a number is not what it says, weak: it says less or flatters")
    talk.then("ragassay benchmark build" if found.wrong else "ragassay seal", config, store)
    return int(ExitCode.FAIL if strict and found.wrong else ExitCode.PASS)


def _other(given: Material, against: str, config: Path) -> Split:
    """A benchmark of the store, or a file of questions; of a file nothing is stored."""
    path = Path(against)
    if path.exists() and (path.name != against or not _is_stored(given.store, against)):
        return _from_file(given, path, config)
    try:
        digest = given.store.resolve(against, kind_prefix="benchmark")
    except StoreError as error:
        error.hint = f"{error.hint}; a file of questions may be named too, and none is called so"
        raise
    record = given.store.get_record(Benchmark, digest)
    return Split(record, ragassay.benchmark.load(given.store, record))


def _is_stored(store: Store, name: str) -> bool:
    try:
        store.resolve(name, kind_prefix="benchmark")
    except StoreError:
        return False
    return True


def _from_file(given: Material, path: Path, config: Path) -> Split:
    """The questions of a file, labels resolved against the corpus of the benchmark that is checked."""
    reading, as_of = _read_like(config, path, given)
    unwritten = Unwritten.over(given.store.path)
    built = ragassay.benchmark.build(
        unwritten, reading, given.corpus, given.documents, name=path.name, version="1", as_of=as_of
    )
    return Split(built.benchmark, ragassay.benchmark.load(unwritten, built.benchmark))


def _read_like(config: Path, path: Path, given: Material) -> tuple[CaseReading, Instant | None]:
    """A file of questions as the settings read theirs (native where these are not one file, or there are none)."""
    if not config.exists():
        return ragassay.benchmark.read_benchmark(path), None
    settings = read_settings(config)
    wanted = settings.benchmark
    as_of = instant(settings.run.as_of)
    if wanted.qrels is not None:
        return ragassay.benchmark.read_benchmark(path, on_error=wanted.on_error), as_of
    like = msgspec.structs.replace(wanted, cases=str(path.absolute()))
    workspace = Workspace(msgspec.structs.replace(settings, benchmark=like), config.parent, given.store, config)
    return cases_of(workspace, given.documents), as_of


def _named(config: Path, store: Path | None, segmentation: str) -> Material:
    """What the settings name, frozen as `benchmark build` does."""
    workspace = open_workspace(config, store)
    frozen = corpus_of(workspace)
    built = benchmark_of(workspace, frozen)
    cases = ragassay.benchmark.load(workspace.store, built.benchmark)
    if segmentation:
        cut, passages = _cut(workspace.store, frozen.corpus.digest, segmentation)
        return Material(workspace.store, built.benchmark, cases, frozen.corpus, frozen.documents, cut, passages)
    return Material(
        workspace.store, built.benchmark, cases, frozen.corpus, frozen.documents, frozen.segmentation,
        list(frozen.passages),
    )  # fmt: skip


def _stored(store: Store, name: str, segmentation: str) -> Material:
    """A benchmark of the store with its corpus and segmentation."""
    benchmark = store.get_record(Benchmark, store.resolve(name, kind_prefix="benchmark"))
    corpora = [store.get_record(Corpus, ref.digest) for ref in store.refs("corpus/")]
    corpus = next((one for one in corpora if one.digest == benchmark.corpus), None)
    if corpus is None:
        raise StoreError(
            f"no name of this store stands for the corpus of benchmark {benchmark.name!r}, {benchmark.corpus}",
            hint="the corpus was frozen anew since: build the benchmark again, or add the corpus as it was",
        )
    cut, passages = _cut(store, corpus.digest, segmentation)
    documents = ragassay.corpus.load(store, corpus)
    return Material(store, benchmark, ragassay.benchmark.load(store, benchmark), corpus, documents, cut, passages)


def _cut(store: Store, corpus: str, name: str) -> tuple[Segmentation | None, list[Passage]]:
    """The segmentation of that name, else the only one of the corpus."""
    if name:
        chosen = store.get_record(Segmentation, store.resolve(name, kind_prefix="segmentation"))
    else:
        known = {ref.name: store.get_record(Segmentation, ref.digest) for ref in store.refs("segmentation/")}
        fitting = {ref: one for ref, one in known.items() if one.corpus == corpus}
        if len(fitting) != 1:
            if fitting:
                talk.say(f"the corpus is cut in several ways: --segmentation {' or '.join(sorted(fitting))}")
            return None, []
        chosen = next(iter(fitting.values()))
    return chosen, ragassay.corpus.load_passages(store, chosen)


def _write(path: Path, cases: list[Case]) -> None:
    """Cases as JSON lines in a file that must not be there yet."""
    try:
        with path.open("xb") as file:
            file.writelines(canonical_bytes(case) + b"\n" for case in cases)
    except FileExistsError:
        raise UsageError(
            "the file is there already", file=str(path), hint="name another one for --write-cases"
        ) from None
    except (OSError, ValueError) as cause:
        raise UsageError(f"cannot be written: {cause}", file=str(path), hint="check the path") from None
    talk.say(f"{many(len(cases), 'case')} written to {path}")


def _plain(found: Check) -> dict[str, Any]:
    """A check as JSON values; lists are there also where they are empty."""
    return {"wrong": len(found.wrong), **msgspec.to_builtins(found)}
