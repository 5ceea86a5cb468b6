"""Records for all inputs: reading is the inverse of writing, equal is equal bytes, the envelope moves no content."""

from __future__ import annotations

import json
import types
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ragassay.errors import RecordError
from ragassay.records.base import Digest, Instant, Record
from ragassay.records.canonical import (
    SAFE_INTEGER,
    canonical_bytes,
    digest_of,
    digest_set,
    load_json,
    parse,
    snake,
)
from ragassay.records.case import Case
from ragassay.records.probe import Call
from ragassay.records.protocol import Run
from ragassay.records.schema import RECORDS, schema_of
from ragassay.records.text import clean, instant, is_instant, shown
from ragassay.records.trace import Item, Measurements, Step, Trace, TraceContent

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SAFE = st.integers(1 - SAFE_INTEGER, SAFE_INTEGER - 1)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
SCALAR = st.one_of(TEXT, SAFE, FLOAT.filter(lambda x: abs(x) < SAFE_INTEGER or not x.is_integer()), st.booleans())
DIGEST = st.binary(min_size=32, max_size=32).map(lambda raw: Digest("sha256:" + raw.hex()))
INSTANT = st.datetimes(allow_imaginary=False).map(lambda moment: instant(moment.isoformat() + "Z"))


@cache
def values(declared: Any) -> st.SearchStrategy[Any]:
    """Values of a declared type, its own limits kept."""
    if declared is Digest:
        return DIGEST
    if declared is Instant:
        return INSTANT
    if hasattr(declared, "__supertype__"):
        return values(declared.__supertype__)
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return limited(arguments[0], arguments[1])
    if origin in (Union, types.UnionType):
        if {str, int, float, bool} <= set(arguments):
            lists = any(get_origin(one) is list for one in arguments)
            return st.one_of(SCALAR, st.lists(SCALAR, max_size=2)) if lists else SCALAR
        return st.one_of(*(st.none() if one is type(None) else values(one) for one in arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        if arguments[-1] is not Ellipsis:
            return st.tuples(*map(values, arguments))
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=3)
    if isinstance(declared, type) and issubclass(declared, Record):
        return records(declared)
    return {str: TEXT, int: SAFE, float: FLOAT, bool: st.booleans()}[declared]


def limited(base: Any, limit: msgspec.Meta) -> st.SearchStrategy[Any]:
    if base is int:
        return st.integers(limit.ge or 0, SAFE_INTEGER - 1)
    if base is float:
        low = limit.ge if limit.ge is not None else limit.gt or 0.0
        high = limit.le if limit.le is not None else limit.lt
        return st.floats(low, high, allow_nan=False, allow_infinity=False,
                         exclude_min=limit.ge is None, exclude_max=high is not None and limit.le is None)  # fmt: skip
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=limit.min_length or 0, max_size=12)


@cache
def records(kind: type[Record]) -> st.SearchStrategy[Any]:
    """Records of a kind whose fields do not contradict each other; few by chance, so the common ties are made here."""
    hints = get_type_hints(kind, include_extras=True)
    optional = {field.name for field in msgspec.structs.fields(kind) if not field.required}

    @st.composite
    def build(draw: st.DrawFn) -> Any:
        names = [name for name in hints if name not in optional or draw(st.booleans())]
        fields = {name: draw(values(hints[name])) for name in names}
        tie(kind.__name__, fields, draw)
        try:
            return kind(**fields)
        except ValueError:
            assume(False)

    return build()


NUMBERED = {"Observation": "value", "Estimate": "value", "Effect": "effect", "Judgement": "label"}
"""Record with a status -> the field that stands exactly where the status is value."""


