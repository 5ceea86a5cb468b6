"""Two runs held against each other, as they are stored or as an audit made them again. Asks no system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ragassay.audit.remake import Again, Check, audit
from ragassay.compare.changes import Sides, artefacts, losses, steps
from ragassay.errors import LedgerError
from ragassay.records.base import Digest
from ragassay.records.comparison import Change, NewLoss, StepChange
from ragassay.records.decision import Decision
from ragassay.records.protocol import Run
from ragassay.records.score import ScoreTable
from ragassay.seal.evidence import made_of
from ragassay.store import Store

Tables = tuple[ScoreTable, ScoreTable]


class Difference(NamedTuple):
    """All that is said about two runs."""

    runs: tuple[Digest, Digest]
    changes: tuple[Change, ...]
    steps: tuple[StepChange, ...]
    losses: tuple[NewLoss, ...] | None
    """None: one of the runs is not scored."""


class Pair:
    """An audit of two runs: first each is made again, then what was made is held against each other."""

    def __init__(self, store: Store, baseline: Digest, candidate: Digest) -> None:
        self.runs = (baseline, candidate)
        self._store, self._again = store, Again(store)

    def checks(self) -> Iterator[tuple[Digest, Check]]:
        """Each check of each run as it is finished; what stands on both of them is made again once."""
        for run in dict.fromkeys(self.runs):
            for one in audit(self._store, run, self._again):
                yield run, one

    def difference(self) -> Difference:
        """What changed between the runs, from the tables that were made again."""
        tables = scored(self._store, *self.runs)
        made = None if tables is None else (self._again.made_of(tables[0]), self._again.made_of(tables[1]))
        return difference(self._again.scratch, *self.runs, tables=made)


def difference(store: Store, baseline: Digest, candidate: Digest, *, tables: Tables | None = None) -> Difference:
    """What changed between two runs of a store, by the digests of their records; `tables` in place of the stored."""
    before, after = (store.get_record(Run, one) for one in (baseline, candidate))
    sides = Sides(store, before, after)
    tables = tables or scored(store, baseline, candidate)
    changes = artefacts(
        store, before, after, scores=tables, sides=sides, policies=_policies(store, baseline, candidate)
    )
    moved = steps(store, before, after, changes, sides=sides)
    lost = None if tables is None else tuple(losses(store, *tables, changes, sides=sides))
    return Difference((baseline, candidate), changes, moved, lost)


def _policies(store: Store, *runs: Digest) -> tuple[Digest, Digest] | None:
    """The policies by which two runs were last decided, if both were: one may have been given in a file."""
    try:
        decided = [made_of(store, one).decision for one in runs]
    except LedgerError:  # which decision came last is not known
        return None
    if any(one is None for one in decided):
        return None
    before, after = (store.get_record(Decision, one).policy for one in decided if one is not None)
    return before, after


def scored(store: Store, baseline: Digest, candidate: Digest) -> Tables | None:
    """The score tables of two runs: two under one scoring if there are such, else one of each; None if one has none.

    Of several the one that has the name of a run comes first, then those that it had before.
    """
    found: dict[Digest, list[ScoreTable]] = {baseline: [], candidate: []}
    for prefix in ("scores/", "past/"):
        for ref in store.refs(prefix):
            if ref.kind == "scoretable":
                table = store.get_record(ScoreTable, ref.digest)
                if table.run_record in found and table not in found[table.run_record]:
                    found[table.run_record].append(table)
    ours, theirs = found[baseline], found[candidate]
    if not ours or not theirs:
        return None
    alike = ((a, b) for a in ours for b in theirs if a.scoring == b.scoring)
    return next(alike, (ours[0], theirs[0]))
