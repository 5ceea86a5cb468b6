"""`ragassay probe`: a frozen suite of cross-tenant probes, planted, asked, judged, taken away again."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, probe_of, redaction_of
from ragassay.cli.workspace import Workspace, corpus_of, open_workspace
from ragassay.errors import ExitCode, UsageError
from ragassay.records.text import many

if TYPE_CHECKING:
    from ragassay.probe.settings import ProbeSettings
    from ragassay.records.base import Digest
    from ragassay.records.document import Document
    from ragassay.records.probe import Assessment
    from ragassay.run.probing.keeping import Frozen
    from ragassay.run.probing.sending import Sender


class _Ready(NamedTuple):
    workspace: Workspace
    settings: ProbeSettings
    documents: list[Document]
    frozen: Frozen


def plan(*, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """Freeze the suite that [probe] declares, and say what it would plant and ask. Asks nothing.

    The canaries are drawn under the key in the environment variable that [probe] names; the same key, settings and
    corpus give the same suite.

    Parameters
    ----------
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    import msgspec

    from ragassay.records.probe import Probe

    ready = _ready(config, store)
    suite = ready.frozen.suite
    probes = list(ready.workspace.store.get_lines(Probe, suite.probes))
    counts: dict[str, int] = {}
    for one in probes:
        counts[one.category] = counts.get(one.category, 0) + 1
    if json:
        talk.data_json({"suite": ready.frozen.digest, "categories": counts, **msgspec.to_builtins(suite)})
    else:
        requests = suite.request_count * suite.repeats
        talk.data(f"suite {suite.name} {ready.frozen.digest}")
        talk.data(f"  {many(suite.probe_count, 'probe')}, {many(requests, 'request')}, key {suite.key_id}")
        talk.data(
            f"  at most {ready.settings.per_second:g} a second: at least {requests / ready.settings.per_second:.0f} s"
        )
        for name, count in sorted(counts.items()):
            talk.data(f"  {name:14} {count:6,}")
        for name, url in sorted(suite.endpoints.items()):
            talk.data(talk.plain(f"  asks {name:8} {url}"))
    talk.then("ragassay probe run", config, store)


