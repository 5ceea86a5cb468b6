"""What holds of any two traces: of the order of keys, of steps that are the same, and of where a change begins."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.compare.changes.made import Bench

from ragassay.compare.changes.moves import Move, Pair
from ragassay.compare.changes.nodes import Points
from ragassay.compare.changes.stream import content_of, side_by_side
from ragassay.errors import IntegrityError
from ragassay.records.document import Span
from ragassay.records.trace import Answer, Failure, Item, Step, TraceContent

AS_OF = "2026-08-01T00:00:00Z"
CHAIN = ("lexical", "vector", "fuse", "rerank", "dedup", "assemble", "generate")
MANY = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


class Plain:
    """Items are the same if their records are."""

    exact = True

    def same(self, ours: Sequence[Item] | None, theirs: Sequence[Item] | None) -> bool:
        return ours == theirs


def item(number: int, rank: int) -> Item:
    span = Span(document_id=f"d{number}", version="1", start=0, end=5)  # type: ignore[arg-type]
    return Item(item_id=f"p{number}", rank=rank, resolution="declared", transform="slice", sources=(span,))


lists = st.lists(st.integers(0, 4), max_size=4, unique=True).map(
    lambda numbers: tuple(item(number, rank) for rank, number in enumerate(numbers, 1))
)


@st.composite
def traces(draw: Any) -> TraceContent:
    """Steps of a chain, some left out, each after any of those before it or after nobody knows which."""
    steps: list[Step] = []
    for kind in draw(st.lists(st.sampled_from(CHAIN), max_size=6)):
        before = [one.step_id for one in steps]
        parents = draw(st.none() | st.lists(st.sampled_from(before), unique=True).map(tuple)) if before else None
        steps.append(
            Step(
                step_id=f"s{len(steps)}", name=kind, kind=kind, parents=parents,
                items_out=None if kind == "generate" else draw(st.none() | lists),
                query_text=draw(st.sampled_from(["a", "b"])) if kind in ("lexical", "vector") else None,
            )  # type: ignore[arg-type]
        )  # fmt: skip
    answer = draw(st.none() | st.sampled_from(["yes", "no"]).map(lambda text: Answer(text=text)))
    failure = draw(st.none() | st.just(Failure(cause="timeout"))) if answer is None else None
    return TraceContent(
        query_id="q", repeat=0, as_of=AS_OF, steps=tuple(steps), context=draw(st.none() | lists), answer=answer,
        failure=failure,
    )  # type: ignore[arg-type]  # fmt: skip


def moves(ours: TraceContent, theirs: TraceContent, *, asked_same: bool = True) -> dict[str, Move]:
    return {one.name: one for one in Pair(ours, theirs, Plain(), asked_same=asked_same).moves}  # type: ignore[arg-type]


@given(traces())
@MANY
def test_a_trace_against_itself_moves_nothing(trace: TraceContent) -> None:
    found = moves(trace, trace)
    assert all(one.same and not one.first and one.side == "both" for one in found.values())


@given(traces(), traces())
@MANY
def test_each_step_of_either_trace_is_there_once_and_on_its_sides(ours: TraceContent, theirs: TraceContent) -> None:
    pair = Pair(ours, theirs, Plain(), asked_same=True)  # type: ignore[arg-type]
    names = [one.name for one in pair.moves]
    a, b = ({one.name for one in points.all} for points in (Points(ours), Points(theirs)))
    assert sorted(names) == sorted(a | b)
    sides = {one.name: one.side for one in pair.moves}
    assert all(sides[name] == ("both" if name in a & b else "baseline" if name in a else "candidate") for name in names)


@given(traces(), traces())
@MANY
def test_what_is_the_same_is_the_same_the_other_way_round(ours: TraceContent, theirs: TraceContent) -> None:
    one, other = moves(ours, theirs), moves(theirs, ours)
    assert {name for name, move in one.items() if move.same} == {name for name, move in other.items() if move.same}
    assert {name for name, move in one.items() if move.first} == {name for name, move in other.items() if move.first}


@given(traces(), traces())
@MANY
def test_a_change_begins_only_at_a_step_that_differs(ours: TraceContent, theirs: TraceContent) -> None:
    assert not any(one.same and one.first for one in moves(ours, theirs).values())


@given(traces(), traces())
@MANY
def test_between_questions_that_were_put_otherwise_nothing_begins(ours: TraceContent, theirs: TraceContent) -> None:
    assert not any(one.first for one in moves(ours, theirs, asked_same=False).values())


@given(traces(), st.data())
@MANY
def test_one_output_that_moves_begins_at_its_own_step(trace: TraceContent, data: st.DataObject) -> None:
    """Steps before it are the same; what comes after it does not begin there, for its own output is what it was."""
    places = [place for place, one in enumerate(trace.steps) if one.items_out]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    step = trace.steps[place]
    turned = msgspec.structs.replace(step, items_out=(*(step.items_out or ()), item(9, 9)))
    theirs = msgspec.structs.replace(trace, steps=(*trace.steps[:place], turned, *trace.steps[place + 1 :]))
    found = moves(trace, theirs)
    assert {name for name, one in found.items() if one.first} <= {step.name}
    assert not found[step.name].same


@given(traces(), traces(), st.sets(st.sampled_from(CHAIN)))
@MANY
def test_origins_are_steps_at_which_a_change_begins(ours: TraceContent, theirs: TraceContent, names: set[str]) -> None:
    pair = Pair(ours, theirs, Plain(), asked_same=True)  # type: ignore[arg-type]
    begins = {one.name for one in pair.moves if one.first}
    assert set(pair.origins(sorted(names))) <= begins


@given(traces())
@MANY
def test_a_stored_line_gives_its_trace_back(trace: TraceContent) -> None:
    assert content_of(msgspec.json.encode(trace)) == trace


def test_a_context_without_an_assemble_step_stands_on_what_comes_before_generation() -> None:
    """Generation, and a step after it, where no step is called assemble: once a KeyError."""
    steps = (
        Step(step_id="s0", name="fuse", kind="fuse", items_out=(item(1, 1),)),  # type: ignore[arg-type]
        Step(step_id="s1", name="generate", kind="generate", parents=("s0",)),  # type: ignore[arg-type]
        Step(step_id="s2", name="tool", kind="tool", parents=("s1",)),  # type: ignore[arg-type]
    )
    trace = TraceContent(
        query_id="q", repeat=0, as_of=AS_OF, steps=steps, context=(item(1, 1),), answer=Answer(text="yes")
    )  # type: ignore[arg-type]
    points = {one.name: one for one in Points(trace).all}
    assert list(points) == ["fuse", "context", "generate", "tool"]
    assert points["context"].parents == (0,)
    other = msgspec.structs.replace(trace, context=(item(2, 1),))
    assert [name for name, one in moves(trace, other).items() if one.first] == ["context"]


# Two runs side by side.

keys = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2)), unique=True).map(sorted)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return Bench(tmp_path_factory.mktemp("lines")).store


def run_of(store: Any, wanted: Sequence[tuple[str, int]]) -> Any:
    lines = [TraceContent(query_id=query, repeat=repeat, as_of=AS_OF) for query, repeat in wanted]  # type: ignore[arg-type]
    return SimpleNamespace(contents=store.put_lines(lines))


@given(keys, keys)
@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
def test_both_runs_are_read_in_the_order_of_their_keys(store: Any, ours: Any, theirs: Any) -> None:
    found = list(side_by_side(store, run_of(store, ours), run_of(store, theirs)))
    assert [one.key for one in found] == sorted({*ours, *theirs})
    for one in found:
        assert (one.ours is not None, one.theirs is not None) == (one.key in ours, one.key in theirs)
        for line in (one.ours, one.theirs):
            if line is not None:
                content = content_of(line)
                assert (content.query_id, content.repeat) == one.key


@given(keys.filter(lambda own: len(own) > 1), st.randoms(use_true_random=False))
@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
def test_lines_out_of_order_are_an_integrity_error(store: Any, own: Any, chance: Any) -> None:
    mixed = list(own)
    chance.shuffle(mixed)
    if mixed == own:
        mixed.append(mixed[0])
    with pytest.raises(IntegrityError, match="not in order"):
        list(side_by_side(store, run_of(store, mixed), run_of(store, own)))
