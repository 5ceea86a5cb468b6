"""Secrets that are split over several texts of one value: pieces of a stream, steps in a row. Replaces nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ragassay.redact.detect import Finder, Found, find

Cuts = Mapping[int, Sequence[Found]]
"""Number of a text, in the order of the walk -> what of it belongs to something that is split."""
NOT_TEXT = frozenset(
    {
        "access", "action", "citations", "created", "digest", "document_id", "documentid", "finish_reason",
        "finishreason", "id", "index", "item_id", "itemid", "kind", "model", "name", "object", "outcome", "parents",
        "passage_id", "passageid", "query_id", "queryid", "resolution", "role", "status", "step_id", "stepid", "tenant",
        "tenants", "text_digest", "textdigest", "transform", "type", "version", "versions",
    }
)  # fmt: skip
"""Keys of ids and words of a fixed list: put together they would make numbers that nobody wrote."""
MOST_JOINED = 2_000_000
"""Characters that are put together; what is longer is looked at text by text only."""
_MASK = "\0"
_DEPTH = 200


class Leaf(NamedTuple):
    """A text of a value: its number, the keys on its way, and what it says."""

    number: int
    keys: tuple[str, ...]
    text: str


def cuts_of(value: Any, look: Finder, leaves_out: Callable[[str, Any], bool]) -> Cuts:
    """What is found only when texts are put together: those under the same keys, and all in their order.

    White space at their ends does not count. `leaves_out(key, value)`: what stands there is not walked.
    """
    if not any(one.joined for one in look.detectors):
        return {}
    leaves = list(_leaves(value, (), 0, leaves_out, _Numbers()))
    if len(leaves) < 2:
        return {}
    series: dict[tuple[str, ...], list[Leaf]] = defaultdict(list)
    ordered = []
    for one in leaves:
        if one.text.strip() and not (one.keys and one.keys[-1].lower() in NOT_TEXT):
            series[one.keys].append(one)
            ordered.append(one)
    cuts: dict[int, list[Found]] = defaultdict(list)
    masked: dict[int, str] = {}
    for group in [*series.values(), ordered]:
        if len(group) > 1:
            _add(group, look, cuts, masked)
    return cuts


class _Numbers:
    def __init__(self) -> None:
        self.next = 0

    def take(self) -> int:
        self.next += 1
        return self.next - 1


def _leaves(
    value: Any, keys: tuple[str, ...], depth: int, leaves_out: Callable[[str, Any], bool], numbers: _Numbers
) -> Iterator[Leaf]:
    if depth > _DEPTH:
        return
    if isinstance(value, str):
        yield Leaf(numbers.take(), keys, value)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one, keys, depth + 1, leaves_out, numbers)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if not leaves_out(key, one):
                yield from _leaves(one, (*keys, str(key)), depth + 1, leaves_out, numbers)


def _add(group: Sequence[Leaf], look: Finder, cuts: dict[int, list[Found]], masked: dict[int, str]) -> None:
    """The parts of what is found over the ends of the texts of one group."""
    if sum(len(one.text) for one in group) > MOST_JOINED:
        return
    whole = {one.name for one in look.detectors if one.joined}
    pieces, starts, at = [], [], 0
    for one in group:
        if one.number not in masked:
            masked[one.number] = _masked(one.text, _closed(one.text, look(one.text), whole))
        piece = masked[one.number].strip()
        starts.append((at, len(masked[one.number]) - len(masked[one.number].lstrip()), len(piece)))
        pieces.append(piece)
        at += len(piece)
    for found in find("".join(pieces), look.detectors, across=True):
        parts = [
            (one, max(found.start - start, 0) + lead, min(found.end - start, length) + lead)
            for one, (start, lead, length) in zip(group, starts, strict=True)
            if found.start < start + length and start < found.end
        ]
        if len(parts) > 1:
            for one, begin, end in parts:
                cuts[one.number].append(Found(begin, end, found.name))


def _closed(text: str, found: Iterable[Found], whole: Collection[str]) -> Iterator[Found]:
    """What does not go on in another text: a value that was taken for its place (`Bearer ...`) and ends with the text
    may be the beginning of a token that goes on."""
    end = len(text.rstrip())
    return (one for one in found if one.name in whole or one.end < end)


def _masked(text: str, found: Iterable[Found]) -> str:
    """The text with what is found in it by itself taken out of reach, at the same length."""
    for one in found:
        text = text[: one.start] + _MASK * (one.end - one.start) + text[one.end :]
    return text
