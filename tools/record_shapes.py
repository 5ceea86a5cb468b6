"""The six shapes that the records were reviewed against, as records. Invented texts; writes nothing itself."""

from __future__ import annotations

from ragassay.records.base import Record
from ragassay.records.canonical import digest_bytes, digest_text
from ragassay.records.case import (
    Case,
    Conversation,
    Evidence,
    Fact,
    LabelProvenance,
    Principal,
    ReferenceAnswer,
    Turn,
)
from ragassay.records.document import Acl, Document, DocumentRef, Span
from ragassay.records.trace import (
    Answer,
    Attempt,
    Citation,
    Failure,
    Item,
    Measurements,
    RetrievalVerdict,
    Step,
    StepDecision,
    StepTiming,
    Trace,
    TraceContent,
    Usage,
)

AS_OF = "2026-08-01T00:00:00Z"
HUMAN = LabelProvenance(kind="human", by="annotator-2", at="2026-07-01T00:00:00Z", rubric="ragassay/1")
REDACTION = digest_bytes(b"credential headers")


def item(name: str, rank: int, start: int, end: int, *, document: str = "", score: float | None = None) -> Item:
    """An item that declares its place."""
    return Item(
        item_id=name,
        rank=rank,
        resolution="declared",
        transform="slice",
        sources=(Span(document_id=document or name.split("#", maxsplit=1)[0], version="1", start=start, end=end),),
        text_digest=digest_text(name),
        score=score,
    )


def conversation() -> dict[str, Record]:
    """Turn 2 of a conversation: gold history in the case, the rewritten question in the trace."""
    case = Case(
        query_id="refunds/2",
        query="And for digital goods?",
        class_="answerable",
        answerable="yes",
        evidence=(
            Evidence(id="e1", document_id="refunds", version="1", start=120, end=180, grade=3, provenance=HUMAN),
        ),
        conversation=Conversation(
            id="refunds",
            turn=2,
            history=(
                Turn(role="user", text="How long may I return an order?"),
                Turn(role="assistant", text="Thirty days after delivery."),
            ),
        ),
        slice=("intent=refund", "follow-up"),
    )
    found = (item("refunds#2", 1, 100, 200, score=11.5),)
    trace = TraceContent(
        query_id="refunds/2",
        repeat=0,
        as_of=AS_OF,
        steps=(
            Step(step_id="s1", name="rewrite", kind="rewrite", parents=(), query_text="return period of digital goods"),
            Step(step_id="s2", name="bm25", kind="lexical", parents=("s1",), items_out=found, score_direction="higher"),
            Step(step_id="s3", name="context", kind="assemble", parents=("s2",), items_out=found),
            Step(step_id="s4", name="answer", kind="generate", parents=("s3",)),
        ),
        context=found,
        answer=Answer(
            text="Fourteen days.",
            outcome="answered",
            outcome_source="system",
            citations=(Citation(answer_start=0, answer_end=14, item_id="refunds#2"),),
        ),
    )
    return {"conversation-case": case, "conversation-trace": trace}


def agent() -> dict[str, Record]:
    """An agent that searches three times for one question; only the union of two searches has the whole fact."""
    steps: list[Step] = []
    for number, (query, names) in enumerate(
        (
            ("who founded Lumen", ("lumen#1", "lumen#4")),
            ("Ada Brandt birthplace", ("brandt#1",)),
            ("Ada Brandt born city", ("brandt#1", "cities#9")),
        )
    ):
        out = tuple(item(name, rank, rank * 100, rank * 100 + 80) for rank, name in enumerate(names, 1))
        parents = (f"s{number}",) if number else ()
        step = Step(
            step_id=f"s{number + 1}", name="search", kind="tool", parents=parents, iteration=number,
            query_text=query, filter={"lang": "en", "topK": 2}, items_out=out,
        )  # fmt: skip
        steps.append(step)
    kept = (item("lumen#1", 1, 100, 180), item("brandt#1", 2, 100, 180))
    steps.append(
        Step(
            step_id="s4",
            name="context",
            kind="assemble",
            parents=("s1", "s2", "s3"),
            items_out=kept,
            decisions=(StepDecision(action="drop", item_id="cities#9", reason="budget"),),
        )
    )
    content = TraceContent(query_id="lumen-founder", repeat=0, as_of=AS_OF, steps=tuple(steps), context=kept)
    measured = Measurements(
        query_id="lumen-founder",
        repeat=0,
        latency_ms=2310.5,
        steps=tuple(StepTiming(step_id=f"s{n}", started_ms=700.25 * (n - 1), duration_ms=640.0) for n in (1, 2, 3)),
        usage=Usage(input_tokens=812, output_tokens=40),
        calls=3,
    )
    return {"agent-trace": Trace(content=content, measurements=measured)}


