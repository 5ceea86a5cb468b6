"""What is wrong with each claim of an answer: its evidence, its authority, its citations. Forms no score.

Told by the case's facts or evidence where a claim can be matched with one, else by what the judge saw; each row says
which of the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, get_args

from ragassay.claims import statement_of
from ragassay.records.document import Span
from ragassay.records.judgement import AnswerClaims, Claim
from ragassay.records.score import ClaimFailure, FailureKind, Fate
from ragassay.records.trace import Item
from ragassay.score.citing import cited, items_of
from ragassay.score.facts import Walk, Way
from ragassay.score.hold import Reader
from ragassay.score.judged import Judged
from ragassay.score.labels import Label
from ragassay.traces import Graph

WORST_FIRST: tuple[FailureKind, ...] = get_args(FailureKind)
BY_FATE: Mapping[Fate, FailureKind] = {
    "held": "in_context_not_used", "lost_whole": "lost_before_context", "lost_in_parts": "lost_before_context",
    "between": "lost_before_context", "never_found": "not_retrieved", "unknown": "untold",
}  # fmt: skip
LEAST_SHARED = 2
"""Words that a claim and a label must share, where neither has fewer."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")


class Wrong(NamedTuple):
    """One thing that is wrong with a claim."""

    kind: FailureKind
    told_by: str
    label: str | None = None
    steps: tuple[str, ...] = ()
    citations: tuple[int, ...] = ()


class Known(NamedTuple):
    """A fact, or a piece of evidence, that a claim may be about."""

    id: str
    words: frozenset[str]
    is_fact: bool


def failures_of(judge: str, judged: Judged, graph: Graph, reader: Reader) -> tuple[ClaimFailure, ...]:
    """A row for each claim of an answer that is not as it should be, by one judge, in the order of the claims.

    A claim that has no verdict is none of its kind; what it cites is told all the same.
    """
    claims = judged.claims
    if claims is None or judged.verdicts is None or judged.verdicts.disqualified:
        return ()
    answer = _Answer(judged, claims, graph, reader)
    made = []
    for claim in claims.claims:
        found = sorted(answer.wrong(claim), key=lambda one: WORST_FIRST.index(one.kind))
        if found:
            made.append(_row(judge, judged, claim, found))
    return tuple(made)


def _row(judge: str, judged: Judged, claim: Claim, found: Sequence[Wrong]) -> ClaimFailure:
    first = found[0]
    return ClaimFailure(
        query_id=judged.content.query_id,
        repeat=judged.content.repeat,
        judge=judge,
        claim_id=claim.claim_id,
        failure=first.kind,
        told_by=first.told_by,  # type: ignore[arg-type]
        also=tuple(dict.fromkeys(one.kind for one in found[1:] if one.kind != first.kind)),
        label=first.label,
        steps=first.steps,
        citations=tuple(sorted({place for one in found for place in one.citations})),
    )


