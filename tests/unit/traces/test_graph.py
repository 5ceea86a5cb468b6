"""Parents declared and inferred, united inputs, the context: each against what the rule says on paper."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.score.score_material import item, loose, step, trace

from ragassay.records.trace import Item, Step
from ragassay.traces import Graph, context_of, graph, united

A, B, C, D = (item(name, 0, 10) for name in "abcd")


def made(*steps: Step, context: list[Item] | None = None) -> Graph:
    return graph(trace(*steps, context=context).content)


def parents(found: Graph, name: str) -> list[str]:
    node = next(one for one in found.nodes if one.name == name)
    return [found.nodes[place].name for place in node.parents]


def test_declared_parents_are_taken_and_their_outputs_united() -> None:
    found = made(step("x", "lexical", [A, B], ()), step("y", "vector", [B, C], ()), step("f", "fuse", [C], ("x", "y")))
    fuse = found.nodes[2]
    assert parents(found, "f") == ["x", "y"]
    assert fuse.inputs == (A, B, C)  # B once
    assert not fuse.inferred
    assert fuse.flow == (C,)


def test_undeclared_parents_are_everything_since_and_including_the_last_pass_step() -> None:
    found = made(
        step("x", "lexical", [A]), step("y", "vector", [B]), step("f", "fuse", [A, B]),
        step("more", "fetch", [C]), step("r", "rerank", [C, A]),
    )  # fmt: skip
    assert parents(found, "f") == ["x", "y"]
    assert parents(found, "r") == ["f", "more"]
    assert [node.inferred for node in found.nodes] == [False, False, True, False, True]


def test_an_item_from_further_back_brings_in_the_last_step_that_gave_it() -> None:
    found = made(
        step("old", "lexical", [D, A]), step("older", "vector", [D]), step("f", "fuse", [A]),
        step("r", "rerank", [A, D]),
    )  # fmt: skip
    assert parents(found, "r") == ["older", "f"]  # D was given by both; `older` is the last
    assert found.nodes[3].unexplained == ()


def test_items_that_no_parent_gave_are_counted() -> None:
    found = made(step("x", "lexical", [A], ()), step("r", "rerank", [A, D], ("x",)), context=[A, C])
    assert found.nodes[1].unexplained == (D,)
    assert found.nodes[2].unexplained == (C,)


def test_a_source_adds_and_hands_on_what_came_in() -> None:
    found = made(
        step("x", "lexical", [A], ()), step("think", "rewrite", None, ("x",)), step("y", "tool", [B], ("think",))
    )  # fmt: skip
    assert found.nodes[2].flow == (A, B)
    assert found.nodes[2].given == (B,)


def test_the_context_follows_the_last_assemble_step() -> None:
    found = made(step("x", "lexical", [A, B]), step("z", "assemble", [A]), step("g", "generate", None))
    assert found.end is not None
    assert found.end.given == (A,)
    assert [found.nodes[place].name for place in found.end.parents] == ["z"]
    assert not found.end.inferred


@pytest.mark.parametrize(
    "context, output, reason",
    [
        (None, None, "not_reported"),
        ([A, B], [A], "inconsistent"),
        ([A], [A, B], "inconsistent"),
        ([B, A], [A, B], ""),  # an order is no difference
        ([], [], ""),
        ([], None, ""),
        ([A], None, ""),
        (None, [A], ""),
    ],
)
def test_context_of(context: list[Item] | None, output: list[Item] | None, reason: str) -> None:
    found = context_of(trace(step("z", "assemble", output), context=context).content)
    assert found.reason == reason
    if not reason:
        assert found.items == tuple(context if context is not None else output or ())


def test_iterations_are_united_by_rank_and_each_item_stands_once() -> None:
    found = made(
        step("s", "tool", [A, B], (), step_id="1"), step("s", "tool", [C, A, D], (), step_id="2"),
        step("t", "tool", None, ()),
    )  # fmt: skip
    assert found.output("s") == (A, C, B, D)
    assert found.output("t") is None


def test_the_one_step_of_a_black_box_is_its_context() -> None:
    found = made(step("context", "fetch", [A], ()), context=[A])
    assert list(found.names) == ["context"]
    assert found.names["context"] == (found.end,)
    assert found.end is not None
    assert not found.end.inferred


steps = st.lists(
    st.tuples(
        st.sampled_from(["lexical", "vector", "fuse", "rerank", "assemble", "generate", "guard"]),
        st.one_of(st.none(), st.lists(st.sampled_from([A, B, C, D, loose("z")]), max_size=4)),
        st.booleans(),
    ),
    max_size=7,
)


@settings(deadline=None)
@given(steps)
def test_any_trace_has_a_graph_whose_flows_explain_themselves(given_steps: list) -> None:
    made_steps = [
        step(f"n{n}", kind, out, (f"n{n - 1}",) if declared and n else None)
        for n, (kind, out, declared) in enumerate(given_steps)
    ]
    found = made(*made_steps)
    for place, node in enumerate(found.nodes):
        assert all(parent < place for parent in node.parents)
        assert node.inputs == united(one for parent in node.parents for one in found.nodes[parent].flow)
        if node.source:
            assert set(node.inputs) <= set(node.flow)  # a source loses nothing
    if found.end is not None:
        assert found.end.given == found.context.items
