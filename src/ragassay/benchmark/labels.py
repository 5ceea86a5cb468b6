"""One case's labels against the documents: versions, spans, quotes, sets of evidence. Stores nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from ragassay.benchmark.report import Label
from ragassay.corpus.access import visible
from ragassay.errors import BenchmarkError
from ragassay.records.base import EvidenceId, Instant
from ragassay.records.case import Case, Evidence, Fact
from ragassay.records.document import Document
from ragassay.records.text import valid_at


class Findings(NamedTuple):
    """What was found while the labels of all cases were resolved."""

    found: list[Label]
    ambiguous: list[Label]
    not_found: list[Label]
    dangling: list[Label]
    hidden: list[Label]
    versions: list[Label]
    nothing_visible: list[str]
    dropped: list[EvidenceSet]


EvidenceSet = tuple[EvidenceId, ...]


class Documents:
    """The versions of each document, by id."""

    def __init__(self, documents: Iterable[Document], as_of: Instant | None) -> None:
        self._versions: dict[str, list[Document]] = defaultdict(list)
        self._as_of = as_of
        for one in documents:
            self._versions[one.document_id].append(one)

    def named(self, evidence: Evidence) -> Document | None:
        """The document version that a label means; None if the corpus does not hold it.

        Without a version: the only one, else the only one valid at `as_of`, else BenchmarkError with the versions.
        """
        versions = self._versions.get(evidence.document_id, [])
        if evidence.version is not None:
            return next((one for one in versions if one.version == evidence.version), None)
        if len(versions) > 1 and self._as_of is not None:
            valid = [one for one in versions if valid_at(one.valid_from, one.valid_until, self._as_of)]
            versions = valid if len(valid) == 1 else versions
        if len(versions) > 1:
            names = ", ".join(one.version for one in versions)
            raise BenchmarkError(
                f"document {evidence.document_id!r} has several versions ({names}) and the label names none",
                field="version",
                hint=f"not exactly one of them is valid at {self._as_of}; name one"
                if self._as_of
                else "name one, or give as_of",
            )
        return versions[0] if versions else None


def resolve_case(case: Case, documents: Documents, rel: int, findings: Findings) -> Case:
    """The case with versions and spans filled in and supersets dropped; what was found is added to `findings`.

    Raises BenchmarkError (with the field) for a span outside its document or of white space only, and for a quote
    that is empty or is not the text at its span.
    """
    evidence: list[Evidence] = []
    relevant, seen = 0, 0
    for number, label in enumerate(case.evidence or ()):
        name = Label(case.query_id, label.id)
        try:
            document = documents.named(label)
            resolved = _resolve(label, document, name, findings)
        except BenchmarkError as error:
            error.field = f"evidence[{number}].{error.field}"
            raise
        evidence.append(resolved)
        shown = document is None or case.principal is None or visible(document, case.principal)
        if not shown:
            findings.hidden.append(name)
        relevant += label.grade >= rel
        seen += label.grade >= rel and shown
    if case.principal is not None and relevant and not seen:
        findings.nothing_visible.append(case.query_id)
    return msgspec.structs.replace(
        case,
        evidence=tuple(evidence) if case.evidence is not None else None,
        facts=tuple(_minimal(fact, findings) for fact in case.facts),
    )


def _resolve(label: Evidence, document: Document | None, name: Label, findings: Findings) -> Evidence:
    if label.quote is not None and not label.quote.strip():
        raise BenchmarkError("an empty quote", field="quote", hint="leave it out, or quote the text")
    if document is None:
        findings.dangling.append(name)
        return label
    if label.version is None:
        findings.versions.append(name)
        label = msgspec.structs.replace(label, version=document.version)
    if label.start is not None and label.end is not None:
        _check_span(label, document, label.start, label.end)
        return label
    if label.quote is None:
        return label
    start = document.text.find(label.quote)
    if start < 0:
        findings.not_found.append(name)
        return label
    if document.text.find(label.quote, start + 1) >= 0:
        findings.ambiguous.append(name)
        return label
    findings.found.append(name)
    return msgspec.structs.replace(label, start=start, end=start + len(label.quote))


def _check_span(label: Evidence, document: Document, start: int, end: int) -> None:
    if end > len(document.text):
        raise BenchmarkError(
            f"the span {start} to {end} ends outside document {document.document_id!r} "
            f"version {document.version!r} ({len(document.text)} code points)",
            field="end",
            hint="offsets count Unicode code points of the stored text, not bytes or UTF-16 units",
        )
    stands = document.text[start:end]
    if not stands.strip():
        raise BenchmarkError(
            "the span holds only white space: it would always count as found", field="start", hint="widen it"
        )
    if label.quote is not None and stands != label.quote:
        raise BenchmarkError(
            f"the quote is not what stands at {start} to {end}: {_short(stands)!r}, not {_short(label.quote)!r}",
            field="quote",
            hint="leave start and end out to have the quote looked up, or leave the quote out",
        )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _minimal(fact: Fact, findings: Findings) -> Fact:
    """The fact without sets that hold another of its sets (the first of equal ones stays)."""
    sets = [frozenset(group) for group in fact.any_of]
    kept: list[EvidenceSet] = []
    for number, group in enumerate(sets):
        smaller = any(other < group or (other == group and at < number) for at, other in enumerate(sets))
        (findings.dropped if smaller else kept).append(fact.any_of[number])
    return fact if len(kept) == len(sets) else msgspec.structs.replace(fact, any_of=tuple(kept))