def repeats() -> dict[str, Record]:
    """Five repeats of a system that is not deterministic: two answers, an abstention, a changed score, a timeout."""
    answers = ("In 1998.", "In 1998.", "I do not know.", "In 1989.", None)
    found: dict[str, Record] = {}
    for repeat, text in enumerate(answers):
        hit = (item("dates#1", 1, 0, 40, score=0.75 if repeat != 3 else 0.7500000000000001),)
        outcome = "abstained" if text == "I do not know." else "answered"
        content = TraceContent(
            query_id="year",
            repeat=repeat,
            as_of=AS_OF,
            seed=40 + repeat,
            steps=(Step(step_id="s1", name="vector", kind="vector", items_out=hit, score_direction="lower"),)
            if text
            else (),
            answer=Answer(text=text, outcome=outcome, outcome_source="rule") if text else None,
            retrieval=RetrievalVerdict(sufficient=True, confidence=0.9) if text else None,
            versions={"model": "m-2026-07", "retrieverVersion": "3"} if text else {},
            failure=None if text else Failure(cause="timeout", step="s2"),
        )
        tries = () if text else (Attempt(duration_ms=30000.0, failure=Failure(cause="rate_limited", code="429")),)
        measured = Measurements(
            query_id="year",
            repeat=repeat,
            latency_ms=30000.0 if text is None else 410.0 + repeat,
            attempts=(*tries, Attempt(duration_ms=410.0 + repeat, waited_ms=0.0)),
            completed=4 - repeat,
        )
        found[f"repeats-trace-{repeat}"] = Trace(content=content, measurements=measured)
    return found


def combined_facts() -> dict[str, Record]:
    """One fact stated alone in one place, or by two others together; a second, optional fact; a label that misleads."""
    evidence = (
        Evidence(id="whole", document_id="handbook", version="1", start=10, end=95, grade=3, role="supports"),
        Evidence(id="left", document_id="notes", version="1", start=0, end=30, grade=2),
        Evidence(id="right", document_id="minutes", version="2", start=5, end=44, grade=2, quote="owns the key"),
        Evidence(id="old", document_id="handbook-2019", grade=0, role="stale"),
    )
    return {
        "facts-case": Case(
            query_id="key-owner",
            query="Who owns the signing key, and since when?",
            class_="multi_hop",
            answerable="yes",
            evidence=evidence,
            facts=(
                Fact(id="owner", text="The release team owns it.", any_of=(("whole",), ("left", "right"))),
                Fact(id="since", any_of=(("right",),), required=False),
            ),
            answers=(
                ReferenceAnswer(text="The release team, since May.", fact_set=("left", "right")),
                ReferenceAnswer(text="The release team.", fact_set=("whole",)),
            ),
            risk="high",
            notes="a wrong owner blocks a release",
            label=HUMAN,
        )
    }


def versions() -> dict[str, Record]:
    """Two versions of one document with adjoining validity windows, and the same question in each window."""
    old = Document(
        document_id="fees", version="2025", text="The fee is 3 %.", parser="text/1", normaliser="nfc/1",
        tenants=("*",), valid_until="2026-07-01T00:00:00Z", metadata={"revision": 1, "contentType": "text/plain"},
    )  # fmt: skip
    new = Document(
        document_id="fees", version="2026", text="The fee is 4 %.", parser="text/1", normaliser="nfc/1",
        tenants=("*",), valid_from="2026-07-01T00:00:00Z", supersedes=DocumentRef(document_id="fees", version="2025"),
        metadata={"revision": 2, "tags": ["fees", 4.5, True]},
    )  # fmt: skip
    case = Case(
        query_id="fee-now",
        query="How high is the fee?",
        class_="answerable",
        answerable="yes",
        evidence=(
            Evidence(id="now", document_id="fees", version="2026", start=11, end=14, grade=3, quote="4 %"),
            Evidence(id="then", document_id="fees", version="2025", start=11, end=14, grade=0, role="contradicts"),
        ),
        facts=(Fact(id="fee", any_of=(("now",),)),),
        valid_from="2026-07-01T00:00:00Z",
        slice=("freshness=2026-Q3",),
    )
    return {"versions-document-2025": old, "versions-document-2026": new, "versions-case": case}


def tenants() -> dict[str, Record]:
    """One question asked in two tenants: the labels name both tenants' documents, the principal decides which count."""
    evidence = (
        Evidence(id="a", document_id="acme/limits", version="1", grade=3),
        Evidence(id="g", document_id="globex/limits", version="1", grade=3),
    )
    found: dict[str, Record] = {}
    for tenant in ("acme", "globex"):
        found[f"tenants-document-{tenant}"] = Document(
            document_id=f"{tenant}/limits", version="1", text=f"The limit at {tenant} is {len(tenant)}.",
            parser="text/1", normaliser="nfc/1", tenants=(tenant,), acl=Acl(roles=("member",), users=("root",)),
        )  # fmt: skip
        found[f"tenants-case-{tenant}"] = Case(
            query_id=f"limit@{tenant}",
            query="What is our limit?",
            class_="cross_tenant",
            answerable="yes",
            evidence=evidence,
            principal=Principal(id=f"user@{tenant}", tenants=(tenant,), roles=("member",)),
            threats=("cross-tenant retrieval",),
        )
    shown = (item("acme/limits#0", 1, 0, 20, document="acme/limits"),)
    seen = Principal(id="user@acme", tenants=("acme",), roles=("member",))
    found["tenants-trace"] = TraceContent(
        query_id="limit@acme",
        repeat=0,
        as_of=AS_OF,
        steps=(
            Step(
                step_id="s1", name="vector", kind="vector", parents=(), filter={"tenantId": "acme"},
                principal_seen=seen, credential_status="valid", items_out=shown,
            ),
            Step(
                step_id="s2", name="acl", kind="guard", parents=("s1",), items_out=shown,
                decisions=(StepDecision(action="allow", item_id="acme/limits#0"),),
            ),
        ),
        context=shown,
        redaction=REDACTION,
    )  # fmt: skip
    return found


def shapes() -> dict[str, Record]:
    """All six, by name."""
    found: dict[str, Record] = {}
    for one in (conversation, agent, repeats, combined_facts, versions, tenants):
        found |= one()
    return found
