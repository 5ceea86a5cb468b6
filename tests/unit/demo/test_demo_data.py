import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ragassay import benchmark, corpus, demo
from ragassay.records.case import Case
from ragassay.records.document import Document
from ragassay.store import Store

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="module")
def loaded() -> demo.Demo:
    return demo.load()


@pytest.fixture(scope="module")
def built(loaded: demo.Demo, tmp_path_factory: pytest.TempPathFactory) -> tuple[benchmark.Built, list[Case]]:
    store = Store.open(tmp_path_factory.mktemp("demo") / "store", create=True)
    sealed, _ = corpus.build(store, loaded.documents, name="demo")
    made = benchmark.build(store, loaded.cases, sealed, loaded.documents, name="demo", version="1", as_of=demo.AS_OF)
    return made, benchmark.load(store, made.benchmark)


def text_of(documents: list[Document], document_id: str, version: str) -> str:
    return next(one.text for one in documents if (one.document_id, one.version) == (document_id, version))


def test_it_holds_what_was_promised_and_fits(built: tuple[benchmark.Built, list[Case]]) -> None:
    made, cases = built
    sources = Counter((case.class_, next(word for word in case.slice if word.startswith("source="))) for case in cases)
    assert sources["answerable", "source=clapnq"] == 150
    assert sources["unanswerable", "source=clapnq"] == 80
    assert sources["multi_hop", "source=musique"] == 60
    assert sources["adversarial", "source=invented"] == 10
    assert sources["cross_tenant", "source=invented"] >= 12
    turns = Counter(case.conversation.id for case in cases if case.conversation)
    assert list(turns.values()) == [3, 3, 3]
    assert sum(path.stat().st_size for path in demo.FOLDER.rglob("*") if path.is_file()) <= 2_000_000
    assert made.benchmark.corpus_version == demo.CORPUS_VERSION


def test_every_label_fits_its_document(built: tuple[benchmark.Built, list[Case]]) -> None:
    report = built[0].report
    assert (report.not_found, report.ambiguous, report.dangling) == ((), (), ())
    assert report.quotes_found > 50


def test_passage_scope_stays_out_of_empty_retrieval_and_corpus_scope_is_in_it(
    built: tuple[benchmark.Built, list[Case]],
) -> None:
    for case in built[1]:
        if case.class_ == "unanswerable":
            grades = [label.grade for label in case.evidence or ()]
            assert (case.answerability_scope, grades) in (("passage", [0]), ("corpus", []))
        if case.class_ == "unanswerable" and case.answerability_scope == "passage":
            assert "this passage only" in (case.notes or "")


def test_spans_of_clapnq_are_its_selected_sentences(
    loaded: demo.Demo, built: tuple[benchmark.Built, list[Case]]
) -> None:
    path = DATA / "clapnq" / "clapnq_dev_answerable.jsonl"
    if not path.exists():
        pytest.skip("needs ../shared/data/clapnq")
    rows = {f"clapnq-{row['id']}": row for row in map(json.loads, path.read_text("utf-8").splitlines())}
    checked = 0
    for case in built[1]:
        row = rows.get(case.query_id)
        if row is None:
            continue
        texts = {
            label.id: text_of(loaded.documents, label.document_id, label.version or "")[label.start : label.end]
            for label in case.evidence or ()
        }
        wanted = {sentence for one in row["output"] for sentence in one["selected_sentences"]}
        assert set(texts.values()) == wanted
        alternatives = {frozenset(one["selected_sentences"]) for one in row["output"] if one["selected_sentences"]}
        minimal = {one for one in alternatives if not any(other < one for other in alternatives)}
        assert {frozenset(texts[name] for name in group) for group in case.facts[0].any_of} == minimal
        answers = [one["answer"] for one in row["output"] if one["answer"]]
        assert [one.text for one in case.answers] == answers
        checked += 1
    assert checked == 150


def test_canaries_stand_only_in_documents_that_some_people_may_not_see(loaded: demo.Demo) -> None:
    owners = {canary: one for one in loaded.documents for canary in re.findall(r"CANARY-[A-Z0-9-]+", one.text)}
    assert len(owners) >= 10
    for one in owners.values():
        assert "*" not in (one.tenants or ()) or one.acl is not None
    assert {name for one in owners.values() for name in one.tenants or ()} == {"kestrel", "mallow", "*"}