def tie(kind: str, fields: dict[str, Any], draw: st.DrawFn) -> None:
    """What one field makes of another."""
    if {"status", "reason"} <= set(fields) | {"reason"} and kind in NUMBERED:
        number = NUMBERED[kind]
        has = fields["status"] == "value"
        fields[number] = draw(TEXT if kind == "Judgement" else FLOAT) if has else None
        fields["reason"] = None if has else draw(TEXT)
    if kind in {"Estimate", "Effect"}:
        told = "scored" if kind == "Estimate" else "pairs"
        fields[told] += fields["status"] == "value"
        counts = (told, "undefined", "missing", "error")
        for count in counts:
            fields[count] = min(fields[count], 2**40) or int(count == told and fields["status"] == "value")
        fields["attempted"] = sum(fields[count] for count in counts)
    if kind == "Stated":
        given = draw(st.sampled_from(["value", "absent"]))
        fields.clear()
        fields[given] = draw(TEXT.filter(bool))
    if kind in {"Bounds", "Interval"} and fields["low"] > fields["high"]:
        fields["low"], fields["high"] = fields["high"], fields["low"]
    if kind in {"Span", "Evidence"} and fields.get("start") is not None:
        fields["end"] = fields["start"] + 1 if fields["start"] < SAFE_INTEGER - 1 else fields["start"]
    elif kind == "Evidence":
        fields["end"] = None
    if kind == "Citation":
        fields |= {"item_id": "i", "source": None, "answer_start": 0, "answer_end": 3}
    if kind == "Answer":
        fields["outcome_source"] = draw(st.sampled_from(["system", "rule"])) if fields.get("outcome") else None
    if kind == "Item":
        loose = not fields.get("sources")
        fields["resolution"] = "unresolved" if loose else draw(st.sampled_from(["declared", "exact", "aligned"]))
        fields["alignment"] = 0.5 if fields["resolution"] == "aligned" else None
    if kind == "TraceContent":
        fields["steps"] = tuple(
            msgspec.structs.replace(step, step_id=f"s{n}", parents=(f"s{n - 1}",) if n and step.parents else None)
            for n, step in enumerate(fields.get("steps", ()))
        )
    if kind == "Trace":
        content = fields["content"]
        same = {"query_id": content.query_id, "repeat": content.repeat}
        fields["measurements"] = msgspec.structs.replace(fields["measurements"], **same)
    if kind == "Probe":
        last = Call(endpoint="ask", principal=fields["principal"], credential="valid")
        fields["calls"] = (*fields.get("calls", ()), last)
    if kind == "Advice":
        fields["attempted"] = sum(min(fields[name], 2**40) for name in ("look", "nothing", "error", "not_asked"))
        fields |= {name: min(fields[name], 2**40) for name in ("look", "nothing", "error", "not_asked")}
    if kind == "ReadText":
        fields["quotes"] = ("words",) if fields["said"] == "look" else ()
        fields["cause"] = "json" if fields["said"] == "error" else None
    if kind in {"Case", "CaseLine"}:
        tie_case(fields)


def tie_case(fields: dict[str, Any]) -> None:
    fields["notes"] = fields.get("notes") or "why"
    fields["slice"] = tuple(dict.fromkeys(fields.get("slice", ())))
    fields["expect"] = fields.get("expect") or None
    fields["answerable"] = {"unanswerable": "no", "adversarial": "not_applicable"}.get(fields.get("class_"), "yes")
    if fields.get("relevant") is not None:
        fields["evidence"] = None
        ids = [f"r{n}" for n in range(1, len(fields["relevant"]) + 1)]
    else:
        found = fields.get("evidence")
        if found is not None:
            fields["evidence"] = tuple(msgspec.structs.replace(one, id=f"e{n}") for n, one in enumerate(found))
        ids = [f"e{n}" for n in range(len(found or ()))]
    fields["facts"] = tuple(
        msgspec.structs.replace(fact, id=f"f{n}", any_of=(tuple(ids), (ids[0],)))
        for n, fact in enumerate(fields.get("facts", ()))
    ) if ids else ()  # fmt: skip
    fields["answers"] = tuple(
        msgspec.structs.replace(one, fact_set=tuple(ids[: len(one.fact_set)])) for one in fields.get("answers", ())
    )


MANY = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("kind", RECORDS.values(), ids=list(RECORDS))
def test_reading_is_the_inverse_of_writing(kind: type[Record]) -> None:
    schema = jsonschema.Draft202012Validator(schema_of(kind))

    @MANY
    @given(records(kind))
    def check(record: Record) -> None:
        data = canonical_bytes(record)
        read = parse(kind, data)
        assert read == record
        assert canonical_bytes(read) == data
        assert schema.is_valid(json.loads(data))

    check()


@MANY
@given(records(TraceContent), st.randoms(use_true_random=False))
def test_key_order_spelling_and_written_defaults_do_not_move_a_digest(content: TraceContent, chance: Any) -> None:
    def turned(value: Any, *, typed: bool = True) -> Any:
        if isinstance(value, dict):
            items = list(value.items())
            chance.shuffle(items)
            return {(camel(k) if typed else k): turned(v, typed=typed and k not in FREE) for k, v in items}
        return [turned(one, typed=typed) for one in value] if isinstance(value, list) else value

    text = json.dumps(turned(json.loads(canonical_bytes(content))), ensure_ascii=chance.random() < 0.5, indent=2)
    assert digest_of(parse(TraceContent, text)) == digest_of(content)


