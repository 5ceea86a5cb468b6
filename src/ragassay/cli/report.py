"""`ragassay report`: the scorecard as HTML, JSON and Markdown."""

from __future__ import annotations

import json as json_module
import os
from pathlib import Path
from typing import Literal

import ragassay.report
from ragassay.cli import talk
from ragassay.cli.score import score_unscored
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import UsageError
from ragassay.report import Scorecard

Format = Literal["html", "json", "md"]
WARN_MB = 20


def report(
    scores: str = "latest",
    *,
    out: Path = Path("report"),
    format: tuple[Format, ...] = ("html", "json", "md"),  # noqa: A002
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
    card = ragassay.report.scorecard(opened, digest)
    paths = write_report(card, out, format)
    if json:
        talk.data_json(ragassay.report.to_json(card))
    else:
        for line in ragassay.report.summary(card):
            talk.data(talk.plain(line))
        for path in paths:
            talk.data(str(path))
    talk.then(f"open {paths[0]}" if paths else "ragassay report --format html")


def write_report(card: Scorecard, out: Path, formats: tuple[Format, ...]) -> list[Path]:
    """The files of a scorecard in a folder, the HTML first."""
    makers = {
        "html": lambda: ragassay.report.html(card),
        "json": lambda: (
            json_module.dumps(ragassay.report.to_json(card), ensure_ascii=False, separators=(",", ":")) + "\n"
        ),
        "md": lambda: ragassay.report.markdown(card),
    }
    paths = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for one in sorted(set(formats), key=list(makers).index):
            path = out / f"scorecard.{one}"
            _replace(path, makers[one]())
            paths.append(path)
            if path.stat().st_size > WARN_MB * 1e6:
                talk.say(f"{path} has {path.stat().st_size / 1e6:.0f} MB; browsers are slow above {WARN_MB} MB")
    except OSError as cause:
        raise UsageError(
            f"cannot write into {out}: {cause.strerror}", hint="choose a folder you may write to with --out"
        ) from None
    return paths


def _replace(path: Path, text: str) -> None:
    """A file written whole or not at all: a full disk leaves the earlier report as it was."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
