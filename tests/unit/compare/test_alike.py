"""What may be compared: each kind of difference by itself, declared and not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.compare.test_pair import rows
from tests.unit.compare.written import Written

from ragassay.compare.alike import CORPUS, check_alike, variation_of
from ragassay.compare.pair import pair
from ragassay.compare.side import Side
from ragassay.errors import ExitCode, UsageError
from ragassay.records.comparison import Change
from ragassay.store import Store


def side(corpus: str = "c", benchmark: str = "b") -> Side:
    made = SimpleNamespace(
        subject=SimpleNamespace(corpus=corpus), benchmark=SimpleNamespace(identity=lambda: benchmark)
    )
    return cast(Side, made)


def change(artefact: Any, name: str, before: str | None = "1", after: str | None = "2") -> Change:
    return Change(artefact=artefact, name=name, before=before, after=after)


@pytest.mark.parametrize("artefact", [*CORPUS, "benchmark", "measure", "threshold", "judge"])
def test_each_is_refused_by_itself_and_named_in_the_hint(artefact: Any) -> None:
    with pytest.raises(UsageError, match="differ") as refused:
        check_alike(side(), side(), [change(artefact, "this one")], ())
    assert f"{artefact} this one" in refused.value.message
    assert f"--variation {artefact}" in refused.value.hint
    assert refused.value.exit_code == ExitCode.USAGE
    check_alike(side(), side(), [change(artefact, "this one")], (artefact,))


@pytest.mark.parametrize(
    "one",
    [
        change("generator", "model"), change("embedder", "dense"), change("segmentation", "size"),
        change("top_k", "top_k"),
        change("measure", "ndcg@5", None, "ndcg@5"), change("measure", "ndcg@5", "ndcg@5", None),
        change("measure", "level", "0.9", "0.95"), change("judge", "panel calibration"), change("policy", "rules"),
    ],
)  # fmt: skip
def test_what_a_comparison_is_for_needs_no_word(one: Change) -> None:
    check_alike(side(), side(), [one], ())


def test_a_difference_that_nothing_explains_is_refused() -> None:
    with pytest.raises(UsageError, match="the corpora differ: c and d"):
        check_alike(side("c"), side("d"), [], ())
    check_alike(side("c"), side("d"), [], ("document_text",))
    with pytest.raises(UsageError, match="the benchmarks differ: b and e"):
        check_alike(side(), side(benchmark="e"), [], ())
    # Labels that stand elsewhere only because a document moved follow from the corpus.
    check_alike(side("c", "b"), side("d", "e"), [change("document_text", "d1")], ("document_text",))


def test_many_are_counted() -> None:
    many = [change("document_text", f"d{number}") for number in range(9)]
    with pytest.raises(UsageError, match=r"document_text d0, .* d2 and 6 more of 9 changes"):
        check_alike(side(), side(), many, ())


def test_words_of_a_variation() -> None:
    assert variation_of(["measure", "corpus", "parser", "measure"]) == (*CORPUS, "measure")
    with pytest.raises(UsageError, match="'segmentaton'") as refused:
        variation_of(["segmentaton"])
    assert "segmentation" in refused.value.hint


def test_a_measure_of_one_side_alone_is_not_measured(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    written = Written(store, [{"queryId": "q0"}])
    a = written.table(rows({"q0": 1.0}), "a")
    b = written.table([*rows({"q0": 1.0}), *rows({"q0": 1.0}, "rr@10")], "b")
    made, _ = pair(store, a, b)
    assert [one.name for one in made.changes if one.artefact == "measure"] == ["rr@10"]
