"""Filters after ranking, seen from behaviour: a list with room left that grows when more is asked for. Asks nothing.

Whoever filters before ranking hands on as many of the asker's own documents as there are, up to the room: a list that
is not full holds all. A list that is not full and grows with the room had something taken out of it after it was cut.
That is no leak by itself (and an approximate index does the same), so it is for review.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from ragassay.probe.verdict import OWASP, Verdict
from ragassay.records.probe import Finding
from ragassay.records.text import many


def shortages(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """By step, the questions by shared words whose list was short; steps without any are left out.

    The same question is asked twice by the same principal, with little room and with more.
    """
    asked: dict[tuple[str, str, int], dict[int, Verdict]] = defaultdict(dict)
    for one in verdicts:
        room = one.probe.calls[-1].top_k
        if one.probe.category == "shared" and room is not None:
            asked[one.probe.group, one.probe.principal, one.repeat][room] = one
    found: Counter[str] = Counter()
    for by_room in asked.values():
        if len(by_room) < 2:
            continue
        (little, few), (_, lots) = sorted(by_room.items())[:2]
        more = dict(lots.lengths)
        found.update({step for step, length in few.lengths if length < min(little, more.get(step, 0))})
    return dict(found)


def short_list(step: str, count: int) -> Finding:
    """What is told of a step with short lists."""
    return Finding(
        severity="review", channel="items", by="oracle", owasp=OWASP["retrieval"], step=step, category="shared",
        told=f"in {many(count, 'question')} the list was not full and grew when more was asked for: something was "
        "taken out after it was cut, as by a filter after ranking",
    )  # fmt: skip
