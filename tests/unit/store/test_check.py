"""Whatever is damaged, missing or foreign is found and named, and nothing is changed by looking."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import StoreError, UsageError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_set, digest_text
from ragassay.records.case import EXTERNAL_RUBRIC, Benchmark, Case
from ragassay.records.document import Corpus, Document, Passage, Segmentation
from ragassay.records.protocol import Policy, Protocol, Run, Scoring, Stated, Subject, SystemIdentity
from ragassay.records.schema import RECORDS
from ragassay.records.score import ScoreTable
from ragassay.records.trace import Measurements, TraceContent
from ragassay.store import CheckReport, Store
from ragassay.store.links import FIELDS

NO = Stated(absent="none in this test")


def fill(store: Store) -> dict[str, Digest]:
    """A store with one of everything; role -> blob."""
    made: dict[str, Digest] = {"raw": store.put(b"\xff raw"), "response": store.put(b"response")}
    document = Document(
        document_id="d", version="1", text="\ufffd raw", parser="p", normaliser="n", lossy=True, raw=made["raw"]
    )
    passages = [Passage(passage_id="p", text="", sources=(), transform="derived")]
    made["question"] = store.put(b"?\xff")
    cases = [Case(query_id="q", query="?\ufffd", lossy=True, raw=made["question"])]
    made["corpus.blob"] = store.put_lines([document])
    made["segmentation.blob"] = store.put_lines(passages)
    made["benchmark.blob"] = store.put_lines(cases)
    corpus = Corpus(
        digest=Corpus.digest_entries([document.entry()]), documents=1, mode="embedded", blob=made["corpus.blob"]
    )
    segmentation = Segmentation(
        corpus=corpus.digest, chunker="c", chunker_version="1", parameters={}, passages=1,
        passages_digest=digest_set(map(digest_of, passages)), blob=made["segmentation.blob"],
    )  # fmt: skip
    benchmark = Benchmark(
        name="b", version="1", corpus=corpus.digest, relevance_unit="span", rubric=EXTERNAL_RUBRIC,
        completeness="unknown", rel=1, cases=1, cases_digest=digest_set(map(digest_of, cases)),
        blob=made["benchmark.blob"],
    )  # fmt: skip
    for role, record in (("corpus", corpus), ("segmentation", segmentation), ("benchmark", benchmark)):
        made[role] = store.put_record(record)
    made["subject"] = store.put_record(
        Subject(
            corpus=corpus.digest, segmentation=Stated(value=segmentation.identity()), benchmark=benchmark.identity(),
            system=SystemIdentity(name="s", adapter="python", retriever=NO, generator=NO, prompt=NO, settings={}),
            as_of="2026-08-01T00:00:00Z", seed=0, repeats=1, top_k=1, history="none", timeout_s=1.0,
            redaction=digest_text("no such blob: its digest is enough"),
        )
    )  # fmt: skip
    made["scoring"] = store.put_record(
        Scoring(
            measures=("ndcg@10",), measure_versions={}, hold=1.0, tokenizer="t", normalisation="n", level=0.95, ties="t"
        )
    )
    made["policy"] = store.put_record(Policy(name="none"))
    made["protocol"] = store.put_record(
        Protocol(
            subject=made["subject"], scoring=made["scoring"], policy=made["policy"], corpus_hash=NO,
            retriever_version=NO, prompt_hash=NO, judge_model=NO,
            objects={"corpus": made["corpus"], "segmentation": made["segmentation"], "benchmark": made["benchmark"]},
        )
    )  # fmt: skip
    made["contents"] = store.put_lines([TraceContent(query_id="q", repeat=0, as_of="2026-08-01T00:00:00Z")])
    made["measurements"] = store.put_lines([Measurements(query_id="q", repeat=0, raw=made["response"])])
    made["texts"] = store.put_lines([{"digest": digest_text("t"), "text": "t"}])
    made["envelope"] = store.put(json.dumps({
        "clock": "c", "code_revision": {"absent": "x"}, "concurrency": 1, "cpu_count": 1, "hash_seed": "0",
        "machine": "m", "packages": [], "platform": "p", "python": "3", "ragassay_version": "0", "resumed": 0,
        "started_at": "2026-08-01T00:00:00Z",
    }).encode())  # fmt: skip
    run = Run(
        subject=made["subject"], protocol=made["protocol"], state="complete", questions=1, answered=1, failures=0,
        content=digest_set([]), contents=made["contents"], measurements=made["measurements"], texts=made["texts"],
        envelope=made["envelope"],
    )  # fmt: skip
    made["run"] = store.put_record(run)
    for number, role in enumerate(("observations", "runtime", "estimates", "fates", "survival")):
        made[role] = store.put_lines([]) if not number else made["observations"]
    made["scores"] = store.put_record(
        ScoreTable(
            run=run.identity(), run_record=made["run"], scoring=made["scoring"], content=digest_set([]), questions=1,
            **{role: made[role] for role in ("observations", "runtime", "estimates", "fates", "survival")},
        )
    )  # fmt: skip
    store.set_ref("protocol/demo", made["protocol"])
    store.set_ref("run/demo", made["run"])
    store.set_ref("scores/demo", made["scores"])
    return made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture
def made(store: Store) -> dict[str, Digest]:
    return fill(store)


def named(report: CheckReport) -> set[str]:
    return {one.object for one in (*report.damaged, *report.missing, *report.foreign)}


def overwrite(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)
    path.chmod(0o444)


def test_a_sound_store(store: Store, made: dict[str, Digest]) -> None:
    for level in ("quick", "full", "deep"):
        report = store.check(level)
        assert report.ok, report
        assert (report.blobs, report.refs, report.temporary) == (len(set(made.values())), 3, 0)
    assert report.unreferenced == 0, "every blob is reached from the refs"
    assert report.bytes == sum(store.blob_path(one).stat().st_size for one in set(made.values()))
    assert json.loads(json.dumps(report.to_json()))["ok"] is True
    store.put(b"nobody names me")
    assert store.check("deep").unreferenced == 1
    assert store.check("deep").ok
    with pytest.raises(UsageError):
        store.check("thorough")  # type: ignore[arg-type]


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGES = {
    "first byte": lambda data: flipped(data, 0),
    "middle byte": lambda data: flipped(data, len(data) // 2),
    "last byte": lambda data: flipped(data, len(data) - 1),
    "truncated": lambda data: data[:-1],
    "empty": lambda data: b"",
    "longer": lambda data: data + b"\n",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damaged_blob_is_found_by_name_and_left_as_it_is(
    store: Store, made: dict[str, Digest], damage: str
) -> None:
    for digest in set(made.values()):
        path = store.blob_path(digest)
        before = path.read_bytes()
        overwrite(path, DAMAGES[damage](before))
        for level in ("full", "deep"):
            report = store.check(level)
            assert [one.object for one in report.damaged] == [digest]
            assert not report.foreign
            assert path.read_bytes() == DAMAGES[damage](before)
        overwrite(path, before)
    assert store.check("deep").ok


def test_every_missing_blob_is_found_and_who_names_it(store: Store, made: dict[str, Digest]) -> None:
    for role, digest in made.items():
        path = store.blob_path(digest)
        before = path.read_bytes()
        path.unlink()
        (store.path / "index.sqlite").unlink(missing_ok=True)
        report = store.check("deep")
        assert [one.object for one in report.missing] == [digest], role
        assert report.missing[0].named_by
        assert not report.damaged
        assert not report.foreign
        overwrite_new(path, before)
    assert store.check("deep").ok


def overwrite_new(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o444)


def test_a_missing_blob_behind_a_run_says_run_and_field(store: Store, made: dict[str, Digest]) -> None:
    store.blob_path(made["texts"]).unlink()
    assert store.check("quick").missing[0].named_by == ("run/demo texts",)
    store.blob_path(made["protocol"]).unlink()
    missing = {one.object: one.named_by for one in store.check("full").missing}
    assert missing[made["protocol"]] == ("protocol/demo", "run/demo protocol")


def test_quick_sees_what_has_gone_since_the_last_check(store: Store) -> None:
    gone, cut, flip = store.put(b"gone"), store.put(b"cut"), store.put(b"flip")
    assert store.check("quick").index == "rebuilt"
    store.blob_path(gone).unlink()
    overwrite(store.blob_path(cut), b"c")
    overwrite(store.blob_path(flip), b"flap")
    report = store.check("quick")
    assert [one.object for one in report.missing] == [gone]
    assert report.missing[0].named_by == ("index",)
    assert [one.object for one in report.damaged] == [cut], "a flipped byte needs level full"
    assert {one.object for one in store.check("full").damaged} == {cut, flip}


def test_an_index_that_is_wrong_accuses_nobody(store: Store) -> None:
    digest = store.put(b"hello")
    overwrite(store.blob_path(digest), b"hell")
    store.check("quick")
    overwrite(store.blob_path(digest), b"hello")
    assert store.check("quick").ok
    assert store.check("quick").index == "current"


def rows(store: Store) -> list[Any]:
    with closing(sqlite3.connect(store.path / "index.sqlite")) as connection:
        return connection.execute("SELECT * FROM blobs").fetchall()


def test_a_deleted_or_broken_index_is_rebuilt_the_same(store: Store, made: dict[str, Digest]) -> None:
    assert store.check().index == "rebuilt"
    before = rows(store)
    assert {digest for digest, _ in before} == set(made.values())
    assert all(store.blob_path(digest).stat().st_size == size for digest, size in before)
    (store.path / "index.sqlite").unlink()
    assert store.check("quick").index == "rebuilt"
    assert rows(store) == before
    (store.path / "index.sqlite").write_bytes(b"not a database, but long enough to look at" * 100)
    assert store.check("quick").index == "rebuilt"
    assert rows(store) == before
    late = store.put(b"late")
    assert store.check("quick").index == "updated"
    assert rows(store) == sorted([*before, (late, 4)])


FOREIGN = [
    "note.txt", "blobs/md5/x", "blobs/sha256/zz/x", "blobs/sha256/ab.bak", "blobs/sha256/ab/README",
    "blobs/sha256/ab/cd" + "0" * 62, "blobs/sha256/ab/ab" + "G" * 62, "blobs/sha256/AB/AB" + "0" * 62,
    "refs/loose", "refs/run/.hidden", "refs/run/with space",
]  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_named_and_left(store: Store, made: dict[str, Digest], name: str) -> None:
    path = store.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("not ours")
    report = store.check("quick")
    assert len(report.foreign) == 1, report.foreign
    assert name.startswith(report.foreign[0].object)
    assert not report.damaged
    assert not report.missing
    assert path.read_text() == "not ours"


def test_links_to_elsewhere_are_foreign(store: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"hello")
    digest = store.put(b"hello")
    store.blob_path(digest).unlink()
    store.blob_path(digest).symlink_to(outside)
    (store.path / "refs" / "run").mkdir()
    (store.path / "refs" / "run" / "x").symlink_to(outside)
    report = store.check()
    assert named(report) == {store.blob_path(digest).relative_to(store.path).as_posix(), "refs/run/x"} | {
        one.object for one in report.damaged
    }


@pytest.mark.parametrize("text", ["", "{", "{}", '{"digest":"x","kind":"run"}', '{"digest":"sha256:00","kind":1}'])
def test_a_damaged_ref_is_named(store: Store, made: dict[str, Digest], text: str) -> None:
    overwrite(store.path / "refs" / "run" / "demo", text.encode())
    report = store.check("quick")
    assert [one.object for one in report.damaged] == ["run/demo"]
    with pytest.raises(StoreError, match="damaged"):
        store.ref("run/demo")


def test_a_ref_to_another_kind_of_record_is_found(store: Store, made: dict[str, Digest]) -> None:
    store.set_ref("run/wrong", made["policy"])
    report = store.check("quick")
    assert [(one.object, one.named_by) for one in report.damaged] == [(made["policy"], ("run/wrong",))]


def test_deep_reads_every_line(store: Store) -> None:
    blob = store.put_lines([{"digest": digest_text("t"), "text": "t"}])
    corpus = Corpus(digest=digest_set([]), documents=1, mode="embedded", blob=blob)
    store.set_ref("corpus/x", store.put_record(corpus))
    assert store.check("full").ok
    report = store.check("deep")
    assert [one.object for one in report.damaged] == [blob]
    assert "line 1" in report.damaged[0].detail


def test_files_of_killed_writers_are_counted_and_left(store: Store) -> None:
    (store.path / "tmp" / "123-abc").write_bytes(b"half")
    report = store.check()
    assert report.temporary == 1
    assert report.ok
    assert (store.path / "tmp" / "123-abc").exists()


CONTENT = {
    ("Entry", "previous"),
    ("Corpus", "digest"), ("Segmentation", "corpus"), ("Segmentation", "passages_digest"), ("Benchmark", "corpus"),
    ("Benchmark", "cases_digest"), ("Subject", "benchmark"), ("ScoreTable", "run"), ("Subject", "corpus"),
    ("Run", "content"), ("ScoreTable", "content"), ("Experiment", "benchmark"),
    ("TraceContent", "redaction"), ("CorpusEntry", "text_digest"), ("CorpusEntry", "auth_digest"),
    ("CorpusEntry", "meta_digest"), ("Observation", "evidence_ref"), ("Judgement", "judge"),
    ("JudgeIdentity", "prompt"), ("JudgeIdentity", "schema"), ("JudgementSet", "run"), ("JudgementSet", "content"),
    ("AnswerClaims", "answer"), ("SourceFile", "digest"), ("Sample", "run"), ("ReadText", "text"),
}  # fmt: skip


def test_every_digest_in_a_record_is_known_to_be_a_blob_or_content() -> None:
    """A new field of type Digest must be placed: in the table of links, or here."""
    for kind in RECORDS.values():
        for field in kind.__struct_fields__:
            written = str(next((c.__annotations__[field] for c in kind.__mro__ if field in c.__annotations__), ""))
            if written in ("Digest", "Digest | None"):
                linked = any(field in FIELDS.get(base, {}) for base in kind.__mro__)
                assert linked != ((kind.__name__, field) in CONTENT), f"{kind.__name__}.{field}"
