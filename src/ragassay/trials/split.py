"""Which questions an experiment may be tried on: those for development. Reads no file and asks nothing."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Literal, NamedTuple

from ragassay import benchmark as benchmark_room
from ragassay.errors import AbsentError, UsageError
from ragassay.measures.text import normalise_unicode
from ragassay.records.base import Digest, QueryId
from ragassay.records.case import Benchmark, Case
from ragassay.records.protocol import Protocol, Run
from ragassay.records.score import ScoreTable
from ragassay.records.text import many
from ragassay.store import Store

Kind = Literal["dev", "release"]
WORDS: dict[Kind, frozenset[str]] = {
    "dev": frozenset({"dev", "development", "devel", "train", "training", "tune", "tuning", "val", "validation"}),
    "release": frozenset({"release", "test", "tests", "testing", "testset", "heldout", "holdout", "final", "blind"}),
}
"""Words by which a split is recognised, in the value of a slice `split=...` or in a name."""
DIMENSIONS = ("split", "subset", "set", "partition", "fold")
"""Dimensions of slices that may name a split; all but the first are looked at only where their value is such a word."""
ALONE = frozenset({"release", "test", "testset", "heldout", "holdout"})
"""Words that say *release* as a slice without a dimension, or as the beginning of every id. None says *dev*."""
_HINT = (
    'label them with the slice "split=dev", name their benchmark so, or say split = "dev" under [experiment] '
    "if they are questions for development"
)
_SHORT = 4
_INNER_CAPITAL = re.compile("(?<=[a-z])(?=[A-Z])")


class Split(NamedTuple):
    """The questions that may be asked, and who says that they are for development."""

    queries: frozenset[str]
    by: str
    left_out: int = 0
    """Questions of other splits in the same benchmark."""


def kind_of_name(name: str) -> Kind | None:
    """The split that stands in a name, such as clapnq-dev; a name with both is of the release split.

    Digits and capitals inside end a word; full-width letters and characters that are not seen do not hide one.

    >>> kind_of_name("clapnq-dev"), kind_of_name("held-out 2026"), kind_of_name("faqTest2"), kind_of_name("device")
    ('dev', 'release', 'release', None)
    """
    words = _words(name)
    found = {
        kind for word in (*words, *map("".join, itertools.pairwise(words))) for kind in WORDS if word in WORDS[kind]
    }
    return "release" if "release" in found else "dev" if "dev" in found else None


def _words(name: str) -> list[str]:
    seen = "".join(one for one in unicodedata.normalize("NFKC", name) if unicodedata.category(one) != "Cf")
    return re.findall("[a-z]+", _INNER_CAPITAL.sub(" ", seen).casefold())


def split_of(
    name: str,
    cases: Sequence[Case],
    *,
    of_settings: str | None = None,
    files: Sequence[str] = (),
    declared: str | None = None,
) -> Split:
    """The questions for development among `cases`.

    `of_settings` is the split that the settings read ([benchmark] split, of a BEIR folder), `files` name the files of
    the questions. Slices of the questions come first. Without any, that split, the benchmark's name, the files' names
    and the ids are looked at: if one of them says *release* it is that; if one says *dev*, or else what the experiment
    declares, it is that. UsageError for the release split, for a declaration that contradicts a label, and for
    questions of which nobody says what they are for.
    """
    said = {case.query_id: _labels(case) for case in cases}
    if any(said.values()):
        return _by_slices(name, cases, said, declared)
    found = [
        (what, kind)
        for what, kind in (
            (f"[benchmark] split = {of_settings!r}", None if of_settings is None else kind_of_name(of_settings)),
            (f"the name of benchmark {name!r}", kind_of_name(name)),
            *((f"the name of the file {PurePath(one).name!r}", kind_of_name(PurePath(one).stem)) for one in files),
            ("the beginning of every id", _of_ids(said)),
        )
        if kind is not None
    ]
    for what, kind in sorted(found, key=lambda one: one[1] == "dev"):
        if kind == "release":
            raise _refused(f"{what} says that these are the questions of the release split")
        return Split(frozenset(said), what)
    if declared == "dev":
        return Split(frozenset(said), "the experiment's file")
    raise UsageError(
        f"nobody says which split the {many(len(cases), 'question')} of benchmark {name!r} are",
        field="split",
        hint=_HINT,
    )


def _of_ids(queries: Iterable[str]) -> Kind | None:
    begin = [_words(one)[:2] for one in queries]
    release = begin and all({"".join(one), *one[:1]} & ALONE for one in begin)
    return "release" if release else None


def _labels(case: Case) -> frozenset[str]:
    """What the slices of a question say of its split, as they say it."""
    found: set[str] = set()
    alone: set[str] = set()
    for one in case.slice:
        dimension, mark, value = one.partition("=") if "=" in one else one.partition(":")
        name = "".join(_words(dimension))
        if mark and name in DIMENSIONS and (name == DIMENSIONS[0] or kind_of_name(value)):
            found.add(value.strip())
        elif not mark and "".join(_words(one)) in ALONE:
            alone.add(one.strip())
    return frozenset(found or alone)


def _by_slices(name: str, cases: Sequence[Case], said: dict[QueryId, frozenset[str]], declared: str | None) -> Split:
    kinds = {query: {kind_of_name(one) for one in words} for query, words in said.items()}
    dev = {query for query, found in kinds.items() if found == {"dev"}}
    if not dev:
        words = sorted({one for found in said.values() for one in found})
        raise _refused(
            f"no question of benchmark {name!r} has the slice split=dev; their slices say {', '.join(words)}"
        )
    if declared == "dev":
        dev |= {query for query, words in said.items() if not words}
    _check_clusters(cases, dev, {query for query, found in kinds.items() if "release" in found})
    return Split(frozenset(dev), "slices of the questions", len(said) - len(dev))


def _check_clusters(cases: Sequence[Case], dev: set[QueryId], release: set[QueryId]) -> None:
    """UsageError where turns of one conversation, paraphrases or the same words are on both sides."""
    of_release = [case for case in cases if case.query_id in release]
    for said, mark in (
        ("are of one conversation, or one is a paraphrase of the other", lambda case: case.cluster),
        ("have the same words", _asked),
    ):
        released = {mark(case): case.query_id for case in of_release}
        for case in cases:
            if case.query_id in dev and (other := released.get(mark(case))) is not None:
                raise _refused(
                    f"question {case.query_id!r} is for development and {other!r} of the release split, but they {said}"
                )


def _asked(case: Case) -> str:
    """The words by which a question is known again; a short one (`And why?`) only together with the turns before it."""
    words = normalise_unicode(case.query)
    before = case.conversation.history if case.conversation is not None and words.count(" ") < _SHORT else ()
    return "\n".join([*(normalise_unicode(one.text) for one in before), words])


def _refused(what: str) -> UsageError:
    return UsageError(
        what,
        field="split",
        hint="an experiment chooses, and choosing on the release split spends it; try the grid on questions for "
        "development, and measure the chosen setting here with `ragassay run`",
    )


def check_apart(store: Store, cases: Iterable[Case]) -> None:
    """UsageError if one of these questions, by its words, stands in a benchmark of the release split.

    Benchmarks are those that have a name in the store, and those of runs whose benchmark has lost its name to another.
    """
    asked = {_asked(one): one.query_id for one in cases}
    for digest in _benchmarks(store):
        try:
            other = store.get_record(Benchmark, digest)
            kept = benchmark_room.load(store, other)
        except AbsentError:  # erased on demand: nobody knows its words any more
            continue
        released = kind_of_name(other.name) == "release"
        for one in kept:
            words = _labels(one)
            if not (released if not words else any(kind_of_name(word) == "release" for word in words)):
                continue
            if (found := asked.get(_asked(one))) is not None:
                raise _refused(
                    f"question {found!r} is question {one.query_id!r} of the release split, benchmark {other.name!r}"
                )


def _benchmarks(store: Store) -> set[Digest]:
    """Of all that have a name, and of all runs."""
    found = {ref.digest for ref in store.refs("benchmark/")}
    runs = {ref.digest for ref in store.refs("run/")}
    for ref in store.refs("past/"):
        with suppress(AbsentError):
            runs.add(store.get_record(ScoreTable, ref.digest).run_record)
    for run in runs:
        with suppress(AbsentError):
            protocol = store.get_record(Protocol, store.get_record(Run, run).protocol)
            found |= {digest for role, digest in protocol.objects.items() if role == "benchmark"}
    return found
