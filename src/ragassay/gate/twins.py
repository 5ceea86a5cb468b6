"""Questions that ask the same, whether or not anybody declared it: they are one cluster. Changes no label."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ragassay.benchmark.check.material import Context, circumstances, same_words
from ragassay.records.base import QueryId
from ragassay.records.case import Case


def as_one(cases: Iterable[Case]) -> tuple[Case, ...]:
    """The cases in their order; each that asks what another one asks is declared a paraphrase of the first of them.

    The same is asked in the same words under the same circumstances (who asks, when), or by a chain of paraphrases.
    Thirty copies of one good question are one question: without this they would be thirty independent ones. Turns of a
    conversation are a cluster already and stay as they are.
    """
    cases = tuple(cases)
    alone = [one for one in cases if one.conversation is None]
    parents = {str(one.query_id): one.paraphrase_of for one in alone}
    leaders: dict[str, str] = {}
    first: dict[tuple[str, Context], str] = {}
    for one in alone:
        end = _end(one, parents)
        same = first.setdefault((same_words(one.query), circumstances(one)), end)
        ours, theirs = _leader(leaders, end), _leader(leaders, same)
        if ours != theirs:
            leaders[ours] = theirs
    return tuple(one if one.conversation is not None else _led(one, parents, leaders) for one in cases)


def _end(case: Case, parents: dict[str, QueryId | None]) -> str:
    """The question at the end of a chain of paraphrases; of a ring, the least."""
    at, seen = str(case.query_id), {str(case.query_id)}
    while (above := parents.get(at)) is not None:
        at = str(above)
        if at in seen:
            return min(seen)
        seen.add(at)
    return at


def _leader(leaders: dict[str, str], one: str) -> str:
    while one in leaders:
        one = leaders[one]
    return one


def _led(case: Case, parents: dict[str, QueryId | None], leaders: dict[str, str]) -> Case:
    leader = _leader(leaders, _end(case, parents))
    wanted = None if leader == case.query_id else QueryId(leader)
    return case if case.paraphrase_of == wanted else replace(case, paraphrase_of=wanted)
