"""Seeds of every format of questions and of runs, for `trials/mutations.py`."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

from ragassay.benchmark import read_benchmark
from ragassay.records.document import Document
from ragassay.traces import read_run_file
from trials.mutations import Seeded

CASE = {
    "query_id": "q1", "query": "How long?", "class": "answerable", "answerable": "yes", "slice": ["a", "b=c"],
    "evidence": [{"id": "e1", "document_id": "d", "grade": 2, "start": 1, "end": 5, "quote": "text"}],
    "facts": [{"id": "f", "any_of": [["e1"]]}], "answers": [{"text": "long", "fact_set": ["e1"]}],
    "validFrom": "2026-01-01", "principal": {"id": "ann", "tenants": ["x"]},
    "conversation": {"id": "c", "turn": 2, "history": [{"role": "user", "text": "hi"}]},
}  # fmt: skip
QUERIES = '{"_id": "q1", "text": "who"}\n{"_id": "q2", "text": "wo \\u00e9"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\n"
TOPICS = "<top>\n<num> Number: 1\n<title> what &amp; why\n</top>\n<top><num>2</num><title>who</title></top>\n"
SQUAD = {"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": "Zoë lives in Köln.", "qas": [
    {"id": "1", "question": "Where?", "is_impossible": False, "answers": [{"text": "Köln", "answer_start": 13}]},
    {"id": "2", "question": "Why?", "is_impossible": True, "answers": [], "plausible_answers": []},
]}]}]}  # fmt: skip
SHEET = 'Frage;Antwort;Quelle\r\n"Was ""kostet""\nes?";1|2;a.md|b.md\r\nWie lange?;14;b.md\r\n'
COLUMNS = {"query": "Frage", "answers": "Antwort", "documents": "Quelle"}
RAGAS = [
    {"user_input": "who", "reference": "Zoë", "response": "Zoe", "retrieved_contexts": ["a text", "b"],
     "reference_contexts": ["a text"], "rubrics": {"score1": "bad"}, "retrieved_context_ids": ["1", 2]},
    {"question": "old", "contexts": ["a"], "answer": "x", "ground_truths": ["y", "z"]},
    {"user_input": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "yes"},
                    {"type": "human", "content": "who?"}, {"type": "ai", "content": "me"}], "reference": "me"},
]  # fmt: skip
GOLDENS = [
    {"input": "who", "actualOutput": "Zoe", "expected_output": "Zoë", "context": ["a text", "b"], "comments": "c",
     "retrieval_context": ["deepeval_source=s,deepeval_context=a text"], "additional_metadata": {"topic": "t"}},
    {"scenario": "s", "turns": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]},
]  # fmt: skip
TRACE = {
    "query_id": "q1", "repeat": 0, "as_of": "2026-01-01T00:00:00Z",
    "steps": [{"step_id": "s", "name": "s", "kind": "lexical", "items_out": [
        {"item_id": "d1", "rank": 1, "resolution": "unresolved", "transform": "derived", "score": 1.5}]}],
    "answer": {"text": "yes", "outcome": "answered", "outcome_source": "system"},
}  # fmt: skip
DOCUMENTS = tuple(
    Document(document_id=name, version="1", text=text, parser="p", normaliser="n")  # type: ignore[arg-type]
    for name, text in (("d1", "a text of this corpus"), ("d2", "Zoë lives in Köln."))
)


def _lines(values: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in values)


def _files(folder: Path, **texts: str | bytes) -> list[Path]:
    made = []
    for name, text in texts.items():
        stem, _, ending = name.rpartition("_")
        path = folder / f"{stem}.{ending}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        made.append(path)
    return made


def _beir(folder: Path) -> list[Path]:
    made = []
    for name, packed in (("plain", False), ("packed", True)):
        (folder / name / "qrels").mkdir(parents=True)
        for at, text in (("queries.jsonl", QUERIES), ("qrels/test.tsv", QRELS)):
            path = folder / name / (at + ".gz" * packed)
            path.write_bytes(gzip.compress(text.encode(), mtime=0) if packed else text.encode())
        made.append(folder / name)
    return made


def _pair(folder: Path, queries: dict[str, str], qrels: dict[str, str]) -> list[Path]:
    made = []
    for number, (name, text) in enumerate(queries.items()):
        own = folder / str(number)
        own.mkdir()
        (own / name).write_text(text, "utf-8")
        judged, lines = list(qrels.items())[number]
        (own / judged).write_text(lines, "utf-8")
        made.append(own)
    return made


def _of(folder: Path, start: str) -> Path:
    """The file of a folder whose name begins so; a name that is not there is a documented error too."""
    return next(iter(sorted(folder.glob(f"{start}*"))), folder / start)


def _cases(name: str, **options: Any) -> Any:
    def read(path: Path, chance: random.Random) -> Any:
        on_error = chance.choice(("stop", "skip"))
        corpus = chance.choice((None, DOCUMENTS))
        return read_benchmark(path, format=name, corpus=corpus, on_error=on_error, **options)  # type: ignore[arg-type]

    return read


def _paired(name: str, **options: Any) -> Any:
    def read(path: Path, chance: random.Random) -> Any:
        given = {"qrels": _of(path, "r"), "on_error": chance.choice(("stop", "skip")), **options}
        return read_benchmark(_of(path, "q"), format=name, **given)  # type: ignore[arg-type]

    return read


def _runs(kind: str | None) -> Any:
    def read(path: Path, chance: random.Random) -> Any:
        return read_run_file(path, DOCUMENTS, kind=kind, on_error=chance.choice(("stop", "skip")))  # type: ignore[arg-type]

    return read


def formats() -> dict[str, Seeded]:
    """The formats of `ragassay.benchmark.FORMATS`, and the files of runs."""
    judged = '{"query-id": "q1", "corpus-id": "d1", "score": 1}\n{"query-id": "q2", "corpus-id": "d1", "score": 0.0}\n'
    python = 'user_input,retrieved_contexts,reference_contexts,response,reference\nwho,"[\'a text\', ""b\'s""]",'
    cells = "input,actual_output,expected_output,context,retrieval_context\nwho,Zoe,Zoë,a text|b,a|c\n"
    run = "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1 t\nq2 Q0 d1 1 1e-3 t\n"
    return {
        "cases-ragassay": Seeded(lambda f: _files(f, cases_jsonl=_lines([CASE, {"query_id": "b", "query": "x"}])),
                                 _cases("ragassay")),
        "cases-trec": Seeded(lambda f: _pair(f, {"q.xml": TOPICS, "q.tsv": "1\twho\n2\twhat\n"},
                                             {"r.txt": "1 0 d1 1\n2 0 d2 0\n", "r2.txt": "1 0 d1 1\n2 0 d2 0\n"}),
                             _paired("trec")),
        "cases-beir": Seeded(_beir, _cases("beir")),
        "cases-mteb": Seeded(lambda f: _pair(f, {"q.jsonl": QUERIES}, {"r.jsonl": judged}), _paired("mteb")),
        "cases-ir_datasets": Seeded(
            lambda f: _pair(f, {"q.jsonl": QUERIES.replace("_id", "query_id"), "q.tsv": "q1\twho\nq2\twhat\n"},
                            {"r.txt": "q1 0 d1 1\n", "r2.txt": "q2 0 d1 1\n"}), _paired("ir_datasets")),
        "cases-squad": Seeded(lambda f: _files(f, squad_json=json.dumps(SQUAD, ensure_ascii=False)), _cases("squad")),
        "cases-csv": Seeded(lambda f: _files(f, a_csv=SHEET, b_csv=SHEET.encode("utf-16"),
                                             c_tsv=SHEET.replace(";", "\t")),
                            _cases("csv", columns=COLUMNS, separator="|")),
        "cases-ragas": Seeded(lambda f: _files(f, a_jsonl=_lines(RAGAS), b_json=json.dumps(RAGAS),
                                               c_csv=python + "\"['a text']\",Zoe,Zoë\n"), _cases("ragas")),
        "cases-deepeval": Seeded(lambda f: _files(f, a_json=json.dumps(GOLDENS), b_jsonl=_lines(GOLDENS), c_csv=cells),
                                 _cases("deepeval", slices=("topic",))),
        "runs-trec": Seeded(lambda f: _files(f, run_txt=run, run_gz=gzip.compress(run.encode(), mtime=0)),
                            _runs("trec")),
        "runs-traces": Seeded(lambda f: _files(f, run_jsonl=_lines([TRACE, {**TRACE, "repeat": 1}])), _runs(None)),
        "runs-ragas": Seeded(lambda f: _files(f, run_jsonl=_lines(RAGAS)), _runs("ragas")),
        "runs-deepeval": Seeded(lambda f: _files(f, run_json=json.dumps(GOLDENS)), _runs("deepeval")),
    }  # fmt: skip
