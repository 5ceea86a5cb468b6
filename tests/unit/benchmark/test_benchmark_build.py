import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay import corpus as corpora
from ragassay.benchmark import Built, build, load, read_cases
from ragassay.benchmark.labels import Documents, Findings, resolve_case
from ragassay.errors import BenchmarkError, IntegrityError
from ragassay.records.canonical import parse_value
from ragassay.records.case import Benchmark, Case, CaseLine
from ragassay.records.document import Acl, Corpus, Document
from ragassay.store import Store

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
AS_OF = "2026-06-01T00:00:00Z"


def doc(document_id: str, text: str, **more) -> Document:
    values = {"version": "1", "parser": "p", "normaliser": "n", "tenants": ("*",), **more}
    return Document(document_id=document_id, text=text, **values)


DOCUMENTS = [
    doc("a", "The fee is 5 EUR. The fee is due."),
    doc("v", "old rate: 1", valid_until="2026-01-01T00:00:00Z"),
    doc("v", "new rate: 2", version="2", valid_from="2026-01-01T00:00:00Z"),
    doc("w", "one", version="1"),
    doc("w", "two", version="2"),
    doc("s", "secret", tenants=("t1",)),
    doc("hr", "salary", acl=Acl(roles=("hr",))),
    doc("blank", "a   b"),
]


def label(document_id: str, grade: int = 3, id: str = "e1", **more) -> dict:  # noqa: A002
    return {"id": id, "document_id": document_id, "grade": grade, **more}


def case(*evidence: dict, query_id: str = "q", **more) -> dict:
    return {"query_id": query_id, "query": "?", "evidence": list(evidence), **more}


Make = Callable[..., Built]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture
def make(store: Store, tmp_path: Path) -> Make:
    corpus, _ = corpora.build(store, DOCUMENTS, name="c")

    def built(*lines: dict, **more) -> Built:
        path = tmp_path / "cases.jsonl"
        path.write_text("\n".join(json.dumps(one) for one in lines))
        return build(store, read_cases(path), corpus, DOCUMENTS, name="b", version="1", **{"as_of": AS_OF, **more})

    return built


def one(store: Store, built: Built) -> Case:
    (found,) = load(store, built.benchmark)
    return found


def test_quotes_become_spans_or_are_reported(make: Make, store: Store) -> None:
    built = make(
        case(
            label("a", quote="fee is 5", id="found"),
            label("a", quote="The fee", id="twice"),
            label("a", quote="the fee", id="never"),
            label("a", quote="The fee", start=18, end=25, id="told"),
            label("none", quote="x", id="gone"),
        )
    )
    spans = {
        found.id: (found.version, found.start, found.end, found.quote) for found in one(store, built).evidence or ()
    }
    assert spans == {
        "found": ("1", 4, 12, "fee is 5"),
        "twice": ("1", None, None, "The fee"),
        "never": ("1", None, None, "the fee"),
        "told": ("1", 18, 25, "The fee"),
        "gone": (None, None, None, "x"),
    }
    report = built.report
    assert (report.quotes_found, report.spans, report.coarse, report.evidence) == (1, 2, 3, 5)
    assert [str(name) for name in report.ambiguous] == ["q/twice"]
    assert [str(name) for name in report.not_found] == ["q/never"]
    assert [str(name) for name in report.dangling] == ["q/gone"]
    assert built.benchmark.dangling == 1
    assert report.versions_filled == 4
    printed = "\n".join(report.lines())
    for wanted in ("q/twice", "q/never", "q/gone", "1 case: 1 answerable", "5 labels: 2 on spans, 3 on whole"):
        assert wanted in printed


def test_a_version_is_the_only_one_or_the_one_valid_at_as_of(make: Make, store: Store) -> None:
    (found,) = one(store, make(case(label("v", quote="rate")))).evidence or ()
    assert (found.version, found.start) == ("2", 4)
    with pytest.raises(BenchmarkError, match=r"several versions \(1, 2\)") as caught:
        make(case(label("w")))
    assert caught.value.field == "evidence[0].version"
    assert caught.value.line == 1
    with pytest.raises(BenchmarkError, match="several versions"):
        make(case(label("v")), as_of=None)
    assert [str(name) for name in make(case(label("w", version="3"))).report.dangling] == ["q/e1"]


