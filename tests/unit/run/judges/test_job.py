"""The judging job: nothing that has a verdict is asked twice, in this run or another; sets supersede each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.run.judges.world import Overlap, RunWorld
from trials.scripted_models import honest, served

from ragassay.errors import CeilingError, ErrorBudgetError
from ragassay.records.judgement import AnswerClaims, JudgementSet, JudgeWork
from ragassay.records.trace import Failure
from ragassay.run.judges.contract import Item, Verdict
from ragassay.run.judges.executing import foresee
from ragassay.run.judges.llm.judge import llm
from ragassay.run.judges.settings import judge_settings
from ragassay.score.named import judgements_ref

SECRET = b"s" * 32
"""Of a store; without one each judge has its own, and what was kept of single calls names items of another's."""
BATCHES, CONTROLS = 4, 12
"""claim, citation, fact, answer; citations are two calls and answers two."""


@pytest.fixture
def world(tmp_path: Path) -> RunWorld:
    return RunWorld(tmp_path)


def test_an_offline_evaluator_judges_claims_citations_and_facts(world: RunWorld) -> None:
    made, digest = world.judge(Overlap())
    assert (made.state, made.asked, made.valued, made.controls) == ("complete", 15, 15, ())
    assert world.store.ref(judgements_ref("j", world.run.identity())) == digest
    found = {(one.query_id, one.about, one.target): one.label for one in world.judgements(made)}
    assert found["q000", "claim", "c1"] == found["q002", "citation", "c2:1"] == "supported"
    claims = list(world.store.get_lines(AnswerClaims, made.claims))
    assert [len(one.claims) for one in claims] == [2, 2, 2]
    assert claims[0].cited_by == "marks"


def test_a_second_time_asks_nothing_and_makes_the_same_set(world: RunWorld) -> None:
    judge = Overlap()
    first = world.judge(judge)
    assert judge.judged == 15
    assert world.judge(judge) == first
    assert judge.judged == 15
    again = world.judge(judge, resume=False)  # the journal is set aside, the cache is not
    assert (again, judge.judged) == (first, 15)


def test_another_run_with_the_same_texts_asks_nothing(tmp_path: Path) -> None:
    with served(honest) as (url, model):
        world = RunWorld(tmp_path, questions=2)
        first, _ = world.judge(llm({"url": url, "model": "m"}))
        asked = len(model.seen)
        assert asked == 2 * 6 + CONTROLS
        before = world.run.identity()
        world = RunWorld(tmp_path, questions=2, seed=8)
        assert world.run.identity() != before
        made, _ = world.judge(llm({"url": url, "model": "m"}), name="renamed")
        assert len(model.seen) == asked
        assert (made.content, made.controls) == (first.content, first.controls)
        assert all(one.cached for one in world.store.get_lines(JudgeWork, made.work or ""))


def test_controls_are_asked_anew_as_soon_as_anything_is(tmp_path: Path) -> None:
    with served(honest) as (url, model):
        world = RunWorld(tmp_path, questions=2)
        world.judge(llm({"url": url, "model": "m"}), about=["claim"])
        controls = [one for one in model.seen if "ferry leaves" not in one.user and "ferry leave" not in one.user]
        before = len(model.seen)
        made, _ = world.judge(llm({"url": url, "model": "m"}), about=["claim", "answer"])
        assert made.state == "complete"
        # two relevance and two correctness calls are new; claims are known; every control is asked
        assert len(model.seen) - before == 4 + len(made.controls)
        assert len(controls) >= 8


def test_a_limit_stops_early_and_the_same_command_goes_on(world: RunWorld) -> None:
    judge = Overlap()
    part, first = world.judge(judge, limit=1)
    assert (part.state, part.stopped, part.asked, part.valued, judge.judged) == ("partial", "limit", 15, 5, 5)
    whole, _ = world.judge(judge)
    assert (whole.state, whole.valued, judge.judged, whole.supersedes) == ("complete", 15, 15, first)
    assert world.store.get_record(JudgementSet, first) == part  # nothing was overwritten


def test_two_judges_of_one_name_supersede_each_other(world: RunWorld) -> None:
    one, first = world.judge(Overlap())
    two, second = world.judge(Overlap(threshold="0.9"))
    assert two.supersedes == first
    assert two.judge != one.judge
    back, third = world.judge(Overlap())
    assert (back.supersedes, back.content) == (second, one.content)
    assert third not in (first, second)


class Failing(Overlap):
    """Fails on answers of some questions: by raising, by too few verdicts, by a label that there is not."""

    def judge(self, items: Sequence[Item]) -> Any:
        found = super().judge(items)
        if items[0].query_id == "q000":
            raise RuntimeError("no")
        if items[0].query_id == "q001":
            return found[:-1] if len(found) > 1 else []
        return [one._replace(label="perhaps") for one in found]


