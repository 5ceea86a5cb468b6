"""What judges and people say of one question, what they said before, and who replaced that. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ragassay.audit.hops import Hop, first, hop, rows
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of
from ragassay.records.case import Benchmark, Case
from ragassay.records.decision import Decision
from ragassay.records.judgement import JudgeIdentity, Judgement, JudgementSet
from ragassay.records.ledger import Supersession
from ragassay.records.protocol import Protocol
from ragassay.records.score import ScoreTable
from ragassay.seal.evidence import About
from ragassay.store import Store
from ragassay.store.superseding import history, supersessions


def said_of(store: Store, about: About, query_id: str) -> Iterator[Hop]:
    """Each verdict of the sets that the score table reads, each followed by those that it took the place of, newest
    first; then each word of a review that the decision has, those that were taken back among them."""
    if about.scores is not None:
        for name, digest in sorted(store.get_record(ScoreTable, about.scores).judged.items()):
            yield from _judged(store, name, digest, query_id)
    if about.decision is not None:
        own = [one for one in store.get_record(Decision, about.decision).reviews if one.query_id == query_id]
        later = {one.old: one for one in (supersessions(store) if own else ()) if one.kind == "review"}
        for review in reversed(own):
            if (digest := digest_of(review)) in store:
                anew = later.get(digest)
                told = f"{review.verdict} at {review.at}: {review.reason}"
                if anew is None:
                    yield hop("review", digest, None, review.by, told)
                else:
                    yield hop("review before", digest, None, review.by, f"{told}; {replaced(anew)}")


def _judged(store: Store, name: str, digest: Digest, query_id: str) -> Iterator[Hop]:
    past = [one for one in history(store, digest) if one.kind == "judgementset" and one.old in store]
    last: dict[tuple[str, int, str, str, int], Judgement] = {}
    for blob, anew in [(digest, None), *((one.old, one) for one in past)]:
        record = store.get_record(JudgementSet, blob)
        maker = f"judge {name} ({store.get_record(JudgeIdentity, record.judge).kind})"
        for line, one in rows(store, record.judgements, Judgement, lambda one: one.query_id == query_id):
            known = last.get(one.key)
            if known is None and anew is None:
                yield hop("verdict", record.judgements, line, maker, _told(one))
            elif anew is not None and (known is None or _says(known) != _says(one)):
                yield hop("verdict before", record.judgements, line, maker, f"{_told(one)}; {replaced(anew)}")
            last[one.key] = one


def _says(one: Judgement) -> tuple[object, ...]:
    return one.label, one.reason, one.rationale


def _told(one: Judgement) -> str:
    ruled = one.label or f"{one.status}({one.reason})"
    why = f": {one.rationale}" if one.rationale else ""
    return f"{one.about} {one.target}, repeat {one.repeat}: {ruled}{why}"


def replaced(one: Supersession) -> str:
    """Who took it back, when and why."""
    return f"superseded at {one.at} by {one.by}: {one.reason}"


def labels_before(store: Store, protocol: Protocol, query_id: str, told: Callable[[Case], str]) -> Iterator[Hop]:
    """The question and its labels as they stood in each benchmark that this one took the place of, where another."""
    digest = protocol.objects["benchmark"]
    _, last = first(store, store.get_record(Benchmark, digest).blob, Case, lambda one: one.query_id == query_id)
    for anew in history(store, digest):
        if anew.kind != "benchmark" or anew.old not in store:
            return
        blob = store.get_record(Benchmark, anew.old).blob
        if blob not in store:
            return
        line, before = first(store, blob, Case, lambda one: one.query_id == query_id)
        if before != last:
            said = "there was no such question" if before is None else told(before)
            yield hop("question and labels before", blob, line, "the benchmark's file", f"{said}; {replaced(anew)}")
        last = before
