"""Small promises of the measures that no other test looked at: what is missed counts, hints, odd ids."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from ragassay.errors import InputError
from ragassay.measures.trec.columns import labels_from_dict, run_from_dict, run_of, texts_of
from ragassay.measures.trec.output import trec_lines
from ragassay.measures.unjudged import _labels


def test_what_is_relevant_and_not_retrieved_counts_in_utility() -> None:
    """One hit of two relevant ones among four: 2 * 1 - 1 * 3 - 3 * 1."""
    labels = labels_from_dict({"q": {"a": 1, "b": 0, "z": 2}})
    rows = run_from_dict({"q": {"x": 9.0, "a": 8.0, "b": 7.0, "y": 6.0}}, labels, ("single", "double"))
    assert [line.split() for line in trec_lines(rows, ("utility.2,-1,-3,0",))] == [
        ["utility_2,-1,-3,0", "all", "-4.0000"]
    ]


def test_ids_outside_of_ascii_in_an_array() -> None:
    found = texts_of(np.array(["d\u00e9", "x", "\u6f22"]), "item")
    assert [found.text(at) for at in range(3)] == ["d\u00e9".encode(), b"x", "\u6f22".encode()]


def test_hints_of_wrong_types() -> None:
    with pytest.raises(InputError) as caught:
        run_of(["q"], ["a"], ["1"], labels_from_dict({"q": {"a": 1}}))
    assert caught.value.hint == "numbers are expected"
    with pytest.raises(InputError) as caught:
        texts_of(np.array([1.5]), "item")
    assert caught.value.hint == "ids are str, bytes or whole numbers"


def test_the_labels_of_one_question_are_its_own() -> None:
    lists = SimpleNamespace(label_query=np.array([0, 0, 2, 3, 3]), label_grade=np.array([2, 0, 1, 3, 1]))
    assert [_labels(lists, at).tolist() for at in range(4)] == [[2, 0], [], [1], [3, 1]]  # type: ignore[arg-type]