def test_cross_tenant_cases_have_controls_and_some_show_nothing(built: tuple[benchmark.Built, list[Case]]) -> None:
    made, cases = built
    cross = [case.query_id for case in cases if case.class_ == "cross_tenant"]
    nothing = [name for name in made.report.nothing_visible if name in cross]
    assert len(nothing) >= 4
    assert len(set(cross) - set(nothing)) >= 4
    assert all(case.principal and case.threats for case in cases if case.class_ == "cross_tenant")


def test_history_is_what_was_said_before(built: tuple[benchmark.Built, list[Case]]) -> None:
    by_turn = {(case.conversation.id, case.conversation.turn): case for case in built[1] if case.conversation}
    for (name, turn), case in by_turn.items():
        assert case.conversation is not None
        said = []
        for before in range(1, turn):
            earlier = by_turn[name, before]
            said += [("user", earlier.query), ("assistant", earlier.answers[0].text)]
        assert [(one.role, one.text) for one in case.conversation.history] == said


def test_old_versions_are_superseded_when_the_demo_asks(loaded: demo.Demo) -> None:
    found = corpus.standing(loaded.documents, demo.AS_OF)
    old = {(one.document_id, one.version) for one, how in found.items() if how.superseded}
    assert old == {("lumen-plans", "2025"), ("lumen-retention", "1")}
    assert {(one.document_id, one.version) for one, how in found.items() if not how.current} == old


def test_both_chunkers_matter_for_the_invented_documents(loaded: demo.Demo) -> None:
    invented = [one for one in loaded.documents if one.metadata.get("source") == "invented"]
    by_structure = corpus.chunk(invented, chunker="markdown", size=60)
    assert any(one.transform == "decorated" for one in by_structure)
    assert {one.text for one in by_structure} != {one.text for one in corpus.chunk(invented, size=60, overlap=0)}


def test_sources_and_licences_are_stated() -> None:
    names = {path.name for path in demo.FOLDER.iterdir()}
    assert {"ATTRIBUTION.md", "README.md", "LICENSE-APACHE-2.0.txt", "LICENSE-CC-BY-4.0.txt"} <= names
    assert "LICENSE-CC-BY-SA-4.0.txt" in names
    readme = (demo.FOLDER / "README.md").read_text("utf-8")
    documents, cases = demo.load()
    sources = Counter(one.metadata["source"] for one in documents)
    assert f"| clapnq, musique | {sources['clapnq'] + sources['musique']:,} |" in readme
    assert f"| invented | {sources['invented']} |" in readme
    for name, count in Counter(word for case in cases for word in case.slice if word.startswith("source=")).items():
        assert f"| {name.removeprefix('source=')} | {count} |" in readme


@pytest.mark.shared
def test_the_same_input_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (DATA / "musique").exists():
        pytest.skip("needs ../shared/data/clapnq and musique")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import build_demo

    monkeypatch.setattr(build_demo, "TARGET", tmp_path)
    build_demo.write(DATA)
    for path in (demo.DOCUMENTS, demo.CASES):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.shared
@pytest.mark.parametrize(
    "name, documents, cases", [("clapnq", 597, 600), ("musique", 3141, 200), ("cranfield", 1400, 225)]
)
def test_examples_build_completely(tmp_path: Path, name: str, documents: int, cases: int) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"needs ../shared/data/{name}")
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), str(DATA / name), str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    found = corpus.read_jsonl(tmp_path / "documents.jsonl")
    if name == "cranfield":
        lines = benchmark.read_trec(tmp_path / "topics.xml", tmp_path / "qrels.txt", join="position")
    else:
        lines = benchmark.read_cases(tmp_path / "cases.jsonl")
    store = Store.open(tmp_path / "store", create=True)
    sealed, _ = corpus.build(store, found, name="c")
    report = benchmark.build(store, lines, sealed, found, name="b", version="1").report
    assert (len(found), report.cases) == (documents, cases)
    assert (report.dangling, report.not_found, report.ambiguous) == ((), (), ())
    settings = (tmp_path / "ragassay.toml").read_text("utf-8")
    assert str(tmp_path) not in settings.split("[store]")[1]
