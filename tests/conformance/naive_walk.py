"""The second half of the second scorer: facts and their fates, the context, answers, and means over questions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tests.conformance.naive import (
    DECLINED,
    ERROR,
    MISSING,
    PASS,
    SOURCE,
    UNDEFINED,
    Naive,
    Row,
    count_tokens,
    normal,
    ratio,
    spelled,
)

from ragassay.records.case import Case, Fact
from ragassay.records.trace import Item, Trace, TraceContent

CONTEXT = "context"
RANKED = {"recall", "hit", "precision", "rr", "ndcg", "judged"}
ON_CONTEXT = {"context_precision", "context_recall", "evidence_density", "unique_parents", "overlap_ratio",
              "context_tokens"}  # fmt: skip


class Walk:
    """The steps of one trace as a graph, the context as its last node."""

    def __init__(self, naive: Naive, content: TraceContent) -> None:
        self.naive, self.steps = naive, content.steps
        assembled = [at for at, one in enumerate(content.steps) if one.kind == "assemble"]
        last = content.steps[assembled[-1]].items_out if assembled else None
        self.context = content.context if content.context is not None else last
        self.inconsistent = (
            content.context is not None
            and last is not None
            and {naive.same(one) for one in content.context} != {naive.same(one) for one in last}
        )
        self.end = end = len(content.steps)
        self.above: list[list[int]] = []
        for at in range(end):
            self.above.append(self._parents(at))
        self.above.append([assembled[-1]] if assembled else self._window(end, self.context or ()))

    def _parents(self, at: int) -> list[int]:
        step = self.steps[at]
        if step.parents is not None:
            return [number for number, one in enumerate(self.steps) if one.step_id in step.parents]
        if step.kind not in PASS:
            return []
        return self._window(at, (*(step.items_in or ()), *(step.items_out or ())))

    def _window(self, at: int, own: Iterable[Item]) -> list[int]:
        """All since and including the last pass step, and the last giver of each item that those do not explain."""
        start = max((number for number in range(at) if self.steps[number].kind in PASS), default=0)
        chosen = set(range(start, at))
        given = {self.naive.same(one) for number in chosen for one in self.out(number)}
        for item in own:
            if self.naive.same(item) not in given:
                carriers = [n for n in range(start) if self.steps[n].kind in PASS | SOURCE]
                chosen |= set([n for n in carriers if item_in(self.naive, item, self.steps[n].items_out or ())][-1:])
        return sorted(chosen)

    def into(self, at: int) -> list[Item]:
        return [item for parent in self.above[at] for item in self.out(parent)]

    def out(self, at: int) -> list[Item]:
        if at == self.end:
            return list(self.context or ())
        step = self.steps[at]
        if step.kind in SOURCE:
            return self.into(at) + list(step.items_out or ())
        return list(step.items_out) if step.kind in PASS and step.items_out is not None else self.into(at)

    def united(self, name: str, iteration: int | None = None) -> list[Item] | None:
        """The lists of all steps of one name as one: best rank first, then the earlier step, each item once."""
        same = [one for one in self.steps if one.name == name]
        lists = [one.items_out for one in same if iteration in (None, one.iteration)]
        if any(one is None for one in lists):
            return None
        placed = [(rank, order, item) for order, one in enumerate(lists) for rank, item in enumerate(one or ())]
        return [item for _, _, item in sorted(placed, key=lambda one: one[:2])]

    def name(self, at: int) -> str:
        return CONTEXT if at == self.end else self.steps[at].name


def item_in(naive: Naive, item: Item, items: Iterable[Item]) -> bool:
    return any(naive.same(one) == naive.same(item) for one in items)


def sets_of(naive: Naive, case: Case, fact: Fact) -> list[list[tuple[Any, ...]]]:
    """The sets of a fact whose evidence the principal may see."""
    known = {one.id: one for one in case.evidence or ()}
    sets = [[known[name] for name in group] for group in fact.any_of]
    return [
        [next(iter(naive.distinct([one]))) for one in group]
        for group in sets
        if all(naive.sees(case, one) for one in group)
    ]


def state(naive: Naive, sets: Sequence[Sequence[tuple[Any, ...]]], items: Sequence[Item]) -> str:
    """yes if some set is held whole, ? if that cannot be told."""
    each = [{naive.held(key, items, read=True) for key in group} for group in sets]
    if {"yes"} in each:
        return "yes"
    return "?" if any("no" not in one for one in each) else "no"


def fate(naive: Naive, walk: Walk, sets: Sequence[Sequence[tuple[Any, ...]]]) -> tuple[str, tuple[str, ...]]:
    """What became of a fact; "?" where the trace cannot say, whatever the name of that."""
    if walk.context is None or walk.inconsistent:
        return "?", ()
    there = state(naive, sets, walk.context)
    if there != "no":
        return {"yes": "held", "?": "?"}[there], ()
    charged, unsure = charge(naive, walk, sets)
    if unsure:
        return "?", ()
    if charged:
        return "lost_whole", names(walk, charged)
    ways = {key: charge(naive, walk, [[key]]) for group in sets for key in group}

    def best(key: tuple[Any, ...]) -> str:
        here = naive.held(key, walk.context or (), read=True)
        charged, unsure = ways[key]
        return "yes" if here == "yes" else "?" if here == "?" or unsure else "yes" if charged else "no"

    def gone(group: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        return [key for key in group if naive.held(key, walk.context or (), read=True) != "yes"]

    chosen = min(sets, key=lambda group: (sum(best(key) == "no" for key in group), len(gone(group))))
    if any(best(key) == "no" for key in chosen):
        return "never_found", ()
    if any(best(key) == "?" for key in chosen):
        return "?", ()
    return "lost_in_parts", names(walk, set().union(*(ways[key][0] for key in gone(chosen))))


def charge(naive: Naive, walk: Walk, sets: Sequence[Sequence[tuple[Any, ...]]]) -> tuple[set[int], bool]:
    """Back from the context: the first steps whose input holds it; and whether one of the inputs cannot be told."""
    charged: set[int] = set()
    unsure, todo, done = False, [walk.end], set[int]()
    while todo:
        at = todo.pop()
        if at in done:
            continue
        done.add(at)
        before = state(naive, sets, walk.into(at))
        unsure |= before == "?"
        if before == "yes":
            charged.add(at)
        elif before == "no":
            todo += walk.above[at]
    return charged, unsure


def names(walk: Walk, charged: set[int]) -> tuple[str, ...]:
    return tuple(sorted({walk.name(at) for at in charged}))


def expected(naive: Naive, case: Case, rel: int = 2) -> set[str]:
    if case.expect is not None:
        return set(case.expect)
    labels = [one for one in case.evidence or () if one.grade >= rel]
    if case.principal and labels and not any(naive.sees(case, one) for one in labels):
        return DECLINED | {"denied"}
    return {"yes": {"answered"}, "partial": {"answered", "partial", "clarified"}, "no": DECLINED}.get(
        case.answerable or "", set()
    )


def outcome(trace: Trace, rules: Sequence[str]) -> str | None:
    answer = trace.content.answer
    if answer is None:
        return None
    empty = not answer.text.strip()
    if answer.outcome is not None and not (empty and answer.outcome in ("answered", "partial")):
        return answer.outcome
    if empty or not rules:
        return None
    return "abstained" if any(re.search(rule, answer.text) for rule in rules) else "answered"


def observe(
    naive: Naive, case: Case, trace: Trace, measures: Sequence[str], rules: Sequence[str] = ()
) -> Iterator[tuple[str, str | None, Row]]:
    """(measure, step, row) of each measure that this scorer knows."""
    walk = Walk(naive, trace.content)
    failed = trace.content.failure is not None
    steps = dict.fromkeys(one.name for one in walk.steps if one.kind in PASS | SOURCE)
    lists: list[tuple[str, list[Item] | None]] = [(name, walk.united(name)) for name in steps if name != CONTEXT]
    for name in steps:
        numbers = sorted({one.iteration or 0 for one in walk.steps if one.name == name})
        lists += [(f"{name}#{number}", walk.united(name, number)) for number in numbers if len(numbers) > 1]
    lists.append((CONTEXT, None if walk.context is None else list(walk.context)))
    evidence = naive.visible(case)
    for measure in measures:
        kind = spelled(measure)[0]
        for step, items in lists:
            broken = failed or (step == CONTEXT and walk.inconsistent)
            if kind in RANKED:
                yield (
                    measure,
                    step,
                    ERROR if broken else naive.ranked(measure, evidence, items, hidden=bool(case.evidence)),
                )
            if kind == "fact_coverage":
                yield measure, step, ERROR if broken else coverage(naive, case, items)
            if kind == "empty_retrieval" and case.evidence == ():
                yield measure, step, ERROR if broken else empty(case, items)
        if kind == "dedup_coverage":
            for name, items in lists:
                if name.partition("#")[0] in {one.name for one in walk.steps if one.kind == "dedup"}:
                    yield measure, name, ERROR if failed else coverage(naive, case, items)
        if kind in ON_CONTEXT:
            broken = failed or walk.inconsistent
            yield measure, CONTEXT, ERROR if broken else on_context(naive, measure, evidence, walk.context)
        if kind in ("exact_match", "token_f1"):
            yield measure, None, ERROR if failed else words(case, trace, kind, rules)
        if kind in ("abstention_rate", "false_refusal", "unsupported_answer") and asked(naive, case, kind):
            yield measure, None, ERROR if failed else refusal(naive, case, outcome(trace, rules), kind)


def coverage(naive: Naive, case: Case, items: list[Item] | None) -> Row:
    if case.evidence is None:
        return MISSING
    facts = [sets_of(naive, case, one) for one in case.facts if one.required]
    facts = [sets for sets in facts if sets]
    if not facts:
        return UNDEFINED
    if items is None:
        return MISSING
    states = Counter(state(naive, sets, items) for sets in facts)
    if states["?"]:
        least, most = states["yes"] / len(facts), (states["yes"] + states["?"]) / len(facts)
        return Row("missing", low=least, high=most)
    return ratio(states["yes"], len(facts))


def empty(case: Case, items: list[Item] | None) -> Row:
    return MISSING if items is None else ratio(not items, 1)


def on_context(naive: Naive, measure: str, evidence: Any, context: Sequence[Item] | None) -> Row:
    kind, options, _ = spelled(measure)
    rel = options.get("rel", "2")
    if kind == "context_recall":
        return naive.ranked(f"recall(rel={rel})", evidence, None if context is None else list(context))
    keys = [key for key, grade in naive.distinct(evidence or ()).items() if grade >= int(rel)]
    if kind in ("context_precision", "evidence_density"):
        if evidence is None:
            return MISSING
        if not keys:
            return UNDEFINED
    if context is None:
        return MISSING
    if not context and kind != "context_tokens":
        return UNDEFINED
    sure = all(naive.known(one) for one in context)
    if kind == "context_tokens":
        texts = [text_of(naive, one) for one in context]
        return MISSING if None in texts else Row("value", float(sum(count_tokens(one or "") for one in texts)))
    if kind == "unique_parents" and all(one.sources for one in context):
        return Row("value", float(len(set().union(*(naive.parents(one) for one in context)))))
    if kind == "evidence_density" and any(start is None for _, start, _ in keys):
        return MISSING
    if kind == "evidence_density":
        loose = [text_of(naive, one) for one in context if not naive.known(one)]
        sure = not any(one is None or one.split() for one in loose)
    if kind == "context_precision":
        whole = [key for key in keys if naive.held(key, context) == "yes"]
        count = sum(any(naive.touches(one, key) for key in whole) for one in naive.once(context))
        return ratio(count, len(context)) if sure or count == len(context) else MISSING
    if not sure:
        return MISSING
    shown = [naive.chars(one) for one in context]
    total, union = sum(map(len, shown)), set().union(*shown)
    if not total:
        return UNDEFINED
    if kind == "overlap_ratio":
        return ratio(total - len(union), total)
    relevant = set().union(*map(naive.wanted, keys))
    return ratio(len(union & relevant), total)


def text_of(naive: Naive, item: Item) -> str | None:
    if item.text_digest in naive.texts:
        return naive.texts[item.text_digest or ""]
    if item.passage_id in naive.by_id:
        return naive.by_id[item.passage_id].text
    if not naive.known(item):
        return None
    found = []
    for one in item.sources:
        text = naive.text_of(naive.place(one.document_id, one.version))
        found.append(text if item.whole_document else text[one.start : one.end])
    return " ".join(found)


def words(case: Case, trace: Trace, kind: str, rules: Sequence[str]) -> Row:
    answer = trace.content.answer
    if outcome(trace, rules) in DECLINED | {"denied"}:
        return UNDEFINED
    if answer is None or not answer.text.strip():
        return MISSING
    if not case.answers:
        return UNDEFINED if case.answerable == "no" else MISSING
    said = normal(answer.text)
    wanted = [normal(one.text) for one in case.answers]
    wanted = [one for one in wanted if one] or [[]]
    if kind == "exact_match":
        return ratio(said in wanted, 1)

    def overlap(one: list[str]) -> float:
        if not one or not said:
            return float(one == said)
        return 2 * sum((Counter(one) & Counter(said)).values()) / (len(one) + len(said))

    return Row("value", max(map(overlap, wanted)))


def asked(naive: Naive, case: Case, kind: str) -> bool:
    """Whether a question is in the population of a refusal measure; without expected outcomes it is, as missing."""
    wanted = expected(naive, case)
    if not wanted or kind == "abstention_rate":
        return True
    return "answered" in wanted if kind == "false_refusal" else not wanted & {"answered", "partial"}


def refusal(naive: Naive, case: Case, found: str | None, kind: str) -> Row:
    wanted = expected(naive, case)
    if kind == "abstention_rate":
        return MISSING if found is None else ratio(found in DECLINED, 1)
    if not wanted:
        return MISSING
    if kind == "false_refusal":
        refused = found in (DECLINED | {"denied"}) - wanted
        return MISSING if found is None else ratio(refused, 1)
    return MISSING if found is None else ratio(found in ("answered", "partial"), 1)


Key = tuple[str, str | None, str, str | None]
"""measure, step, class, slice"""


def estimate(rows: Iterable[tuple[str, str, str | None, Row]], cases: Sequence[Case]) -> dict[Key, dict[str, Any]]:
    """Means over questions and over items, and five counts, of (query_id, measure, step, row)."""
    by: dict[tuple[str, str | None], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for query, measure, step, row in rows:
        by[measure, step][query].append(row)
    asked_for: dict[str, set[str]] = defaultdict(set)
    for (measure, _), questions in by.items():
        asked_for[measure] |= set(questions)
    made: dict[Key, dict[str, Any]] = {}
    for (measure, step), questions in by.items():
        narrow = spelled(measure)[0] in ("empty_retrieval", "false_refusal", "unsupported_answer")
        for class_ in {one.class_ for one in cases}:
            members = [
                one for one in cases if one.class_ == class_ and (not narrow or one.query_id in asked_for[measure])
            ]
            for part in {None, *(name for one in members for name in one.slice)}:
                chosen = [one.query_id for one in members if part is None or part in one.slice]
                found = summary([questions.get(name, [MISSING]) for name in chosen])
                made[measure, step, class_ or "", part] = found
    return made


def summary(questions: list[list[Row]]) -> dict[str, Any]:
    counts, means, tops, bottoms = Counter[str](), [], [], []
    for rows in questions:
        statuses = {one.status for one in rows}
        counts[next(one for one in ("value", "error", "missing", "undefined") if one in statuses)] += 1
        valued = [one for one in rows if one.value is not None]
        if valued:
            means.append(sum(one.value or 0 for one in valued) / len(valued))
            tops.append(sum(one.numerator or 0 for one in valued) / len(valued))
            bottoms.append(sum(one.denominator or 0 for one in valued) / len(valued))
    return {
        "counts": (len(questions), counts["value"], counts["undefined"], counts["missing"], counts["error"]),
        "macro": sum(means) / len(means) if means else None,
        "micro": sum(tops) / sum(bottoms) if sum(bottoms) else None,
    }
