"""The check over real annotated data, against facts that were counted without it."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import defaultdict
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from ragassay import benchmark, corpus, demo
from ragassay.benchmark import check
from ragassay.benchmark.check import Check, Split
from ragassay.records.case import Benchmark, Case
from ragassay.records.document import Document
from ragassay.store import Store

ROOT = Path(__file__).resolve().parents[4]
pytestmark = pytest.mark.shared


class Data:
    """A benchmark that was built from files."""

    def __init__(self, folder: Path, documents: list[dict[str, Any]], cases: Any, **header: Any) -> None:
        self.store = Store.open(folder / "store", create=True)
        read = corpus.read_jsonl(lines(folder / "documents.jsonl", documents), default_tenants=("*",))
        self.corpus, _ = corpus.build(self.store, read, name="c")
        self.documents: list[Document] = corpus.load(self.store, self.corpus)
        given = benchmark.read_cases(lines(folder / "cases.jsonl", cases)) if isinstance(cases, list) else cases()
        built = benchmark.build(self.store, given, self.corpus, self.documents, name="b", version="1", **header)
        self.benchmark: Benchmark = built.benchmark
        self.report = built.report
        self.cases: list[Case] = benchmark.load(self.store, self.benchmark)

    def check(self, **more: Any) -> Check:
        return check(self.benchmark, self.cases, self.documents, **more)


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def counts(found: Check) -> dict[str, int]:
    return {one.code: one.count for one in found.findings}


def named(found: Check, code: str) -> set[str]:
    return next((set(one.questions) for one in found.findings if one.code == code), set())


def example(name: str) -> Any:
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(ROOT / "examples"))


def test_clapnq(shared_data: Path, tmp_path: Path) -> None:
    clapnq, common = example("clapnq"), example("common")
    rows = [row for part in clapnq.read(shared_data / "clapnq") for row in part]
    documents = list(common.unique(clapnq.passage(row) for row in rows))
    data = Data(tmp_path, documents, [clapnq.case(row) for row in rows], completeness="partial")
    found = data.check()
    assert counts(found)["passage_scope"] == 300, "all that CLAPnq calls unanswerable"
    assert counts(found)["document_only"] == 1, "one answer has no selected sentence"
    assert counts(found)["near_duplicate"] == 1
    assert not {"dangling", "quote_not_found", "quote_ambiguous", "duplicate"} & counts(found).keys()
    assert found.labelling.with_facts == 300
    assert (found.cases, found.labelling.documents) == (600, 597)
    query = {one.query_id: one.query for one in data.cases}
    pair = sorted(query[one] for one in named(found, "near_duplicate"))
    assert pair == [
        "what are the sirens in o brother where art thou",
        "who are the sirens in brother where art thou",
    ]


def test_musique_holds_one_question_twice(shared_data: Path, tmp_path: Path) -> None:
    musique, common = example("musique"), example("common")
    rows = musique.read(shared_data / "musique")
    documents = list(common.unique(one for row in rows for one in musique.paragraphs(row)))
    found = Data(tmp_path, documents, [musique.case(row) for row in rows], completeness="partial").check()
    assert named(found, "duplicate") == {"musique-2hop__51074_75184", "musique-2hop__52283_75184"}
    supporting = sum(one["is_supporting"] for row in rows for one in row["paragraphs"])
    assert counts(found)["document_only"] == supporting
    slices = {one.name: one.recognised for one in found.slices}
    assert slices["multi-document"] == 200, "every question needs several paragraphs"
    holding = {
        f"musique-{row['id']}"
        for row in rows
        for answer in (row["answer"], *row["answer_aliases"])
        if len(answer) > 2 and re.search(rf"\b{re.escape(answer.lower())}\b", row["question"].lower())
    }
    assert named(found, "answer_in_question") == holding


def test_cranfield_is_not_complete_though_all_of_it_was_pooled(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "cranfield"
    documents = []
    for block in re.findall(r"<doc>(.*?)</doc>", (folder / "cran.all.1400.xml").read_text("utf-8"), re.DOTALL):
        fields = {name: unescape(re.search(rf"<{name}>(.*?)</{name}>", block, re.DOTALL)[1]).strip() for name in ("docno", "title", "text")}  # type: ignore[index]  # fmt: skip  # noqa: E501
        documents.append({"document_id": fields["docno"], "title": fields["title"] or "-", "text": fields["text"]})

    def cases() -> Any:
        return benchmark.read_trec(folder / "cran.qry.xml", folder / "cranqrel.trec.txt", join="position")

    found = Data(tmp_path, documents, cases, completeness="complete").check()
    rows = [line.split() for line in (folder / "cranqrel.trec.txt").read_text("utf-8").splitlines()]
    empty = {one["document_id"] for one in documents if not one["text"]}
    assert found.cases == 225
    assert counts(found)["document_only"] == sum(int(row[3]) >= 1 for row in rows) == 1612
    assert next(one.level for one in found.findings if one.code == "document_only") == "note", "declared by TREC"
    assert counts(found)["empty_document"] == sum(row[2] in empty and int(row[3]) >= 1 for row in rows) == 1
    assert found.labelling.below_rel == sum(int(row[3]) < 1 for row in rows) == 225
    assert counts(found)["not_complete"] == 225, "no question has 1,400 judgements"
    assert counts(found)["missing_class"] == 4


def test_mtrag_has_labels_without_documents_and_follow_ups_that_mean_nothing_alone(
    shared_data: Path, tmp_path: Path
) -> None:
    folder = shared_data / "mtrag"
    told = json.loads((folder / "evaluations/reference_subset_with_human_evaluations.json").read_text("utf-8"))
    documents = [{"document_id": one["document_id"], "text": one["text"]} for one in told["documents"]]
    there = {one["document_id"] for one in documents}
    cases, alone, dangling = [], defaultdict(set), 0
    for domain in ("clapnq", "cloud", "fiqa", "govt"):
        base = folder / "retrieval_tasks" / domain
        judged = defaultdict(list)
        with (base / "qrels" / "dev.tsv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                judged[row["query-id"]].append({"document_id": row["corpus-id"], "grade": 2})
                dangling += row["corpus-id"] not in there
        turns = (base / f"{domain}_questions.jsonl").read_text("utf-8").splitlines()
        for row in map(json.loads, turns):
            *before, last = (one.removeprefix("|user|: ") for one in re.split(r"\n(?=\|user\|: )", row["text"]))
            history = [{"role": "user", "text": one} for one in before]
            name, turn = row["_id"].split("<::>")
            cases.append({
                "query_id": row["_id"], "query": last, "relevant": judged[row["_id"]],
                "conversation": {"id": name, "turn": int(turn), "history": history},
            })  # fmt: skip
            alone[re.sub(r"[^a-z0-9]+", "", last.lower())].add((name, len(before)))
    data = Data(tmp_path, documents, cases, completeness="pooled")
    found = data.check()
    assert (found.cases, found.labelling.labels) == (777, 2128)
    assert counts(found)["dangling"] == dangling == 1712, "text is there for 350 of 1,800 judged passages only"
    assert (found.labelling.documents, found.labelling.documents_labelled) == (350, 350)
    assert counts(found)["pool_without_negatives"] == 777, "all grades are 1"
    repeated = {text for text, where in alone.items() if len(where) > 1}
    firsts = {text for text in repeated if sum(length == 0 for _, length in alone[text]) > 1}
    assert {"whatisit", "value"} <= repeated - firsts
    asked = {one.query_id: re.sub(r"[^a-z0-9]+", "", one.query.lower()) for one in data.cases}
    assert {asked[one] for one in named(found, "duplicate")} == firsts, "after another history it is another question"


def test_the_demo_is_clean_and_says_where_it_is_not_whole(tmp_path: Path) -> None:
    loaded = demo.load()
    store = Store.open(tmp_path / "store", create=True)
    sealed, _ = corpus.build(store, loaded.documents, name="demo")
    built = benchmark.build(
        store,
        loaded.cases,
        sealed,
        loaded.documents,
        name="demo",
        version="1",
        as_of=demo.AS_OF,
        completeness="partial",
    )
    cases = benchmark.load(store, built.benchmark)
    cut, _ = corpus.segment(store, sealed, loaded.documents, chunker="markdown", name="demo", size=120, overlap=0)
    found = check(built.benchmark, cases, loaded.documents, segmentation=cut, passages=corpus.load_passages(store, cut))
    assert found.wrong == ()
    assert counts(found)["passage_scope"] == 80
    whole = counts(found)["document_only"] + counts(found)["document_is_passage"]
    assert whole == sum(one.coarse and one.grade >= 2 for case in cases for one in case.evidence or ())
    assert "missing_class" not in counts(found)
    assert named(found, "nothing_visible_as_meant") == set(built.report.nothing_visible)
    # Half of the demo as dev, the other half as release: what is near on the whole is then across.
    halves = [Split(built.benchmark, cases[at::2]) for at in (0, 1)]
    dev = Split(build_again(store, loaded, sealed, halves[1].cases), halves[1].cases)
    across = check(built.benchmark, halves[0].cases, loaded.documents, against=dev)
    whole_pairs = counts(found)["near_duplicate"]
    assert counts(across).get("near_duplicate", 0) + counts(across).get("leaked_near", 0) <= whole_pairs


def build_again(store: Store, loaded: demo.Demo, sealed: Any, cases: Any) -> Benchmark:
    ids = {one.query_id for one in cases}
    kept = [
        one for one in loaded.cases if one.query_id in ids and (one.paraphrase_of is None or one.paraphrase_of in ids)
    ]
    return benchmark.build(store, kept, sealed, loaded.documents, name="dev", version="1", as_of=demo.AS_OF).benchmark
