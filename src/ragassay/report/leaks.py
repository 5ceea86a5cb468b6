"""Findings of probes that are alike, as one row: where, how, by which way in, how many, with a few examples."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ragassay.records.probe import Finding, Wording
from ragassay.records.text import many

MOST_EXAMPLES = 3
_ORDER = {"leak": 0, "attack": 1, "review": 2}
WAYS: dict[Wording, str] = {
    "plain": "by an ordinary question", "paraphrase": "by a paraphrase", "translation": "by a translation",
    "summary": "by asking for a summary", "indirect": "by an indirect reference",
    "multi_turn": "over several turns", "encoding": "by an encoded question", "homoglyph": "by look-alike letters",
    "filter": "by a filter of the asker's own making", "direct_id": "by its id", "top_k": "by asking for many",
    "batch": "in a batch beside the owner's question", "cache": "after the owner had asked the same",
    "memory": "in a conversation of somebody else", "debug": "with debug headers",
    "tenant_case": "under a tenant in another spelling",
}  # fmt: skip
"""Wording of a probe -> by which way it came in, in words."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Findings that are alike in severity, channel, step, category, recognition and way in."""

    severity: str
    channel: str
    step: str | None
    category: str | None
    by: str
    way: str
    """The pattern of a hole, as far as the way in tells it."""
    count: int
    probes: int
    """How many probes (and repeats) they come from; 0: an oracle over many."""
    pairs: tuple[str, ...]
    """Askers and owners, each pair once."""
    owasp: tuple[str, ...]
    told: str
    examples: tuple[str, ...]

    @property
    def where(self) -> str:
        """Channel and step."""
        return self.channel + (f" at step {self.step}" if self.step else "")

    @property
    def how(self) -> str:
        """Category and way in."""
        return f"{self.category}, {self.way}" if self.category else self.way

    @property
    def size(self) -> str:
        """How many, in how many probes, between whom."""
        told = many(self.count, "finding")
        if self.probes:
            told += f" in {many(self.probes, 'probe')}, {many(len(self.pairs), 'pair')} of asker and owner"
        return told


_APART: frozenset[Wording] = frozenset({"memory", "batch", "debug", "filter", "tenant_case", "direct_id"})
"""Ways in that are doors of their own."""
_SHARE = 0.3


def suspects(findings: Iterable[Finding]) -> list[str]:
    """Where to look first: what the most leaking probes have in common, until every one has been named.

    A credential, a cache or a way in that is a door of its own says more than the step that held the document first,
    and that more than the part of the reply that showed it. Empty without a leak.
    """
    traits: dict[tuple[int, str], set[tuple[str, int | None]]] = {}
    first: dict[tuple[str, int | None], Finding] = {}
    oracles = []
    for one in findings:
        if one.severity != "leak":
            continue
        if one.probe_id is None:
            oracles.append(one)
            continue
        probe = (one.probe_id, one.repeat)
        first.setdefault(probe, one)
        for trait in _traits(one):
            traits.setdefault(trait, set()).add(probe)
    for probe, one in first.items():
        if one.step is not None and one.channel == "items":
            traits.setdefault((3, f"hold what is foreign at step {one.step} first"), set()).add(probe)
    left = set(first)
    told: list[str] = []
    while left and len(told) < MOST_EXAMPLES:
        trait = max(traits, key=lambda one: (round(len(traits[one] & left) / len(left), 1), -one[0], one[1]))
        covered = traits.pop(trait) & left
        if len(covered) < _SHARE * len(left):
            break
        told.append(f"{len(covered):,} of {many(len(first), 'leaking probe')} {trait[1]}")
        left -= covered
    told += [f"{one.channel} ({one.path}) tells denied from non-existent, without a word of it" for one in oracles[:3]]
    return told


def _traits(one: Finding) -> Iterable[tuple[int, str]]:
    """What a finding says of its probe, each with its rank: the first says the most."""
    if one.credential is not None and one.credential != "valid":
        yield 0, f"came with the credential {one.credential}: look at how it is checked"
    if one.channel == "cache":
        yield 1, "were answered from a cache: look at what the cache is keyed by"
    if one.wording in _APART:
        yield 2, f"got it {WAYS[one.wording]}"
    if one.channel not in ("items", "cache"):
        yield 4, f"show it in {one.channel}" + (f" ({one.path})" if one.path else "")


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """The gravest first, then the most frequent; none is left off."""
    every: dict[tuple[str, ...], _Gathered] = {}
    for one in findings:
        key = (one.severity, one.channel, one.step or "", one.category or "", one.by, way_of(one))
        if key not in every:
            every[key] = _Gathered(one)
        every[key].add(one)
    keys = sorted(every, key=lambda key: (_ORDER[key[0]], -every[key].count, key))
    return [every[key].group(key[-1]) for key in keys]


def way_of(one: Finding) -> str:
    """By which way it came in."""
    if one.by == "oracle":
        return "denied can be told from non-existent"
    if one.severity == "attack":
        return "by a planted document"
    if one.credential is not None and one.credential != "valid":
        return f"with the credential {one.credential}"
    return WAYS[one.wording] if one.wording is not None else "over many probes"


class _Gathered:
    """Findings under one key, while they are read."""

    def __init__(self, first: Finding) -> None:
        self.first = first
        self.count = 0
        self.probes: set[tuple[str, int | None]] = set()
        self.pairs: dict[str, None] = {}
        self.examples: dict[str, None] = {}

    def add(self, one: Finding) -> None:
        self.count += 1
        if one.probe_id is not None:
            self.probes.add((one.probe_id, one.repeat))
        if one.principal is not None:
            self.pairs[f"{one.principal} saw what is of {one.owner or 'another'}"] = None
        if len(self.examples) < MOST_EXAMPLES:
            view = f"decoded from {one.view}" if one.view else None
            parts = (one.probe_id, one.wording, one.path, view, one.document_id)
            self.examples[" ".join(part for part in parts if part)] = None

    def group(self, way: str) -> Group:
        one = self.first
        return Group(
            severity=one.severity, channel=one.channel, step=one.step, category=one.category, by=one.by, way=way,
            count=self.count, probes=len(self.probes), pairs=tuple(sorted(self.pairs)), owasp=tuple(one.owasp),
            told=one.told, examples=tuple(self.examples),
        )  # fmt: skip
