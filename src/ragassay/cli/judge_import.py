"""`ragassay judge import`: what people said, as verdicts of theirs."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.records.text import many


def import_(
    file: Path,
    *,
    author: str,
    rubric: str,
    reason: str = "",
    run: str = "latest",
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
) -> None:
    """Read a file that a person filled in. Newer verdicts supersede older ones of the same person; none is overwritten,
    and the ledger says who replaced which set, and why.

    Rows with a blank label are left out. Besides files of `ragassay judge sample`, a file is read whose columns name
    the items in full: query_id, repeat, about, target, label, comment. Nobody knows how those were drawn, so that
    they calibrate a judge and correct no estimate.

    Parameters
    ----------
    file
        .csv or .jsonl.
    author
        Who judged: a name without spaces. Measures may be read by it, as in faithfulness(by=NAME).
    rubric
        By which rules, such as support/1 or the name of a document.
    reason
        Why verdicts that this person gave before are replaced; asked for where any is.
    run
        Which run was judged: a name, a digest, its beginning, or `latest`.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    """
    from ragassay.trials.people.importing import import_verdicts

    opened = open_store(config, store)
    run_digest = opened.resolve(run, kind_prefix="run")
    found = import_verdicts(opened, run_digest, file, author=author, rubric=rubric, reason=reason)
    talk.data(f"judgements of {author} {found.digest}")
    replaced = f", {found.replaced} of them anew" if found.replaced else ""
    talk.data(f"  {many(found.rows, 'row')} read{replaced}; {found.record.valued} of {found.record.asked} have a label")
    talk.then("ragassay judge calibrate NAME", config, store)
