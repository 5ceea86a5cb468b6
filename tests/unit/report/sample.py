"""Records made by hand for the report's tests: eleven questions whose every number can be counted on paper."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_text
from ragassay.records.case import (
    NATIVE_RUBRIC,
    Benchmark,
    Case,
    Conversation,
    Evidence,
    Fact,
    Principal,
    ReferenceAnswer,
    Turn,
)
from ragassay.records.document import Corpus, Document, Passage, Segmentation, Span
from ragassay.records.protocol import Envelope, Package, Policy, Protocol, Run, Scoring, Stated, Subject, SystemIdentity
from ragassay.records.score import (
    Bounds,
    Estimate,
    FactFate,
    Interval,
    Observation,
    Population,
    ScoreTable,
    SurvivalRow,
)
from ragassay.records.trace import (
    Answer,
    Citation,
    Cost,
    Failure,
    Item,
    Measurements,
    Step,
    StepTiming,
    TraceContent,
    Usage,
)
from ragassay.report.material import Material

AS_OF = "2026-08-01T00:00:00Z"
HOSTILE = (
    "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'> \x1b[31mred\x1b[0m "
    "\u202eright to left\u202c {{ 7 * 7 }} </details></style></script><svg onload=alert(1)> | `x` **bold** [l](javascript:1)"
)
TEXTS = {
    "publish-recovery": "After a commit the publisher keeps the revision tuple. A failed cache write is retried three times.",
    "cas-state-machine": "The state machine compares and swaps on the revision. A stale writer is refused with code 409.",
    "cache-limits": "The cache holds ten thousand entries. Entries older than one day are dropped at midnight.",
    "acme-prices": "Acme pays 4,200 a month for the gold plan. The contract ends in May.",
    "borealis-prices": "Borealis pays 9,900 a month. Canary: QX7-LANTERN.",
    "日本語ガイド": "公開に失敗した場合、改訂番号は保持されます。キャッシュは三回まで再試行されます。",
    "hostile": HOSTILE,
}
TENANTS = {"acme-prices": ("acme",), "borealis-prices": ("borealis",)}
CHAIN = (("bm25", "lexical"), ("dedup", "dedup"), ("assemble", "assemble"))


def digest(text: str) -> Digest:
    return digest_text(text)


def documents() -> list[Document]:
    return [
        Document(
            document_id=name,
            version="1",
            text=text,
            parser="text/1",
            normaliser="none/1",
            tenants=TENANTS.get(name, ("*",)),
        )
        for name, text in TEXTS.items()
    ]


def half(name: str, which: int) -> tuple[int, int]:
    """The two sentences of a document as spans; the second begins after the first full stop and space."""
    text = TEXTS[name]
    middle = next((text.index(mark) + len(mark) for mark in (". ", "。") if mark in text), len(text) // 2)
    return (0, middle) if which == 0 else (middle, len(text))


def item(name: str, which: int, rank: int, score: float | None = None, **more: Any) -> Item:
    start, end = half(name, which)
    return Item(
        item_id=f"{name}#{which}",
        rank=rank,
        resolution="declared",
        transform="slice",
        score=score,
        passage_id=f"{name}#{which}",
        sources=(Span(document_id=name, version="1", start=start, end=end),),
        **more,
    )


def evidence(id_: str, name: str, which: int, grade: int = 3, **more: Any) -> Evidence:
    start, end = half(name, which)
    return Evidence(id=id_, document_id=name, version="1", start=start, end=end, grade=grade, **more)


def trace(
    query_id: str,
    lists: Sequence[Sequence[tuple[str, int]]],
    answer: Answer | None = None,
    failure: Failure | None = None,
    repeat: int = 0,
    **step: Any,
) -> TraceContent:
    steps = []
    for number, (one, (name, kind)) in enumerate(zip(lists, CHAIN, strict=False)):
        parents = (CHAIN[number - 1][0],) if number else ()
        steps.append(
            Step(
                step_id=name,
                name=name,
                kind=kind,
                parents=parents,
                score_direction="higher",
                items_out=tuple(item(n, w, at, 12.5 - at) for at, (n, w) in enumerate(one, 1)),
                **(step if not number else {}),
            )
        )
    if answer is not None:
        steps.append(
            Step(step_id="answer", name="answer", kind="generate", parents=(steps[-1].step_id,) if steps else ())
        )
    context = tuple(item(n, w, at) for at, (n, w) in enumerate(lists[2], 1)) if len(lists) > 2 else None
    return TraceContent(
        query_id=query_id,
        repeat=repeat,
        as_of=AS_OF,
        steps=tuple(steps),
        context=context,
        answer=answer,
        failure=failure,
    )


PR, CS, CL = "publish-recovery", "cas-state-machine", "cache-limits"


def cases() -> list[Case]:
    def plain(query_id: str, query: str, name: str, which: int, **more: Any) -> Case:
        return Case(
            query_id=query_id,
            query=query,
            class_="answerable",
            answerable="yes",
            evidence=(evidence("e1", name, which),),
            facts=(Fact(id="f1", any_of=(("e1",),), text=f"what {name} says"),),
            slice=("recovery",),
            **more,
        )

    return [
        plain(
            "a-1",
            "What does the publisher keep after a commit?",
            PR,
            0,
            answers=(ReferenceAnswer(text="The revision tuple."),),
        ),
        plain("a-2", "How often is a failed cache write retried?", PR, 1),
        plain("a-3", "When are old entries dropped?", CL, 1),
        plain("a-4", "How many entries does the cache hold?", CL, 0),
        Case(
            query_id="m-1",
            query="Which code does a stale writer get, and how often is its cache write retried?",
            class_="multi_hop",
            answerable="yes",
            evidence=(evidence("e1", CS, 1, 2), evidence("e2", PR, 1, 2)),
            facts=(Fact(id="f1", any_of=(("e1",),)), Fact(id="f2", any_of=(("e1", "e2"),))),
        ),
        Case(
            query_id="u-1",
            query="Who wrote the publisher?",
            class_="unanswerable",
            answerable="no",
            evidence=(),
            answerability_scope="passage",
        ),
        Case(
            query_id="u-2",
            query="What does the platinum plan cost?",
            class_="unanswerable",
            answerable="no",
            evidence=(),
        ),
        Case(
            query_id="x-1",
            query="What does Borealis pay?",
            class_="cross_tenant",
            answerable="yes",
            evidence=(evidence("e1", "borealis-prices", 0),),
            principal=Principal(id="ann", tenants=("acme",)),
            risk="high",
            notes="Ann works for Acme.",
        ),
        Case(
            query_id="h-1",
            query=f"Hostile {HOSTILE}",
            class_="adversarial",
            answerable="not_applicable",
            expect=("abstained",),
            threats=("prompt_injection",),
            notes=HOSTILE,
            evidence=(evidence("e1", "hostile", 0, 0, quote=HOSTILE),),
        ),
        Case(
            query_id="c-1",
            query="再試行は何回ですか？",
            class_="answerable",
            answerable="yes",
            slice=("language=ja", "recovery"),
            conversation=Conversation(
                id="conv-1",
                turn=2,
                history=(
                    Turn(role="user", text="公開に失敗しました。"),
                    Turn(role="assistant", text="改訂番号は保持されます。"),
                ),
            ),
            evidence=(evidence("e1", "日本語ガイド", 1),),
            facts=(Fact(id="f1", any_of=(("e1",),)),),
        ),
        Case(query_id="n-1", query="Nobody labelled this one. مرحبا", class_="answerable", answerable="yes"),
    ]


def said(text: str, outcome: Any = "answered", **more: Any) -> Answer:
    return Answer(text=text, outcome=outcome, outcome_source="system", **more)


def contents() -> list[TraceContent]:
    ja = "日本語ガイド"
    return [
        trace(
            "a-1",
            [[(PR, 0), (CL, 0), (PR, 1)], [(PR, 0), (PR, 1)], [(PR, 0)]],
            said(
                "The publisher keeps the revision tuple.",
                citations=(Citation(answer_start=0, answer_end=39, item_id=f"{PR}#0"), Citation(item_id="gone")),
            ),
        ),
        trace("a-2", [[(CL, 0), (PR, 1)], [(CL, 0), (PR, 1)], [(CL, 0)]], said("Ten thousand times.")),
        trace("a-3", [[(PR, 0)], [(PR, 0)], [(PR, 0)]], said("I cannot say.", "abstained")),
        trace("a-4", [], failure=Failure(cause="timeout")),
        trace("m-1", [[(CS, 1), (PR, 1), (PR, 0)], [(CS, 1), (PR, 0)], [(CS, 1), (PR, 0)]], said("Code 409.")),
        trace("u-1", [[], [], []], said("There is no answer here.", "abstained")),
        trace("u-2", [[("acme-prices", 0)], [("acme-prices", 0)], [("acme-prices", 0)]], said("4,200.")),
        trace(
            "x-1",
            [[("borealis-prices", 0)], [("borealis-prices", 0)], [("borealis-prices", 0)]],
            said("Borealis pays 9,900."),
        ),
        trace("h-1", [[("hostile", 0)], [("hostile", 0)], [("hostile", 0)]], said(HOSTILE * 3), query_text=HOSTILE),
        trace("c-1", [[(ja, 0), (ja, 1)], [(ja, 0), (ja, 1)], [(ja, 0), (ja, 1)]], said("三回です。")),
        trace("n-1", [[(CL, 0)], [(CL, 0)], [(CL, 0)]], Answer(text="")),
    ]


def measurements(made: Sequence[TraceContent]) -> list[Measurements]:
    return [
        Measurements(
            query_id=one.query_id,
            repeat=one.repeat,
            latency_ms=60_000.0 if one.failure else 40.0 + 3 * number,
            steps=tuple(StepTiming(step_id=step.step_id, duration_ms=2.0 + at) for at, step in enumerate(one.steps)),
            usage=Usage(input_tokens=100 + number, output_tokens=10),
            cost=Cost(amount=0.001, currency="USD"),
            failure_detail=HOSTILE if one.failure else None,
        )
        for number, one in enumerate(made)
    ]


RECALL = {"a-1": (1, 1, 1), "a-2": (1, 1, 0), "a-3": (0, 0, 0), "c-1": (1, 1, 1), "m-1": (2, 1, 1)}
NEED = {"m-1": 2}
STEPS = ("bm25", "dedup", "assemble", "context")


def observations() -> list[Observation]:
    rows = []
    for case in cases():
        for at, step in enumerate(STEPS):
            common: dict[str, Any] = {
                "query_id": case.query_id,
                "repeat": 0,
                "step": step,
                "measure": "recall(rel=2)@20",
            }
            if case.query_id in RECALL:
                got, need = RECALL[case.query_id][min(at, 2)], NEED.get(case.query_id, 1)
                rows.append(Observation(status="value", value=got / need, numerator=got, denominator=need, **common))
            elif case.query_id == "a-4":
                rows.append(Observation(status="error", reason="timeout", **common))
            elif case.query_id == "n-1":
                rows.append(Observation(status="missing", reason="unlabelled", **common))
            else:
                rows.append(Observation(status="undefined", reason="nothing_relevant", **common))
    for one in contents():
        whole: dict[str, Any] = {"query_id": one.query_id, "repeat": 0, "measure": "outcome"}
        if one.failure:
            rows.append(Observation(status="error", reason=one.failure.cause, **whole))
        elif one.answer is None or one.answer.outcome is None:
            rows.append(Observation(status="missing", reason="empty_answer", denominator=1, **whole))
        else:
            rows.append(
                Observation(status="value", value=1, numerator=1, denominator=1, target=one.answer.outcome, **whole)
            )
    return rows


def runtime(made: Sequence[Measurements]) -> list[Observation]:
    rows = []
    for one in made:
        common: dict[str, Any] = {"query_id": one.query_id, "repeat": 0, "measure": "latency"}
        if one.query_id == "a-4":
            rows.append(
                Observation(status="error", reason="timeout", bounds=Bounds(low=60_000.0, high=BEYOND), **common)
            )
        else:
            rows.append(Observation(status="value", value=one.latency_ms, **common))
    return rows


BEYOND = 1.7976931348623157e308


def estimate(measure: str, class_: str, step: str | None, counts: tuple[int, int, int, int], **more: Any) -> Estimate:
    scored, undefined, missing, error = counts
    return Estimate(
        measure=measure,
        population=Population(class_=class_, slice=more.pop("slice", None)),
        step=step,
        aggregation=more.pop("aggregation", "macro"),
        attempted=sum(counts),
        scored=scored,
        undefined=undefined,
        missing=missing,
        error=error,
        **more,
    )


def value(
    number: float, numerator: float, denominator: float, low: float | None = None, high: float = 1.0
) -> dict[str, Any]:
    made: dict[str, Any] = {"status": "value", "value": number, "numerator": numerator, "denominator": denominator}
    if low is not None:
        made["interval"] = Interval(low=low, high=high, level=0.95, method="t by cluster", clusters=4)
    return made


def late(aggregation: str) -> Estimate:
    """Times are 40, 43, 46, 67, 70 and one given up after 60,000: from five sixths on nobody knows."""
    bounds = Bounds(low=60_000.0, high=BEYOND)
    return estimate(
        "latency", "answerable", None, (5, 0, 0, 1), aggregation=aggregation, unit="ms", status="undefined",
        reason="right_censored", bounds=bounds, reasons={"timeout": 1},
    )  # fmt: skip


def estimates() -> list[Estimate]:
    """By hand from RECALL: of a-1, a-2, a-3, c-1 the steps hold 3, 3, 2, 2; of m-1 2, 1, 1 of two pieces."""
    recall = "recall(rel=2)@20"
    rows = [
        estimate(
            recall,
            "answerable",
            step,
            (4, 0, 1, 1),
            reasons={"unlabelled": 1, "timeout": 1},
            **value(held / 4, held, 4, 0.1),
        )
        for step, held in zip(STEPS, (3, 3, 2, 2), strict=True)
    ]
    rows += [
        estimate(recall, "multi_hop", step, (1, 0, 0, 0), **value(held / 2, held, 2))
        for step, held in zip(STEPS, (2, 1, 1, 1), strict=True)
    ]
    rows += [
        estimate(
            recall,
            class_,
            "context",
            (0, count, 0, 0),
            status="undefined",
            reason="nothing_relevant",
            reasons={"nothing_relevant": count},
        )
        for class_, count in (("unanswerable", 2), ("adversarial", 1), ("cross_tenant", 1))
    ]
    rows += [
        estimate(recall, "answerable", "context", (1, 0, 0, 0), slice="language=ja", **value(1.0, 1, 1)),
        estimate("recall(rel=2)@20", "answerable", "context", (4, 0, 1, 1), aggregation="micro", **value(0.4, 2, 5)),
        estimate("context_precision(rel=2)", "answerable", "context", (4, 0, 1, 1), **value(0.375, 1.5, 4, 0.05, 0.8)),
        estimate(
            "false_refusal", "answerable", None, (4, 0, 1, 1), aggregation="micro", **value(0.25, 1, 4, 0.01, 0.8)
        ),
        estimate(
            "unsupported_answer",
            "unanswerable",
            None,
            (2, 0, 0, 0),
            aggregation="micro",
            **value(0.5, 1, 2, 0.01, 0.99),
        ),
        estimate(
            "latency", "answerable", None, (5, 0, 0, 1), aggregation="median", unit="ms", status="value", value=46.0
        ),
        late("p95"),
        late("p99"),
        estimate(
            "cost",
            "answerable",
            None,
            (0, 0, 6, 0),
            unit="USD",
            status="missing",
            reason="not_reported",
            reasons={"not_reported": 6},
        ),
    ]
    return rows


def fates() -> list[FactFate]:
    def fate(
        query_id: str, fact_id: str, what: Any, steps: tuple[str, ...] = (), found: tuple[str, ...] = ("bm25",)
    ) -> FactFate:
        return FactFate(
            query_id=query_id, repeat=0, fact_id=fact_id, required=True, fate=what, steps=steps, found_at=found
        )

    return [
        fate("a-1", "f1", "held"),
        fate("a-2", "f1", "lost_whole", ("assemble",)),
        fate("a-3", "f1", "never_found", (), ()),
        fate("a-4", "f1", "unknown", (), ()),
        fate("c-1", "f1", "held"),
        fate("m-1", "f1", "held"),
        fate("m-1", "f2", "lost_in_parts", ("dedup",)),
    ]


def survival() -> list[SurvivalRow]:
    def row(
        class_: Any, order: int, held: int, facts: int, hidden: int, whole: int = 0, parts: int = 0, **more: Any
    ) -> SurvivalRow:
        step, kind = (*CHAIN, ("context", "context"))[order]
        return SurvivalRow(
            population=Population(class_=class_),
            step=step,
            kind=kind,
            order=order,
            facts=facts,
            held=held,
            not_held=facts - held - hidden,
            unknown=hidden,
            absent=0,
            lost_whole=whole,
            lost_in_parts=parts,
            **more,
        )

    return [
        row("answerable", 0, 3, 5, 1),
        row("answerable", 1, 3, 5, 1),
        row("answerable", 2, 2, 5, 1, whole=1),
        row("answerable", 3, 2, 5, 1),
        row("multi_hop", 0, 2, 2, 0),
        row("multi_hop", 1, 1, 2, 0, parts=1, joint={"assemble": 1}),
        row("multi_hop", 2, 1, 2, 0),
        row("multi_hop", 3, 1, 2, 0),
    ]


def material(**changed: Any) -> Material:
    """The whole of it; `changed` replaces fields of Material."""
    texts = contents()
    measured = measurements(texts)
    stated = Stated(value="bm25/1")
    subject = Subject(
        corpus=digest("corpus"),
        segmentation=Stated(value=digest("cut")),
        benchmark=digest("benchmark"),
        system=SystemIdentity(
            name="reference BM25",
            adapter="reference",
            retriever=stated,
            generator=Stated(value="extractive/1"),
            prompt=Stated(absent="an extractive answer has no prompt"),
            settings={},
        ),
        as_of=AS_OF,
        seed=7,
        repeats=1,
        top_k=20,
        history="gold",
        timeout_s=60.0,
        redaction=digest("redaction"),
    )
    scoring = Scoring(
        measures=("recall(rel=2)@20", "context_precision(rel=2)", "false_refusal", "unsupported_answer", "latency"),
        measure_versions={},
        hold=1.0,
        tokenizer="word/1",
        normalisation="squad",
        level=0.95,
        ties="list_order",
    )
    policy = Policy(name="none")
    protocol = Protocol(
        subject=digest_of(subject),
        scoring=digest_of(scoring),
        policy=digest_of(policy),
        corpus_hash=Stated(value=digest("corpus")),
        retriever_version=stated,
        prompt_hash=Stated(absent="an extractive answer has no prompt"),
        judge_model=Stated(absent="no judge takes part"),
    )
    envelope = Envelope(
        started_at="2026-08-02T10:00:00Z",
        finished_at="2026-08-02T10:04:00Z",
        code_revision=Stated(value="abc123"),
        code_dirty=False,
        python="3.11.9",
        platform="Linux",
        machine="x86_64",
        cpu_count=2,
        packages=(Package(name="numpy", version="2.4.6"),),
        hash_seed="0",
        concurrency=4,
        resumed=0,
        ragassay_version="0.1.0",
        clock="monotonic",
    )
    run = Run(
        subject=digest_of(subject),
        protocol=digest_of(protocol),
        state="complete",
        questions=11,
        answered=11,
        failures=1,
        content=digest("content"),
        contents=digest("contents"),
        measurements=digest("measurements"),
        texts=digest("texts"),
        envelope=digest("envelope"),
    )
    blobs = {name: digest(name) for name in ("content", "observations", "runtime", "estimates", "fates", "survival")}
    table = ScoreTable(run=run.identity(), run_record=digest_of(run), scoring=digest_of(scoring), questions=11, **blobs)
    held = [
        Passage(
            passage_id=f"{n}#{w}",
            text=t[slice(*half(n, w))],
            sources=(Span(document_id=n, version="1", start=half(n, w)[0], end=half(n, w)[1]),),
            transform="slice",
        )
        for n, t in TEXTS.items()
        for w in (0, 1)
    ]
    made: dict[str, Any] = {
        "scores": digest_of(table),
        "table": table,
        "run": run,
        "protocol": protocol,
        "subject": subject,
        "scoring": scoring,
        "policy": policy,
        "envelope": envelope,
        "benchmark": Benchmark(
            name="hand",
            version="1",
            corpus=digest("corpus"),
            relevance_unit="span",
            rubric=NATIVE_RUBRIC,
            completeness="partial",
            rel=2,
            cases=11,
            cases_digest=digest("cases"),
            blob=digest("blob"),
        ),
        "corpus": Corpus(digest=digest("corpus"), documents=len(TEXTS), mode="embedded", blob=digest("documents")),
        "segmentation": Segmentation(
            corpus=digest("corpus"),
            chunker="tokens",
            chunker_version="1",
            parameters={"size": 20},
            passages=14,
            passages_digest=digest("passages"),
            blob=digest("passages"),
        ),
        "cases": tuple(cases()),
        "documents": tuple(documents()),
        "passages": tuple(held),
        "contents": tuple(texts),
        "measurements": tuple(measured),
        "observations": tuple(observations()),
        "runtime": tuple(runtime(measured)),
        "estimates": tuple(estimates()),
        "fates": tuple(fates()),
        "survival": tuple(survival()),
    }
    return Material(**{**made, **changed})
