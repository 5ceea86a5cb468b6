"""`ragassay audit`: everything behind a run made again from its records, and told where it differs first."""

from __future__ import annotations

from pathlib import Path

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import ExitCode


def audit(run: str = "latest", *, config: Path = Path(FILE_NAME), store: Path | None = None, json: bool = False) -> int:
    """Hash every byte again, and make traces, scores, comparisons and decisions again from what is stored.

    Numbers count as equal within 1e-12, all else exactly. Nothing in the store changes and nobody is asked anything.
    Exit 0 if all of it is equal; 5 if anything differs, with the first record that does and both values.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    config
        The settings file.
    store
        The store's folder, instead of the one in the settings.
    json
        Data as JSON on standard output.
    """
    from ragassay.audit.remake import audit as remake

    opened = open_store(config, store)
    digest = opened.resolve(run, kind_prefix="run")
    found = []
    for one in remake(opened, digest):
        found.append(one)
        if not json:
            talk.data(talk.plain(f"{one.kind:10}  {one.result:14}  {one.told}"))
            if one.first is not None:
                talk.data(talk.plain(f"{'':28}at {one.first.place}: stored {one.first.stored}, made {one.first.made}"))
    equal = all(one.result != "differs" for one in found)
    if json:
        checks = [{**one._asdict(), "first": one.first and one.first._asdict()} for one in found]
        talk.data_json({"run": digest, "equal": equal, "checks": checks})
    else:
        left = sum(one.result == "not made again" for one in found)
        good = "equal" if not left else f"equal, as far as it could be made again ({left} of {len(found)} could not)"
        talk.data(good if equal else "NOT equal: what differs is told above")
    talk.then("ragassay verify --trust trust.toml" if equal else "ragassay store check", config, store)
    return int(ExitCode.PASS if equal else ExitCode.INTEGRITY)