class _Answer:
    """The claims of one answer while they are looked at."""

    def __init__(self, judged: Judged, claims: AnswerClaims, graph: Graph, reader: Reader) -> None:
        self.judged, self.claims, self.graph, self.reader = judged, claims, graph, reader
        self.labels, self.world = judged.labels, judged.labels.world
        self.items = tuple(items_of(judged.content, judged.context))

    def wrong(self, claim: Claim) -> Iterator[Wrong]:
        """All that is wrong with a claim, in no order."""
        ruling = self.judged.ruling("claim", claim.claim_id)
        if ruling.label == "contradicted":
            yield Wrong("contradicted", "judge")
        elif ruling.label == "unsupported":
            yield self._lost(claim)
        elif ruling.label == "supported":
            yield from self._authority(ruling.spans)
        yield from self._citations(claim, supported=ruling.label == "supported" and not ruling.spans)

    def _authority(self, spans: Sequence[Span]) -> Iterator[Wrong]:
        """What a claim rests on may be hidden from who asks, out of date, or labelled as wrong: if all of it is."""
        if not spans:
            return
        if all(self._hidden(one) for one in spans):
            yield Wrong("not_authorised", "documents")
        if all(self.world.outdated(one) for one in spans):
            yield Wrong("stale_authority", "documents")
            return
        roles = [self._roles(one) for one in spans]
        for role, kind in (("stale", "stale_authority"), ("contradicts", "contradicted")):
            if all(role in one for one in roles):
                label = next(iter(roles[0][role]))
                yield Wrong(kind, "labels", label)  # type: ignore[arg-type]

    def _hidden(self, span: Span) -> bool:
        principal = self.labels.case.principal
        place = self.world.place(span.document_id, span.version)
        return principal is not None and not self.world.visible(place, principal)

    def _roles(self, span: Span) -> dict[str, list[str]]:
        """Role -> the labels with it that a span meets; none where it also meets one that supports."""
        role_of: dict[str, str] = {one.id: one.role or "supports" for one in self.labels.case.evidence or ()}
        found: dict[str, list[str]] = {}
        for label in self.labels.every:
            if self._meets(span, label):
                found.setdefault(role_of.get(label.id, "supports"), []).append(label.id)
        return {} if "supports" in found else found

    def _meets(self, span: Span, label: Label) -> bool:
        at = self.world.intervals((span,))
        return any(
            one.place == place.place and (label.coarse or (one.start < place.end and place.start < one.end))
            for place in label.places
            for one in at
        )

    def _citations(self, claim: Claim, *, supported: bool) -> Iterator[Wrong]:
        """`supported`: the claim is, and nothing but its citations says by what."""
        if not claim.citations:
            yield Wrong("uncited", "citations")
            return
        found = {place: cited(self.claims.citations[place], self.items) for place in claim.citations}
        there = {place: one for place, one in found.items() if one is not None}
        hidden = tuple(place for place, one in there.items() if self._all(one, self._hidden))
        if hidden:
            yield Wrong("not_authorised", "documents", citations=hidden)
        pairs = {place: self.judged.pair(self.claims, claim.claim_id, place).good for place in claim.citations}
        good = [place for place in claim.citations if pairs[place] and self._in_context(found[place]) is not False]
        if good:
            stale = tuple(one for one in good if (item := there.get(one)) and self._all(item, self.world.outdated))
            if supported and len(stale) == len(good):
                yield Wrong("stale_authority", "documents", citations=stale)
            return
        if None in pairs.values():  # the verdict that did not come may be the one that supports it
            return
        outside = tuple(place for place in claim.citations if self._in_context(found[place]) is False)
        if outside:
            yield Wrong("cited_outside_context", "citations", citations=outside)
        wrong = tuple(place for place in claim.citations if pairs[place] is False and place not in outside)
        if wrong:
            yield Wrong("cited_not_entailing", "judge", citations=wrong)

    @staticmethod
    def _all(item: Item, asked: object) -> bool:
        return bool(item.sources) and all(asked(one) for one in item.sources)  # type: ignore[operator]

    def _in_context(self, item: Item | None) -> bool | None:
        """Whether generation saw an item; None where nobody knows what it saw."""
        if self.judged.context is None:
            return None
        return item is not None and any(
            self.world.identity(one) == self.world.identity(item) for one in self.judged.context
        )

    def _lost(self, claim: Claim) -> Wrong:
        """Where the evidence of a claim is that nothing in the context supports."""
        known = self._about(claim)
        if known is None:
            return Wrong("not_in_context", "judge")
        way: Way = self._walk.fate(known.id) if known.is_fact else self._walk.evidence(known.id)
        return Wrong(BY_FATE[way.fate], "labels", known.id, way.steps)

    @cached_property
    def _walk(self) -> Walk:
        return Walk(self.graph, self.labels, self.reader)

    @cached_property
    def _known(self) -> list[Known]:
        """What the case's labels say that an answer needs: its facts, else its relevant evidence."""
        text_of = {one.id: self._text(one.id) for one in self.labels.visible}
        facts = [
            Known(one.id, words_of(one.text or " ".join(text_of[each] for each in self.labels.sets[one.id][0])), True)
            for one in self.labels.facts
            if self.labels.sets[one.id]
        ]
        relevant = self.labels.relevant(self.world.rel)
        return facts or [Known(one.id, words_of(text_of[one.id]), False) for one in relevant]

    def _text(self, evidence_id: str) -> str:
        one = next(one for one in self.labels.case.evidence or () if one.id == evidence_id)
        if one.quote is not None or one.start is None or one.end is None:
            return one.quote or ""
        found = self.world.versions(one.document_id, one.version)
        return found[0].text[one.start : one.end] if found else ""

    def _about(self, claim: Claim) -> Known | None:
        """The one label that shares most words with a claim; the only label of an answer that is one claim."""
        answer = self.judged.content.answer
        said = words_of(statement_of(answer.text, claim)) if answer else frozenset()
        shared = [(len(said & one.words), one) for one in self._known]
        most = max((count for count, _ in shared), default=0)
        best = [one for count, one in shared if count == most]
        if len(best) == 1 and most >= min(LEAST_SHARED, len(said), max(1, len(best[0].words))) > 0:
            return best[0]
        alone = len(self._known) == 1 and len(self.claims.claims) == 1
        return self._known[0] if alone else None


def words_of(text: str) -> frozenset[str]:
    """The words that tell texts apart: with a digit, of four letters or more, or one Chinese or Japanese character.

    >>> sorted(words_of("The fee is 3 euros."))
    ['3', 'euros']
    """
    found = (one[0].casefold() for one in _WORD.finditer(text))
    return frozenset(
        one for one in found if len(one) > 3 or any(map(str.isdigit, one)) or "\u3040" <= one[0] <= "\u9fff"
    )