def test_an_evaluator_that_breaks_its_contract_gives_errors_with_a_cause(world: RunWorld) -> None:
    made, _ = world.judge(Failing())
    assert made.valued == 0
    failed = {one.query_id: one.failure for one in world.judgements(made)}
    assert failed["q000"] == Failure(cause="exception", code="RuntimeError")
    assert failed["q001"] == Failure(cause="invalid_response", code="verdicts")
    assert failed["q002"] == Failure(cause="invalid_response", code="verdict")


def test_failures_are_not_cached_and_are_asked_again_without_resume(world: RunWorld) -> None:
    judge = Failing()
    world.judge(judge)
    judge.judge = Overlap.judge.__get__(judge)  # type: ignore[method-assign]  the same identity, mended
    again, _ = world.judge(judge)
    assert again.valued == 0  # what is in the journal is finished
    mended, _ = world.judge(judge, resume=False)
    assert (mended.state, mended.valued) == ("complete", 15)


def test_too_many_errors_stop_the_job_and_leave_a_partial_set(world: RunWorld) -> None:
    with pytest.raises(ErrorBudgetError) as raised:
        world.judge(Failing(), max_error_rate=0.1, concurrency=1)
    assert "batches failed" in raised.value.message
    assert int(raised.value.exit_code) == 4
    made = world.store.get_record(JudgementSet, world.store.ref(judgements_ref("j", world.run.identity())))
    assert (made.state, made.stopped) == ("partial", "error_budget")


def test_a_ceiling_on_calls_holds_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    with served(honest) as (url, model):
        world = RunWorld(tmp_path)
        judge = {"url": url, "model": "m", "retries": 0}
        with pytest.raises(CeilingError):
            world.judge(llm(judge, secret=SECRET), max_calls=11, concurrency=3)
        assert len(model.seen) <= 11
        made = world.store.get_record(JudgementSet, world.store.ref(judgements_ref("j", world.run.identity())))
        assert (made.state, made.stopped) == ("partial", "cost_ceiling")
        whole, _ = world.judge(llm(judge, secret=SECRET), max_calls=1000)
        assert (whole.state, whole.valued) == ("complete", 21)
        assert len(model.seen) == 30  # 18 of the run and 12 controls: nothing was sent twice


def test_repeats_are_asked_apart_and_kept_apart(tmp_path: Path) -> None:
    with served(honest) as (url, model):
        world = RunWorld(tmp_path, questions=1)
        made, _ = world.judge(llm({"url": url, "model": "m", "seed": 5}), repeats=2, about=["claim"])
        assert sorted(one.judge_repeat or 0 for one in world.judgements(made)) == [0, 0, 1, 1]
        assert {one.body["seed"] for one in model.seen} == {5, 6}


def test_a_plan_says_what_would_be_asked_and_writes_nothing(tmp_path: Path) -> None:
    with served(honest) as (url, model):
        world = RunWorld(tmp_path, questions=2)
        settings = judge_settings("j", {"kind": "llm"})
        before = sorted(one.name for one in world.store.path.rglob("*"))
        planned = foresee(world.store, world.digest, llm({"url": url, "model": "m"}), name="j", settings=settings)
        assert (planned.answers, planned.batches, planned.kept, len(model.seen)) == (2, 8, 0, 0)
        assert sorted(one.name for one in world.store.path.rglob("*")) == before
        world.judge(llm({"url": url, "model": "m"}))
        planned = foresee(world.store, world.digest, llm({"url": url, "model": "m"}), name="j", settings=settings)
        assert (planned.kept, planned.calls) == (8 + planned.controls, 0)


def test_an_item_that_nobody_can_judge_is_missing_with_its_reason(tmp_path: Path) -> None:
    world = RunWorld(tmp_path, questions=1, answer=lambda _: {"answer": "The ferry leaves at 07:40."})
    made, _ = world.judge(Overlap())
    found = {one.about: (one.status, one.reason) for one in world.judgements(made)}
    assert found["claim"] == ("missing", "no_context")


def test_verdicts_of_other_documents_than_were_shown_are_refused(world: RunWorld) -> None:
    from ragassay.records.document import Span

    class Elsewhere(Overlap):
        def judge(self, items: Sequence[Item]) -> Any:
            span = Span(document_id="secret", version="1", start=0, end=4)  # type: ignore[arg-type]
            return [Verdict("value", label="supported", spans=(span,)) for _ in items]

    made, _ = world.judge(Elsewhere())
    assert made.valued == 0
