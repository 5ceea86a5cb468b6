"""`ragassay run`: ask every question, durably; the same command goes on after an interruption."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ragassay.assay import perform
from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, located
from ragassay.cli.workspace import Ready, Workspace, get_ready, open_workspace
from ragassay.errors import RagassayError
from ragassay.records.protocol import Run


def run(
    *,
    name: str | None = None,
    resume: Annotated[bool, Parameter(negative="--no-resume")] = True,
    dry_run: bool = False,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Freeze what the settings name, then ask the system every question and keep everything that it did.

    Killed or interrupted, the same command goes on where it stopped and asks nothing twice that was kept. Exit code 4:
    more questions failed than max_error_rate allows; the run is kept as a partial one, and goes on under a higher rate
    (or begins anew with --no-resume). Exit code 3: a ceiling (max_cost, max_tokens, max_calls) is
    reached; the run is kept as a partial one, and goes on under a higher ceiling.

    Parameters
    ----------
    name
        Name of the run instead of the one in the settings.
    resume
        --no-resume sets the journal of an earlier run aside and asks everything anew.
    dry_run
        Ask nothing, open no connection, write nothing; say what would be asked, where, and what it may take at most.
        A Python callable's module is imported.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    if dry_run:
        return _say_plan(open_workspace(config, store, unwritten=True), name, resume, config, store, as_json=json)
    workspace = open_workspace(config, store)
    digest, record = run_workspace(workspace, name, resume=resume)
    if json:
        import msgspec

        talk.data_json({"run": digest, **msgspec.to_builtins(record)})
    else:
        talk.data(f"run {digest}")
        talk.data(
            f"  {record.answered} of {record.questions} asked, {record.failures} failed, content {record.content}"
        )
        if record.mixed:
            talk.data(f"  mixed: more than one reported version of {', '.join(record.mixed)}")
    newest = workspace.store.resolve("latest", kind_prefix="run") == digest
    talk.then("ragassay score" if newest else f"ragassay score {name or workspace.settings.run.name}", config, store)


def _say_plan(
    workspace: Workspace, name: str | None, resume: bool, config: Path, store: Path | None, *, as_json: bool
) -> None:
    import msgspec

    from ragassay.run.ceiling import Ceiling
    from ragassay.run.executing import job_digest
    from ragassay.run.planning import describe, plan_run

    with redirect_stdout(sys.stderr):
        ready = get_ready(workspace, name)
    plan = ready.plan
    planned = plan_run(
        ready.sealed.subject,
        ready.sealed.digest,
        ready.system,
        questions=ready.built.benchmark.cases,
        journal=workspace.store.journal_path(job_digest(ready.sealed.protocol.subject, plan.name)) if resume else None,
        concurrency=plan.concurrency,
        ceiling=plan.ceiling or Ceiling(),
    )
    talk.data_json(msgspec.to_builtins(planned)) if as_json else talk.data("\n".join(describe(planned)))
    talk.then("ragassay run", config, store)


def run_workspace(workspace: Workspace, name: str | None, *, resume: bool = True) -> tuple[str, Run]:
    """The digest and record of the settings' run."""
    import anyio

    from ragassay.run.progress import Noticing, Silent, choose

    progress = Noticing(Silent() if talk.quiet else choose())

    async def go(ready: Ready) -> tuple[Run, str]:
        return await perform(workspace.store, ready.plan, ready.sealed, ready.system, progress=progress, resume=resume)

    with redirect_stdout(sys.stderr):  # what a system under test prints is talk; standard output is data
        ready = get_ready(workspace, name)
        try:
            record, digest = anyio.run(go, ready)
        except RagassayError as error:
            raise located(error, workspace.config) from None
    if not progress.begun:
        talk.say("this run was finished and sealed before; nothing was asked. --no-resume asks everything anew")
    return digest, record
