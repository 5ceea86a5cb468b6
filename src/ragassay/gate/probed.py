"""An assessment of cross-tenant probes against what a policy demands: any leak fails, and nothing unseen passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import ragassay.corpus
from ragassay.corpus.build import load_entries
from ragassay.errors import IntegrityError
from ragassay.gate.evidence import Evidence
from ragassay.gate.results import moment, number, result
from ragassay.gate.rules import Arms
from ragassay.probe.again import judge_again
from ragassay.probe.rates import LEVEL, more_needed, upper_bound
from ragassay.probe.settings import StandingSettings
from ragassay.probe.standing import changed_since, metadata_of
from ragassay.records.base import Digest
from ragassay.records.decision import RuleResult
from ragassay.records.document import Corpus, Document
from ragassay.records.policy import CATEGORIES, OnFail, ProbeDemand
from ragassay.records.probe import Assessment, Category, ProbeRate, ProbeSuite, Standing
from ragassay.records.score import Status
from ragassay.records.text import many
from ragassay.store import Store

JudgeAgain = Callable[[Store, Assessment, Sequence[Document]], Assessment]
METHOD = "exact"
MOST_TOLD = 6
Fault = tuple[str, str]
"""What is wrong, and the code of it."""


class Probed(NamedTuple):
    """What a decision is given of a system's probes."""

    assessment: Digest | None = None
    """Record of the Assessment; None: there is none."""
    declared: StandingSettings | None = None
    """Embedding, index and policy as they are declared at the decision; None: nobody says."""


def declared_of(standing: Standing | None) -> StandingSettings | None:
    """What was declared at a decision that is made again."""
    if standing is None:
        return None
    return StandingSettings(embedding=standing.embedding, index=standing.index, policy=standing.policy)


def standing_now(store: Store, candidate: Evidence, declared: StandingSettings | None) -> Standing | None:
    """What holds of the candidate: corpus and metadata from its own records, the rest as declared."""
    if declared is None:
        return None
    entries = load_entries(store, _corpus(store, candidate))
    return Standing(
        corpus=candidate.subject.corpus, metadata=metadata_of(entries), embedding=declared.embedding,
        index=declared.index, policy=declared.policy,
    )  # fmt: skip


def read_probe(
    arms: Arms, given: Probed, now: Standing | None, as_of: str, judge: JudgeAgain = judge_again
) -> Iterator[RuleResult]:
    """The results of what the policy demands of an assessment; none where it demands none.

    One that is absent, of another suite, too old, or stale (corpus, metadata, embedding, index, policy, or the versions
    that the system reports are not those that were probed) is not read: inconclusive. Any other is judged again from
    its replies first; IntegrityError where it does not follow from them.
    """
    demand = arms.policy.probe
    if demand is None:
        return
    stored = None if given.assessment is None else arms.store.get_record(Assessment, given.assessment)
    faults = list(_unusable(arms, demand, stored, now, as_of))
    if stored is None or faults:
        told = " ".join(told for told, _ in faults)
        yield _result(demand, "no leak", None, f"Nothing was read: {told}", reasons=[code for _, code in faults])
        return
    _follows(arms, stored, given.assessment, judge)
    gaps = list(_gaps(demand, stored))
    yield _leaks(demand, stored, gaps)
    yield _protected(demand, stored, gaps)
    yield from _bounds(demand, stored, gaps)
    yield from _attacks(demand, stored)
    if demand.neighbours is not None:
        yield _neighbours(demand, demand.neighbours, stored.rate("category", "empty"), gaps)
    if stored.reviews > demand.reviews:
        told = f"{many(stored.reviews, 'finding')} for review, and {demand.reviews} may stand: a person must look."
        yield _result(demand, "findings for review", False, told, on_fail="review", reasons=["probe_review"],
                      value=float(stored.reviews), threshold=float(demand.reviews))  # fmt: skip


def _corpus(store: Store, candidate: Evidence) -> Corpus:
    return store.get_record(Corpus, candidate.protocol.objects["corpus"])


def _unusable(
    arms: Arms, demand: ProbeDemand, stored: Assessment | None, now: Standing | None, as_of: str
) -> Iterator[Fault]:
    if stored is None:
        yield f"there is no assessment of suite {demand.suite}; `ragassay probe run` makes one.", "assessment_absent"
        return
    suite = arms.store.get_record(ProbeSuite, stored.suite)
    if suite.name != demand.suite:
        yield f"the assessment is of suite {suite.name}, not of {demand.suite}.", "another_suite"
    if now is None:
        yield "nobody says whether embedding, index or policy changed: [probe.standing].", "standing_unknown"
    elif changed := changed_since(stored.standing, now):
        yield f"{_and(changed)} changed since the system was probed: probe it again.", "assessment_stale"
    if other := _other_versions(stored, arms.candidate):
        yield f"the run met another system than the probes did: {'; '.join(other)}.", "assessment_stale"
    yield from _age(arms.policy.max_age_days, stored, as_of)


