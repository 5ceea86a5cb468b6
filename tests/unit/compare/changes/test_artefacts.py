"""Pairs of real runs that differ in one thing: it is named once, by its kind, and nothing else is."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.compare.changes.made import (
    SCORING,
    SYSTEM,
    TEXTS,
    Bench,
    Letters,
    Made,
    document,
    documents,
    lines,
    other,
    system,
)

from ragassay.compare.changes import artefacts
from ragassay.records.canonical import digest_of, digest_text
from ragassay.records.comparison import Change
from ragassay.records.document import Acl
from ragassay.records.judgement import JudgeIdentity, JudgementSet
from ragassay.records.policy import Policy, Rule
from ragassay.records.provenance import Provenance, Transformation

PARTED = "Wind is air that moves from high pressure to low pressure. It cools the wet skin."
ANSWERING = {"kind": "chat", "model": "model-1", "prompt": "Read: $context Now say: $question", "outcome": "answered"}


def one(bench: Bench, a: Made, b: Made, artefact: str, name: str) -> Change:
    """The only change between two runs."""
    found = bench.between(a, b).changes
    assert [(each.artefact, each.name) for each in found] == [(artefact, name)]
    return found[0]


def test_the_same_again_has_no_change(bench: Bench, baseline: Made) -> None:
    again = bench.between(baseline, bench.run())
    assert again.changes == ()
    assert all(each.same == each.questions == 4 and not each.silent for each in again.steps.values())
    assert again.losses == []


# The eleven pairs.


def test_1_document_text(bench: Bench, baseline: Made) -> None:
    found = one(bench, baseline, bench.run(texts=documents(wind=PARTED)), "document_text", "wind")
    assert (found.before, found.after) == (digest_text(TEXTS["wind"]), digest_text(PARTED))


def test_2_document_acl(bench: Bench, baseline: Made) -> None:
    shut = [other(each, acl=Acl(roles=("staff",))) if each.document_id == "snow" else each for each in documents()]
    one(bench, baseline, bench.run(texts=shut), "document_acl", "snow")


def test_3_parser(bench: Bench, baseline: Made) -> None:
    """A parser that reads every text otherwise: one change, though every text, title and passage moved."""
    parsed = [
        other(each, parser="text/2", title=each.document_id.title(), text=each.text.replace("  ", " ") + "\n")
        for each in documents()
    ]
    found = one(bench, baseline, bench.run(texts=parsed), "parser", "6 documents")
    assert (found.before, found.after) == ("text/1", "text/2")


def scanned(tool: str, text: str | None = None) -> list[Any]:
    step = Transformation(kind="ocr", name=tool, after=digest_text(text or TEXTS["salt"]))
    told = Provenance(licence="CC0-1.0", transformations=(step,))
    return [
        other(each, provenance=told, text=text or each.text) if each.document_id == "salt" else each
        for each in documents()
    ]


def test_3_another_scan_reader_is_a_parser(bench: Bench) -> None:
    """What was declared to have made the text is another tool: that is named, and the text that follows is not."""
    a, b = bench.run(texts=scanned("ocr 1")), bench.run(texts=scanned("ocr 2", "Salt is won from the sea."))
    found = one(bench, a, b, "parser", "preparation of salt")
    assert (found.before, found.after) == ("ocr ocr 1", "ocr ocr 2")
    same = bench.run(texts=scanned("ocr 1", "Salt is won from the sea."))
    one(bench, a, same, "document_text", "salt")


def test_the_licence_of_a_document_is_told_from_its_text_and_access(bench: Bench) -> None:
    free = [other(each, provenance=Provenance(licence="CC0-1.0")) for each in documents()]
    shut = [other(each, provenance=Provenance(licence="proprietary")) if each.document_id == "tea" else each
            for each in free]  # fmt: skip
    one(bench, bench.run(texts=free), bench.run(texts=shut), "document_metadata", "tea")


def test_what_is_declared_of_the_whole_corpus_is_compared(bench: Bench, baseline: Made) -> None:
    told = bench.run(told=Provenance(licence="CC0-1.0"))
    found = one(bench, baseline, told, "document_metadata", "licence of the corpus")
    assert (found.before, found.after) == (None, "CC0-1.0")
    tools = [Provenance(transformations=(Transformation(kind="ocr", name=name),)) for name in ("ocr 1", "ocr 2")]
    a, b = bench.run(told=tools[0]), bench.run(told=tools[1], texts=documents(wind=PARTED))
    one(bench, a, b, "parser", "transformations of the corpus")


def test_4_chunker(bench: Bench, baseline: Made) -> None:
    found = one(bench, baseline, bench.run(cut={"window": 2}), "segmentation", "window")
    assert (found.before, found.after) == ("1", "2")


def test_4_chunker_by_name(bench: Bench, baseline: Made) -> None:
    cut = bench.run(cut={"chunker": "tokens", "size": 12, "overlap": 2, "window": None, "stride": None})
    one(bench, baseline, cut, "segmentation", "chunker")


def test_5_index(bench: Bench, baseline: Made) -> None:
    """The vectors are those of other texts than the passages of this run: yesterday's index."""
    stale = bench.run(indexed=documents(salt="Salt is mined in the hills. It keeps food."))
    found = one(bench, baseline, stale, "index", "retriever vector index")
    assert found.before != found.after


