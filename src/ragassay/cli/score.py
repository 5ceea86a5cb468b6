"""`ragassay score`: a run to its score table."""

from __future__ import annotations

from pathlib import Path

from ragassay.assay import measure
from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.records.base import Digest
from ragassay.records.protocol import Protocol, Run
from ragassay.records.score import Estimate, ScoreTable
from ragassay.records.text import many
from ragassay.seal import verify
from ragassay.store import Store


def score(
    run: str = "latest", *, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False
) -> None:
    """Score a run, after every byte of it has been checked. The same run and scoring give the same bytes.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Every estimate as JSON on standard output.
    """
    opened = open_store(config, store)
    digest = score_run(opened, run)
    table = opened.get_record(ScoreTable, digest)
    estimates = list(opened.get_lines(Estimate, table.estimates))
    if json:
        talk.data_json({"scores": digest, "content": table.content, "estimates": [plain(one) for one in estimates]})
    else:
        talk.data(f"scores {digest}")
        talk.data(f"  {many(table.questions, 'question')}, {many(len(estimates), 'estimate')}, content {table.content}")
    newest = opened.resolve("latest", kind_prefix="scores") == digest
    talk.then(f"ragassay report{'' if newest else f' {digest[7:19]}'} --out report", config, store)


def score_unscored(store: Store, text: str) -> Digest | None:
    """Score the run that `text` names (`latest`: the one named last) if no table of it has a name; None otherwise."""
    runs = [one.name for one in store.refs("run/")]
    if not runs or (text != "latest" and f"run/{text.removeprefix('run/')}" not in runs):
        return None
    wanted = store.resolve(text, kind_prefix="run")
    scored = {store.get_record(ScoreTable, one.digest).run_record for one in store.refs("scores/")}
    return None if wanted in scored else score_run(store, text)


def score_run(store: Store, run: str) -> Digest:
    """Score the run that `run` names; the digest of the table, ref `scores/NAME`."""
    run_digest = store.resolve(run, kind_prefix="run")
    record = store.get_record(Run, run_digest)
    verify(store, record.protocol)
    protocol = store.get_record(Protocol, record.protocol)
    names = [one.name.removeprefix("run/") for one in store.refs("run/") if one.digest == run_digest]
    name = run.removeprefix("run/") if run.removeprefix("run/") in names else (names or [run_digest[7:19]])[0]
    return measure(store, run_digest, protocol.scoring, name=name)


def plain(estimate: Estimate) -> dict[str, object]:
    """An estimate as JSON values."""
    import msgspec

    return dict(msgspec.to_builtins(estimate))
