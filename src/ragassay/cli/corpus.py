"""`ragassay corpus`: freeze documents and cut them into passages; show what is frozen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import to_builtins

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import corpus_of, open_store, open_workspace
from ragassay.corpus import Reading, load_skipped
from ragassay.records.document import Corpus, Segmentation, SkippedLine
from ragassay.records.text import many, shown


def add(*, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """Freeze the documents that the settings name and cut them into passages.

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
    frozen = corpus_of(workspace)
    skipped = load_skipped(workspace.store, frozen.corpus)
    reading = frozen.reading
    closed = sum(one.tenants is None for one in frozen.documents)
    lossy = sum(one.lossy for one in frozen.documents)
    result = {
        "name": workspace.settings.corpus.name,
        "documents": frozen.corpus.documents,
        "digest": frozen.corpus.digest,
        "passages": frozen.segmentation.passages,
        "segmentation": frozen.segmentation.identity(),
        "closed": closed,
        "lossy": lossy,
        "format": reading.format if reading is not None else "",
        "skipped": [to_builtins(one) for one in skipped],
        "unread": reading.unread if reading is not None else [],
    }
    if json:
        talk.data_json(result)
    else:
        talk.data(f"corpus {result['name']}: {many(frozen.corpus.documents, 'document')}, {frozen.corpus.digest}")
        talk.data(f"cut into {many(frozen.segmentation.passages, 'passage')}, {frozen.segmentation.identity()}")
    _say_left_out(skipped, reading)
    if closed:
        talk.say(
            f"{many(closed, 'document names', 'documents name')} no tenant: nobody may see "
            f"{'it' if closed == 1 else 'them'} (default_tenants in [corpus] opens {'it' if closed == 1 else 'them'})"
        )
    if lossy:
        talk.say(
            f"{many(lossy, 'document was', 'documents were')} not valid Unicode: stored with U+FFFD and "
            "marked lossy, raw bytes kept"
        )
    talk.then("ragassay benchmark build", config, store)


def _say_left_out(skipped: list[SkippedLine], reading: Reading | None) -> None:
    """Every line that was left out by its place, and what was not read at all."""
    if skipped:
        talk.say(f"{len(skipped)} left out because they could not be read (on_error = skip):")
        for one in skipped:
            place = ":".join(str(part) for part in (one.file, one.line) if part is not None)
            talk.say(f"  {shown(place, limit=200)}: {f'{one.field}: ' if one.field else ''}{one.reason}")
    if reading is not None and reading.unread:
        more = f" and {len(reading.unread) - 10} more" if len(reading.unread) > 10 else ""
        talk.say(f"not read: {', '.join(shown(one) for one in reading.unread[:10])}{more}")


def show(*, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> None:
    """List the corpora and segmentations of the store.

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
    rows: list[dict[str, Any]] = []
    for ref in opened.refs("corpus/"):
        corpus = opened.get_record(Corpus, ref.digest)
        row = {"name": ref.name, "documents": corpus.documents, "mode": corpus.mode, "digest": corpus.digest}
        rows.append(row | ({"skipped": corpus.skipped_lines} if corpus.skipped_lines else {}))
    for ref in opened.refs("segmentation/"):
        cut = opened.get_record(Segmentation, ref.digest)
        rows.append({"name": ref.name, "passages": cut.passages, "chunker": cut.chunker, "digest": cut.identity()})
    if json:
        talk.data_json(rows)
    else:
        for row in rows:
            talk.data("  ".join(str(value) for value in row.values()))
    talk.then("ragassay benchmark show" if rows else "ragassay corpus add", config, store)
