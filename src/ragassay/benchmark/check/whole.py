"""All findings over one sealed benchmark as one record. Reads no store and asks no system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ragassay.benchmark.check import easy as lexical
from ragassay.benchmark.check.contradictions import NOTHING_SHARED, contradictions
from ragassay.benchmark.check.labels import cut_of, labels
from ragassay.benchmark.check.material import Library, Limits, Question, Split, questions
from ragassay.benchmark.check.model import LEVELS, Check, Finding, Stratum
from ragassay.benchmark.check.repeats import repeats
from ragassay.benchmark.check.slices import VOCABULARY, Rule, count_slices, derive, missing_slices
from ragassay.benchmark.check.truth import completeness, labelling, truth
from ragassay.errors import UsageError
from ragassay.records.case import Benchmark, Case
from ragassay.records.document import Document, Passage, Segmentation

NO_LIMITS = Limits()


def check(
    benchmark: Benchmark,
    cases: Sequence[Case],
    documents: Iterable[Document],
    *,
    segmentation: Segmentation | None = None,
    passages: Iterable[Passage] = (),
    against: Split | None = None,
    limits: Limits = NO_LIMITS,
    vocabulary: Sequence[Rule] = VOCABULARY,
) -> Check:
    """What is wrong, weak or worth knowing about a benchmark, with counts, names, reasons and what to do.

    Parameters
    ----------
    benchmark, cases
        As `benchmark.build` made and `benchmark.load` loads them.
    documents
        Those of the corpus that the benchmark names, as `corpus.load` gives them.
    segmentation, passages
        How the corpus was cut; without it nothing is said about labels and passages.
    against
        Another benchmark, such as dev against release: its questions are compared, its own faults are not listed.
        Splits of one benchmark are told by slices `split=dev`, `split=release`.
    limits
        Thresholds.
    vocabulary
        The slices that should be there, and how each is recognised.

    The order of cases and documents changes nothing. A further case takes no other question off a list of questions.
    Raises UsageError if the segmentation is of another corpus, or the benchmark is compared with itself.
    """
    _check_arguments(benchmark, segmentation, against)
    library = Library(documents)
    own = questions(Split(benchmark, cases), library)
    other = questions(against, library, foreign=True) if against is not None else []
    asked = [*own, *other]
    copied = lexical.copied(asked, library, limits)
    easy = frozenset(one.query_id for one in copied)
    counted = count_slices(asked, library, limits, vocabulary)
    derived = derive(own, library, limits, easy, vocabulary)
    labelled = labelling(asked, benchmark, library)
    contradicting = contradictions(asked)
    disagree = [place for one in contradicting for place in one.places if place.detail == NOTHING_SHARED]
    found = [
        *labels(
            asked,
            limits,
            by_document=benchmark.relevance_unit == "document",
            cut=cut_of(passages) if segmentation is not None else None,
        ),
        *truth(asked),
        *repeats(asked, limits),
        *contradicting,
        *lexical.easy(asked, copied),
        *completeness(asked, labelled, library, disagree),
        *missing_slices(counted),
    ]
    return Check(
        name=benchmark.name,
        version=benchmark.version,
        benchmark=benchmark.identity(),
        corpus=benchmark.corpus,
        segmentation=segmentation.identity() if segmentation is not None else None,
        against=against.benchmark.name if against is not None else None,
        cases=len(own),
        clusters=len({one.case.cluster for one in own}),
        easy=len(easy),
        strata=_strata(own, easy, derived),
        slices=counted,
        labelling=labelled,
        derived=derived,
        findings=tuple(_in_order(found)),
    )


def _check_arguments(benchmark: Benchmark, segmentation: Segmentation | None, against: Split | None) -> None:
    if segmentation is not None and segmentation.corpus != benchmark.corpus:
        raise UsageError(
            "the segmentation cuts another corpus than the one that the benchmark names",
            field="segmentation",
            hint="cut the benchmark's corpus, or leave the segmentation out",
        )
    if against is not None and (against.benchmark.corpus, against.benchmark.cases_digest) == (
        benchmark.corpus,
        benchmark.cases_digest,
    ):
        raise UsageError(
            "a benchmark is compared with itself", field="against", hint="name another one, such as dev for release"
        )


def with_derived(cases: Iterable[Case], checked: Check) -> list[Case]:
    """The cases with the slices that were derived for them added, for a further version of the benchmark."""
    return [
        msgspec.structs.replace(
            case, slice=(*case.slice, *(one for one in checked.derived.get(case.query_id, ()) if one not in case.slice))
        )
        for case in cases
    ]


def _in_order(found: Sequence[Finding]) -> list[Finding]:
    return sorted(found, key=lambda one: LEVELS.index(one.level))


def _strata(own: Sequence[Question], easy: frozenset[str], derived: dict[str, tuple[str, ...]]) -> tuple[Stratum, ...]:
    every: Counter[tuple[str, str]] = Counter()
    copied: Counter[tuple[str, str]] = Counter()
    for one in own:
        for key in _values(one.case, derived[one.case.query_id]):
            every[key] += 1
            copied[key] += one.case.query_id in easy
    return tuple(
        Stratum(dimension=dimension, value=value, cases=number, easy=copied[dimension, value])
        for (dimension, value), number in sorted(every.items())
    )


def _values(case: Case, derived: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The strata of a case, each once."""
    yield "class", case.class_ or "answerable"
    yield "answerable", case.answerable or "not stated"
    yield "risk", case.risk or "not stated"
    who = case.principal
    yield "principal", who.id if who is not None else "none"
    for tenant in sorted(set(who.tenants)) if who is not None else ():
        yield "tenant", tenant
    for one in case.slice:
        dimension, equals, value = one.partition("=")
        yield ("slice", one) if not equals else (f"slice {dimension}", value)
    for one in derived:
        dimension, equals, value = one.partition("=")
        if equals and dimension != "derived:lexical":
            yield dimension, value
