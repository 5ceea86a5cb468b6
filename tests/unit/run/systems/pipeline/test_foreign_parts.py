"""Parts of a user's that break before the first question: the error says whose they are; nothing ends the process."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest
from tests.unit.run.small import AS_OF, TEXTS, document

from ragassay.corpus import chunk
from ragassay.errors import RagassayError, SystemUnderTestError, UsageError
from ragassay.records.base import Instant, QueryId
from ragassay.run.contract import Request
from ragassay.run.foreign import foreign
from ragassay.run.pace import Conditions, Pace
from ragassay.run.systems.pipeline.system import PipelineSystem

MODULE = """
import math, sys
import numpy as np

def vector(text):
    return [float(len(text)), 1.0, 2.0]

def raises(texts):
    if texts != ["probe"]:
        raise RuntimeError("boom")
    return [vector(one) for one in texts]

def leaves(texts):
    sys.exit(3)

class Fine:
    identity, dimensions = "own/1", 3
    def embed(self, texts):
        return np.array([vector(one) for one in texts])
    def token_vectors(self, texts):
        return [[vector(word) for word in one.split()] for one in texts]

class Unmade(Fine):
    def __init__(self):
        raise OSError("no file")

class Unnamed(Fine):
    @property
    def identity(self):
        raise RuntimeError("no name yet")

class Zeros(Fine):
    def embed(self, texts):
        return np.zeros((len(texts), 3))

class Closed(Fine):
    closed = 0
    def close(self):
        type(self).closed += 1
        sys.exit(3)

class Leaving(Fine):
    def embed(self, texts):
        if texts == ["Why does rain fall?"]:
            sys.exit(0)
        return super().embed(texts)

Ending = Fine

def scores(query, texts):
    sys.exit(0)

class Attach(Fine):
    def attach(self, conditions):
        raise KeyError("a key")

class Cut(Fine):
    def cut_off(self, texts):
        raise ValueError("cannot count")

class Words(Fine):
    def cut_off(self, texts):
        return "many"

class Fewer(Fine):
    def token_vectors(self, texts):
        return []

class Nan(Fine):
    def token_vectors(self, texts):
        return [[[math.nan, 1.0, 1.0]] for one in texts]

class Flat(Fine):
    def token_vectors(self, texts):
        return [[1.0, 2.0] for one in texts]

class Nothing(Fine):
    def token_vectors(self, texts):
        return None
"""
REQUEST = Request(query_id=QueryId("q"), query="Why does rain fall?", as_of=Instant(AS_OF), top_k=5)
DOCUMENTS = [document(name, text) for name, text in TEXTS.items()]
PASSAGES = chunk(DOCUMENTS, chunker="tokens", size=40, overlap=5)


def ready(folder: Path, settings: dict[str, Any]) -> PipelineSystem:
    (folder / "own_parts.py").write_text(MODULE)
    system = PipelineSystem(DOCUMENTS, PASSAGES, settings, folder=folder)
    system.attach(Conditions(timeout_s=5.0, pace=Pace(1)))
    return system


def dense(name: str) -> dict[str, Any]:
    return {"retrievers": [{"kind": "vector", "embedder": f"own_parts:{name}"}]}


def late(name: str) -> dict[str, Any]:
    rerank = {"kind": "maxsim", "embedder": f"own_parts:{name}"}
    return {"retrievers": [{"kind": "lexical"}], "rerank": rerank}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (dense("raises"), "own_parts:raises .*raised RuntimeError: boom"), (dense("leaves"), "raised SystemExit: 3"),
        (dense("Unmade"), "as it was made, raised OSError: no file"),
        (dense("Unnamed"), "identity and dimensions, raised RuntimeError: no name yet"),
        (dense("Zeros"), "nothing but zeros for 5 passages"), (dense("Attach"), "raised KeyError: 'a key'"),
        (dense("Cut"), "cut_off of own/1 .*raised ValueError"), (dense("Words"), "cut_off of own/1 .*returned str"),
        (late("Attach"), "made ready, raised KeyError"), (late("Cut"), "cut_off"),
        (late("Fewer"), "1 text, 0 matrices"),
        (late("Nan"), "NaN or infinity"), (late("Flat"), "1 texts gave|a table of 2"), (late("Nothing"), "0 matrices"),
    ],
)  # fmt: skip
def test_what_breaks_says_whose_it_is(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    with pytest.raises((SystemUnderTestError, UsageError), match=words) as caught:
        ready(tmp_path, settings)
    assert "embedder" in caught.value.field
    assert caught.value.hint


def test_an_embedder_that_does_not_say_how_much_it_reads_can_rerank(tmp_path: Path) -> None:
    system = ready(tmp_path, late("Fine"))
    assert system.circumstances().notes == ()
    assert system.reranker is not None
    first, second = system.reranker.score("warm air", ["warm air", "x"])
    assert (first, second < first) == (1.0, True)


def test_an_embedder_that_can_be_closed_is_closed_whatever_that_raises(tmp_path: Path) -> None:
    system = ready(tmp_path, dense("Closed"))
    asyncio.run(system.aclose())
    assert importlib.import_module("own_parts").Closed.closed >= 1


@pytest.mark.parametrize("name", ["Leaving", "Ending"])
def test_a_part_that_ends_the_process_while_a_question_is_asked_fails_that_question(tmp_path: Path, name: str) -> None:
    settings = dense(name) | {"rerank": {"kind": "python", "callable": "own_parts:scores"}}
    found = asyncio.run(ready(tmp_path, settings).ask(REQUEST))
    assert found.failure is not None
    assert (found.failure.cause, found.failure.step) == ("exception", "vector" if name == "Leaving" else "rerank")
    assert found.failure.code == "SystemExit"


def test_errors_of_our_own_and_an_interrupt_go_through() -> None:
    for one in (UsageError("ours"), KeyboardInterrupt()):
        with pytest.raises(type(one)), foreign("theirs"):
            raise one
    with pytest.raises(RagassayError, match="theirs raised SystemExit"), foreign("theirs"):
        raise SystemExit(0)
