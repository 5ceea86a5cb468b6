"""What is signed: in-toto statements about a protocol, a verdict, and numbers. Signs and stores nothing.

* pre-registration: this protocol, with all that it freezes, is what will be followed. Signed before the run.
* verdict: these artefacts, under this configuration, passed, failed, or neither (`test-result/v0.1`).
* numbers: this run's estimates, by measure and class.
* erasure: these objects were taken away, by whom and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from ragassay.errors import FormError, PredicateError, RecordError, SubjectError
from ragassay.records.base import Digest
from ragassay.records.canonical import canonical_bytes, digest_of, is_digest, load_json
from ragassay.records.decision import Decision
from ragassay.records.ledger import Absence
from ragassay.records.protocol import Protocol, Run, Subject
from ragassay.records.score import Estimate, ScoreTable
from ragassay.store import Store
from ragassay.store.absence import absence_of

Kind = Literal["pre-registration", "verdict", "numbers", "erasure"]
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATES: dict[Kind, str] = {
    "pre-registration": "urn:ragassay:pre-registration:v0.1",
    "verdict": "https://in-toto.io/attestation/test-result/v0.1",
    "numbers": "urn:ragassay:evaluation-run:v0.1",
    "erasure": "urn:ragassay:erasure:v0.1",
}
"""Kind -> predicate type."""
OUTCOMES = {"pass": "PASSED", "fail": "FAILED", "review": "WARNED", "inconclusive": "WARNED"}
"""Of a decision, as test-result says it; WARNED is not passed."""
_HINT = "get the bundle again from who signed it"


class Statement(NamedTuple):
    """A signed statement, read strictly."""

    kind: Kind
    subjects: dict[str, Digest]
    """Role -> digest."""
    predicate: dict[str, Any]


def preregistration(store: Store, protocol_digest: Digest) -> dict[str, Any]:
    """The statement that a protocol will be followed: itself, its three layers, and what the subject names."""
    protocol = store.get_record(Protocol, protocol_digest)
    subject = store.get_record(Subject, protocol.subject)
    layers = {"subject": protocol.subject, "scoring": protocol.scoring, "policy": protocol.policy}
    named: dict[str, Digest] = {
        "protocol": protocol_digest,
        **layers,
        **{str(k): v for k, v in protocol.objects.items()},
    }
    predicate = {
        "components": [_descriptor(name, digest, store) for name, digest in sorted(named.items())],
        "system": digest_of(subject.system).removeprefix("sha256:"),
    }
    return _statement("pre-registration", named, predicate)


def verdict(store: Store, decision_digest: Digest) -> dict[str, Any]:
    """The statement of how a decision ended: the artefacts tested are its subject, all else its configuration."""
    decision = store.get_record(Decision, decision_digest)
    run = store.get_record(Run, decision.candidate.run_record)
    subject = store.get_record(Subject, run.subject)
    protocol = store.get_record(Protocol, run.protocol)
    tested = {
        "decision": decision_digest,
        "run": decision.candidate.run_record,
        "scores": decision.candidate.scores,
        "system": digest_of(subject.system),
    }
    configuration: dict[str, Digest] = {
        "protocol": run.protocol, "policy": decision.policy, "scoring": protocol.scoring,
        **{str(role): digest for role, digest in protocol.objects.items()},
    }  # fmt: skip
    if decision.baseline is not None:
        configuration["baseline"] = decision.baseline.run_record
    names: dict[str, list[str]] = {"PASSED": [], "FAILED": [], "WARNED": []}
    for one in decision.results:
        population = "" if one.population is None else f" [{_said(one.population)}]"
        names[OUTCOMES[one.result]].append(f"{one.rule}{population}")
    predicate = {
        "result": OUTCOMES[decision.outcome],
        "configuration": [_descriptor(name, digest, store) for name, digest in sorted(configuration.items())],
        "passedTests": names["PASSED"],
        "warnedTests": names["WARNED"],
        "failedTests": names["FAILED"],
    }
    return _statement("verdict", tested, predicate)


def numbers(store: Store, scores_digest: Digest) -> dict[str, Any]:
    """The statement of a run's estimates: every measure and class at every step, slices left to the table."""
    table = store.get_record(ScoreTable, scores_digest)
    run = store.get_record(Run, table.run_record)
    rows = (one for one in store.get_lines(Estimate, table.estimates) if one.population.slice is None)
    return _statement(
        "numbers",
        {"run": table.run_record, "scores": scores_digest, "protocol": run.protocol},
        {"scoring": table.scoring.removeprefix("sha256:"), "estimates": _plain(rows)},
    )


