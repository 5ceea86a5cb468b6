"""Where a change begins, what it is put on, and where facts went: pipelines with one thing changed, some silently."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.compare.changes.made import SYSTEM, Bench, Changed, Letters, Made, documents, lines, system
from tests.unit.compare.changes.wrapped import Silently

from ragassay.cli.diff import loss_lines


def counts(found: Changed) -> dict[str, tuple[int, int, int]]:
    """Step -> same, first, downstream."""
    return {name: (one.same, one.first, one.downstream) for name, one in found.steps.items()}


def reported(value: dict[str, Any], name: str, items: list[Any], *after: str) -> dict[str, Any]:
    """The response with another output of a step, and of the steps after it."""
    steps = []
    for one in value["steps"]:
        if one["name"] == name or one["name"] in after:
            kept = {"items_out": items} if "items_out" in one else {}
            came = {"items_in": items} if one["name"] in after and "items_in" in one else {}
            one = {**one, **kept, **came}
        steps.append(one)
    return {**value, "steps": steps, "contexts": items if {"assemble"} & {name, *after} else value["contexts"]}


def output(value: dict[str, Any], name: str) -> list[Any]:
    return next(one["items_out"] for one in value["steps"] if one["name"] == name)


def test_a_smaller_budget_begins_at_assembly_and_loses_there(bench: Bench, baseline: Made) -> None:
    """Ten tokens are room for one sentence of nine to twelve: two of the four questions lose theirs."""
    found = bench.between(baseline, bench.run(system=system(context={"tokens": 10})))
    assert counts(found)["assemble"] == (0, 4, 0)
    assert all(counts(found)[name] == (4, 0, 0) for name in ("lexical", "vector", "fuse", "dedup"))
    assert found.steps["assemble"].blamed == "assembly"
    assert counts(found)["generate"][1] == 0
    assert not any(one.silent for one in found.steps.values())
    assert [(one.query_id, one.steps, one.moved, one.blamed) for one in found.losses] == [
        ("q-salt", ("assemble",), ("assemble",), ("assembly",)),
        ("q-tea", ("assemble",), ("assemble",), ("assembly",)),
    ]
    assert all(one.upstream_same and not one.silent and one.fate == "lost_whole" for one in found.losses)


def test_the_same_loss_by_a_system_that_says_it_is_the_same_is_silent(bench: Bench, baseline: Made) -> None:
    def cut(value: dict[str, Any]) -> dict[str, Any]:
        return reported(value, "assemble", output(value, "assemble")[1:])

    found = bench.between(baseline, bench.run(wrap=lambda made: Silently(made, cut)))
    assert found.changes == ()
    assert [name for name, one in found.steps.items() if one.silent] == ["assemble"]
    assert counts(found)["assemble"] == (0, 4, 0)
    assert [one.fact_id for one in found.losses] == ["f"] * 4
    assert all((one.steps, one.moved, one.blamed, one.silent) == (("assemble",), ("assemble",), (), True)
               for one in found.losses)  # fmt: skip


def test_a_step_that_reverses_is_blamed_for_what_is_cut_after_it(bench: Bench) -> None:
    """The fact is lost at assembly, whose budget is what it was; fusion put it last."""
    tight = system(context={"tokens": 14})
    before = bench.run(system=tight)

    def turn(value: dict[str, Any]) -> dict[str, Any]:
        turned = output(value, "fuse")[::-1]
        value = reported(value, "fuse", turned, "dedup")
        return reported(value, "assemble", turned[:1])

    found = bench.between(before, bench.run(system=tight, wrap=lambda made: Silently(made, turn)))
    assert [name for name, one in found.steps.items() if one.silent] == ["fuse"]
    assert counts(found)["assemble"] == (0, 0, 4)
    assert found.losses
    assert {(one.steps, one.moved, one.silent, one.upstream_same) for one in found.losses} == {
        (("assemble",), ("fuse",), True, False)
    }


def test_a_document_that_is_gone_is_never_found(bench: Bench, baseline: Made) -> None:
    found = bench.between(baseline, bench.run(texts=documents(tea=None)))
    assert [(one.artefact, one.name) for one in found.changes] == [("document_removed", "tea")]
    (loss,) = found.losses
    assert (loss.query_id, loss.fate, loss.steps) == ("q-tea", "never_found", ())
    assert loss.blamed == ("document_removed",)
    assert set(loss.moved) == {"lexical", "vector"}
    assert loss.upstream_same


def test_fewer_candidates_of_one_arm_begin_there(bench: Bench, baseline: Made) -> None:
    narrow = system(retrievers=[SYSTEM["retrievers"][0], {**SYSTEM["retrievers"][1], "candidates": 1}])
    found = bench.between(baseline, bench.run(system=narrow))
    assert counts(found)["vector"] == (0, 4, 0)
    assert counts(found)["lexical"] == (4, 0, 0)
    assert (found.steps["vector"].blamed, found.steps["fuse"].blamed) == ("retriever", None)
    assert counts(found)["fuse"][1] == 0


def test_another_embedder_is_blamed_at_its_own_arm(bench: Bench, baseline: Made) -> None:
    found = bench.between(baseline, bench.run(embedder=Letters("letters/2", turn=2)))
    assert found.steps["vector"].blamed == "embedder"
    assert found.steps["vector"].first > 0
    assert found.steps["lexical"].same == 4


def test_an_arm_that_is_gone_and_a_step_that_is_gone(bench: Bench, baseline: Made) -> None:
    alone = bench.between(baseline, bench.run(system=system(retrievers=[SYSTEM["retrievers"][0]])))
    assert (alone.steps["vector"].only_baseline, alone.steps["vector"].questions) == (4, 0)
    assert alone.steps["vector"].blamed == "retriever"
    assert alone.steps["fuse"].only_baseline == 4
    bare = bench.between(baseline, bench.run(system=system(dedup=False)))
    assert bare.steps["dedup"].only_baseline == 4
    # Two sentences of the corpus never repeat each other, so that nothing moved for want of it.
    assert counts(bare)["assemble"] == (4, 0, 0)
    assert (bare.steps["dedup"].blamed, bare.steps["dedup"].silent) == (None, False)


def test_a_moved_passage_in_an_edited_document_is_the_same_passage(bench: Bench) -> None:
    """A foreword shifts the places of every sentence after it; what was found there is still the same text."""
    one = {"retrievers": [{"kind": "vector", "embedder": "letters", "candidates": 3}], "context": {"tokens": 60}}
    asked = lines(questions={"q-tea": ("How long is green tea steeped?", "tea",
                                       "Green tea is steeped at eighty degrees for two minutes.")})  # fmt: skip
    before = bench.run(system=system(retrievers=[SYSTEM["retrievers"][0], one["retrievers"][0]]), cases=asked)
    text = "Zzz qqq xxx. " + "Green tea is steeped at eighty degrees for two minutes. Black tea takes four."
    after = bench.run(
        system=system(retrievers=[SYSTEM["retrievers"][0], one["retrievers"][0]]), cases=asked,
        texts=documents(tea=text),
    )  # fmt: skip
    found = bench.between(before, after)
    assert found.named == [("document_text", "tea")]
    assert counts(found)["vector"] == (1, 0, 0)
    assert found.losses == []


@pytest.mark.parametrize("facts", [True, False])
def test_evidence_counts_where_there_are_no_facts(bench: Bench, facts: bool) -> None:
    before, after = (
        bench.run(cases=lines(facts=facts), system=system(context={"tokens": tokens})) for tokens in (60, 10)
    )
    lost = bench.between(before, after).losses
    assert [(one.query_id, one.fact_id, one.steps) for one in lost] == [
        ("q-salt", "f" if facts else "e", ("assemble",)),
        ("q-tea", "f" if facts else "e", ("assemble",)),
    ]


def test_evidence_below_the_least_grade_is_not_lost(bench: Bench) -> None:
    weak = [
        replace(one, evidence=tuple(replace(each, grade=1) for each in one.evidence or ()))
        for one in lines(facts=False)
    ]
    before, after = (bench.run(cases=weak, system=system(context={"tokens": tokens})) for tokens in (60, 10))
    assert bench.between(before, after).losses == []


def test_a_forced_answer_and_a_forced_refusal_begin_at_generation(bench: Bench, baseline: Made) -> None:
    visible = bench.between(baseline, bench.run(system=system(evidence_floor=1.0)))
    assert visible.steps["generate"].blamed == "generator"
    assert visible.steps["generate"].first == 4 - counts(visible)["generate"][0] > 0
    assert visible.losses == []

    def refuse(value: dict[str, Any]) -> dict[str, Any]:
        return {**value, "answer": {"text": "I cannot say.", "outcome": "abstained", "citations": []}}

    silent = bench.between(baseline, bench.run(wrap=lambda made: Silently(made, refuse)))
    assert counts(silent)["generate"] == (0, 4, 0)
    assert [name for name, one in silent.steps.items() if one.silent] == ["generate"]


def test_another_threshold_of_holding_moves_a_fate_without_a_step(bench: Bench) -> None:
    from tests.unit.compare.changes.made import SCORING

    quote = "Green tea is steeped at eighty degrees for two minutes. Black tea takes four."
    long = lines(questions={"q-tea": ("How long is green tea steeped?", "tea", quote)})
    tight = system(context={"tokens": 12})
    before = bench.run(cases=long, system=tight, scoring=replace(SCORING, hold=0.5))
    after = bench.run(cases=long, system=tight)
    found = bench.between(before, after)
    assert found.named == [("threshold", "hold")]
    assert all(one.same == one.questions for one in found.steps.values())
    (loss,) = found.losses
    assert (loss.moved, loss.blamed, loss.silent) == ((), ("threshold",), False)


def test_a_question_that_was_put_otherwise_begins_nowhere(bench: Bench, baseline: Made) -> None:
    asked = lines(questions={
        "q-tea": ("Zebra?", "tea", "Green tea is steeped at eighty degrees for two minutes."),
    })  # fmt: skip
    before = bench.run(cases=lines(questions={
        "q-tea": ("How long is green tea steeped?", "tea", "Green tea is steeped at eighty degrees for two minutes."),
    }))  # fmt: skip
    found = bench.between(before, bench.run(cases=asked))
    assert all(one.first == 0 and not one.silent for one in found.steps.values())
    assert found.steps["lexical"].downstream == 1
    (loss,) = found.losses
    assert (loss.blamed, loss.upstream_same, loss.silent) == (("benchmark",), False, False)


def test_a_black_box_has_a_context_and_an_answer(bench: Bench) -> None:
    from ragassay.run.systems.python import PythonSystem

    def made(says: str) -> Any:
        def ask(request: Any) -> dict[str, Any]:
            return {"answer": says, "contexts": [{"id": "tea", "text": "Black tea takes four."}]}

        return lambda *_: PythonSystem(ask, name="box")

    found = bench.between(bench.run(adapter=made("yes")), bench.run(adapter=made("no")))
    assert [(one.step, one.same, one.first) for one in found.steps.values()] == [("context", 4, 0), ("answer", 0, 4)]
    assert [one.artefact for one in found.changes] == ["system"]
    assert found.steps["answer"].blamed == "system"


def test_a_question_that_fails_now_is_lost_where_it_failed(bench: Bench, baseline: Made) -> None:
    class Broken(Silently):
        async def ask(self, request: Any) -> Any:
            if request.query_id == "q-tea":
                raise RuntimeError("down")
            return await self.inner.ask(request)

    found = bench.between(baseline, bench.run(wrap=lambda made: Broken(made, dict)))
    (loss,) = found.losses
    assert (loss.query_id, loss.fate, loss.steps, loss.silent) == ("q-tea", "unknown", (), True)
    assert (loss.moved, loss.failure, loss.failed_at) == (("answer",), "exception", None)
    assert next(iter(loss_lines(found.losses))) == "facts lost anew: 1"
    assert list(loss_lines(found.losses))[1] == (
        "  q-tea f: the candidate failed (exception); unknown; begins at answer: silent"
    )
    assert [name for name, one in found.steps.items() if one.silent] == ["answer"]
    assert found.steps["lexical"].only_baseline == 1
