"""The one system that stands behind every door: BM25 over `passages.jsonl` in the folder that SEARCH_FOLDER names.

Ties are broken as trec_eval breaks them (id, descending), so that a TREC file holds the same order.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

WORD = re.compile(r"\w+")


class Search:
    def __init__(self, folder: Path) -> None:
        import bm25s

        self._folder = folder
        lines = (folder / "passages.jsonl").read_text("utf-8").split("\n")
        self.passages: list[dict[str, Any]] = [json.loads(line) for line in lines if line]
        self._bm25 = bm25s.BM25(method="lucene", backend="numpy")
        self._bm25.index([WORD.findall(one["text"].casefold()) for one in self.passages], show_progress=False)
        self._known = set(self._bm25.vocab_dict)

    def best(self, query: str, top_k: int) -> list[tuple[dict[str, Any], float]]:
        """The best passages with their scores, best first."""
        words = [one for one in WORD.findall(query.casefold()) if one in self._known]
        if not words:
            return []
        scores = [round(float(one), 6) for one in self._bm25.get_scores(words)]
        found = [number for number, score in enumerate(scores) if score > 0]
        found.sort(key=lambda number: (scores[number], self.passages[number]["id"].encode()), reverse=True)
        return [(self.passages[number], scores[number]) for number in found[:top_k]]

    def response(self, query: str, top_k: int) -> dict[str, Any]:
        """What a service of our own answers: one step, its items by id, and which way scores are better."""
        items = [{"id": one["id"], "score": score} for one, score in self.best(query, top_k)]
        step = {"kind": "lexical", "name": "bm25", "items_out": items, "score_direction": "higher"}
        return {"steps": [step], "versions": {"index": "1"}}


@cache
def opened() -> Search:
    return Search(Path(os.environ["SEARCH_FOLDER"]))


def answer(request: Any) -> dict[str, Any]:
    """kind = "python"."""
    return opened().response(request.query, request.top_k)


def serve() -> Any:
    """kind = "http": a server on the loopback, not yet begun."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(opened().response(asked["query"], asked["top_k"])).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    return server


def main() -> None:
    """kind = "command": a line of JSON in, a line of JSON out."""
    import sys

    for line in sys.stdin:
        asked = json.loads(line)
        found = opened().response(asked["query"], asked["top_k"])
        print(json.dumps({"query_id": asked["query_id"], **found}), flush=True)


if __name__ == "__main__":
    main()
