"""An audit of what was made honestly is equal; a number, an answer or a verdict that was put in by hand is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ragassay.audit.alike import difference
from ragassay.audit.remake import Check, audit
from ragassay.cli import exit_code_of
from ragassay.errors import UsageError
from ragassay.records.base import Digest
from ragassay.records.canonical import digest_of, digest_set
from ragassay.records.comparison import Comparison
from ragassay.records.decision import Decision
from ragassay.records.protocol import Run
from ragassay.records.score import ScoreTable
from ragassay.records.trace import TraceContent
from ragassay.store import Store


def opened(project: Path) -> tuple[Store, Digest]:
    store = Store.open(project / ".ragassay")
    return store, store.resolve("good", "run")


def checks(store: Store, run: Digest) -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = {}
    for one in audit(store, run):
        found.setdefault(one.kind, []).append(one)
    return found


def files(folder: Path) -> dict[str, int]:
    return {str(one): one.stat().st_mtime_ns for one in folder.rglob("*") if one.is_file()}


def test_what_was_made_honestly_is_equal_and_nothing_changes(project: Path) -> None:
    store, run = opened(project)
    before = files(store.path)
    found = checks(store, run)
    assert {kind: {one.result for one in each} for kind, each in found.items()} == {
        kind: {"equal"} for kind in ("bytes", "responses", "scores", "comparison", "decision")
    }
    assert "12 traces follow from raw responses" in found["responses"][0].told
    assert files(store.path) == before


def test_a_run_that_nobody_scored_is_not_called_equal_without_a_word(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, run = opened(project)
    for one in [*store.refs("scores/"), *store.refs("past/"), *store.refs("decision/"), *store.refs("comparison/")]:
        store.remove_ref(one.name)
    assert [one.result for one in checks(store, run)["scores"]] == ["not made again"]
    capsys.readouterr()
    assert exit_code_of(["audit", "good"]) == 0
    assert "as far as it could be made again (1 of 3 could not)" in capsys.readouterr().out


def rewritten(store: Store, blob: str, change: Any) -> Digest:
    """The same table with one line changed by hand, put back with its right digest."""
    rows = list(store.get_lines(dict, blob))
    change(rows)
    return store.put_lines(rows)


def first_value(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return next(one for one in rows if one.get("value") == 1.0 and "recall" in one["measure"])


@pytest.mark.parametrize("field", ["observations", "estimates"])
def test_a_number_typed_into_a_table_is_named(project: Path, field: str) -> None:
    store, run = opened(project)
    digest = store.resolve("good", "scores")
    table = store.get_record(ScoreTable, digest)
    blob = rewritten(store, getattr(table, field), lambda rows: first_value(rows).update(value=0.5))
    store.set_ref("scores/good", store.put_record(msgspec.structs.replace(table, **{field: blob})), kind="scores")
    differing = [one for one in checks(store, run)["scores"] if one.result == "differs"]
    assert len(differing) == 1
    assert differing[0].first is not None
    assert differing[0].first.place.startswith(f"{field} line ")
    assert (float(differing[0].first.stored), float(differing[0].first.made)) == (0.5, 1.0)


def test_the_last_bit_of_a_number_is_no_difference_and_a_count_is(project: Path) -> None:
    store, run = opened(project)
    table = store.get_record(ScoreTable, store.resolve("good", "scores"))

    def last_bit(rows: list[dict[str, Any]]) -> None:
        first_value(rows).update(value=1.0 - 1e-15)

    blob = rewritten(store, table.estimates, last_bit)
    store.set_ref("scores/a", store.put_record(msgspec.structs.replace(table, estimates=blob)), kind="scores")
    told = [one.told for one in checks(store, run)["scores"]]
    assert any("last bits" in one for one in told)
    assert difference({"scored": 3}, {"scored": 4}) is not None
    assert difference({"scored": 3}, {"scored": 3.0}) is None
    assert difference(1.0, 1.0 + 1e-11) is not None
    assert difference(True, 1) is not None
    assert difference([1], [1, 2]) is not None


def test_a_decision_that_was_turned_is_named(project: Path) -> None:
    store, run = opened(project)
    decision = store.get_record(Decision, store.resolve("good", "decision"))
    assert decision.outcome == "pass"
    result = msgspec.structs.replace(decision.results[-1], threshold=0.2)
    turned = msgspec.structs.replace(decision, results=(*decision.results[:-1], result))
    store.set_ref("decision/good", store.put_record(turned), kind="decision")
    (check,) = checks(store, run)["decision"]
    assert check.result == "differs"
    assert check.first is not None
    assert check.first.place.endswith("threshold")


def test_an_effect_that_was_changed_is_named(project: Path) -> None:
    store, run = opened(project)
    (ref,) = store.refs("comparison/")
    comparison = store.get_record(Comparison, ref.digest)
    blob = rewritten(store, comparison.moves, lambda rows: rows.pop())
    store.set_ref(ref.name, store.put_record(msgspec.structs.replace(comparison, moves=blob)), kind="comparison")
    (check,) = checks(store, run)["comparison"]
    assert check.result == "differs"
    assert check.first is not None
    assert check.first.place.startswith("moves line")


def test_an_answer_put_into_a_trace_does_not_follow_from_its_response(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything is hashed anew around the changed trace, so that only the raw response can tell."""
    store, run = opened(project)
    record = store.get_record(Run, run)
    traces = list(store.get_lines(TraceContent, record.contents))
    answer = traces[4].answer
    assert answer is not None
    traces[4] = msgspec.structs.replace(traces[4], answer=msgspec.structs.replace(answer, text="by hand"))
    contents = store.put_lines(traces)
    forged = msgspec.structs.replace(record, contents=contents, content=digest_set(digest_of(one) for one in traces))
    store.set_ref("run/good", store.put_record(forged), kind="run")
    capsys.readouterr()
    assert exit_code_of(["audit", "good", "--json"]) == 5
    found = json.loads(capsys.readouterr().out)
    (check,) = [one for one in found["checks"] if one["kind"] == "responses"]
    assert not found["equal"]
    assert check["first"]["place"] == "answer.text"
    assert check["first"]["stored"] == "by hand"


