"""The data card, the five identities and what stands behind a citation, against what was put into a project by hand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ragassay.cli import exit_code_of
from ragassay.records.canonical import digest_of
from ragassay.records.judgement import AnswerClaims, Claim, JudgeIdentity, Judgement, JudgementSet, judge_digest
from ragassay.records.protocol import Run, Scoring
from ragassay.records.score import ScoreTable
from ragassay.records.trace import Citation
from ragassay.report import html, markdown, scorecard, summary, to_json
from ragassay.score import table
from ragassay.store import Store

SETTINGS = """
[corpus]
documents = "documents.jsonl"
default_tenants = ["*"]
[corpus.provenance]
licence = "CC-BY-4.0"
owner = "The town"
limits = ["box 3 is lost"]
[[corpus.provenance.transformations]]
kind = "ocr"
name = "tesseract 5.5.1"
[benchmark]
cases = "cases.jsonl"
[benchmark.provenance]
licence = "CC0-1.0"
[system]
kind = "python"
callable = "letters_system:answer"
[run]
as_of = "2026-08-01"
[scoring]
measures = ["fact_coverage"]
"""
LINES = [
    {"document_id": "rain", "text": "Rain falls when warm air rises."},
    {"document_id": "snow", "text": "Snow falls below zero.", "provenance": {"licence": "MIT", "limits": ["one page"]}},
    {"document_id": "wages", "text": "Ada earns nine.", "tenants": ["board"]},
]
CASE = {"query_id": "q", "query": "When does rain fall?", "principal": {"id": "eve", "tenants": ["town"]},
        "evidence": [{"id": "e", "document_id": "rain", "grade": 3, "quote": "warm air rises",
                      "provenance": {"kind": "human", "by": "ann"}}]}  # fmt: skip
SYSTEM = """
def answer(request):
    given = [{"id": "rain", "text": "Rain falls when warm air rises."},
             {"id": "pay", "document_id": "wages", "start": 0, "end": 15}, {"id": "odd", "text": "Nobody wrote this."}]
    return {"answer": {"text": "Warm air rises. Ada earns nine. So it is.", "citations": [
        {"item_id": "rain", "answer_start": 0, "answer_end": 15},
        {"item_id": "pay", "answer_start": 16, "answer_end": 31},
        {"item_id": "odd", "answer_start": 32, "answer_end": 41}, "gone"]}, "contexts": given}
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "ragassay.toml").write_text(SETTINGS)
    (tmp_path / "letters_system.py").write_text(SYSTEM)
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(one) + "\n" for one in LINES))
    (tmp_path / "cases.jsonl").write_text(json.dumps(CASE) + "\n")
    for words in (["run"], ["score"]):
        assert exit_code_of([*words, "--config", str(tmp_path / "ragassay.toml")]) == 0
    return Store.open(tmp_path / ".ragassay")


def judged(store: Store, label: str) -> Any:
    """The score table with a judge that ruled on the first citation: written by hand, scored by the room."""
    stored = store.get_record(ScoreTable, store.resolve("latest", kind_prefix="scores"))
    run = store.get_record(Run, stored.run_record)
    judge = JudgeIdentity(name="panel", kind="person", rubric="entails/1")
    citations = tuple(Citation(item_id=one) for one in ("rain", "pay", "odd", "gone"))
    claims = [AnswerClaims(query_id="q", repeat=0, answer=digest_of("x"), citations=citations, cited_by="system",
                           claims=(Claim(claim_id="c1", start=0, end=15, citations=(0,)),))]  # fmt: skip
    said = [Judgement(query_id="q", repeat=0, judge=judge_digest(judge), about="citation", target="c1:0",
                      scale="support/1", status="value", label=label)]  # fmt: skip
    record = JudgementSet(
        name="panel", run=run.identity(), judge=store.put_record(judge), state="complete", splitter="hand/1",
        claims=store.put_lines(claims), judgements=store.put_lines(said), content=digest_of([label]), asked=1, valued=1,
    )  # fmt: skip
    digest = store.put_record(record)
    scoring = store.put_record(replace(store.get_record(Scoring, stored.scoring), judges=("panel",)))
    store.set_ref("judged/panel", digest, kind="judgementset")
    made = replace(table(store, stored.run_record, scoring)[0], judged={"panel": digest})
    return scorecard(store, store.put_record(made))


def card_of(store: Store) -> Any:
    return scorecard(store, store.resolve("latest", kind_prefix="scores"))


