"""A hostile model behind a real server: no wrong verdict enters the table, and each item says what went wrong.

The model answers controls, and every second call about the run, as an honest one; the others it answers in one of the
ways that are listed here. What then stands in the set is the honest verdict or an error with its cause, never another.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.unit.run.judges.world import RunWorld
from trials.scripted_models import Seen, completion, honest, served

from ragassay.errors import ErrorBudgetError
from ragassay.records.judgement import Judgement, JudgementSet
from ragassay.run.judges.llm.judge import llm
from ragassay.score.named import judgements_ref

SECRET = b"h" * 32
ANSWER = (
    "The ferry leaves at 07:40 on weekdays [1]. A day return costs 18 euros [2]. "
    "Kiln 3 is heated with gas from the valley. The harbour master keeps seven parrots."
)
"""Two claims that the documents support, and two that they do not."""
QUICK = {"retries": 1, "max_wait_s": 0.2, "reasks": 1}


def run_call(seen: Seen) -> bool:
    """Whether a call is about the run, and no control."""
    return "number " in seen.parts.get("question", "")


def verdicts(seen: Seen) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = honest(seen)["verdicts"]
    return made


def flipped(seen: Seen) -> dict[str, Any]:
    """What the honest model would not say, with a quote that stands in the evidence."""
    first = (seen.evidence or [seen.parts.get("answer", "")])[0]
    made = []
    for one in verdicts(seen):
        wrong = next(label for label in seen.labels if label != one["verdict"])
        quotes = {"quotes": [first[:60]]} if seen.quoted else {}
        made.append({"item": one["item"], "reason": "because", **quotes, "verdict": wrong})
    return {"verdicts": made}


def text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def cut_short(seen: Seen) -> Any:
    whole = text(flipped(seen))
    return completion(whole[: len(whole) * 2 // 3], finish="length")


def whole_but_length(seen: Seen) -> Any:
    return completion(flipped(seen), finish="length")


def two_blocks(seen: Seen) -> Any:
    return completion(text(flipped(seen)) + "\n" + text(honest(seen)))


def two_fenced_blocks(seen: Seen) -> Any:
    return completion(f"```json\n{text(flipped(seen))}\n```\n```json\n{text(honest(seen))}\n```")


def other_items(seen: Seen) -> Any:
    made = flipped(seen)
    return {"verdicts": [{**one, "item": f"000000-{at}"} for at, one in enumerate(made["verdicts"], 1)]}


def bare_numbers(seen: Seen) -> Any:
    made = flipped(seen)
    return {"verdicts": [{**one, "item": str(at)} for at, one in enumerate(made["verdicts"], 1)]}


def one_too_many(seen: Seen) -> Any:
    made = flipped(seen)["verdicts"]
    return {"verdicts": [*made, {**made[0], "item": "000000-9"}]}


def fewer(seen: Seen) -> Any:
    return {"verdicts": flipped(seen)["verdicts"][:-1]}


def twice(seen: Seen) -> Any:
    return {"verdicts": [*flipped(seen)["verdicts"], *verdicts(seen)]}


def fenced_with_words(seen: Seen) -> Any:
    return completion(f"Here you are:\n```json\n{text(flipped(seen))}\n```\nAnything else?")


def other_language(seen: Seen) -> Any:
    words = {"supported": "belegt", "unsupported": "nicht belegt", "relevant": "相关"}
    made = flipped(seen)["verdicts"]
    return {"verdicts": [{**one, "verdict": words.get(one["verdict"], "falsch")} for one in made]}


def other_language_keys(seen: Seen) -> Any:
    made = flipped(seen)["verdicts"]
    return {"urteile": [{"punkt": one["item"], "grund": "weil", "urteil": one["verdict"]} for one in made]}


def upper_case(seen: Seen) -> Any:
    return {"verdicts": [{**one, "verdict": one["verdict"].upper()} for one in flipped(seen)["verdicts"]]}


def verdict_first(seen: Seen) -> Any:
    made = [{"item": one["item"], "verdict": one["verdict"], **one} for one in flipped(seen)["verdicts"]]
    return completion(text({"verdicts": made}))


def invented_spans(seen: Seen) -> Any:
    made = flipped(seen)["verdicts"]
    if not seen.quoted:
        return {"verdicts": [{**one, "quotes": ["Nobody ever wrote this sentence."]} for one in made]}
    good = seen.labels[0]
    return {"verdicts": [{**one, "quotes": ["Nobody ever wrote this sentence."], "verdict": good} for one in made]}


def no_spans(seen: Seen) -> Any:
    made = flipped(seen)["verdicts"]
    if not seen.quoted:
        return {"verdicts": [{**one, "why": "x"} for one in made]}
    return {"verdicts": [{**one, "quotes": [], "verdict": seen.labels[0]} for one in made]}


def empty(_: Seen) -> Any:
    return completion("")


def refusing(_: Seen) -> Any:
    return completion("I cannot help with that.", finish="content_filter")


def refusal_field(seen: Seen) -> Any:
    made = completion("")
    made["choices"][0]["message"] |= {"content": None, "refusal": "I will not do that."}
    return made


def duplicate_keys(seen: Seen) -> Any:
    whole = text(honest(seen))
    return completion(whole[:-1] + ', "verdicts": ' + text(flipped(seen)["verdicts"]) + "}")


def not_a_number(seen: Seen) -> Any:
    return completion('{"verdicts": NaN}')


def deep(_: Seen) -> Any:
    return completion('{"verdicts": ' + "[" * 100_000 + "]" * 100_000 + "}")


def huge(_: Seen) -> Any:
    return completion("{" + " " * 3_000_000 + "}")


def no_choices(_: Seen) -> Any:
    return lambda handler: handler.reply(200, {"choices": [], "model": "scripted-1"})


def html(_: Seen) -> Any:
    return lambda handler: handler.reply(200, b"<html><body>Sign in</body></html>", content_type="text/html")


def array(_: Seen) -> Any:
    return lambda handler: handler.reply(200, b"[1, 2]")


def server_error(seen: Seen) -> Any:
    return lambda handler: handler.reply(500, completion(flipped(seen)))


def storm(seen: Seen) -> Any:
    return lambda handler: handler.reply(429, {"error": {"message": "slow down"}}, Retry_After="0")


def half_closed(seen: Seen) -> Any:
    """A body that ends before its length."""

    def send(handler: Any) -> None:
        data = text(completion(flipped(seen))).encode()
        handler.send_response(200)
        handler.send_header("content-length", str(len(data) + 50))
        handler.end_headers()
        handler.wfile.write(data)
        handler.close_connection = True

    return send


def half_closed_chunks(seen: Seen) -> Any:
    """A chunked body without its last chunk: what came is a whole completion."""

    def send(handler: Any) -> None:
        data = text(completion(flipped(seen))).encode()
        handler.send_response(200)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        handler.close_connection = True

    return send


def stall(_: Seen) -> Any:
    def send(handler: Any) -> None:
        time.sleep(1.0)
        handler.close_connection = True

    return send


def hang_up(_: Seen) -> Any:
    def send(handler: Any) -> None:
        handler.close_connection = True

    return send


class Way(NamedTuple):
    """One way to misbehave, and the causes that may stand for it."""

    answer: Callable[[Seen], Any]
    reasons: set[str]
    timeout_s: float = 5.0


WAYS = [
    Way(cut_short, {"truncated"}),
    Way(whole_but_length, {"truncated"}),
    Way(two_blocks, {"more_than_json"}),
    Way(two_fenced_blocks, {"more_than_json"}),
    Way(other_items, {"other_item"}),
    Way(bare_numbers, {"other_item"}),
    Way(one_too_many, {"other_item"}),
    Way(fewer, {"fewer_verdicts"}),
    Way(twice, {"item_twice"}),
    Way(fenced_with_words, {"more_than_json"}),
    Way(other_language, {"label"}),
    Way(other_language_keys, {"form"}),
    Way(upper_case, {"label"}),
    Way(verdict_first, {"verdict_first", "json", "form"}),
    Way(invented_spans, {"invented_quote", "form"}),
    Way(no_spans, {"no_quote", "form"}),
    Way(empty, {"empty"}),
    Way(refusing, {"content_filter", "refusal"}),
    Way(refusal_field, {"refusal"}),
    Way(duplicate_keys, {"json"}),
    Way(not_a_number, {"json"}),
    Way(deep, {"json", "too_long"}),
    Way(huge, {"too_long"}),
    Way(no_choices, {"invalid_response"}),
    Way(html, {"invalid_response"}),
    Way(array, {"invalid_response"}),
    Way(server_error, {"http_status"}),
    Way(storm, {"rate_limited"}),
    Way(half_closed, {"connection"}),
    Way(half_closed_chunks, {"connection"}),
    Way(hang_up, {"connection"}),
    Way(stall, {"timeout"}, 0.4),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> RunWorld:
    return RunWorld(tmp_path_factory.mktemp("hostile"), questions=4, answer=lambda _: ANSWER)


@pytest.fixture(scope="module")
def truth(world: RunWorld) -> dict[tuple[Any, ...], Judgement]:
    """What the honest model says of every item."""
    with served(honest) as (url, _):
        made, _ = world.judge(llm({"url": url, "model": "truth", **QUICK}, secret=SECRET), name="truth")
    found = {one.key: one for one in world.judgements(made)}
    assert {one.label for one in found.values()} >= {"supported", "unsupported", "relevant"}
    assert all(one.status == "value" for one in found.values())
    return found


def sometimes(answer: Callable[[Seen], Any]) -> Callable[[Seen], Any]:
    """Honest about controls and about questions of even number, whatever is asked again too."""

    def one(seen: Seen) -> Any:
        odd = run_call(seen) and int(seen.parts["question"].rstrip("?")[-1]) % 2
        return answer(seen) if odd else honest(seen)

    return one


@pytest.mark.parametrize("way", WAYS, ids=[one.answer.__name__ for one in WAYS])
def test_no_wrong_verdict_enters_the_table(way: Way, world: RunWorld, truth: dict[Any, Judgement]) -> None:
    name = way.answer.__name__
    with served(sometimes(way.answer)) as (url, model):
        judge = llm({"url": url, "model": name, **QUICK}, secret=SECRET)
        made, _ = world.judge(judge, name=name.replace("_", "-"), timeout_s=way.timeout_s)
    found = {one.key: one for one in world.judgements(made)}
    assert found.keys() == truth.keys()  # an item is never left out
    wrong = [one for key, one in found.items() if one.status == "value" and one.label != truth[key].label]
    assert wrong == []
    odd = {key: one for key, one in found.items() if int(one.query_id[-1]) % 2}
    failed = [one for one in found.values() if one.status == "error"]
    assert failed, "the server was not hostile"
    assert {one.query_id for one in failed} <= {one.query_id for one in odd.values()}
    assert {one.reason for one in failed} <= way.reasons
    assert all(one.failure is not None for one in failed)
    assert len(failed) >= len(odd) // 2
    assert model.seen


def test_a_fence_around_the_whole_reply_is_read(world: RunWorld, truth: dict[Any, Judgement]) -> None:
    def polite(seen: Seen) -> Any:
        return completion(f"```json\n{text(honest(seen))}\n```")

    with served(polite) as (url, _):
        made, _ = world.judge(llm({"url": url, "model": "polite", **QUICK}, secret=SECRET), name="polite")
    assert {one.key: one.label for one in world.judgements(made)} == {key: one.label for key, one in truth.items()}


def test_what_passes_by_is_asked_again_and_then_counts(world: RunWorld, truth: dict[Any, Judgement]) -> None:
    """A storm of 429 and one bad reply each: with another ask, every item has its verdict."""
    tries: dict[str, int] = {}

    def moody(seen: Seen) -> Any:
        key = seen.nonce
        tries[key] = tries.get(key, 0) + 1
        if tries[key] == 1 and seen.number % 3 == 0:
            return storm(seen)
        return cut_short(seen) if seen.number % 5 == 0 and run_call(seen) and len(tries) % 2 else honest(seen)

    with served(moody) as (url, _):
        judge = llm({"url": url, "model": "moody", **QUICK, "retries": 4, "reasks": 4}, secret=SECRET)
        made, _ = world.judge(judge, name="moody")
    assert {one.key: one.label for one in world.judgements(made)} == {key: one.label for key, one in truth.items()}


def always(label: int) -> Callable[[Seen], Any]:
    """One label for everything, with quotes that stand in the evidence."""

    def one(seen: Seen) -> Any:
        first = (seen.evidence or [seen.parts.get("answer", "")])[0]
        quotes = {"quotes": [first[:60]]} if seen.quoted else {}
        said = [{"item": name, "reason": "so it is", **quotes, "verdict": seen.labels[label]} for name in seen.items]
        return {"verdicts": said}

    return one


@pytest.mark.parametrize("label", [0, 1, 2], ids=["always-good", "always-second", "always-worst"])
def test_who_says_one_thing_always_is_disqualified_within_one_run(label: int, world: RunWorld) -> None:
    with served(always(label)) as (url, _):
        made, _ = world.judge(llm({"url": url, "model": f"always-{label}", **QUICK}, secret=SECRET), name=f"a{label}")
    assert made.state == "disqualified"
    assert (made.stopped or "").startswith("controls: ")


def test_a_model_that_changes_in_mid_run_gives_no_verdict_after_it(
    world: RunWorld, truth: dict[Any, Judgement]
) -> None:
    def changing(seen: Seen) -> Any:
        return completion(honest(seen) if seen.number < 20 else flipped(seen), model=f"m-{int(seen.number >= 20)}")

    with served(changing) as (url, model):
        made, _ = world.judge(llm({"url": url, "model": "changing", **QUICK}, secret=SECRET), name="changing",
                              concurrency=1)  # fmt: skip
    assert made.state in ("partial", "disqualified")  # by how many controls came behind the change, without a verdict
    found = {one.key: one for one in world.judgements(made)}
    told = [one for one in found.values() if one.status == "value"]
    assert told
    assert all(one.label == truth[one.key].label for one in told)
    assert "model_changed" in {one.reason for one in found.values()}
    assert len(model.seen) > 20


def test_over_the_error_budget_the_job_stops_and_says_so(world: RunWorld) -> None:
    with served(sometimes(cut_short)) as (url, _):
        judge = llm({"url": url, "model": "budget", **QUICK}, secret=SECRET)
        with pytest.raises(ErrorBudgetError):
            world.judge(judge, name="budget", max_error_rate=0.05, concurrency=1)
    made = world.store.get_record(JudgementSet, world.store.ref(judgements_ref("budget", world.run.identity())))
    assert (made.state, made.stopped) == ("partial", "error_budget")


def test_a_credential_that_the_model_repeats_stands_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-credential-4711-abcdef")
    world = RunWorld(tmp_path, questions=1)

    def telling(seen: Seen) -> Any:
        made = verdicts(seen)
        return {"verdicts": [{**one, "reason": "I was called with sk-credential-4711-abcdef"} for one in made]}

    with served(telling) as (url, _):
        headers = {"Authorization": {"env": "JUDGE_KEY", "prefix": "Bearer "}}
        world.judge(llm({"url": url, "model": "m", "headers": headers, **QUICK}, secret=SECRET))
    for path in world.store.path.rglob("*"):
        if path.is_file():
            assert b"sk-credential-4711" not in path.read_bytes()