def test_6_retriever_parameter(bench: Bench, baseline: Made) -> None:
    narrow = system(retrievers=[{"kind": "lexical", "candidates": 4, "k1": 0.9}, SYSTEM["retrievers"][1]])
    found = one(bench, baseline, bench.run(system=narrow), "retriever", "retriever lexical")
    assert "k1=1.5" in (found.before or "")
    assert "k1=0.9" in (found.after or "")


def test_7_prompt(bench: Bench, model_url: str) -> None:
    answering = {**ANSWERING, "url": model_url}
    before = bench.run(system=system(generate=answering))
    after = bench.run(system=system(generate={**answering, "prompt": "Read: $context Then say: $question"}))
    found = one(bench, before, after, "prompt", "prompt")
    assert (found.before, found.after) == ("Read: $context Now say: $question", "Read: $context Then say: $question")


def test_8_generator(bench: Bench, model_url: str) -> None:
    """The endpoint reports the model as well; that it reports another one follows from asking another one."""
    answering = {**ANSWERING, "url": model_url}
    before = bench.run(system=system(generate=answering))
    after = bench.run(system=system(generate={**answering, "model": "model-2"}))
    found = one(bench, before, after, "generator", "generate_model")
    assert (found.before, found.after) == ("model-1", "model-2")


def judged(bench: Bench, made: Made, identity: JudgeIdentity) -> Made:
    store = bench.store
    found = JudgementSet(
        name="panel", run=made.run.identity(), judge=store.put_record(identity), state="complete",
        claims=store.put_lines([]), judgements=store.put_lines([]), content=digest_of([]), splitter="none/1",
        asked=0, valued=0,
    )  # fmt: skip
    table = replace(made.table, judged={"panel": store.put_record(found)})
    return made._replace(table=table)


def test_9_judge(bench: Bench, baseline: Made) -> None:
    first = JudgeIdentity(kind="model", name="panel", model="judge-1")
    a, b = (judged(bench, baseline, each) for each in (first, replace(first, model="judge-2")))
    found = bench.between(a, b, scores=True).changes
    assert [(each.artefact, each.name, each.before, each.after) for each in found] == [
        ("judge", "panel", "model judge-1", "model judge-2")
    ]
    assert bench.between(a, a, scores=True).changes == ()


def test_9_judge_by_name(bench: Bench, baseline: Made) -> None:
    a = bench.run(scoring=replace(SCORING, judges=("panel-a",)))
    b = bench.run(scoring=replace(SCORING, judges=("panel-b",)))
    found = one(bench, a, b, "judge", "panel-b")
    assert (found.before, found.after) == ("panel-a", "panel-b")


