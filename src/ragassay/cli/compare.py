"""`ragassay compare`: two runs question by question, or several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ragassay.cli import talk
from ragassay.cli.diff import change_lines, loss_lines, step_lines
from ragassay.cli.files import replace_file, writing
from ragassay.cli.score import score_unscored
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.comparison import Comparison, Effect
from ragassay.store import Store

if TYPE_CHECKING:
    from ragassay.compare.side import Side

Slices = Literal["must-pass", "regressed", "explore"]


def compare(
    baseline: str,
    candidates: tuple[str, ...] = ("latest",),
    /,
    *,
    variation: tuple[str, ...] = (),
    slices: Slices = "explore",
    reference: str | None = None,
    margin: float = 0.05,
    level: float = 0.95,
    flips: int = 10_000,
    seed: int = 0,
    all_: bool = False,
    csv: Path | None = None,
    md: Path | None = None,
    html: Path | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Compare two runs question by question: what moved, by how much, how surely, at which step.

    By measure, class, slice and step: the difference with an interval that keeps paraphrases and conversations
    together, a paired randomisation test, the least effect that could have been seen, what was won and lost, and the
    largest gains and losses by id. Several candidates: each against the baseline, and a table of all. Nothing is
    decided here; that is the gate's. Exit codes: 0 done; 2 usage, or runs that cannot be compared, as where corpora,
    benchmarks or ways of measuring differ and nobody declared it; 5 something stored is not what it was.

    Parameters
    ----------
    baseline
        The run before: its name, a digest of its scores, or its beginning. One that was not scored yet is scored.
    candidates
        The run after, or several; `latest` if left out.
    variation
        What is meant to differ besides the system, once for each: corpus, segmentation, benchmark, measure, ...
    slices
        What they are looked at for: must-pass (each by itself, no correction), regressed (has any got worse: Holm),
        explore (Benjamini and Hochberg).
    reference
        A run of the built-in BM25 on the same questions: a baseline worse than it is named weak.
    margin
        By how much of a measure's range the baseline may be worse than the reference.
    level
        Of the intervals.
    flips
        Random sign patterns of a test; where at most 16 clusters differ, all are counted.
    seed
        Of the random signs.
    all_
        Every step and every slice, not only what is nearest to the answer and what stands out.
    csv
        Also write every effect to this file.
    md
        Also write Markdown to this file: the comment on a change.
    html
        Also write one HTML page to this file: plot, tables, and both answers and lists of the questions that moved.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        The comparison as JSON on standard output: every effect, the largest moves, the lost facts.
    """
    if html is not None and len(candidates) > 1:
        raise UsageError("a page shows two runs", field="--html", hint="name one candidate, or leave --html out")
    opened = open_store(config, store)
    from ragassay.compare.alike import variation_of
    from ragassay.compare.effects import Setting
    from ragassay.compare.pair import check_setting, pair_sides
    from ragassay.compare.side import open_side

    check_setting(level, flips, margin)
    meant = variation_of(variation)
    sides = [open_side(opened, scores_of(opened, one), _named(opened, one)) for one in (baseline, *candidates)]
    built_in = None if reference is None else scores_of(opened, reference)
    setting = Setting(seed, flips, level, slices)
    made = [pair_sides(sides[0], one, meant, setting, built_in, margin)[1] for one in sides[1:]]
    paths = _write(opened, made, sides, csv=csv, md=md, html=html)
    if json:
        talk.data_json(as_json(opened, made, sides))
    else:
        _show(opened, made, sides, all_)
    for path in paths:
        talk.say(str(path))
    talk.then(f"ragassay gate {sides[-1].name} --baseline {sides[0].name}", config, store)


def scores_of(store: Store, text: str) -> Digest:
    """The score table that a person means; a run that was not scored yet is scored."""
    if (made := score_unscored(store, text)) is not None:
        talk.say(f"{'the newest run' if text == 'latest' else text} was not scored yet: scores {made}")
    return store.resolve(text, kind_prefix="scores")


