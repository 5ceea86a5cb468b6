"""One record of every kind that the six shapes do not show, and the odd texts and numbers. Writes nothing itself."""

from __future__ import annotations

from comparison_examples import compared
from gate_examples import decided
from judgement_examples import judgements
from ledger_examples import acts
from probe_examples import probed

from ragassay.records.base import Record
from ragassay.records.canonical import digest_bytes
from ragassay.records.case import NATIVE_RUBRIC, Benchmark, Case, CaseLine, Fact, Relevant
from ragassay.records.document import Corpus, Document, Passage, Segmentation, SkippedLine, Span
from ragassay.records.experiment import Choice, Experiment, Tried
from ragassay.records.judgement import JudgeIdentity, Judgement
from ragassay.records.protocol import (
    Envelope,
    Package,
    Policy,
    Protocol,
    Run,
    Scoring,
    Stated,
    Subject,
    SystemIdentity,
)
from ragassay.records.score import (
    Bounds,
    ClaimFailure,
    Estimate,
    FactFate,
    Interval,
    Observation,
    Population,
    ScoreTable,
    SurvivalRow,
)
from ragassay.records.trace import Item, Step, TraceContent


def _of(word: str) -> str:
    return digest_bytes(word.encode())


def odd() -> dict[str, Record]:
    """Text and numbers at the edges of JSON."""
    edges = {
        "-0.0": -0.0, "1.0": 1.0, "1e-7": 1e-7, "0.000001": 1e-6, "1e300": 0.1 + 0.2, "2^53-1": 2**53 - 1,
        "true": True, "__proto__": "a key like any other", "camelCase": "stays", "": "empty key",
        "\U0001f600": "sorts before \uffff in UTF-16", "\uffff": "sorts last", "list": ["a", 1, 0.5, False],
        "2^53": "9007199254740992",
    }  # fmt: skip
    text = 'Zażółć gęślą jaźń\n\t"\\/\u0000\u001f\u007f\u2028 日本語 مرحبا \U0001f469\u200d\U0001f680 e\u0301 \ufffd'
    document = Document(
        document_id="odd", version="1", text=text, parser="text/1", normaliser="none", title="", url="",
        metadata=edges, lossy=True, raw=_of("raw"),
    )  # fmt: skip
    empty = Document(document_id="empty", version="1", text="", parser="text/1", normaliser="none", tenants=())
    unlabelled = Case(query_id="unlabelled", query="")
    nothing = Case(query_id="nothing", query="?", evidence=(), class_="unanswerable", answerable="no")
    black_box = TraceContent(
        query_id="box", repeat=0, as_of="2026-08-01T12:00:00.000001Z",
        steps=(
            Step(
                step_id="s1", name="context", kind="assemble",
                items_out=(Item(item_id="1", rank=1, resolution="unresolved", transform="slice", text_digest=_of("")),),
            ),
            Step(step_id="s2", name="silent", kind="rerank"),
            Step(step_id="s3", name="none", kind="dedup", items_out=()),
        ),
    )  # fmt: skip
    aligned = Item(
        item_id="x", rank=1, resolution="aligned", alignment=1.0, transform="decorated", whole_document=True,
        sources=(Span(document_id="d", version="1", start=0, end=0),), score=1e20, lossy=True,
    )  # fmt: skip
    large = TraceContent(query_id="large", repeat=0, as_of="2026-08-01T00:00:00Z", context=(aligned,))
    return {
        "odd-document": document, "empty-document": empty, "unlabelled-case": unlabelled, "nothing-case": nothing,
        "black-box-trace": black_box, "large-number-trace": large,
    }  # fmt: skip


