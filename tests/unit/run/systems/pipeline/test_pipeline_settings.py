"""`[system]` with kind = "pipeline": what is read, what is refused and where, and that making one touches nothing."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.small import AS_OF, Small

from ragassay.cli.systems import make_system
from ragassay.errors import RagassayError, UsageError
from ragassay.records.toml_file import line_of
from ragassay.run.systems.pipeline.settings import pipeline_settings
from ragassay.run.systems.pipeline.settings_lists import Lexical, Vector
from ragassay.run.systems.pipeline.settings_models import Chat, Extractive, RuleRewrite

LEXICAL = {"kind": "lexical"}
FUNCTION = {"kind": "vector", "embedder": "vectors_of_length:embed"}
ENDPOINT = {"url": "http://127.0.0.1:9/x", "model": "m"}


def test_what_is_left_out_has_its_usual_value() -> None:
    made = pipeline_settings({"retrievers": [LEXICAL]})
    assert made.retrievers == (Lexical(),)
    assert (made.retrievers[0].candidates, made.rerank, made.rewrite, made.generate) == (
        None, None, RuleRewrite(), Extractive())  # fmt: skip
    assert (made.fusion.method, made.fusion.k, made.dedup, made.context.tokens, made.floor) == (
        "rrf",
        60,
        True,
        600,
        0.4,
    )
    chat = pipeline_settings({"retrievers": [LEXICAL], "generate": {"kind": "chat", **ENDPOINT}})
    assert isinstance(chat.generate, Chat)
    assert chat.floor == 0.0, "the model decides, unless a floor is declared"
    vector = pipeline_settings({"retrievers": [{"kind": "vector", "embedder": {"kind": "minilm", "max_tokens": 128}}]})
    assert vector.retrievers == (Vector(embedder={"kind": "minilm", "max_tokens": 128}),)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({}, "retrievers"),
        ({"retrievers": []}, "retrievers"),
        ({"retrievers": [LEXICAL] * 9}, "retrievers"),
        ({"retrievers": [{"k1": 1.0}]}, "retrievers[0]"),
        ({"retrievers": [{"kind": "dense"}]}, "retrievers[0].kind"),
        ({"retrievers": [LEXICAL, LEXICAL]}, "retrievers[1].name"),
        ({"retrievers": [{"kind": "lexical", "name": "fuse"}]}, "retrievers[0].name"),
        ({"retrievers": [{"kind": "lexical", "candidates": 0}]}, "retrievers[0].candidates"),
        ({"retrievers": [{"kind": "lexical", "b": 1.5}]}, "retrievers[0].b"),
        ({"retrievers": [{"kind": "lexical", "embedder": "minilm"}]}, "retrievers[0]"),
        ({"retrievers": [{"kind": "vector"}]}, "retrievers[0]"),
        ({"retrievers": [LEXICAL], "retriever": LEXICAL}, ""),
        ({"retrievers": [LEXICAL], "fusion": {"weights": [1.0, 1.0]}}, "fusion.weights"),
        ({"retrievers": [LEXICAL], "fusion": {"weights": [0.0]}}, "fusion.weights"),
        ({"retrievers": [LEXICAL], "fusion": {"method": "max"}}, "fusion.method"),
        ({"retrievers": [LEXICAL], "rerank": {"kind": "cross"}}, "rerank.kind"),
        ({"retrievers": [LEXICAL], "rerank": {"kind": "endpoint", "url": "http://127.0.0.1:9/"}}, "rerank"),
        ({"retrievers": [LEXICAL], "rerank": "maxsim"}, "rerank"),
        ({"retrievers": [LEXICAL], "rewrite": {"kind": "rule", "history_turns": -1}}, "rewrite.history_turns"),
        ({"retrievers": [LEXICAL], "context": {"order": "random"}}, "context.order"),
        ({"retrievers": [LEXICAL], "insufficient": " "}, "insufficient"),
        ({"retrievers": [LEXICAL], "evidence_floor": 2.0}, "evidence_floor"),
        ({"retrievers": [LEXICAL], "where": {"lang": ["en"]}}, "where[...]"),
        ({"retrievers": [LEXICAL], "generate": {"kind": "chat", **ENDPOINT, "markers": {"X": "maybe"}}},
         "generate.markers.X"),
        ({"retrievers": [LEXICAL], "generate": {"kind": "chat", **ENDPOINT, "prompt": "a", "prompt_file": "b"}},
         "generate"),
    ],
)  # fmt: skip
def test_what_is_refused_names_its_key(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError) as caught:
        pipeline_settings(wrong)
    assert caught.value.field == field, caught.value
    assert caught.value.hint


@pytest.fixture
def place(tmp_path: Path, small: Small) -> Any:
    (tmp_path / "vectors_of_length.py").write_text("def embed(texts):\n    return [[1.0, len(x)] for x in texts]\n")
    frozen: Any = SimpleNamespace(documents=small.documents, passages=small.passages)
    return lambda section: make_system(section, tmp_path, frozen, AS_OF, store=tmp_path / "store")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"retrievers": [{"kind": "vector", "embedder": "mini"}]}, "system.retrievers[0].embedder"),
        ({"retrievers": [{"kind": "vector", "embedder": {"dimensions": 3}}]}, "system.retrievers[0].embedder.kind"),
        ({"retrievers": [{"kind": "vector", "embedder": "nowhere:embed"}]}, "system.retrievers[0].embedder"),
        ({"retrievers": [LEXICAL], "rerank": {"kind": "python", "callable": "nowhere:score"}},
         "system.rerank.callable"),
        ({"retrievers": [LEXICAL], "rerank": {"kind": "endpoint", "url": "ftp://x", "model": "m"}},
         "system.rerank.url"),
        ({"retrievers": [LEXICAL], "rerank": {"kind": "maxsim", "embedder": "mini"}}, "system.rerank.embedder"),
        ({"retrievers": [LEXICAL], "generate": {"kind": "chat", "url": "no address", "model": "m"}},
         "system.generate.url"),
        ({"retrievers": [LEXICAL], "generate": {"kind": "chat", **ENDPOINT, "options": {"model": "x"}}},
         "system.generate.options"),
        ({"retrievers": [LEXICAL], "generate": {"kind": "chat", **ENDPOINT, "prompt": "$question"}},
         "system.generate.prompt"),
        ({"retrievers": [LEXICAL], "generate": {"kind": "chat", **ENDPOINT, "citations": "[x]"}},
         "system.generate.citations"),
        ({"retrievers": [LEXICAL], "rewrite": {"kind": "model", **ENDPOINT, "prompt": "$history"}},
         "system.rewrite.prompt"),
        ({"retrievers": [LEXICAL], "context": {"item": "$n"}}, "system.context.item"),
    ],
)  # fmt: skip
def test_what_a_part_refuses_names_its_key_too(place: Any, wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(RagassayError) as caught:
        place({"kind": "pipeline", **wrong})
    assert caught.value.field == field, caught.value


def test_the_line_of_a_retriever_is_found() -> None:
    text = '[system]\nkind = "pipeline"\n[[system.retrievers]]\nkind = "lexical"\n\n[system.rerank]\nkind = "maxsim"\n'
    text += "top_n = 0\n"
    with pytest.raises(UsageError) as caught:
        pipeline_settings({key: one for key, one in tomllib.loads(text)["system"].items() if key != "kind"})
    assert line_of(text, f"system.{caught.value.field}") == 8


def test_making_one_embeds_nothing_and_writes_nothing(place: Any, tmp_path: Path, small: Small) -> None:
    before = sorted(tmp_path.rglob("*"))
    system = place({"kind": "pipeline", "retrievers": [LEXICAL, FUNCTION]})
    assert "vectors_of_length:embed" in system.identity.settings["retriever vector"]
    after = [one for one in sorted(tmp_path.rglob("*")) if "__pycache__" not in str(one)]
    assert after == [one for one in before if "__pycache__" not in str(one)]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 100) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(
    ["retrievers", "rewrite", "fusion", "rerank", "dedup", "where", "context", "generate", "evidence_floor",
     "insufficient", "name", "other"]
)  # fmt: skip


@given(st.dictionaries(keys, values, max_size=4), st.booleans())
def test_any_section_is_read_or_refused(section: dict[str, Any], usable: bool) -> None:
    given_section = {**section, **({"retrievers": [LEXICAL]} if usable else {})}
    with suppress(UsageError):
        assert pipeline_settings(given_section).retrievers
