"""`ragassay audit`: everything behind a run made again from its records, and told where it differs first."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.cli import talk
from ragassay.cli.settings import FILE_NAME
from ragassay.cli.workspace import open_store
from ragassay.errors import ExitCode
from ragassay.records.base import Digest

if TYPE_CHECKING:
    from ragassay.audit.remake import Check
    from ragassay.store import Store


def audit(
    run: str = "latest",
    *,
    against: str | None = None,
    config: Path = Path(FILE_NAME),
    store: Path | None = None,
    json: bool = False,
) -> int:
    """Hash every byte again, and make traces, scores, comparisons and decisions again from what is stored.

    Numbers count as equal within 1e-12, all else exactly. Nothing in the store changes and nobody is asked anything.
    Exit 0 if all of it is equal; 5 if anything differs, with the first record that does and both values.

    Parameters
    ----------
    run
        Which run: a name, a digest, its beginning, or `latest`.
    against
        A run before this one: it is made again too, and what was made says which artefacts changed between them.
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
    said: dict[str, Any] = {"run": digest}
    if against is None:
        found = _told(remake(opened, digest), json)
    else:
        found = _pair(opened, opened.resolve(against, kind_prefix="run"), digest, said, json)
    equal = all(one.result != "differs" for one in found)
    if json:
        checks = [{**one._asdict(), "first": one.first and one.first._asdict()} for one in found]
        talk.data_json({**said, "equal": equal, "checks": checks})
    else:
        left = sum(one.result == "not made again" for one in found)
        good = "equal" if not left else f"equal, as far as it could be made again ({left} of {len(found)} could not)"
        talk.data(good if equal else "NOT equal: what differs is told above")
    talk.then("ragassay verify --trust trust.toml" if equal else "ragassay store check", config, store)
    return int(ExitCode.PASS if equal else ExitCode.INTEGRITY)


def _told(checks: Iterable[Check], json: bool) -> list[Check]:
    """All checks, each told as it is finished."""
    found = []
    for one in checks:
        found.append(one)
        if not json:
            talk.data(talk.plain(f"{one.kind:10}  {one.result:14}  {one.told}"))
            if one.first is not None:
                talk.data(talk.plain(f"{'':28}at {one.first.place}: stored {one.first.stored}, made {one.first.made}"))
    return found


def _pair(store: Store, baseline: Digest, candidate: Digest, said: dict[str, Any], json: bool) -> list[Check]:
    """Both runs made again, one after the other, and what was made held against each other."""
    from ragassay.audit.against import Pair
    from ragassay.cli.diff import lines, plain_json

    pair = Pair(store, baseline, candidate)
    found: list[Check] = []
    for run, checks in groupby(pair.checks(), key=lambda one: one[0]):
        if not json:
            talk.data(f"{'candidate' if run == candidate else 'baseline':10}  {run}")
        found += _told((one for _, one in checks), json)
    made = pair.difference()
    said["against"] = plain_json(made)
    if not json:
        for line in ("", *lines(made), ""):
            talk.data(line)
    return found
