"""What there is to judge in a run: claims, citations, facts, items, answers, and what each is judged by. Judges none.

No system's name, score or rank is in an item, so that no evaluator can see whom it judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import msgspec

from ragassay import benchmark as benchmark_room
from ragassay.claims import Source, claims_of, language_of, statement_of, tied
from ragassay.errors import IntegrityError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_text
from ragassay.records.case import REFUSING, Benchmark, Case
from ragassay.records.document import Document
from ragassay.records.judgement import About, AnswerClaims, JudgementSet
from ragassay.records.protocol import Protocol, Run, Subject
from ragassay.records.trace import Item as TraceItem
from ragassay.records.trace import TraceContent
from ragassay.run.judges.contract import Cut, Item, Shown
from ragassay.score.citing import cited, items_of
from ragassay.score.table import load_world
from ragassay.score.world import World
from ragassay.store import Store
from ragassay.traces.graph import context_of

ORDER: tuple[About, ...] = ("claim", "citation", "fact", "answer", "item", "similarity", "decomposition")
"""The kinds of items, as they stand in a plan."""
SCALE: dict[About, str] = {"claim": "support/1", "citation": "support/1", "fact": "support/1", "item": "relevance/1"}
SIMILARITIES = ("semantic_similarity", "bertscore")
"""How near an answer is to a reference: targets whose verdicts are a score and no ruling."""
NOT_JUDGED = frozenset({*REFUSING, "denied"})
"""Outcomes by the system's own word that claim nothing."""
Key = tuple[str, int]


class Batch(NamedTuple):
    """The items of one answer that are judged together, and those that nobody can judge, with the reason."""

    query_id: str
    repeat: int
    about: About
    items: tuple[Item, ...]
    missing: tuple[tuple[Item, str], ...] = ()
    """Never put to an evaluator: no_context, inconsistent (context), no_text (of what it would be judged by)."""

    tie: Callable[[Cut], AnswerClaims] | None = None
    """Of a decomposition: its claims with the citations of the answer."""

    @property
    def name(self) -> str:
        """By which journals know it; unique within a run."""
        return f"{self.about} {self.repeat} {self.query_id}"

    def identity(self) -> Digest:
        """What its verdicts hang on besides the judge: texts and places, never ids of questions, claims or systems."""
        return digest_of([matter_of(one) for one in self.items])


class Answered(NamedTuple):
    """One answer of a run with everything that it is judged by."""

    case: Case
    content: TraceContent
    claims: AnswerClaims
    context: tuple[TraceItem, ...] | None
    why: str
    """Why the context is not known."""
    cut: bool = True
    """Whether its claims are known; not where a model was to cut it and did not."""


def matter_of(item: Item) -> dict[str, object]:
    """The part of an item that can change a verdict, as canonical values."""
    target = item.target if item.about in ("answer", "similarity") else ""
    return {
        "about": item.about,
        "target": target,
        "scale": item.scale,
        "statement": item.statement,
        "question": item.question,
        "answer": item.answer,
        "language": item.language or "",
        "evidence": [
            {"text": one.text, "title": one.title or "", "url": one.url or "",
             "sources": [msgspec.to_builtins(span) for span in one.sources]}
            for one in item.evidence
        ],
        "references": list(item.references),
    }  # fmt: skip


