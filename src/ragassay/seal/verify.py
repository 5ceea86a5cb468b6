"""Everything that a protocol, a run or what was made of it reaches, hashed again. Repairs and scores nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ragassay.errors import AbsentError, IntegrityError, RecordError
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import digest_bytes, digest_of, digest_set
from ragassay.records.case import Benchmark, Case
from ragassay.records.document import Corpus, CorpusEntry, Document, Segmentation
from ragassay.records.protocol import Envelope, Policy, Protocol, Run, Scoring, Subject
from ragassay.records.trace import Measurements
from ragassay.seal.freeze import stated
from ragassay.store import Store
from ragassay.store.links import Target, links_of

T = TypeVar("T", bound=Record)
HINT = "restore it from a copy of the store or build it again; `ragassay store check` names every damaged object"


def verify(store: Store, protocol_digest: str, gone: list[Digest] | None = None) -> None:
    """Re-hash all that a protocol reaches and compute its content digests again; returns only if all agree.

    Covers the protocol, its three layers, the corpus (its digest from every document's text, authorization and
    description), the segmentation (`passages_digest`), the benchmark (`cases_digest`) and raw bytes of lossy
    documents and questions. With `gone`, what was erased, or left out of a public file, is added to it, and all else
    that can be found is checked; without, that is an AbsentError, as it is for the protocol itself. Raises
    IntegrityError with the role (`field`) and the object that is not what it should be.
    """
    protocol = _record(store, Protocol, protocol_digest, "protocol")
    with _or_gone(gone, protocol.policy):
        _record(store, Policy, protocol.policy, "policy")
    scoring = None
    with _or_gone(gone, protocol.scoring):
        scoring = _record(store, Scoring, protocol.scoring, "scoring")
    with _or_gone(gone, protocol.subject):
        subject = _record(store, Subject, protocol.subject, "subject")
        for role, said in stated(subject, scoring).items() if scoring is not None else ():
            _same(f"protocol.{role}", getattr(protocol, role), said, protocol_digest)
        if subject.redaction in store:
            with _role("redaction"):
                store.get(subject.redaction)
        for check in (_verify_corpus, _verify_segmentation, _verify_benchmark):
            with _or_gone(gone, protocol.subject):
                check(store, subject, protocol, gone)


def verify_run(store: Store, run_digest: str, gone: list[Digest] | None = None) -> Run:
    """Re-hash a run's manifest, blobs, raw responses and protocol, and compute its content digest again.

    `gone` is as in `verify`; without it only a raw response may be absent: traces stand without it. AbsentError for a
    manifest that was erased itself. Raises IntegrityError with the role and the object. Returns the manifest.
    """
    run = _record(store, Run, run_digest, "run")
    with _or_gone(gone, run.protocol):
        verify(store, run.protocol, gone)
        _same("run.subject", run.subject, store.get_record(Protocol, run.protocol).subject, run_digest)
    with _or_gone(gone, run.contents):
        digests = _line_digests(store, run.contents, "run.contents")
        _same("run.answered", run.answered, len(digests), run_digest)
        _same("run.content", run.content, digest_set(digests), run_digest)
    with _or_gone(gone, run.measurements):
        _same("run.measurements", run.answered, _verify_raw(store, run, [] if gone is None else gone), run_digest)
    with _or_gone(gone, run.texts):
        _line_digests(store, run.texts, "run.texts")
    with _or_gone(gone, run.envelope):
        _record(store, Envelope, run.envelope, "run.envelope")
    return run


def verify_made(
    store: Store, made: Iterable[tuple[Digest, type[Record]]], run: Digest, gone: list[Digest] | None = None
) -> None:
    """Re-hash tables and decisions with all that they name: their lines, judgements, calibrations, and other runs.

    `run` was looked at already. `gone` and the errors are as in `verify_run`; `field` says by which way an object was
    reached, for example `scores.observations`.
    """
    todo = [(digest, Target("record", kind), kind.__name__.lower()) for digest, kind in made]
    seen = {run}
    while todo:
        digest, target, role = todo.pop()
        if digest in seen or (target.optional and digest not in store):
            continue
        seen.add(digest)
        with _or_gone(gone, digest):
            if target.kind is Run:
                verify_run(store, digest, gone)
            elif target.holds == "record" and target.kind is not None:
                record = _record(store, target.kind, digest, role)
                todo += [(Digest(one.digest), one.target, f"{role}.{one.field}") for one in links_of(record)]
            else:
                with _role(role):
                    store.get_raw_lines(digest) if target.holds != "bytes" else store.get(digest)


def _verify_corpus(store: Store, subject: Subject, protocol: Protocol, gone: list[Digest] | None) -> None:
    digest = _named(protocol, "corpus")
    corpus = _record(store, Corpus, digest, "corpus")
    _same("corpus", subject.corpus, corpus.digest, digest)
    with _or_gone(gone, corpus.blob):
        with _role("corpus.blob"):
            if corpus.mode == "embedded":
                entries = []
                for document in store.get_lines(Document, corpus.blob):
                    entries.append(digest_of(document.entry()))
                    if document.raw is not None:
                        with _or_gone(gone, document.raw):
                            store.get(document.raw)
            else:
                entries = [digest_of(entry) for entry in store.get_lines(CorpusEntry, corpus.blob)]
        _same("corpus.documents", corpus.documents, len(entries), corpus.blob)
        _same("corpus.digest", corpus.digest, digest_set(entries), corpus.blob)


def _verify_segmentation(store: Store, subject: Subject, protocol: Protocol, gone: list[Digest] | None) -> None:
    if subject.segmentation.value is None:
        return
    digest = _named(protocol, "segmentation")
    cut = _record(store, Segmentation, digest, "segmentation")
    _same("segmentation", subject.segmentation.value, cut.identity(), digest)
    _same("segmentation.corpus", subject.corpus, cut.corpus, digest)
    with _or_gone(gone, cut.blob):
        passages = _line_digests(store, cut.blob, "segmentation.blob")
        _same("segmentation.passages", cut.passages, len(passages), cut.blob)
        _same("segmentation.passages_digest", cut.passages_digest, digest_set(passages), cut.blob)


def _verify_benchmark(store: Store, subject: Subject, protocol: Protocol, gone: list[Digest] | None) -> None:
    digest = _named(protocol, "benchmark")
    benchmark = _record(store, Benchmark, digest, "benchmark")
    _same("benchmark", subject.benchmark, benchmark.identity(), digest)
    _same("benchmark.corpus", subject.corpus, benchmark.corpus, digest)
    with _or_gone(gone, benchmark.blob):
        cases = _line_digests(store, benchmark.blob, "benchmark.blob")
        with _role("benchmark.blob"):
            for case in store.get_lines(Case, benchmark.blob):
                if case.raw is not None:
                    with _or_gone(gone, case.raw):
                        store.get(case.raw)
        _same("benchmark.cases", benchmark.cases, len(cases), benchmark.blob)
        _same("benchmark.cases_digest", benchmark.cases_digest, digest_set(cases), benchmark.blob)


def _verify_raw(store: Store, run: Run, gone: list[Digest]) -> int:
    """Every raw response that was kept and not taken away since; how many lines of measurements there are."""
    lines = 0
    with _role("run.measurements"):
        for measured in store.get_lines(Measurements, run.measurements):
            lines += 1
            if measured.raw is not None:
                with _or_gone(gone, measured.raw):
                    store.get(measured.raw)
    return lines


@contextmanager
def _or_gone(gone: list[Digest] | None, digest: Digest) -> Iterator[None]:
    """What needs this object is passed over if it is gone on purpose, and that is written down."""
    try:
        yield
    except AbsentError as cause:
        if gone is None:
            raise
        gone.append(digest if cause.digest is None else Digest(cause.digest))


def _named(protocol: Protocol, role: str) -> str:
    digest = {str(key): value for key, value in protocol.objects.items()}.get(role)
    if digest is None:
        raise IntegrityError(
            f"the protocol does not say where its {role} is", field=f"protocol.objects.{role}", hint="seal it again"
        )
    return digest


def _line_digests(store: Store, blob: str, role: str) -> list[str]:
    """The digest of each record of a blob: its lines are canonical, so the bytes of a line are the record's."""
    with _role(role):
        return [digest_bytes(line) for line in store.get_raw_lines(blob)]


def _record(store: Store, kind: type[T], digest: str, role: str) -> T:
    with _role(role):
        return store.get_record(kind, digest)


@contextmanager
def _role(role: str) -> Iterator[None]:
    """What goes wrong inside is an IntegrityError that names the role of the object."""
    try:
        yield
    except IntegrityError as error:
        error.message = f"{role}: {error.message}"
        raise error.at(field=role)  # noqa: B904  the same error, with its role
    except RecordError as error:
        raise IntegrityError(
            f"the {role} is not what it should be: {error.message}",
            file=error.file,
            line=error.line,
            field=".".join(part for part in (role, error.field) if part),
            hint=HINT,
        ) from error


def _same(role: str, wanted: object, got: object, digest: str) -> None:
    if wanted != got:
        raise IntegrityError(f"{role}: sealed as {wanted}, found as {got} in {digest}", field=role, hint=HINT)