def test_the_data_card_counts_what_is_not_recorded(store: Store, tmp_path: Path) -> None:
    card = card_of(store).data
    facts = {one.fact: (one.own, one.covered, one.unknown) for one in card.facts}
    assert facts == {
        "origin": (0, 0, 3), "owner": (0, 3, 0), "licence": (1, 2, 0), "collection": (0, 0, 3),
        "authorisation": (0, 0, 3),
    }  # fmt: skip
    assert [(one.told, one.count) for one in card.licences] == [("CC-BY-4.0", 2), ("MIT", 1)]
    assert [(one.told, one.count) for one in card.limits] == [("box 3 is lost", 3), ("one page", 1)]
    assert [one.told for one in card.transformations] == [
        "ocr tesseract 5.5.1 (all, before they were read)", "parse jsonl/1",
    ]  # fmt: skip
    (file,) = card.files
    data = (tmp_path / "documents.jsonl").read_bytes()
    assert (file.file, file.digest, file.documents) == (
        "documents.jsonl", f"sha256:{hashlib.sha256(data).hexdigest()}", 3,
    )  # fmt: skip
    assert dict(card.questions)["licence"] == "CC0-1.0"
    assert [(one.told, one.count) for one in card.labels] == [("human", 1)]


def test_everything_stands_in_every_form_of_the_report(store: Store) -> None:
    card = card_of(store)
    told = "data: of 3 documents 3 without origin, 3 without collection, 3 without authorisation"
    assert told in summary(card)
    for text in (html(card), markdown(card)):
        assert "Data card" in text
        assert "CC-BY-4.0" in text
        assert "box 3 is lost" in text
        assert "unrecorded" in text
    assert to_json(card)["data"]["facts"][2]["unknown"] == 0


def test_a_system_that_says_little_has_unrecorded_parts(store: Store) -> None:
    five = {one.name: one for one in card_of(store).five}
    assert list(five) == ["benchmark", "retrieval", "generation", "evaluation", "trace"]
    missing = {name: [part.name for part in one.parts if part.state == "unrecorded"] for name, one in five.items()}
    assert missing == {
        "benchmark": [],
        "retrieval": ["retriever", "index", "index built at", "embedding model", "chunking", "filters", "reranker"],
        "generation": ["model", "prompt", "tools", "tenant scope"],
        "evaluation": [],
        "trace": ["scores of their items", "access decisions", "verdict"],
    }
    assert all(one.unrecorded == len(missing[name]) for name, one in five.items())


def test_a_citation_shows_whose_it_is_and_which_way_it_came(store: Store) -> None:
    (question,) = card_of(store).questions
    rain, pay, odd, gone = question.repeats[0].citations
    assert [one.access for one in (rain, pay, odd, gone)] == ["allowed", "denied", "unknown", "unknown"]
    line = json.dumps(LINES[0]).encode()
    text = f"sha256:{hashlib.sha256(LINES[0]['text'].encode()).hexdigest()}"  # type: ignore[attr-defined]
    assert rain.through == (
        f"rain@1: documents.jsonl:1 (sha256:{hashlib.sha256(line).hexdigest()}) -> parse jsonl/1 ({text}) -> "
        "slice, tied exact",
    )
    assert (rain.gap, pay.gap) == (None, None)
    assert "tied to no document" in odd.gap
    assert gone.gap == "no item of this trace has this id"
    assert all(one.entails == () for one in (rain, pay, odd, gone))
    assert html(card_of(store)).count("not judged") == 4


@pytest.mark.parametrize("label", ["supported", "contradicted"])
def test_whether_it_entails_is_what_a_judge_said(store: Store, label: str) -> None:
    card = judged(store, label)
    first, *others = card.questions[0].repeats[0].citations
    assert [(one.judge, one.claim, one.said) for one in first.entails] == [("panel", "c1", label)]
    assert all(one.entails == () for one in others)
    assert f"panel on c1: {label}" in html(card)
    evaluation = {part.name: part.state for part in card.five[3].parts}
    assert evaluation == {"judge": "recorded", "prompt": "none", "rubric": "recorded", "sampling": "none",
                          "outputs": "recorded"}  # fmt: skip


def test_explain_tells_the_same_of_each_citation(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    config = str(tmp_path / "ragassay.toml")
    assert exit_code_of(["explain", "latest", "q", "--config", config, "--json"]) == 0
    hops = json.loads(capsys.readouterr().out)
    told = [one["told"] for one in hops if one["what"] == "citation"]
    assert len(told) == 4
    assert "the principal may read it" in told[0]
    assert "documents.jsonl:1" in told[0]
    assert "the principal may NOT read it" in told[1]
    assert "not known whole: it is tied to no document" in told[2]
    assert all(one.endswith("entails its claim: not judged") for one in told)
    documents = [one["told"] for one in hops if one["what"] == "cited document"]
    assert documents[0] == (
        "rain@1: origin not recorded, owner The town, licence CC-BY-4.0, collection not recorded, "
        "authorisation not recorded, limit: box 3 is lost"
    )
    digest = hashlib.sha256((tmp_path / "documents.jsonl").read_bytes()).hexdigest()
    assert any(digest in one["told"] for one in hops if one["what"] == "source file")
