"""The page inside a file of evidence: what it holds, its figures, how to check it by hand. Shows no text of a case."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Any, TypeVar

from ragassay.errors import AbsentError
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import digest_of
from ragassay.records.decision import Decision
from ragassay.records.protocol import Envelope, Protocol, Run, Stated, Subject
from ragassay.records.score import Estimate, ScoreTable
from ragassay.seal.evidence import made_of
from ragassay.seal.signatures import PREFIX
from ragassay.store import Ref, Store
from ragassay.store.absence import absence_of

T = TypeVar("T", bound=Record)


def evidence_page(store: Store, run_digest: Digest, refs: Iterable[Ref], objects: int, version: str) -> bytes:
    """The page of a run, as HTML without scripts, images or links; the same records give the same bytes.

    `refs`: the names in the file; `objects`: how many objects it holds.
    """
    import jinja2

    text = files("ragassay.audit").joinpath("templates/evidence.html.j2").read_text(encoding="utf-8")
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True).from_string(text)
    return template.render(**_shown(store, run_digest, refs), objects=objects, version=version).encode()


def _shown(store: Store, run_digest: Digest, refs: Iterable[Ref]) -> dict[str, Any]:
    about = made_of(store, run_digest)
    run = store.get_record(Run, run_digest)
    subject = store.get_record(Subject, run.subject)
    protocol = store.get_record(Protocol, run.protocol)
    envelope = store.get_record(Envelope, run.envelope)
    return {
        "run": run,
        "run_digest": run_digest,
        "about": about,
        "identities": _identities(run, subject, protocol),
        "machine": f"{envelope.python}, {envelope.platform}, ragassay {envelope.ragassay_version}",
        "started": envelope.started_at,
        "decision": None if about.decision is None else _kept(store, Decision, about.decision),
        "figures": _figures(store, about.scores),
        "bundles": [one for one in refs if one.name.startswith(f"{PREFIX}/")],
    }


def _identities(run: Run, subject: Subject, protocol: Protocol) -> list[tuple[str, str]]:
    """The five identities of a run, as far as they were recorded."""
    return [
        ("benchmark", f"{subject.benchmark}; corpus {subject.corpus}"),
        ("retrieval", f"{_stated(subject.system.retriever)}; segmentation {_stated(subject.segmentation)}"),
        ("generation", f"{_stated(subject.system.generator)}; prompt {_stated(subject.system.prompt)}"),
        ("system", f"{subject.system.name} ({subject.system.adapter}), {digest_of(subject.system)}"),
        ("evaluation", f"scoring {protocol.scoring}; judge {_stated(protocol.judge_model)}"),
        ("question traces", f"{run.content}"),
    ]


def _stated(one: Stated) -> str:
    return one.value if one.value is not None else f"unrecorded: {one.absent}"


def _figures(store: Store, scores: Digest | None) -> list[Estimate]:
    if scores is None:
        return []
    table = _kept(store, ScoreTable, scores)
    if table is None or (table.estimates not in store and absence_of(store, table.estimates) is not None):
        return []
    return [one for one in store.get_lines(Estimate, table.estimates) if one.population.slice is None]


def _kept(store: Store, kind: type[T], digest: Digest) -> T | None:
    """A record; None if it is gone on purpose."""
    try:
        return store.get_record(kind, digest)
    except AbsentError:
        return None
