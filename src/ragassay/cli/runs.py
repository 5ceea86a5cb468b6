"""`ragassay runs`: list the runs of a store, tag them, and follow a measure over them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.files import replace_file, writing
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import UsageError
from ragassay.report import history
from ragassay.report.history import RunLine, Series
from ragassay.report.words import plain


def list(  # noqa: A001  the verb's name
    *, tag: str | None = None, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False
) -> None:
    """List every run of the store, oldest first: when, what, tags, and how many questions failed.

    Parameters
    ----------
    tag
        Only runs that carry this tag.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    found = history.runs(open_store(config, store), tag)
    if json:
        talk.data_json([_plain(one) for one in found])
    else:
        for one in found:
            talk.data(_told(one))
        if not found:
            talk.say("no run" + (f" has the tag {plain(tag)}" if tag else " yet"))
    talk.then("ragassay runs trend --measure 'recall(rel=2)@20'" if found else "ragassay run", config, store)


def tag(run: str, name: str, *, config: Path = Path(FILE_NAME), store: Path | None = None) -> None:
    """Give a run a tag. Several runs may have the same one, and a run several.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    name
        The tag: letters, digits, `.`, `_`, `-`.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}", name):
        raise UsageError(f"{name!r} cannot be a tag", hint="letters, digits, `.`, `_`, `-`; for example nightly")
    opened = open_store(config, store)
    digest = opened.resolve(run, kind_prefix="run")
    opened.set_ref(f"{history.TAGS}{name}/{digest[7:23]}", digest, kind="run")
    talk.data(f"{digest} is tagged {name}")
    talk.then(f"ragassay runs list --tag {name}", config, store)


def untag(run: str, name: str, *, config: Path = Path(FILE_NAME), store: Path | None = None) -> None:
    """Take a tag off a run. The run and its other tags stay.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    name
        The tag.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    """
    opened = open_store(config, store)
    digest = opened.resolve(run, kind_prefix="run")
    own = [one.name for one in opened.refs(history.TAGS) if one.digest == digest]
    ref = f"{history.TAGS}{name}/{digest[7:23]}"
    if ref not in own:
        tags = ", ".join(one.removeprefix(history.TAGS).partition("/")[0] for one in own)
        raise UsageError(f"{digest} has no tag {plain(name)}", hint=f"it has: {tags}" if tags else "it has no tag")
    opened.remove_ref(ref)
    talk.data(f"{digest} is no longer tagged {name}")
    talk.then("ragassay runs list", config, store)


def trend(
    *,
    measure: str = "recall(rel=2)@20",
    class_: str | None = None,
    tag: str | None = None,
    html: Path | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Follow a measure over the runs. Nothing is joined or subtracted across another benchmark, corpus or scoring.

    Parameters
    ----------
    measure
        The measure, spelled as in the report.
    class_
        Only this class: answerable, multi_hop, unanswerable, adversarial or cross_tenant.
    tag
        Only runs that carry this tag.
    html
        Also write a page with a picture to this file.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    from ragassay.measures import parse

    opened = open_store(config, store)
    lines = history.runs(opened, tag)
    series = history.trend(opened, lines, str(parse(measure)), class_)
    if html is not None:
        from ragassay.report.trend_page import trend_page

        with writing(html):
            replace_file(html, [trend_page(lines, series, f"{measure} over the runs").encode()])
    if json:
        talk.data_json([_series(one) for one in series])
    else:
        for one in series:
            for line in _table(one):
                talk.data(line)
        if not series:
            talk.data(f"{plain(measure)}: not measured in any scored run")
    talk.then("ragassay report NAME", config, store)


def _told(one: RunLine) -> str:
    names = ", ".join(one.names) or one.digest[7:19]
    tags = f"  [{', '.join(one.tags)}]" if one.tags else ""
    ended = "" if one.state == "complete" else f"  {one.state}"
    scored = "" if one.scores else "  not scored"
    what = f"{one.started_at}  {names}  {one.system} on {one.benchmark}"
    return plain(f"{what}  {one.failures} of {one.questions} failed{ended}{scored}{tags}", 500)


def _table(series: Series) -> Sequence[str]:
    made = [plain(f"{series.measure}, {series.class_.replace('_', '-')}")]
    for point in series.points:
        if point.boundary:
            made.append(f"  ---- another {', '.join(point.boundary)}: not comparable with what stands above ----")
        row = point.estimate
        value = f"{row.value:.3f}" if row and row.value is not None else row.status if row else "not measured"
        change = f" ({point.change:+.3f})" if point.change is not None else ""
        name = ", ".join(point.run.names) or point.run.digest[7:19]
        scored = f"{row.scored} of {row.attempted} scored" if row else ""
        made.append(
            "  " + plain(f"{point.run.started_at}  {value:>12}{change:10}  {name}  {point.run.system}  {scored}", 400)
        )
    return made


def _plain(one: RunLine) -> dict[str, object]:
    return {**one._asdict(), "versions": dict(one.versions)}


def _series(one: Series) -> dict[str, object]:
    points = [
        {
            "run": point.run.digest, "started_at": point.run.started_at, "boundary": [*point.boundary],
            "value": point.estimate.value if point.estimate else None,
            "status": point.estimate.status if point.estimate else "not measured", "change": point.change,
        }
        for point in one.points
    ]  # fmt: skip
    return {"measure": one.measure, "class": one.class_, "points": points}
