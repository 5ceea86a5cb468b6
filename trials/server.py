"""The system under test of the trials: a loopback HTTP server in a process of its own that counts what it is asked.

POST /ask/RUN/LIFE answers from the question alone. GET /counts/RUN tells how often each life asked each question.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
COUNTS: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self) -> None:
        _, _, run, life = self.path.split("/")
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        query_id = body["query_id"]
        with LOCK:
            COUNTS[run][life][query_id] += 1
        mark = hashlib.sha256(query_id.encode()).digest()
        time.sleep(mark[0] / 255 * 0.012)
        self.reply(
            {
                "answer": f"answer to {query_id}",
                "contexts": [f"a text that only the system has, {mark[1] % 7}", {"id": "rain", "score": mark[2] / 255}],
                "versions": {"model": "m-1"},
                "usage": {"input_tokens": mark[3], "output_tokens": mark[4]},
            }
        )

    def do_GET(self) -> None:
        with LOCK:
            self.reply({life: dict(counts) for life, counts in COUNTS[self.path.split("/")[2]].items()})

    def reply(self, value: object) -> None:
        data = json.dumps(value).encode()
        try:
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True

    def handle(self) -> None:
        with suppress(OSError):
            super().handle()

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever(0.05)
