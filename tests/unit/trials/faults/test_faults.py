"""Each fault, planted in a small pipeline that says nothing of it: the step where it was planted is named, no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.compare.changes.made import SCORING, SYSTEM, Bench, Letters, Made, document, documents, lines

from ragassay.errors import UsageError
from ragassay.gate.evidence import check_alike, read_evidence
from ragassay.gate.rules import Arms, read_rules
from ragassay.records.policy import Policy, Rule
from ragassay.records.protocol import Scoring
from ragassay.run.systems.pipeline.rerank import FunctionReranker
from ragassay.run.systems.pipeline.settings import pipeline_settings
from ragassay.trials.faults import FAULTS, WHERE, Site, ground, loud, loud_corpus, silent, struck
from ragassay.trials.faults.chance import place
from ragassay.trials.faults.older import older_text

CUT = {"size": 10, "overlap": 5}
PLANTED = tuple(FAULTS)
STEPLESS = ("forced answer",)
"""What needs a question that a sound system declines."""


def overlap(query: str, texts: list[str]) -> list[float]:
    wanted = set(query.lower().split())
    return [float(len(wanted & set(one.lower().split()))) for one in texts]


def site_of(kept: Any, passages: Any, floor: float = 0.0) -> Site:
    given = {
        **SYSTEM, "where": dict(WHERE), "fusion": {"top_n": 14}, "evidence_floor": floor, "context": {"tokens": 200},
        "rerank": {"kind": "python", "callable": "none:none", "top_n": 14},
        "retrievers": [{**one, "candidates": 14} for one in SYSTEM["retrievers"]],
    }  # fmt: skip
    return Site(
        kept, passages, pipeline_settings(given), Letters(), CUT, reranker=FunctionReranker("overlap/1", overlap)
    )


class Planting:
    """Runs of the small pipeline over the small corpus, each with something planted."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    def run(
        self,
        plant: Callable[[Site], Any],
        *,
        floor: float = 0.0,
        texts: Any = None,
        scoring: Scoring = SCORING,
        **cut: int,
    ) -> Made:
        cases = [
            replace(one, evidence=tuple(replace(each, version="1") for each in one.evidence or ())) for one in lines()
        ]
        how = {"chunker": "tokens", "window": None, "stride": None, **CUT, **cut}

        def adapter(kept: Any, passages: Any, *_: Any) -> Any:
            return plant(site_of(kept, passages, floor))

        return self.bench.run(
            texts=texts or ground(documents(), share=1.0), cut=how, cases=cases, adapter=adapter, scoring=scoring
        )


@pytest.fixture(scope="module")
def planting(tmp_path_factory: pytest.TempPathFactory) -> Planting:
    return Planting(Bench(tmp_path_factory.mktemp("faults")))


@pytest.fixture(scope="module")
def sound(planting: Planting) -> Made:
    return planting.run(lambda site: site.system())


def test_there_are_fifteen() -> None:
    assert len(FAULTS) == 15


def test_no_strength_is_no_fault(planting: Planting, sound: Made) -> None:
    for name in ("missing documents", "k cut"):
        found = planting.bench.between(sound, planting.run(lambda site, name=name: silent(site, name, strength=0.0)))
        assert found.changes == ()
        assert all(one.same == one.questions for one in found.steps.values())


@pytest.mark.parametrize("name", PLANTED)
def test_a_silent_fault_is_put_on_the_step_where_it_was_planted(planting: Planting, sound: Made, name: str) -> None:
    floor = 1.0 if name in STEPLESS else 0.0
    before = planting.run(lambda site: site.system(), floor=floor) if floor else sound
    after = planting.run(lambda site: silent(site, name, seed=3, strength=1.0), floor=floor)
    found = planting.bench.between(before, after)
    assert found.changes == ()
    named = {step for step, one in found.steps.items() if one.silent}
    assert named
    assert named <= set(FAULTS[name].steps)
    assert all(set(one.moved) <= set(FAULTS[name].steps) and one.silent for one in found.losses)


@pytest.mark.parametrize("name", [one for one in PLANTED if FAULTS[one].strikes == "questions"])
def test_a_step_that_says_its_fault_is_named_by_its_artefact(planting: Planting, sound: Made, name: str) -> None:
    floor = 1.0 if name in STEPLESS else 0.0
    before = planting.run(lambda site: site.system(), floor=floor) if floor else sound
    found = planting.bench.between(before, planting.run(lambda site: loud(site, name), floor=floor))
    assert FAULTS[name].artefact in {one.artefact for one in found.changes}
    assert not any(one.silent for one in found.steps.values())


