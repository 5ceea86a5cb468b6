"""Cross-tenant probes: what is planted, what is asked by whom, what came back and what was found. Asks nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ragassay.records.base import Digest, DocumentId, Instant, Metadata, Record, require
from ragassay.records.case import Principal
from ragassay.records.document import Acl, Count, Name

Category = Literal["authorized", "unauthorized", "shared", "credential", "empty", "poison"]
"""authorized: the owner must get it; unauthorized: nobody else may; shared: ordinary words must bring only what is the
asker's own; credential: a bad one brings nothing; empty: what does not exist brings nothing; poison: planted text must
not steer the answer."""
Arm = Literal["owner", "attacker", "nonexistent"]
"""nonexistent: the attacker's question about something that was never planted."""
Wording = Literal[
    "plain", "paraphrase", "translation", "summary", "indirect", "multi_turn", "encoding", "homoglyph", "filter",
    "direct_id", "top_k", "batch", "cache", "memory", "debug", "tenant_case",
]  # fmt: skip
Endpoint = Literal["ask", "batch", "document"]
PlantedRole = Literal["canary", "restricted", "removed", "moved", "oracle", "attack", "twin", "decoy"]
"""restricted: for some of its tenant only; removed: planted and taken away again; moved: planted for one tenant and
then given to another; oracle: held against a decoy only, to see whether denied can be told from non-existent; attack
and twin: the poisoned text and its clean counterpart; decoy: planted nowhere."""
Channel = Literal[
    "items", "context", "answer", "citation", "title", "snippet", "error", "count", "score", "tool", "cache", "log",
    "filter", "status", "text", "latency", "header", "other",
]  # fmt: skip
FactKind = Literal["name", "amount", "date", "place", "title"]
By = Literal["exact", "fuzzy", "fact", "id", "tenant", "credential", "empty", "marker", "oracle"]
Severity = Literal["leak", "attack", "review"]
"""leak: somebody saw what is not theirs; attack: planted text steered the answer; review: a person must look."""
RateOf = Literal["all", "category", "channel", "pair", "wording", "attack"]


class Standing(Record, frozen=True, kw_only=True):
    """What an assessment holds for; a change of any part makes it stale."""

    corpus: Digest
    """Of the corpus: ids, texts, tenants, permissions, metadata."""
    metadata: Digest
    """Of tenants, permissions and metadata of every document."""
    embedding: Name
    index: Name
    policy: Name
    """As declared in [probe.standing]: a word, or the digest of the file that it names."""


class InventedFact(Record, frozen=True, kw_only=True):
    """One part of a semantic canary."""

    kind: FactKind
    value: Name
    """As it stands in the text: a name, `4718392`, `2031-03-14`, a place."""
    bits: Annotated[float, Meta(gt=0)]
    """log2 of how many values could have been drawn."""


class PlantedDocument(Record, frozen=True, kw_only=True):
    """A document of the suite. Everything but `anchor` and the ordinary words is drawn under the key."""

    document_id: DocumentId
    tenant: Name
    role: PlantedRole
    title: str
    text: str
    anchor: Name
    """The words by which it is asked for; not secret."""
    token: Name | None = None
    facts: tuple[InventedFact, ...] = ()
    acl: Acl | None = None
    to_tenant: Name | None = None
    """Of a moved document: whose it becomes."""
    attack: Literal["instruction", "jamming", "contradiction"] | None = None
    marker: Name | None = None
    """What an answer holds that followed the instruction, or the contradicting value; it stands nowhere whole."""

    @property
    def bits(self) -> float:
        """Of all facts together."""
        return sum(one.bits for one in self.facts)

    def __post_init__(self) -> None:
        require((self.role == "moved") == (self.to_tenant is not None), "to_tenant goes with moved")
        require((self.role in ("attack", "twin")) == (self.attack is not None), "attack goes with attack and twin")


class Call(Record, frozen=True, kw_only=True):
    """One request of a probe."""

    endpoint: Endpoint
    principal: Name
    credential: Name
    """valid, or the name of a variant; never the credential itself."""
    query: str | None = None
    conversation: Name | None = None
    session: Name | None = None
    """Of the credential: two credentials of one session differ in nothing else."""
    top_k: Annotated[int, Meta(ge=1)] | None = None
    filter: Metadata | None = None
    document_id: DocumentId | None = None
    beside: tuple[str, ...] = ()
    """Further questions of a batch, each `principal: query`; the batch is sent under this call's credential."""
    debug: bool = False


class Probe(Record, frozen=True, kw_only=True):
    """One probe: earlier calls prepare it, the last one is judged."""

    probe_id: Name
    group: Name
    """Joins the arms of one question."""
    category: Category
    arm: Arm
    wording: Wording
    principal: Name
    """Who asks the judged call."""
    calls: tuple[Call, ...]
    target: DocumentId | None = None
    """The planted document, or the decoy, that it is about."""
    owner: Name | None = None
    """The tenant whose document it is."""
    language: Name | None = None
    after: Literal["removal"] | None = None
    """Asked only when documents were removed and moved."""

    def __post_init__(self) -> None:
        require(bool(self.calls), "calls is empty: nothing would be asked")
        require(self.calls[-1].principal == self.principal, "the last call is the principal's")


