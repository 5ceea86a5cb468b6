"""`ragassay export`: the rows of a score table as CSV or Parquet. Adds no number to them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ragassay.cli import talk
from ragassay.cli.files import replace_file, writing
from ragassay.cli.score import score_unscored
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.score import Estimate, FactFate, Observation, ScoreTable
from ragassay.report import tables
from ragassay.store import Store


def export(
    out: tuple[Path, ...],
    /,
    *,
    scores: str = "latest",
    table: Literal["observations", "estimates", "fates"] = "observations",
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Write the rows of a score table as CSV or Parquet. `docs/tables.md` says what the columns mean.

    Parameters
    ----------
    out
        The files to write; the ending chooses the form: .csv or .parquet (which needs `ragassay[parquet]`).
    scores
        Which score table: the name of its run, a digest, its beginning, or `latest`.
    table
        observations: a row a question, measure and step; estimates: a row a measure, class and slice; fates: a row a
        fact of a question.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        What was written, as JSON on standard output.
    """
    for path in out:
        if path.suffix not in (".csv", ".parquet"):
            raise UsageError(f"{path} ends neither with .csv nor with .parquet", hint="for example observations.csv")
    opened = open_store(config, store)
    score_unscored(opened, scores)
    digest = opened.resolve(scores, kind_prefix="scores")
    for path in out:
        with writing(path):
            _write(rows_of(opened, digest, table), path)
    if json:
        talk.data_json({"scores": digest, "table": table, "files": [str(path) for path in out]})
    else:
        for path in out:
            talk.data(talk.plain(str(path)))
    talk.then("ragassay report", config, store)


def rows_of(store: Store, scores: Digest, name: tables.Name) -> tables.Table:
    """One of the tables of a score table, read as it is needed."""
    found = store.get_record(ScoreTable, scores)
    if name == "estimates":
        return tables.estimates(store.get_lines(Estimate, found.estimates))
    if name == "fates":
        return tables.fates(store.get_lines(FactFate, found.fates))
    both = (found.observations, found.runtime)
    return tables.observations(one for digest in both for one in store.get_lines(Observation, digest))


def _write(table: tables.Table, path: Path) -> None:
    if path.suffix == ".csv":
        replace_file(path, tables.csv_parts(table))
        return
    part = path.with_name(f".{path.name}.part")
    try:
        tables.write_parquet(table, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