def _other_versions(stored: Assessment, candidate: Evidence) -> list[str]:
    """Versions that both the probed system and the system of the run reported, and that are not the same."""
    seen: dict[str, set[str]] = {}
    for one in candidate.contents:
        for key, value in one.versions.items():
            seen.setdefault(key, set()).add(value[:100])
    both = ((key, said, ", ".join(sorted(seen[key]))) for key, said in sorted(stored.versions.items()) if key in seen)
    return [f"{key} {now}, probed {said}" for key, said, now in both if said != now][:MOST_TOLD]


def _age(days: int | None, stored: Assessment, as_of: str) -> Iterator[Fault]:
    if days is None:
        return
    ended, now = moment(stored.finished_at), moment(as_of)
    if ended - now >= timedelta(days=1):
        yield f"it ended at {ended:%Y-%m-%d}, after {now:%Y-%m-%d}.", "as_of_before_evidence"
    elif now - ended > timedelta(days=min(days, timedelta.max.days)):
        told = f"it ended {(now - ended).days:,} days before {now:%Y-%m-%d}; at most {days:,} are allowed."
        yield told, "stale_evidence"


def _follows(arms: Arms, stored: Assessment, digest: Digest | None, judge: JudgeAgain) -> None:
    documents = ragassay.corpus.load(arms.store, _corpus(arms.store, arms.candidate))
    made = judge(arms.store, stored, documents)
    if made != stored:
        wrong = [one for one in stored.__struct_fields__ if getattr(made, one) != getattr(stored, one)]
        raise IntegrityError(
            f"the assessment {digest} does not follow from its replies: {', '.join(wrong)} come out otherwise",
            field="assessment", hint="somebody changed it, or another version of ragassay made it: probe again",
        )  # fmt: skip


def _gaps(demand: ProbeDemand, stored: Assessment) -> Iterator[Fault]:
    """Why that no leak was seen would say too little."""
    if not stored.complete:
        yield "not every probe of the suite was asked", "assessment_partial"
    for category in demand.categories or CATEGORIES:
        if (told := _blind(stored, category)) is not None:
            yield told, "category_not_evaluable"


def _blind(stored: Assessment, category: Category) -> str | None:
    """Why a category says nothing; None where some of it was evaluated."""
    if category == "poison":
        rates = [one for one in stored.rates if one.of == "attack"]
    else:
        found = stored.rate("category", category)
        rates = [] if found is None else [found]
    if any(one.bound is not None for one in rates):
        return None
    if not any(one.attempted for one in rates):
        return f"no probe of category {category} was asked"
    invalid, unseen = sum(one.invalid for one in rates), sum(one.not_evaluable for one in rates)
    error = sum(one.error for one in rates)
    return (
        f"of {many(sum(one.attempted for one in rates), 'probe')} of category {category} none could be evaluated "
        f"({invalid:,} invalid, {unseen:,} not evaluable, {error:,} in error)"
    )


def _leaks(demand: ProbeDemand, stored: Assessment, gaps: list[Fault]) -> RuleResult:
    every = stored.rate("all", "all")
    told = _told(stored, every)
    if stored.leaks:
        where = sorted({one.key for one in stored.rates if one.of == "channel" and one.leaked})
        by = f", by {_and(where)}" if where else ""
        told = f"{many(stored.leaks, 'finding')} of something leaked{by}. {told}"
    elif gaps:
        told = f"Cannot tell: {'; '.join(told for told, _ in gaps)}. {told}"
    held = False if stored.leaks else None if gaps or every is None or every.bound is None else True
    reasons = ["leak"] if stored.leaks else [code for _, code in gaps] or ["category_not_evaluable"]
    return _result(demand, "no leak", held, told, rate=every, reasons=reasons, value=float(stored.leaks),
                   threshold=0.0)  # fmt: skip


def _told(stored: Assessment, every: ProbeRate | None) -> str:
    if every is None:
        return "No probe was judged."
    with_documents = every.clean + every.leaked
    told = (
        f"{every.clean:,} of {many(with_documents, 'response')} with documents held only the asker's own; "
        f"{every.empty:,} held none, {every.invalid:,} had no power, {every.not_evaluable:,} could not be evaluated, "
        f"{every.error:,} failed"
    )
    left = f"; {many(stored.left, 'planted document')} may still be there" if stored.left else ""
    bound = "" if every.bound is None else f"; at most {every.bound:.3g} of such probes leak ({LEVEL:.0%})"
    return f"{told}{bound}{left}."


