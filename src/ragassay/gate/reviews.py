"""The largest gains and losses against the baseline, and whether a named person opened each. Judges no person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from ragassay.errors import UsageError
from ragassay.gate.evidence import Evidence
from ragassay.gate.reading import NoColumn, Part, asked_of_either, classes_of, column, paired
from ragassay.gate.results import moment, number, result
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of
from ragassay.records.decision import Review, RuleResult
from ragassay.records.policy import Policy, ReviewDemand
from ragassay.records.text import many
from ragassay.store import Store, superseding

REFS = "review"


class Moved(NamedTuple):
    """A question that moved, in the measure's better direction."""

    query_id: str
    difference: float


def largest(candidate: Evidence, baseline: Evidence, demand: ReviewDemand) -> list[Moved] | NoColumn:
    """The N largest gains and the N largest losses of all classes, gains first; at equal size by id.

    A question with a value in one arm only counts by the least that it may have moved, at its worst: one that lost
    its value stands among the losses.
    """
    moved: list[Moved] = []
    pairs = 0
    for class_ in classes_of(candidate.spelled(demand.measure), None):
        ours = column(candidate, demand.measure, demand.step, Part(class_))
        if isinstance(ours, NoColumn):
            return ours
        theirs = column(baseline, demand.measure, demand.step or ours.step, Part(class_))
        if isinstance(theirs, NoColumn):
            return theirs
        for one in paired(ours, theirs, asked_of_either(candidate, baseline))[0]:
            pairs += 1
            size = one.value if one.value is not None else one.low
            if size != 0:
                moved.append(Moved(one.query_id, size))
    if not pairs:
        return NoColumn("empty_population", f"no question can have a value of {demand.measure}")
    moved.sort(key=lambda one: (-abs(one.difference), one.query_id))
    gains = [one for one in moved if one.difference > 0][: demand.largest]
    losses = [one for one in moved if one.difference < 0][: demand.largest]
    return [*gains, *losses]


def read_reviews(
    policy: Policy, candidate: Evidence, baseline: Evidence | None, reviews: Sequence[Review], as_of: str
) -> Iterator[RuleResult]:
    """pass: each of them was opened and none is unacceptable; inconclusive: one was not opened; fail: one is not
    acceptable by somebody's latest word. Nobody opened a run before it had ended, nor after the day of the decision:
    what bears such a date counts for nothing."""
    demand = policy.review
    if demand is None:
        return
    label = f"review of the {demand.largest} largest gains and losses in {demand.measure}"
    if baseline is None:
        yield result(label, "reviewed", demand.on_fail, None, "There is no baseline.", ["baseline_absent"])
        return
    found = largest(candidate, baseline, demand)
    if isinstance(found, NoColumn):
        yield result(label, "reviewed", demand.on_fail, None, f"Nothing was read: {found.told}.", [found.reason])
        return
    own = [one for one in reviews if (one.candidate, one.baseline) == (candidate.scores, baseline.scores)]
    kept = [one for one in own if _could_be(one, candidate, baseline, as_of)]
    latest = _latest(kept)
    bad = [one for one in found if any(r.verdict == "not_acceptable" for r in latest.get(one.query_id, ()))]
    unopened = [one for one in found if one.query_id not in latest]
    held = False if bad else None if unopened else True
    told = f"{len(found) - len(unopened):,} of {len(found):,} moved questions were opened by a named person"
    if not found:
        told = "No question moved"
    if bad:
        told += f"; not acceptable: {', '.join(one.query_id for one in bad[:5])}"
    if unopened:
        told += "; not opened: " + ", ".join(f"{one.query_id} ({number(one.difference)})" for one in unopened[:5])
    if len(kept) < len(own):
        told += (
            f"; {many(len(own) - len(kept), 'review')} of before the runs had ended, or of after the decision: not read"
        )
    reasons = ["not_acceptable"] if bad else ["review_absent"] if unopened else []
    yield result(label, "reviewed", demand.on_fail, held, f"{told}.", reasons, measure=demand.measure, step=demand.step,
                 questions=[one.query_id for one in (*bad, *unopened)], method="count")  # fmt: skip


def _could_be(review: Review, candidate: Evidence, baseline: Evidence, as_of: str) -> bool:
    """Whether the day of a review lies between the end of both runs and the decision, by a day at most: people write
    the day where they are."""
    at, day = moment(review.at), timedelta(days=1)
    ended = max(moment(one.envelope.finished_at or one.envelope.started_at) for one in (candidate, baseline))
    return ended - day < at + day and at < moment(as_of) + 2 * day


def _latest(reviews: Sequence[Review]) -> dict[str, list[Review]]:
    """Question -> the latest word of each person."""
    words: dict[tuple[str, str], Review] = {}
    for one in sorted(reviews, key=lambda review: (moment(review.at), review.verdict)):
        words[_of(one)] = one
    found: dict[str, list[Review]] = {}
    for (query_id, _), one in words.items():
        found.setdefault(query_id, []).append(one)
    return found


def add_review(store: Store, review: Review) -> Digest:
    """Keep one more review; none is ever changed. A later word of the same person on the same question supersedes the
    one before, for the reason that it gives. UsageError for tables that are not in the store."""
    for side in (review.candidate, review.baseline):
        if side not in store:
            raise UsageError(f"{side} is not in this store", hint="a review is about two score tables of this store")
    known = stored_reviews(store, review.candidate, review.baseline)
    digest = store.put_record(review)
    own = [one for one in known if _of(one) == _of(review) and one != review]
    if review not in known and own and moment(own[-1].at) <= moment(review.at):
        superseding.supersede(
            store, "review", digest_of(own[-1]), digest, by=review.by, reason=review.reason, at=review.at
        )
    store.set_ref(f"{_folder(review.candidate, review.baseline)}/{digest[7:23]}", digest, kind="review")
    return digest


def _of(review: Review) -> tuple[str, str]:
    """Whose word on what."""
    return str(review.query_id), review.by.strip().casefold()


def stored_reviews(store: Store, candidate: Digest, baseline: Digest) -> tuple[Review, ...]:
    """All reviews of these two tables, oldest first."""
    found = [store.get_record(Review, one.digest) for one in store.refs(f"{_folder(candidate, baseline)}/")]
    return tuple(sorted(found, key=lambda one: (moment(one.at), one.query_id, one.by)))


def _folder(candidate: Digest, baseline: Digest) -> str:
    return f"{REFS}/{candidate[7:23]}-{baseline[7:23]}"
