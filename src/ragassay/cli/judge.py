"""`ragassay judge`: the answers of a run to the judges that the settings declare. Scores nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, judges_of, located, redaction_of
from ragassay.cli.workspace import Workspace, open_workspace
from ragassay.errors import ExitCode, RagassayError, UsageError
from ragassay.records.base import Digest
from ragassay.records.judgement import JudgementSet
from ragassay.records.protocol import Protocol, Run, Scoring
from ragassay.records.text import many
from ragassay.run.judges.settings import JudgeSettings
from ragassay.store import Store


def run(
    run: str = "latest",
    *,
    judge: tuple[str, ...] = (),
    limit: int | None = None,
    resume: Annotated[bool, Parameter(negative="--no-resume")] = True,
    dry_run: bool = False,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> int:
    """Put claims, citations, facts and answers of a run to each judge of the settings, and keep every verdict.

    What was judged before is never asked again: the same command goes on after an interruption, and a judge that rules
    on the same texts in another run sends nothing. Exit code 4: more batches than max_error_rate allows have an item in
    error, or a judge failed its controls and is disqualified; exit code 3: a ceiling of the judge is reached. What was
    judged is kept as a partial set either way.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    judge
        Only the judge of this name; may be given several times.
    limit
        Stop after the first so many answers; without it the same command goes on from there.
    resume
        --no-resume sets the journal aside: what is in error is asked again, what has verdicts is not.
    dry_run
        Ask nothing, open no connection, write nothing; say what would be asked, where, and how many calls that takes.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    from ragassay.run.judges.executing import check_limit

    check_limit(limit)
    workspace = open_workspace(config, store, unwritten=dry_run)
    wanted = _wanted(workspace, judge)
    run_digest = workspace.store.resolve(run, kind_prefix="run")
    if dry_run:
        _say_plans(workspace, run_digest, wanted, limit, as_json=json)
        talk.then("ragassay judge", config, store)
        return int(ExitCode.PASS)
    made: dict[str, tuple[JudgementSet, Digest]] = {}
    for name, settings in wanted.items():
        made[name] = judge_run(workspace, run_digest, name, settings, limit=limit, resume=resume)
        if not json:
            talk.data("\n".join(told(*made[name])))
    if json:
        import msgspec

        talk.data_json({name: {"judgements": at, **msgspec.to_builtins(one)} for name, (one, at) in made.items()})
    ruling = [name for name in made if wanted[name].kind != "decompose"]
    talk.then(" ".join(("ragassay score", *_unsealed(workspace.store, run_digest, ruling))), config, store)
    out = any(one.state == "disqualified" for one, _ in made.values())
    return int(ExitCode.TOO_MANY_ERRORS if out else ExitCode.PASS)


def _unsealed(store: Store, run_digest: Digest, names: Iterable[str]) -> list[str]:
    """What `ragassay score` needs to be told where judges were declared after the run was sealed; else nothing."""
    protocol = store.get_record(Protocol, store.get_record(Run, run_digest).protocol)
    sealed = store.get_record(Scoring, protocol.scoring).judges
    read = dict.fromkeys((*sealed, *names))
    return [] if set(names) <= set(sealed) else [f"--judge {one}" for one in read]


def judge_run(
    workspace: Workspace,
    run_digest: Digest,
    name: str,
    settings: JudgeSettings,
    *,
    limit: int | None = None,
    resume: bool = True,
) -> tuple[JudgementSet, Digest]:
    """The set of one judge on one run; the CLI's progress on standard error."""
    if settings.kind == "panel":
        from ragassay.run.judges.panel import panel

        return panel(workspace.store, run_digest, name, settings.own)
    import anyio

    from ragassay.run.judges.executing import judge
    from ragassay.run.progress import Noticing, Silent, choose

    progress = Noticing(Silent() if talk.quiet else choose())

    async def go() -> tuple[JudgementSet, Digest]:
        return await judge(
            workspace.store,
            run_digest,
            evaluator_of(workspace, name, settings),
            name=name,
            settings=settings,
            limit=limit,
            progress=progress,
            resume=resume,
            redaction=redaction_of(workspace.settings),
        )

    with redirect_stdout(sys.stderr):  # what an evaluator of others prints is talk; standard output is data
        found = anyio.run(go)
    if not progress.begun:
        talk.say(
            f"{name} had judged all of this run before; nothing was asked. --no-resume asks what is in error again"
        )
    return found


def evaluator_of(workspace: Workspace, name: str, settings: JudgeSettings, *, keep: bool = True) -> Any:
    """The evaluator of one judge, with complaints about the settings placed in their file."""
    from ragassay.run.judges.making import make_evaluator

    try:
        return make_evaluator(name, settings, folder=workspace.folder, store=workspace.store.path if keep else None)
    except RagassayError as error:
        raise located(error, workspace.config) from None


def told(made: JudgementSet, digest: Digest) -> list[str]:
    """A set in lines."""
    lines = [
        f"judge {made.name} {digest}",
        f"  {made.valued} of {many(made.asked, 'item')} have a verdict, {made.state}"
        + (f": {made.stopped}" if made.stopped else "")
        + f", content {made.content}",
    ]
    if made.controls:
        passed = sum(one.passed for one in made.controls)
        lines.append(f"  {passed} of {many(len(made.controls), 'control')} judged rightly")
    return lines


def _wanted(workspace: Workspace, names: tuple[str, ...]) -> dict[str, JudgeSettings]:
    declared = judges_of(workspace.settings)
    if not declared:
        raise UsageError(
            "no judge is declared",
            file=str(workspace.config or ""),
            field="judges",
            hint='[judges.words] kind = "lexical" declares the one that needs no network; see docs/judges.md',
        )
    if unknown := [one for one in names if one not in declared]:
        raise UsageError(
            f"no judge {unknown[0]!r} is declared", field="judge", hint=f"there are: {', '.join(declared)}"
        )
    # Who cuts answers comes before those that take the claims; a panel reads its members' sets, and comes last.
    chosen = {name: one for name, one in declared.items() if not names or name in names}
    return dict(sorted(chosen.items(), key=lambda pair: {"decompose": 0, "panel": 2}.get(pair[1].kind, 1)))


def _say_plans(
    workspace: Workspace, run_digest: Digest, wanted: dict[str, JudgeSettings], limit: int | None, *, as_json: bool
) -> None:
    import msgspec

    from ragassay.run.judges.executing import foresee
    from ragassay.run.judges.planning import describe
    from ragassay.run.judges.sealing import in_force

    plans = []
    for name, settings in wanted.items():
        if settings.kind == "panel":
            talk.say(
                f"{name}: a panel asks nothing; it reads the verdicts of {', '.join(settings.own.get('members', ()))}"
            )
            continue
        if settings.claims in wanted and not in_force(
            workspace.store, settings.claims, workspace.store.get_record(Run, run_digest).identity()
        ):
            talk.say(f"{name}: what it would be put is known as soon as {settings.claims} has cut the answers")
            continue
        with redirect_stdout(sys.stderr):
            evaluator = evaluator_of(workspace, name, settings, keep=False)
        plans.append(foresee(workspace.store, run_digest, evaluator, name=name, settings=settings, limit=limit))
    if as_json:
        talk.data_json([msgspec.to_builtins(one) for one in plans])
    else:
        talk.data("\n".join(line for one in plans for line in describe(one)))
