"""Random corpora, questions and traces for the second scorer, with everything in them that a real trace may have."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ragassay.records.canonical import digest_text
from ragassay.records.case import Case, Evidence, Fact, Principal, ReferenceAnswer
from ragassay.records.document import Acl, Document, Passage, Span
from ragassay.records.trace import Answer, Failure, Item, Measurements, Step, Trace, TraceContent

AS_OF = "2026-08-01T00:00:00Z"
KINDS = ("lexical", "vector", "fetch", "fuse", "rerank", "dedup", "assemble", "guard", "rewrite", "generate")
GRADES = st.integers(-1, 3)


def _document(name: str, text: str, version: str = "1", **more: Any) -> Document:
    access = {"tenants": ("*",), **more}
    return Document(document_id=name, version=version, text=text, parser="p/1", normaliser="n/1", **access)


DOCUMENTS = (
    _document("a", "ab cd ef gh ij kl"),
    _document("a", "ab cd ef XX ij kl", "2"),
    _document("b", "one two\n three four"),
    _document("copy of b", "one two\n three four"),
    _document("b of another tenant", "one two\n three four", tenants=("t2",)),
    _document("listed", "zu zv zw", acl=Acl(groups=("g",))),
    _document("closed", "qu qv qw", tenants=None),
    _document("empty", ""),
)


def _passage(one: Document, start: int) -> Passage:
    end = min(start + 8, len(one.text))
    place = Span(document_id=one.document_id, version=one.version, start=start, end=end)
    name = f"{one.document_id}/{one.version}/{start}"
    return Passage(passage_id=name, text=one.text[start:end], transform="slice", sources=(place,))


PASSAGES = tuple(_passage(one, start) for one in DOCUMENTS for start in range(0, len(one.text), 6))
TEXTS = {digest_text(text): text for text in ("loose words", "other, words!", "")}


def text_behind(place: Span) -> str:
    """The text that a span is cut from."""
    return next(d.text for d in DOCUMENTS if (d.document_id, d.version) == (place.document_id, place.version))


@st.composite
def spans(draw: st.DrawFn, documents: int = len(DOCUMENTS)) -> Span:
    one = draw(st.sampled_from(DOCUMENTS[:documents]))
    start, end = sorted((draw(st.integers(0, len(one.text))), draw(st.integers(0, len(one.text)))))
    return Span(document_id=one.document_id, version=one.version, start=start, end=end)


@st.composite
def items(draw: st.DrawFn, *, sure: bool = False) -> Item:
    kind = draw(
        st.sampled_from(["passage"] * 6 + ["span"] * 3 + ["many"] + ([] if sure else ["whole", "derived", "loose"]))
    )
    about: dict[str, Any] = {"rank": 1, "resolution": "declared", "transform": "slice"}
    if kind == "passage":
        one = draw(st.sampled_from(PASSAGES))
        return Item(item_id=one.passage_id, passage_id=one.passage_id, sources=one.sources, **about)
    if kind == "loose":
        digest = draw(st.sampled_from([None, *TEXTS]))
        about |= {"resolution": "unresolved", "transform": "derived"}
        return Item(item_id=draw(st.sampled_from("xyz")), text_digest=digest, **about)
    if kind == "whole":
        one = draw(st.sampled_from(DOCUMENTS))
        place = Span(document_id=one.document_id, version=one.version, start=0, end=0)
        return Item(item_id=one.document_id, sources=(place,), whole_document=True, **about)
    apart = st.lists(spans(), min_size=1, max_size=3 if kind == "many" else 1, unique_by=text_behind)
    found = tuple(draw(apart))
    about["transform"] = {"many": "decorated", "derived": "derived", "span": "slice"}[kind]
    return Item(item_id=repr([(s.document_id, s.version, s.start, s.end) for s in found]), sources=found, **about)


@st.composite
def evidence(draw: st.DrawFn, name: str) -> Evidence:
    place = draw(spans())
    one = next(d for d in DOCUMENTS if (d.document_id, d.version) == (place.document_id, place.version))
    inked = bool(one.text[place.start : place.end].strip())
    span = {"start": place.start, "end": place.end} if inked and draw(st.integers(0, 4)) else {}
    if not draw(st.integers(0, 12)):
        return Evidence(id=name, document_id="nowhere", version="1", grade=draw(GRADES), **span)
    return Evidence(id=name, document_id=place.document_id, version=place.version, grade=draw(GRADES), **span)


@st.composite
def cases(draw: st.DrawFn, query_id: str = "q") -> Case:
    labels = draw(st.none() | st.integers(0, 4))
    known = None if labels is None else tuple(draw(evidence(f"e{n}")) for n in range(labels))
    facts: list[Fact] = []
    if known:
        group = st.lists(st.sampled_from([one.id for one in known]), min_size=1, max_size=2, unique=True).map(tuple)
        for n in range(draw(st.integers(0, 3))):
            sets = tuple(draw(st.lists(group, min_size=1, max_size=3, unique_by=frozenset)))
            facts.append(Fact(id=f"f{n}", any_of=sets, required=draw(st.integers(0, 4)) > 0))
    who = Principal(id="u", tenants=("t1",), groups=draw(st.sampled_from([(), ("g",)])))
    class_, truth = draw(st.sampled_from([("answerable", "yes"), ("multi_hop", "partial"), ("unanswerable", "no"),
                                          ("adversarial", "not_applicable")]))  # fmt: skip
    texts = draw(st.lists(st.sampled_from(["the blue cat", "cat, blue", "the", "No."]), max_size=2, unique=True))
    return Case(
        query_id=query_id, query="?", class_=class_, answerable=truth, evidence=known, facts=tuple(facts),
        principal=draw(st.none() | st.just(who)), answers=tuple(ReferenceAnswer(text=one) for one in texts),
        expect=draw(st.none() | st.sampled_from([("answered", "abstained"), ("denied",), ("partial",)])),
        slice=draw(st.sampled_from([(), ("long-tail",), ("long-tail", "language=de")])),
    )  # fmt: skip


@st.composite
def steps(draw: st.DrawFn, *, sure: bool = False) -> tuple[Step, ...]:
    made: list[Step] = []
    pool = draw(st.lists(items(sure=sure), min_size=1, max_size=6))
    declared = draw(st.booleans())
    for number in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(KINDS))
        out = (
            draw(st.none() | st.lists(st.sampled_from(pool), max_size=5))
            if kind not in ("rewrite", "generate")
            else None
        )
        taken = draw(st.none() | st.lists(st.sampled_from(pool), max_size=3)) if out is not None else None
        ids = [one.step_id for one in made]
        parents = draw(st.lists(st.sampled_from(ids), unique=True, max_size=3)) if ids else []
        iteration = sum(one.name == kind for one in made) + 1
        made.append(Step(
            step_id=f"s{number}", name=kind, kind=kind, iteration=iteration,
            parents=tuple(parents) if declared or draw(st.integers(0, 3)) == 0 else None,
            items_out=None if out is None else tuple(out), items_in=None if taken is None else tuple(taken),
        ))  # fmt: skip
    return tuple(made)


@st.composite
def traces(draw: st.DrawFn, query_id: str = "q", repeat: int = 0, *, sure: bool = False) -> Trace:
    done = draw(steps(sure=sure))
    pool = [item for one in done for item in one.items_out or ()]
    last = [one.items_out for one in done if one.kind == "assemble"]
    given = st.lists(st.sampled_from(pool), max_size=4) if pool else st.lists(items(sure=sure), max_size=3)
    context = draw(st.none() | given) if draw(st.booleans()) or not last or last[-1] is None else list(last[-1])
    text = draw(st.sampled_from(["", "a blue cat", "Blue cat.", "I do not know.", "the"]))
    said = draw(st.none() | st.sampled_from(["answered", "partial", "abstained", "escalated", "denied"]))
    answer = Answer(text=text, outcome=said, outcome_source="system" if said else None)
    failure = Failure(cause="timeout") if not draw(st.integers(0, 9)) else None
    content = TraceContent(
        query_id=query_id, repeat=repeat, as_of=AS_OF, steps=done, failure=failure,
        context=None if context is None else tuple(context), answer=draw(st.sampled_from([answer, answer, None])),
    )  # fmt: skip
    return Trace(content=content, measurements=Measurements(query_id=query_id, repeat=repeat))


@st.composite
def followed(draw: st.DrawFn) -> tuple[Case, Trace]:
    """A question with facts on one document, and a trace that finds pieces of it and loses some on the way."""
    cuts = [(start, start + size) for size in (2, 5, 8) for start in range(0, 10, 3)]
    place = st.sampled_from(cuts)
    labels = tuple(
        Evidence(id=f"e{n}", document_id="a", version="1", start=at[0], end=at[1], grade=draw(st.integers(1, 3)))
        for n, at in enumerate(draw(st.lists(place, min_size=2, max_size=4)))
    )
    group = st.lists(st.sampled_from([one.id for one in labels]), min_size=1, max_size=2, unique=True).map(tuple)
    sets = st.lists(group, min_size=1, max_size=2, unique_by=frozenset).map(tuple)
    facts = tuple(Fact(id=f"f{n}", any_of=draw(sets)) for n in range(draw(st.integers(1, 3))))
    pool = [
        Item(item_id=f"a {start}", rank=1, resolution="declared", transform="slice",
             sources=(Span(document_id="a", version="1", start=start, end=end),))
        for start, end in draw(st.lists(place, min_size=2, max_size=6, unique=True))
    ]  # fmt: skip
    made: list[Step] = []
    declared = draw(st.booleans())
    for number, kind in enumerate(draw(st.lists(st.sampled_from(KINDS), min_size=3, max_size=8))):
        before = made[-4:]
        some = (
            st.lists(st.sampled_from(before), max_size=2, unique_by=lambda one: one.step_id) if before else st.just([])
        )
        chosen = draw(some)
        parents = [one.step_id for one in chosen if kind not in ("lexical", "vector")]
        given = [item for one in chosen if declared for item in one.items_out or ()]
        source = kind in ("lexical", "vector", "fetch")
        choice = pool if source else given or pool
        out = draw(st.lists(st.sampled_from(choice), max_size=4, unique_by=lambda one: one.item_id))
        silent = kind in ("rewrite", "generate") or not draw(st.integers(0, 6))
        made.append(Step(
            step_id=f"s{number}", name=f"{kind}{number % 2}", kind=kind, parents=tuple(parents) if declared else None,
            items_out=None if silent else tuple(out),
        ))  # fmt: skip
    last = [item for one in made for item in one.items_out or ()] or pool
    context = None
    if not any(one.kind == "assemble" for one in made):
        context = tuple(draw(st.lists(st.sampled_from(last), max_size=3)))
    case = Case(query_id="q", query="?", class_="answerable", answerable="yes", evidence=labels, facts=facts)
    content = TraceContent(query_id="q", repeat=0, as_of=AS_OF, steps=tuple(made), context=context)
    return case, Trace(content=content, measurements=Measurements(query_id="q", repeat=0))
