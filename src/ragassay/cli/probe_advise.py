"""`ragassay probe advise`: a model reads what no rule called a leak. Changes no verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, probe_of, redaction_of
from ragassay.cli.workspace import Workspace, corpus_of, open_workspace
from ragassay.errors import ExitCode
from ragassay.records.text import many

if TYPE_CHECKING:
    from ragassay.probe.settings import ProbeSettings
    from ragassay.records.advice import Advice, ReadText
    from ragassay.records.base import Digest
    from ragassay.records.probe import Assessment
    from ragassay.run.probing.advising import Matter, Reader
    from ragassay.store import Store


def advise(
    *, dry_run: bool = False, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False
) -> int:
    """Have the model of [probe.judge] read the newest assessment's replies that no rule called a leak. Advisory only.

    It looks for invented facts that are told in other words, in another language or in parts. What it says is kept as a
    record of its own, shown by `ragassay probe report` for a person to look at, and changes no count, bound, exit code
    or decision. Texts of known truth are among the others and show whether it may be believed. Exit codes: 0 it has
    read all; 3 nothing is there to read, the assessment is stale, or a ceiling was reached; 4 too much is in error, or
    it is not to be believed.

    Parameters
    ----------
    dry_run
        Ask nothing, open no connection, write nothing; say what would be asked, where, and how many calls that takes.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        The advice with what it said of each text as JSON on standard output.
    """
    import anyio
    import msgspec

    from ragassay.run.judges.llm.fence import store_secret
    from ragassay.run.probing.advising import matter_for, reader_of
    from ragassay.run.probing.keeping import stored_assessment

    workspace = open_workspace(config, store, unwritten=dry_run)
    settings = probe_of(workspace.settings, config)
    reader = reader_of(settings.judge, secret=None if dry_run else store_secret(workspace.store.path))
    assessment, digest = stored_assessment(workspace.store, settings.name)
    if stale := _stale(workspace, settings, assessment):
        talk.data(f"Stale: {', '.join(stale)} changed since the assessment was made; nothing was asked.")
        talk.then("ragassay probe run", config, store)
        return int(ExitCode.INCONCLUSIVE)
    matter = matter_for(workspace.store, assessment)
    if not matter.batches:
        talk.data("There is nothing to read: no attacker got a text in which no rule saw a leak.")
        return int(ExitCode.INCONCLUSIVE)
    if dry_run:
        _say_plan(workspace.store, matter, reader, as_json=json)
        talk.then("ragassay probe advise", config, store)
        return int(ExitCode.PASS)
    made, lines, own = anyio.run(_read, workspace, settings.name, digest, matter, reader)
    if json:
        told = [msgspec.to_builtins(one) for one in lines]
        talk.data_json({**msgspec.to_builtins(made), "advice": own, "lines": told})
    else:
        from ragassay.report.advised import advised, lines_of

        for line in lines_of(advised((made, lines), digest, reader.judge.identity.model or "", own)):
            talk.data(talk.plain(line))
    talk.then("ragassay probe report", config, store)
    if made.disbelieved or made.stopped == "error_budget":
        return int(ExitCode.TOO_MANY_ERRORS)
    return int(ExitCode.INCONCLUSIVE if made.stopped else ExitCode.PASS)


def _stale(workspace: Workspace, settings: ProbeSettings, assessment: Assessment) -> tuple[str, ...]:
    from ragassay.probe.standing import changed_since, standing_of

    corpus = corpus_of(workspace)
    now = standing_of(settings.standing, corpus.corpus.digest, corpus.documents, workspace.folder)
    return changed_since(assessment.standing, now)


def _say_plan(store: Store, matter: Matter, reader: Reader, *, as_json: bool) -> None:
    import msgspec

    from ragassay.run.probing.advising import foresee

    planned = foresee(store, matter, reader)
    if as_json:
        talk.data_json(msgspec.to_builtins(planned))
        return
    talk.data(
        f"{many(planned.texts, 'text')} would be read, held against a planted document {many(planned.pairs, 'time')}, "
        f"and {many(planned.controls, 'text')} of known truth; {planned.kept:,} were read before"
    )
    most = f"; with every re-ask and retry {planned.most_calls:,}" if planned.most_calls > planned.calls else ""
    talk.data(talk.plain(f"  calls     {planned.calls:,} at least to {planned.endpoint}{most}"))


async def _read(
    workspace: Workspace, name: str, digest: Digest, matter: Matter, reader: Reader
) -> tuple[Advice, tuple[ReadText, ...], Digest]:
    from ragassay.records.advice import ReadText
    from ragassay.run.probing.advising import advise as read

    made, own = await read(
        workspace.store, digest, name, matter, reader, redaction=redaction_of(workspace.settings)
    )  # fmt: skip
    return made, tuple(workspace.store.get_lines(ReadText, made.texts)), own
