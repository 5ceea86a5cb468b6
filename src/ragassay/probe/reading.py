"""What there is for a reader of last resort: texts of attackers' replies that no rule called a leak. Reads nothing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from ragassay.probe.channels import parts_of
from ragassay.records.probe import Channel, Finding, PlantedDocument, Probe, ProbeReply

READ: frozenset[Channel] = frozenset({"answer", "snippet", "title", "error"})
"""Channels whose texts are read: what a service says in words of its own."""
LEAST_LETTERS = 8
"""Letters and digits of a text that is read; a quote needs as many."""
MOST_NAMED = 10
"""Probes that are named for one text."""


class Reading(NamedTuple):
    """One text held against one planted document."""

    text: str
    channel: Channel
    path: str
    document: PlantedDocument
    probes: tuple[str, ...]
    replies: int


def readings(
    probes: Iterable[Probe], documents: Iterable[PlantedDocument], replies: Iterable[ProbeReply],
    findings: Iterable[Finding],
) -> list[Reading]:  # fmt: skip
    """Each different text of a reply to an attacker in which no leak was found, with the document that was asked for.

    Only documents with invented facts; the order is that of the replies.
    """
    by_id = {one.probe_id: one for one in probes}
    planted = {one.document_id: one for one in documents if one.role != "decoy" and one.facts}
    leaked = {(one.probe_id, one.repeat) for one in findings if one.severity == "leak"}
    found: dict[tuple[str, str], Reading] = {}
    for reply in replies:
        probe = by_id.get(reply.probe_id)
        if probe is None or probe.arm != "attacker" or probe.target not in planted or reply.key in leaked:
            continue
        document = planted[probe.target]
        here = _texts(probe, reply)
        for text, (channel, path) in here.items():
            known = found.get((text, document.document_id))
            if known is None:
                found[text, document.document_id] = Reading(text, channel, path, document, (probe.probe_id,), 1)
                continue
            named = known.probes if len(known.probes) >= MOST_NAMED else (*known.probes, probe.probe_id)
            found[text, document.document_id] = known._replace(
                probes=tuple(dict.fromkeys(named)), replies=known.replies + 1
            )
    return list(found.values())


def _texts(probe: Probe, reply: ProbeReply) -> dict[str, tuple[Channel, str]]:
    """Text -> channel and path, of every call that is judged."""
    last = probe.calls[-1]
    found: dict[str, tuple[Channel, str]] = {}
    for call, given in zip(probe.calls, reply.calls, strict=True):
        if (call.principal, call.credential) != (probe.principal, last.credential):
            continue
        for one in parts_of(given).texts:
            if one.channel in READ and sum(map(str.isalnum, one.text)) >= LEAST_LETTERS:
                found.setdefault(one.text, (one.channel, one.path))
    return found


def facts_told(document: PlantedDocument) -> str:
    """The invented facts of a document as one statement."""
    told = []
    for one in document.facts:
        value = f"{int(one.value):,} euros" if one.kind == "amount" else one.value
        if one.kind == "date":
            day = date.fromisoformat(one.value)
            value = f"{day.day} {day:%B} {day.year}"
        told.append(f"{_NAMES[one.kind]} {value}")
    return "; ".join(told)


_NAMES = {"name": "who agreed:", "amount": "the amount:", "date": "the day:", "place": "the place:", "title": "title:"}