class Matter:
    """The answers of one run, read once; `answers` and `batches` walk them in the order of the run."""

    def __init__(
        self, store: Store, run_digest: str, *, language: str | None = None, cut: JudgementSet | None = None
    ) -> None:
        """`language` of all answers; left out, `language=...` among the slices of a case, else guessed by the text.

        `cut`: the set of a model that cut the answers into claims; left out, they are the answer's sentences.

        Raises IntegrityError if traces and questions do not belong together.
        """
        self._store, self._language = store, language
        self.run = store.get_record(Run, run_digest)
        protocol = store.get_record(Protocol, self.run.protocol)
        subject = store.get_record(Subject, self.run.subject)
        benchmark = store.get_record(Benchmark, protocol.objects["benchmark"])
        self.benchmark = benchmark
        self._cases: Mapping[str, Case] = {one.query_id: one for one in benchmark_room.load(store, benchmark)}
        self.world: World = load_world(store, self.run, protocol, subject, benchmark)
        self._documents = _documents(store, protocol)
        self._cut: dict[Key, AnswerClaims] | None = None
        if cut is not None:
            self._cut = {(one.query_id, one.repeat): one for one in store.get_lines(AnswerClaims, cut.claims)}

    @property
    def cases(self) -> tuple[Case, ...]:
        """The questions of the benchmark."""
        return tuple(self._cases.values())

    def answers(self) -> Iterator[Answered]:
        """Every answer with a text that the system did not call a refusal."""
        for content in self._store.get_lines(TraceContent, self.run.contents):
            case = self._cases.get(content.query_id)
            if case is None:
                raise IntegrityError(
                    f"the run has a trace of question {content.query_id!r}, which its benchmark does not have",
                    hint="run and benchmark do not belong together; run `ragassay store check`",
                )
            answer = content.answer
            if content.failure is None and answer is not None and answer.text.strip():
                yield self._answered(case, content)

    def _answered(self, case: Case, content: TraceContent) -> Answered:
        assert content.answer is not None
        answer, found = content.answer, context_of(content)
        if self._cut is not None:
            known = self._cut.get((content.query_id, content.repeat))
            none = AnswerClaims(query_id=content.query_id, repeat=content.repeat, answer=digest_text(answer.text))
            return Answered(case, content, known or none, found.items, found.reason, cut=known is not None)
        claims = claims_of(
            content.query_id,
            content.repeat,
            answer.text,
            answer.citations,
            self._sources(found.items),
            language=self._said(case, answer.text),
        )
        return Answered(case, content, claims, found.items, found.reason)

    def _sources(self, items: Iterable[TraceItem] | None) -> list[Source]:
        return [Source(one.item_id, self._names(one)) for one in items or ()]

    def _tie(self, answered: Answered, cut: Cut) -> AnswerClaims:
        content, answer = answered.content, answered.content.answer
        assert answer is not None
        sources, left_out = self._sources(answered.context), {"no_claim": cut.no_claims} if cut.no_claims else {}
        return tied(
            content.query_id, content.repeat, answer.text, answer.citations, sources, cut.claims, left_out, "model"
        )

    def _said(self, case: Case, text: str) -> str:
        said = next((one.removeprefix("language=") for one in case.slice if one.startswith("language=")), None)
        return self._language or said or language_of(text)

    def _names(self, item: TraceItem) -> tuple[str, ...]:
        """Other names by which an answer may cite an item: its documents' ids, URLs and titles."""
        made: list[str] = []
        for one in item.sources:
            document = self._documents.get((one.document_id, one.version))
            made += [one.document_id, *(part for part in (document and (document.url, document.title)) or () if part)]
        return tuple(dict.fromkeys(made))

    def batches(self, about: Iterable[About]) -> Iterator[Batch]:
        """The batches of all answers, of these kinds."""
        wanted = frozenset(about)
        for answered in self.answers():
            yield from self.batches_of(answered, wanted)

    def batches_of(self, answered: Answered, about: Iterable[About]) -> Iterator[Batch]:
        """The batches of one answer in the order of ORDER; none without items, none where the system declined."""
        answer = answered.content.answer
        assert answer is not None
        if declined(answered.content):
            return
        made = {
            "claim": self._claims, "citation": self._citations, "fact": self._facts, "answer": self._answers,
            "item": self._items, "similarity": self._similarities, "decomposition": self._decompositions,
        }  # fmt: skip
        for kind in ORDER:
            if kind not in about:
                continue
            found = list(made[kind](answered))
            items = tuple(item for item, why in found if not why)
            missing = tuple((item, why) for item, why in found if why)
            if found:
                tie = partial(self._tie, answered) if kind == "decomposition" else None
                yield Batch(answered.content.query_id, answered.content.repeat, kind, items, missing, tie)

    def shown(self, item: TraceItem) -> Shown | None:
        """An item as a judge is shown it; None where nobody kept its text."""
        text = self.world.text_of(item)
        if text is None:
            return None
        first = next(
            (found for one in item.sources if (found := self._documents.get((one.document_id, one.version)))), None
        )
        sources = () if item.transform == "derived" else item.sources
        return Shown(item.item_id, text, sources, first.title if first else None, first.url if first else None)

    def _claims(self, answered: Answered) -> Iterator[tuple[Item, str]]:
        evidence, why = self._context(answered)
        for claim in answered.claims.claims:
            item = self._item(answered, "claim", claim.claim_id, self._text_of(answered, claim.claim_id))
            yield item._replace(evidence=evidence), why

    def _context(self, answered: Answered) -> tuple[tuple[Shown, ...], str]:
        if answered.context is None:
            return (), answered.why if answered.why == "inconsistent" else "no_context"
        found = [self.shown(one) for one in self.world.distinct(answered.context)]
        kept = tuple(one for one in found if one is not None)
        return (kept, "") if len(kept) == len(found) else ((), "no_text")

    def _citations(self, answered: Answered) -> Iterator[tuple[Item, str]]:
        """One for each citation of each claim whose item is anywhere in the trace."""
        every = list(items_of(answered.content, answered.context))
        for claim in answered.claims.claims:
            text = self._text_of(answered, claim.claim_id)
            for place in claim.citations:
                found = cited(answered.claims.citations[place], every)
                if found is None:
                    continue
                shown = self.shown(found)
                kept = () if shown is None else (shown,)
                item = self._item(answered, "citation", f"{claim.claim_id}:{place}", text)
                yield item._replace(evidence=kept), "" if kept else "no_text"

    def _facts(self, answered: Answered) -> Iterator[tuple[Item, str]]:
        for fact in answered.case.facts:
            yield self._item(answered, "fact", fact.id, fact.text or ""), "" if fact.text else "no_text"

    def _answers(self, answered: Answered) -> Iterator[tuple[Item, str]]:
        whole = answered.content.answer.text if answered.content.answer else ""
        yield self._item(answered, "answer", "relevance", whole, "relevance/1"), ""
        if answered.case.answers:
            item = self._item(answered, "answer", "correctness", whole, "correctness/1")
            yield item._replace(references=tuple(one.text for one in answered.case.answers)), ""

    def _similarities(self, answered: Answered) -> Iterator[tuple[Item, str]]:
        whole = answered.content.answer.text if answered.content.answer else ""
        references = tuple(one.text for one in answered.case.answers)
        for target in SIMILARITIES if references else ():
            item = self._item(answered, "similarity", target, whole, "similarity/1")
            yield item._replace(references=references), ""

    def _decompositions(self, answered: Answered) -> Iterator[tuple[Item, str]]:
        whole = answered.content.answer.text if answered.content.answer else ""
        yield self._item(answered, "decomposition", "answer", whole, "decomposition/1"), ""

    def _items(self, answered: Answered) -> Iterator[tuple[Item, str]]:
        seen: set[str] = set()
        for one in self.world.distinct(answered.context or ()):
            if one.item_id not in seen:
                seen.add(one.item_id)
                shown = self.shown(one)
                yield self._item(answered, "item", one.item_id, shown.text if shown else ""), "" if shown else "no_text"

    def _item(self, answered: Answered, about: About, target: str, statement: str, scale: str = "") -> Item:
        answer = answered.content.answer
        text = answer.text if answer else ""
        return Item(
            query_id=answered.content.query_id,
            repeat=answered.content.repeat,
            about=about,
            target=target,
            scale=scale or SCALE[about],
            statement=statement,
            question=answered.case.query,
            answer=text,
            language=self._said(answered.case, text),
        )

    @staticmethod
    def _text_of(answered: Answered, claim_id: str) -> str:
        claim = next(one for one in answered.claims.claims if one.claim_id == claim_id)
        answer = answered.content.answer
        return statement_of(answer.text, claim) if answer else ""


def declined(content: TraceContent) -> bool:
    """Whether the system itself said that it gives no answer."""
    answer = content.answer
    return answer is not None and answer.outcome in NOT_JUDGED and answer.outcome_source == "system"


def _documents(store: Store, protocol: Protocol) -> dict[tuple[str, str], Document]:
    from ragassay import corpus as corpus_room
    from ragassay.records.document import Corpus

    found = corpus_room.load(store, store.get_record(Corpus, protocol.objects["corpus"]))
    return {(one.document_id, one.version): one for one in found}
