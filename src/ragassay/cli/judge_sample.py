"""`ragassay judge sample`: items of a run drawn for people, as a file to fill in."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import UsageError
from ragassay.records.judgement import About


def sample(
    run: str = "latest",
    *,
    out: Path,
    judge: tuple[str, ...] = (),
    size: int = 100,
    about: tuple[About, ...] = (),
    random: bool = False,
    seed: int = 0,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
) -> None:
    """Draw items of a run for people: contradicted, disputed and unsure ones, those without a verdict, and the rest.

    The file holds what was judged and by what, never what a judge said. Fill in the column label (comment is free),
    then `ragassay judge import`. Each item's chance of being drawn is kept.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    out
        The file to write: .csv for a spreadsheet, or .jsonl.
    judge
        By whose verdicts the items are put into strata; may be given several times. Left out: all that judged it.
    size
        How many items.
    about
        Only items of this kind: claim, citation, fact or answer; may be given several times.
    random
        One stratum: every item has the same chance. Only such a sample corrects an estimate.
    seed
        Of the drawing; the same seed draws the same items.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    """
    from ragassay.trials.people.drawing import draw, told
    from ragassay.trials.people.files import sample_text

    form = out.suffix.lower().removeprefix(".")
    if form not in ("csv", "jsonl"):
        raise UsageError(f"{out} ends with neither .csv nor .jsonl", field="out", hint="for example people.csv")
    opened = open_store(config, store)
    found = draw(opened, opened.resolve(run, kind_prefix="run"), judge, size=size, seed=seed, about=about, plain=random)
    text = sample_text(found, "csv" if form == "csv" else "jsonl")
    try:
        out.write_text(text, "utf-8", newline="\n")
    except OSError as cause:
        raise UsageError(f"cannot be written: {cause.strerror}", file=str(out), hint="check the folder") from cause
    talk.data("\n".join(told(found)))
    talk.data(f"  {out}")
    talk.then(f"ragassay judge import {out} --author NAME --rubric NAME", config, store)
