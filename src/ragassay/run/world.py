"""What a sealed protocol puts in front of a run: cases, documents, passages, and who resolves items. Asks nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ragassay import benchmark as benchmark_room
from ragassay import corpus as corpus_room
from ragassay import seal
from ragassay.corpus import Resolver, floor_of
from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.case import Benchmark, Case, Turn
from ragassay.records.document import Corpus, Document, Passage, Segmentation
from ragassay.records.protocol import Protocol, Subject, SystemIdentity
from ragassay.redact import Redaction
from ragassay.run.contract import Request
from ragassay.run.journal import Key
from ragassay.store import Store


@dataclass(frozen=True, slots=True)
class World:
    """The records that a run stands on, all of them verified."""

    protocol: Protocol
    protocol_digest: Digest
    subject: Subject
    cases: Mapping[str, Case]
    documents: list[Document]
    passages: list[Passage]
    resolver: Resolver
    earlier: Mapping[str, tuple[str, ...]]
    """With live history: the questions whose own answers a question is asked after, in the order of their turns."""

    @property
    def keys(self) -> list[Key]:
        """Every question to be asked: all cases in benchmark order, then all again for each repeat."""
        return [(one, repeat) for repeat in range(self.subject.repeats) for one in self.cases]

    def request(self, key: Key, credentials: Mapping[str, str], own_answer: Callable[[Key], str | None]) -> Request:
        """The request of one key; the seed is the run's seed plus the repeat."""
        case = self.cases[key[0]]
        return Request(
            query_id=case.query_id,
            query=case.query,
            history=self.history(key, own_answer),
            principal=case.principal,
            credential=credentials.get(case.principal.id) if case.principal else None,
            as_of=self.subject.as_of,
            seed=self.subject.seed + key[1],
            top_k=self.subject.top_k,
        )

    def after(self, key: Key) -> tuple[Key, ...]:
        """The keys that must be finished before this one is asked."""
        return tuple((one, key[1]) for one in self.earlier.get(key[0], ()))

    def history(self, key: Key, own_answer: Callable[[Key], str | None]) -> tuple[Turn, ...]:
        """Earlier turns as the subject says: gold, none, or live.

        Live: the gold history of the conversation's first question in the benchmark, then each earlier question with
        the system's own answer to it; where it gave none, only the question.
        """
        before = self.after(key)
        first = self.cases[before[0][0] if before else key[0]]
        if self.subject.history == "none" or first.conversation is None:
            return ()
        turns = list(first.conversation.history)
        for one in before:
            turns.append(Turn(role="user", text=self.cases[one[0]].query))
            if (answer := own_answer(one)) is not None:
                turns.append(Turn(role="assistant", text=answer))
        return tuple(turns)


def conversations(cases: Iterable[Case]) -> dict[str, tuple[str, ...]]:
    """Question -> the earlier questions of the same conversation and principal, by turn; first of equal turns."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        if case.conversation is not None:
            found.setdefault((case.conversation.id, case.principal.id if case.principal else ""), []).append(case)
    earlier: dict[str, tuple[str, ...]] = {}
    for members in found.values():
        by_turn = {case.conversation.turn: case for case in reversed(members) if case.conversation}
        for case in members:
            turns = sorted(turn for turn in by_turn if case.conversation and turn < case.conversation.turn)
            earlier[case.query_id] = tuple(by_turn[turn].query_id for turn in turns)
    return earlier


def load_world(store: Store, protocol_digest: Digest) -> World:
    """Verify everything that a protocol reaches, then load it. IntegrityError before a single question is asked."""
    seal.verify(store, protocol_digest)
    protocol = store.get_record(Protocol, protocol_digest)
    subject = store.get_record(Subject, protocol.subject)
    documents = corpus_room.load(store, store.get_record(Corpus, protocol.objects["corpus"]))
    passages: list[Passage] = []
    if "segmentation" in protocol.objects:
        passages = corpus_room.load_passages(store, store.get_record(Segmentation, protocol.objects["segmentation"]))
    cases = benchmark_room.load(store, store.get_record(Benchmark, protocol.objects["benchmark"]))
    return World(
        protocol,
        protocol_digest,
        subject,
        {one.query_id: one for one in cases},
        documents,
        passages,
        resolver_of(subject, documents, passages),
        conversations(cases) if subject.history == "live" else {},
    )


def resolver_of(subject: Subject, documents: list[Document], passages: list[Passage]) -> Resolver:
    """Who resolves items to places, by the rule that was sealed."""
    resolver = Resolver(documents, passages, as_of=subject.as_of, floor=floor_of(subject.resolution))
    if subject.resolution is not None:
        resolver.prepare()
    return resolver


def check_system(subject: Subject, identity: SystemIdentity) -> None:
    """UsageError unless the system is the one that was sealed; names what differs."""
    if subject.system == identity:
        return
    differs = [name for name in identity.__struct_fields__ if getattr(identity, name) != getattr(subject.system, name)]
    raise UsageError(
        f"this is not the system that was sealed: {', '.join(differs)} differ",
        field="system",
        hint="seal a protocol for this system, or run the one that was sealed",
    )


def check_redaction(subject: Subject, redaction: Redaction) -> None:
    """UsageError unless the redaction is the one that was sealed."""
    if subject.redaction != redaction.digest:
        raise UsageError(
            "this is not the redaction that was sealed",
            field="redact",
            hint="run with the patterns and headers that the protocol was sealed with, or seal again",
        )
