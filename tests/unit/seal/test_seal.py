"""A frozen protocol is the same for the same content, carries its identities, and shows every changed byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ragassay.errors import BenchmarkError, IntegrityError, RagassayError, StoreError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_set, digest_text
from ragassay.records.case import EXTERNAL_RUBRIC, Benchmark, Case, Evidence
from ragassay.records.document import Corpus, Document, Passage, Segmentation, Span
from ragassay.records.policy import Rule
from ragassay.records.protocol import Policy, Protocol, Run, Scoring, Stated, Subject, SystemIdentity
from ragassay.records.trace import Measurements, TraceContent
from ragassay.redact import Redaction
from ragassay.seal import Sealed, describe_machine, freeze, verify, verify_run
from ragassay.store import Store

NO = Stated(absent="none in this test")
SCORING = Scoring(
    measures=("ndcg@10",), measure_versions={"ndcg": "1"}, hold=1.0, tokenizer="word/1", normalisation="squad",
    level=0.95, ties="list_order",
)  # fmt: skip
POLICY = Policy(name="none")
REDACTION = Redaction(patterns={"card": r"\d{16}"})


class Made(msgspec.Struct):
    """What a test built."""

    store: Store
    subject: Subject
    blobs: dict[str, Digest]

    def freeze(self, **changes: Any) -> Sealed:
        given = {"name": "demo", "subject": self.subject, "scoring": SCORING, "policy": POLICY, "redaction": REDACTION}
        return freeze(self.store, **{**given, **changes})


def documents(store: Store) -> list[Document]:
    common = {"version": "1", "parser": "p", "normaliser": "n"}
    return [
        Document(document_id="a", text="Alpha is first.", tenants=("*",), title="A", **common),
        Document(document_id="b", text="Beta is second.", tenants=("t1",), **common),
        Document(document_id="c", text="\ufffd", lossy=True, raw=store.put(b"\xff"), **common),
    ]


def build(store: Store, mode: Any = "embedded", text: str = "", name: str = "demo") -> Made:
    kept = documents(store)
    if text:
        kept[0] = msgspec.structs.replace(kept[0], text=text)
    entries = [one.entry() for one in kept]
    corpus = Corpus(
        digest=Corpus.digest_entries(entries), documents=3, mode=mode,
        blob=store.put_lines(kept if mode == "embedded" else entries),
    )  # fmt: skip
    passages = [
        Passage(
            passage_id=one.document_id, text=one.text, transform="slice",
            sources=(Span(document_id=one.document_id, version="1", start=0, end=len(one.text)),),
        )
        for one in kept
    ]  # fmt: skip
    cut = Segmentation(
        corpus=corpus.digest, chunker="whole", chunker_version="1", parameters={}, passages=3,
        passages_digest=digest_set(map(digest_of, passages)), blob=store.put_lines(passages),
    )  # fmt: skip
    question = store.put(b"which? \xff")
    cases = [
        Case(query_id="q1", query="first?", evidence=(Evidence(id="e", document_id="a", grade=3, start=0, end=5),)),
        Case(query_id="q2", query="which? \ufffd", lossy=True, raw=question),
    ]
    benchmark = Benchmark(
        name="b", version="1", corpus=corpus.digest, relevance_unit="span", rubric=EXTERNAL_RUBRIC,
        completeness="unknown", rel=1, cases=2, cases_digest=digest_set(map(digest_of, cases)),
        blob=store.put_lines(cases),
    )  # fmt: skip
    blobs = {
        "corpus": store.put_record(corpus), "corpus.blob": corpus.blob, "segmentation": store.put_record(cut),
        "segmentation.blob": cut.blob, "benchmark": store.put_record(benchmark), "benchmark.blob": benchmark.blob,
        "question": question,
    }  # fmt: skip
    if mode == "embedded":
        blobs["raw"] = kept[2].raw or Digest("")
    for role in ("corpus", "segmentation", "benchmark"):
        store.set_ref(f"{role}/{name}", blobs[role])
    subject = Subject(
        corpus=corpus.digest, segmentation=Stated(value=cut.identity()), benchmark=benchmark.identity(),
        system=SystemIdentity(
            name="s", adapter="python", retriever=Stated(value="bm25 1"), generator=NO, prompt=NO, settings={}
        ),
        as_of="2026-08-01T00:00:00Z", seed=0, repeats=1, top_k=5, history="gold", timeout_s=10.0,
        redaction=REDACTION.digest,
    )  # fmt: skip
    return Made(store, subject, blobs)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return build(Store.open(tmp_path / "store", create=True))


def test_a_protocol_carries_its_layers_and_identities(made: Made) -> None:
    sealed = made.freeze()
    store = made.store
    assert store.ref("protocol/demo") == sealed.digest
    assert store.get_record(Protocol, sealed.digest) == sealed.protocol
    assert store.get_record(Subject, sealed.protocol.subject) == made.subject == sealed.subject
    assert store.get_record(Scoring, sealed.protocol.scoring) == SCORING == sealed.scoring
    assert store.get_record(Policy, sealed.protocol.policy) == POLICY == sealed.policy
    assert sealed.protocol.corpus_hash == Stated(value=made.subject.corpus)
    assert sealed.protocol.retriever_version == Stated(value="bm25 1")
    assert sealed.protocol.prompt_hash == NO
    assert sealed.protocol.judge_model.value is None
    assert sealed.protocol.judge_model.absent
    assert sealed.protocol.objects == {role: made.blobs[role] for role in ("corpus", "segmentation", "benchmark")}
    assert json.loads(store.get(made.subject.redaction))["patterns"] == {"card": r"\d{16}"}
    assert store.check("deep").ok
    verify(store, sealed.digest)


def test_judges_are_named(made: Made) -> None:
    judged = msgspec.structs.replace(SCORING, judges=("panel-b", "panel-a"))
    assert made.freeze(scoring=judged).protocol.judge_model == Stated(value="panel-a, panel-b")
    many = msgspec.structs.replace(SCORING, judges=tuple(f"judge {number:050d}" for number in range(20)))
    assert (made.freeze(scoring=many).protocol.judge_model.value or "").startswith("sha256:")


def test_equal_content_gives_an_equal_digest_here_and_elsewhere(made: Made, tmp_path: Path) -> None:
    first = made.freeze()
    assert made.freeze(name="again").digest == first.digest
    given = {role: made.blobs[role] for role in ("corpus", "segmentation", "benchmark")}
    assert made.freeze(objects=given).digest == first.digest
    assert build(Store.open(tmp_path / "other", create=True)).freeze().digest == first.digest


def test_a_new_scoring_or_policy_leaves_the_subject_alone(made: Made) -> None:
    first = made.freeze().protocol
    scored = made.freeze(scoring=msgspec.structs.replace(SCORING, hold=0.5)).protocol
    decided = made.freeze(policy=Policy(name="strict", rules=(Rule(measure="recall@10", at_least=0.8),))).protocol
    assert first.subject == scored.subject == decided.subject
    assert len({digest_of(one) for one in (first, scored, decided)}) == 3
    moved = made.freeze(subject=msgspec.structs.replace(made.subject, top_k=6)).protocol
    assert moved.subject != first.subject
    assert moved.scoring == first.scoring


def test_an_embedded_corpus_is_preferred_to_a_referenced_one(made: Made) -> None:
    first = made.freeze()
    store = made.store
    entries = store.put_lines(one.entry() for one in documents(store))
    referenced = Corpus(digest=made.subject.corpus, documents=3, mode="referenced", blob=entries)
    store.set_ref("corpus/aaa", store.put_record(referenced))
    assert made.freeze().digest == first.digest


def test_what_the_subject_names_must_be_there_and_fit(made: Made, tmp_path: Path) -> None:
    nothing = digest_text("nothing")
    for change, wrong, names in (
        ({"corpus": nothing}, StoreError, "corpus"),
        ({"benchmark": nothing}, StoreError, "benchmark"),
        ({"segmentation": Stated(value=nothing)}, StoreError, "segmentation"),
    ):
        with pytest.raises(wrong, match=names) as caught:
            made.freeze(subject=msgspec.structs.replace(made.subject, **change))
        assert caught.value.hint
    other = build(made.store, text="Another text.", name="other")
    mixed = msgspec.structs.replace(made.subject, benchmark=other.subject.benchmark)
    with pytest.raises(BenchmarkError) as misfit:
        made.freeze(subject=mixed)
    assert misfit.value.field == "benchmark.corpus"
    with pytest.raises(BenchmarkError) as misfit:
        made.freeze(objects={"corpus": other.blobs["corpus"]})
    assert misfit.value.field == "corpus"
    with pytest.raises(BenchmarkError):
        made.freeze(objects={"segmentation": other.blobs["segmentation"]})
    with pytest.raises(StoreError):
        made.freeze(objects={"corpus": nothing})
    assert "protocol/demo" not in made.store.ref_names(), "a refused protocol gets no name"


def test_without_a_segmentation(made: Made) -> None:
    subject = msgspec.structs.replace(made.subject, segmentation=Stated(absent="the system cuts by itself"))
    sealed = made.freeze(subject=subject)
    assert set(sealed.protocol.objects) == {"corpus", "benchmark"}
    verify(made.store, sealed.digest)


def test_a_referenced_corpus_is_verified_by_its_entries(tmp_path: Path) -> None:
    made = build(Store.open(tmp_path / "store", create=True), mode="referenced")
    sealed = made.freeze()
    verify(made.store, sealed.digest)
    embedded = build(Store.open(tmp_path / "other", create=True))
    assert embedded.subject.corpus == made.subject.corpus, "mode is no part of the identity"


def overwrite(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)


def roles_of(made: Made, sealed: Sealed) -> dict[str, Digest]:
    layers = {name: getattr(sealed.protocol, name) for name in ("subject", "scoring", "policy")}
    return {**made.blobs, **layers, "protocol": sealed.digest, "redaction": made.subject.redaction}


PLACES = {"question": "benchmark.blob", "raw": "corpus.blob"}


def test_every_changed_byte_of_every_object_is_found_with_its_role(made: Made) -> None:
    sealed = made.freeze()
    for role, digest in roles_of(made, sealed).items():
        path = made.store.blob_path(digest)
        before = path.read_bytes()
        for at in {*range(0, len(before), max(1, len(before) // 40)), len(before) - 1}:
            overwrite(path, before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :])
            with pytest.raises(IntegrityError) as caught:
                verify(made.store, sealed.digest)
            assert caught.value.field == PLACES.get(role, role)
            assert digest in str(caught.value)
            assert caught.value.hint
        overwrite(path, before)
        verify(made.store, sealed.digest)


def test_every_missing_object_is_found_with_its_role(made: Made) -> None:
    sealed = made.freeze()
    for role, digest in roles_of(made, sealed).items():
        if role == "redaction":
            continue  # its digest alone identifies it
        path = made.store.blob_path(digest)
        before = path.read_bytes()
        path.unlink()
        with pytest.raises(IntegrityError, match="missing") as caught:
            verify(made.store, sealed.digest)
        assert caught.value.field == PLACES.get(role, role)
        path.write_bytes(before)
    verify(made.store, sealed.digest)


def forge(made: Made, role: str, **changes: Any) -> Digest:
    """A protocol whose object of a role was replaced by another that is sound in itself."""
    kinds: dict[str, Any] = {"corpus": Corpus, "segmentation": Segmentation, "benchmark": Benchmark}
    store = made.store
    protocol = made.freeze().protocol
    forged = store.put_record(msgspec.structs.replace(store.get_record(kinds[role], made.blobs[role]), **changes))
    return store.put_record(msgspec.structs.replace(protocol, objects={**protocol.objects, role: forged}))


def test_sound_blobs_with_other_content_are_found(made: Made) -> None:
    """Whole files under right names that say something else than what was sealed."""
    store = made.store
    kept = documents(store)
    text = store.put_lines([msgspec.structs.replace(kept[0], text="Alpha is last."), *kept[1:]])
    acl = store.put_lines([kept[0], msgspec.structs.replace(kept[1], tenants=("*",)), kept[2]])
    title = store.put_lines([msgspec.structs.replace(kept[0], title="B"), *kept[1:]])
    fewer = store.put_lines(kept[:2])
    for blob in (text, acl, title):
        with pytest.raises(IntegrityError, match=r"corpus\.digest"):
            verify(store, forge(made, "corpus", blob=blob))
    with pytest.raises(IntegrityError, match=r"corpus\.documents"):
        verify(store, forge(made, "corpus", blob=fewer))
    with pytest.raises(IntegrityError, match=r"corpus\.documents"):
        verify(store, forge(made, "corpus", documents=4))
    with pytest.raises(IntegrityError, match="corpus"):
        verify(store, forge(made, "corpus", digest=digest_text("x")))
    other = store.put_lines(
        [Passage(passage_id=str(number), text="", sources=(), transform="derived") for number in range(3)]
    )
    with pytest.raises(IntegrityError, match=r"segmentation\.passages_digest"):
        verify(store, forge(made, "segmentation", blob=other))
    with pytest.raises(IntegrityError, match="segmentation"):
        verify(store, forge(made, "segmentation", chunker_version="2"))
    with pytest.raises(IntegrityError, match="benchmark"):
        verify(store, forge(made, "benchmark", rel=2))


def test_a_benchmark_whose_cases_are_others_is_found(made: Made) -> None:
    store = made.store
    benchmark = store.get_record(Benchmark, made.blobs["benchmark"])
    others = store.put_lines([Case(query_id="q1", query="first?"), Case(query_id="q2", query="second?")])
    forged = store.put_record(msgspec.structs.replace(benchmark, blob=others))
    sealed = made.freeze(objects={"benchmark": forged})
    with pytest.raises(IntegrityError, match=r"benchmark\.cases_digest") as caught:
        verify(store, sealed.digest)
    assert caught.value.field == "benchmark.cases_digest"


def test_a_protocol_that_contradicts_its_subject_is_found(made: Made) -> None:
    protocol = made.freeze().protocol
    for field in ("corpus_hash", "retriever_version", "prompt_hash", "judge_model"):
        forged = msgspec.structs.replace(protocol, **{field: Stated(value="other")})
        with pytest.raises(IntegrityError) as caught:
            verify(made.store, made.store.put_record(forged))
        assert caught.value.field == f"protocol.{field}"
    bare = made.store.put_record(msgspec.structs.replace(protocol, objects={}))
    with pytest.raises(IntegrityError, match="does not say where its corpus is"):
        verify(made.store, bare)


def test_another_record_is_no_protocol(made: Made) -> None:
    made.freeze()
    for digest in (made.blobs["corpus"], made.blobs["corpus.blob"], made.blobs["question"]):
        with pytest.raises(IntegrityError) as caught:
            verify(made.store, digest)
        assert caught.value.field.startswith("protocol")


def run_of(made: Made, sealed: Sealed, **changes: Any) -> Digest:
    store = made.store
    contents = [TraceContent(query_id=name, repeat=0, as_of=made.subject.as_of) for name in ("q1", "q2")]
    envelope = describe_machine(started_at=made.subject.as_of, clock="none", concurrency=1)
    run = Run(
        subject=sealed.protocol.subject, protocol=sealed.digest, state="complete", questions=2, answered=2, failures=0,
        content=digest_set(map(digest_of, contents)), contents=store.put_lines(contents),
        measurements=store.put_lines(Measurements(query_id=one.query_id, repeat=0) for one in contents),
        texts=store.put_lines([]), envelope=store.put_record(envelope),
    )  # fmt: skip
    return store.put_record(msgspec.structs.replace(run, **changes))


def test_a_run_is_verified_with_its_protocol(made: Made) -> None:
    sealed = made.freeze()
    digest = run_of(made, sealed)
    run = verify_run(made.store, digest)
    assert run == made.store.get_record(Run, digest)
    for field, change in (
        ("run.content", {"content": digest_text("x")}),
        ("run.answered", {"answered": 1}),
        ("run.subject", {"subject": digest_text("x")}),
        ("run.measurements", {"measurements": made.store.put_lines([])}),
    ):
        with pytest.raises(IntegrityError) as caught:
            verify_run(made.store, run_of(made, sealed, **change))
        assert caught.value.field == field
    for role in ("contents", "measurements", "texts", "envelope"):
        path = made.store.blob_path(getattr(run, role))
        before = path.read_bytes()
        overwrite(path, before[:-1] + bytes([before[-1] ^ 1]))
        with pytest.raises(IntegrityError) as caught:
            verify_run(made.store, digest)
        assert caught.value.field == f"run.{role}"
        overwrite(path, before)
    overwrite(made.store.blob_path(made.blobs["corpus.blob"]), b"x")
    with pytest.raises(RagassayError, match="damaged"):
        verify_run(made.store, digest)
