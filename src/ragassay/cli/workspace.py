"""What every command that works on a project does first: read the settings, open the store, freeze what they name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import ragassay.benchmark
import ragassay.corpus
from ragassay.assay import Frozen, Plan, freeze_corpus, seal
from ragassay.benchmark import Built
from ragassay.cli.settings import Settings, ceiling_of, located, read_settings
from ragassay.cli.systems import make_system
from ragassay.errors import RagassayError, UsageError
from ragassay.records.case import CaseLine
from ragassay.records.text import instant
from ragassay.redact import Redaction
from ragassay.run import System
from ragassay.seal import Sealed
from ragassay.store import Store
from ragassay.store.unwritten import Unwritten


class Workspace(NamedTuple):
    """A settings file, the folder that its paths are relative to, and the store."""

    settings: Settings
    folder: Path
    store: Store
    config: Path | None = None
    """The settings file, for complaints."""


class Ready(NamedTuple):
    """Everything that is needed to ask the first question."""

    frozen: Frozen
    built: Built
    system: System
    sealed: Sealed
    plan: Plan


def open_workspace(config: Path, store: Path | None = None, *, unwritten: bool = False) -> Workspace:
    """Settings and store; the store is made if it is not there. With `unwritten`, nothing is made or changed."""
    settings = read_settings(config)
    folder = config.parent
    path = store or folder / settings.store.path
    return Workspace(settings, folder, Unwritten.over(path) if unwritten else Store.open(path, create=True), config)


def open_store(config: Path, store: Path | None) -> Store:
    """The store alone, which must be there."""
    if store is None:
        store = config.parent / read_settings(config).store.path
    return Store.open(store)


def corpus_of(workspace: Workspace) -> Frozen:
    """The settings' documents, frozen and cut."""
    wanted, cut = workspace.settings.corpus, workspace.settings.segmentation
    documents = ragassay.corpus.read(workspace.folder / wanted.documents, default_tenants=wanted.default_tenants)
    return freeze_corpus(
        workspace.store, documents, name=wanted.name, chunker=cut.chunker, size=cut.size, overlap=cut.overlap
    )


def cases_of(workspace: Workspace) -> list[CaseLine]:
    """The settings' questions."""
    wanted = workspace.settings.benchmark
    if wanted.cases is not None:
        return ragassay.benchmark.read_cases(workspace.folder / wanted.cases)
    if wanted.topics is None or wanted.qrels is None:
        raise UsageError("no questions are named", field="benchmark", hint="set cases, or topics and qrels")
    return ragassay.benchmark.read_trec(
        workspace.folder / wanted.topics, workspace.folder / wanted.qrels, join=wanted.join
    )


def benchmark_of(workspace: Workspace, frozen: Frozen) -> Built:
    """The settings' benchmark on a frozen corpus."""
    wanted = workspace.settings.benchmark
    return ragassay.benchmark.build(
        workspace.store,
        cases_of(workspace),
        frozen.corpus,
        frozen.documents,
        name=wanted.name,
        version=wanted.version,
        completeness=wanted.completeness,
        as_of=instant(workspace.settings.run.as_of),
    )


def plan_of(settings: Settings, name: str | None = None) -> Plan:
    """The settings' run, scoring and redaction as one plan."""
    run, scoring = settings.run, settings.scoring
    return Plan(
        as_of=run.as_of,
        name=name or run.name,
        seed=run.seed,
        repeats=run.repeats,
        top_k=run.top_k,
        history=run.history,
        timeout_s=run.timeout_s,
        concurrency=run.concurrency,
        max_error_rate=run.max_error_rate,
        measures=scoring.measures,
        hold=scoring.hold,
        normalisation=scoring.normalisation,
        level=scoring.level,
        abstention_rules=scoring.abstention_rules,
        redaction=Redaction(headers=settings.redact.headers, patterns=settings.redact.patterns),
        ceiling=ceiling_of(settings),
    )


def get_ready(workspace: Workspace, name: str | None = None) -> Ready:
    """Freeze corpus, benchmark and protocol; the same input gives the same digests, so this may be done again."""
    frozen = corpus_of(workspace)
    built = benchmark_of(workspace, frozen)
    plan = plan_of(workspace.settings, name)
    try:
        described = {key: value for key, value in workspace.settings.system.items() if key != "prices"}
        system = make_system(described, workspace.folder, frozen)
    except RagassayError as error:
        raise located(error, workspace.config) from None
    sealed = seal(workspace.store, plan, frozen, built, system.identity)
    return Ready(frozen, built, system, sealed, plan)
