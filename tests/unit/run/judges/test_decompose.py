"""Answers cut into claims by a model: what it makes up never becomes a claim, what it leaves out is never left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.run.judges.world import Overlap, RunWorld
from trials.scripted_models import Seen, completion, served

from ragassay.claims import statement_of
from ragassay.errors import CeilingError, UsageError
from ragassay.records.judgement import AnswerClaims, JudgeIdentity, Judgement, JudgementSet
from ragassay.run.judges.executing import NOT_CUT, foresee
from ragassay.run.judges.llm import decompose, pieces
from ragassay.run.judges.llm.decompose import Decomposer, decomposer
from ragassay.run.judges.llm.form import BadReplyError
from ragassay.run.judges.settings import judge_settings
from ragassay.trials.people.calibrating import calibrate
from ragassay.trials.people.drawing import draw
from ragassay.trials.people.importing import import_verdicts

SECRET = b"d" * 32
ANSWER = (
    "The ferry leaves at 07:40 on weekdays [1] and takes 55 minutes. It does not run on Sundays [2]. I hope this helps!"
)
CLAIMS = [
    {"quote": "The ferry leaves at 07:40 on weekdays", "subject": ""},
    {"quote": "takes 55 minutes", "subject": "The ferry"},
    {"quote": "It does not run on Sundays", "subject": ""},
]
GOOD = {"claims": CLAIMS, "no_claims": ["I hope this helps!"]}
TABLE: dict[str, Any] = {"model": "m", "version": "scripted-1", "retries": 0, "endpoint": "cutter"}


def cutter(url: str = "http://127.0.0.1:9/v1", **more: Any) -> Decomposer:
    return decomposer({"url": url, **TABLE, **more}, secret=SECRET)


def world(folder: Path, questions: int = 2) -> RunWorld:
    return RunWorld(folder, questions=questions, answer=lambda _: ANSWER)


def cut(made: RunWorld, reply: Callable[[Seen], Any], table: dict[str, Any] | None = None, **settings: Any) -> Any:
    """A set of a scripted model, its claims, its verdicts, and the requests that it saw."""
    with served(reply) as (url, model):
        found, _ = made.judge(
            cutter(url, **(table or {})), name="pieces", kind="decompose", resume=False, **settings
        )  # fmt: skip
        return found, list(made.store.get_lines(AnswerClaims, found.claims)), made.judgements(found), model.seen


def words(claims: AnswerClaims) -> list[str]:
    return [statement_of(ANSWER, one) for one in claims.claims]


def without(**more: Any) -> Callable[[Seen], Any]:
    return lambda _: {**GOOD, **more}


def test_claims_are_the_words_of_the_answer_with_what_they_are_about(tmp_path: Path) -> None:
    found, claims, verdicts, seen = cut(world(tmp_path), lambda _: GOOD)
    assert found.state == "complete"
    assert len(seen) == 2
    assert words(claims[0]) == [
        "The ferry leaves at 07:40 on weekdays", "The ferry takes 55 minutes", "It does not run on Sundays",
    ]  # fmt: skip
    assert [one.citations for one in claims[0].claims] == [(0,), (), (1,)]
    assert claims[0].provenance == "model"
    assert claims[0].left_out == {"no_claim": 1}
    assert {(one.about, one.label) for one in verdicts} == {("decomposition", "decomposed")}


def test_a_sentence_with_a_mark_inside_is_quoted_with_or_without_it() -> None:
    cut_ = pieces.read(
        json.dumps({**GOOD, "claims": [{"quote": ANSWER[:63], "subject": ""}, CLAIMS[2]]}), ANSWER, "en", most=9
    )
    assert next(ANSWER[one.start : one.end] for one in cut_.claims) == ANSWER[:62]


HOSTILE: dict[str, tuple[Callable[[Seen], Any], str]] = {
    "truncated": (lambda _: completion(json.dumps(GOOD)[:80], finish="length"), "truncated"),
    "truncated, and called whole": (lambda _: completion(json.dumps(GOOD)[:80]), "json"),
    "two blocks": (lambda _: completion(json.dumps(GOOD) * 2), "more_than_json"),
    "words around": (lambda _: completion("Here you are: " + json.dumps(GOOD)), "more_than_json"),
    "empty": (lambda _: completion(""), "empty"),
    "another key": (without(verdict="supported"), "form"),
    "no list": (without(claims="all"), "form"),
    "a claim with another key": (without(claims=[{**CLAIMS[0], "true": True}, *CLAIMS[1:]]), "form"),
    "an invented claim": (without(claims=[*CLAIMS, {"quote": "The ferry is red", "subject": ""}]), "invented_span"),
    "a number changed": (without(claims=[{"quote": "The ferry leaves at 07:45 on weekdays", "subject": ""},
                                         *CLAIMS[1:]]), "invented_span"),
    "a negation taken out": (without(claims=[*CLAIMS[:2], {"quote": "It does run on Sundays", "subject": ""}]),
                             "invented_span"),
    "a negation left out": (without(claims=[*CLAIMS[:2], {"quote": "run on Sundays", "subject": "The ferry"}]),
                            "left_out"),
    "an invented subject": (without(claims=[{**CLAIMS[0], "subject": "The captain"}, *CLAIMS[1:]]), "invented_span"),
    "a part of a word": (without(no_claims=["I hope this help"]), "invented_span"),
    "one quote twice": (without(claims=[CLAIMS[0], *CLAIMS]), "overlapping"),
    "overlapping": (without(claims=[{"quote": ANSWER[:63], "subject": ""}, *CLAIMS[1:]]), "overlapping"),
    "a claim that is none as well": (without(no_claims=["I hope this helps!", CLAIMS[0]["quote"]]), "overlapping"),
    "too many": (without(claims=CLAIMS * 30), "too_many_claims"),
    "another language": (without(claims=[{"quote": "Die Fähre fährt um 07:40", "subject": ""}, *CLAIMS[1:]]),
                         "invented_span"),
    "a sentence left out": (without(claims=CLAIMS[:2]), "left_out"),
    "nothing at all": (lambda _: {"claims": [], "no_claims": []}, "left_out"),
    "a quote without end": (without(no_claims=["x" * 5000]), "too_long"),
    "another model": (lambda _: completion(GOOD, model="scripted-2"), "other_model"),
}  # fmt: skip


@pytest.mark.parametrize("way", HOSTILE)
def test_a_hostile_reply_makes_no_claim_and_says_why(way: str, tmp_path: Path) -> None:
    reply, code = HOSTILE[way]
    made = world(tmp_path, questions=1)
    _found, claims, verdicts, seen = cut(made, reply, {"reasks": 2})
    assert claims == []
    assert [one.status for one in verdicts] == ["error"]
    assert verdicts[0].failure is not None
    assert verdicts[0].failure.code == code
    assert len(seen) == (1 if code == "other_model" else 3)
    # and whoever takes claims from it has none for that answer, which is missing and not well done
    judged, _ = made.judge(Overlap(), name="words", kind="lexical", claims="pieces")
    assert (judged.state, judged.stopped, judged.valued) == ("partial", NOT_CUT, 1)  # the fact needs no claims
    assert list(made.store.get_lines(AnswerClaims, judged.claims)) == []


def test_a_usable_reply_on_the_second_asking_counts(tmp_path: Path) -> None:
    found, claims, _, seen = cut(world(tmp_path, 1), lambda one: GOOD if one.number else {"claims": []})
    assert found.state == "complete"
    assert len(claims) == 1
    assert len(seen) == 2


def test_an_order_in_the_answer_stands_inside_the_fence(tmp_path: Path) -> None:
    _, _, _, seen = cut(world(tmp_path, 1), lambda _: GOOD)
    assert seen[0].parts["text"] == ANSWER
    assert "ferry" not in seen[0].outside


def test_judges_that_take_the_claims_say_whose_they_are(tmp_path: Path) -> None:
    made = world(tmp_path)
    pieces_, claims, _, _ = cut(made, lambda _: GOOD)
    plain, _ = made.judge(Overlap(), name="plain", kind="lexical")
    judged, _ = made.judge(Overlap(), name="words", kind="lexical", claims="pieces")
    assert list(made.store.get_lines(AnswerClaims, judged.claims)) == claims
    assert judged.cut is not None
    assert made.store.get_record(JudgementSet, judged.cut) == pieces_
    assert judged.splitter == pieces_.splitter
    assert plain.splitter != judged.splitter
    assert made.store.get_record(JudgeIdentity, judged.judge).settings["claims"] == pieces_.judge
    ids = {one.target for one in made.judgements(judged) if one.about == "claim"}
    assert ids == {one.claim_id for one in claims[0].claims}
    assert ids.isdisjoint(one.target for one in made.judgements(plain))


def test_without_its_claims_a_judge_is_not_put_anything(tmp_path: Path) -> None:
    made = world(tmp_path, 1)
    with pytest.raises(UsageError, match="pieces has not cut"):
        made.judge(Overlap(), name="words", kind="lexical", claims="pieces")
    made.judge(Overlap(), name="pieces", kind="lexical")
    with pytest.raises(UsageError, match="makes none"):
        made.judge(Overlap(), name="words", kind="lexical", claims="pieces")


def test_a_dry_run_counts_and_a_ceiling_ends_it(tmp_path: Path) -> None:
    made = world(tmp_path, 3)
    declared = judge_settings("pieces", {"kind": "decompose"})
    plan = foresee(made.store, made.digest, cutter(reasks=1), name="pieces", settings=declared)
    assert (plan.answers, plan.items, plan.controls, plan.calls, plan.most_calls) == (3, 3, 0, 3, 6)
    with pytest.raises(CeilingError):
        cut(made, lambda _: GOOD, max_calls=1, concurrency=1)
    found, claims, _, seen = cut(made, lambda _: GOOD)
    assert len(claims) == 3
    assert found.state == "complete"
    assert len(seen) == 2


CHANGED: dict[str, dict[str, Any]] = {
    "model": {"model": "m2"}, "endpoint": {"endpoint": "other"}, "temperature": {"options": {"temperature": 0.4}},
    "seed": {"seed": 4}, "form": {"form": "text"}, "reasks": {"reasks": 3}, "most_claims": {"most_claims": 9},
    "answer_characters": {"answer_characters": 900}, "version": {"version": None},
}  # fmt: skip


@pytest.mark.parametrize("part", CHANGED)
def test_a_setting_that_can_change_the_claims_misses_the_cache(part: str, tmp_path: Path) -> None:
    made = world(tmp_path, 1)
    assert len(cut(made, lambda _: GOOD)[3]) == 1
    assert len(cut(made, lambda _: GOOD)[3]) == 0
    changed = {key: value for key, value in {**TABLE, **CHANGED[part]}.items() if value is not None}
    with served(lambda _: GOOD) as (url, model):
        made.judge(decomposer({"url": url, **changed}, secret=SECRET), name="pieces", kind="decompose", resume=False)
        assert len(model.seen) == 1


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [(decompose, "SYSTEM", decompose.SYSTEM + " Be careful."), (decompose, "TASK", decompose.TASK + " Thank you."),
     (pieces, "PARSER", "llm-claims/2"), (decompose, "VERSION", "999.0"), (pieces, "QUOTE", 599),
     (pieces, "MOST_BETWEEN", 2), (decompose, "splitter", lambda: "claims/9")],
    ids=["prompt", "task", "parser", "library", "schema", "rule", "splitter"],
)  # fmt: skip
def test_a_change_of_our_own_code_misses_the_cache(
    module: Any, name: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = world(tmp_path, 1)
    cut(made, lambda _: GOOD)
    monkeypatch.setattr(module, name, value)
    assert len(cut(made, lambda _: GOOD)[3]) == 1


def test_another_decomposition_is_another_judge_and_asks_anew(tmp_path: Path) -> None:
    made, words_ = world(tmp_path, 1), Overlap()
    cut(made, lambda _: GOOD)
    made.judge(words_, name="words", kind="lexical", claims="pieces")
    before = words_.judged
    made.judge(words_, name="words", kind="lexical", claims="pieces", resume=False)
    assert words_.judged == before  # known
    cut(made, lambda _: GOOD, {"seed": 4})  # the same claims by another cutter
    made.judge(words_, name="words", kind="lexical", claims="pieces", resume=False)
    assert words_.judged > before


@pytest.mark.parametrize(
    ("answer", "language", "quotes"),
    [("这座桥建于1932年。它不收费。", "zh", ["这座桥建于1932年", "它不收费"]),
     ("橋は1932年に建てられた。通行料はかからない。", "ja", ["橋は1932年に建てられた", "通行料はかからない"]),
     ("بني الجسر عام 1932. لا توجد رسوم عبور.", "ar", ["بني الجسر عام 1932", "لا توجد رسوم عبور"]),
     ("Die Brücke wurde 1932 gebaut. Sie kostet keine Maut.", "de",
      ["Die Brücke wurde 1932 gebaut", "Sie kostet keine Maut"])],
    ids=["zh", "ja", "ar", "de"],
)  # fmt: skip
def test_other_scripts_are_cut_and_their_negations_are_not_lost(answer: str, language: str, quotes: list[str]) -> None:
    said = {"claims": [{"quote": one, "subject": ""} for one in quotes], "no_claims": []}
    assert [answer[one.start : one.end] for one in pieces.read(json.dumps(said), answer, language, most=9).claims] == (
        quotes
    )
    with pytest.raises(BadReplyError) as bad:
        pieces.read(json.dumps({**said, "claims": said["claims"][:1]}), answer, language, most=9)
    assert bad.value.code == "left_out"


@pytest.mark.parametrize(
    ("table", "field"),
    [({"kind": "decompose", "repeats": 2}, "judges.x.repeats"), ({"kind": "panel", "claims": "y"}, "judges.x.claims"),
     ({"kind": "decompose", "claims": "y"}, "judges.x.claims"),
     ({"kind": "lexical", "claims": "x"}, "judges.x.claims")],
)  # fmt: skip
def test_settings_that_mean_nothing_are_refused(table: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError) as refused:
        judge_settings("x", table)
    assert refused.value.field == field


def test_claims_come_back_out_of_a_journal(tmp_path: Path) -> None:
    made = world(tmp_path, 2)
    with served(lambda _: GOOD) as (url, _):
        made.judge(cutter(url), name="pieces", kind="decompose", limit=1)
        found, _ = made.judge(cutter(url), name="pieces", kind="decompose")
    claims = list(made.store.get_lines(AnswerClaims, found.claims))
    assert len(claims) == 2
    assert msgspec.structs.replace(claims[1], query_id=claims[0].query_id) == claims[0]
    assert all(isinstance(one, Judgement) for one in made.judgements(found))


def test_people_are_asked_about_the_claims_of_the_model_and_calibrate_who_took_them(tmp_path: Path) -> None:
    made = world(tmp_path, 4)
    cut(made, lambda _: GOOD)
    judged, _ = made.judge(Overlap(), name="words", kind="lexical", claims="pieces")
    made.judge(Overlap(), name="plain", kind="lexical")
    with pytest.raises(UsageError, match="other claims"):
        draw(made.store, made.digest, [], size=4)
    drawn = draw(made.store, made.digest, ["words"], size=30, about=("claim",), plain=True)
    assert {item.target for _, item in drawn.items} <= {one.target for one in made.judgements(judged)}
    filled = tmp_path / "people.csv"
    rows = [f"{item.query_id},{item.repeat},claim,{item.target},supported" for _, item in drawn.items]
    filled.write_text("\n".join(["query_id,repeat,about,target,label", *rows]) + "\n")
    people = import_verdicts(made.store, made.digest, filled, author="anna", rubric="support/1").record
    assert (people.cut, people.splitter) == (judged.cut, judged.splitter)
    found = calibrate(made.store, made.digest, "words").record
    assert found.judge == judged.judge
    assert found.agreements[0].items == len(rows)
