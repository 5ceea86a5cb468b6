"""The golden vectors: every reader of records, ours or another, must do the same with these bytes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ragassay.errors import RecordError
from ragassay.records.canonical import canonical_bytes, digest_of, parse
from ragassay.records.schema import RECORDS, schema_of

HERE = Path(__file__).resolve().parents[2] / "vectors" / "records"


def index(folder: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads((HERE / folder / "index.json").read_text("ascii"))
    on_disk = {path.name for path in (HERE / folder).iterdir()} - {"index.json"}
    assert set(found) == on_disk, "the index and the folder differ; run `make vectors`"
    return found


def refused_by_schema(kind: str, data: bytes) -> bool:
    value: Any = json.loads(data.decode("utf-8-sig"))
    return not jsonschema.Draft202012Validator(schema_of(RECORDS[kind])).is_valid(value)


@pytest.mark.parametrize(("name", "want"), index("valid").items())
def test_valid_is_read_and_written_byte_for_byte(name: str, want: dict[str, str]) -> None:
    data = (HERE / "valid" / name).read_bytes()
    record = parse(RECORDS[want["record"]], data)
    assert canonical_bytes(record) == data
    assert want["digest"] == "sha256:" + hashlib.sha256(data).hexdigest() == digest_of(record)
    assert not refused_by_schema(want["record"], data)


@pytest.mark.parametrize(("name", "want"), index("spellings").items())
def test_spelling_means_the_same_record(name: str, want: dict[str, str]) -> None:
    data = (HERE / "spellings" / name).read_bytes()
    record = parse(RECORDS[want["record"]], data)
    assert digest_of(record) == want["digest"]
    assert parse(type(record), canonical_bytes(record)) == record
    assert refused_by_schema(want["record"], data) == ("camel" in name), "the schema speaks snake_case"


@pytest.mark.parametrize(("name", "want"), index("hostile").items())
def test_hostile_is_refused_with_its_place(name: str, want: dict[str, str]) -> None:
    data = (HERE / "hostile" / name).read_bytes()
    with pytest.raises(RecordError) as caught:
        parse(RECORDS[want["record"]], data, file="cases.jsonl", line=7)
    error = caught.value
    assert want["says"] in f"{error.message} {error.hint}"
    assert (error.file, error.line) == ("cases.jsonl", 7)
    if want["field"]:
        assert error.field == want["field"]
    assert error.hint, "a refusal says what to do next"
    assert str(error).encode("utf-8").isascii() or "…" in str(error)


def test_every_kind_of_record_has_a_valid_vector() -> None:
    assert {want["record"] for want in index("valid").values()} == set(RECORDS)


SHAPE_REFUSALS = {
    "array", "bool-for-float", "bool-for-integer", "digest-path", "digest-short", "digest-upper-case", "empty-id",
    "half-for-integer", "instant-nanoseconds", "instant-without-offset", "integer-2-53", "integer-for-bool",
    "integer-minus-2-53", "metadata-1e20", "metadata-2-53", "metadata-object", "missing-field", "negative-count",
    "null", "null-field", "null-in-list", "null-in-metadata", "proto-key", "python-name-of-class",
    "text-for-integer", "text-for-list", "two-spellings", "two-spellings-deep", "unknown-field",
    "unknown-field-deep", "unknown-field-far", "word-misspelled", "word-unknown",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SHAPE_REFUSALS))
def test_the_schema_refuses_too_what_one_field_alone_gets_wrong(name: str) -> None:
    want = index("hostile")[name]
    assert refused_by_schema(want["record"], (HERE / "hostile" / name).read_bytes())
