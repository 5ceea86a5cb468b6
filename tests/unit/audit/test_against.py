"""Eleven pairs of runs that differ in one artefact: an audit of both makes all of it again and names just that."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace
from tests.unit.compare.changes.conftest import model_url
from tests.unit.compare.changes.made import SCORING, SYSTEM, Bench, Made, documents, other, system
from tests.unit.run.judges.world import Overlap

from ragassay import assay
from ragassay.audit.against import Pair, difference
from ragassay.cli import exit_code_of
from ragassay.records.document import Acl
from ragassay.records.policy import Policy, Rule
from ragassay.records.score import FactFate, ScoreTable
from ragassay.run.judges.executing import judge
from ragassay.run.judges.settings import judge_settings

__all__ = ["model_url"]
WETTER = "Wind is air that moves from high pressure to low pressure. It cools the wet skin."
ANSWERING = {"kind": "chat", "model": "model-1", "prompt": "Read: $context Now say: $question", "outcome": "answered"}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def named(bench: Bench, made: Made, name: str) -> Made:
    """With a name for its score table, under which an audit finds it."""
    bench.store.set_ref(f"scores/{name}", made.table_digest, kind=ScoreTable)
    return made


def documents_text(bench: Bench, _url: str) -> tuple[Made, Made]:
    return bench.run(), bench.run(texts=documents(wind=WETTER))


def documents_acl(bench: Bench, _url: str) -> tuple[Made, Made]:
    shut = [other(one, acl=Acl(roles=("staff",))) if one.document_id == "snow" else one for one in documents()]
    return bench.run(), bench.run(texts=shut)


def parser(bench: Bench, _url: str) -> tuple[Made, Made]:
    parsed = [other(one, parser="text/2", title=one.document_id.title(), text=one.text + "\n") for one in documents()]
    return bench.run(), bench.run(texts=parsed)


def chunker(bench: Bench, _url: str) -> tuple[Made, Made]:
    tokens = {"chunker": "tokens", "size": 12, "overlap": 2, "window": None, "stride": None}
    return bench.run(), bench.run(cut=tokens)


def index(bench: Bench, _url: str) -> tuple[Made, Made]:
    return bench.run(), bench.run(indexed=documents(salt="Salt is mined in the hills. It keeps food."))


def retriever(bench: Bench, _url: str) -> tuple[Made, Made]:
    slow = system(retrievers=[{"kind": "lexical", "candidates": 4, "k1": 0.9}, SYSTEM["retrievers"][1]])
    return bench.run(), bench.run(system=slow)


def prompt(bench: Bench, url: str) -> tuple[Made, Made]:
    then = {**ANSWERING, "prompt": "Read: $context Then say: $question", "url": url}
    return bench.run(system=system(generate={**ANSWERING, "url": url})), bench.run(system=system(generate=then))


def generator(bench: Bench, url: str) -> tuple[Made, Made]:
    newer = {**ANSWERING, "model": "model-2", "url": url}
    return bench.run(system=system(generate={**ANSWERING, "url": url})), bench.run(system=system(generate=newer))


def judges(bench: Bench, _url: str) -> tuple[Made, Made]:
    """Two runs of the same answers, each judged by another version of one judge, and scored from its verdicts."""
    judged = replace(SCORING, measures=("faithfulness",), measure_versions={"faithfulness": "1"}, judges=("words",))
    return tuple(_judged(bench, bench.run(scoring=judged), version) for version in "12")  # type: ignore[return-value]


def _judged(bench: Bench, made: Made, version: str) -> Made:
    settings = judge_settings("words", {"kind": "llm", "max_error_rate": 1.0})
    run = made.run_digest
    anyio.run(lambda: judge(bench.store, run, Overlap(version=version), name="words", settings=settings, signals=False))
    assay.measure(bench.store, run, made.table.scoring, name=f"judged-{version}")
    digest = bench.store.ref(f"scores/judged-{version}")
    table = bench.store.get_record(ScoreTable, digest)
    assert table.judged
    return made._replace(table=table, table_digest=digest)


def measure(bench: Bench, _url: str) -> tuple[Made, Made]:
    """Sealed and scored when the measure had another version than the one that is installed at the audit."""
    before = bench.run()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            sys.modules["ragassay.score.table"], "version_of", lambda name: "2" if name == "recall" else "1"
        )
        after = bench.run(scoring=replace(SCORING, measure_versions={"fact_coverage": "1", "recall": "2"}))
    return before, after


def threshold(bench: Bench, _url: str) -> tuple[Made, Made]:
    rules = [Rule(measure="fact_coverage", class_="answerable", at_least=least) for least in (0.8, 0.9)]
    return tuple(bench.run(policy=Policy(name="release", rules=(rule,))) for rule in rules)  # type: ignore[return-value]


Makes = Callable[[Bench, str], tuple[Made, Made]]
PAIRS: list[tuple[Makes, str, str]] = [
    (documents_text, "document_text", "wind"),
    (documents_acl, "document_acl", "snow"),
    (parser, "parser", "6 documents"),
    (chunker, "segmentation", "chunker"),
    (index, "index", "retriever vector index"),
    (retriever, "retriever", "retriever lexical"),
    (prompt, "prompt", "prompt"),
    (generator, "generator", "generate_model"),
    (judges, "judge", "words"),
    (measure, "measure", "recall"),
    (threshold, "threshold", "rules fact_coverage answerable at_least at_least"),
]


@pytest.mark.parametrize(("make", "artefact", "name"), PAIRS, ids=[one[0].__name__ for one in PAIRS])
def test_the_one_artefact_is_named_and_no_other(
    bench: Bench, make: Makes, artefact: str, name: str, model_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (named(bench, made, name) for made, name in zip(make(bench, model_url), "ab", strict=True))
    code = exit_code_of(["audit", after.run_digest, "--against", before.run_digest, "--store", str(bench.store.path),
                         "--json"])  # fmt: skip
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [(one["artefact"], one["name"]) for one in told["against"]["changes"]] == [(artefact, name)]
    differs = [one for one in told["checks"] if one["result"] == "differs"]
    if artefact == "measure":
        assert code == 5
        assert ["measure recall is 1 here, and was sealed as 2" in one["told"] for one in differs] == [True]
    else:
        assert (code, differs) == (0, [])
    assert [one["result"] for one in told["checks"] if one["kind"] == "scores"].count("equal") >= 2 - len(differs)
    assert code == exit_code_of(["audit", after.run_digest, "--against", before.run_digest, "--store",
                                 str(bench.store.path)])  # fmt: skip
    assert f"changed: 1\n  {artefact}  {name}: " in capsys.readouterr().out


def test_what_is_compared_was_made_again(bench: Bench) -> None:
    """A fate typed into a stored table loses no fact: only the table that was made is held against the other."""
    before, after = named(bench, bench.run(), "a"), bench.run()
    fates = [replace(one, fate="never_found", steps=()) for one in bench.store.get_lines(FactFate, after.table.fates)]
    forged = bench.store.put_record(replace(after.table, fates=bench.store.put_lines(fates)))
    bench.store.set_ref("scores/b", forged, kind=ScoreTable)
    pair = Pair(bench.store, before.run_digest, after.run_digest)
    found = list(pair.checks())
    assert {run for run, _ in found} == {before.run_digest, after.run_digest}
    assert [one.first and one.first.place for _, one in found if one.result == "differs"] == ["fates line 1: fate"]
    assert difference(bench.store, before.run_digest, after.run_digest).losses
    assert (pair.difference().changes, pair.difference().losses) == ((), ())
