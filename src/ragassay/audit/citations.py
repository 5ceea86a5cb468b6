"""What stands behind the citations of a question: who may read them, their way here, what judges said. Judges none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragassay.audit.hops import Hop, Line, hop, rows
from ragassay.records.base import Digest
from ragassay.records.case import Case
from ragassay.records.document import Corpus, Document
from ragassay.records.judgement import Judgement, JudgementSet
from ragassay.records.protocol import Protocol, Run, Scoring
from ragassay.records.provenance import FACTS, SourceFile
from ragassay.records.score import ScoreTable
from ragassay.records.trace import TraceContent
from ragassay.score.cited import Cited, cited, documents_cited
from ragassay.score.verdicts import Verdicts, read
from ragassay.seal.evidence import About
from ragassay.store import Store

ACCESS = {
    "allowed": "the principal may read it", "denied": "the principal may NOT read it",
    "unknown": "whether the principal may read it is not known", "unscoped": "asked by nobody in particular",
}  # fmt: skip


def cited_hops(store: Store, about: About, protocol: Protocol, run: Run, case: Case) -> Iterator[Hop]:
    """A hop for each citation of each answer to a question, each verdict on one, each document that is cited."""
    table = None if about.scores is None else store.get_record(ScoreTable, about.scores)
    verdicts = _verdicts(store, run, table)
    corpus = store.get_record(Corpus, protocol.objects["corpus"])
    known: dict[tuple[str, str], Document] = {}
    for line, content in rows(store, run.contents, TraceContent, lambda one: one.query_id == case.query_id):
        given = {judge: one.given(case.query_id, content.repeat) for judge, one in verdicts.items()}
        wanted = documents_cited(content, given) - known.keys()
        for document_line, one in _documents(store, corpus, wanted):
            known[one.document_id, one.version] = one
            yield hop("cited document", corpus.blob, document_line, f"parser {one.parser}", _told_of(one, corpus))
            yield from source_file(store, corpus, one)
        for each in cited(content, case, known, given) or ():
            yield hop("citation", run.contents, line, "the system", _told(each))
    if table is not None:
        yield from _judgements(store, table, case.query_id)


def source_file(store: Store, corpus: Corpus, document: Document) -> Iterator[Hop]:
    """The file that a document was read from, as it was then."""
    if document.source is None or corpus.sources is None:
        return
    name = document.source.file
    for line, one in rows(store, corpus.sources, SourceFile, lambda one: one.file == name):
        place = "" if document.source.line is None else f", line {document.source.line}"
        told = f"{one.file}{place}: {one.digest}, {one.size:,} bytes"
        yield hop("source file", corpus.sources, line, "as it was read; the file itself is not in the store", told)


def _verdicts(store: Store, run: Run, table: ScoreTable | None) -> Mapping[str, Verdicts]:
    if table is None:
        return {}
    return read(store, run, store.get_record(Scoring, table.scoring), table.judged, table.judged)


def _documents(store: Store, corpus: Corpus, wanted: set[tuple[str, str]]) -> Iterator[tuple[Line, Document]]:
    if not wanted or corpus.mode != "embedded":
        return iter(())
    return rows(store, corpus.blob, Document, lambda one: (one.document_id, one.version) in wanted)


def _told_of(document: Document, corpus: Corpus) -> str:
    """Licence, owner, origin, collection, authorisation, known limits: its own word, else that of the whole corpus."""
    said = document.provenance.over(corpus.provenance) if document.provenance is not None else corpus.provenance
    facts = [
        f"{name} {getattr(said, name)}" if said is not None and getattr(said, name) else f"{name} not recorded"
        for name in FACTS
    ]
    facts += [f"limit: {one}" for one in (said.limits if said is not None else ())]
    return f"{document.document_id}@{document.version}: {', '.join(facts)}"


def _told(one: Cited) -> str:
    said = "; ".join(f"{each.judge} on {each.claim_id}: {each.said}" for each in one.entails) or "not judged"
    way = " | ".join(one.through) or "no document"
    gap = f"; not known whole: {one.gap}" if one.gap is not None else ""
    return f"{one.place + 1}. {one.points_to}: {ACCESS[one.access]}; came by {way}{gap}; entails its claim: {said}"


def _judgements(store: Store, table: ScoreTable, query_id: str) -> Iterator[Hop]:
    """The verdicts on citations of a question, by every judge that the scores read."""
    for name, digest in sorted(table.judged.items()):
        record = store.get_record(JudgementSet, Digest(digest))

        def own(one: Judgement) -> bool:
            return one.query_id == query_id and one.about == "citation"

        for line, one in rows(store, record.judgements, Judgement, own):
            said = one.label if one.label is not None else f"{one.status}({one.reason})"
            yield hop("judgement", record.judgements, line, f"{name}, {one.judge}", f"citation {one.target}: {said}")
