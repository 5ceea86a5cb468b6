"""The vocabulary of slices, which case is in which, and slices derived from evidence documents. Seals nothing.

What a rule recognises is never mixed with what a person declared: both are counted, and every derived slice begins with
`derived:`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ragassay.benchmark.check.material import Library, Limits, Question, finding
from ragassay.benchmark.check.model import Finding, Place, SliceCount
from ragassay.benchmark.check.negation import LANGUAGES, negates
from ragassay.corpus.words import words
from ragassay.records.document import Document

PREFIX = "derived:"
_TERM = re.compile(
    r"""["“„«「`][^"”“»」`]{2,}["”“»」`]  # quoted
    | \b\w*[a-z][A-Z]\w*\b               # camelCase
    | \b[^\W_]+(?:_+[^\W_]+)+\b | \w\.\w+\(       # snake_case, a.call(
    | \b(?=\w*[^\W\d_])(?=\w*\d)\w{2,}\b # letters with digits: E404, v2
    | \b[A-Z]{3,}\b                      # ABC
    | (?<!\w)--?[a-z][\w-]+              # --flag
    """,
    re.VERBOSE,
)
_TYPE_KEYS = ("type", "doc_type", "document_type", "kind", "category")
_LANGUAGE_KEYS = ("language", "lang")
_UPDATE_KEYS = ("update_frequency", "update", "freshness")
_INTERVALS = ((2, "daily"), (10, "weekly"), (45, "monthly"), (120, "quarterly"), (550, "yearly"))
"""Median days between the versions of a document, at most -> how it is called; beyond: rarely."""


class Rule(NamedTuple):
    """One slice of the vocabulary: how it is spelled, and how it is recognised where no one declared it."""

    name: str
    how: str
    recognise: Callable[[Question, Library, Limits], bool] | None = None
    spellings: tuple[str, ...] = ()
    """Other words for it; spaces, `-` and `_` are one, and case does not count."""


def language_of(one: Question) -> str:
    """The language of a question: its slice `language=…`, else that of its evidence documents, else `en`."""
    for declared in one.case.slice:
        dimension, _, value = declared.partition("=")
        if dimension in _LANGUAGE_KEYS and value:
            return value
    found = {each for document in _documents(one) for each in _values(document, _LANGUAGE_KEYS)}
    return min(found) if len(found) == 1 else "en"


def spread(one: Question) -> str | None:
    """`single` or `multi`: how many documents the answer needs; None if the labels do not tell.

    With required facts: single if one document carries a whole set of each. Without: single if all relevant labels are
    on one document, or some label is of grade 3 in the native rubric (it suffices alone); multi if there are only
    grades of 2 on several. Other rubrics do not say whether two relevant documents are both needed.
    """
    named = {each.label.id: str(each.label.document_id) for each in one.relevant}
    required = [fact for fact in one.case.facts if fact.required]
    if required:
        carried = [{frozenset(named.get(piece, "") for piece in group) for group in fact.any_of} for fact in required]
        if any(all("" in group for group in groups) for groups in carried):
            return None
        alone = [{name for group in groups if len(group) == 1 for name in group if name} for groups in carried]
        return "single" if set.intersection(*alone) else "multi"
    if len(set(named.values())) == 1:
        return "single"
    if not named or one.rel != 2:
        return None
    return "single" if any(each.label.grade >= 3 for each in one.relevant) else "multi"


def _timed(one: Question, library: Library, _: Limits) -> bool:
    if one.case.valid_from or one.case.valid_until:
        return True
    return any(document.valid_until or len(library.versions[document.document_id]) > 1 for document in _documents(one))


def _short(one: Question, _: Library, limits: Limits) -> bool:
    text = one.case.query
    return sum(text[start].isalnum() for start, _end in words(text)) <= limits.short_question_words


VOCABULARY: tuple[Rule, ...] = (
    Rule("frequent", "only logs tell: declare it", spellings=("head", "common")),
    Rule("long-tail", "only logs tell: declare it", spellings=("rare", "tail", "longtail")),
    Rule("short", "few words (limits.short_question_words)", _short),
    Rule("constrained", "only a person tells: declare it", spellings=("filtered", "constraint", "constraints")),
    Rule(
        "exact-terminology",
        "a quoted term, code, acronym, or word of letters and digits: a heuristic",
        lambda one, _library, _limits: _TERM.search(one.case.query) is not None,
        ("exact-term", "exact-match", "identifier", "terminology"),
    ),
    Rule(
        "paraphrase",
        "paraphrase_of",
        lambda one, _library, _limits: one.case.paraphrase_of is not None,
        ("paraphrased",),
    ),
    Rule(
        "single-document",
        "one document carries all required facts, or all relevant labels",
        lambda one, _library, _limits: spread(one) == "single",
        ("single-doc",),
    ),
    Rule(
        "multi-document",
        "no one document carries all required facts, or labels of grade 2 on several",
        lambda one, _library, _limits: spread(one) == "multi",
        ("multi-doc", "multi-hop"),
    ),
    Rule(
        "time-sensitive",
        "valid_from or valid_until, or evidence on a document that has other versions or an end",
        _timed,
        ("temporal", "freshness"),
    ),
    Rule(
        "negation",
        f"a list of words ({', '.join(LANGUAGES)}; English where no language is declared): a heuristic",
        lambda one, _library, _limits: negates(one.case.query, language_of(one)),
        ("negated", "negative"),
    ),
    Rule(
        "permission",
        "a principal, or class cross_tenant",
        lambda one, _library, _limits: one.case.principal is not None or one.case.class_ == "cross_tenant",
        ("permissions", "access", "authorization"),
    ),
    Rule(
        "unanswerable",
        "answerable: no",
        lambda one, _library, _limits: one.case.answerable == "no",
        ("no-answer",),
    ),
)
"""The slices that a benchmark of retrieval-augmented generation should have."""


def count_slices(
    asked: Sequence[Question], library: Library, limits: Limits, vocabulary: Sequence[Rule] = VOCABULARY
) -> tuple[SliceCount, ...]:
    """How many cases of the benchmark declare each slice of the vocabulary, and how many its rule recognises."""
    own = [one for one in asked if not one.foreign]
    said = [{_plain(word) for declared in one.case.slice for word in _readings(declared)} for one in own]
    rows = []
    for rule in vocabulary:
        spelled = {_plain(word) for word in (rule.name, *rule.spellings)}
        declared = [not spelled.isdisjoint(each) for each in said]
        seen = [rule.recognise is not None and rule.recognise(one, library, limits) for one in own]
        rows.append(
            SliceCount(
                name=rule.name,
                declared=sum(declared),
                recognised=sum(seen),
                either=sum(one or other for one, other in zip(declared, seen, strict=True)),
                how=rule.how,
                derivable=rule.recognise is not None,
            )
        )
    return tuple(rows)


def _readings(declared: str) -> tuple[str, ...]:
    """A slice as written, and for `dimension=value` each part: `freshness=2026-Q3` and `length=short` both count."""
    dimension, equals, value = declared.partition("=")
    return (declared, dimension, value) if equals else (declared,)


def _plain(word: str) -> str:
    return re.sub(r"[\s_-]+", "-", word.strip().casefold())


def missing_slices(counted: Sequence[SliceCount]) -> list[Finding]:
    """Slices of the vocabulary that no case declares and no rule recognises."""
    return finding(
        "missing_slice",
        "weak",
        "slice",
        "of the vocabulary with no case, neither declared nor recognised",
        why="a system that fails on such questions scores the same as one that does not",
        do="write cases of it and name the slice, or say in notes why it cannot come up",
        places=[Place(name=one.name) for one in counted if not one.either],
    )


def derive(
    asked: Sequence[Question],
    library: Library,
    limits: Limits,
    copied: frozenset[str],
    vocabulary: Sequence[Rule] = VOCABULARY,
) -> dict[str, tuple[str, ...]]:
    """Slices of each case from its evidence documents and from the rules, all beginning with `derived:`.

    `derived:type=`, `derived:language=` and `derived:update=` are those of the documents with relevant evidence (one
    each, where they differ); `derived:lexical=copied` or `=free` parts the lexically easy from the others, so that
    scores by slice show both; `derived:NAME` is a rule of the vocabulary. A case without relevant evidence has no
    lexical slice.
    """
    found: dict[str, tuple[str, ...]] = {}
    for one in asked:
        if one.foreign:
            continue
        names = {
            f"{PREFIX}{rule.name}" for rule in vocabulary if rule.recognise and rule.recognise(one, library, limits)
        }
        for document in _documents(one):
            names |= {f"{PREFIX}type={each}" for each in _types(document)}
            names |= {f"{PREFIX}language={each}" for each in _values(document, _LANGUAGE_KEYS)}
            names |= {f"{PREFIX}update={each}" for each in _updates(document, library)}
        if one.relevant:
            names.add(f"{PREFIX}lexical={'copied' if one.case.query_id in copied else 'free'}")
        found[one.case.query_id] = tuple(sorted(name for name in names if len(name) <= 512))
    return found


def _documents(one: Question) -> list[Document]:
    return [each.document for each in one.relevant if each.document is not None]


def _values(document: Document, keys: Sequence[str]) -> list[str]:
    """The first of these keys that the metadata hold, in words."""
    for key in keys:
        value = document.metadata.get(key)
        if value is not None and value != "":
            return sorted({str(one) for one in value}) if isinstance(value, list) else [str(value)]
    return []


def _types(document: Document) -> list[str]:
    """The type of a document: as its metadata say, else the ending of an id that looks like a file's name."""
    ending = re.search(r"\.([A-Za-z][A-Za-z0-9]{0,4})$", document.document_id)
    return _values(document, _TYPE_KEYS) or ([ending[1].lower()] if ending else [])


def _updates(document: Document, library: Library) -> list[str]:
    """How often a document changes: as its metadata say, else by the median time between its versions' beginnings."""
    declared = _values(document, _UPDATE_KEYS)
    if declared:
        return declared
    versions = library.versions[document.document_id]
    if len(versions) == 1:
        return ["one-version"]
    began = sorted(datetime.fromisoformat(one.valid_from) for one in versions if one.valid_from)
    if len(began) < 2:
        return ["several-versions"]
    days = median((later - earlier).total_seconds() / 86_400 for earlier, later in pairwise(began))
    return [next((name for most, name in _INTERVALS if days <= most), "rarely")]
