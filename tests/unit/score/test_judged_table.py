"""Score tables with judges: what is read, what is kept, and that a new threshold asks nobody."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.score.judged_material import cut, said
from tests.unit.score.score_material import one_estimate, scoring
from tests.unit.score.test_score_table import cases, sealed_run, traces

from ragassay.errors import IntegrityError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of
from ragassay.records.judgement import Agreement, Calibration, JudgeIdentity, JudgementSet
from ragassay.records.protocol import Run
from ragassay.records.score import ClaimFailure, Estimate, Observation
from ragassay.score import again, in_force, is_superseded, table
from ragassay.score.named import calibration_ref, judgements_ref
from ragassay.store import Store

JUDGE = JudgeIdentity(name="j", kind="lexical")


def prepared(folder: Path) -> tuple[Store, Digest, JudgementSet]:
    """A run of four questions of which q1 was answered in one claim, judged with a score of 0.5."""
    store = Store.open(folder, create=True)
    run_digest, _ = sealed_run(store, traces(), cases())
    run = store.get_record(Run, run_digest)
    claims = [cut(one) for one in traces() if one.content.answer is not None]
    verdicts = [said("claim c1", "supported", query_id="q1", score=0.5)]
    judged = JudgementSet(
        name="j", run=run.identity(), judge=store.put_record(JUDGE), state="complete", claims=store.put_lines(claims),
        judgements=store.put_lines(verdicts), content=digest_of("c"), splitter="s", asked=1, valued=1,
    )  # fmt: skip
    return store, run_digest, judged


def how(store: Store, **more: Any) -> Digest:
    return store.put_record(scoring("faithfulness", "recall(rel=2)@5", judges=("j",), **more))


def micro(store: Store, blob: str) -> Estimate:
    return one_estimate(store.get_lines(Estimate, blob), "faithfulness(by=j)", aggregation="micro")


def test_a_new_threshold_relabels_and_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, run, judged = prepared(tmp_path / "store")
    sets = {"j": store.put_record(judged)}

    def never(*_: object, **__: object) -> None:
        raise AssertionError("scoring opened a socket")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, never)
    found = {}
    for threshold in (None, 0.4, 0.5, 0.6):
        scorings = how(store, judge_thresholds={} if threshold is None else {"j": threshold})
        found[threshold] = micro(store, table(store, run, scorings, judged=sets)[0].estimates).value
    assert found == {None: 1.0, 0.4: 1.0, 0.5: 1.0, 0.6: 0.0}


def test_the_table_names_what_it_read_and_can_be_made_again(tmp_path: Path) -> None:
    store, run, judged = prepared(tmp_path / "store")
    sets = {"j": store.put_record(judged), "not-asked-for": digest_of("nothing")}
    made, digest = table(store, run, how(store), judged=sets)
    assert made.judged == {"j": sets["j"]}
    assert made.failures is not None
    assert [(one.query_id, one.failure) for one in store.get_lines(ClaimFailure, made.failures)] == [("q1", "uncited")]
    assert again(store, made) == (made, digest)
    plain, _ = table(store, run, how(store))
    assert plain.failures is None
    assert plain.content != made.content
    reasons = {
        row.query_id: (row.status, row.reason)
        for row in store.get_lines(Observation, plain.observations)
        if row.measure == "faithfulness(by=j)"
    }
    assert reasons == {
        "q1": ("missing", "not_judged"), "q2": ("error", "timeout"), "q3": ("undefined", "not_answered"),
        "q4": ("missing", "no_trace"),
    }  # fmt: skip
    found = micro(store, plain.estimates)
    assert (found.status, found.attempted, found.missing, found.error) == ("undefined", 3, 2, 1)
    assert found.bounds is not None
    assert (found.bounds.low, found.bounds.high) == (0.0, 1.0)


def test_judgements_of_another_run_or_judge_are_refused(tmp_path: Path) -> None:
    store, run, judged = prepared(tmp_path / "store")
    for other in (
        msgspec.structs.replace(judged, run=digest_of("other")),
        msgspec.structs.replace(judged, name="k"),
    ):
        with pytest.raises(IntegrityError, match="the judgements given for j are of"):
            table(store, run, how(store), judged={"j": store.put_record(other)})


def test_the_sets_in_force_are_those_that_the_store_names_and_the_calibration_of_that_identity(tmp_path: Path) -> None:
    store, run_digest, judged = prepared(tmp_path / "store")
    run, digest = store.get_record(Run, run_digest), store.put_record(judged)
    asked = scoring("faithfulness(by=k)", judges=("j",))
    assert in_force(store, run, asked) == ({}, {})
    store.set_ref(judgements_ref("j", run.identity()), digest, kind="judgementset")
    calibration = Calibration(
        judge=judged.judge, people=store.put_lines([]), judged=digest, raters=1, rubric="r", drawn="random",
        agreements=(Agreement(about="claim", scale="support/1", items=1, unjudged=0, confusion={}),),
    )  # fmt: skip
    other = msgspec.structs.replace(calibration, judge=digest_of("another prompt"))
    store.set_ref(calibration_ref("j", judged.judge), store.put_record(other), kind="calibration")
    assert in_force(store, run, asked) == ({"j": digest}, {})  # of another identity: there is none
    known = store.put_record(calibration)
    store.set_ref(calibration_ref("j", judged.judge), known, kind="calibration")
    assert in_force(store, run, asked) == ({"j": digest}, {"j": known})
    made, _ = table(store, run_digest, how(store), judged={"j": digest}, calibrations={"j": known})
    assert made.calibrations == {"j": known}
    assert is_superseded(store, made, run) == ()
    newer = store.put_record(msgspec.structs.replace(judged, supersedes=digest))
    store.set_ref(judgements_ref("j", run.identity()), newer, kind="judgementset")
    assert is_superseded(store, made, run) == ("j",)
