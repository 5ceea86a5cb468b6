"""What a sealed protocol puts in front of a run: cases, documents, passages, and who resolves items. Asks nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragassay import benchmark as benchmark_room
from ragassay import corpus as corpus_room
from ragassay import seal
from ragassay.corpus import Resolver
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

    @property
    def keys(self) -> list[Key]:
        """Every question to be asked: all cases in benchmark order, then all again for each repeat."""
        return [(one, repeat) for repeat in range(self.subject.repeats) for one in self.cases]

    def request(self, key: Key, credentials: Mapping[str, str]) -> Request:
        """The request of one key; the seed is the run's seed plus the repeat."""
        case = self.cases[key[0]]
        return Request(
            query_id=case.query_id,
            query=case.query,
            history=self.history(case),
            principal=case.principal,
            credential=credentials.get(case.principal.id) if case.principal else None,
            as_of=self.subject.as_of,
            seed=self.subject.seed + key[1],
            top_k=self.subject.top_k,
        )

    def history(self, case: Case) -> tuple[Turn, ...]:
        """Earlier turns as the subject says: gold, or none."""
        if self.subject.history == "gold" and case.conversation is not None:
            return case.conversation.history
        return ()


def load_world(store: Store, protocol_digest: Digest) -> World:
    """Verify everything that a protocol reaches, then load it. IntegrityError before a single question is asked."""
    seal.verify(store, protocol_digest)
    protocol = store.get_record(Protocol, protocol_digest)
    subject = store.get_record(Subject, protocol.subject)
    if subject.history == "live":
        raise UsageError(
            "history = live is not built yet: a run cannot feed a system its own earlier answers",
            field="history",
            hint="seal with history = gold (the labelled earlier turns) or none",
        )
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
        Resolver(documents, passages, as_of=subject.as_of),
    )


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
