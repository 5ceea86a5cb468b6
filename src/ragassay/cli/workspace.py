"""What every command that works on a project does first: read the settings, open the store, freeze what they name."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

import ragassay.benchmark
import ragassay.corpus
from ragassay.assay import Frozen, Plan, freeze_corpus, seal
from ragassay.benchmark import Built, CaseReading
from ragassay.cli import talk
from ragassay.cli.settings import Settings, ceiling_of, located, read_settings, redaction_of, ruling
from ragassay.cli.systems import make_system
from ragassay.corpus import Reading
from ragassay.errors import RagassayError, UsageError
from ragassay.records.base import DocumentId
from ragassay.records.document import Document
from ragassay.records.policy import Policy
from ragassay.records.text import instant
from ragassay.run import System
from ragassay.run.clock import SYSTEM_CLOCK
from ragassay.seal import Sealed
from ragassay.store import Store, superseding
from ragassay.store.unwritten import Unwritten

NOT_SAID = "not recorded"
"""Of labels that were edited, where the settings say nothing of who and why."""


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
    opened = Unwritten.over(path) if unwritten else Store.open(path, create=True, witness=state_folder())
    return Workspace(settings, folder, opened, config)


def open_store(config: Path, store: Path | None) -> Store:
    """The store alone, which must be there."""
    if store is None:
        store = config.parent / read_settings(config).store.path
    return Store.open(store, witness=state_folder())


def state_folder() -> Path | None:
    """Where this user's programs keep state: the witness of a store's ledger is there. None without a home."""
    said = os.environ.get("XDG_STATE_HOME", "")
    try:
        return (Path(said) if said else Path.home() / ".local" / "state") / "ragassay"
    except RuntimeError:
        return None


def corpus_of(workspace: Workspace) -> Frozen:
    """The settings' documents, frozen and cut."""
    wanted, cut = workspace.settings.corpus, workspace.settings.segmentation
    if wanted.documents is None:
        documents: list[Document] = _texts_of_cases(workspace)
    else:
        documents = read_documents(workspace)
    return freeze_corpus(
        workspace.store, documents, name=wanted.name, chunker=cut.chunker, provenance=wanted.provenance, **cut.told()
    )


def read_documents(workspace: Workspace) -> Reading:
    """The documents that [corpus] names."""
    wanted = workspace.settings.corpus
    try:
        return ragassay.corpus.read(
            workspace.folder / (wanted.documents or ""),
            format=wanted.format,
            default_tenants=wanted.default_tenants,
            on_error=wanted.on_error,
            columns=wanted.columns,
            encoding=wanted.encoding or "utf-8",
            delimiter=wanted.delimiter,
        )
    except UsageError as error:
        error.field = f"corpus.{error.field}" if error.field else "corpus"
        raise located(error, workspace.config) from None


def _texts_of_cases(workspace: Workspace) -> Reading:
    """The documents that the questions' own file holds, where no others are named."""
    found = cases_of(workspace)
    wanted = workspace.settings.benchmark.format
    if not found.documents and (wanted is None or not ragassay.benchmark.FORMATS[wanted].gold):
        raise UsageError(
            "no documents are named, and the questions' file holds none",
            field="corpus.documents",
            hint='[corpus] documents = "..."',
        )
    tenants = workspace.settings.corpus.default_tenants
    # A data set without gold texts leaves nothing to look for; a corpus of one empty document says just that.
    texts = found.documents or [
        Document(document_id=DocumentId("none"), version="1", text="", parser="none/1", normaliser="none/1")
    ]
    return Reading([msgspec.structs.replace(one, tenants=tenants) for one in texts], default_tenants=tenants)


