"""Every declaration as it is published: a changed word is a changed contract, and must be changed in the vector too."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import UsageError
from ragassay.measures import declaration, declarations

VECTOR = Path(__file__).resolve().parents[2] / "vectors" / "declarations.json"
MODULES = (
    "declared_ranking",
    "declared_trace",
    "declared_answer",
    "declared_judged",
    "declared_refusal",
    "declared_counts",
)


def as_published(one: Any) -> dict[str, Any]:
    return json.loads(json.dumps(dataclasses.asdict(one)))


def published() -> list[dict[str, Any]]:
    return json.loads(VECTOR.read_text("utf-8"))


def test_declarations_are_those_of_the_vector() -> None:
    assert [as_published(one) for one in declarations()] == published()


def test_each_module_makes_its_declarations_anew() -> None:
    """The modules are run once more: what was made when this process began says nothing about their code now."""
    found = []
    for name in MODULES:
        spec = importlib.util.find_spec(f"ragassay.measures.{name}")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += [as_published(one) for one in module.DECLARED]
    assert found == published()


@pytest.mark.parametrize(
    "name, hint",
    [
        ("recal", "did you mean recall or r_precision?"),
        ("ndgc_cut", "did you mean ndcg or ap?"),
        ("citation", "did you mean citation_recall or citation_precision or precision?"),
        ("zzzz", "`ragassay measures` lists all measures"),
        ("precisio", "did you mean precision or r_precision?"),
    ],
)
def test_a_name_that_is_not_one_is_answered_with_near_ones(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"^there is no measure named {name!r}") as caught:
        declaration(name)
    assert caught.value.hint == hint


def test_names_of_other_tools_in_any_case() -> None:
    assert declaration("MAP") is declaration("ap")
    assert declaration("Rprec") is declaration("r_precision")