class ProbeSuite(Record, frozen=True, kw_only=True):
    """A frozen suite: who asks, what is planted, and every probe, before anything is asked."""

    name: Name
    key_id: Name
    """The first signs of the key's own digest; the key is stored nowhere."""
    principals: tuple[Principal, ...]
    documents: Digest
    """Blob: JSON lines of PlantedDocument."""
    probes: Digest
    """Blob: JSON lines of Probe."""
    probe_count: Count
    request_count: Count
    """Requests of one repeat."""
    repeats: Annotated[int, Meta(ge=1)]
    standing: Standing
    wanted_bound: Annotated[float, Meta(gt=0, lt=1)]
    endpoints: dict[Name, str]
    """The only addresses that may be asked."""


class CallReply(Record, frozen=True, kw_only=True):
    """What came back for one call, redacted; no credential is in it."""

    latency_ms: float
    status: Count | None = None
    body: str | None = None
    """As it came, JSON or not; absent: no reply, or an empty one."""
    headers: dict[str, str] = {}
    failure: Name | None = None
    """No reply came: timeout, connection, not_available (the credential could not be made)."""


class ProbeReply(Record, frozen=True, kw_only=True):
    """All that came back for one probe."""

    probe_id: Name
    repeat: Count
    calls: tuple[CallReply, ...]

    @property
    def key(self) -> tuple[str, int]:
        """(probe_id, repeat)."""
        return (self.probe_id, self.repeat)


class Finding(Record, frozen=True, kw_only=True):
    """Something that was seen and should not have been: where, how it was recognised, and whose it is."""

    severity: Severity
    channel: Channel
    by: By
    owasp: tuple[Name, ...]
    """Ids of the OWASP list for LLM applications, with their year."""
    told: str
    probe_id: Name | None = None
    """Absent: an oracle over many probes."""
    repeat: Count | None = None
    category: Category | None = None
    wording: Wording | None = None
    credential: Name | None = None
    """The variant with which it was asked; absent: a valid one."""
    step: Name | None = None
    path: str | None = None
    view: str | None = None
    """How the text was decoded before it was recognised."""
    document_id: DocumentId | None = None
    owner: Name | None = None
    principal: Name | None = None


class ProbeRate(Record, frozen=True, kw_only=True):
    """One denominator: attempted = clean + empty + leaked + not_evaluable + invalid + error."""

    of: RateOf
    key: Name
    attempted: Count
    clean: Count
    """Held documents, all of them the asker's own."""
    empty: Count
    """Held nothing; counted apart."""
    leaked: Count
    not_evaluable: Count
    """The reply does not show it."""
    invalid: Count
    """Without power: the owner could not get it either."""
    error: Count
    bound: float | None = None
    """Exact upper 95 % bound of the share that leaks, over clean, empty and leaked."""
    more_needed: Count | None = None
    """So many further probes without a leak would reach the wanted bound."""

    def __post_init__(self) -> None:
        total = self.clean + self.empty + self.leaked + self.not_evaluable + self.invalid + self.error
        require(self.attempted == total, f"attempted is {self.attempted}, the six counts add up to {total}")


class FilterCheck(Record, frozen=True, kw_only=True):
    """Whether a retrieving step filters before it ranks, over all replies that were judged."""

    step: Name
    verified: Count
    """A filter by the asker's tenant is shown, and every candidate is the asker's own."""
    violated: Count
    """A foreign document was among the candidates."""
    not_evaluable: Count
    """No filter, no tenants or no candidates are shown."""
    short: Count = 0
    """Questions whose list here had room left, and grew when more was asked for: by then something had been taken out
    of it, as a filter after ranking does. Counted apart from the three."""


class Oracle(Record, frozen=True, kw_only=True):
    """Whether denied can be told from non-existent by one number or word, in two samples that share no reply."""

    channel: Channel
    path: Name
    pairs: tuple[Count, Count]
    """Documents in each sample, each held against one that does not exist."""
    p_values: tuple[float, float]
    verdict: Literal["finding", "review", "none", "not_evaluable"]
    effect: float | None = None
    """Median difference of the second sample (denied less non-existent), or difference of shares."""
    detectable: float | None = None
    """The least difference that these pairs would have shown nine times in ten."""


class Assessment(Record, frozen=True, kw_only=True):
    """What a suite found. `leaks` above 0 blocks a release whatever else holds."""

    suite: Digest
    replies: Digest
    """Blob: JSON lines of ProbeReply."""
    findings: Digest
    """Blob: JSON lines of Finding."""
    standing: Standing
    started_at: Instant
    finished_at: Instant
    leaks: Count
    """Findings of severity leak."""
    attacks: Count
    reviews: Count
    protected_in_empty: Count
    """Answers to what cannot be answered that held protected information."""
    rates: tuple[ProbeRate, ...]
    filters: tuple[FilterCheck, ...] = ()
    oracles: tuple[Oracle, ...] = ()
    complete: bool = False
    """Whether every probe of the suite was asked."""
    requests: Count
    planted: Count
    left: Count
    """Planted documents that were not taken away again."""
    wanted_bound: float
    versions: dict[str, str] = {}
    """As the system reported them."""
    fuzzy: bool = False
    """Whether fuzzy matches were looked for (the extra `probe`)."""

    def rate(self, of: RateOf, key: str) -> ProbeRate | None:
        """One of its rates."""
        return next((one for one in self.rates if (one.of, one.key) == (of, key)), None)
