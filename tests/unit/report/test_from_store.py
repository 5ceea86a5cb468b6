"""A scorecard loaded from a store says the same as one built from the same records in memory."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.unit.report import sample

from ragassay import corpus, report
from ragassay.errors import IntegrityError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_set
from ragassay.report.material import Material
from ragassay.store import Store

LINES = ("observations", "runtime", "estimates", "fates", "survival")


def stored(path: Path) -> tuple[Store, Material, Digest, Digest]:
    """The hand-made records in a store, as the rooms leave them: (store, material, scores, run)."""
    store = Store.open(path, create=True)
    made = sample.material()
    frozen, corpus_digest = corpus.build(store, sample.documents(), name="hand")
    benchmark = msgspec.structs.replace(
        made.benchmark, corpus=frozen.digest, cases_digest=digest_set(digest_of(one) for one in made.cases),
        blob=store.put_lines(made.cases),
    )  # fmt: skip
    benchmark_digest = store.put_record(benchmark)
    subject = msgspec.structs.replace(made.subject, corpus=frozen.digest, benchmark=benchmark_digest)
    protocol = msgspec.structs.replace(
        made.protocol, subject=store.put_record(subject), scoring=store.put_record(made.scoring),
        policy=store.put_record(made.policy), objects={"corpus": corpus_digest, "benchmark": benchmark_digest},
    )  # fmt: skip
    run = msgspec.structs.replace(
        made.run, subject=store.put_record(subject), protocol=store.put_record(protocol),
        contents=store.put_lines(made.contents), measurements=store.put_lines(made.measurements),
        texts=store.put_lines([{"digest": one.digest, "text": one.text} for one in ()]),
        envelope=store.put_record(made.envelope),
    )  # fmt: skip
    run_digest = store.put_record(run)
    table = msgspec.structs.replace(
        made.table, run=run.identity(), run_record=run_digest, scoring=store.put_record(made.scoring),
        **{name: store.put_lines(getattr(made, name)) for name in LINES},
    )  # fmt: skip
    scores = store.put_record(table)
    store.set_ref("run/hand", run_digest)
    store.set_ref("scores/hand", scores)
    return store, made, scores, run_digest


def test_the_store_gives_the_same_numbers(tmp_path: Path) -> None:
    store, made, scores, _ = stored(tmp_path / "store")
    found, wanted = report.scorecard(store, scores), report.build(made)
    assert found.scores == scores
    assert found.verdict == wanted.verdict
    assert found.funnels == wanted.funnels
    assert found.dimensions == wanted.dimensions
    assert found.runtime == wanted.runtime
    assert found.questions == wanted.questions
    assert report.html(found) == report.html(report.scorecard(store, scores))


def test_a_flipped_byte_is_found_before_anything_is_shown(tmp_path: Path) -> None:
    store, _, scores, run_digest = stored(tmp_path / "store")
    path = store.blob_path(run_digest)
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(IntegrityError):
        report.scorecard(store, scores)


def test_two_identical_runs_in_one_store_each_keep_their_own_record(tmp_path: Path) -> None:
    store, made, _, _ = stored(tmp_path / "store")
    other = msgspec.structs.replace(made.table, run_record=sample.digest("elsewhere"))
    with pytest.raises(IntegrityError, match="missing from the store"):
        report.scorecard(store, store.put_record(other))
