"""Cases and documents prepared once for every finding: questions, relevant labels, who asks. Judges nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragassay.benchmark.check.model import Finding, Level, Place
from ragassay.corpus.access import visible
from ragassay.measures.text import normalise_unicode
from ragassay.records.case import Benchmark, Case, Evidence
from ragassay.records.document import Document

Context = tuple[object, ...]


class Split(NamedTuple):
    """A benchmark and its cases."""

    benchmark: Benchmark
    cases: Sequence[Case]


class Limits(NamedTuple):
    """The thresholds of the check, each of them a convention."""

    alike: float = 0.75
    """Least Jaccard similarity of the trigrams of two questions that are called nearly equal."""
    heading: float = 0.8
    """Least share of a question, weighted by the rarity of its words, that stands in one heading of its evidence."""
    label_words: int = 200
    """A label of more word tokens is overlong."""
    label_share: float = 0.8
    """So is one that covers this part of its document, unless it is short."""
    short_label_words: int = 50
    """A label of at most so many words is never overlong."""
    short_question_words: int = 4
    """A question of at most so many words is short."""
    compared_pairs: int = 5_000_000
    """The search for nearly equal questions stops after so many comparisons, and says so."""
    listed_pairs: int = 50_000
    """Pairs of nearly equal questions that are listed; the others are counted only."""


class Labelled(NamedTuple):
    """A label and the document that it lies on; None if the corpus does not hold it."""

    label: Evidence
    document: Document | None


@dataclass(frozen=True, slots=True)
class Question:
    """One case with what several findings need of it."""

    case: Case
    rel: int
    side: str
    """Which split it belongs to: the value of its slice `split=…`; for the other benchmark, its name."""
    foreign: bool
    """It belongs to the benchmark that is compared, not to the one that is checked."""
    text: str
    """The question, normalised; two questions with equal texts are the same words."""
    context: Context
    """Who asks, after which history, at what time: only within one context are two questions compared."""
    labels: tuple[Labelled, ...]

    @property
    def relevant(self) -> tuple[Labelled, ...]:
        """Labels at or above the least relevant grade."""
        return tuple(one for one in self.labels if one.label.grade >= self.rel)

    @property
    def shown(self) -> tuple[Labelled, ...]:
        """Relevant labels that the principal may see; a label on a document that is not there counts as seen."""
        who = self.case.principal
        return tuple(one for one in self.relevant if who is None or one.document is None or visible(one.document, who))


class Library:
    """The documents of the corpus, found by label."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = list(documents)
        self.by_version = {(one.document_id, one.version): one for one in self.documents}
        self.versions: dict[str, list[Document]] = defaultdict(list)
        for one in self.documents:
            self.versions[one.document_id].append(one)

    def of(self, label: Evidence) -> Document | None:
        """The document that a label lies on; without a version, the only one of that id."""
        if label.version is not None:
            return self.by_version.get((label.document_id, label.version))
        found = self.versions.get(label.document_id, ())
        return found[0] if len(found) == 1 else None


def questions(split: Split, library: Library, *, foreign: bool = False) -> list[Question]:
    """The cases of a split, prepared, in the order of their ids."""
    return [_question(case, split.benchmark, library, foreign) for case in sorted(split.cases, key=_id)]


def _id(case: Case) -> str:
    return case.query_id


def _question(case: Case, benchmark: Benchmark, library: Library, foreign: bool) -> Question:
    declared = [one.partition("=")[2] for one in case.slice if one.startswith("split=")]
    side = declared[0] if declared else ""
    if foreign:
        side = f"{benchmark.name}/{side}" if side else benchmark.name
    return Question(
        case=case,
        rel=benchmark.rel,
        side=side,
        foreign=foreign,
        text=same_words(case.query),
        context=circumstances(case),
        labels=tuple(Labelled(one, library.of(one)) for one in case.evidence or ()),
    )


def same_words(text: str) -> str:
    """A text in the form in which equal words are equal; one of signs only stays as it is but for white space."""
    return normalise_unicode(text) or " ".join(text.split())


def circumstances(case: Case) -> Context:
    """Who asks, after which history, at what time: only within one of these are two questions compared."""
    who = case.principal
    asker = None if who is None else (who.id, frozenset(who.tenants), frozenset(who.roles), frozenset(who.groups))
    history = () if case.conversation is None else case.conversation.history
    turns = tuple((turn.role, same_words(turn.text)) for turn in history)
    return (asker, turns, case.valid_from, case.valid_until)


def finding(
    code: str,
    level: Level,
    noun: str,
    what: str,
    *,
    why: str,
    do: str,
    places: Iterable[Place],
    count: int | None = None,
) -> list[Finding]:
    """One finding with its places sorted, or none if there is no place and no count."""
    listed = tuple(sorted(places, key=_order))
    number = len(listed) if count is None else count
    if not number:
        return []
    own = {one.query_id for one in listed if one.query_id is not None}
    own |= {one.other for one in listed if one.other is not None and one.other_side is None}
    return [
        Finding(
            code=code,
            level=level,
            count=number,
            noun=noun,
            what=what,
            why=why,
            do=do,
            places=listed,
            questions=tuple(sorted(own)),
        )
    ]


def _order(place: Place) -> tuple[str, ...]:
    return (
        place.query_id or "",
        place.name or "",
        place.evidence_id or "",
        place.fact_id or "",
        place.other_side or "",
        place.other or "",
        place.detail or "",
    )