def benchmark() -> dict[str, Record]:
    """What is sealed before a run."""
    line = CaseLine(
        query_id="q-0042", query="How should a publish retry behave?", corpus_version="docs-2026-08-01",
        relevant=(Relevant(document_id="publish-recovery", grade=3), Relevant(document_id="cas", grade=2)),
        facts=(Fact(id="f", any_of=(("r1", "r2"),)),), slice=("recovery", "long-tail"),
    )  # fmt: skip
    header = Benchmark(
        name="demo", version="1", corpus=_of("corpus"), relevance_unit="span", rubric=NATIVE_RUBRIC,
        completeness="partial", rel=2, cases=1, cases_digest=_of("cases"), blob=_of("blob"), dangling=0,
    )  # fmt: skip
    document = Document(document_id="d", version="1", text="a b", parser="p", normaliser="n", tenants=("b", "a", "b"))
    corpus = Corpus(digest=_of("corpus"), documents=1, mode="embedded", blob=_of("blob"), default_tenants=("*",))
    span = Span(document_id="d", version="1", start=0, end=1)
    passage = Passage(passage_id="d#0", text="a", sources=(span,), transform="slice")
    cut = Segmentation(
        corpus=_of("corpus"), chunker="tokens", chunker_version="1", parameters={"size": 200, "overlap": 0.1},
        passages=1, passages_digest=_of("passages"), blob=_of("blob"),
    )  # fmt: skip
    left_out = SkippedLine(file="corpus.jsonl", line=7, field="text", reason="missing required field `text`")
    return {
        "skippedline": left_out, "caseline": line, "benchmark": header, "corpusentry": document.entry(),
        "corpus": corpus, "passage": passage, "segmentation": cut,
    }  # fmt: skip


def protocol() -> dict[str, Record]:
    """The three layers, a run and its circumstances."""
    none = Stated(absent="the system has no generator")
    system = SystemIdentity(
        name="bm25", adapter="http", retriever=Stated(value="bm25s/0.3"), generator=none, prompt=none,
        settings={"topK": 20, "k1": 0.9, "stemmer": "none"},
    )  # fmt: skip
    subject = Subject(
        corpus=_of("corpus"), segmentation=Stated(absent="the system cuts for itself"), benchmark=_of("benchmark"),
        system=system, as_of="2026-08-01T00:00:00Z", seed=7, repeats=5, top_k=20, history="gold", timeout_s=30.0,
        redaction=_of("redaction"),
    )  # fmt: skip
    scoring = Scoring(
        measures=("ndcg@10", "recall(rel=2)@20"), measure_versions={"ndcg": "1", "recall": "1"}, hold=1.0,
        tokenizer="words/1", normalisation="squad/1", level=0.95, ties="position",
    )  # fmt: skip
    sealed = Protocol(
        subject=_of("subject"), scoring=_of("scoring"), policy=_of("policy"), corpus_hash=Stated(value=_of("corpus")),
        retriever_version=Stated(value="bm25s/0.3"), prompt_hash=none, judge_model=Stated(absent="no judge"),
    )  # fmt: skip
    envelope = Envelope(
        started_at="2026-08-02T10:00:00Z", finished_at="2026-08-02T10:01:00.250000Z", code_revision=Stated(value="abc"),
        code_dirty=False, python="3.11.9", platform="Linux", machine="x86_64", cpu_count=2, hash_seed="random",
        packages=(Package(name="numpy", version="2.1.0"),), concurrency=4, resumed=0, ragassay_version="0.1.0",
        clock="system, monotonic",
    )  # fmt: skip
    run = Run(
        subject=_of("subject"), protocol=_of("protocol"), state="complete", questions=5, answered=5, failures=1,
        content=_of("content"), contents=_of("contents"), measurements=_of("measurements"), texts=_of("texts"),
        envelope=_of("envelope"), mixed=("model",),
    )  # fmt: skip
    policy = Policy(name="none")
    return {
        "subject": subject, "scoring": scoring, "policy": policy, "protocol": sealed, "envelope": envelope, "run": run,
    }  # fmt: skip


