"""Score tables from rows written by hand or drawn, on a benchmark of given cases; no system is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ragassay import benchmark, corpus
from ragassay.measures import declaration, parse
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_set, parse_value
from ragassay.records.case import CaseLine
from ragassay.records.document import Document
from ragassay.records.protocol import Envelope, Protocol, Run, Scoring, Stated, Subject, SystemIdentity
from ragassay.records.score import Observation, ScoreTable
from ragassay.records.trace import TraceContent
from ragassay.score import estimate
from ragassay.score.answer import RUNTIME_MEASURES
from ragassay.store import Store

AS_OF = "2026-08-01T00:00:00Z"
NONE = Stated(absent="none")
ENVELOPE = Envelope(
    started_at="2026-08-01T12:00:00Z", finished_at="2026-08-01T12:00:00Z", code_revision=NONE, python="3", platform="p",
    machine="m", cpu_count=1, packages=(), hash_seed="0", concurrency=1, resumed=0, ragassay_version="0", clock="none",
)  # type: ignore[arg-type]  # fmt: skip


class Written:
    """One store with one corpus of one document and one benchmark of these cases."""

    def __init__(self, store: Store, cases: Sequence[dict[str, Any]], name: str = "written") -> None:
        self.store = store
        self.corpus, self.corpus_digest = corpus.build(store, [_document()], name="written")
        lines = [
            parse_value(
                CaseLine,
                {"query": f"{one['queryId']}?", "relevant": [{"documentId": "d", "grade": 3}], **one},
            )
            for one in cases
        ]
        self.built = benchmark.build(store, lines, self.corpus, [_document()], name=name, version="1", as_of=AS_OF)
        self.cases = list(benchmark.load(store, self.built.benchmark))

    def table(
        self,
        rows: Iterable[Observation],
        name: str,
        *,
        traces: Sequence[TraceContent] = (),
        repeats: int = 1,
        estimates: bool = True,
        **scoring: Any,
    ) -> Digest:
        """A run and its score table with exactly these rows; ref `scores/NAME`."""
        rows = sorted(rows, key=lambda row: (row.query_id, row.repeat, row.step or "", row.measure))
        measures = tuple(sorted({row.measure for row in rows}))
        versions = dict.fromkeys(sorted({declaration(parse(spelled).name).name for spelled in measures}), "1")
        layer = Scoring(
            **{
                "measures": measures, "measure_versions": versions, "hold": 1.0, "tokenizer": "word/1",
                "normalisation": "squad", "level": 0.95, "ties": "list_order", **scoring,
            }
        )  # fmt: skip
        run, run_digest = self._run(name, traces, repeats)
        runtime = [row for row in rows if row.measure.partition("(")[0] in RUNTIME_MEASURES]
        content = [row for row in rows if row.measure.partition("(")[0] not in RUNTIME_MEASURES]
        made = ScoreTable(
            run=run.identity(), run_record=run_digest, scoring=self.store.put_record(layer), content=digest_of([name]),
            observations=self.store.put_lines(content), runtime=self.store.put_lines(runtime),
            estimates=self.store.put_lines(estimate(rows, self.cases, layer) if estimates else []),
            fates=self.store.put_lines([]), survival=self.store.put_lines([]), questions=len(self.cases),
        )  # fmt: skip
        digest = self.store.put_record(made)
        self.store.set_ref(f"scores/{name}", digest, kind="scores")
        return digest

    def _run(self, name: str, traces: Sequence[TraceContent], repeats: int) -> tuple[Run, Digest]:
        store = self.store
        identity = SystemIdentity(
            name=name, adapter="reference", retriever=NONE, generator=NONE, prompt=NONE, settings={}
        )
        subject = Subject(
            corpus=self.corpus.digest, segmentation=NONE, benchmark=self.built.benchmark.identity(), system=identity,
            as_of=AS_OF, seed=0, repeats=repeats, top_k=20, history="gold", timeout_s=1.0,
            redaction=store.put(b"{}"),
        )  # fmt: skip
        protocol = Protocol(
            subject=store.put_record(subject), scoring=digest_of("scoring"), policy=digest_of("policy"),
            corpus_hash=Stated(value=self.corpus.digest), retriever_version=NONE, prompt_hash=NONE, judge_model=NONE,
            objects={"corpus": self.corpus_digest, "benchmark": self.built.digest},
        )  # fmt: skip
        keys = len(self.cases) * repeats
        run = Run(
            subject=protocol.subject, protocol=store.put_record(protocol), state="complete", questions=keys,
            answered=keys, failures=0, content=digest_set([digest_of(one) for one in traces] or [digest_of(name)]),
            contents=store.put_lines(traces), measurements=store.put_lines([]), texts=store.put_lines([]),
            envelope=store.put_record(ENVELOPE),
        )  # fmt: skip
        return run, store.put_record(run)


def _document() -> Document:
    return Document(document_id="d", version="1", text="word", parser="p/1", normaliser="n/1", tenants=("*",))
