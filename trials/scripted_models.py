"""Language models of the trials: scripts behind a real server that speaks like a chat endpoint. They know nothing.

A script sees a request as a model that heeds the nonce reads it (`Seen`) and says what to reply.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Model:
    """A scripted model: what it answers to each request, and the requests that it saw."""

    def __init__(self, answer: Callable[[Seen], Any]) -> None:
        self.answer = answer
        self.seen: list[Seen] = []
        self.lock = threading.Lock()


class Seen:
    """A request as a model reads it: fences by the nonce that the system message names."""

    def __init__(self, body: dict[str, Any], number: int) -> None:
        self.body, self.number = body, number
        self.system, self.user = (one["content"] for one in body["messages"][:2])
        found = re.search(r"<<<([0-9a-f]{32})", self.system)
        self.nonce = found[1] if found else ""
        fence = re.compile(rf"<<<{self.nonce} ([^\n]*)\n(.*?)\n>>>{self.nonce}", re.DOTALL)
        self.parts = {one[1]: one[2] for one in fence.finditer(self.user)}
        self.outside = fence.sub("", self.user)
        self.items = {key.removeprefix("item "): text for key, text in self.parts.items() if key.startswith("item ")}
        self.evidence = [text for key, text in self.parts.items() if key.startswith("evidence ")]
        self.schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        form = re.search(r"`verdict` is one of ([^.]*)\.", self.user)
        self.labels = form[1].split(", ") if form else []
        self.quoted = '"quotes"' in self.user


def honest(seen: Seen) -> dict[str, Any]:
    """Rules as `Overlap` does, and quotes the first sentence of the evidence that shares most words."""
    made = []
    for name, statement in seen.items.items():
        words = set(re.findall(r"\w+", statement.lower()))
        texts = seen.evidence or [seen.parts.get("answer", "")]
        if seen.labels[0] == "supported":
            sentences = [one for text in texts for one in re.split(r"(?<=[.!?])\s+|\n", text)]
            best = max(sentences, key=lambda one: len(words & set(re.findall(r"\w+", one.lower()))))
            share = len(words & set(re.findall(r"\w+", best.lower()))) / max(1, len(words))
            good, quotes = share >= 0.8, [best[:200]]
        else:
            there = " ".join([seen.parts.get("question", ""), *(t for k, t in seen.parts.items() if "reference" in k)])
            good, quotes = len(words & set(re.findall(r"\w{4,}|\d+", there.lower()))) >= 1, []
        one = {"item": name, "reason": "words were compared"}
        if seen.quoted:
            one["quotes"] = quotes if good else []
        made.append({**one, "verdict": seen.labels[0] if good else seen.labels[1 if seen.quoted else 2]})
    return {"verdicts": made}


def completion(
    content: Any, *, model: str = "scripted-1", finish: str | None = "stop", usage: bool = True, **more: Any
) -> dict:
    text = content if isinstance(content, str) else json.dumps(content)
    made: dict[str, Any] = {
        "id": "c", "object": "chat.completion", "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish, **more}],
    }  # fmt: skip
    if usage:
        made["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return made


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        model: Model = self.server.model  # type: ignore[attr-defined]
        with model.lock:
            seen = Seen(body, len(model.seen))
            model.seen.append(seen)
        found = model.answer(seen)
        if callable(found):
            found(self)
            return
        self.reply(200, found if isinstance(found, dict) and "choices" in found else completion(found))

    def reply(self, status: int, value: Any, **headers: str) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:
            self.close_connection = True

    def finish(self) -> None:
        with suppress(OSError, ValueError):
            super().finish()

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: Any) -> None:
        pass


@contextmanager
def served(answer: Callable[[Seen], Any]) -> Iterator[tuple[str, Model]]:
    """A model behind a server of its own; its address."""
    server = _Server(("127.0.0.1", 0), _Handler)
    model = Model(answer)
    server.model = model  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions", model
    finally:
        server.shutdown()
        server.server_close()