def erasure(store: Store, absence_digest: Digest) -> dict[str, Any]:
    """The statement of a tombstone."""
    absence = store.get_record(Absence, absence_digest)
    named = {"absence": absence_digest, **{f"object {n}": one for n, one in enumerate(absence.objects, 1)}}
    return _statement("erasure", named, {"at": absence.at, "by": absence.by, "reason": absence.reason})


def _plain(rows: Iterable[Estimate]) -> list[Any]:
    return [msgspec.to_builtins(one) for one in rows]


def _said(population: Any) -> str:
    return population.class_ if population.slice is None else f"{population.class_}, {population.slice}"


def _descriptor(name: str, digest: Digest, store: Store) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "digest": {"sha256": digest.removeprefix("sha256:")}}
    if digest in store or absence_of(store, digest) is not None:
        found["mediaType"] = "application/json"
    return found


def _statement(kind: Kind, subjects: Mapping[str, Digest], predicate: dict[str, Any]) -> dict[str, Any]:
    return {
        "_type": STATEMENT,
        "subject": [
            {"name": name, "digest": {"sha256": digest.removeprefix("sha256:")}}
            for name, digest in sorted(subjects.items())
        ],
        "predicateType": PREDICATES[kind],
        "predicate": predicate,
    }


def read_statement(payload: bytes) -> Statement:
    """A statement from its signed bytes.

    FormError for bytes that are not canonical, a field too many, no subject, a subject twice, or one without a SHA-256;
    PredicateError for a predicate type that is none of `PREDICATES`.
    """
    try:
        value = load_json(payload)
        canonical = canonical_bytes(value)
    except RecordError as cause:
        raise FormError(f"not a statement: {cause.message}", field=cause.field, hint=_HINT) from cause
    if canonical != payload:
        raise FormError("the statement is not in canonical form", hint=_HINT)
    if not isinstance(value, dict) or set(value) != {"_type", "subject", "predicateType", "predicate"}:
        raise FormError("not the four fields of a statement", hint=_HINT)
    if value["_type"] != STATEMENT or not isinstance(value["predicate"], dict):
        raise FormError(f"not {STATEMENT}", field="_type", hint=_HINT)
    kinds = {uri: kind for kind, uri in PREDICATES.items()}
    if not isinstance(value["predicateType"], str) or value["predicateType"] not in kinds:
        raise PredicateError("a predicate type that is not known here", field="predicateType", hint=_HINT)
    return Statement(kinds[value["predicateType"]], _subjects(value["subject"]), value["predicate"])


def _subjects(found: Any) -> dict[str, Digest]:
    if not isinstance(found, list) or not found:
        raise FormError("a statement about nothing: subject is empty", field="subject", hint=_HINT)
    subjects: dict[str, Digest] = {}
    for number, one in enumerate(found):
        field = f"subject[{number}]"
        if not isinstance(one, dict) or set(one) != {"name", "digest"} or not isinstance(one["name"], str):
            raise FormError("a subject has a name and a digest", field=field, hint=_HINT)
        digest = one["digest"]
        if not isinstance(digest, dict) or set(digest) != {"sha256"} or not is_digest(f"sha256:{digest['sha256']}"):
            raise FormError("not a SHA-256 digest", field=f"{field}.digest", hint=_HINT)
        if one["name"] in subjects:
            raise FormError(f"the subject {one['name']!r} stands twice", field=field, hint=_HINT)
        subjects[one["name"]] = Digest(f"sha256:{digest['sha256']}")
    return subjects


def check_statement(statement: Statement, kind: Kind, role: str, digest: str) -> None:
    """PredicateError unless it is of this kind, SubjectError unless `role` in it is this digest."""
    if statement.kind != kind:
        raise PredicateError(f"a {statement.kind} stands where a {kind} should", field="predicateType", hint=_HINT)
    if statement.subjects.get(role) != digest:
        raise SubjectError(
            f"signed about {role} {statement.subjects.get(role, 'not at all')}, not about {digest}",
            field="subject", hint="a valid signature over something else says nothing about this",
        )  # fmt: skip
