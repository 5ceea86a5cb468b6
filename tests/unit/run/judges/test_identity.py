"""Each part of what can change a verdict, changed alone, is asked anew; what cannot change it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.run.judges.world import ANSWER, TEXTS, RunWorld
from trials.scripted_models import honest, served

from ragassay.records.judgement import JudgeIdentity
from ragassay.run.judges.llm import asking, judge, texts
from ragassay.run.judges.llm.judge import llm

SECRET = b"i" * 32
BASE: dict[str, Any] = {"model": "m", "version": "scripted-1", "retries": 0}
SETTINGS: dict[str, dict[str, Any]] = {
    "model": {"model": "m2"},
    "declared version": {"version": None},
    "endpoint": {"endpoint": "another"},
    "temperature": {"options": {"temperature": 0.5}},
    "top_p": {"options": {"top_p": 0.9}},
    "max_tokens": {"options": {"max_tokens": 4000}},
    "seed": {"seed": 3},
    "form of the reply": {"form": "json_object"},
    "together": {"together": 2},
    "reasks": {"reasks": 3},
    "what an invented quote is": {"unquoted": "unsupported"},
    "what an absent number is": {"numbers": "none"},
    "most evidence": {"evidence_characters": 50_000},
    "order swap": {"order_swap": True},
    "counterfactual": {"counterfactual": True},
    "score": {"score": "logprobs"},
    "a rubric's text": {"rubrics": {"claim": "Does the evidence say so? supported, unsupported or contradicted."}},
    "the rubric's name": {"rubric": "house/2"},
}
CODE: dict[str, tuple[Any, str, Any]] = {
    "what is said around the material": (texts, "SYSTEM", texts.SYSTEM + " Be careful."),
    "the form that is asked for": (texts, "FORM", texts.FORM + " Thank you."),
    "parser": (judge, "PARSER", "llm-json/2"),
    "version of the library": (judge, "VERSION", "999.0"),
    "schema": (judge, "schema_of", lambda names, scale, *, quotes: {"type": "object", "of": scale, "q": quotes}),
    "which topics need a quote": (judge, "QUOTED", frozenset({"claim"})),
    "tokens an item": (judge, "TOKENS_AN_ITEM", asking.TOKENS_AN_ITEM + 1),
}
"""Of our own code, as another version of it would have it."""
COVERED = {"model": "model", "prompt": "what is said around the material", "rubric": "a rubric's text",
           "settings": "together", "sampling": "temperature", "schema": "schema", "parser": "parser",
           "libraries": "version of the library"}  # fmt: skip
"""Field of an identity -> the part here that changes it; name and kind stay what they are for one kind of judge."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> RunWorld:
    return RunWorld(tmp_path_factory.mktemp("identity"), questions=2)


def asked(world: RunWorld, table: dict[str, Any], **settings: Any) -> int:
    """How many requests a judge sends; what was kept before is not asked again. Each call is a job of its own."""
    with served(honest) as (url, model):
        # the port changes from server to server, so the endpoint is named
        made = {"url": url, "endpoint": "judge", **BASE, **table}
        made = {key: value for key, value in made.items() if value is not None}
        world.judge(llm(made, secret=SECRET), resume=False, **settings)
        return len(model.seen)


def test_every_field_of_an_identity_is_changed_by_a_test_here() -> None:
    fields = {one.name for one in msgspec.structs.fields(JudgeIdentity)} - {"name", "kind"}
    assert COVERED.keys() == fields
    assert set(COVERED.values()) <= SETTINGS.keys() | CODE.keys()


def test_the_same_judge_asks_nothing_again(world: RunWorld) -> None:
    asked(world, {})
    assert asked(world, {}) == 0


@pytest.mark.parametrize("part", SETTINGS)
def test_a_setting_that_can_change_a_verdict_misses_the_cache(part: str, world: RunWorld) -> None:
    asked(world, {})
    before = llm({"url": "http://127.0.0.1:9/v1", "endpoint": "judge", **BASE}).digest
    changed = {key: value for key, value in {**BASE, **SETTINGS[part]}.items() if value is not None}
    assert llm({"url": "http://127.0.0.1:9/v1", "endpoint": "judge", **changed}).digest != before
    assert asked(world, SETTINGS[part]) > 0
    assert asked(world, SETTINGS[part]) == 0
    assert asked(world, {}) == 0  # and what was known stays known


@pytest.mark.parametrize("part", CODE)
def test_a_change_of_our_own_code_misses_the_cache(part: str, world: RunWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    asked(world, {})
    module, name, value = CODE[part]
    monkeypatch.setattr(module, name, value)
    assert asked(world, {}) > 0


@pytest.mark.parametrize(
    "table",
    [{"retries": 9}, {"max_wait_s": 7.0}, {"headers": {"x-trace": "1"}}, {"max_bytes": 1_000_000}],
    ids=["retries", "waits", "headers", "bytes"],
)
def test_what_only_moves_the_bytes_is_no_part_of_a_judge(table: dict[str, Any], world: RunWorld) -> None:
    asked(world, {})
    assert asked(world, table) == 0


def test_the_index_of_a_repeat_is_part_of_what_is_known(world: RunWorld) -> None:
    asked(world, {"seed": 5}, about=["claim"])
    first = asked(world, {"seed": 5}, about=["claim"], repeats=3)
    assert first >= 2 * 2  # two further repeats of two answers
    assert asked(world, {"seed": 5}, about=["claim"], repeats=3) == 0


MATTER: dict[str, dict[str, Any]] = {
    "a document's text": {"texts": {**TEXTS, "kiln": TEXTS["kiln"] + " It is old."}},
    "the answer": {"answer": lambda _: ANSWER + " Children travel free of charge."},
    "the order of the texts": {"texts": dict(reversed(list(TEXTS.items())))},
}


def test_the_same_texts_in_another_run_are_known(tmp_path: Path) -> None:
    assert _other_run(tmp_path, {}) == 0


@pytest.mark.parametrize("part", MATTER)
def test_a_change_of_what_is_judged_is_asked_anew(part: str, tmp_path: Path) -> None:
    assert _other_run(tmp_path, MATTER[part]) > 0


def _other_run(folder: Path, change: dict[str, Any], **settings: Any) -> int:
    asked(RunWorld(folder, questions=1), {}, **settings)
    return asked(RunWorld(folder, questions=1, seed=8, **change), {}, **settings)
