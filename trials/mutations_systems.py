"""What comes back from systems, mutated: reply bodies, mapped bodies, chat completions and streams, lines of a command.

A reply that cannot be read is a failure of its question with a cause and words; nothing else may come of it.
"""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

from ragassay.corpus import Resolver
from ragassay.errors import InputError
from ragassay.records.base import Instant, QueryId
from ragassay.records.canonical import digest_of
from ragassay.records.document import Document, Passage
from ragassay.records.trace import Failure
from ragassay.run.contract import Request
from ragassay.run.normalise import normalise
from ragassay.run.reading import InvalidResponseError, plain_value
from ragassay.run.systems.completions import Completions
from ragassay.run.systems.http import HttpSystem
from ragassay.run.systems.process import Heard, Process
from ragassay.run.systems.replay import ReplaySystem
from trials.mutations import Seeded

URL = "http://127.0.0.1:9/"
TEXT = "Rain falls when warm air rises and cools. The water in it condenses into drops."
DOCUMENT = Document(document_id="rain", version="1", text=TEXT, parser="text/1", normaliser="none/1", tenants=("*",))  # type: ignore[arg-type]
RESOLVER = Resolver([DOCUMENT], floor=0.8)
REQUEST = Request(query_id=QueryId("q1"), query="Why?", as_of=Instant("2026-08-01T00:00:00Z"), top_k=3)
REPLY = {
    "steps": [
        {"kind": "vector", "name": "dense", "items_out": [{"id": "p1", "score": 0.5}, "rain"], "duration_ms": 3.5,
         "filter": {"as_of": "now"}, "principal_seen": {"id": "u", "tenants": ["*"]}},
        {"kind": "assemble", "parents": ["s1"], "items_out": [{"document_id": "rain", "start": 0, "end": 20,
         "text": TEXT[:20], "transform": "slice"}], "decisions": [{"action": "drop", "item_id": "p1"}]},
    ],
    "answer": {"text": "Warm air.", "outcome": "answered", "citations": [{"item_id": "rain", "answer_start": 0,
               "answer_end": 4}], "confidence": 0.5},
    "contexts": [TEXT[:41], {"document_id": "rain", "start": 3, "end": 9}], "usage": {"input_tokens": 3},
    "cost": {"amount": 0.1, "currency": "EUR"}, "versions": {"model": "m-1"}, "retrieval": {"sufficient": True},
}  # fmt: skip
MAPPING = {
    "answer": "$.out[0].text",
    "contexts": {"each": "$.hits[*]", "id": "$._id", "text": "$.body", "score": "$.s"},
    "versions": {"model": "$.model"},
}
MAPPED = {"out": [{"text": "yes"}], "hits": [{"_id": 1, "s": 0.5, "body": TEXT[:9]}, {"_id": "rain"}], "model": "m"}
COMPLETION = {
    "model": "m-1", "system_fingerprint": "fp", "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": [
        {"type": "text", "text": "a"}], "refusal": None, "tool_calls": []}}],
}  # fmt: skip
EVENTS = [
    {"model": "m-1", "choices": [{"delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"delta": {"content": "Warm"}}]},
    {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
]


def formats() -> dict[str, Seeded]:
    """Rows of `FORMATS`."""
    stream = ": hello\n\n" + "".join(f"data: {json.dumps(one)}\n\n" for one in EVENTS) + "data: [DONE]\n\n"
    lines = "".join(json.dumps({"query_id": f"q{number}", **REPLY}) + "\n" for number in (2, 1, 3))
    item = {"item_id": "i", "rank": 1, "resolution": "declared", "transform": "slice", "score": 0.5,
            "sources": [{"document_id": "rain", "version": "1", "start": 0, "end": 20}]}  # fmt: skip
    content = {"query_id": "q1", "repeat": 0, "as_of": REQUEST.as_of, "context": [item],
               "steps": [{"step_id": "s", "name": "s", "kind": "vector", "items_out": [item]}]}  # fmt: skip
    measured = {"query_id": "q1", "repeat": 0, "latency_ms": 4.5, "attempts": [{"duration_ms": 4.5}]}
    trace = json.dumps({"content": content, "measurements": measured}) + "\n"
    plain, mapped = HttpSystem(URL), HttpSystem(URL, response=MAPPING)
    chat, streaming = Completions(URL), Completions(URL, stream=True)
    return {
        "reply": _row(json.dumps(REPLY), lambda data, _: _read(plain, data)),
        "reply-list": _row(json.dumps(REPLY["contexts"]), lambda data, _: _read(plain, data)),
        "reply-mapped": _row(json.dumps(MAPPED), lambda data, _: _read(mapped, data)),
        "reply-chat": _row(json.dumps(COMPLETION), lambda data, _: _read(chat, data)),
        "reply-stream": _row(stream, lambda data, _: _read(streaming, data)),
        "reply-command": _row(lines, lambda data, chance: asyncio.run(_lines(data, chance))),
        "replay-traces": Seeded(_written(trace), lambda path, chance: _replay("traces", path, chance)),
        "replay-trec": Seeded(_written("q1 Q0 rain 1 2.5 x\nq1 Q0 p2 2 1.5 x\n"),
                              lambda path, chance: _replay("trec", path, chance)),
    }  # fmt: skip


def _row(seed: str, read: Any) -> Seeded:
    return Seeded(_written(seed), lambda path, chance: read(path.read_bytes(), chance))


def _written(seed: str) -> Any:
    def write(folder: Path) -> list[Path]:
        path = folder / "reply"
        path.write_text(seed, "utf-8")
        return [path]

    return write


def _read(system: HttpSystem, data: bytes) -> None:
    system.is_token(data)
    value, failure, detail = system.read(data, 1.5)
    assert (value is None) or (failure is None)
    _kept(value, failure, detail)


def _kept(value: Any, failure: Failure | None, detail: str | None) -> None:
    """A failure with its words is a refusal; anything else must become a trace whose bytes can be sealed."""
    if failure is None:
        try:
            made = normalise(plain_value(value), REQUEST, RESOLVER)
        except InvalidResponseError as cause:
            raise InputError(str(cause), hint="mend the system") from None
        digest_of(made.content)
        failure, detail = made.content.failure, made.detail
    if failure is not None and failure.code != "reported":  # an error that the system itself reports needs no words
        raise InputError(detail or "", hint="mend the system")


class Fed(Process):
    """The reading half of a program's adapter, without a program."""

    def __init__(self) -> None:
        self._most, self._why, self.ended = 20_000, "", False
        self._waiting, self._asked, self._suspects = {}, set(), []


async def _lines(data: bytes, chance: random.Random) -> None:
    """Three questions wait; each gets one outcome or none, and no more than its own."""
    fed = Fed()
    names = [f"q{number}" for number in range(1, chance.choice((2, 4)))]
    for name in names:
        fed._waiting[name] = asyncio.get_running_loop().create_future()
        fed._asked.add(name)
    for line in data.split(b"\n"):
        fed._line(line)
    outcomes: list[Heard] = [one.result() for one in fed._waiting.values() if one.done()]
    for heard in outcomes:
        assert (heard.failure is None) == (heard.detail is None)
    if not outcomes:
        raise InputError("nobody was answered", hint="mend the program")
    _kept(outcomes[0].value, outcomes[0].failure, outcomes[0].detail)


def _replay(kind: Any, path: Path, chance: random.Random) -> None:
    passages: list[Passage] = []
    on_error: Any = chance.choice(("stop", "skip"))
    system = ReplaySystem(kind, path, [DOCUMENT], passages, as_of=REQUEST.as_of, on_error=on_error)
    for trace in (asyncio.run(system.ask(REQUEST)).stored or {}).values():
        digest_of(trace.content)
    digest_of(system.identity)