def scores() -> dict[str, Record]:
    """Four outcomes, an aggregate, survival, a judgement."""
    value = Observation(
        query_id="q", repeat=1, measure="recall(rel=2)@20", status="value", step="bm25", value=1 / 3, numerator=1.0,
        denominator=3.0, coarse=True, principal="u", turn=2,
    )  # fmt: skip
    missing = Observation(
        query_id="q", repeat=0, measure="fact_coverage", status="missing", target="f1", reason="unknown_items",
        bounds=Bounds(low=0.0, high=1.0), inferred=True,
    )  # fmt: skip
    estimate = Estimate(
        measure="ndcg@10", population=Population(class_="multi_hop", slice="language=de"), aggregation="macro",
        status="value", attempted=10, scored=6, undefined=1, missing=2, error=1, step="bm25", value=0.5,
        interval=Interval(low=0.25, high=0.75, level=0.95, method="bootstrap-t", clusters=6),
        bounds=Bounds(low=0.3, high=0.8), reasons={"timeout": 1, "unlabelled": 3}, coarse=0,
    )  # fmt: skip
    area = Estimate(
        measure="retrieval_auroc", population=Population(class_="answerability"), aggregation="set", status="value",
        attempted=7, scored=5, undefined=0, missing=2, error=0, value=0.75, numerator=4.5, denominator=6.0,
        reasons={"no_confidence": 2}, unit="ratio",
    )  # fmt: skip
    fate = FactFate(
        query_id="q", repeat=0, fact_id="owner", required=True, fate="lost_whole", steps=("fuse",), found_at=("bm25",)
    )
    row = SurvivalRow(
        population=Population(class_="answerable"), step="fuse", kind="fuse", order=2, facts=10, held=6, not_held=3,
        unknown=1, absent=0, lost_whole=1, lost_in_parts=0, joint={"rerank": 1}, inferred=0,
    )  # fmt: skip
    table = ScoreTable(
        run=_of("run"), run_record=_of("record"), scoring=_of("scoring"), content=_of("content"),
        observations=_of("o"), runtime=_of("r"), estimates=_of("e"), fates=_of("f"), survival=_of("s"), questions=10,
    )  # fmt: skip
    failure = ClaimFailure(
        query_id="q", repeat=0, judge="panel-a", claim_id="c1", failure="lost_before_context", told_by="labels",
        also=("cited_not_entailing",), label="owner", steps=("fuse",), citations=(0,),
    )  # fmt: skip
    judged = ScoreTable(
        run=_of("run"), run_record=_of("record"), scoring=_of("scoring"), content=_of("content"),
        observations=_of("o"), runtime=_of("r"), estimates=_of("e"), fates=_of("f"), survival=_of("s"), questions=10,
        failures=_of("failures"), judged={"panel-a": _of("set")}, calibrations={"panel-a": _of("calibration")},
    )  # fmt: skip
    parted = Observation(
        query_id="q", repeat=0, measure="faithfulness(by=panel-a)", status="value", value=0.5, numerator=1.0,
        denominator=2.0, whole=4.0, bounds=Bounds(low=0.25, high=0.75),
    )  # fmt: skip
    judge = JudgeIdentity(name="panel-a", kind="model", model="m-1", prompt=_of("prompt"), settings={"topP": "1"})
    verdict = Judgement(
        query_id="q", repeat=0, judge=_of("judge"), about="claim", target="c1", scale="supported/3", status="value",
        label="supported", spans=(Span(document_id="d", version="1", start=0, end=3),), judge_repeat=0,
    )  # fmt: skip
    return {
        "observation-value": value, "observation-missing": missing, "estimate": estimate, "estimate-set": area,
        "factfate": fate,
        "survivalrow": row, "scoretable": table, "scoretable-judged": judged,
        "claimfailure": failure, "observation-in-part": parted, "judgeidentity": judge, "judgement": verdict,
    }  # fmt: skip


def experiments() -> dict[str, Record]:
    """Two settings, of which one is chosen."""
    tried = tuple(
        Tried(
            label=f"k={k}", changes=f'{{"system.fusion.k":{k}}}', subject=_of(f"subject {k}"), run=_of(f"run {k}"),
            scores=_of(f"scores {k}"), cached=cached,
        )
        for k, cached in ((10, 0), (60, 8))
    )  # fmt: skip
    rule = Choice(measure="ndcg@5", class_="multi_hop", step="dedup", direction="higher")
    made = Experiment(
        name="fusion", benchmark=_of("benchmark"), split="dev", split_by="slices of the questions", before=3,
        choice=rule, tried=tried, chosen=1, not_told_apart=(0,),
    )  # fmt: skip
    return {"experiment": made}


def measured() -> dict[str, Record]:
    """Measurements alone; the shapes have them inside traces."""
    from record_shapes import agent

    (trace,) = agent().values()
    return {"measurements": trace.measurements}


def examples() -> dict[str, Record]:
    """All, by name."""
    known = odd() | benchmark() | protocol() | scores() | experiments() | measured() | judgements(_of)
    return known | decided(_of) | compared(_of) | acts(_of) | probed(_of)