FREE = {"filter", "versions"}
"""Fields of a trace whose keys belong to the user."""


def camel(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(word.title() for word in rest)


def test_every_field_has_a_camel_case_spelling_that_reads_back() -> None:
    for kind in RECORDS.values():
        for field in msgspec.structs.fields(kind):
            assert snake(camel(field.encode_name)) == field.encode_name


@MANY
@given(records(TraceContent), records(Measurements), records(Measurements))
def test_content_does_not_move_with_its_measurements(content: TraceContent, one: Any, other: Any) -> None:
    same = {"query_id": content.query_id, "repeat": content.repeat}
    traces = [Trace(content=content, measurements=msgspec.structs.replace(it, **same)) for it in (one, other)]
    read = [parse(Trace, canonical_bytes(trace)) for trace in traces]
    assert digest_of(read[0].content) == digest_of(read[1].content) == digest_of(content)
    assert set(Measurements.__struct_fields__) & set(TraceContent.__struct_fields__) == {"query_id", "repeat", "steps"}


@MANY
@given(records(Run), records(Run))
def test_the_identity_of_a_run_is_its_subject_and_content(one: Run, other: Run) -> None:
    about = {name: getattr(one, name) for name in ("subject", "content", "state", "stopped", "questions")}
    assert msgspec.structs.replace(other, **about).identity() == one.identity()
    for name in ("subject", "content"):
        moved = msgspec.structs.replace(one, **{name: digest_set([getattr(one, name)])})
        assert moved.identity() != one.identity()


@MANY
@given(records(Item), records(Item))
def test_equal_bytes_exactly_for_equal_records(one: Item, other: Item) -> None:
    assert (canonical_bytes(one) == canonical_bytes(other)) == (one == other)


@MANY
@given(records(Step), st.sampled_from(["queryText", "itemsOut", "stepid", "Kind", "kindd"]))
def test_one_more_key_is_refused(step: Step, key: str) -> None:
    value = json.loads(canonical_bytes(step))
    assume(snake(key) not in Step.__struct_fields__ or snake(key) in value)
    with pytest.raises(RecordError, match=r"unknown field|two spellings"):
        parse(Step, json.dumps(value | {key: value["kind"]}))


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60), st.text('{}[]",:\\u0d8nul 1e.-', max_size=40)))
def test_any_bytes_are_a_record_or_a_refusal(data: bytes | str) -> None:
    try:
        parse(Case, data)
    except RecordError as error:
        str(error).encode("utf-8")


JSON = st.recursive(
    SCALAR | st.none(), lambda kids: st.lists(kids, max_size=3) | st.dictionaries(TEXT, kids, max_size=3)
)


@MANY
@given(st.dictionaries(st.sampled_from(["query", "query_id", "evidence", "facts", "slice", "principal", "risk"]), JSON))
def test_what_the_schema_refuses_is_refused_and_the_rest_is_only_refused_for_its_meaning(value: Any) -> None:
    allowed = jsonschema.Draft202012Validator(schema_of(Case)).is_valid(value)
    try:
        parse(Case, json.dumps(value))
    except RecordError:
        pass
    else:
        assert allowed


@given(st.text(max_size=20) | st.text(st.characters(categories=["Cs"]), max_size=6) | st.binary(max_size=20))
def test_clean_text_is_valid_and_lossless_where_it_says_so(raw: str | bytes) -> None:
    text, lossy = clean(raw)
    encoded = text.encode("utf-8")
    if isinstance(raw, bytes):
        assert lossy == (encoded != raw)
    else:
        assert lossy == (text.encode("utf-16-le") != raw.encode("utf-16-le", "surrogatepass"))
    assert clean(text) == (text, False)


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(9000, 1, 1), allow_imaginary=False),
    st.integers(-1439, 1439),
)
def test_instants_are_stable_and_mean_the_same_moment(moment: datetime, offset_min: int) -> None:
    moment = moment.replace(tzinfo=timezone(timedelta(minutes=offset_min)))
    stored = instant(moment.isoformat())
    assert is_instant(stored)
    assert instant(stored) == stored
    assert datetime.fromisoformat(stored) == moment


@given(st.text(max_size=200))
def test_shown_text_always_prints(text: str) -> None:
    assert shown(text).isprintable()
    shown(text).encode("utf-8")


def test_load_json_reads_what_json_reads() -> None:
    @settings(deadline=None)
    @given(st.recursive(SCALAR, lambda kids: st.lists(kids, max_size=4) | st.dictionaries(TEXT, kids, max_size=4)))
    def check(value: Any) -> None:
        assert load_json(json.dumps(value)) == value

    check()
