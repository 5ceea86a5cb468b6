"""`ragassay explain`: one question of a run, from its verdict back to the documents, with every digest."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store


def explain(
    run: str,
    question: str,
    measure: str | None = None,
    *,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> None:
    """Walk back from a verdict: threshold, score, question and labels, trace, steps, passages, documents.

    Each hop names the digest of its record, where its bytes are, and who made it. A digest with a line number is that
    of the line's bytes in the unpacked table: `ragassay store show BLOB` prints the table.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    question
        The id of the question.
    measure
        Only what this measure rests on, such as `recall(rel=2)@20`; all rows of the question if left out.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    from ragassay.audit.explain import as_values
    from ragassay.audit.explain import explain as walk_back
    from ragassay.seal.evidence import made_of

    opened = open_store(config, store)
    about = made_of(opened, opened.resolve(run, kind_prefix="run"))
    hops = walk_back(opened, about, question, measure)
    if json:
        talk.data_json(as_values(hops))
    else:
        for one in hops:
            place = one.blob if one.line is None else f"{one.blob} line {one.line}"
            talk.data(talk.plain(f"{one.what}: {one.told}"))
            talk.data(talk.plain(f"    {one.digest}"))
            talk.data(talk.plain(f"    in {place}; made by {one.made_by}"))
    talk.then(f"ragassay audit {run}", config, store)