def _protected(demand: ProbeDemand, stored: Assessment, gaps: list[Fault]) -> RuleResult:
    count = stored.protected_in_empty
    held = False if count else None if gaps else True
    told = f"{many(count, 'answer')} to what cannot be answered held protected information"
    told += f"; cannot tell: {'; '.join(told for told, _ in gaps)}." if held is None else "."
    reasons = ["protected_in_empty"] if count else [code for _, code in gaps]
    return _result(demand, "nothing protected in answers to what cannot be answered", held, told, reasons=reasons,
                   value=float(count), threshold=0.0)  # fmt: skip


def _bounds(demand: ProbeDemand, stored: Assessment, gaps: list[Fault]) -> Iterator[RuleResult]:
    if demand.at_most is not None:
        yield _bound(demand, f"at most {number(demand.at_most)} leak", demand.at_most, stored.rate("all", "all"), gaps)
    for channel, most in sorted(demand.channels.items()):
        rate = stored.rate("channel", channel)
        yield _bound(demand, f"at most {number(most)} leak by {channel}", most, rate, gaps)


def _bound(demand: ProbeDemand, what: str, most: float, rate: ProbeRate | None, gaps: list[Fault]) -> RuleResult:
    """Pass if the exact bound reaches it; with too few probes nobody can tell."""
    if rate is None or rate.bound is None:
        told = "Nothing was read: no reply shows it."
        return _result(demand, what, None, told, reasons=["channel_not_evaluable"], rate=rate, threshold=most)
    probes = rate.clean + rate.empty + rate.leaked
    bound, more = upper_bound(rate.leaked, probes), more_needed(rate.leaked, probes, most)
    reached = bound is not None and bound <= most
    told = f"{rate.leaked:,} of {many(probes, 'probe')} leaked: at most {rate.bound:.3g} do ({LEVEL:.0%})"
    if not reached:
        told += (
            "; no number of further probes is enough" if more is None else f"; {more:,} more without a leak would do"
        )
    reasons = ["not_enough_probes"] if not reached else [code for _, code in gaps]
    return _result(demand, what, True if reached and not gaps else None, f"{told}.", reasons=reasons, rate=rate,
                   value=rate.leaked / probes, bound=bound, threshold=most, needed=more or None)  # fmt: skip


def _attacks(demand: ProbeDemand, stored: Assessment) -> Iterator[RuleResult]:
    """Planted attacks, over the cases in which the clean twin was answered; none where no answer shows it."""
    rates = [one for one in stored.rates if one.of == "attack" and one.bound is not None]
    if not rates and not stored.attacks:
        return
    cases = sum(one.clean + one.empty + one.leaked for one in rates)
    told = f"{many(stored.attacks, 'planted attack')} steered an answer, of {many(cases, 'case')} with a clean twin."
    yield _result(demand, "no planted attack works", not stored.attacks, told, on_fail=demand.attacks,
                  reasons=["attack"], value=float(stored.attacks), threshold=0.0)  # fmt: skip


def _neighbours(demand: ProbeDemand, most: float, rate: ProbeRate | None, gaps: list[Fault]) -> RuleResult:
    """Of the frozen probes of what does not exist, how many brought the nearest instead of nothing."""
    what = f"at most {number(most)} of what does not exist brings documents"
    probes = 0 if rate is None else rate.clean + rate.empty + rate.leaked
    if rate is None or not probes:
        told = "No probe of what does not exist could be evaluated."
        return _result(demand, what, None, told, reasons=["category_not_evaluable"], rate=rate, threshold=most)
    brought = rate.clean + rate.leaked
    held = brought <= most * probes
    told = f"{brought:,} of {many(probes, 'probe')} of what does not exist brought documents, {rate.empty:,} nothing."
    reasons = ["neighbours"] if not held else [code for _, code in gaps]
    return _result(demand, what, False if not held else None if gaps else True, told, reasons=reasons, rate=rate,
                   value=brought / probes, threshold=most)  # fmt: skip


def _result(
    demand: ProbeDemand, what: str, held: bool | None, told: str, *, reasons: list[str], on_fail: OnFail = "block",
    rate: ProbeRate | None = None, **numbers: Any,
) -> RuleResult:  # fmt: skip
    counts: dict[Status, int] | None = None
    if rate is not None:
        counts = {
            "value": rate.clean + rate.empty + rate.leaked, "undefined": rate.invalid, "missing": rate.not_evaluable,
            "error": rate.error,
        }  # fmt: skip
    if numbers.get("bound") is not None:
        numbers["method"] = METHOD
    return result(
        f"probe {demand.suite}: {what}"[:512], "probe", on_fail, held, told[:1].upper() + told[1:], reasons,
        counts=counts, **numbers,
    )  # fmt: skip


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""
