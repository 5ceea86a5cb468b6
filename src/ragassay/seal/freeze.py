"""The three layers of a protocol into the store, each by digest, and the protocol over them. Decides nothing.

A new scoring or policy leaves the digest of the subject as it was, so stored runs stay usable under it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ragassay.errors import BenchmarkError, StoreError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of
from ragassay.records.case import Benchmark
from ragassay.records.document import Corpus, Segmentation
from ragassay.records.protocol import Policy, Protocol, Scoring, Stated, Subject
from ragassay.redact import Redaction
from ragassay.store import Store

Role = Literal["corpus", "segmentation", "benchmark"]
NO_JUDGE = "no measure of this scoring asks a judge"


class Sealed(NamedTuple):
    """A frozen protocol: the record, its digest, and the three layers it names."""

    protocol: Protocol
    digest: Digest
    subject: Subject
    scoring: Scoring
    policy: Policy


def freeze(
    store: Store,
    *,
    name: str,
    subject: Subject,
    scoring: Scoring,
    policy: Policy,
    objects: Mapping[Role, Digest] | None = None,
    redaction: Redaction | None = None,
) -> Sealed:
    """Store subject, scoring, policy and protocol, then point `protocol/NAME` at the protocol.

    `objects` says which records hold the content that the subject names (role -> record blob); roles left out are
    looked for among the names in the store. `redaction` is stored so that a reader can see what its digest means.
    Equal content gives an equal digest. Raises StoreError if the store does not hold what the subject names, and
    BenchmarkError if benchmark, segmentation and corpus do not belong together.
    """
    found = _find(store, subject, dict(objects or {}))
    _check_fit(store, subject, found)
    for one in (Redaction(), redaction):
        if one is not None and one.digest == subject.redaction:
            store.put(one.declaration())
    protocol = Protocol(
        subject=store.put_record(subject),
        scoring=store.put_record(scoring),
        policy=store.put_record(policy),
        **stated(subject, scoring),
        objects=found,
    )
    digest = store.put_record(protocol)
    store.set_ref(f"protocol/{name}", digest, kind="protocol")
    return Sealed(protocol, digest, subject, scoring, policy)


def stated(subject: Subject, scoring: Scoring) -> dict[str, Stated]:
    """The four identities that every manifest carries, or why there is none."""
    judges = ", ".join(sorted(scoring.judges))
    if len(judges) > 512:
        judges = digest_of(sorted(scoring.judges))
    return {
        "corpus_hash": Stated(value=subject.corpus),
        "retriever_version": subject.system.retriever,
        "prompt_hash": subject.system.prompt,
        "judge_model": Stated(value=judges) if judges else Stated(absent=NO_JUDGE),
    }


def _find(store: Store, subject: Subject, given: dict[Role, Digest]) -> dict[Role, Digest]:
    found: dict[Role, Digest] = {
        "corpus": given.get("corpus") or _find_corpus(store, subject),
        "benchmark": given.get("benchmark") or _find_benchmark(store, subject),
    }
    if subject.segmentation.value is not None:
        found["segmentation"] = given.get("segmentation") or _find_segmentation(store, subject)
    for role, digest in found.items():
        if digest not in store:
            raise StoreError(
                f"the {role} of this subject is not in the store ({digest})",
                hint=f"build the {role} in this store first",
            )
    return found


def _find_corpus(store: Store, subject: Subject) -> Digest:
    """Of several records of the corpus, an embedded one before a referenced one, then the lowest digest."""
    records = {one.digest: store.get_record(Corpus, one.digest) for one in store.refs("corpus/")}
    fitting = sorted((record.mode, digest) for digest, record in records.items() if record.digest == subject.corpus)
    if not fitting:
        raise StoreError(
            f"the corpus of this subject is not in the store ({subject.corpus})",
            hint="build the corpus in this store first; the subject names `Corpus.digest`",
        )
    return fitting[0][1]


def _find_benchmark(store: Store, subject: Subject) -> Digest:
    records = {one.digest: store.get_record(Benchmark, one.digest) for one in store.refs("benchmark/")}
    fitting = sorted(digest for digest, one in records.items() if one.identity() == subject.benchmark)
    if not fitting:
        raise StoreError(
            f"the benchmark of this subject is not in the store ({subject.benchmark})",
            hint="build the benchmark in this store first; the subject names `Benchmark.identity()`",
        )
    return fitting[0]


def _find_segmentation(store: Store, subject: Subject) -> Digest:
    records = {one.digest: store.get_record(Segmentation, one.digest) for one in store.refs("segmentation/")}
    fitting = sorted(digest for digest, one in records.items() if one.identity() == subject.segmentation.value)
    if not fitting:
        raise StoreError(
            f"the segmentation of this subject is not in the store ({subject.segmentation.value})",
            hint="segment the corpus in this store first; the subject names `Segmentation.identity()`",
        )
    return fitting[0]


def _check_fit(store: Store, subject: Subject, found: Mapping[Role, Digest]) -> None:
    """Corpus, segmentation and benchmark are those that the subject names, and belong to one corpus."""
    corpus = store.get_record(Corpus, found["corpus"])
    benchmark = store.get_record(Benchmark, found["benchmark"])
    claims: list[tuple[str, str, str]] = [
        ("corpus", subject.corpus, corpus.digest),
        ("benchmark", subject.benchmark, benchmark.identity()),
        ("benchmark.corpus", subject.corpus, benchmark.corpus),
    ]
    if "segmentation" in found:
        cut = store.get_record(Segmentation, found["segmentation"])
        claims.append(("segmentation", str(subject.segmentation.value), cut.identity()))
        claims.append(("segmentation.corpus", subject.corpus, cut.corpus))
    for field, wanted, got in claims:
        if wanted != got:
            raise BenchmarkError(
                f"the subject says {wanted}, the store's record says {got}",
                field=field,
                hint="corpus, segmentation and benchmark must be built on one corpus: build them again in this order",
            )
