"""The view and the page of a comparison, against a comparison written by hand and one of two real runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.compare.changes.made import Bench, documents
from tests.unit.compare.changes.wrapped import Silently
from tests.unit.report import versus_sample as sample
from tests.unit.report.sample import cases

from ragassay.compare.pair import pair
from ragassay.records.document import Span
from ragassay.records.score import Interval
from ragassay.records.trace import Item, Step, TraceContent
from ragassay.report.build import library_of
from ragassay.report.model import Verdict
from ragassay.report.versus import Versus, html, versus
from ragassay.report.versus.forest import forest, plotted, strip, ticks
from ragassay.report.versus.lists import step_pairs
from ragassay.report.versus.questions import Told, in_full


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Versus:
    found = sample.made(tmp_path_factory.mktemp("versus") / "store")
    return versus(found.store, found.comparison)


def test_the_verdict_says_worse_before_better_and_decides_nothing(made: Versus) -> None:
    assert made.verdict.lead == "Not decided: no policy was applied to this comparison."
    assert made.verdict.reasons == (
        "Worse: unsupported_answer over unanswerable questions was 0.500, is 1.000; difference +0.500 (+0.200 to "
        "+0.800); 1 worse, 0 better, 1 the same.",
        "Better: context_precision(rel=2) at context over answerable questions was 0.375, is 0.625; difference +0.250 "
        "(+0.100 to +0.400); 0 worse, 3 better, 1 the same.",
        "1 fact that reached the context before does not now.",
        "Of 11 paired questions 2 got worse in a measure or lost a fact, 1 got better in one.",
        "2 questions failed on a side; the bounds say what they could change.",
    )


def test_a_decision_comes_first(tmp_path: Path) -> None:
    found = sample.made(tmp_path / "store")
    decided = versus(found.store, found.comparison, Verdict(lead="Fail: floors.", reasons=("A <b>reason</b>.",)))
    page = html(decided)
    assert '<p class="call">Fail: floors.</p>' in page
    assert "A &lt;b&gt;reason&lt;/b&gt;." in page
    assert "Not decided" not in page


def test_each_question_has_the_flags_of_what_happened(made: Versus) -> None:
    """Every question took 2 ms more: no change. u-2 failed, h-1 has another answer, a-4 failed twice."""
    flags = {one.query_id: one.flags for one in made.questions}
    assert flags == {
        "a-1": ("changed", "regressed"),
        "u-1": ("changed", "regressed", "undefined"),
        "u-2": ("changed", "error", "undefined"),
        "a-2": ("changed", "improved"),
        "h-1": ("changed", "undefined"),
        "a-3": (),
        "a-4": ("error",),
        "m-1": (),
        "x-1": ("undefined",),
        "c-1": (),
        "n-1": ("missing", "unjudged"),
    }
    assert [one.query_id for one in made.questions][:5] == ["a-1", "u-1", "u-2", "a-2", "h-1"]
    assert made.flags == {
        "changed": 5, "regressed": 2, "improved": 1, "error": 2, "undefined": 4, "missing": 1, "unjudged": 1,
    }  # fmt: skip
    assert {one.query_id for one in made.questions} == {one.query_id for one in cases()}


def test_a_row_names_its_largest_move_of_a_ratio(made: Versus) -> None:
    tops = {one.query_id: one.top for one in made.questions}
    assert tops["a-1"] is not None
    assert (tops["a-1"].measure, tops["a-1"].step, tops["a-1"].difference) == (sample.RECALL, "context", -1.0)
    assert tops["h-1"] is None
    assert tops["a-3"] is None


def test_moves_at_other_steps_are_a_change_and_neither_worse_nor_better(tmp_path: Path) -> None:
    found = sample.made(
        tmp_path / "store", moves_rows=[sample.move("m-1", "regressed", 1.0, 0.5, step="bm25")], losses_rows=[]
    )
    flags = {one.query_id: one.flags for one in versus(found.store, found.comparison).questions}
    assert flags["m-1"] == ("changed",)
    assert flags["a-1"] == ("changed",)  # another answer


def test_effects_stand_by_class_with_the_step_nearest_to_the_answer_and_times_last(made: Versus) -> None:
    rows = [(one.population.class_, one.measure, one.step, one.status) for one in made.headline]
    assert rows == [
        ("answerable", "context_precision(rel=2)", "context", "value"),
        ("answerable", sample.RECALL, "context", "value"),
        ("answerable", "latency", None, "value"),
        ("answerable", "brier", None, "missing"),
        ("multi_hop", sample.RECALL, "context", "value"),
        ("unanswerable", "unsupported_answer", None, "value"),
    ]
    assert [(one.population.slice, one.step) for one in made.effects] == [("language=ja", "context"), (None, "bm25")]


def test_both_answers_and_both_lists_step_by_step(made: Versus) -> None:
    question = made.questions[0]
    assert question.pairs is not None
    (pair_,) = question.pairs
    assert [(one.kind, one.text) for one in pair_.pieces] == [
        ("same", "The publisher keeps the "), ("gone", "revision tuple"), ("new", "cache entry"), ("same", "."),
    ]  # fmt: skip
    steps = {one.name: one for one in pair_.steps}
    assert list(steps) == ["bm25", "dedup", "assemble", "answer", "context"]
    assert [(one.label.split()[0], one.before, one.after, one.fate, one.holds) for one in steps["dedup"].rows] == [
        ("cache-limits", None, 1, "new", False),
        ("publish-recovery", 1, None, "gone", True),
        ("publish-recovery", 2, 2, "same", False),
    ]
    assert [one.fate for one in steps["bm25"].rows] == ["moved", "moved", "same"]
    assert steps["answer"].same
    other = {one.query_id: one for one in made.questions}["h-1"]
    assert other.pairs is not None
    asked = other.pairs[0].steps[0].asked
    assert asked is not None
    assert asked[1] is not None
    assert asked[1].text == "another text"


def test_another_cut_of_the_same_document_is_one_row() -> None:
    def found(*spans: tuple[str, int, int]) -> Any:
        items = tuple(
            Item(
                item_id=f"{name}{start}", rank=rank, resolution="declared", transform="slice",
                sources=(Span(document_id=name, version="1", start=start, end=end),),
            )
            for rank, (name, start, end) in enumerate(spans, 1)
        )  # fmt: skip
        step = Step(step_id="find", name="find", kind="lexical", items_out=items)
        return TraceContent(query_id="q", repeat=0, as_of="2026-01-01T00:00:00Z", steps=(step,))

    library = library_of((), (), {}, 1.0)
    before = found(("a", 0, 100), ("b", 0, 50), ("c", 0, 10), ("a", 100, 200))
    after = found(("a", 0, 60), ("b", 0, 50), ("c", 10, 20), ("a", 60, 200))
    (step,) = step_pairs(cases()[0], before, after, library, library)
    rows = [(one.label, one.before, one.after, one.fate) for one in step.rows]
    assert rows == [
        ("a [0:100] → [0:60]", 1, 1, "recut"),
        ("b [0:50]", 2, 2, "same"),
        ("c [10:20]", None, 3, "new"),
        ("c [0:10]", 3, None, "gone"),
        ("a [100:200] → [60:200]", 4, 4, "recut"),
    ]
    assert not step.same


def test_facts_lost_in_one_way_stand_together(made: Versus) -> None:
    (group,) = made.losses
    assert (group.steps, group.fate, group.blamed, group.facts, group.upstream_same) == (
        ("dedup",), "lost_whole", ("embedder",), 1, 0,
    )  # fmt: skip
    assert group.questions == ((0, "a-1"),)
    assert '<a href="#q0">a-1</a>' in html(made)


def test_changes_are_counted_by_artefact_with_what_was_declared(made: Versus) -> None:
    assert [(one.artefact, one.count, one.declared) for one in made.artefacts] == [
        ("document_text", 1, 0), ("document_added", 1, 0), ("embedder", 1, 1),
    ]  # fmt: skip
    page = html(made)
    assert page.count('<span class="tag bad">silent change</span>') == 1
    assert "sha256:aa" in page


@pytest.mark.parametrize(
    ("changed", "caveat"),
    [
        ({}, "Weak baseline: worse than BM25 on multi-hop"),
        ({}, "1 question of one side has no partner on the other and is in no effect."),
        ({}, "Whether the baseline is weak was not asked"),
        ({"stored_configuration": False}, "its exact configuration is not stored"),
    ],
)
def test_what_a_reader_must_know_first_is_said(tmp_path: Path, changed: dict[str, bool], caveat: str) -> None:
    found = sample.made(tmp_path / "store", **changed)
    view = versus(found.store, found.comparison)
    assert any(caveat in one for one in view.caveats)
    assert caveat in html(view)


def test_nothing_compared_is_said_and_draws_nothing(tmp_path: Path) -> None:
    found = sample.made(
        tmp_path / "store", effects_rows=[], moves_rows=[], losses_rows=[], steps=(), changes=(), unpaired=()
    )
    view = versus(found.store, found.comparison)
    assert view.verdict.reasons[0].startswith("Nothing was compared")
    page = html(view)
    assert '<svg class="forest"' not in page
    assert page.count("<b>not measured</b>") == 2  # effects, steps
    assert "No recorded identity differs." in page


def test_questions_beyond_the_limit_are_rows_and_both_ends_are_shown(tmp_path: Path) -> None:
    found = sample.made(tmp_path / "store")
    view = versus(found.store, found.comparison, bodies=2)
    assert [one.query_id for one in view.questions if one.pairs is not None] == ["a-1", "a-2"]  # the worst, the best
    assert view.bodies == 2
    page = html(view)
    assert page.count('<details class="q"') == 2
    row = re.search(r'<div class="q" id="q1".*?</div>', page, re.DOTALL)
    assert row is not None
    assert len(row.group()) < 700
    assert "unsupported_answer" in row.group()


def test_in_full_takes_the_groups_in_turn() -> None:
    told = {
        "lost": Told(lost=1), "bad": Told(kinds={"regressed"}), "good": Told(kinds={"improved"}),
        "other": Told(answer_differs=True), "same": Told(),
    }  # fmt: skip
    order = ["lost", "bad", "good", "other", "same"]
    assert in_full(order, told, 3) == {"lost", "good", "other"}
    assert in_full(order, told, 9) == {"lost", "good", "other", "bad"}


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    pages = []
    for name in ("one", "two"):
        found = sample.made(tmp_path / name)
        pages.append(html(versus(found.store, found.comparison)))
    assert pages[0] == pages[1]


def test_the_plot_has_each_effect_where_its_numbers_are() -> None:
    """The axis reaches 0.8 at 730 and 0 at 560: 0.25 is at 560 + 170 * 0.3125, 0.5 at 560 + 170 * 0.625."""
    drawn = str(forest([one for one in sample.effects() if one.population.slice is None and one.step != "bm25"]))
    better = re.search(r'<g class="effect better"><line class="reach" x1="([\d.]+)" x2="([\d.]+)"', drawn)
    assert better is not None
    assert [float(one) for one in better.groups()] == pytest.approx([560 + 170 * 0.125, 560 + 170 * 0.5], abs=0.01)
    assert 'd="M613.12 44l6 10h-12z"' in drawn  # a triangle that points up
    assert 'd="M666.25 78l6 -10h-12z"' in drawn  # and one that points down
    assert ">+0.250 better</text>" in drawn
    assert ">+0.500 worse</text>" in drawn
    assert "recall(rel=2)@20 at context, answerable: ±0.000, −0.700 to +0.700, not told from chance" in drawn
    assert "latency" not in drawn


def test_colour_and_shape_follow_the_corrected_test_not_the_interval() -> None:
    one = sample.effect(
        "ndcg", "answerable", None, (9, 0, 0, 0), baseline=0.5, candidate=0.6, effect=0.1,
        interval=Interval(low=0.01, high=0.19, level=0.95, method="t", clusters=9),
        test=sample.paired(0.04, 0.2, correction="holm", family=5),
    )  # fmt: skip
    assert 'class="mark ring"' in forest([one])
    assert "better" not in forest([one])


def test_an_interval_that_may_cover_less_is_drawn_and_called_so(tmp_path: Path) -> None:
    one = sample.effect(
        "ndcg", "answerable", None, (9, 0, 0, 0), baseline=0.5, candidate=0.6, effect=0.1,
        interval=sample.interval(0.01, 0.19), test=sample.paired(0.004, floor=0.004), doubt="few_clusters",
    )  # fmt: skip
    drawn = str(forest([one]))
    assert 'class="effect better doubtful"' in drawn
    assert "+0.010 to +0.190 (may cover less than its level), better" in drawn
    assert ">+0.100 ? better</text>" in drawn
    found = sample.made(tmp_path / "store", effects_rows=[one])
    page = html(versus(found.store, found.comparison))
    assert '<abbr title="fewer than 20 independent questions or groups">?</abbr>' in page
    assert "? may cover less than its level: fewer than 20 independent questions or groups." in page
    assert "≤ 0.0040" in page


def test_the_plot_keeps_the_strongest_and_only_what_fits_one_axis() -> None:
    rows = [
        sample.effect(
            "recall@5", "answerable", f"s{place:02d}", (4, 0, 0, 0), baseline=0.5, candidate=0.5 + place / 100,
            effect=place / 100, interval=sample.interval(place / 100 - 0.2, place / 100 + 0.2),
        )
        for place in range(30)
    ]  # fmt: skip
    rows.append(sample.effects()[4])
    assert [one.step for one in plotted(rows)] == [f"s{place:02d}" for place in range(6, 30)]


@pytest.mark.parametrize(
    ("most", "wanted"),
    [
        (1.0, [-1, -0.5, 0, 0.5, 1]),
        (0.8, [-0.8, -0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8]),
        (0.03, [-0.03, -0.02, -0.01, 0, 0.01, 0.02, 0.03]),
    ],
)
def test_ticks_are_round(most: float, wanted: list[float]) -> None:
    assert ticks(most) == pytest.approx(wanted)


def test_the_strip_says_its_quantiles() -> None:
    drawn = str(strip(sample.effects()[0]))
    assert "least −1.000, 5 % −0.850, 25 % −0.250, median ±0.000, 75 % +0.250, 95 % +0.850, greatest +1.000" in drawn
    assert strip(sample.effects()[1]) == ""


def test_two_real_runs(tmp_path: Path) -> None:
    """One document is gone: its question loses its fact where it was found, and nothing else moves."""
    bench = Bench(tmp_path)
    before, after = bench.run(), bench.run(texts=documents(salt=None))
    _, digest = pair(bench.store, before.table_digest, after.table_digest, variation=("corpus",), names=("old", "new"))
    view = versus(bench.store, digest)
    assert view.title == "new against old"
    assert [one.query_id for one in view.questions if "regressed" in one.flags] == ["q-salt"]
    assert [(one.fate, one.facts, [name for _, name in one.questions]) for one in view.losses] == [
        ("never_found", 1, ["q-salt"])
    ]
    (pair_,) = view.questions[0].pairs or ()
    gone = [row for step in pair_.steps for row in step.rows if row.holds]
    assert gone
    assert all(row.fate == "gone" for row in gone)
    assert "document removed" in html(view)


def test_a_question_that_failed_says_so_and_where(tmp_path: Path) -> None:
    """Two questions fail now: one raises, one reports that its search ran out of time. Nothing of them says that no
    step moved, or that there is another answer."""

    class Broken(Silently):
        async def ask(self, request: Any) -> Any:
            if request.query_id == "q-tea":
                raise RuntimeError("down")
            reply = await self.inner.ask(request)
            if request.query_id != "q-salt":
                return reply
            slow = {"code": "too_slow"}
            step = {"step_id": "s1", "name": "lexical", "kind": "lexical", "error": slow}
            return replace(reply, value={"error": slow, "steps": [step]})

    bench = Bench(tmp_path)
    before, after = bench.run(), bench.run(wrap=lambda made: Broken(made, dict))
    _, digest = pair(bench.store, before.table_digest, after.table_digest, names=("old", "new"))
    view = versus(bench.store, digest)
    failed = {one.query_id: one.failed for one in view.questions if one.failed != (None, None)}
    assert failed == {"q-tea": (None, "failed: RuntimeError"), "q-salt": (None, "failed: too_slow at lexical")}
    assert {(one.failure, one.failed_at) for one in view.losses} == {("exception", None), ("exception", "lexical")}
    assert {"error", "changed"} <= set(next(one.flags for one in view.questions if one.query_id == "q-tea"))
    page = html(view)
    assert "failed: RuntimeError, now" in page
    assert "failed: too_slow at lexical, now" in page
    assert "the question failed (exception) at lexical; cannot be told" in page
    assert "no step moved" not in page
    assert "other answer" not in page
    back = versus(bench.store, pair(bench.store, after.table_digest, before.table_digest)[1])
    assert {one.failed for one in back.questions} == {
        (None, None), ("failed: RuntimeError", None), ("failed: too_slow at lexical", None)
    }  # fmt: skip
