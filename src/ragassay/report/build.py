"""A scorecard from records; a pure function of them. Opens no store and renders nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from ragassay.corpus import visible
from ragassay.records.case import Case
from ragassay.records.document import Document, Passage
from ragassay.records.score import CLASS_ORDER, FIGURES, ClaimFailure, Estimate
from ragassay.report import dimensions, outcomes, runtime
from ragassay.report.assessed import sections
from ragassay.report.data.build import data_card, five
from ragassay.report.funnel import funnels
from ragassay.report.grounding.among import among
from ragassay.report.grounding.build import Key, by_key, judge_view
from ragassay.report.grounding.text import caveats as judge_caveats
from ragassay.report.identity import caveats, identity
from ragassay.report.lists import CONTEXT, Library
from ragassay.report.material import Material
from ragassay.report.model import Dimension, Distribution, Population, RepeatView, Scorecard
from ragassay.report.packed import Packed, Questions
from ragassay.report.questions import absent_repeat, question, repeat
from ragassay.report.refusal.build import refusal
from ragassay.report.refusal.collect import Refusing
from ragassay.report.seen import Seen
from ragassay.report.streams import NotInOrder, Together, in_memory, together
from ragassay.report.verdict import verdict
from ragassay.score.identities import Reported


def build(material: Material) -> Scorecard:
    """The scorecard of one score table. The same records give the same scorecard."""
    library = library_of(material.documents, material.passages, material.texts, material.scoring.hold)
    class_of: dict[str, str] = {case.query_id: case.class_ or "answerable" for case in material.cases}
    expect_of: dict[str, tuple[str, ...]] = {
        case.query_id: outcomes.expected(case, hidden=_hidden(case, library, material.benchmark.rel))
        for case in material.cases
    }
    asked = len(material.cases) * material.subject.repeats
    seen, questions, denied = _read(material, class_of, expect_of, library)
    steps = _step_order(material, seen)
    shown = dimensions.dimensions(dimensions.FIVE, material.estimates, steps)
    others = dimensions.dimensions(dimensions.OTHERS, material.estimates, steps)
    judges = [judge_view(one, material.failures, class_of, material.scoring.level) for one in material.judges_read]
    clusters = {str(case.query_id): case.cluster for case in material.cases}
    tables = funnels(material.survival, material.fates, class_of)
    columns = _columns(shown)
    return Scorecard(
        title=material.subject.system.name,
        benchmark=f"{material.benchmark.name} {material.benchmark.version}",
        as_of=material.subject.as_of,
        scores=material.scores,
        verdict=verdict(
            policy=material.policy,
            decisions=material.decisions,
            asked=asked,
            traces=seen.traces,
            failures=seen.failures,
            funnels=tables,
            estimates=_in_order(material.estimates),
            dimensions=[*shown, *others],
            steps=steps,
        ),
        caveats=(*caveats(material, seen), *judge_caveats(judges)),
        identity=identity(material),
        five=five(material, seen.reported),
        data=data_card(material),
        asked=asked,
        traces=seen.traces,
        failures=dict(sorted(seen.failures.items())),
        hold=material.scoring.hold,
        rel=material.benchmark.rel,
        steps=steps,
        funnels=tuple(tables),
        tied=seen.tied.rows(),
        dimensions=tuple(shown),
        outcomes=tuple(outcomes.outcome_rows(seen.outcomes)),
        refusal=refusal(material.estimates, seen.refusing),
        beside=dimensions.beside(material.estimates, steps),
        other=tuple(others),
        judges=tuple(judges),
        among=tuple(among(material.judges_read, clusters, material.scoring.level)),
        access=seen.access(tuple(one for one in class_of if one in denied)),
        probed=sections(material.assessed),
        runtime=tuple(runtime.runtime_rows(material.estimates, seen.late, seen.used)),
        distributions=tuple(_distributions(seen, columns)),
        population_measures=columns,
        populations=tuple(_populations(material, columns, class_of)),
        estimates=tuple(_in_order(material.estimates)),
        questions=questions,
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


def _step_order(material: Material, seen: Seen) -> tuple[str, ...]:
    """Step names in the order of the survival table, then of the traces; the context last."""
    order: dict[str, int] = {}
    for row in material.survival:
        order[row.step] = min(order.get(row.step, row.order), row.order)
    names = sorted(order, key=lambda name: (order[name], name))
    names += [step for step in seen.steps if step not in order]
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


def _read(
    material: Material, class_of: Mapping[str, str], expect_of: Mapping[str, tuple[str, ...]], library: Library
) -> tuple[Seen, Questions, set[str]]:
    """All that is counted over traces and scores, the questions, and which of them showed what was not theirs."""
    try:
        return _one_pass(material, class_of, expect_of, library)
    except NotInOrder:
        return _one_pass(in_memory(material), class_of, expect_of, library)


def _one_pass(
    material: Material, class_of: Mapping[str, str], expect_of: Mapping[str, tuple[str, ...]], library: Library
) -> tuple[Seen, Questions, set[str]]:
    refusing = Refusing(material.scoring.measures, material.cases, class_of, expect_of)
    seen, pack = Seen(class_of, expect_of, refusing, Reported(material.cases)), Packed()
    case_of = {case.query_id: case for case in material.cases}
    packs: dict[str, bytes] = {}
    failures = by_key(material.failures)
    denied: set[str] = set()
    for query_id, found in groupby(together(material), key=lambda one: one.key[0]):
        case, views = case_of.get(query_id), []
        for one in found:
            seen.add(one)
            if case is not None and one.wanted:
                views.append(_repeat(case, one, library, material, failures))
        if case is None:
            continue
        made = question(case, class_=class_of[query_id], expect=expect_of[query_id], library=library, repeats=views)
        if case.principal is not None:
            for view in views:
                seen.review(view)
        if "denied" in made.flags:
            denied.add(query_id)
        packs[query_id] = pack(made)
    return seen, Questions([packs[case.query_id] for case in material.cases]), denied


def _repeat(
    case: Case, one: Together, library: Library, material: Material, failures: Mapping[Key, Sequence[ClaimFailure]]
) -> RepeatView:
    scores = (*one.observations, *one.runtime)
    if not one.contents:
        return absent_repeat(one.key[1], scores, one.fates, material.run.stopped)
    measured = one.measurements[-1] if one.measurements else None
    given = {judge: said.given(*one.key) for judge, said in material.verdicts.items()}
    return repeat(case, one.contents[-1], measured, scores, one.fates, library, given, failures.get(one.key, ()))


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


def _distributions(seen: Seen, columns: Sequence[tuple[str, str | None]]) -> list[Distribution]:
    spread = [one for one in columns if dimensions.unit_of(one[0]) != "0 or 1"]
    spread = [one for one in spread if dimensions.base_name(one[0]) not in dimensions.FIVE[-1].measures]
    found = runtime.distributions(seen.spreads, spread)
    timed = [
        key
        for key in dict.fromkeys((measure, step) for measure, step, _ in seen.timed)
        if dimensions.base_name(key[0]) == "latency" and key[1] is None and "q=" not in key[0] and "kind=" not in key[0]
    ]
    return found + runtime.distributions(seen.timed, timed)


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