def cases_of(workspace: Workspace, documents: list[Document] | None = None) -> CaseReading:
    """The settings' questions; their gold texts are places in `documents`, if these are given."""
    wanted, folder = workspace.settings.benchmark, workspace.folder
    named = wanted.cases or wanted.topics
    if named is None:
        raise UsageError("no questions are named", field="benchmark", hint="set cases, or topics and qrels")
    form = wanted.format or ("ragassay" if wanted.cases is not None else "trec")
    try:
        return ragassay.benchmark.read_benchmark(
            folder / named,
            format=form,
            corpus=documents,
            on_error=wanted.on_error,
            qrels=folder / wanted.qrels if wanted.qrels is not None else None,
            join=wanted.join if form == "trec" else None,
            split=wanted.split,
            text=wanted.text,
            columns=wanted.columns,
            separator=wanted.separator,
            delimiter=wanted.delimiter,
            encoding=wanted.encoding,
            slices=wanted.slices,
        )
    except UsageError as error:
        error.field = f"benchmark.{error.field}" if error.field else "benchmark"
        raise located(error, workspace.config) from None


def benchmark_of(workspace: Workspace, frozen: Frozen) -> Built:
    """The settings' benchmark on a frozen corpus."""
    wanted, store = workspace.settings.benchmark, workspace.store
    name = f"benchmark/{wanted.name}"
    before = store.ref(name) if name in store.ref_names("benchmark/") else None
    built = ragassay.benchmark.build(
        store,
        cases_of(workspace, frozen.documents if workspace.settings.corpus.documents is not None else None),
        frozen.corpus,
        frozen.documents,
        name=wanted.name,
        version=wanted.version,
        completeness=wanted.completeness,
        provenance=wanted.provenance,
        as_of=instant(workspace.settings.run.as_of),
    )
    if before is not None and before != built.digest:
        by, why = wanted.edited_by or NOT_SAID, wanted.edited_why or NOT_SAID
        superseding.supersede(store, "benchmark", before, built.digest, by=by, reason=why, at=SYSTEM_CLOCK.now())
    return built


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
        alignment=run.alignment,
        concurrency=run.concurrency,
        max_error_rate=run.max_error_rate,
        measures=scoring.measures,
        hold=scoring.hold,
        normalisation=scoring.normalisation,
        level=scoring.level,
        abstention_rules=scoring.abstention_rules,
        judges=ruling(settings) if scoring.judges is None else scoring.judges,
        judge_thresholds=scoring.judge_thresholds,
        redaction=redaction_of(settings),
        ceiling=ceiling_of(settings),
    )


def policy_of(workspace: Workspace) -> Policy:
    """The settings' policy, from its own file if [policy] names one; without any it has no rules."""
    from ragassay.gate import policy_file

    table = workspace.settings.policy
    if not table:
        return Policy(name="none")
    if "file" in table:
        return policy_file.read_policy(workspace.folder / str(table["file"]))
    return policy_file.policy_of(table)


def get_ready(workspace: Workspace, name: str | None = None) -> Ready:
    """Freeze corpus, benchmark and protocol; the same input gives the same digests, so this may be done again."""
    frozen = corpus_of(workspace)
    built = benchmark_of(workspace, frozen)
    _say_left_out(frozen, built)
    plan = replace(plan_of(workspace.settings, name), policy=policy_of(workspace))
    try:
        described = {key: value for key, value in workspace.settings.system.items() if key != "prices"}
        as_of = instant(workspace.settings.run.as_of)
        system = make_system(
            described, workspace.folder, frozen, as_of, alignment=plan.alignment, store=workspace.store.path
        )
    except RagassayError as error:
        raise located(error, workspace.config) from None
    sealed = seal(workspace.store, plan, frozen, built, system.identity)
    return Ready(frozen, built, system, sealed, plan)


def _say_left_out(frozen: Frozen, built: Built) -> None:
    """What `on_error = skip` left out, so that no command that freezes on its way is silent about it."""
    if frozen.corpus.skipped_lines:
        talk.say(
            f"documents: {frozen.corpus.skipped_lines} left out (on_error = skip); `ragassay corpus add` lists them"
        )
    for note in built.report.notes:
        if "(on_error = skip)" in note:
            talk.say(f"questions: {note}")