@pytest.mark.parametrize("name", ["missing documents", "duplicated documents", "stale documents"])
def test_a_corpus_with_a_fault_is_named_by_its_artefact(planting: Planting, sound: Made, name: str) -> None:
    texts = loud_corpus(ground(documents(), share=1.0), name)
    if name == "missing documents":
        texts = loud_corpus(ground(documents(), share=1.0), name, seed=1, strength=0.5)
    found = planting.bench.between(sound, planting.run(lambda site: site.system(), texts=texts))
    assert {one.artefact for one in found.changes} & {FAULTS[name].artefact, "document_removed"}
    assert not any(one.silent for one in found.steps.values())


def test_the_gate_reads_the_same_questions_over_another_corpus_where_that_is_declared(
    planting: Planting, sound: Made
) -> None:
    texts = loud_corpus(ground(documents(), share=1.0), "missing documents", seed=1, strength=0.5)
    made = planting.run(lambda site: site.system(), texts=texts)
    ours, theirs = (read_evidence(planting.bench.store, one.table_digest, "arm") for one in (made, sound))
    assert ours.subject.benchmark != theirs.subject.benchmark
    check_alike(planting.bench.store, ours, theirs, ["document_removed"])
    with pytest.raises(UsageError, match="the corpora differ"):
        check_alike(planting.bench.store, ours, theirs, [])


def test_a_gate_reads_repeats_though_nobody_measured_how_much_was_judged(
    planting: Planting,
) -> None:
    """A rate of duplicates needs no labels, so there is nothing unjudged that could favour an arm."""
    rule = Rule(measure="duplicate_rate", step="vector", margin=0.01)
    versions = {"duplicate_rate": "1", "recall": "1"}
    scoring = replace(SCORING, measures=("duplicate_rate", "recall(rel=2)@5"), measure_versions=versions)
    runs = (
        planting.run(lambda site: silent(site, "duplicated documents"), scoring=scoring),
        planting.run(lambda site: site.system(), scoring=scoring),
    )
    ours, theirs = (read_evidence(planting.bench.store, one.table_digest, "arm") for one in runs)
    arms = Arms(planting.bench.store, Policy(name="p", rules=(rule,), alpha=0.4), ours, theirs)
    (found,) = read_rules(arms, (rule,))
    assert found.value is not None
    assert found.baseline is not None
    assert found.value > found.baseline
    assert set(found.reasons) <= {"threshold", "not_enough_questions"}


def test_a_cut_without_overlap_is_named(planting: Planting, sound: Made) -> None:
    found = planting.bench.between(sound, planting.run(lambda site: site.system(), overlap=0))
    assert found.named == [("segmentation", "overlap")]


def test_a_sound_system_finds_no_draft_and_nothing_older(planting: Planting, sound: Made) -> None:
    from ragassay.records.trace import TraceContent

    every = list(planting.bench.store.get_lines(TraceContent, sound.run.contents))
    spans = [span for one in every for step in one.steps for item in step.items_out or () for span in item.sources]
    assert spans
    assert not any(one.version == "0" or one.document_id.endswith("~draft") for one in spans)


# Chance and texts.


def test_chance_is_the_same_on_every_machine() -> None:
    """By `printf '7\\ndoc-1' | sha256sum`: the first 8 bytes, without their last 11 bits, over 2^53."""
    assert place(7, "doc-1") == pytest.approx(int("31bef78255f52547", 16) / 2**64, abs=1e-15)


@given(st.integers(0, 10_000), st.text(max_size=20), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_strength_strikes_all_that_a_lower_one_does(seed: int, key: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert struck(seed, key, high) or not struck(seed, key, low)
    assert struck(seed, key, 1.0)
    assert not struck(seed, key, 0.0)


def test_the_share_that_is_struck_is_the_strength() -> None:
    for strength in (0.125, 0.5, 0.9):
        hit = sum(struck(5, f"q-{number}", strength) for number in range(4_000))
        assert hit / 4_000 == pytest.approx(strength, abs=0.03)


@pytest.mark.parametrize("strength", [-0.1, 1.1, float("nan")])
def test_a_strength_is_a_share(strength: float) -> None:
    with pytest.raises(UsageError, match="strength"):
        struck(0, "q", strength)


@given(st.text(max_size=300))
@settings(max_examples=200)
def test_an_older_wording_keeps_every_place(text: str) -> None:
    made = older_text(text, "d")
    assert len(made) == len(text)
    assert made == older_text(text, "d")
    assert [one.isspace() for one in made] == [one.isspace() for one in text]


def test_an_older_wording_says_something_else() -> None:
    text = "The tower was built in 1998 by Anna Karlsson, whose firm had won the prize in 1990. It stands there still."
    made = older_text(text)
    assert "2009" in made
    assert sum(a != b for a, b in zip(made.split(), text.split(), strict=True)) >= 4


def test_a_document_of_version_0_cannot_get_an_older_one() -> None:
    with pytest.raises(UsageError, match="version"):
        ground([document("a", "It rains.", version="0")])
