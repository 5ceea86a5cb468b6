"""`kind = "sqlite"`: full-text search in an FTS5 table (document_id, body) as the system under test."""

import asyncio
import sqlite3
from contextlib import closing

from ragassay.records.protocol import Stated, SystemIdentity

FTS, NONE = Stated(value=f"SQLite FTS5 {sqlite3.sqlite_version}"), Stated(absent="nothing is generated")
SQL = "SELECT document_id, body, rank FROM passages WHERE body MATCH ? ORDER BY rank LIMIT ?"


class SqliteSearch:
    def __init__(self, file, folder):
        self.path, said = folder / file, {"retriever": FTS, "generator": NONE, "prompt": NONE}
        self.identity = SystemIdentity(name=file, adapter="sqlite", settings={}, **said)

    def search(self, request):
        words = " OR ".join('"' + one.replace('"', '""') + '"' for one in request.query.split())
        with closing(sqlite3.connect(self.path)) as db:
            found = [{"document_id": d, "text": t, "score": s} for d, t, s in db.execute(SQL, (words, request.top_k))]
        return {"steps": [{"kind": "lexical", "name": "fts5", "items_out": found, "score_direction": "lower"}]}

    async def ask(self, request):
        return await asyncio.to_thread(self.search, request)
