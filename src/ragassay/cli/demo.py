"""`ragassay demo`: the data that ship, sealed, run, scored and reported; the whole path on real questions."""

from __future__ import annotations

from pathlib import Path

import ragassay.report
from ragassay import demo as demo_data
from ragassay.cli import talk
from ragassay.cli.judge import judge_run
from ragassay.cli.report import write_report
from ragassay.cli.run import run_workspace
from ragassay.cli.score import score_run
from ragassay.cli.settings import (
    BenchmarkSettings,
    CorpusSettings,
    RunSettings,
    SegmentationSettings,
    Settings,
    judges_of,
)
from ragassay.cli.workspace import Workspace
from ragassay.records.base import Digest
from ragassay.records.text import many
from ragassay.store import Store


def demo(*, out: Path = Path("demo-out"), json: bool = False) -> None:
    """Turn several hundred real questions into a sealed run and an HTML scorecard. Needs no network.

    Parameters
    ----------
    out
        The folder for the store and the report.
    json
        The scorecard as JSON on standard output; files are written all the same.
    """
    workspace = demo_workspace(out)
    talk.say(demo_data.NOTE)
    digest, run = run_workspace(workspace, None)
    talk.say(f"run {digest}: {run.answered} of {run.questions} asked, {run.failures} failed")
    for name, settings in judges_of(workspace.settings).items():
        judged, _ = judge_run(workspace, Digest(digest), name, settings)
        count = f"{judged.valued} of {many(judged.asked, 'item')} have a verdict"
        talk.say(f"judge {name} ({settings.kind}, uncalibrated): {count}")
    scores = score_run(workspace.store, digest)
    card = ragassay.report.scorecard(workspace.store, scores)
    paths = write_report(card, out, ("html", "json", "md"))
    if json:
        talk.data_json(ragassay.report.to_json(card))
    else:
        for line in ragassay.report.summary(card):
            talk.data(talk.plain(line))
        talk.data(f"report: {paths[0]}")
    talk.then(f"open {paths[0]}")


def demo_workspace(out: Path) -> Workspace:
    """The demo's settings and store in a folder."""
    settings = Settings(
        corpus=CorpusSettings(documents=str(demo_data.DOCUMENTS), name="demo"),
        benchmark=BenchmarkSettings(
            cases=str(demo_data.CASES), name="demo", version=demo_data.VERSION, completeness="partial"
        ),
        segmentation=SegmentationSettings(chunker="markdown", size=120, overlap=0),
        system={"kind": "reference"},
        run=RunSettings(as_of=demo_data.AS_OF, name="demo"),
        judges={"words": {"kind": "lexical"}},
    )
    return Workspace(settings, Path(), Store.open(out / "store", create=True))
