"""Canonical bytes against RFC 8785's own samples; strict reading of what vectors cannot hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragassay.errors import RecordError
from ragassay.records.base import Record
from ragassay.records.canonical import (
    MAX_BYTES,
    MAX_DEPTH,
    canonical_bytes,
    digest_bytes,
    digest_of,
    digest_set,
    digest_text,
    load_json,
    parse,
    parse_value,
)
from ragassay.records.case import Case, CaseLine, Conversation
from ragassay.records.document import Document, Span
from ragassay.records.score import Observation
from ragassay.records.trace import Item


def test_the_sample_of_rfc_8785_section_3_2() -> None:
    sample = r"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    want = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_bytes(load_json(sample)) == want.encode()


def test_the_key_order_of_rfc_8785_section_3_2_3() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    ordered = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical_bytes(dict.fromkeys(keys, 0)))) == ordered


@pytest.mark.parametrize(
    ("number", "want"),
    [
        (0.0, "0"), (-0.0, "0"), (5e-324, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"), (295147905179352830000.0, "295147905179352830000"),
        (1e21, "1e+21"), (1e23, "1e+23"), (9.999999999999997e22, "9.999999999999997e+22"),
        (333333333.3333332, "333333333.3333332"), (1e-6, "0.000001"), (1e-7, "1e-7"),
        (-1.7976931348623157e308, "-1.7976931348623157e+308"),
    ],
)  # fmt: skip
def test_numbers_of_rfc_8785_appendix_b_are_written_and_read_back(number: float, want: str) -> None:
    record = Observation(query_id="q", repeat=0, measure="m", status="value", value=number)
    data = canonical_bytes(record)
    assert f'"value":{want}}}'.encode() in data
    assert parse(Observation, data) == record


def test_sha_256_of_nothing_and_of_abc() -> None:
    assert digest_text("") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest_bytes(b"abc") == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_set_of_digests_has_no_order() -> None:
    assert digest_set(["b", "a"]) == digest_set(["a", "b"]) == digest_text("a\nb\n")


def test_equal_records_have_equal_bytes_however_they_were_built() -> None:
    bare = Case(query_id="q", query="?")
    spelled = Case(query_id="q", query="?", slice=tuple([]), must_hold=False, evidence=None)  # noqa: C409
    read = parse(Case, '{"slice":[],"query":"?","mustHold":false,"queryId":"q"}')
    assert bare == spelled == read
    assert digest_of(bare) == digest_of(spelled) == digest_of(read)
    assert digest_of(bare) != digest_of(Case(query_id="q", query="?", evidence=()))


def test_absent_and_empty_stay_apart() -> None:
    absent, nobody = (
        Document(document_id="d", version="1", text="", parser="p", normaliser="n", tenants=tenants)
        for tenants in (None, ())
    )
    assert parse(Document, canonical_bytes(nobody)).tenants == ()
    assert absent.entry().auth_digest != nobody.entry().auth_digest


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53, -(2**53), "\ud800", {"\ud800": 1}, {1: 2}, object()]
)
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(RecordError, match="no canonical form"):
        canonical_bytes({"a": [value]})


def test_a_lone_surrogate_has_no_digest() -> None:
    with pytest.raises(RecordError, match="lone surrogate"):
        digest_text("\udfff")


@pytest.mark.parametrize("text", ['"' + '\\"' * 2_000_000, '\\"' * 2_000_000, '["' + "a" * 4_000_000, '"' * 4_000_000])
def test_reading_is_linear_in_the_length(text: str) -> None:
    with pytest.raises(RecordError):  # a quadratic reader would be here for hours
        load_json("[" * 60 + "[],[],[],[],[]," + text)


def test_a_duplicate_among_many_keys_is_found_in_one_pass() -> None:
    many = ",".join(f'"k{number}":1' for number in range(100_000))
    with pytest.raises(RecordError, match="twice"):
        load_json("{" + many + ',"k99999":1}')


def test_depth_is_counted_outside_of_text_only() -> None:
    assert load_json('["' + "[" * 100 + '","\\"[["]') == ["[" * 100, '"[[']
    assert load_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    wide = "[" + ",".join(["[]"] * 1000) + "]"
    assert len(load_json(wide)) == 1000


def test_too_many_bytes() -> None:
    with pytest.raises(RecordError, match="the most is"):
        load_json(b" " * (MAX_BYTES + 1))


def test_foreign_text_in_an_error_cannot_steer_a_terminal() -> None:
    for text in (
        '{"\\u001b[2J":1,"query":"?","queryId":"q"}',
        '{"query":"?","queryId":"q","risk":"\\u001b]0;x\\u0007"}',
    ):
        with pytest.raises(RecordError) as caught:
            parse(Case, text)
        assert all(sign.isprintable() or sign == "\n" for sign in str(caught.value))


def test_a_long_foreign_word_is_cut_in_an_error() -> None:
    with pytest.raises(RecordError) as caught:
        parse(Case, '{"query":"?","queryId":"q","' + "x" * 1_000_000 + '":1}')
    assert len(str(caught.value)) < 1000


def test_values_built_in_memory_follow_the_same_rules() -> None:
    span = parse_value(Span, {"documentId": "d", "version": "1", "start": 0, "end": 4})
    assert span == Span(document_id="d", version="1", start=0, end=4)
    with pytest.raises(RecordError, match="null is not a value"):
        parse_value(Span, {"documentId": "d", "version": None, "start": 0, "end": 4})
    with pytest.raises(RecordError, match="not text"):
        parse_value(Span, {1: 2})


def test_the_line_of_the_issue_is_valid_as_it_stands() -> None:
    line = """{"queryId": "q-0042", "query": "How should a publish retry behave after commit but cache failure?",
 "corpusVersion": "docs-2026-08-01",
 "relevant": [{"documentId": "publish-recovery", "grade": 3}, {"documentId": "cas-state-machine", "grade": 2}],
 "slice": ["recovery", "long-tail"], "notes": "Must preserve the original revision tuple"}"""
    case = parse(CaseLine, line).to_case()
    assert [(one.id, one.document_id, one.grade, one.coarse) for one in case.evidence or ()] == [
        ("r1", "publish-recovery", 3, True), ("r2", "cas-state-machine", 2, True),
    ]  # fmt: skip
    assert (case.class_, case.answerable) == ("answerable", "yes")
    assert parse(Case, canonical_bytes(case)) == case


@pytest.mark.parametrize(
    ("written", "answerable", "class_"),
    [
        ("", "yes", "answerable"),
        ('"relevant":[],', "no", "unanswerable"), ('"answerable":"no",', "no", "unanswerable"),
        ('"class":"multi_hop",', "yes", "multi_hop"), ('"class":"adversarial",', "not_applicable", "adversarial"),
    ],
)  # fmt: skip
def test_class_and_truth_are_filled_in(written: str, answerable: str, class_: str) -> None:
    case = parse(CaseLine, "{" + written + '"query":"?","query_id":"q"}').to_case()
    assert (case.answerable, case.class_) == (answerable, class_)


def test_turns_of_one_conversation_are_one_cluster() -> None:
    turns = [Case(query_id=f"q{n}", query="?", conversation=Conversation(id="c", turn=n)) for n in (1, 2)]
    assert len({turn.cluster for turn in turns}) == 1
    assert Case(query_id="p", query="?", paraphrase_of="q").cluster == Case(query_id="q", query="?").cluster


def test_items_are_the_same_by_sources_then_text_then_id() -> None:
    a, b = (Span(document_id=one, version="1", start=0, end=9) for one in "ab")
    both, turned = (
        Item(item_id=name, rank=1, resolution="exact", transform="slice", sources=sources)
        for name, sources in (("x", (a, b)), ("y", (b, a)))
    )
    assert both.identity == turned.identity
    loose = [
        Item(item_id=n, rank=1, resolution="unresolved", transform="slice", text_digest=digest_text(t))
        for n, t in ("xt", "yt", "zu")
    ]
    assert loose[0].identity == loose[1].identity != loose[2].identity


class Part(Record, frozen=True, kw_only=True):
    text_digest: str


class Door(Record, frozen=True, kw_only=True):
    """What a room may declare beyond the nouns: unions with a record, values of no type."""

    entries: tuple[str | Part, ...] = ()
    own: dict[str, Any] = {}
    count: int | bool | None = None


def test_unions_and_untyped_values_of_other_rooms() -> None:
    read = parse(Door, '{"entries":["a",{"textDigest":"b"}],"own":{"topK":[1,{"aB":2.5}]},"count":3}')
    assert read == Door(entries=("a", Part(text_digest="b")), own={"topK": [1, {"aB": 2.5}]}, count=3)
    for bad, says in [
        ('{"entries":[{"textDigst":"b"}]}', "did you mean 'text_digest'"), ('{"own":{"a":[null]}}', "null"),
        ('{"own":{"a":{"b":9007199254740992}}}', "2\\^53"), ('{"entries":[3]}', "expected"),
        ('{"own":{"a":"\\ud800"}}', "surrogate"),
    ]:  # fmt: skip
        with pytest.raises(RecordError, match=says):
            parse(Door, bad)
