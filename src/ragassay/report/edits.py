"""What people and judges took back before a score table was made, for its scorecard. Takes nothing back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ragassay.records.ledger import Supersession
from ragassay.records.protocol import Protocol
from ragassay.records.score import ScoreTable
from ragassay.records.text import many, shown
from ragassay.report.model import Stated
from ragassay.store.superseding import history

if TYPE_CHECKING:
    from ragassay.store import Store

_WORDS = {"judgementset": "verdicts", "calibration": "calibration", "benchmark": "questions and labels"}
_MOST = 5


def edits_behind(store: Store, table: ScoreTable, protocol: Protocol) -> Iterator[tuple[str, tuple[Supersession, ...]]]:
    """What each set of verdicts, each calibration and the benchmark took the place of, newest first."""
    named = [(f"of {name}", digest) for name, digest in sorted({**table.judged}.items())]
    named += [(f"of {name}", digest) for name, digest in sorted(table.calibrations.items())]
    for of, digest in [*named, ("", protocol.objects["benchmark"])]:
        if past := tuple(history(store, digest)):
            yield f"{_WORDS.get(past[0].kind, past[0].kind)} {of}".strip(), past


def told(edits: Iterable[tuple[str, tuple[Supersession, ...]]]) -> Iterator[Stated]:
    """One line each: how often, and the last ones with who and why."""
    for what, past in edits:
        each = [f"{one.at} by {shown(one.by, limit=80)}: {shown(one.reason, limit=200)}" for one in past[:_MOST]]
        yield Stated(label=f"superseded: {what}", value=f"{many(len(past), 'time')}; {'; '.join(each)}")
