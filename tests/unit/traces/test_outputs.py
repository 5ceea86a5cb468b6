"""Answers and contexts of a data set as traces: tied by id or text, absent told from empty, nothing measured."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.score.score_material import doc

from ragassay.benchmark import Output, OutputContext
from ragassay.corpus import FLOOR, Resolver
from ragassay.records.base import DocumentId, Instant, PassageId
from ragassay.records.canonical import digest_text
from ragassay.records.document import Passage, Span
from ragassay.records.trace import Item, Measurements, TraceContent
from ragassay.run.contract import Request
from ragassay.run.normalise import normalise
from ragassay.traces.outputs import traces_of

AS_OF = Instant("2026-08-01T00:00:00Z")
LONG = "Rain falls when warm air rises and cools, and the water in it condenses into drops that fall."
DOCS = [doc("rain", f"{LONG} Then the sun comes out."), doc("snow", "Snow is frozen rain."), doc("twin", "a b a b")]
SPAN = Span(document_id=DocumentId("rain"), version="1", start=0, end=len(LONG))
CUT = [Passage(passage_id=PassageId("rain#1"), text=LONG, sources=(SPAN,), transform="slice")]
RESOLVER = Resolver(DOCS, CUT, as_of=AS_OF, floor=FLOOR)


def only(context: OutputContext, resolver: Resolver = RESOLVER) -> Item:
    (trace,) = traces_of([Output("q", None, (context,))], resolver, as_of=AS_OF)
    assert trace.content.context is not None
    (item,) = trace.content.context
    return item


def seen(item: Item) -> tuple[object, ...]:
    return (item.resolution, item.transform, item.passage_id, item.whole_document, item.reason)


def test_a_text_is_tied_by_its_letters_then_by_alignment() -> None:
    exact = only(OutputContext(LONG))
    assert seen(exact) == ("exact", "slice", "rain#1", False, None)
    assert (exact.sources, exact.text_digest) == ((SPAN,), None)  # the passage has the text
    wrapped = LONG.replace(" ", "\n  ")
    aligned = only(OutputContext(wrapped))
    assert (aligned.resolution, aligned.alignment, aligned.sources) == ("aligned", 1.0, (SPAN,))
    assert aligned.text_digest == digest_text(wrapped)  # it is not the passage's text
    assert seen(only(OutputContext(wrapped), Resolver(DOCS, CUT))) == (
        "unresolved",
        "derived",
        None,
        False,
        "not_found",
    )


def test_what_stands_nowhere_or_in_two_places_says_why() -> None:
    assert seen(only(OutputContext("Nothing of the kind."))) == ("unresolved", "derived", None, False, "not_found")
    assert only(OutputContext("Nothing of the kind.")).text_digest == digest_text("Nothing of the kind.")
    assert len(only(OutputContext("a b")).among) > 1
    assert only(OutputContext("")).reason == "empty"
    assert only(OutputContext(None, "who")).reason == "unknown_id"
    assert (only(OutputContext("")).item_id, only(OutputContext(None, "who")).item_id) == ("no-text", "who")


def test_an_id_alone_is_a_passage_or_a_whole_document() -> None:
    assert seen(only(OutputContext(None, "rain#1"))) == ("declared", "slice", "rain#1", False, None)
    whole = only(OutputContext(None, "snow"))
    assert seen(whole) == ("declared", "slice", None, True, None)
    assert [(one.document_id, one.start, one.end) for one in whole.sources] == [("snow", 0, 20)]


def test_a_text_that_is_not_its_ids_words_shows_no_span_of_it() -> None:
    said = only(OutputContext("In short: it rains.", "snow"))
    assert seen(said)[:3] == ("declared", "derived", None)
    assert said.text_digest == digest_text("In short: it rains.")
    assert only(OutputContext("Snow is frozen rain.", "nobody")).resolution == "exact"


def test_absent_is_not_empty_and_nothing_was_measured() -> None:
    silent, empty = traces_of([Output("a", "Yes."), Output("b", None, ())], RESOLVER, as_of=AS_OF)
    assert (silent.content.context, silent.content.steps) == (None, ())
    assert silent.content.answer is not None
    assert (silent.content.answer.text, silent.content.answer.outcome) == ("Yes.", None)
    assert (empty.content.context, empty.content.answer) == ((), None)
    assert [(one.kind, one.items_out) for one in empty.content.steps] == [("fetch", ())]
    assert silent.measurements == Measurements(query_id=silent.content.query_id, repeat=0)


def test_an_id_that_is_too_long_is_known_by_its_digest() -> None:
    item = only(OutputContext("Snow is frozen rain.", "x" * 300))
    assert item.item_id == f"text-{digest_text('x' * 300).removeprefix('sha256:')[:16]}"


PIECES = st.sampled_from([LONG, LONG[:40], "Snow is frozen rain.", "a b", "nowhere", "", " ", LONG.replace(" ", "  ")])


@given(st.lists(PIECES, max_size=5), st.none() | st.text(max_size=5))
def test_texts_mean_here_what_they_mean_when_a_system_answers_with_them(texts: list[str], answer: str | None) -> None:
    """The other way in: the same texts as a response that a run makes a trace of."""
    output = Output("q", answer, tuple(map(OutputContext, texts)))
    (trace,) = traces_of([output], RESOLVER, as_of=AS_OF)
    request = Request(query_id=trace.content.query_id, query="?", as_of=AS_OF, top_k=5, seed=0)
    other: TraceContent = normalise(output.response(), request, RESOLVER).content
    assert trace.content.context == other.context
    assert trace.content.answer == other.answer
