"""Measures of other packages: named like ours, scored like ours, sealed with their package; what a check finds."""

from __future__ import annotations

import dataclasses
import math
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.score.score_material import case, doc, ev, item, loose, row, score, step, trace

from ragassay import evaluate_sync
from ragassay.assay import measure as score_again
from ragassay.cli import exit_code_of
from ragassay.contracts.measure import check_measure
from ragassay.errors import ContractError, UsageError
from ragassay.measures import Declaration, Outcome, OwnMeasure, own_measure, parse, version_of
from ragassay.measures.foreign import fault
from ragassay.records.case import ReferenceAnswer
from ragassay.records.protocol import Protocol, Scoring
from ragassay.records.score import Observation, ScoreTable
from ragassay.score import answer, ranking
from ragassay.store import Store

EXAMPLE = Path(__file__).parents[3] / "examples" / "extensions" / "measure-numbers"
WORDS = dict.fromkeys(
    ("summary", "population", "denominator", "missing_labels", "reference", "unsafe_alone_for"), "as it says"
)
TOP = Declaration(
    name="top_share", stage="retrieval", aggregation="macro", params=("rel", "unit"), cutoff="optional", **WORDS
)
ECHO = Declaration(name="echo", stage="answer", aggregation="macro", high=None, params=("kind",), **WORDS)


def top(gains: tuple[int, ...], ideal: tuple[int, ...], *, rel: int, cutoff: int | None) -> float:
    """The first item's grade over the highest one."""
    assert all(isinstance(one, int) for one in (*gains, *ideal))
    return (gains[0] if gains and gains[0] >= rel else 0) / max(ideal)