def test_10_measure_version(bench: Bench, baseline: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scored when another version of the measure was installed."""
    monkeypatch.setattr(sys.modules["ragassay.score.table"], "version_of", {"recall": "2", "fact_coverage": "1"}.get)
    newer = replace(SCORING, measure_versions={"fact_coverage": "1", "recall": "2"})
    found = one(bench, baseline, bench.run(scoring=newer), "measure", "recall")
    assert (found.before, found.after) == ("1", "2")


def test_11_threshold(bench: Bench) -> None:
    def policy(least: float) -> Policy:
        return Policy(name="release", rules=(Rule(measure="fact_coverage", class_="answerable", at_least=least),))

    a, b = (bench.run(policy=policy(least)) for least in (0.8, 0.9))
    found = one(bench, a, b, "threshold", "rules fact_coverage answerable at_least at_least")
    assert (found.before, found.after) == ("0.8", "0.9")


# What else a subject names.


def test_added_and_removed_documents_and_a_new_version(bench: Bench, baseline: Made) -> None:
    found = bench.between(baseline, bench.run(texts=documents(snow=None, fog="Fog is a cloud on the ground.")))
    assert found.named == [("document_removed", "snow"), ("document_added", "fog")]
    renewed = [document("wind", PARTED, version="2") if each.document_id == "wind" else each for each in documents()]
    one(bench, baseline, bench.run(texts=renewed), "document_text", "wind")
    both = [*documents(), document("wind", PARTED, version="2")]
    one(bench, baseline, bench.run(texts=both), "document_added", "wind@2")


def test_another_version_that_holds_is_an_edited_text(bench: Bench, baseline: Made) -> None:
    """The older wording holds again, the newer is gone; or the newer came and the older ended. The same change."""
    older = document("wind", "Wind is air that stands still.", version="0", valid_until="2000-01-01T00:00:00Z")
    sound = bench.run(texts=[*documents(), older])
    again = [each for each in documents() if each.document_id != "wind"] + [other(older, valid_until=None)]
    found = one(bench, sound, bench.run(texts=again), "document_text", "wind")
    assert found.after == digest_text(older.text)
    ended = [other(each, valid_until="2000-01-01T00:00:00Z") if each.document_id == "wind" else each
             for each in documents()]  # fmt: skip
    one(bench, baseline, bench.run(texts=[*ended, document("wind", PARTED, version="2")]), "document_text", "wind")
    one(bench, sound, baseline, "document_removed", "wind@0")
    gone = bench.between(sound, bench.run(texts=[*(each for each in documents() if each.document_id != "wind"), older]))
    assert gone.named == [("document_removed", "wind")], "no version holds: the document is gone"


def test_a_description_is_told_from_a_text(bench: Bench, baseline: Made) -> None:
    dated = [other(each, metadata={"team": "weather"}) if each.document_id == "rain" else each for each in documents()]
    one(bench, baseline, bench.run(texts=dated), "document_metadata", "rain")
    renumbered = [other(each, version="2") if each.document_id == "tea" else each for each in documents()]
    one(bench, baseline, bench.run(texts=renumbered), "document_metadata", "tea version")


def test_a_text_that_moved_evidence_is_one_change(bench: Bench, baseline: Made) -> None:
    """The quote stands ten code points further on now: the label follows from the text."""
    found = one(bench, baseline, bench.run(texts=documents(rain=f"Foreword. {TEXTS['rain']}")), "document_text", "rain")
    assert found.after == digest_text(f"Foreword. {TEXTS['rain']}")


def test_questions_and_labels(bench: Bench, baseline: Made) -> None:
    asked = lines(questions={
        "q-bread": ("Why does a loaf rise?", "bread", "Bread rises because yeast makes carbon dioxide from sugar."),
        "q-rain": ("When does rain fall?", "rain", "Rain falls when warm air rises and cools."),
        "q-salt": ("How is salt won from the sea?", "salt", "It keeps food."),
        "q-snow": ("When does snow fall?", "snow", "Snow falls when the air is below zero degrees."),
    })  # fmt: skip
    assert bench.between(baseline, bench.run(cases=asked)).named == [
        ("benchmark", "question q-bread: query"),
        ("benchmark", "question q-salt: evidence"),
        ("benchmark", "question q-snow"),
        ("benchmark", "question q-tea"),
    ]


@pytest.mark.parametrize(
    ("given", "artefact", "name"),
    [
        ({"seed": 8}, "seed", "seed"),
        ({"top_k": 4}, "top_k", "top_k"),
        ({"repeats": 2}, "repeats", "repeats"),
        ({"as_of": "2026-08-02T00:00:00Z"}, "as_of", "as_of"),
        ({"timeout_s": 31.0}, "timeout", "timeout_s"),
        ({"history": "none"}, "history", "history"),
        ({"embedder": Letters("letters/2", turn=2)}, "embedder", "retriever vector embedder"),
        ({"system": system(fusion={"k": 10})}, "fusion", "fusion"),
        ({"system": system(fusion={"weights": [1, 0]})}, "fusion", "fusion"),
        ({"system": system(where={"team": "x"})}, "filter", "where"),
        ({"system": system(dedup=False)}, "dedup", "dedup"),
        ({"system": system(rewrite={"kind": "rule", "history_turns": 2})}, "rewrite", "rewrite"),
        ({"system": system(context={"tokens": 61})}, "assembly", "context_tokens"),
        ({"system": system(evidence_floor=0.0)}, "generator", "evidence_floor"),
        ({"system": system(name="other")}, "system", "name"),
        ({"scoring": replace(SCORING, hold=0.5)}, "threshold", "hold"),
        ({"scoring": replace(SCORING, tokenizer="word/2")}, "measure", "tokenizer"),
        ({"scoring": replace(SCORING, abstention_rules=("^No",))}, "measure", "abstention_rules"),
        ({"policy": Policy(name="none", alpha=0.01)}, "threshold", "alpha"),
        ({"policy": Policy(name="none", max_age_days=3)}, "threshold", "max_age_days"),
        ({"policy": Policy(name="other")}, "policy", "name"),
    ],
)
def test_one_setting(bench: Bench, baseline: Made, given: dict[str, Any], artefact: str, name: str) -> None:
    one(bench, baseline, bench.run(**given), artefact, name)


def test_another_retriever_brings_its_fusion(bench: Bench, baseline: Made) -> None:
    alone = bench.run(system=system(retrievers=[SYSTEM["retrievers"][0]]))
    assert bench.between(alone, baseline).named == [("fusion", "fusion"), ("retriever", "retriever vector")]


def test_a_model_in_place_of_copied_sentences_is_one_change(bench: Bench, baseline: Made, model_url: str) -> None:
    answering = bench.run(system=system(generate={**ANSWERING, "url": model_url}, evidence_floor=0.4))
    found = bench.between(baseline, answering).changes
    assert [(each.artefact, each.name, each.before, each.after) for each in found] == [
        ("generator", "generator", "extractive/1", "model-1"),
    ]


def test_a_reported_version_is_named_where_nothing_else_explains_it(bench: Bench) -> None:
    from tests.unit.compare.changes.wrapped import Reporting

    a, b = (bench.run(wrap=lambda made, which=which: Reporting(made, which)) for which in ("r1", "r2"))
    found = one(bench, a, b, "versions", "index_build")
    assert (found.before, found.after) == ("r1", "r2")


def test_the_scoring_of_the_tables_counts(bench: Bench, baseline: Made) -> None:
    """A run scored again under another layer: the protocols are equal, the tables are not."""
    from ragassay import score

    scoring = bench.store.put_record(replace(SCORING, hold=0.5))
    table, _ = score.table(bench.store, baseline.run_digest, scoring)
    assert artefacts(bench.store, baseline.run, baseline.run) == ()
    found = artefacts(bench.store, baseline.run, baseline.run, scores=(baseline.table, table))
    assert [(each.artefact, each.name, each.before, each.after) for each in found] == [
        ("threshold", "hold", "1", "0.5")
    ]
