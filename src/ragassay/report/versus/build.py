"""The view of a comparison from stored records. Compares nothing: it only puts side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragassay.compare.side import open_side
from ragassay.records.base import Digest
from ragassay.records.case import Case
from ragassay.records.comparison import Comparison, Effect, Move, NewLoss
from ragassay.records.score import CLASS_ORDER
from ragassay.report.dimensions import headline, is_runtime, leading
from ragassay.report.lists import CONTEXT
from ragassay.report.model import Verdict
from ragassay.report.questions import QUERY_TEXT, language
from ragassay.report.versus import say
from ragassay.report.versus.bodies import Arm, arms, pairs
from ragassay.report.versus.model import ChangeGroup, LossGroup, QuestionPair, Versus
from ragassay.report.versus.questions import ORDER, Told, in_full, moves_of, nearest, scored, told
from ragassay.report.words import cut

if TYPE_CHECKING:
    from ragassay.store import Store

ROW_TEXT = 300
MOST_MOVES = 30
"""Of a question that is shown in full."""


def build(store: Store, comparison: Digest, decision: Verdict | None, bodies: int) -> Versus:
    """The same records give the same view."""
    record = store.get_record(Comparison, comparison)
    rows, rest = _headline(record, list(store.get_lines(Effect, record.effects)))
    sides = (open_side(store, record.baseline.scores, "baseline"), open_side(store, record.candidate.scores, "now"))
    losses = list(store.get_lines(NewLoss, record.losses))
    cases = sides[1].cases
    read, where = (scored(sides[0]), scored(sides[1])), nearest(rows)
    states = read[0].states | read[1].states
    found = told(sides, cases, store.get_lines(Move, record.moves), losses, states, where)
    full = in_full([one.query_id for one in _ordered(cases, found)], found, bodies)
    moves = moves_of(store.get_raw_lines(record.moves), full, where, {one.query_id: _class_of(one) for one in cases})
    both = arms(sides, read, full) if full else None
    questions = tuple(_questions(cases, found, both, moves, losses, full))
    benchmark = sides[1].benchmark
    flags: Counter[str] = Counter(flag for one in questions for flag in one.flags)
    return Versus(
        title=f"{record.candidate.name} against {record.baseline.name}",
        comparison=comparison,
        baseline=record.baseline,
        candidate=record.candidate,
        benchmark=f"{benchmark.name} {benchmark.version}",
        verdict=decision or say.verdict(record, rows, flags, len(losses)),
        caveats=tuple(say.caveats(record)),
        variation=record.variation,
        level=record.level,
        flips=record.flips,
        slices=record.slices,
        paired=record.paired,
        unpaired=record.unpaired,
        changes=record.changes,
        artefacts=tuple(_artefacts(record)),
        changes_left_out=record.changes_left_out,
        steps=record.steps,
        losses=tuple(_loss_groups(losses, questions)),
        judged=record.judged,
        weak_baseline=record.weak_baseline,
        headline=tuple(rows),
        effects=tuple(rest),
        questions=questions,
        bodies=sum(one.pairs is not None for one in questions),
        flags={name: flags[name] for name in ORDER},
        facts_lost=len(losses),
    )


def _headline(record: Comparison, effects: Sequence[Effect]) -> tuple[list[Effect], list[Effect]]:
    """The effects nearest to the answer, over whole classes; then all others, slices at that place first."""
    steps = [one.step for one in sorted(record.steps, key=lambda one: one.order)]
    steps += sorted({one.step for one in effects if one.step} - {*steps, CONTEXT})
    rows = leading(headline([one for one in effects if one.population.slice is None], [*steps, CONTEXT]))
    rows.sort(key=_row_rank)
    chosen, where = {id(one) for one in rows}, nearest(rows)
    rest = [one for one in effects if id(one) not in chosen]
    rest.sort(key=lambda one: where.get((one.measure, one.population.class_), one.step) != one.step)
    return rows, rest


def _row_rank(one: Effect) -> tuple[int, bool, bool, str]:
    """By class; in it what has no value behind what has one, and times and costs behind all else."""
    return CLASS_ORDER.index(one.population.class_), one.status != "value", is_runtime(one.measure), one.measure


def _ordered(cases: Sequence[Case], found: Mapping[str, Told]) -> list[Case]:
    return sorted(cases, key=lambda case: found[case.query_id].rank)


def _questions(
    cases: Sequence[Case],
    found: Mapping[str, Told],
    both: tuple[Arm, Arm] | None,
    moves: Mapping[str, Sequence[Move]],
    losses: Sequence[NewLoss],
    full: frozenset[str],
) -> Iterator[QuestionPair]:
    lost: dict[str, list[NewLoss]] = {}
    for one in losses:
        lost.setdefault(one.query_id, []).append(one)
    for case in _ordered(cases, found):
        own, whole = found[case.query_id], case.query_id in full
        yield QuestionPair(
            query_id=case.query_id,
            query=cut(case.query, QUERY_TEXT if whole else ROW_TEXT),
            class_=_class_of(case),
            language=language(case),
            slices=case.slice,
            risk=case.risk,
            flags=own.flags,
            top=own.top,
            answer_differs=own.answer_differs,
            failed=own.failed,
            lost=own.lost,
            moves=tuple(moves.get(case.query_id, ())[:MOST_MOVES]),
            moves_total=len(moves.get(case.query_id, ())),
            losses=tuple(lost.get(case.query_id, ())) if whole else (),
            pairs=tuple(pairs(case, *both)) if both is not None and whole else None,
        )


def _class_of(case: Case) -> str:
    return case.class_ or "answerable"


def _artefacts(record: Comparison) -> Iterator[ChangeGroup]:
    """In the order in which the artefacts first stand among the changes."""
    counts = Counter(one.artefact for one in record.changes)
    declared = Counter(one.artefact for one in record.changes if one.declared)
    for name, count in counts.items():
        yield ChangeGroup(artefact=name, count=count, declared=declared[name])


def _loss_groups(losses: Sequence[NewLoss], questions: Sequence[QuestionPair]) -> list[LossGroup]:
    places = {one.query_id: place for place, one in enumerate(questions)}
    groups: dict[tuple[object, ...], list[NewLoss]] = {}
    for one in losses:
        how = (one.steps, one.fate, one.moved, one.blamed, one.silent, one.failure, one.failed_at)
        groups.setdefault(how, []).append(one)
    made = []
    for own in sorted(groups.values(), key=lambda rows: (-len(rows), rows[0].steps, rows[0].fate)):
        ids = dict.fromkeys(row.query_id for row in own)
        made.append(
            LossGroup(
                steps=own[0].steps,
                fate=own[0].fate,
                moved=own[0].moved,
                blamed=own[0].blamed,
                silent=own[0].silent,
                failure=own[0].failure,
                failed_at=own[0].failed_at,
                upstream_same=sum(row.upstream_same for row in own),
                facts=len(own),
                questions=tuple((places[one], one) for one in ids if one in places),
            )
        )
    return made
