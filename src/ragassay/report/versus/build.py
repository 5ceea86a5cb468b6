"""The view of a comparison from stored records. Compares nothing: it only puts side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import ragassay.benchmark
from ragassay.records.base import Digest
from ragassay.records.case import Benchmark, Case
from ragassay.records.comparison import Arm, Comparison, Effect, Move, NewLoss
from ragassay.records.protocol import Protocol, Run, Scoring, Subject
from ragassay.records.score import CLASS_ORDER, FactFate, Observation, ScoreTable
from ragassay.records.trace import Measurements, TraceContent
from ragassay.report.build import library_of
from ragassay.report.dimensions import headline, leading
from ragassay.report.lists import CONTEXT, Library
from ragassay.report.material import documents_of
from ragassay.report.model import RepeatView, Verdict
from ragassay.report.questions import QUERY_TEXT, language, repeat
from ragassay.report.versus import say
from ragassay.report.versus.differ import pieces
from ragassay.report.versus.lists import step_pairs
from ragassay.report.versus.model import Moved, Pair, QuestionPair, Versus
from ragassay.report.words import cut

if TYPE_CHECKING:
    from ragassay.store import Store

Key = tuple[str, int]
T = TypeVar("T", Move, NewLoss)
ORDER: tuple[Moved, ...] = ("changed", "regressed", "improved", "error", "undefined", "unjudged")


class Side(NamedTuple):
    """What one arm did with the questions that are shown in full."""

    library: Library
    contents: dict[Key, TraceContent]
    measurements: dict[Key, Measurements]
    observations: dict[Key, list[Observation]]
    fates: dict[Key, list[FactFate]]
    repeats: int


def build(store: Store, comparison: Digest, decision: Verdict | None, bodies: int) -> Versus:
    """The same records give the same view."""
    record = store.get_record(Comparison, comparison)
    effects = list(store.get_lines(Effect, record.effects))
    rows, rest = _headline(record, effects)
    protocol = store.get_record(Protocol, record.candidate.protocol)
    benchmark = store.get_record(Benchmark, protocol.objects["benchmark"])
    questions = tuple(_questions(store, record, list(ragassay.benchmark.load(store, benchmark)), bodies))
    return Versus(
        title=f"{record.candidate.name} against {record.baseline.name}",
        comparison=comparison,
        baseline=record.baseline,
        candidate=record.candidate,
        benchmark=f"{benchmark.name} {benchmark.version}",
        verdict=decision or say.verdict(record, rows, questions),
        variation=record.variation,
        level=record.level,
        flips=record.flips,
        paired=record.paired,
        unpaired=record.unpaired,
        changes=record.changes,
        changes_left_out=record.changes_left_out,
        steps=record.steps,
        judged=record.judged,
        weak_baseline=record.weak_baseline,
        headline=tuple(rows),
        effects=tuple(rest),
        questions=questions,
        bodies=sum(one.pairs is not None for one in questions),
        flags={name: sum(name in one.flags for one in questions) for name in ORDER},
    )


def _headline(record: Comparison, effects: Sequence[Effect]) -> tuple[list[Effect], list[Effect]]:
    """The effects nearest to the answer, over whole classes; and all others."""
    steps = [one.step for one in sorted(record.steps, key=lambda one: one.order)]
    steps += sorted({one.step for one in effects if one.step} - {*steps, CONTEXT})
    rows = leading(headline([one for one in effects if one.population.slice is None], [*steps, CONTEXT]))
    rows.sort(key=lambda one: (CLASS_ORDER.index(one.population.class_), one.measure))
    chosen = {id(one) for one in rows}
    return rows, [one for one in effects if id(one) not in chosen]


def _questions(store: Store, record: Comparison, cases: Sequence[Case], bodies: int) -> Iterator[QuestionPair]:
    moves, losses = (
        _by_question(store.get_lines(Move, record.moves)),
        _by_question(store.get_lines(NewLoss, record.losses)),
    )
    ordered = sorted(cases, key=lambda case: _rank(moves.get(case.query_id, []), losses.get(case.query_id, [])))
    full: set[str] = {
        case.query_id for case in ordered[:bodies] if moves.get(case.query_id) or losses.get(case.query_id)
    }
    sides = (_side(store, record.baseline, full), _side(store, record.candidate, full))
    for case in ordered:
        own, lost = moves.get(case.query_id, []), losses.get(case.query_id, [])
        pairs = tuple(_pairs(case, *sides)) if case.query_id in full else None
        yield QuestionPair(
            query_id=case.query_id,
            query=cut(case.query, QUERY_TEXT),
            class_=case.class_ or "answerable",
            language=language(case),
            slices=case.slice,
            risk=case.risk,
            flags=_flags(case, own, lost),
            moves=tuple(own),
            losses=tuple(lost),
            pairs=pairs,
        )


def _by_question(rows: Iterable[T]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for row in rows:
        found.setdefault(row.query_id, []).append(row)
    return found


def _rank(moves: Sequence[Move], losses: Sequence[NewLoss]) -> tuple[bool, bool, float]:
    """New losses first, then what regressed, then the largest difference; equal ones as in the benchmark."""
    sizes = [
        abs(one.difference) for one in moves if one.difference is not None and one.kind in ("improved", "regressed")
    ]
    return (not losses, not any(one.kind in ("regressed", "disappeared") for one in moves), -max(sizes, default=0.0))


def _flags(case: Case, moves: Sequence[Move], losses: Sequence[NewLoss]) -> tuple[Moved, ...]:
    states = {state for one in moves for state in (one.baseline_status, one.candidate_status)}
    kinds = {one.kind for one in moves}
    had: dict[Moved, bool] = {
        "changed": bool(moves or losses),
        "regressed": "regressed" in kinds or bool(losses),
        "improved": "improved" in kinds,
        "error": "error" in states,
        "undefined": "undefined" in states,
        "unjudged": case.evidence is None,
    }
    return tuple(name for name in ORDER if had[name])


def _side(store: Store, arm: Arm, wanted: set[str]) -> Side:
    table = store.get_record(ScoreTable, arm.scores)
    run = store.get_record(Run, arm.run_record)
    protocol = store.get_record(Protocol, arm.protocol)
    subject = store.get_record(Subject, arm.subject)
    documents, passages = documents_of(store, protocol)
    texts = {str(one["digest"]): str(one["text"]) for one in store.get_lines(dict, run.texts)}
    observations: dict[Key, list[Observation]] = {}
    fates: dict[Key, list[FactFate]] = {}
    for row in store.get_lines(Observation, table.observations):
        if row.query_id in wanted:
            observations.setdefault((row.query_id, row.repeat), []).append(row)
    for fate in store.get_lines(FactFate, table.fates):
        if fate.query_id in wanted:
            fates.setdefault((fate.query_id, fate.repeat), []).append(fate)
    return Side(
        library=library_of(documents, passages, texts, store.get_record(Scoring, table.scoring).hold),
        contents={
            (one.query_id, one.repeat): one
            for one in store.get_lines(TraceContent, run.contents)
            if one.query_id in wanted
        },
        measurements={
            (one.query_id, one.repeat): one
            for one in store.get_lines(Measurements, run.measurements)
            if one.query_id in wanted
        },
        observations=observations,
        fates=fates,
        repeats=subject.repeats,
    )


def _pairs(case: Case, old: Side, new: Side) -> Iterator[Pair]:
    for number in range(max(old.repeats, new.repeats)):
        key = (case.query_id, number)
        before, after = _view(case, old, key), _view(case, new, key)
        told = (before and before.answer, after and after.answer)
        yield Pair(
            repeat=number,
            before=before,
            after=after,
            pieces=pieces(told[0].text, told[1].text) if told[0] and told[1] else (),
            steps=step_pairs(case, old.contents.get(key), new.contents.get(key), old.library, new.library),
        )


def _view(case: Case, side: Side, key: Key) -> RepeatView | None:
    content = side.contents.get(key)
    if content is None:
        return None
    return repeat(
        case, content, side.measurements.get(key), side.observations.get(key, []), side.fates.get(key, []), side.library
    )