def echo(text: str, references: tuple[str, ...], kind: str = "words") -> float:
    if text == "raise":
        raise ZeroDivisionError
    return {"nan": math.nan, "below": -1.0}.get(text, float(len(text.split() if kind == "words" else text)))


Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Makes measures known as pip does: a module, and metadata on the path."""
    caches = (own_measure, ranking.is_ranked, answer._stage)
    module = types.ModuleType("own_measures")
    monkeypatch.setitem(sys.modules, "own_measures", module)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    def make(version: str = "2.1.0", **measures: Any) -> None:
        info = tmp_path / "site" / "own_measures.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text(f"Name: own-measures\nVersion: {version}\n")
        for name, value in measures.items():
            setattr(module, name, value)
        points = "".join(f"{name} = own_measures:{name}\n" for name in measures)
        (info / "entry_points.txt").write_text(f"[ragassay.measures]\n{points}")
        for one in caches:
            one.cache_clear()

    yield make
    for one in caches:
        one.cache_clear()


def both(install: Install) -> None:
    install(top_share=OwnMeasure(TOP, top), echo=OwnMeasure(ECHO, echo))


def test_it_is_spelled_like_ours(install: Install) -> None:
    both(install)
    assert str(parse("top_share( unit=document, rel=3 )@5")) == "top_share(rel=3,unit=document)@5"
    assert str(parse("top_share").with_rel(2)) == "top_share(rel=2)"
    assert parse("top_share@5").declared is TOP
    assert (version_of("top_share"), version_of("recall")) == ("1 own-measures/2.1.0", "1")
    for wrong, words in (
        ("top_shar@5", "top_share"),
        ("top_share(p=0.5)", "takes rel, unit"),
        ("echo@3", "no cut-off"),
    ):
        with pytest.raises(UsageError) as caught:
            parse(wrong)
        assert words in f"{caught.value.message} {caught.value.hint}"


def test_a_name_of_ours_stays_ours(install: Install) -> None:
    install(recall=OwnMeasure(dataclasses.replace(TOP, name="recall"), top))
    assert own_measure("recall") is None
    assert version_of("recall") == "1"


def test_a_list_measure_is_taken_at_every_step_by_hand(install: Install) -> None:
    both(install)
    docs = (doc("a", "aaaaaaaaaa"), doc("b", "bbbbbbbbbb"))
    known = case(evidence=(ev("e", "a", 0, 3, 3), ev("f", "b", 0, 3, 2)))
    found = step("one", "lexical", [item("b", 0, 10), item("a", 0, 10)])
    got = score(known, trace(found), docs, "top_share(rel=2)", "top_share(rel=3)@1", "top_share(rel=2)@1")
    assert row(got, "top_share(rel=2)", "one").value == 2 / 3  # grade 2 stands first, 3 is the highest
    assert row(got, "top_share(rel=3)@1", "one").value == 0.0
    nothing = score(case(evidence=(ev("e", "a", 0, 3, 1),)), trace(found), docs, "top_share(rel=2)")
    assert row(nothing, "top_share(rel=2)", "one").reason == "nothing_relevant"
    unlabelled = score(case(evidence=None), trace(found), docs, "top_share(rel=2)")
    assert row(unlabelled, "top_share(rel=2)", "one").reason == "unlabelled"


def test_an_unknown_item_leaves_its_whole_range_open(install: Install) -> None:
    both(install)
    known = case(evidence=(ev("e", "a", 0, 3, 3),))
    seen = trace(step("one", "lexical", [loose("something")]))
    got = row(score(known, seen, (doc("a", "aaaaa"),), "top_share(rel=2)"), "top_share(rel=2)", "one")
    assert (got.status, got.reason) == ("missing", "unknown_items")
    assert got.bounds is not None
    assert (got.bounds.low, got.bounds.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("text", "status", "value", "reason"),
    [
        ("two words", "value", 2.0, None),
        ("raise", "error", None, "measure_failed"),
        ("nan", "error", None, "out_of_range"),
        ("below", "error", None, "out_of_range"),
        (" ", "missing", None, "empty_answer"),
    ],
)
def test_an_answer_measure_and_what_breaks_in_it(
    install: Install, text: str, status: str, value: float | None, reason: str | None
) -> None:
    both(install)
    known = case(evidence=(), answers=(ReferenceAnswer(text="x"),))
    got = score(known, trace(answer=text), (doc("a", "a"),), "echo", "echo(kind=letters)", "exact_match")
    found = row(got, "echo")
    assert (found.status, found.value, found.reason) == (status, value, reason)
    assert row(got, "exact_match").status == ("missing" if text == " " else "value")  # ours goes on
    if status == "value":
        assert row(got, "echo(kind=letters)").value == 9.0
    without = score(case(evidence=()), trace(answer=text), (doc("a", "a"),), "echo")
    assert row(without, "echo").reason in ("no_reference", "empty_answer")


def test_the_package_is_sealed_and_another_version_does_not_score_for_it(tmp_path: Path, install: Install) -> None:
    both(install)
    cases = [{"query_id": "q", "query": "?", "answers": [{"text": "x"}], "relevant": []}]
    done = evaluate_sync(
        cases, lambda request: {"answer": "a b c", "contexts": []}, measures=("echo",), store=tmp_path / "s", name="n"
    )
    store = Store.open(tmp_path / "s")
    sealed = store.get_record(Protocol, done.protocol).scoring
    assert store.get_record(Scoring, sealed).measure_versions == {"echo": "1 own-measures/2.1.0"}
    table = store.get_record(ScoreTable, done.scores)
    assert [one.value for one in store.get_lines(Observation, table.observations) if one.measure == "echo"] == [3.0]
    install("2.2.0", echo=OwnMeasure(ECHO, echo))
    with pytest.raises(UsageError, match=r"own-measures/2\.2\.0 here, and was sealed as 1 own-measures/2\.1\.0"):
        score_again(store, done.run, sealed, name="again")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "other"}, "entry point is"),
        ({"name": "Top_5"}, "lower case"),
        ({"stage": "context"}, "stage 'context'"),
        ({"summary": ""}, "summary blank"),
        ({"params": ("rel", "beta")}, "takes beta"),
        ({"aliases": ("t",)}, "other names"),
        ({"params": ("unit",)}, "needs rel"),
        ({"high": None}, "no greatest value"),
        ({"high": 0.0}, "a range that is none"),
        ({"low": -math.inf}, "a range that is none"),
        ({"aggregation": "micro"}, "as a mean"),
        ({"computed_by": "score"}, "as a mean"),
        ({"stage": "answer"}, "which only lists have"),
    ],
)
def test_a_declaration_that_does_not_fit_is_refused(install: Install, change: dict[str, Any], words: str) -> None:
    made = OwnMeasure(dataclasses.replace(TOP, **change), top)
    name = "top_share" if change.get("name") == "other" else made.declaration.name
    assert words in fault(made, name)
    with pytest.raises(ContractError) as caught:
        check_measure(made, [((3,), (3,), 1.0)], name=name)
    assert words in str(caught.value)
    if change.get("name") != "Top_5":
        install(top_share=made)
        with pytest.raises(UsageError, match="own-measures/2"):
            parse("top_share@5")


def test_the_check_finds_each_broken_promise() -> None:
    good: Any = OwnMeasure(TOP, lambda gains, ideal, rel: (gains or (0,))[0] / max(ideal))
    check_measure(good, [((3, 0), (3, 2), 1.0), ((2,), (3, 2), 2 / 3)])
    state = iter(range(10**6))
    for broken, examples, words in (
        (top, [((3,), (3,), 0.5)], "the example says 0.5"),
        (top, [], "no example"),
        (lambda gains, ideal, rel: gains[0] / max(ideal), [((3,), (3,), 1.0)], "IndexError"),
        (lambda gains, ideal, rel: float(sum(gains)) / max(ideal), [((3,), (3,), 1.0)], "leaves its declared range"),
        (lambda gains, ideal, rel: 1 / (1 + next(state)), [((3,), (3,), 1.0)], "second time"),
        (lambda gains, ideal, rel: "high", [((3,), (3,), 1.0)], "neither a number"),
        (lambda gains, ideal, rel: Outcome("missing", None, None, None), [((3,), (3,), 1.0)], "neither a number"),
    ):
        function = (lambda gains, ideal, rel: top(gains, ideal, rel=rel, cutoff=None)) if broken is top else broken
        with pytest.raises(ContractError, match=words):
            check_measure(OwnMeasure(TOP, function), examples)  # type: ignore[arg-type]
    with pytest.raises(ContractError, match="no OwnMeasure"):
        check_measure(top, [((3,), (3,), 1.0)])  # type: ignore[arg-type]
    with pytest.raises(ContractError, match="ZeroDivisionError"):
        check_measure(OwnMeasure(ECHO, lambda text, references: 1 / len(text.split())), [("a b", ("c",), 0.5)])


def test_the_example_through_the_command_line(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    from ragassay_numbers import numbers

    install(numbers=numbers)
    monkeypatch.chdir(tmp_path)
    Path("set.jsonl").write_text(
        '{"user_input": "How many?", "response": "120 a minute", "reference": "120 a minute, 9 a day"}\n'
    )
    Path("ragassay.toml").write_text(
        '[benchmark]\ncases = "set.jsonl"\nformat = "ragas"\n[system]\nkind = "ragas"\nfile = "set.jsonl"\n'
        '[run]\nas_of = "2026-08-01"\n[scoring]\nmeasures = ["numbers"]\n'
    )
    for words in (["run"], ["score"], ["report"], ["export", "o.csv"], ["measures", "numbers"]):
        assert exit_code_of(words) == 0, words
    assert ",numbers,,,value,0.5,1.0,2.0," in Path("o.csv").read_text()
    assert "Share of a reference's numbers" in capsys.readouterr().out
    assert exit_code_of(["measures"]) == 0
    assert "\nnumbers " in capsys.readouterr().out
