"""Tables, comparisons and decisions made again from their records, and where they differ first. Changes no store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

import ragassay.corpus
from ragassay.audit.alike import Difference, difference, lines_difference
from ragassay.audit.responses import read_again
from ragassay.compare.pair import pair
from ragassay.compare.weak import MARGIN
from ragassay.errors import AbsentError, IntegrityError, RagassayError, UsageError
from ragassay.gate.decide import decided
from ragassay.gate.probed import Probed, declared_of
from ragassay.probe.again import judge_again
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import digest_of
from ragassay.records.comparison import Comparison
from ragassay.records.decision import Decision
from ragassay.records.document import Corpus, Document
from ragassay.records.probe import Assessment
from ragassay.records.protocol import Protocol, Run
from ragassay.records.score import ScoreTable
from ragassay.records.text import many
from ragassay.score.table import again as score_again
from ragassay.seal.verify import verify_run
from ragassay.store import Store
from ragassay.store.unwritten import Unwritten

T = TypeVar("T", bound=Record)
Kind = Literal["bytes", "responses", "scores", "comparison", "assessment", "decision"]
LINES: dict[type[Record], tuple[str, ...]] = {
    ScoreTable: ("observations", "runtime", "estimates", "fates", "survival", "failures"),
    Comparison: ("effects", "moves", "losses"),
    Assessment: ("replies", "findings"),
    Decision: ("questions",),
}
"""Record -> its fields that name tables of lines; these are compared line by line, not by how they are compressed."""


class Check(NamedTuple):
    """One thing that was made again."""

    kind: Kind
    about: Digest
    result: Literal["equal", "differs", "not made again"]
    told: str
    first: Difference | None = None


class Again:
    """What was made again: each run verified once and scored once under each scoring, however much stands on it."""

    def __init__(self, store: Store) -> None:
        self.scratch = Unwritten.over(store.path)
        """The store, and what was made beside it; nothing on the disk changes."""
        self.verified: dict[Digest, Run] = {}
        self.made: dict[Digest, tuple[ScoreTable, Digest]] = {}
        self.judged: dict[Digest, Assessment] = {}
        self.told: set[Digest] = set()
        """Comparisons and decisions that were made again, each of which stands on two runs."""

    def verify(self, run: Digest) -> Run:
        """The run, all bytes under which were hashed again."""
        if run not in self.verified:
            self.verified[run] = verify_run(self.scratch, run)
        return self.verified[run]

    def first(self, digest: Digest) -> bool:
        """Whether this is asked for the first time of what stands on two runs."""
        new = digest not in self.told
        self.told.add(digest)
        return new

    def score(self, stored: ScoreTable) -> tuple[ScoreTable, Digest]:
        """The table and its digest, from the same scoring, judgements and calibrations."""
        self.verify(stored.run_record)
        key = _key(stored)
        if key not in self.made:
            self.made[key] = score_again(self.scratch, stored)
        return self.made[key]

    def made_of(self, stored: ScoreTable) -> ScoreTable:
        """What was made again in place of a stored table; that itself if it could not be."""
        return self.made.get(_key(stored), (stored, ""))[0]

    def judge(self, store: Store, stored: Assessment, documents: Sequence[Document]) -> Assessment:
        """The assessment of the same replies; each is judged once."""
        key = digest_of(stored)
        if key not in self.judged:
            self.judged[key] = judge_again(store, stored, documents)
        return self.judged[key]

    def table(self, store: Store, stored: ScoreTable) -> ScoreTable:
        """As a decision asks for it: the stored one, if what was made differs in the last bits of numbers only."""
        made, _ = self.score(stored)
        return stored if made == stored or _first(store, stored, made) is None else made


def _key(stored: ScoreTable) -> Digest:
    judged, calibrations = sorted(stored.judged.items()), sorted(stored.calibrations.items())
    return digest_of([stored.run_record, stored.scoring, judged, calibrations])


def audit(store: Store, run: Digest, again: Again | None = None) -> Iterator[Check]:
    """Everything behind a run and everything made of it, each as it is finished; nothing in the store changes.

    In this order: every byte that the run reaches; traces from raw responses; each score table; each comparison and
    each decision in which the run is an arm, behind the assessment of probes that it read. What differs is told, and
    what comes after it is looked at all the same.
    `again` keeps what was made, for the audit of another run of the same store.
    Raises IntegrityError only where the run's own bytes are not what was sealed: nothing can be made of those.
    """
    again = again or Again(store)
    scratch = again.scratch
    record = again.verify(run)
    yield Check("bytes", run, "equal", f"{many(record.answered, 'trace')} and all that they stand on, hashed again")
    yield _responses(scratch, run, record)
    tables = named(store, ScoreTable, "scores/", "past/")
    own = {digest: one for digest, one in tables.items() if one.run_record == run}
    for digest, one in sorted(own.items()):
        yield _scores(scratch, digest, one, again)
    if not own:
        yield Check("scores", run, "not made again", "the store names no score table of this run")
    for digest, comparison in sorted(named(store, Comparison, "comparison/").items()):
        if run in (comparison.baseline.run_record, comparison.candidate.run_record) and again.first(digest):
            yield _comparison(scratch, digest, comparison)
    for digest, decision in sorted(named(store, Decision, "decision/").items()):
        arms = [decision.candidate, *([decision.baseline] if decision.baseline else [])]
        if run in [one.run_record for one in arms] and again.first(digest):
            if decision.assessment is not None and again.first(decision.assessment):
                yield _assessment(scratch, decision.assessment, decision, again)
            yield _decision(scratch, digest, decision, again)


def named(store: Store, kind: type[T], *prefixes: str) -> dict[Digest, T]:
    """Every record of a kind that the store has a name for."""
    digests = {one.digest for prefix in prefixes for one in store.refs(prefix)}
    return {digest: store.get_record(kind, digest) for digest in sorted(digests)}


def _responses(store: Store, digest: Digest, run: Run) -> Check:
    try:
        found = read_again(store, run)
    except UsageError as cause:
        return Check("responses", digest, "differs", f"cannot be made again: {cause.message}")
    left = "; ".join(f"{count:,} not: {reason}" for reason, count in found.left.items())
    if found.first is not None:
        key, first = found.first
        told = f"the trace of {key} does not follow from its raw response"
        return Check("responses", digest, "differs", told, first)
    if not found.made:
        return Check("responses", digest, "not made again", left or "no trace")
    told = f"{many(found.made, 'trace follows', 'traces follow')} from raw responses" + (f"; {left}" if left else "")
    return Check("responses", digest, "equal", told)


def _scores(store: Store, digest: Digest, stored: ScoreTable, again: Again) -> Check:
    try:
        made, same = again.score(stored)
    except RagassayError as cause:
        return Check("scores", digest, "differs", f"cannot be made again: {cause.message}")
    return _check(store, "scores", digest, stored, made, same, f"{many(stored.questions, 'question')} scored again")


def _comparison(store: Store, digest: Digest, stored: Comparison) -> Check:
    try:
        made, again = pair(
            store,
            stored.baseline.scores,
            stored.candidate.scores,
            variation=stored.variation,
            names=(stored.baseline.name, stored.candidate.name),
            seed=stored.seed,
            flips=stored.flips,
            level=stored.level,
            slices=stored.slices,
            reference=stored.reference,
            margin=MARGIN if stored.margin is None else stored.margin,
        )
    except RagassayError as cause:
        return Check("comparison", digest, "differs", f"cannot be made again: {cause.message}")
    told = f"{stored.candidate.name} against {stored.baseline.name} compared again"
    return _check(store, "comparison", digest, stored, made, again, told)


def _assessment(store: Store, digest: Digest, decision: Decision, again: Again) -> Check:
    """The assessment of probes that a decision read, from its replies and the documents of the decision's run."""
    try:
        stored = store.get_record(Assessment, digest)
        run = store.get_record(Run, decision.candidate.run_record)
        corpus = store.get_record(Corpus, store.get_record(Protocol, run.protocol).objects["corpus"])
        if corpus.digest != stored.standing.corpus:
            return Check("assessment", digest, "not made again", "its corpus is not that of this run")
        made = again.judge(store, stored, ragassay.corpus.load(store, corpus))
    except RagassayError as cause:
        return Check("assessment", digest, "differs", f"cannot be made again: {cause.message}")
    told = f"{many(stored.requests, 'request')} of probes judged again: {many(stored.leaks, 'leak')}"
    return _check(store, "assessment", digest, stored, made, digest_of(made), told)