def test_a_flipped_bit_ends_the_audit(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, run = opened(project)
    path = store.blob_path(store.get_record(Run, run).contents)
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    assert exit_code_of(["audit", "good"]) == 5
    assert "run.contents" in capsys.readouterr().err


def test_another_mapping_is_another_subject(project: Path) -> None:
    """The raw bytes are read by the mapping that was sealed, not by the one in the settings of today."""
    settings = project / "ragassay.toml"
    settings.write_text(settings.read_text().replace("$.reply.text", "$.query_id"))
    store, run = opened(project)
    assert checks(store, run)["responses"][0].result == "equal"


class TestExplain:
    """Every hop has a digest that `sha256sum` gives for the bytes that it names."""

    def test_from_the_verdict_to_the_document(self, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
        capsys.readouterr()
        assert exit_code_of(["explain", "good", "q3", "recall(rel=2)@5", "--json"]) == 0
        hops = json.loads(capsys.readouterr().out)
        assert [one["what"] for one in hops] == [
            "decision", "threshold", "verdict of the question", "figure of the class", "figure of the class", "score",
            "question and labels", "trace", "step", "raw response", "run", "passage", "document", "source file",
        ]  # fmt: skip
        said = {one["what"]: one["told"] for one in hops}
        assert "threshold 0.5" in said["threshold"]
        assert "recall(rel=2)@5 at context, repeat 0: 1 = 1 / 1" in said["score"]
        assert "d3@1:14-19 grade 3" in said["question and labels"]
        assert "d3@1" in said["document"]

    @pytest.mark.parametrize("words", [["q99"], ["q3", "ndcg@10"], ["q3", "nonsense"], ["", "recall(rel=2)@5"]])
    def test_what_is_not_there(self, project: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert project
        assert exit_code_of(["explain", "good", *words]) == 2
        assert "hint:" in capsys.readouterr().err


def test_a_rule_of_resolution_that_this_version_does_not_have_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What another version sealed cannot be made again here: that is no equality, and the rest is audited."""
    assert project

    def other(*_: object) -> None:
        raise UsageError("it has 'align/9'", field="resolution")

    monkeypatch.setattr("ragassay.audit.responses.resolver_of", other)
    assert exit_code_of(["audit", "good", "--json"]) == 5
    found = {one["kind"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    assert (found["responses"]["result"], found["scores"]["result"]) == ("differs", "equal")
    assert found["responses"]["told"] == "cannot be made again: it has 'align/9'"
