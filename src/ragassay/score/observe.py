"""One question's trace against its case: every sealed measure at every step, and the fate of every fact. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragassay.measures import Measure, Outcome, declaration, parse
from ragassay.records.case import Case
from ragassay.records.protocol import Scoring
from ragassay.records.trace import Item, Trace, TraceContent
from ragassay.score import answer as answers
from ragassay.score import confidence
from ragassay.score.context import CONTEXT_MEASURES, of_context
from ragassay.score.copies import without_copies
from ragassay.score.facts import coverage
from ragassay.score.fates import read_fates
from ragassay.score.harm import harmful, stale_in_context
from ragassay.score.hold import Reader, State
from ragassay.score.judged import JUDGED_MEASURES, add, bottom_of, by_judges
from ragassay.score.judging import Judging
from ragassay.score.labels import Labels
from ragassay.score.paraphrases import found_evidence
from ragassay.score.population import outside
from ragassay.score.ranking import Ranked, by_document, by_evidence, by_passage, is_ranked, over_unjudged, rank
from ragassay.score.rows import Holding, Rows, Scores, error, missing, undefined, value
from ragassay.score.verdicts import Verdicts
from ragassay.score.world import World
from ragassay.traces import CONTEXT, Graph, graph

COUNTS = ("duplicate_rate", "unexplained_items", "hidden_labels")
"""Counted beside any retrieval measure, sealed or not: the rules say that they are reported."""
AT_CONTEXT = CONTEXT_MEASURES | {"context_recall", "survival", "stale_in_context"}
AT_STEPS = frozenset({"fact_coverage", "empty_retrieval", "harmful", "paraphrase_overlap"})
STATE = {State.HELD: "held", State.NOT_HELD: "not_held", State.UNKNOWN: "unknown"}


def measures_of(scoring: Scoring, rel: int) -> list[Measure]:
    """The sealed measures, with the benchmark's least relevant grade where the spelling leaves it out, by each judge
    where it names none; after them those that they are made of."""
    sealed = by_judges([parse(one).with_rel(rel) for one in scoring.measures], scoring)
    return confidence.with_implied(sealed)


def observe(
    case: Case, trace: Trace, world: World, scoring: Scoring, verdicts: Mapping[str, Verdicts] | None = None
) -> Scores:
    """All observations of one (query_id, repeat), and the fates of its facts. Reads nothing but its arguments.

    A failed trace makes every measure error(cause), at the steps that it got to as well; only errors and error_rate
    have a value then. Measures that this version does not compute are missing(not_computed). `verdicts`: of each judge
    by name, what it said of the run.
    """
    return _Question(case, trace, world, scoring, verdicts or {}).scores()


class _Question:
    """One case and one trace while they are being scored."""

    def __init__(
        self, case: Case, trace: Trace, world: World, scoring: Scoring, verdicts: Mapping[str, Verdicts]
    ) -> None:
        self.case, self.trace, self.world, self.scoring = case, trace, world, scoring
        self.content: TraceContent = trace.content
        self.labels = Labels(case, world)
        self.reader = Reader(self.labels.visible, world, scoring.hold)
        self.measures = measures_of(scoring, world.rel)
        self.graph: Graph = graph(without_copies(self.content, world))
        rules = scoring.abstention_rules
        self.judging = Judging(self.content, self.labels, self.reader, self.graph, verdicts, rules)
        self.rows = Rows(case, self.content.repeat)
        self.runtime = Rows(case, self.content.repeat)
        self.holdings: list[Holding] = []
        self.failure = self.content.failure.cause if self.content.failure else ""

    def scores(self) -> Scores:
        fates = read_fates(self.labels, self.reader, self.graph, self.content)
        for order, name in enumerate(self.graph.names):
            self._step(name, order)
        self._context()
        self._question()
        for measure in self.measures:
            if measure.name in answers.RUNTIME_MEASURES:
                answers.runtime(self.runtime, measure, self.content, self.trace.measurements)
        return Scores(
            self.case.query_id,
            self.content.repeat,
            self.failure,
            tuple(self.rows.made),
            tuple(self.runtime.made),
            fates,
            tuple(self.holdings),
            () if self.failure else self.judging.failures(),
        )

    def _step(self, name: str, order: int) -> None:
        nodes = self.graph.names[name]
        kind = nodes[0].kind
        given = self.graph.output(name)
        inferred = any(node.inferred for node in nodes)
        silent = not self.failure and any(node.given is None for node in nodes)
        items = self.world.distinct(given or ())
        if silent:
            self._silent(name, kind, inferred)
        else:
            self._measure(name, kind, items, inferred)
            self._counts(given or (), items, name, inferred)
        if given is not None or self.failure:
            self._hold(name, kind, order, items, silent)
        for number, one in self.graph.iterations(name).items():
            if one is None and not self.failure:
                self._silent(f"{name}#{number}", kind, inferred)
            else:
                self._measure(f"{name}#{number}", kind, self.world.distinct(one or ()), inferred)

    def _measure(self, name: str, kind: str, items: Sequence[Item], inferred: bool) -> None:
        """Every measure of a list."""
        ranked: dict[str, Ranked | str] = {}
        for measure in self.measures:
            if not at_steps(measure.name) or not _fits(measure, kind):
                continue
            if measure.name == "empty_retrieval":
                self._empty(measure, items, name, inferred)
            elif self.failure:
                self._error(measure, name)
            elif measure.name == "fact_coverage":
                self._coverage(measure, items, name, inferred)
            elif measure.name == "harmful":
                outcome, bounds = harmful(measure, items, self.labels, self.reader)
                self.rows.add(str(measure), outcome, name, bounds=bounds, inferred=inferred)
            elif measure.name == "paraphrase_overlap":
                self._found(measure, items, name, inferred)
            else:
                self._ranked(measure, items, ranked, name, inferred)
        if kind == "dedup" and any(one.name == "dedup_coverage" for one in self.measures):
            self._coverage_as("dedup_coverage", items, name, inferred)

    def _silent(self, name: str, kind: str, inferred: bool) -> None:
        """A step (or one of its iterations) that does not say what it gave out: every measure there is missing."""
        for measure in self.measures:
            taken = at_steps(measure.name) and _fits(measure, kind)
            taken |= measure.name == "dedup_coverage" and kind == "dedup"
            if taken and (measure.name != "empty_retrieval" or self.labels.state == "empty"):
                outcome = outside(measure, self.labels) or missing("no_items_out", known(measure, self.labels))
                self.rows.add(str(measure), outcome, name, inferred=inferred)

    def _error(self, measure: Measure, step: str | None) -> None:
        self.rows.add(str(measure), error(self.failure, known(measure, self.labels)), step)

    def _ranked(
        self, measure: Measure, items: Sequence[Item], cache: dict[str, Ranked | str], step: str, inferred: bool
    ) -> None:
        unit = str(measure.get("unit"))
        if unit not in cache:
            if unit == "document":
                cache[unit] = by_document(items, self.labels)
            elif unit == "passage":
                cache[unit] = by_passage(items, self.labels)
            else:
                cache[unit] = by_evidence(items, self.labels, self.reader)
        ranked = cache[unit]
        outcome, bounds = rank(measure, ranked, self.labels)
        coarse = not isinstance(ranked, str) and ranked.coarse
        over = over_unjudged(measure, ranked, self.labels, outcome)
        self.rows.add(str(measure), outcome, step, bounds=bounds, unjudged=over, coarse=coarse, inferred=inferred)

    def _found(self, measure: Measure, items: Sequence[Item], step: str, inferred: bool) -> None:
        outcome, places = found_evidence(measure, items, self.labels, self.reader)
        self.rows.add(str(measure), outcome, step, inferred=inferred)
        for place in places:
            self.rows.add(str(measure), value(1.0), step, target=place, inferred=inferred)

    def _coverage(self, measure: Measure, items: Sequence[Item], step: str, inferred: bool) -> None:
        states = self._coverage_as(str(measure), items[: measure.cutoff], step, inferred)
        if measure.cutoff is None:
            for fact, state in states.items():
                outcome = missing("unknown_items", 1.0) if state is State.UNKNOWN else value(float(state is State.HELD))
                self.rows.add(str(measure), outcome, step, target=fact, inferred=inferred)

    def _coverage_as(self, spelled: str, items: Sequence[Item], step: str, inferred: bool) -> dict[str, State]:
        if self.failure:
            self.rows.add(spelled, error(self.failure, float(len(self.labels.required)) or None), step)
            return {}
        outcome, bounds, states = coverage(items, self.labels, self.reader)
        coarse = any(one.coarse for one in self.labels.visible)
        self.rows.add(spelled, outcome, step, bounds=bounds, coarse=coarse, inferred=inferred)
        return states

    def _empty(self, measure: Measure, items: Sequence[Item], step: str, inferred: bool) -> None:
        if self.labels.state == "empty":
            outcome = error(self.failure, 1.0) if self.failure else value(float(not items))
            self.rows.add(str(measure), outcome, step, inferred=inferred)

    def _counts(self, given: Sequence[Item], items: Sequence[Item], name: str, inferred: bool) -> None:
        if self.failure or not any(at_steps(one.name) for one in self.measures):
            return
        rate = value(len(given) - len(items), len(given)) if given else undefined("empty_list")
        self.rows.add("duplicate_rate", rate, name)
        nodes = self.graph.names[name]
        if not any(node.source for node in nodes):
            self.rows.add("unexplained_items", value(sum(len(one.unexplained) for one in nodes)), name,
                          inferred=inferred)  # fmt: skip

    def _hold(self, name: str, kind: str, order: int, items: Sequence[Item], silent: bool) -> None:
        """What the step holds; where one of its iterations is silent, what the others do not hold is unknown."""
        states = {} if self.failure else coverage(items, self.labels, self.reader)[2]
        for fact in self.labels.required:
            found = states.get(fact.id, State.UNKNOWN)
            state = STATE[State.UNKNOWN if silent and found is not State.HELD else found]
            self.holdings.append(Holding(self.case.query_id, self.content.repeat, fact.id, name, kind, order, state))

    def _context(self) -> None:
        """Measures that read the context only, and all measures of steps where there is no context to read."""
        context, labels = self.graph.context, self.labels
        inferred = self.graph.end is not None and self.graph.end.inferred
        for measure in self.measures:
            absent = context.items is None and at_steps(measure.name) and _fits(measure, CONTEXT)
            if measure.name not in AT_CONTEXT and not absent:
                continue
            if measure.name == "empty_retrieval" and labels.state != "empty":
                continue
            if self.failure:
                self._error(measure, CONTEXT)
            elif context.items is None:
                self.rows.add(str(measure), self._no_context(measure), CONTEXT)
            elif measure.name == "context_recall":
                self._recall(measure, context.items, inferred)
            elif measure.name == "survival":
                self._coverage_as(str(measure), context.items, CONTEXT, inferred)
            elif measure.name == "stale_in_context":
                outcome, bounds = stale_in_context(context.items, self.world)
                self.rows.add(str(measure), outcome, CONTEXT, bounds=bounds, inferred=inferred)
            else:
                outcome, bounds = of_context(measure, context.items, labels, self.reader, self.scoring.tokenizer)
                self.rows.add(str(measure), outcome, CONTEXT, bounds=bounds, inferred=inferred)

    def _no_context(self, measure: Measure) -> Outcome:
        bottom = known(measure, self.labels)
        if self.graph.context.reason == "inconsistent":
            return error("inconsistent_context", bottom)
        return outside(measure, self.labels) or missing("no_context", bottom)

    def _recall(self, measure: Measure, items: Sequence[Item], inferred: bool) -> None:
        plain = Measure.of("recall", rel=int(measure.get("rel") or self.world.rel))
        ranked = by_evidence(self.world.distinct(items), self.labels, self.reader)
        outcome, bounds = rank(plain, ranked, self.labels)
        over = over_unjudged(plain, ranked, self.labels, outcome)
        self.rows.add(
            str(measure), outcome, CONTEXT, bounds=bounds, unjudged=over, coarse=ranked.coarse, inferred=inferred
        )

    def _question(self) -> None:
        """Measures of the whole question: answer text, refusal, and what is not computed."""
        outcome, why = answers.outcome_of(self.content, self.scoring.abstention_rules)
        for measure in self.measures:
            name = measure.name
            if answers.is_text(name):
                if self.failure:
                    self._error(measure, None)
                else:
                    rules, norm = self.scoring.abstention_rules, self.scoring.normalisation
                    self.rows.add(str(measure), answers.text_measure(measure, self.content, self.labels, rules, norm))
            elif name in answers.REFUSAL_MEASURES:
                if not answers.takes_part(name, self.labels):
                    continue
                if self.failure:
                    self._error(measure, None)
                    continue
                target = outcome if name == "outcome" and outcome else None
                self.rows.add(str(measure), answers.refusal(name, outcome, why, self.labels), target=target)
            elif name in JUDGED_MEASURES:
                if self.failure:
                    self._error(measure, None)
                else:
                    add(self.rows, measure, self.judging.score(measure))
            elif not computed(name) and not derived(name):
                self.rows.add(str(measure), missing("not_computed"))
        self._confidence((outcome, why))
        if self.case.principal is not None:
            self.rows.add("hidden_labels", value(self.labels.hidden))

    def _confidence(self, did: tuple[str, str]) -> None:
        """Whether the answer is right, and how sure the system was: made of rows that stand already."""
        for measure in self.measures:
            if measure.name in confidence.ROWS:
                if self.failure:
                    self._error(measure, None)
                else:
                    outcome = confidence.row(measure, self.content, self.labels, did, self.rows.made)
                    self.rows.add(str(measure), outcome)


def at_steps(name: str) -> bool:
    """Whether a measure is taken at every step that hands items on."""
    return name in AT_STEPS or is_ranked(name)


def computed(name: str) -> bool:
    """Whether this room computes a measure."""
    return (
        at_steps(name)
        or name in AT_CONTEXT
        or answers.is_text(name)
        or name in answers.REFUSAL_MEASURES
        or name in answers.RUNTIME_MEASURES
        or name in confidence.ROWS
        or name in JUDGED_MEASURES
        or name == "dedup_coverage"
    )


def derived(name: str) -> bool:
    """Whether a measure has no rows of its own: estimates make it of the rows of others."""
    return name in confidence.DECISIONS or name in confidence.OF_GROUPS


def known(measure: Measure, labels: Labels) -> float | None:
    """The denominator that a measure will have whatever a system does, where there is one."""
    name = measure.name
    if name in ("recall", "context_recall"):
        return float(_relevant_units(measure, labels)) or None
    if name in ("fact_coverage", "survival", "dedup_coverage"):
        return float(len(labels.required)) or None
    if name in ("precision", "judged") and measure.get("over") != "retrieved":
        return float(measure.cutoff) if measure.cutoff else None
    if name in JUDGED_MEASURES:
        return bottom_of(name, labels)
    if name in answers.REFUSAL_MEASURES or name in ("answered_right", "brier", "retrieval_sufficient"):
        return 1.0
    return 1.0 if declaration(name).denominator == "1" else None


def _relevant_units(measure: Measure, labels: Labels) -> int:
    rel, unit = int(measure.get("rel") or labels.world.rel), measure.get("unit")
    if unit == "document":
        return sum(grade >= rel for grade in labels.document_grades().values())
    if unit == "passage":
        return sum(grade >= rel for grade in labels.passage_grades().values())
    return sum(grade >= rel for grade in labels.distinct.values())


def _fits(measure: Measure, kind: str) -> bool:
    wanted = measure.get("kind") if measure.name in ("fact_coverage", "empty_retrieval") else None
    return wanted is None or wanted == kind