def run(
    *,
    resume: Annotated[bool, Parameter(negative="--no-resume")] = True,
    keep: bool = False,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> int:
    """Plant the suite, ask every probe, take away what was planted, and judge what came back.

    Only addresses in [probe] are asked, no faster and no more often than it says. A run that was stopped goes on where
    it was. Exit codes: 0 no leak; 1 a leak or an attack that worked; 3 not complete, or nothing of a category could be
    evaluated; 4 the system refused to be planted or does not answer.

    Parameters
    ----------
    resume
        --no-resume asks everything anew; the old journal is kept beside the new one.
    keep
        Leave the planted documents there; `ragassay probe remove` takes them away.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        The assessment as JSON on standard output.
    """
    from ragassay.run.probing.executing import planting, run_suite
    from ragassay.run.probing.keeping import judged_run, keep_assessment

    ready = _ready(config, store)
    sender = _sender(ready)
    opened = ready.workspace.store

    start, asked = time.monotonic(), 0

    def progress(done: int, total: int) -> None:
        nonlocal asked
        asked += 1
        if asked == 1 and done > 1:
            talk.say(f"goes on where it was: {done - 1:,} of {many(total, 'probe')} were asked before")
        if done == total:
            talk.say(f"{many(total, 'probe')} asked; what came back is being judged")
        elif done % 500 == 0:
            left_s = (time.monotonic() - start) / asked * (total - done)
            talk.say(f"{done:,} of {many(total, 'probe')} asked, about {left_s:,.0f} s left")

    try:
        ran = run_suite(
            opened, ready.frozen.suite, ready.frozen.digest, sender, resume=resume, keep=keep,
            progress=progress, judged=judged_run(opened, ready.frozen),
        )  # fmt: skip
    finally:
        sender.close()
    known = planting(opened, ready.frozen.digest)
    left = 0 if known is None or known.stage == "removed" else len(known.document_ids)
    assessment, digest = keep_assessment(opened, ready.frozen, ran, ready.documents, left=left)
    _show(ready.workspace, assessment, digest, as_json=json)
    talk.then("ragassay probe report", config, store)
    return int(_code(assessment))


def report(*, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> int:
    """Show the newest assessment: rates with their bounds, every leak with channel and path, what could not be seen.

    Where corpus, metadata, embedding, index or policy have changed since, it is stale and counts as missing. Exit codes
    as `ragassay probe run`; 3 where it is stale.

    Parameters
    ----------
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        The assessment with its findings as JSON on standard output.
    """
    from ragassay.probe.standing import changed_since, standing_of
    from ragassay.run.probing.keeping import stored_assessment

    workspace = open_workspace(config, store)
    settings = probe_of(workspace.settings, config)
    assessment, digest = stored_assessment(workspace.store, settings.name)
    corpus = corpus_of(workspace)
    now = standing_of(settings.standing, corpus.corpus.digest, corpus.documents, workspace.folder)
    stale = changed_since(assessment.standing, now)
    _show(workspace, assessment, digest, stale, as_json=json)
    talk.then("ragassay probe run" if stale else "ragassay probe planted", config, store)
    return int(_code(assessment, stale))


def planted(*, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """List every document that the suite plants, whose it is, and whether it may still stand in the system.

    Parameters
    ----------
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    from ragassay.run.probing.executing import listed
    from ragassay.run.probing.keeping import stored_suite

    workspace = open_workspace(config, store)
    frozen = stored_suite(workspace.store, probe_of(workspace.settings, config).name)
    found = listed(workspace.store, frozen.suite, frozen.digest)
    if json:
        talk.data_json(found)
    else:
        for one in found:
            talk.data(talk.plain(f"{one['document_id']}  {one['state']:14} {one['role']:10} {one['tenant']}"))
    standing = sum(one["state"] in ("planted", "may be planted") for one in found)
    talk.then("ragassay probe remove" if standing else "ragassay probe run", config, store)


def remove(*, config: Path = Path(FILE_NAME), store: Path | None = None) -> None:
    """Take away every planted document that may still stand in the system.

    Parameters
    ----------
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    """
    from ragassay.records.probe import PlantedDocument
    from ragassay.run.clock import SYSTEM_CLOCK
    from ragassay.run.probing import executing
    from ragassay.run.probing.keeping import stored_suite
    from ragassay.run.probing.sending import Sender

    workspace = open_workspace(config, store)
    settings = probe_of(workspace.settings, config)
    frozen = stored_suite(workspace.store, settings.name)
    sender = Sender(settings, redaction_of(workspace.settings))
    documents = list(workspace.store.get_lines(PlantedDocument, frozen.suite.documents))
    planted_ones = [one for one in documents if one.role != "decoy"]
    try:
        gone = executing.remove(workspace.store, frozen.digest, planted_ones, sender, SYSTEM_CLOCK)
    finally:
        sender.close()
    talk.data(f"{many(gone, 'document')} removed")
    talk.then("ragassay probe planted", config, store)


def _ready(config: Path, store: Path | None) -> _Ready:
    from ragassay.probe.standing import standing_of
    from ragassay.run.probing.keeping import freeze_suite

    workspace = open_workspace(config, store)
    settings = probe_of(workspace.settings, config)
    key = os.environ.get(settings.key, "")
    if not key:
        raise UsageError(
            f"the environment variable {settings.key} is not set", file=str(config), field="probe.key",
            hint=f"export {settings.key}=$(openssl rand -hex 32), and keep it: the canaries are drawn under it",
        )  # fmt: skip
    corpus = corpus_of(workspace)
    standing = standing_of(settings.standing, corpus.corpus.digest, corpus.documents, workspace.folder)
    frozen = freeze_suite(workspace.store, key.encode(), settings, corpus.documents, standing)
    return _Ready(workspace, settings, corpus.documents, frozen)


def _sender(ready: _Ready) -> Sender:
    from ragassay.run.probing.sending import Sender

    return Sender(ready.settings, redaction_of(ready.workspace.settings))


def _show(
    workspace: Workspace, assessment: Assessment, digest: Digest, stale: tuple[str, ...] = (), *, as_json: bool
) -> None:
    import msgspec

    from ragassay.records.probe import Finding, ProbeSuite
    from ragassay.report.advised import advised_of
    from ragassay.report.leaks import grouped
    from ragassay.report.probed import lines

    findings = list(workspace.store.get_lines(Finding, assessment.findings))
    suite = workspace.store.get_record(ProbeSuite, assessment.suite).name
    said = advised_of(workspace.store, suite, digest)
    if as_json:
        told = [msgspec.to_builtins(one) for one in findings]
        more = {"groups": msgspec.to_builtins(grouped(findings)), "stale": list(stale),
                "advised": msgspec.to_builtins(said)}  # fmt: skip
        talk.data_json({**msgspec.to_builtins(assessment), "findings": told, **more})
        return
    for line in lines(assessment, findings, stale, said):
        talk.data(talk.plain(line))


def _code(assessment: Assessment, stale: tuple[str, ...] = ()) -> ExitCode:
    if assessment.leaks or assessment.attacks:
        return ExitCode.FAIL
    every = assessment.rate("all", "all")
    if stale or not assessment.complete or every is None or every.bound is None:
        return ExitCode.INCONCLUSIVE
    if any(one.of == "category" and one.attempted and one.bound is None for one in assessment.rates):
        return ExitCode.INCONCLUSIVE  # of a whole category nothing could be evaluated
    return ExitCode.PASS
