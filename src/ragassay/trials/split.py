"""Which questions an experiment may be tried on: those for development. Reads no file and asks nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ragassay import benchmark as benchmark_room
from ragassay.errors import UsageError
from ragassay.measures.text import normalise_unicode
from ragassay.records.case import Benchmark, Case
from ragassay.records.text import many
from ragassay.store import Store

Kind = Literal["dev", "release"]
WORDS: dict[Kind, frozenset[str]] = {
    "dev": frozenset({"dev", "development", "devel", "train", "training", "tune", "tuning", "val", "validation"}),
    "release": frozenset({"release", "test", "testing", "heldout", "holdout", "final", "blind"}),
}
"""Words by which a split is recognised, in the value of a slice `split=...` or in the name of a benchmark."""
_HINT = (
    'label them with the slice "split=dev", name their benchmark so, or say split = "dev" under [experiment] '
    "if they are questions for development"
)


class Split(NamedTuple):
    """The questions that may be asked, and who says that they are for development."""

    queries: frozenset[str]
    by: str
    left_out: int = 0
    """Questions of other splits in the same benchmark."""


def kind_of(word: str) -> Kind | None:
    """The split that a word means."""
    return next((kind for kind, words in WORDS.items() if word.casefold() in words), None)


def kind_of_name(name: str) -> Kind | None:
    """The split that stands in a name, such as clapnq-dev; a name with both is of the release split.

    >>> kind_of_name("clapnq-dev"), kind_of_name("held-out 2026"), kind_of_name("device")
    ('dev', 'release', None)
    """
    words = re.split(r"[^a-z0-9]+", name.casefold())
    words += ["".join(pair) for pair in itertools.pairwise(words)]
    found = {kind_of(one) for one in words}
    return "release" if "release" in found else "dev" if "dev" in found else None


def split_of(name: str, cases: Sequence[Case], *, of_settings: str | None = None, declared: str | None = None) -> Split:
    """The questions for development among `cases`.

    `of_settings` is the split that the settings read ([benchmark] split, of a BEIR folder). Slices `split=...` come
    first, then that split, then the benchmark's name, then what the experiment declares. UsageError for the release
    split, for a declaration that contradicts a label, and for questions of which nobody says what they are for.
    """
    said: dict[str, frozenset[str]] = {case.query_id: _slices(case) for case in cases}
    if any(said.values()):
        return _by_slices(name, said, declared)
    for what, kind in (
        (f"[benchmark] split = {of_settings!r}", None if of_settings is None else kind_of(of_settings)),
        (f"the name of benchmark {name!r}", kind_of_name(name)),
    ):
        if kind == "release":
            raise _refused(f"{what} says that these are the questions of the release split")
        if kind == "dev":
            return Split(frozenset(said), what)
    if declared == "dev":
        return Split(frozenset(said), "the experiment's file")
    raise UsageError(
        f"nobody says which split the {many(len(cases), 'question')} of benchmark {name!r} are",
        field="split",
        hint=_HINT,
    )


def _slices(case: Case) -> frozenset[str]:
    return frozenset(one.partition("=")[2] for one in case.slice if one.startswith("split="))


def _by_slices(name: str, said: dict[str, frozenset[str]], declared: str | None) -> Split:
    kinds = {query: {kind_of(one) for one in words} for query, words in said.items()}
    dev = {query for query, found in kinds.items() if found == {"dev"}}
    unlabelled = {query for query, words in said.items() if not words}
    if not dev:
        words = sorted({one for found in said.values() for one in found})
        raise _refused(
            f"no question of benchmark {name!r} has the slice split=dev; there is split={', split='.join(words)}"
        )
    if declared == "dev":
        dev |= unlabelled
    return Split(frozenset(dev), "slices of the questions", len(said) - len(dev))


def _refused(what: str) -> UsageError:
    return UsageError(
        what,
        field="split",
        hint="an experiment chooses, and choosing on the release split spends it; try the grid on questions for "
        "development, and measure the chosen setting here with `ragassay run`",
    )


def check_apart(store: Store, benchmark: Benchmark, cases: Iterable[Case]) -> None:
    """UsageError if one of these questions, by its words, stands in a benchmark of the store of the release split."""
    asked = {normalise_unicode(one.query): one.query_id for one in cases}
    for ref in store.refs("benchmark/"):
        other = store.get_record(Benchmark, ref.digest)
        if other.cases_digest == benchmark.cases_digest:
            continue
        released = kind_of_name(other.name) == "release"
        for one in benchmark_room.load(store, other):
            words = _slices(one)
            if not (released if not words else any(kind_of(word) == "release" for word in words)):
                continue
            if (found := asked.get(normalise_unicode(one.query))) is not None:
                raise _refused(
                    f"question {found!r} is question {one.query_id!r} of the release split, benchmark {other.name!r}"
                )
