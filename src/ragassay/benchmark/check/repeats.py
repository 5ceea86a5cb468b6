"""Questions that are there twice: equal, nearly so, in both splits. Reads no meaning and no label."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ragassay.benchmark.check.alike import nearly_equal
from ragassay.benchmark.check.material import Context, Limits, Question, finding
from ragassay.benchmark.check.model import Finding, Place


def repeats(asked: Sequence[Question], limits: Limits) -> list[Finding]:
    """Findings over the questions of one benchmark, and of a second one if there are any."""
    groups = clusters(asked)
    equal, leaked, declared = _equal(asked, groups)
    near, stopped = _near(asked, groups, limits)
    inside = [place for place in near if place.other_side is None]
    across = [place for place in near if place.other_side is not None]
    found = finding(
        "duplicate",
        "wrong",
        "case",
        "asking in the same words what another case asks",
        why="one question counts twice as if two independent ones agreed: its stratum leans to it and the interval is "
        "too narrow",
        do="remove all but one, or declare paraphrase_of so that they are one cluster",
        places=equal,
    )
    found += finding(
        "duplicate_declared",
        "weak",
        "case",
        "declared a paraphrase but in the same words",
        why="the interval knows that they belong together, but the question still weighs twice and shows no paraphrase",
        do="reword it or remove it",
        places=declared,
    )
    found += finding(
        "near_duplicate",
        "weak",
        "pair",
        f"of nearly equal questions (trigrams alike {limits.alike:g} or more) that are not declared paraphrases",
        why="if they ask the same, one question weighs twice and the interval is too narrow",
        do="read them; declare paraphrase_of where they ask the same. A changed name or number makes another question",
        places=inside,
    )
    found += finding(
        "leaked",
        "wrong",
        "case",
        "asking what a case of the other split asks, in the same words",
        why="what was tuned on one split has seen the question: its score on the other is not a test",
        do="remove it from the split that was not looked at",
        places=leaked,
    )
    found += finding(
        "leaked_near",
        "weak",
        "pair",
        f"of nearly equal questions (trigrams alike {limits.alike:g} or more) in two splits",
        why="if they ask the same, the split is not a test",
        do="read them; keep both on the same side",
        places=across,
    )
    found += finding(
        "search_stopped",
        "weak",
        "search",
        f"for nearly equal questions stopped (at most {limits.compared_pairs:,} comparisons and "
        f"{limits.listed_pairs:,} pairs)",
        why="there may be more pairs than are listed",
        do="remove the duplicates that are listed and check again",
        places=(),
        count=int(stopped),
    )
    return found + _split_groups(asked, groups) + _chains(asked)


class Groups(NamedTuple):
    """Which questions belong together."""

    of: dict[tuple[bool, str], str]
    """(foreign, query id) -> the end of its chain of paraphrases, or its conversation."""

    def same(self, one: Question, other: Question) -> bool:
        """Whether two questions of one benchmark are declared to be of one group."""
        return (
            one.foreign == other.foreign
            and self.of[one.foreign, one.case.query_id] == self.of[other.foreign, other.case.query_id]
        )


def clusters(asked: Iterable[Question]) -> Groups:
    """The group of each question: its conversation, else the question at the end of its chain of `paraphrase_of`."""
    asked = list(asked)
    parents = {(one.foreign, one.case.query_id): one.case.paraphrase_of for one in asked}
    found: dict[tuple[bool, str], str] = {}
    for one in asked:
        if one.case.conversation is not None:
            found[one.foreign, one.case.query_id] = f"conversation {one.case.conversation.id}"
            continue
        at, seen = one.case.query_id, {one.case.query_id}
        while (above := parents.get((one.foreign, at))) is not None and above not in seen:
            at = above
            seen.add(at)
        found[one.foreign, one.case.query_id] = f"question {min(seen) if above is not None else at}"
    return Groups(found)


def _sides(one: Question, other: Question) -> bool:
    """Whether two questions lie in two splits."""
    return one.foreign != other.foreign or bool(one.side and other.side and one.side != other.side)


def _pair(one: Question, other: Question, detail: str) -> Place:
    """The two as one place whichever comes first: that of the benchmark that is checked, else the lesser id."""
    swapped = not other.foreign and other.case.query_id < one.case.query_id
    return place_of(other, one, detail) if swapped else place_of(one, other, detail)


def place_of(one: Question, other: Question, detail: str | None = None) -> Place:
    """A question and the one that it is compared with, from the side of the benchmark that is checked."""
    if one.foreign:
        one, other = other, one
    side = other.side if _sides(one, other) else None
    return Place(query_id=one.case.query_id, other=other.case.query_id, other_side=side, detail=detail)


def same_question(asked: Iterable[Question]) -> Iterator[list[Question]]:
    """Questions of the same words in the same context, where there are several."""
    groups: dict[tuple[str, Context], list[Question]] = defaultdict(list)
    for one in asked:
        if one.text:
            groups[one.text, one.context].append(one)
    yield from (group for group in groups.values() if len(group) > 1)


def _equal(asked: Sequence[Question], groups: Groups) -> tuple[list[Place], list[Place], list[Place]]:
    """Places of equal questions: undeclared, in two splits, declared. Every question is named once in each."""
    equal: list[Place] = []
    leaked: list[Place] = []
    declared: list[Place] = []
    for group in same_question(asked):
        by_side: dict[tuple[bool, str], list[Question]] = defaultdict(list)
        firsts: dict[tuple[bool, str], dict[str, Question]] = defaultdict(dict)
        for one in group:
            by_side[one.foreign, one.side].append(one)
            firsts[one.foreign, one.side].setdefault(groups.of[one.foreign, one.case.query_id], one)
        for one in group:
            if one.foreign:
                continue
            stranger = next((two for two in firsts[False, one.side].values() if not groups.same(one, two)), None)
            twin = next((two for two in by_side[False, one.side] if two is not one), None)
            if stranger is not None:
                equal.append(place_of(one, stranger))
            elif twin is not None:
                declared.append(place_of(one, twin))
            there = next((others[0] for key, others in by_side.items() if _sides(one, others[0])), None)
            if there is not None:
                leaked.append(place_of(one, there))
    return equal, leaked, declared


class Bucket(NamedTuple):
    """Questions of the same words in the same context."""

    members: list[Question]
    firsts: tuple[dict[str, Question], dict[str, Question]]
    """Own and foreign: group -> its first question."""


def _near(asked: Sequence[Question], groups: Groups, limits: Limits) -> tuple[list[Place], bool]:
    """Places of nearly equal questions, and whether the search was stopped."""
    by_text: dict[str, dict[Context, Bucket]] = defaultdict(dict)
    for one in asked:
        bucket = by_text[one.text].setdefault(one.context, Bucket([], ({}, {})))
        bucket.members.append(one)
        bucket.firsts[one.foreign].setdefault(groups.of[one.foreign, one.case.query_id], one)
    texts = sorted(by_text)
    joined = nearly_equal(texts, limits.alike, most_compared=limits.compared_pairs, most_pairs=limits.listed_pairs)
    places: dict[tuple[str, str, str], Place] = {}
    for pair in joined.pairs:
        first, second = by_text[texts[pair.first]], by_text[texts[pair.second]]
        for context in [one for one in first if one in second]:
            for one, other in _partners(first[context], second[context], groups):
                if len(places) >= limits.listed_pairs:
                    return list(places.values()), True
                place = _pair(one, other, f"{pair.similarity:.2f}{_opposed(one, other)}")
                places[str(place.query_id), str(place.other), place.other_side or ""] = place
    return list(places.values()), joined.stopped


def _opposed(one: Question, other: Question) -> str:
    """What to read first: a pair of which only one can be answered."""
    return ", only one answerable" if (one.case.answerable == "no") != (other.case.answerable == "no") else ""


def _partners(some: Bucket, others: Bucket, groups: Groups) -> Iterator[tuple[Question, Question]]:
    """Every question of either bucket with the first of the other that is of another group, own and foreign."""
    for left, right in ((some, others), (others, some)):
        for one in left.members:
            for firsts in right.firsts[: 1 if one.foreign else 2]:
                other = next((two for two in firsts.values() if not groups.same(one, two)), None)
                if other is not None:
                    yield one, other


def _split_groups(asked: Sequence[Question], groups: Groups) -> list[Finding]:
    """Members of groups that reach into another split: by their declaration, or by a question that both hold."""
    members: dict[str, list[Question]] = defaultdict(list)
    for one in asked:
        if not one.foreign:
            members[groups.of[False, one.case.query_id]].append(one)
    places = {}
    for group in members.values():
        for one in group if len({two.side for two in group}) > 1 else ():
            other = next((two for two in group if _sides(one, two)), None)
            if other is not None:
                places[one.case.query_id] = place_of(one, other)
    for alike in same_question(asked):
        there = next((one for one in alike if one.foreign), None)
        twins = {one.case.query_id: one for one in alike if not one.foreign}
        for name in sorted({groups.of[False, twin] for twin in twins}):
            for one in members[name]:
                if one.case.query_id not in twins and there is not None:
                    places.setdefault(one.case.query_id, place_of(one, there))
    return finding(
        "group_split",
        "wrong",
        "case",
        "of a conversation or a group of paraphrases that lies in both splits",
        why="the splits are not independent: what was tuned on one has seen the other's question in other words",
        do="keep a conversation, and a question with its paraphrases, on one side",
        places=places.values(),
    )


def _chains(asked: Sequence[Question]) -> list[Finding]:
    parents = {one.case.query_id: one.case.paraphrase_of for one in asked if not one.foreign}
    places = [
        Place(query_id=name, other=above)
        for name, above in parents.items()
        if above is not None and parents.get(above) is not None
    ]
    return finding(
        "paraphrase_chain",
        "wrong",
        "case",
        "declared a paraphrase of a paraphrase",
        why="a cluster is a question and those that name it: a chain falls into two clusters and the interval is too "
        "narrow",
        do="let every paraphrase name the same original",
        places=places,
    )
