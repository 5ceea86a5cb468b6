"""`ragassay benchmark`: freeze questions and labels; show what is frozen."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.benchmark_check import check
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import benchmark_of, corpus_of, open_store, open_workspace
from ragassay.records.case import Benchmark

__all__ = ["build", "check", "show"]


def build(*, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """Freeze the questions that the settings name; quotes become spans, or are reported.

    Parameters
    ----------
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    workspace = open_workspace(config, store)
    built = benchmark_of(workspace, corpus_of(workspace))
    if json:
        found = built.report._asdict()
        listed = {
            key: [str(one) for one in value] if isinstance(value, tuple) else value for key, value in found.items()
        }
        talk.data_json({"digest": built.digest, "name": built.benchmark.name, **listed})
    else:
        talk.data(f"benchmark {built.benchmark.name} {built.benchmark.version}, {built.digest}")
        for line in built.report.lines():
            talk.data("  " + talk.plain(line))
    talk.then("ragassay seal", config, store)


def show(*, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """List the benchmarks of the store.

    Parameters
    ----------
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    opened = open_store(config, store)
    rows = []
    for ref in opened.refs("benchmark/"):
        one = opened.get_record(Benchmark, ref.digest)
        rows.append({
            "name": ref.name, "version": one.version, "cases": one.cases, "unit": one.relevance_unit,
            "rel": one.rel, "rubric": one.rubric.name, "completeness": one.completeness, "digest": ref.digest,
        })  # fmt: skip
    if json:
        talk.data_json(rows)
    else:
        for row in rows:
            talk.data("  ".join(f"{key}={value}" for key, value in row.items()))
    talk.then("ragassay seal" if rows else "ragassay benchmark build", config, store)