@pytest.mark.parametrize(
    "evidence, field, message",
    [
        (label("a", start=0, end=34), "evidence[0].end", "outside document 'a'"),
        (label("a", start=0, end=3, quote="the"), "evidence[0].quote", "'The', not 'the'"),
        (label("a", quote=" "), "evidence[0].quote", "empty quote"),
        (label("blank", start=1, end=4), "evidence[0].start", "white space"),
    ],
)
def test_spans_that_cannot_be(make: Make, evidence: dict, field: str, message: str) -> None:
    with pytest.raises(BenchmarkError, match="case 'q'") as caught:
        make(case(label("a", id="e0"), query_id="fine"), case(evidence))
    assert (caught.value.field, caught.value.line) == (field, 2)
    assert message in caught.value.message


def test_all_wrong_cases_are_named(make: Make) -> None:
    with pytest.raises(BenchmarkError) as caught:
        make(case(label("w"), query_id="x"), case(label("w"), query_id="y"), case(label("w"), query_id="z"))
    assert "case 'x'" in caught.value.message
    assert "2 more, y, z" in caught.value.message


def test_supersets_are_dropped_and_counted(make: Make, store: Store) -> None:
    evidence = [label("a", id=name, start=at, end=at + 1) for at, name in enumerate("bcd")]
    sets = [["b", "c"], ["c"], ["d", "b"], ["c"], ["b", "d"], ["d", "c", "b"]]
    built = make(case(*evidence, facts=[{"id": "f", "any_of": sets}]))
    assert one(store, built).facts[0].any_of == (("c",), ("d", "b"))
    assert built.report.supersets_dropped == 4


def test_hidden_labels_are_kept_and_counted(make: Make, store: Store) -> None:
    ann = {"id": "ann", "tenants": ["t2"]}
    built = make(
        case(label("s"), label("a", id="e2"), query_id="some", principal=ann),
        case(label("s"), label("hr", id="e2"), label("a", 1, id="e3"), query_id="none", principal=ann),
        case(label("hr"), query_id="role", principal={"id": "bob", "roles": ["hr"]}),
        case(label("s"), query_id="unscoped"),
        case(label("gone"), query_id="dangling", principal=ann),
    )
    assert [str(name) for name in built.report.hidden] == ["some/e1", "none/e1", "none/e2"]
    assert built.report.nothing_visible == ("none",)
    assert sum(len(found.evidence or ()) for found in load(store, built.benchmark)) == 8


def test_states_of_labels_are_counted_apart(make: Make) -> None:
    report = make(
        {"query_id": "absent", "query": "?"},
        case(query_id="empty"),
        case(label("a", 0), query_id="low", **{"class": "unanswerable"}),
        case(label("a", 1), label("a", 2, id="e2"), query_id="high"),
    ).report
    assert (report.unlabelled, report.truth_empty, report.below_rel) == (1, 1, 1)
    assert report.classes == {"answerable": 2, "unanswerable": 2}


def test_header_and_case_agree_on_the_corpus_version(make: Make, store: Store) -> None:
    first = case(label("a"), query_id="x", corpus_version="c1")
    built = make(first, case(label("a"), query_id="y"))
    assert built.benchmark.corpus_version == "c1"
    assert "corpus_version" not in json.dumps([str(found) for found in load(store, built.benchmark)])
    with pytest.raises(BenchmarkError, match="'c2', the benchmark's is 'c1'") as caught:
        make(first, case(label("a"), query_id="y", corpus_version="c2"))
    assert (caught.value.line, caught.value.field) == (2, "corpus_version")
    with pytest.raises(BenchmarkError, match="'c1', the benchmark's is 'c9'"):
        make(first, corpus_version="c9")


