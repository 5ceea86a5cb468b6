"""`ragassay corpus`: freeze documents and cut them into passages; show what is frozen."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import corpus_of, open_store, open_workspace
from ragassay.records.document import Corpus, Segmentation


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
    }
    if json:
        talk.data_json(result)
    else:
        talk.data(f"corpus {result['name']}: {frozen.corpus.documents} documents, {frozen.corpus.digest}")
        talk.data(f"cut into {frozen.segmentation.passages} passages, {frozen.segmentation.identity()}")
    if closed:
        talk.say(f"{closed} documents name no tenant: nobody may see them (default_tenants in [corpus] opens them)")
    if lossy:
        talk.say(f"{lossy} documents were not valid Unicode: stored with U+FFFD and marked lossy, raw bytes kept")
    talk.then("ragassay benchmark build", config, store)


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
    rows = []
    for ref in opened.refs("corpus/"):
        corpus = opened.get_record(Corpus, ref.digest)
        rows.append({"name": ref.name, "documents": corpus.documents, "mode": corpus.mode, "digest": corpus.digest})
    for ref in opened.refs("segmentation/"):
        cut = opened.get_record(Segmentation, ref.digest)
        rows.append({"name": ref.name, "passages": cut.passages, "chunker": cut.chunker, "digest": cut.identity()})
    if json:
        talk.data_json(rows)
    else:
        for row in rows:
            talk.data("  ".join(str(value) for value in row.values()))
    talk.then("ragassay benchmark show" if rows else "ragassay corpus add", config, store)
