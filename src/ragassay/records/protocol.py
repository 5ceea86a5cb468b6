"""The sealed protocol in three layers, the run that follows it, and the envelope around a run. Seals nothing itself."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ragassay.records.base import Digest, Instant, Metadata, Record, require
from ragassay.records.canonical import digest_of
from ragassay.records.document import Count, Name
from ragassay.records.index import IndexArtefact
from ragassay.records.policy import Policy
from ragassay.records.text import is_instant

__all__ = [
    "Envelope", "PaceEvent", "Package", "Policy", "Protocol", "Run", "Scoring", "Stated", "Subject", "SystemIdentity",
]  # fmt: skip


class Stated(Record, frozen=True, kw_only=True):
    """An identity that every manifest carries: its value, or why there is none."""

    value: Name | None = None
    absent: Name | None = None

    def __post_init__(self) -> None:
        require((self.value is None) != (self.absent is None), "give either the value or why there is none")


class SystemIdentity(Record, frozen=True, kw_only=True):
    """Everything of the system under test that can change a score, by its own word or by digest."""

    name: Name
    adapter: Name
    """The `kind` under which it was asked: reference, python, http, command, ..., or the name of an extension."""
    retriever: Stated
    generator: Stated
    prompt: Stated
    settings: Metadata
    """Adapter settings that can change an answer: mapping, top_k, thresholds, budgets. No secrets, no endpoint."""
    code: Digest | None = None
    """Of the source file of a Python callable."""


class Subject(Record, frozen=True, kw_only=True):
    """First layer: what is examined. Its digest identifies a Run."""

    corpus: Digest
    segmentation: Stated
    """The segmentation's identity, or why there is none."""
    benchmark: Digest
    """`Benchmark.identity()`."""
    system: SystemIdentity
    as_of: Instant
    seed: Count
    repeats: Annotated[int, Meta(ge=1)]
    top_k: Annotated[int, Meta(ge=1)]
    history: Literal["gold", "live", "none"]
    timeout_s: Annotated[float, Meta(gt=0)]
    redaction: Digest
    resolution: Name | None = None
    """The rule by which texts that a system returns are tied to documents, with its version and least score, such as
    `align/2 floor=0.9`; absent: letter for letter only."""

    def __post_init__(self) -> None:
        require(is_instant(self.as_of), "as_of must be an instant such as 2026-08-01T00:00:00Z")


class Scoring(Record, frozen=True, kw_only=True):
    """Second layer: how it is measured."""

    measures: tuple[Name, ...]
    """Canonical spellings."""
    measure_versions: dict[str, str]
    hold: Annotated[float, Meta(gt=0, le=1)]
    tokenizer: Name
    """Counts context tokens."""
    normalisation: Name
    """Of answer texts for exact_match and token_f1."""
    level: Annotated[float, Meta(gt=0, lt=1)]
    """Of confidence intervals."""
    ties: Name
    judges: tuple[Name, ...] = ()
    """Whose judgements are read, as `by=NAME` says it; a measure without `by` is taken for each of them."""
    judge_thresholds: dict[str, float] = {}
    """Judge -> the least score of *supported*, in place of the judge's own."""
    abstention_rules: tuple[str, ...] = ()
    """Regular expressions: an answer that matches one counts as abstained where the system names no outcome."""

    def __post_init__(self) -> None:
        require(bool(self.measures), "measures is empty: nothing would be scored")


class Protocol(Record, frozen=True, kw_only=True):
    """The three layers by digest, and the four identities that a reader looks for first."""

    subject: Digest
    scoring: Digest
    policy: Digest
    corpus_hash: Stated
    retriever_version: Stated
    prompt_hash: Stated
    judge_model: Stated
    objects: dict[Literal["corpus", "segmentation", "benchmark"], Digest] = {}
    """Where the records are whose content the subject names: role -> record blob."""


class Package(Record, frozen=True, kw_only=True):
    """One installed distribution."""

    name: Name
    version: Name


class PaceEvent(Record, frozen=True, kw_only=True):
    """The limit of one endpoint was cut or is back, or nothing was sent to it for a while because it said so."""

    at: Instant
    endpoint: Name
    kind: Literal["cut", "held", "recovered"]
    cause: Name
    """The status, or timeout, connection, gateway; of a recovery: answers."""
    limit: Count
    """Requests that may be out at once from here on."""
    seconds: Annotated[float, Meta(ge=0)] | None = None
    """Of a hold."""


class Envelope(Record, frozen=True, kw_only=True):
    """Circumstances of a run: sealed with it, outside its content digest."""

    started_at: Instant
    finished_at: Instant | None = None
    code_revision: Stated
    code_dirty: bool | None = None
    python: Name
    platform: Name
    machine: Name
    cpu_count: Count
    packages: tuple[Package, ...]
    hash_seed: Name
    concurrency: Count
    resumed: Count
    ragassay_version: Name
    clock: Name
    """Which clocks were read."""
    pace: tuple[PaceEvent, ...] = ()
    """What the run did about overload, in order; the first 1,000 events."""
    pace_left_out: Count = 0
    """Further events."""
    spent: Metadata = {}
    """Calls, tokens and cost as the ceiling counted them; empty without a ceiling."""
    indexes: tuple[IndexArtefact, ...] = ()
    """The indexes of vectors that were searched, as they were built or found."""
    notes: tuple[str, ...] = ()
    """What the system says of how it reads the corpus, in sentences: passages that a model cuts off, say."""


class Run(Record, frozen=True, kw_only=True):
    """The manifest of a finished (or abandoned) run."""

    subject: Digest
    protocol: Digest
    state: Literal["complete", "failed", "partial"]
    """partial: it was stopped on purpose before every question was asked, and `stopped` says why."""
    questions: Count
    """Keys (query_id, repeat) that were to be asked."""
    answered: Count
    """Keys with a trace, failures included."""
    failures: Count
    content: Digest
    """`digest_set` over the digests of the trace contents: equal for an identical rerun."""
    contents: Digest
    """Blob: JSON lines of TraceContent (zstd), sorted by key."""
    measurements: Digest
    """Blob: JSON lines of Measurements (zstd), sorted by key."""
    texts: Digest
    """Blob: JSON lines of {digest, text} (zstd): texts of items that are not passages of the segmentation."""
    envelope: Digest
    """Blob: Envelope."""
    mixed: tuple[str, ...] = ()
    """Reported version keys with more than one value in the run."""
    stopped: Name | None = None
    """Why the keys without a trace were not asked; they are missing for this reason."""

    def __post_init__(self) -> None:
        require((self.state == "partial") == (self.stopped is not None), "stopped goes with partial")

    def identity(self) -> Digest:
        """The digest under which scores refer to this run: subject and content, not the circumstances."""
        return digest_of([self.subject, self.content, self.state, str(self.questions)])
