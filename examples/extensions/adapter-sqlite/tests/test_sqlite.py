import sqlite3
from contextlib import closing

from ragassay_sqlite import SqliteSearch

from ragassay.contracts.adapter import check_adapter

TEXTS = [("limits", "What is the limit? 120 a minute."), ("why", "Why? Because.")]


def test_it_keeps_the_contract(tmp_path):
    with closing(sqlite3.connect(tmp_path / "faq.db")) as db, db:
        db.execute("CREATE VIRTUAL TABLE passages USING fts5(document_id UNINDEXED, body)")
        db.executemany("INSERT INTO passages VALUES (?, ?)", TEXTS)
    parts = check_adapter(lambda: SqliteSearch("faq.db", tmp_path))
    assert {"items", "texts", "scores", "score direction"} <= parts