def _decision(store: Store, digest: Digest, stored: Decision, again: Again) -> Check:
    try:
        made = decided(
            store,
            stored.policy,
            stored.candidate.scores,
            baseline=stored.baseline.scores if stored.baseline is not None else None,
            reference=stored.reference,
            as_of=stored.as_of,
            reviews=stored.reviews,
            names=(stored.candidate.name, "" if stored.baseline is None else stored.baseline.name),
            again=again.table,
            probed=Probed(stored.assessment, declared_of(stored.standing)),
            judge=again.judge,
        )
    except RagassayError as cause:
        return Check("decision", digest, "differs", f"cannot be made again: {cause.message}")
    return _check(store, "decision", digest, stored, made.decision, made.digest, f"decided again: {stored.outcome}")


def _check(store: Store, kind: Kind, digest: Digest, stored: Record, made: Record, again: Digest, told: str) -> Check:
    try:
        gone = _lost(store, stored)
    except IntegrityError as cause:
        return Check(kind, digest, "differs", f"{told}: {cause.message}")
    told += "".join(f"; its {name} were taken away" for name in gone)
    if digest == again:
        return Check(kind, digest, "equal", told)
    if gone:
        return Check(kind, digest, "not made again", f"{told}: what was made has another digest")
    first = _first(store, stored, made)
    if first is None:
        return Check(kind, digest, "equal", f"{told}; equal but for the last bits of numbers")
    return Check(kind, digest, "differs", f"{told}: {first.place} is {first.made}, stored was {first.stored}", first)


def _lost(store: Store, stored: Record) -> list[str]:
    """The tables of a record that are gone on purpose. All others are hashed as they lie on the disk: that the same was
    made again says nothing of them. IntegrityError for one that is missing or damaged."""
    lost = []
    for name in LINES[type(stored)]:
        digest = getattr(stored, name)
        try:
            if digest is not None:
                Store.get_raw_lines(store, digest)  # not what was made and kept aside
        except AbsentError:
            lost.append(name)
    return lost


def _first(store: Store, stored: Record, made: Record) -> Difference | None:
    """The first difference in a record or in its tables; how those are compressed says nothing."""
    for name in LINES[type(stored)]:
        left, right = getattr(stored, name), getattr(made, name)
        if (left is None) != (right is None):
            return Difference(name, *("none" if one is None else "there" for one in (left, right)))
        if left != right and left is not None and right is not None:
            found = lines_difference(store.get_raw_lines(left), store.get_raw_lines(right))
            if found is not None:
                return found._replace(place=f"{name} {found.place}")
    skipped = {*LINES[type(stored)], "content"}
    return difference(_plain(stored, skipped), _plain(made, skipped))


def _plain(record: Record, skipped: set[str]) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__struct_fields__ if name not in skipped}
