"""`ragassay judge`: the answers of a run to the judges that the settings declare. Scores nothing."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME, judges_of
from ragassay.cli.workspace import open_workspace
from ragassay.errors import UsageError
from ragassay.run.judges.settings import describe


def run(
    run: str = "latest",
    *,
    judge: tuple[str, ...] = (),
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    dry_run: bool = False,
) -> None:
    """Put claims, citations, facts and answers of a run to each judge of the settings, and keep every verdict.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    judge
        Only the judge of this name; may be given several times.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    dry_run
        Ask nothing, open no connection, write nothing; say what would be asked.
    """
    workspace = open_workspace(config, store, unwritten=dry_run)
    declared = judges_of(workspace.settings)
    if not declared:
        raise UsageError("no judge is declared", file=str(config), field="judges", hint="[judges.words] kind = ...")
    workspace.store.resolve(run, kind_prefix="run")
    for name, one in declared.items():
        if not judge or name in judge:
            talk.data(f"{name}: {describe(one)}")