def test_paraphrases_name_another_case(make: Make) -> None:
    for other in ("nobody", "q"):
        with pytest.raises(BenchmarkError, match="not another case"):
            make(case(label("a"), paraphrase_of=other))
    make(case(label("a")), case(label("a"), query_id="r", paraphrase_of="q"))


def test_it_is_sealed_and_comes_back(make: Make, store: Store) -> None:
    built = make(case(label("a")))
    assert store.ref("benchmark/b") == built.digest
    assert store.get_record(Benchmark, built.digest) == built.benchmark
    header = built.benchmark
    assert (header.relevance_unit, header.rel, header.rubric.name, header.completeness) == (
        "span", 2, "ragassay/1", "unknown",
    )  # fmt: skip
    other = make(case(label("a", 1)))
    forged = Benchmark(
        **{name: getattr(header, name) for name in Benchmark.__struct_fields__} | {"blob": other.benchmark.blob}
    )
    with pytest.raises(IntegrityError):
        load(store, forged)


def test_duplicates_and_nothing(store: Store) -> None:
    corpus, _ = corpora.build(store, DOCUMENTS, name="c")
    line = parse_value(CaseLine, case(label("a")))
    for lines, message in (([], "no cases"), ([line, line], "twice")):
        with pytest.raises(BenchmarkError, match=message):
            build(store, lines, corpus, DOCUMENTS, name="b", version="1")


@given(st.text(min_size=1, max_size=30), st.data())
def test_a_resolved_quote_stands_at_its_span(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    quote = text[start : data.draw(st.integers(start + 1, len(text)))]
    findings = Findings([], [], [], [], [], [], [], [])
    line = parse_value(Case, case(label("d", quote=quote)))
    try:
        found = resolve_case(line, Documents([doc("d", text)], None), 2, findings)
    except BenchmarkError:
        assert not quote.strip()
        return
    (resolved,) = found.evidence or ()
    places = [at for at in range(len(text)) if text.startswith(quote, at)]
    assert (len(findings.found), len(findings.ambiguous)) == (len(places) == 1, len(places) > 1)
    if not resolved.coarse:
        assert text[resolved.start : resolved.end] == quote


@pytest.mark.shared
def test_wice_keeps_its_625_minimal_sets() -> None:
    path = DATA / "wice" / "claim_dev.jsonl"
    if not path.exists():
        pytest.skip("needs ../shared/data/wice")
    findings = Findings([], [], [], [], [], [], [], [])
    total = kept = 0
    for line in path.read_text().splitlines():
        claim = json.loads(line)
        # One set of 43 claims is empty, which a fact may not have: one more member in each set keeps the order.
        sets = [["all", *(f"s{number}" for number in group)] for group in claim["supporting_sentences"]]
        used = sorted({name for group in sets for name in group})
        built = parse_value(Case, case(*(label("d", id=name) for name in used), facts=[{"id": "f", "any_of": sets}]))
        total += len(sets)
        kept += len(resolve_case(built, Documents([], None), 2, findings).facts[0].any_of)
    assert (total, kept) == (1883, 625)


def test_the_corpus_is_named_by_its_content(make: Make, store: Store) -> None:
    assert make(case(label("a"))).benchmark.corpus == store.get_record(Corpus, store.ref("corpus/c")).digest


def test_what_a_model_drafted_enters_no_release_split_unconfirmed(make: Make, store: Store) -> None:
    drafted = {"kind": "model", "by": "m-1"}
    for more in ({"label": drafted}, {"evidence": [label("a", provenance=drafted)]}):
        with pytest.raises(BenchmarkError, match="drafted by a model, and no person has confirmed it") as error:
            make({**case(label("a")), "slice": ["split=release"], **more})
        assert error.value.field in ("label.kind", "evidence.provenance.kind")
        make({**case(label("a")), "slice": ["split=dev"], **more})
    confirmed = {"kind": "adjudicated", "by": "anna"}
    built = make({**case(label("a", provenance=confirmed)), "slice": ["split=release"], "label": confirmed})
    assert one(store, built).label is not None
