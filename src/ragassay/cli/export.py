"""`ragassay export`: all evidence of a run as one file, or the rows of a score table as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ragassay.cli import talk
from ragassay.cli.files import replace_file, replacing, writing
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
    public: bool = False,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Write all evidence of a run as one file (.zip), rows of its score table (.csv, .parquet), or a card of its data.

    `docs/evidence.md` says what is in the file of evidence, and `docs/tables.md` what the columns mean.

    Parameters
    ----------
    out
        The files to write; the ending chooses the form: .zip, .csv, .parquet (which needs `ragassay[parquet]`), or
        .json: a Croissant description of questions and documents, which copies none of them.
    scores
        Which score table: the name of its run, a digest, its beginning, or `latest`.
    table
        observations: a row a question, measure and step; estimates: a row a measure, class and slice; fates: a row a
        fact of a question.
    public
        With .zip: digests and scores only, without texts of documents, questions and answers. What was left out is
        named in the file by its digest.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        What was written, as JSON on standard output.
    """
    for path in out:
        if path.suffix not in (".zip", ".csv", ".parquet", ".json"):
            raise UsageError(
                f"{path} does not end with .zip, .csv, .parquet or .json", hint="for example observations.csv"
            )
        if public and path.suffix != ".zip":
            raise UsageError("--public is about evidence; a table has the ids of questions", hint="name a .zip file")
    opened = open_store(config, store)
    score_unscored(opened, scores)
    digest = opened.resolve(scores, kind_prefix="scores")
    for path in out:
        with writing(path):
            if path.suffix == ".zip":
                _write_evidence(opened, opened.get_record(ScoreTable, digest).run_record, path, public=public)
                continue
            if path.suffix == ".json":
                _write_card(opened, opened.get_record(ScoreTable, digest).run_record, path)
                continue
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


def _write_evidence(store: Store, run: Digest, path: Path, *, public: bool) -> None:
    from ragassay.audit.archive import export as export_run
    from ragassay.version import VERSION

    with replacing(path) as part, part.open("wb") as file:
        export_run(store, run, file, version=VERSION, public=public)


def _write_card(store: Store, run: Digest, path: Path) -> None:
    import json

    from ragassay.audit.croissant import croissant

    text = json.dumps(croissant(store, run), ensure_ascii=False, indent=2) + "\n"
    replace_file(path, [text.encode()])


def _write(table: tables.Table, path: Path) -> None:
    if path.suffix == ".csv":
        replace_file(path, tables.csv_parts(table))
        return
    with replacing(path) as part:
        tables.write_parquet(table, part)
