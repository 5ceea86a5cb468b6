"""`ragassay report`: the scorecard as HTML, JSON and Markdown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import ragassay.report
from ragassay.cli import talk
from ragassay.cli.files import replace_file, write_pages, writing
from ragassay.cli.score import score_unscored
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.protocol import Run
from ragassay.records.score import ScoreTable
from ragassay.records.text import many
from ragassay.report import Scorecard
from ragassay.report.pages import Layout
from ragassay.store import Store

Format = Literal["html", "json", "md"]


def report(
    scores: str = "latest",
    *,
    out: Path = Path("report"),
    format: tuple[Format, ...] = ("html", "json", "md"),  # noqa: A002
    layout: Layout = "auto",
    junit: Path | None = None,
    github_summary: bool = False,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Write the scorecard; print the verdict sentence and where the files are.

    Parameters
    ----------
    scores
        Which score table: the name of its run, a digest, its beginning, or `latest`. A run that was not scored yet is
        scored first.
    out
        The folder to write into; files of an earlier report are replaced.
    format
        html, json or md; may be given several times.
    layout
        Of the HTML: single is one file; pages puts the first questions on the page of the scorecard and the others on
        sibling pages; auto does that above 500 questions.
    junit
        Also write JUnit XML to this file: a test case a question.
    github_summary
        Also append the verdict and the questions in trouble to the file that $GITHUB_STEP_SUMMARY names.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        The scorecard as JSON on standard output; files are written all the same.
    """
    opened = open_store(config, store)
    if (made := score_unscored(opened, scores)) is not None:
        talk.say(f"{'the newest run' if scores == 'latest' else scores} was not scored yet: scores {made}")
    digest = opened.resolve(scores, kind_prefix="scores")
    say_superseded(opened, digest)
    card = ragassay.report.scorecard(opened, digest)
    paths = write_report(card, out, format, layout)
    if junit is not None:
        with writing(junit):
            replace_file(junit, [ragassay.report.junit(card).encode()])
        paths.append(junit)
    if github_summary:
        append_summary(card)
    if json:
        talk.data_json(ragassay.report.to_json(card))
    else:
        for line in ragassay.report.summary(card):
            talk.data(talk.plain(line))
        for path in paths:
            talk.data(str(path))
    talk.then(f"open {paths[0]}" if paths else "ragassay report --format html")


def say_superseded(store: Store, scores: Digest) -> None:
    """Tell that a judge of a score table has newer verdicts, or another calibration, than the table was made of."""
    from ragassay.score import is_superseded

    table = store.get_record(ScoreTable, scores)
    old = is_superseded(store, table, store.get_record(Run, table.run_record))
    if old:
        talk.say(
            f"newer judgements or a newer calibration of {', '.join(old)} are in force; `ragassay score` reads them"
        )


def write_report(
    card: Scorecard, out: Path, formats: tuple[Format, ...], layout: Layout = "auto", name: str = "scorecard"
) -> list[Path]:
    """The files of a scorecard in a folder, the first HTML page first. Sibling pages of an earlier report go."""
    makers: dict[str, Callable[[], Iterable[bytes]]] = {
        "json": lambda: ragassay.report.json_parts(card),
        "md": lambda: [ragassay.report.markdown(card).encode()],
    }
    paths = []
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        if "html" in formats:
            paths.append(write_pages(card, out, layout, name))
        for one, make in makers.items():
            if one in formats:
                paths.append(out / f"{name}.{one}")
                replace_file(paths[-1], make())
    return paths


def append_summary(card: Scorecard) -> None:
    """The step summary behind what the step has already written there, within GitHub's limit for both together."""
    from ragassay.report.step import MOST_BYTES

    named = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not named:
        raise UsageError(
            "--github-summary, but GITHUB_STEP_SUMMARY is not set",
            hint="GitHub Actions sets it; elsewhere use --format md",
        )
    path = Path(named)
    with writing(path):
        there = path.stat().st_size if path.exists() else 0
        text = ragassay.report.step_summary(card, MOST_BYTES - there)
        if not text:
            talk.say(f"{path} is full already ({many(there, 'byte')}): no summary was added")
            return
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
