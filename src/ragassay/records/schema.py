"""JSON Schemas (2020-12) of the records, made from their types. Validates nothing itself."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from ragassay.records.advice import Advice, ReadText
from ragassay.records.base import Digest, Instant, Record
from ragassay.records.case import Benchmark, Case, CaseLine
from ragassay.records.comparison import Comparison, Effect, Move, NewLoss
from ragassay.records.decision import Decision, QuestionVerdict, Review
from ragassay.records.document import Corpus, CorpusEntry, Document, Passage, Segmentation, SkippedLine
from ragassay.records.experiment import Experiment
from ragassay.records.judgement import (
    AnswerClaims,
    Calibration,
    JudgeIdentity,
    Judgement,
    JudgementSet,
    JudgeWork,
    Sample,
    SampledItem,
)
from ragassay.records.ledger import Absence, Entry, Supersession
from ragassay.records.probe import Assessment, Finding, PlantedDocument, Probe, ProbeReply, ProbeSuite
from ragassay.records.protocol import Envelope, Policy, Protocol, Run, Scoring, Subject
from ragassay.records.provenance import SourceFile
from ragassay.records.score import ClaimFailure, Estimate, FactFate, Observation, ScoreTable, SurvivalRow
from ragassay.records.shape import SAFE_INTEGER, fields_of
from ragassay.records.text import DIGEST_PATTERN, INSTANT_PATTERN
from ragassay.records.trace import Measurements, Trace, TraceContent

RECORDS: dict[str, type[Record]] = {
    kind.__name__.lower(): kind
    for kind in (
        Absence, Comparison, Decision, Effect, Entry, Move, NewLoss, QuestionVerdict, Review,
        AnswerClaims, Benchmark, Calibration, Case, CaseLine, ClaimFailure, Corpus, CorpusEntry, Document, Envelope,
        Estimate, Experiment, FactFate, JudgeIdentity, Judgement, JudgementSet, JudgeWork, Measurements, Observation,
        Passage, Policy, Protocol, Run, Sample, SampledItem, Scoring, ScoreTable, Segmentation, SkippedLine, SourceFile,
        Subject, Supersession, SurvivalRow, Trace, TraceContent,
        Advice, Assessment, Finding, PlantedDocument, Probe, ProbeReply, ProbeSuite, ReadText,
    )
}  # fmt: skip
"""Name as `ragassay schema NAME` takes it -> record."""


_EXACT: dict[Any, dict[str, Any]] = {
    Digest: {"type": "string", "pattern": f"^{DIGEST_PATTERN}$"},
    Instant: {"type": "string", "pattern": f"^{INSTANT_PATTERN}$"},
}
"""What the types of `msgspec` do not say about these two."""


def schema_of(kind: type[Record]) -> dict[str, Any]:
    """The JSON Schema of a record: what `canonical.parse` accepts in snake_case, but for rules that join two fields.

    null is nowhere allowed, integers stay below 2^53, digests and instants have their form.
    """
    (top,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for record in _reached(kind, {}).values():
        for key, declared in fields_of(record).items():
            properties = parts[record.__name__]["properties"]
            exact = next((_EXACT[one] for one in _mentioned(declared) if one in _EXACT), None)
            if exact:
                properties[key] = _with_strings(properties[key], exact)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "$defs": parts}
    cleaned: dict[str, Any] = _plain(schema)
    return cleaned


def _mentioned(declared: Any) -> list[Any]:
    """The types that a declaration is made of, itself included."""
    return [declared, *(one for part in get_args(declared) for one in _mentioned(part))]


def _reached(kind: type[Record], found: dict[str, type[Record]]) -> dict[str, type[Record]]:
    if kind.__name__ not in found:
        found[kind.__name__] = kind
        for declared in fields_of(kind).values():
            for one in _mentioned(declared):
                if isinstance(one, type) and issubclass(one, Record):
                    _reached(one, found)
    return found


def _with_strings(node: Any, exact: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_with_strings(one, exact) for one in node]
    if not isinstance(node, dict):
        return node
    if node.get("type") == "string":
        return {**node, **exact}
    return {key: _with_strings(value, exact) for key, value in node.items()}


def _plain(node: Any) -> Any:
    """Without null, and with the bounds of what every JSON reader takes for the same integer."""
    if isinstance(node, list):
        return [_plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    node = {key: _plain(value) for key, value in node.items() if not (key == "default" and value is None)}
    if node.get("type") == "integer":
        return {"minimum": 1 - SAFE_INTEGER, "maximum": SAFE_INTEGER - 1, **node}
    choices = [one for one in node.get("anyOf", ()) if one != {"type": "null"}]
    if len(choices) == 1:
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        return {**choices[0], **rest}
    if any(one.get("type") == "integer" for one in choices):
        choices = [{**one, "not": {"type": "integer"}} if one == {"type": "number"} else one for one in choices]
    return {**node, "anyOf": choices} if choices else node