def _named(store: Store, text: str) -> str:
    """As the user called it; `latest`, or a digest, by the name that it has."""
    digest = store.resolve(text, kind_prefix="scores")
    names = sorted(one.name.removeprefix("scores/") for one in store.refs("scores/") if one.digest == digest)
    said = text.removeprefix("scores/")
    return said if said in names else (names or [digest[7:19]])[0]


def _show(store: Store, made: Sequence[Digest], sides: Sequence[Side], everything: bool) -> None:
    from ragassay.compare.configurations import configurations
    from ragassay.report.compared.several import several_lines

    if len(made) > 1:
        for line in several_lines(configurations(sides)):
            talk.data(line)
        for digest, side in zip(made, sides[1:], strict=True):
            talk.data("")
            _show_pair(store, digest, side, everything)
        return
    _show_pair(store, made[0], sides[1], everything)


def _show_pair(store: Store, digest: Digest, side: Side, everything: bool) -> None:
    from ragassay.report import compared

    found = compared.read(store, digest, classes_of(side))
    for line in compared.lines(found, everything=everything):
        talk.data(line)
    for part in (
        change_lines(found.record.changes), step_lines(found.record.steps), loss_lines(found.losses)
    ):  # fmt: skip
        talk.data("")
        for line in part:
            talk.data(line)
    talk.data("")
    talk.data(f"comparison {digest}")


def classes_of(side: Side) -> dict[str, str]:
    """Question -> class."""
    return {case.query_id: case.class_ or "answerable" for case in side.cases}


def _write(
    store: Store, made: Sequence[Digest], sides: Sequence[Side], *, csv: Path | None, md: Path | None, html: Path | None
) -> list[Path]:
    from ragassay.compare.configurations import configurations
    from ragassay.report import compared
    from ragassay.report.compared.several import several_markdown
    from ragassay.report.tables import csv_parts

    if csv is not None:
        rows = [
            (sides[0].name, side.name, one)
            for digest, side in zip(made, sides[1:], strict=True)
            for one in store.get_lines(Effect, store.get_record(Comparison, digest).effects)
        ]
        with writing(csv):
            replace_file(csv, csv_parts(compared.effect_rows(rows)))
    if md is not None:
        if len(made) > 1:
            text = several_markdown(configurations(sides))
        else:
            text = compared.markdown(compared.read(store, made[0], classes_of(sides[1])))
        with writing(md):
            replace_file(md, [text.encode()])
    if html is not None:
        from ragassay.report import versus

        with writing(html):
            replace_file(html, [versus.html(versus.versus(store, made[0])).encode()])
    return [path for path in (csv, md, html) if path is not None]


def as_json(store: Store, made: Sequence[Digest], sides: Sequence[Side]) -> dict[str, Any]:
    """One comparison, or all of them and the table of the runs."""
    found = [_json(store, digest, side) for digest, side in zip(made, sides[1:], strict=True)]
    if len(found) == 1:
        return found[0]
    from ragassay.compare.configurations import configurations

    table = configurations(sides)
    return {
        "names": list(table.names),
        "settings": [{"name": one.name, "values": list(one.values)} for one in table.settings],
        "figures": [
            {
                "measure": one.measure, "step": one.step, "population": msgspec.to_builtins(one.population),
                "aggregation": one.aggregation,
                "estimates": [None if each is None else msgspec.to_builtins(each) for each in one.estimates],
            }
            for one in table.figures
        ],
        "comparisons": found,
    }  # fmt: skip


def _json(store: Store, digest: Digest, side: Side) -> dict[str, Any]:
    from ragassay.report import compared

    found = compared.read(store, digest, classes_of(side))
    return {
        "comparison": digest,
        "record": msgspec.to_builtins(found.record),
        "effects": msgspec.to_builtins(found.effects),
        "largest": [
            {
                "measure": measure, "step": step, "gains": msgspec.to_builtins(own.gains),
                "losses": msgspec.to_builtins(own.losses), "appeared": own.appeared, "disappeared": own.disappeared,
            }
            for (measure, step), own in sorted(found.largest.items(), key=lambda one: (one[0][0], one[0][1] or ""))
        ],
        "losses": msgspec.to_builtins(found.losses),
    }  # fmt: skip
