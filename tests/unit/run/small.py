"""A small sealed world, and a real HTTP server on the loopback that counts what it is asked."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ragassay import benchmark, corpus, seal
from ragassay.records.canonical import parse_value
from ragassay.records.case import CaseLine
from ragassay.records.document import Document, Segmentation
from ragassay.records.protocol import Policy, Scoring, Stated, Subject, SystemIdentity
from ragassay.redact import Redaction
from ragassay.store import Store

AS_OF = "2026-08-01T00:00:00Z"
TEXTS = {
    "rain": "Rain falls when warm air rises and cools. The water in it condenses into drops.",
    "snow": "Snow falls when the air is below zero degrees. Flakes form around dust.",
    "wind": "Wind is air that moves from high pressure to low pressure.",
    "tea": "Green tea is steeped at eighty degrees for two minutes.",
    "bread": "Bread rises because yeast makes carbon dioxide from sugar.",
}


def document(document_id: str, text: str, **more: Any) -> Document:
    return Document(
        document_id=document_id, version="1", text=text, parser="text/1", normaliser="none/1",
        **{"tenants": ("*",), **more},
    )  # fmt: skip


class Small:
    """A store with a corpus, passages and questions, and a way to seal a protocol for a system."""

    def __init__(self, folder: Path, *, questions: int = 6, documents: list[Document] | None = None) -> None:
        self.store = Store.open(folder / "store", create=True)
        made = documents or [document(name, text) for name, text in TEXTS.items()]
        self.corpus, self.corpus_digest = corpus.build(self.store, made, name="small")
        self.documents = corpus.load(self.store, self.corpus)
        self.cut: Segmentation
        self.cut, _ = corpus.segment(
            self.store, self.corpus, self.documents, chunker="tokens", name="small", size=40, overlap=5
        )
        self.passages = corpus.load_passages(self.store, self.cut)
        lines = [
            parse_value(CaseLine, {"query_id": f"q{number:03d}", "query": f"Why does rain fall, number {number}?",
                                   "relevant": [{"document_id": "rain", "grade": 3}]})
            for number in range(questions)
        ]  # fmt: skip
        self.build(lines)

    def build(self, lines: list[CaseLine]) -> None:
        self.built = benchmark.build(self.store, lines, self.corpus, self.documents, name="small", version="1")

    def seal(self, identity: SystemIdentity, **more: Any) -> Any:
        settings: dict[str, Any] = {
            "as_of": AS_OF, "seed": 7, "repeats": 1, "top_k": 5, "history": "gold", "timeout_s": 5.0,
            "redaction": Redaction().digest, **more,
        }  # fmt: skip
        subject = Subject(
            corpus=self.corpus.digest,
            segmentation=Stated(value=self.cut.identity()),
            benchmark=self.built.benchmark.identity(),
            system=identity,
            **settings,
        )
        scoring = Scoring(
            measures=("recall(rel=2)@5",), measure_versions={"recall": "1"}, hold=1.0, tokenizer="word/1",
            normalisation="squad", level=0.95, ties="list_order",
        )  # fmt: skip
        sealed = seal.freeze(self.store, name="small", subject=subject, scoring=scoring, policy=Policy(name="none"))
        return sealed.digest


Answer = Callable[[dict[str, Any], int, "Handler"], Any]


class Handler(BaseHTTPRequestHandler):
    """Answers POST by the server's `answer(body, how often this question was asked before, handler)`."""

    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        server: Any = self.server
        with server.lock:
            before = server.asked[body.get("query_id", "")]
            server.asked[body.get("query_id", "")] += 1
            server.connections.add(self.client_address)
            server.seen.append((self.path, {name.lower(): text for name, text in self.headers.items()}, body))
        found = server.answer(body, before, self)
        if found is not None:
            self.reply(200, found)

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

    def reset(self) -> None:
        """Close the connection with a reset."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def drip(self, seconds: float) -> None:
        """A body that comes a byte at a time."""
        self.send_response(200)
        self.send_header("content-length", "100000")
        self.end_headers()
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.02)
        except OSError:
            pass
        self.close_connection = True

    def finish(self) -> None:
        with suppress(OSError, ValueError):
            super().finish()

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.asked: Counter[str] = Counter()
        self.connections: set[Any] = set()
        self.seen: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/ask"

    def handle_error(self, *_: Any) -> None:
        pass
