"""Examples of the records of judging, for the golden vectors."""

from __future__ import annotations

from collections.abc import Callable

from ragassay.records.base import Record
from ragassay.records.document import Span
from ragassay.records.judgement import (
    Agreement,
    AnswerClaims,
    Bias,
    Calibration,
    Claim,
    Control,
    JudgeIdentity,
    Judgement,
    JudgementSet,
    JudgeWork,
    Sample,
    SampledItem,
)
from ragassay.records.score import Interval
from ragassay.records.trace import Citation, Cost, Failure, Usage


def judgements(of: Callable[[str], str]) -> dict[str, Record]:
    """A judge with all parts of an identity, verdicts, a set that replaces one, a calibration."""
    judge = JudgeIdentity(
        name="strict", kind="model", model="m-2", prompt=of("prompt"), rubric="support/1", schema=of("schema"),
        parser="verdict/1", sampling={"temperature": "0"}, libraries={"sentencex": "1.0.32"},
    )  # fmt: skip
    scored = Judgement(
        query_id="q", repeat=0, judge=of("judge"), about="citation", target="c1/k1", scale="support/1",
        status="value", label="contradicted", score=-0.25, rationale="1990 stands there, not 1991",
        cost=Cost(amount=0.5, currency="EUR"),
        spans=(Span(document_id="d", version="1", start=0, end=3),),
    )  # fmt: skip
    failed = Judgement(
        query_id="q", repeat=0, judge=of("judge"), about="answer", target="relevance", scale="relevance/1",
        status="error", reason="truncated", failure=Failure(cause="invalid_response", code="truncated"),
    )  # fmt: skip
    work = JudgeWork(
        query_id="q", repeat=0, about="answer", target="relevance", latency_ms=12.5, attempts=3,
        usage=Usage(input_tokens=100, output_tokens=7), cached=True,
    )  # fmt: skip
    claims = AnswerClaims(
        query_id="q", repeat=0, answer=of("answer"), claims=(Claim(claim_id="c1", start=0, end=9, citations=(0,)),),
        citations=(Citation(answer_start=9, answer_end=12, item_id="p1"),), cited_by="marks", left_out={"question": 1},
    )  # fmt: skip
    judged = JudgementSet(
        name="strict", run=of("run"), judge=of("judge"), state="disqualified", claims=of("claims"),
        judgements=of("lines"), content=of("content"), splitter="sentencex/1.0.32", asked=2, valued=1, work=of("work"),
        stopped="controls", supersedes=of("older"),
        controls=(Control(name="bad-1", expected=("unsupported", "contradicted"), label="supported"),),
    )  # fmt: skip
    interval = Interval(low=0.25, high=0.75, level=0.95, method="wilson", clusters=20)
    agreement = Agreement(
        about="claim", scale="support/1", items=20, unjudged=1, class_="answerable", raw=0.75, kappa=0.5,
        confusion={"supported": {"supported": 10, "unsupported": 2}, "unsupported": {"supported": 3, "unsupported": 5}},
        sensitivity=0.5, sensitivity_interval=interval, specificity=0.625, specificity_interval=interval,
    )  # fmt: skip
    calibration = Calibration(
        judge=of("judge"), people=of("people"), judged=of("set"), raters=2, rubric="support/1", agreements=(agreement,),
        drawn="random", threshold=0.5, fitted=18, note="twenty claims", cost=(Cost(amount=0.5, currency="EUR"),),
        biases=(
            Bias(name="length", about="claim", items=20, value=0.125, interval=interval, halves="longer claims"),
            Bias(name="own_phrasing", about="claim", items=20, absent="one_generator"),
        ),
    )  # fmt: skip
    sample = Sample(
        run=of("run"), judged={"strict": of("set")}, drawn="stratified", seed=7, strata={"contradicted": 4, "rest": 96},
        items=of("items"),
    )  # fmt: skip
    drawn = SampledItem(
        item_id="i-0011223344556677", query_id="q", repeat=0, about="claim", target="c1", scale="support/1",
        stratum="contradicted", probability=0.5,
    )  # fmt: skip
    people = JudgementSet(
        name="anna", run=of("run"), judge=of("anna"), state="partial", claims=of("claims"), judgements=of("people"),
        content=of("content"), splitter="sentencex/1.0.32", asked=20, valued=18, stopped="sampled", sample=of("sample"),
    )  # fmt: skip
    return {
        "judge-of-all-parts": judge, "judgement-with-score": scored, "judgement-failed": failed, "judgework": work,
        "answerclaims": claims, "judgementset": judged, "calibration": calibration,
        "sample": sample, "sampleditem": drawn, "judgementset-of-people": people,
    }  # fmt: skip
