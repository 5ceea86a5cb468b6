"""A scorecard from records in memory; a pure function of them. Reads no store and renders nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ragassay.corpus import visible
from ragassay.records.case import Case
from ragassay.records.document import Document, Passage
from ragassay.records.score import CLASS_ORDER, FIGURES, Estimate, FactFate, Observation
from ragassay.records.trace import TraceContent
from ragassay.report import dimensions, outcomes, runtime
from ragassay.report.funnel import funnels
from ragassay.report.identity import caveats, identity
from ragassay.report.lists import CONTEXT, Library
from ragassay.report.material import Material
from ragassay.report.model import AccessReview, Dimension, Distribution, Population, Question, RepeatView, Scorecard
from ragassay.report.questions import absent_repeat, question, repeat
from ragassay.report.tied import tied
from ragassay.report.verdict import verdict

Key = tuple[str, int]
T = TypeVar("T", Observation, FactFate)
MOST_COLUMNS = 6


def build(material: Material) -> Scorecard:
    """The scorecard of one score table. The same records give the same scorecard."""
    library = library_of(material.documents, material.passages, material.texts, material.scoring.hold)
    class_of: dict[str, str] = {case.query_id: case.class_ or "answerable" for case in material.cases}
    expect_of: dict[str, tuple[str, ...]] = {
        case.query_id: outcomes.expected(case, hidden=_hidden(case, library, material.benchmark.rel))
        for case in material.cases
    }
    contents: dict[Key, TraceContent] = {(one.query_id, one.repeat): one for one in material.contents}
    keys: list[Key] = [(case.query_id, number) for case in material.cases for number in range(material.subject.repeats)]
    steps = _step_order(material)
    asked_of = tuple(_questions(material, class_of, expect_of, library))
    shown = dimensions.dimensions(dimensions.FIVE, material.estimates, steps)
    others = dimensions.dimensions(dimensions.OTHERS, material.estimates, steps)
    tables = funnels(material.survival, material.fates, class_of)
    failures: Counter[str] = Counter(one.failure.cause for one in material.contents if one.failure is not None)
    columns = _columns(shown)
    return Scorecard(
        title=material.subject.system.name,
        benchmark=f"{material.benchmark.name} {material.benchmark.version}",
        as_of=material.subject.as_of,
        scores=material.scores,
        verdict=verdict(
            policy=material.policy,
            asked=len(keys),
            traces=len(contents),
            failures=failures,
            funnels=tables,
            estimates=_in_order(material.estimates),
            dimensions=[*shown, *others],
            steps=steps,
        ),
        caveats=caveats(material),
        identity=identity(material),
        asked=len(keys),
        traces=len(contents),
        failures=dict(sorted(failures.items())),
        hold=material.scoring.hold,
        rel=material.benchmark.rel,
        steps=steps,
        funnels=tuple(tables),
        tied=tied(material.contents),
        dimensions=tuple(shown),
        outcomes=tuple(outcomes.outcome_rows(material.observations, expect_of, class_of)),
        beside=dimensions.beside(material.estimates, steps),
        other=tuple(others),
        access=_access(asked_of),
        runtime=tuple(runtime.runtime_rows(material.estimates, _censored(material, class_of))),
        distributions=tuple(_distributions(material, columns, class_of)),
        population_measures=columns,
        populations=tuple(_populations(material, columns, class_of)),
        estimates=tuple(_in_order(material.estimates)),
        questions=asked_of,
    )


def library_of(
    documents: Sequence[Document], passages: Sequence[Passage], texts: Mapping[str, str], hold: float
) -> Library:
    """Documents, passages and stray texts by key."""
    versions: dict[str, list[Document]] = {}
    for document in documents:
        versions.setdefault(document.document_id, []).append(document)
    return Library(
        documents={(one.document_id, one.version): one for one in documents},
        passages={one.passage_id: one for one in passages},
        texts=texts,
        hold=hold,
        versions=versions,
    )


def _hidden(case: Case, library: Library, rel: int) -> bool:
    """Whether the case has relevant labels, and its principal may see none of them."""
    if case.principal is None:
        return False
    relevant = [one for one in case.evidence or () if one.grade >= rel]
    found = [document for one in relevant for document in library.named(one.document_id, one.version)]
    return bool(found) and not any(visible(document, case.principal) for document in found)


def _step_order(material: Material) -> tuple[str, ...]:
    """Step names in the order of the survival table, then of the traces; the context last."""
    order: dict[str, int] = {}
    for row in material.survival:
        order[row.step] = min(order.get(row.step, row.order), row.order)
    names = sorted(order, key=lambda name: (order[name], name))
    for content in material.contents:
        names += [step.name for step in content.steps if step.name not in order]
    measured = {one.step for one in material.estimates if one.step} | set(order)
    names += sorted(step for step in measured if step not in names)
    names = sorted(dict.fromkeys(names), key=lambda name: _place(name, names))
    known = [name for name in names if name in measured and name != CONTEXT]
    return (*known, CONTEXT) if CONTEXT in measured else tuple(known)


def _place(name: str, names: Sequence[str]) -> tuple[int, int]:
    """Where a step stands: `search#2`, the second iteration of `search`, right behind it."""
    base, _, iteration = name.rpartition("#")
    listed = base in names and iteration.isdecimal()
    return (names.index(base), int(iteration)) if listed else (names.index(name), -1)


def _by_key(rows: Iterable[T]) -> dict[Key, list[T]]:
    found: dict[Key, list[T]] = {}
    for row in rows:
        found.setdefault((row.query_id, row.repeat), []).append(row)
    return found


def _questions(
    material: Material, class_of: Mapping[str, str], expect_of: Mapping[str, tuple[str, ...]], library: Library
) -> Iterable[Question]:
    contents = {(one.query_id, one.repeat): one for one in material.contents}
    measured = {(one.query_id, one.repeat): one for one in material.measurements}
    scores = _by_key((*material.observations, *material.runtime))
    fates = _by_key(material.fates)
    for case in material.cases:
        views: list[RepeatView] = []
        for number in range(material.subject.repeats):
            key = (case.query_id, number)
            content, own, lost = contents.get(key), scores.get(key, []), fates.get(key, [])
            if content is None:
                views.append(absent_repeat(number, own, lost, material.run.stopped))
            else:
                views.append(repeat(case, content, measured.get(key), own, lost, library))
        yield question(
            case, class_=class_of[case.query_id], expect=expect_of[case.query_id], library=library, repeats=views
        )


def _access(questions: Sequence[Question]) -> AccessReview:
    counts: Counter[str] = Counter()
    traces = 0
    for one in questions:
        for view in one.repeats:
            if one.principal is None or view.context is None:
                continue
            traces += 1
            last = len(view.steps) - 1
            counts.update(item.access or "unknown" for item in view.items if item.places[last] is not None)
    return AccessReview(
        questions=traces,
        items=counts.total(),
        allowed=counts["allowed"],
        denied=counts["denied"],
        unknown=counts["unknown"],
        denied_questions=tuple(one.query_id for one in questions if "denied" in one.flags),
    )


def _censored(material: Material, class_of: Mapping[str, str]) -> dict[tuple[str, str], int]:
    late = Counter(
        (one.measure, class_of[one.query_id])
        for one in material.runtime
        if one.status == "error" and one.bounds is not None
    )
    return dict(late)


def _columns(shown: Sequence[Dimension]) -> tuple[tuple[str, str | None], ...]:
    """Columns of the class table: of each dimension the first two measures with a value, one spelling and step each."""
    wanted: dict[tuple[str, str | None], None] = {}
    for plan, dimension in zip(dimensions.FIVE, shown, strict=True):
        first: dict[str, tuple[str, str | None]] = {}
        for row in dimension.headline:
            if row.status == "value":
                first.setdefault(dimensions.base_name(row.measure), (row.measure, row.step))
        wanted.update(dict.fromkeys([first[name] for name in plan.measures if name in first][:2]))
    return tuple(wanted)


def _distributions(
    material: Material, columns: Sequence[tuple[str, str | None]], class_of: Mapping[str, str]
) -> list[Distribution]:
    spread = [one for one in columns if dimensions.unit_of(one[0]) != "0 or 1"]
    spread = [one for one in spread if dimensions.base_name(one[0]) not in dimensions.FIVE[-1].measures]
    found = runtime.distributions(material.observations, spread, class_of)
    timed = [
        key
        for key in dict.fromkeys((one.measure, one.step) for one in material.runtime)
        if dimensions.base_name(key[0]) == "latency" and key[1] is None and "q=" not in key[0] and "kind=" not in key[0]
    ]
    return found + runtime.distributions(material.runtime, timed, class_of)


def _populations(
    material: Material, columns: Sequence[tuple[str, str | None]], class_of: Mapping[str, str]
) -> list[Population]:
    """Every class, then every slice of it, each with its own denominators."""
    sizes: Counter[tuple[str, str]] = Counter()
    for case in material.cases:
        sizes.update((class_of[case.query_id], name) for name in ("", *case.slice))
    cells: dict[tuple[str, str | None, str, str | None], Estimate] = {}
    for one in material.estimates:
        if one.aggregation in FIGURES:
            cells.setdefault((one.measure, one.step, one.population.class_, one.population.slice), one)
    return [
        Population(
            class_=class_,
            slice=name or None,
            questions=sizes[class_, name],
            cells=tuple(cells.get((measure, step, class_, name or None)) for measure, step in columns),
        )
        for class_, name in sorted(sizes, key=lambda key: (CLASS_ORDER.index(key[0]), key[1]))
    ]


def _in_order(estimates: Iterable[Estimate]) -> list[Estimate]:
    return sorted(
        estimates,
        key=lambda one: (
            CLASS_ORDER.index(one.population.class_),
            one.population.slice or "",
            one.measure,
            one.step or "",
            one.aggregation,
        ),
    )
