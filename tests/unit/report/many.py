"""The hand-made run, its eleven questions repeated under new ids until there are as many as are wanted."""

from __future__ import annotations

from typing import Any

import msgspec
from tests.unit.report import sample

from ragassay import report

KEYED = ("cases", "contents", "measurements", "observations", "runtime", "fates")


def many(count: int) -> report.Scorecard:
    """A scorecard of `count` questions: a-1-0, a-2-0, ..., a-1-1, ... as in the sample, in that order."""
    made = sample.material()
    ids = [f"{one.query_id}-{turn}" for turn in range(-(-count // len(made.cases))) for one in made.cases][:count]
    wanted = set(ids)

    def again(rows: Any) -> tuple[Any, ...]:
        turns = range(-(-count // len(made.cases)))
        copies = (msgspec.structs.replace(one, query_id=f"{one.query_id}-{turn}") for turn in turns for one in rows)
        return tuple(one for one in copies if one.query_id in wanted)

    return report.build(sample.material(**{name: again(getattr(made, name)) for name in KEYED}))
