"""The scoring rules a second time: sets of single characters, plain loops, no code of the product's scoring rooms.

Written from the written rules alone, so that a difference is a fault of one of the two. Slow on purpose.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ragassay.records.case import Case, Evidence
from ragassay.records.document import Document, Passage
from ragassay.records.trace import Item

Char = tuple[str, int]
"""(equivalence class of the document, offset)"""
PASS = {"fuse", "rerank", "dedup", "assemble", "guard", "cite"}
SOURCE = {"lexical", "vector", "fetch", "tool"}
DECLINED = {"abstained", "clarified", "escalated"}
TOKEN = re.compile(
    "(?P<one>[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff])|\\w|[^\\w\\s]"
)


class Row(NamedTuple):
    """value, undefined, missing or error; `low` and `high` where a missing value is bounded."""

    status: str
    value: float | None = None
    numerator: float | None = None
    denominator: float | None = None
    low: float | None = None
    high: float | None = None


UNDEFINED, MISSING, ERROR = Row("undefined"), Row("missing"), Row("error")


def ratio(numerator: float, denominator: float) -> Row:
    return Row("value", numerator / denominator, numerator, denominator)


def spelled(measure: str) -> tuple[str, dict[str, str], int | None]:
    """`recall(rel=2,unit=document)@20` in three parts."""
    found = re.fullmatch(r"(\w+)(?:\(([^)]*)\))?(?:@(\d+))?", measure)
    assert found, measure
    options = dict(one.split("=") for one in (found[2] or "").split(",") if one)
    return found[1], options, int(found[3]) if found[3] else None


def count_tokens(text: str) -> int:
    """Runs of word characters; characters of scripts without spaces one by one; other marks one by one."""
    total, inside = 0, False
    for char in text:
        found = TOKEN.match(char)
        if found is None:
            inside = False
        elif found["one"] or not re.match(r"\w", char):
            total, inside = total + 1, False
        else:
            total, inside = total + (not inside), True
    return total


def normal(text: str) -> list[str]:
    """SQuAD 1.1: lower case, no punctuation, no articles, single spaces."""
    text = "".join(char for char in text.lower() if char not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


class Naive:
    """One corpus, and the scores of single traces over it."""

    def __init__(
        self, documents: Sequence[Document], passages: Sequence[Passage] | None, *, texts: Mapping[str, str],
        hold: float = 1.0, complete: bool = False,
    ) -> None:  # fmt: skip
        self.documents = {(one.document_id, one.version): one for one in documents}
        self.passages, self.texts = passages, texts
        self.by_id = {one.passage_id: one for one in passages or ()}
        self.hold, self.complete = Fraction(hold), complete
        self.classes: dict[tuple[str, str], str] = {}
        for key, one in self.documents.items():
            entry = one.entry()
            self.classes[key] = f"{entry.text_digest} {entry.auth_digest}"
        self.text = {self.classes[key]: one.text for key, one in self.documents.items()}
        self._shown: dict[tuple[Any, ...], frozenset[Char]] = {}

    # -- labels

    def sees(self, case: Case, evidence: Evidence) -> bool:
        """Whether the label's document is visible to the case's principal (a dangling label stays)."""
        one, who = self.documents.get((evidence.document_id, evidence.version or "")), case.principal
        if one is None or who is None:
            return True
        tenants = set(one.tenants or ())
        if not ("*" in tenants or tenants & set(who.tenants)):
            return False
        acl = one.acl
        return acl is None or bool(
            who.id in acl.users or set(acl.groups) & set(who.groups) or set(acl.roles) & set(who.roles)
        )

    def place(self, document_id: str, version: str | None) -> str:
        return self.classes.get((document_id, version or ""), f"outside {document_id} {version}")

    def visible(self, case: Case) -> list[Evidence] | None:
        return None if case.evidence is None else [one for one in case.evidence if self.sees(case, one)]

    def distinct(self, evidence: Iterable[Evidence]) -> dict[tuple[Any, ...], int]:
        """Distinct places (document class, start, end) with their best grade."""
        grades: dict[tuple[Any, ...], int] = {}
        for one in evidence:
            key = (self.place(one.document_id, one.version), one.start, one.end)
            grades[key] = max(grades.get(key, one.grade), one.grade)
        return grades

    def text_of(self, place: str) -> str:
        return self.text.get(place, "")

    def inked(self, place: str, start: int, end: int) -> set[Char]:
        """Characters that are not white space."""
        text = self.text_of(place)
        return {(place, at) for at in range(start, min(end, len(text))) if not text[at].isspace()}

    def wanted(self, key: tuple[Any, ...]) -> frozenset[Char]:
        if key not in self._shown:
            self._shown[key] = frozenset(self.inked(*key))
        return self._shown[key]

    # -- items

    def known(self, item: Item) -> bool:
        return bool(item.sources) and item.transform != "derived"

    def chars(self, item: Item) -> frozenset[Char]:
        """What of the corpus an item shows; kept, since one item stands in many lists."""
        key = self.same(item)
        if key not in self._shown:
            self._shown[key] = frozenset(self._chars(item))
        return self._shown[key]

    def _chars(self, item: Item) -> set[Char]:
        found: set[Char] = set()
        if self.known(item):
            for one in item.sources:
                place = self.place(one.document_id, one.version)
                end = len(self.text_of(place)) if item.whole_document else one.end
                found |= self.inked(place, 0 if item.whole_document else one.start, end)
        return found

    def parents(self, item: Item) -> set[str]:
        return {self.place(one.document_id, one.version) for one in item.sources}

    def same(self, item: Item) -> tuple[Any, ...]:
        """Equal items have equal sources, else equal texts."""
        if item.sources:
            spans = {(self.place(one.document_id, one.version), one.start, one.end) for one in item.sources}
            return (item.whole_document, item.transform == "derived", *sorted(spans))
        return ("text", item.text_digest) if item.text_digest else ("id", item.item_id)

    def once(self, items: Iterable[Item]) -> list[Item]:
        first: dict[tuple[Any, ...], Item] = {}
        for one in items:
            first.setdefault(self.same(one), one)
        return list(first.values())

    def held(self, key: tuple[Any, ...], items: Sequence[Item], *, read: bool = False) -> str:
        """yes, no or ?; `read`: what a whole document covers is not known to have been read."""
        place, start, _ = key
        sure = [one for one in items if self.known(one)]
        if start is None:
            if any(place in self.parents(one) for one in items):
                return "yes"
        else:
            want = self.wanted(key)
            if not want:
                return "no" if len(sure) == len(items) else "?"
            sure_of = [self.chars(one) & want for one in sure if place in self.parents(one)]
            spans = [self.chars(one) & want for one in sure if not (read and one.whole_document)]
            if len(set().union(*spans)) >= self.hold * len(want):
                return "yes"
            if len(set().union(*sure_of)) >= self.hold * len(want):
                return "?"
        return "no" if len(sure) == len(items) else "?"

    # -- ranked lists

    def ranked(
        self, measure: str, evidence: list[Evidence] | None, items: Sequence[Item] | None, *, hidden: bool = False
    ) -> Row:
        name, options, k = spelled(measure)
        rel, unit = int(options.get("rel", 2)), options.get("unit", "evidence")
        if evidence is None or (unit == "passage" and self.passages is None):
            return MISSING
        grades = self.graded(evidence, unit)
        if name == "judged":
            if not evidence and hidden:
                return UNDEFINED
            return MISSING if items is None else self.judged(evidence, items, k)
        least = 1 if name == "ndcg" else rel
        ideal = sorted((one for one in grades.values() if one >= least), reverse=True)
        if not ideal:
            return UNDEFINED
        if items is None:
            return MISSING
        if unit == "passage" and any(self.known(one) and not self.is_passage(one) for one in items):
            return MISSING
        cut = self.firsts(grades, self.once(items)[: None if unit == "document" else k], unit)[:k]
        value = self.formula(name, [one for one, _ in cut], grades, ideal, least, k)
        start = next((at for at, (_, sure) in enumerate(cut) if not sure), None)
        if start is None:
            return value
        relevant = {key for key, grade in grades.items() if grade >= least}
        held = set().union(*(one for one, _ in cut))
        until = set().union(*(one for one, _ in cut[: start + 1]))
        before = set().union(*(one for one, _ in cut[:start]))
        decided = {"recall": relevant <= held, "hit": bool(relevant & held), "rr": bool(relevant & until)}
        return value if decided.get(name, relevant <= before) else MISSING

    def graded(self, evidence: list[Evidence], unit: str) -> dict[tuple[Any, ...], int]:
        grades = self.distinct(evidence)
        if unit == "evidence":
            return grades
        best: dict[tuple[Any, ...], int] = {}
        if unit == "document":
            for (place, _, _), grade in grades.items():
                best[(place,)] = max(best.get((place,), grade), grade)
            return best
        for passage in self.passages or ():
            carried = [grade for key, grade in grades.items() if self.carries(passage, key)]
            if carried:
                key = self.spot(passage)
                best[key] = max([*carried, best.get(key, min(carried))])
        return best

    def spot(self, passage: Passage) -> tuple[Any, ...]:
        return tuple(sorted((self.place(one.document_id, one.version), one.start, one.end) for one in passage.sources))

    def carries(self, passage: Passage, key: tuple[Any, ...]) -> bool:
        if passage.transform == "derived":
            return False
        place, start, _ = key
        if start is None:
            return any(self.place(one.document_id, one.version) == place for one in passage.sources)
        want = self.wanted(key)
        have: set[Char] = set()
        for one in passage.sources:
            have |= self.inked(self.place(one.document_id, one.version), one.start, one.end)
        return bool(want) and 2 * len(have & want) >= len(want)

    def firsts(
        self, grades: Mapping[tuple[Any, ...], int], items: Sequence[Item], unit: str
    ) -> list[tuple[set[tuple[Any, ...]], bool]]:
        """For each rank the labels that it is the first to hold for certain, and whether that is all it can hold."""
        found: list[tuple[set[tuple[Any, ...]], bool]] = []
        seen: set[tuple[Any, ...]] = set()
        for at, item in enumerate(items):
            if unit == "document":
                places = dict.fromkeys((self.place(one.document_id, one.version),) for one in item.sources)
                found += [({one}, True) for one in places if one not in seen] or [(set(), False)] * (not places)
                seen |= set(places)
                continue
            if unit == "passage":
                new = {self.spot_of(item)} & grades.keys() if self.known(item) else set()
            else:
                new = {key for key in grades if key not in seen and self.held(key, items[: at + 1]) == "yes"}
            found.append((new - seen, self.known(item)))
            seen |= new
        return found

    def is_passage(self, item: Item) -> bool:
        return self.spot_of(item) in {self.spot(one) for one in self.passages or ()}

    def spot_of(self, item: Item) -> tuple[Any, ...]:
        found = []
        for one in item.sources:
            place = self.place(one.document_id, one.version)
            found.append((place, 0, len(self.text_of(place))) if item.whole_document else (place, one.start, one.end))
        return tuple(sorted(found))

    def formula(
        self, name: str, cut: Sequence[set[tuple[Any, ...]]], grades: Mapping[tuple[Any, ...], int],
        ideal: Sequence[int], rel: int, k: int | None,
    ) -> Row:  # fmt: skip
        gains = [max([grades.get(key, 0) for key in one], default=0) for one in cut]
        if name == "recall":
            return ratio(sum(grades.get(key, 0) >= rel for one in cut for key in one), len(ideal))
        first = next((at for at, gain in enumerate(gains, 1) if gain >= rel), None)
        if name == "hit":
            return ratio(first is not None, 1)
        if name == "rr":
            return ratio(1, first) if first else Row("value", 0.0)
        if name == "precision":
            depth = k or len(cut)
            return ratio(sum(gain >= rel for gain in gains), depth) if depth else UNDEFINED
        assert name == "ndcg"
        top = ideal[:k]
        best = sum(gain / math.log2(at + 1) for at, gain in enumerate(top, 1))
        return ratio(sum(max(gain, 0) / math.log2(at + 1) for at, gain in enumerate(gains, 1)), best)

    def judged(self, evidence: list[Evidence], items: Sequence[Item], k: int | None) -> Row:
        labels = {key: grade for key, grade in self.distinct(evidence).items() if grade >= 0}
        marks: list[bool] = []
        for item in self.once(items):
            marks.append(bool(item.sources) and (self.complete or any(self.touches(item, key) for key in labels)))
        cut = marks[:k]
        depth = k or len(marks)
        if not depth:
            return UNDEFINED
        return ratio(sum(cut), depth)

    def touches(self, item: Item, key: tuple[Any, ...]) -> bool:
        place, start, _ = key
        return place in self.parents(item) if start is None else bool(self.chars(item) & self.wanted(key))
