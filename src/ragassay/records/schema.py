"""JSON Schemas (2020-12) of the records, made from their types. Validates nothing itself."""

from __future__ import annotations

from typing import Any

import msgspec

from ragassay.records.base import Record
from ragassay.records.case import Benchmark, Case, CaseLine
from ragassay.records.document import Corpus, CorpusEntry, Document, Passage, Segmentation
from ragassay.records.judgement import JudgeIdentity, Judgement
from ragassay.records.protocol import Envelope, Policy, Protocol, Run, Scoring, Subject
from ragassay.records.score import Estimate, FactFate, Observation, ScoreTable, SurvivalRow
from ragassay.records.trace import Measurements, Trace, TraceContent

RECORDS: dict[str, type[Record]] = {
    kind.__name__.lower(): kind
    for kind in (
        Benchmark, Case, CaseLine, Corpus, CorpusEntry, Document, Envelope, Estimate, FactFate, JudgeIdentity,
        Judgement, Measurements, Observation, Passage, Policy, Protocol, Run, Scoring, ScoreTable, Segmentation,
        Subject, SurvivalRow, Trace, TraceContent,
    )
}  # fmt: skip
"""Name as `ragassay schema NAME` takes it -> record."""


def schema_of(kind: type[Record]) -> dict[str, Any]:
    """The JSON Schema of a record in its stored (snake_case) form; null is nowhere allowed."""
    (top,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "$defs": parts}
    cleaned: dict[str, Any] = _without_null(schema)
    return cleaned


def _without_null(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_null(one) for one in node]
    if not isinstance(node, dict):
        return node
    node = {key: _without_null(value) for key, value in node.items() if not (key == "default" and value is None)}
    choices = [one for one in node.get("anyOf", ()) if one != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        return {**choices[0], **rest}
    return {**node, "anyOf": choices} if choices else node
