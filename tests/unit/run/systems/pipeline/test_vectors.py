"""The cache of vectors: nothing is embedded twice, over runs, threads, processes and kills; damage is named."""

from __future__ import annotations

import os
import platform
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import IntegrityError, StoreError
from ragassay.run.systems.pipeline import local_models
from ragassay.run.systems.pipeline.vectors import VectorCache
from ragassay.store import Store

TEXTS = [f"text number {number}" for number in range(200)]


class Spelled:
    """An embedder whose vectors can be recomputed from the text alone; notes what it is asked."""

    def __init__(self, identity: str = "spelled/1", dimensions: int = 4) -> None:
        self.identity, self.dimensions = identity, dimensions
        self.asked: list[str] = []

    def embed(self, texts: Any) -> Any:
        self.asked += texts
        return np.array([vector(self.identity, one, self.dimensions) for one in texts], dtype=np.float32)


def vector(identity: str, text: str, dimensions: int = 4) -> list[float]:
    draw = random.Random(f"{identity} {text}")
    return [draw.uniform(-1, 1) for _ in range(dimensions)]


def expected(embedder: Spelled, texts: list[str]) -> Any:
    rows = [vector(embedder.identity, one) if one.strip() else [0.0] * 4 for one in texts]
    return np.array(rows, dtype=np.float32).reshape(len(texts), 4)


def test_a_text_is_embedded_once_and_counted_as_a_hit_afterwards(tmp_path: Path) -> None:
    embedder, file = Spelled(), tmp_path / "deep" / "vectors.sqlite"
    cache = VectorCache.open(file)
    texts = [*TEXTS, TEXTS[3], " ", ""]
    got = cache.embed(embedder, texts)
    assert (got.computed, got.hits, got.calls) == (200, 3, 0)
    assert got.vectors.tobytes() == expected(embedder, texts).tobytes()
    again = cache.embed(embedder, texts)
    assert (again.computed, again.hits) == (0, 203)
    cache.close()
    other = VectorCache.open(file)
    assert len(other) == 200
    later = other.embed(embedder, [*reversed(texts), "new"])
    assert (later.computed, later.hits) == (1, 203)
    assert later.vectors.tobytes() == expected(embedder, [*reversed(texts), "new"]).tobytes()
    assert Counter(embedder.asked) == Counter([*TEXTS, "new"])
    other.close()


def test_another_embedder_has_vectors_of_its_own(tmp_path: Path) -> None:
    one, two = Spelled("spelled/1"), Spelled("spelled/2")
    cache = VectorCache.open(tmp_path / "v.sqlite")
    first, second = cache.embed(one, TEXTS[:3]), cache.embed(two, TEXTS[:3])
    assert second.computed == 3
    assert first.vectors.tobytes() == expected(one, TEXTS[:3]).tobytes()
    assert second.vectors.tobytes() == expected(two, TEXTS[:3]).tobytes()
    cache.close()


lists = st.lists(st.lists(st.sampled_from([*TEXTS[:6], "", " ", "é", "\ud800"]), max_size=9), max_size=6)


@given(lists)
def test_what_comes_back_never_depends_on_what_was_asked_before(asked: list[list[str]]) -> None:
    cache, seen = VectorCache.memory(), set()
    embedder = Spelled()
    for texts in asked:
        got = cache.embed(embedder, texts)
        clean = [one.replace("\ud800", "\ufffd") for one in texts]
        new = {one for one in clean if one.strip()} - seen
        seen |= new
        assert got.vectors.tobytes() == expected(embedder, clean).tobytes()
        assert (got.computed, got.hits) == (len(new), len(texts) - len(new))
    assert sorted(embedder.asked) == sorted(seen)
    cache.close()


PROGRAM = """
import hashlib, os, sys, time
import numpy as np
from ragassay.run.systems.pipeline import local_models
from ragassay.run.systems.pipeline.vectors import VectorCache
class Slow:
    identity, dimensions = "slow/1", 4
    def embed(self, texts):
        with open(sys.argv[2], "a") as log:
            log.write("".join(one + chr(10) for one in texts))
        time.sleep(float(sys.argv[3]))
        return np.array([list(hashlib.sha256(one.encode()).digest()[:4]) for one in texts], dtype=np.float32)
cache = VectorCache.open(sys.argv[1])
print("open", flush=True)
texts = [f"text number {number}" for number in range(200)]
if sys.argv[4] == "back":
    texts.reverse()
got = cache.embed(Slow(), texts)
order = np.argsort(texts)
print(hashlib.sha256(got.vectors[order].tobytes()).hexdigest(), got.computed, got.hits)
"""


def start(file: Path, log: Path, wait_s: float, way: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(file), str(log), str(wait_s), way], stdout=subprocess.PIPE, text=True
    )


def test_processes_that_share_a_cache_never_embed_a_text_twice(tmp_path: Path) -> None:
    file, log = tmp_path / "v.sqlite", tmp_path / "asked.log"
    running = [start(file, log, 0.02, way) for way in ("on", "back", "on")]
    said = [one.communicate(timeout=60)[0].split() for one in running]
    assert {one.returncode for one in running} == {0}
    assert len({words[1] for words in said}) == 1
    assert sum(int(words[2]) for words in said) == 200
    assert all(int(words[2]) + int(words[3]) == 200 for words in said)
    assert Counter(log.read_text().splitlines()) == Counter(TEXTS)


def test_a_kill_loses_only_what_was_in_hand(tmp_path: Path) -> None:
    file, log = tmp_path / "v.sqlite", tmp_path / "asked.log"
    running = start(file, log, 0.3, "on")
    until = time.monotonic() + 30
    while (len(log.read_text().splitlines()) if log.exists() else 0) < 128:
        assert time.monotonic() < until
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    kept = len(VectorCache.open(file))
    assert 64 <= kept < 200
    after = start(file, log, 0.0, "on").communicate(timeout=60)[0].split()
    assert (int(after[2]), int(after[3])) == (200 - kept, kept)
    fresh = start(tmp_path / "other.sqlite", tmp_path / "other.log", 0.0, "on").communicate(timeout=60)[0].split()
    assert after[1] == fresh[1]


def test_threads_share_it_too(tmp_path: Path) -> None:
    for cache in (VectorCache.open(tmp_path / "v.sqlite"), VectorCache.memory()):
        embedder, got = Spelled(), []

        def work(cache: VectorCache = cache, embedder: Spelled = embedder, got: list[Any] = got) -> None:
            for start_ in range(0, 200, 20):
                got.append(cache.embed(embedder, TEXTS[start_ : start_ + 40]))

        threads = [threading.Thread(target=work) for _ in range(6)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert len(got) == 60
        assert Counter(embedder.asked) == Counter(TEXTS)
        cache.close()


def test_damage_is_named_and_never_served(tmp_path: Path) -> None:
    file = tmp_path / "v.sqlite"
    cache = VectorCache.open(file)
    cache.embed(Spelled(), TEXTS[:2])
    cache.close()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE vectors SET vector = zeroblob(16)")
    cache = VectorCache.open(file)
    with pytest.raises(IntegrityError, match=r"not what was stored(.|\n)*delete the file"):
        cache.embed(Spelled(), TEXTS[:1])
    cache.close()
    for data in (b"not a database at all" * 100, file.read_bytes()[:2000]):
        broken = tmp_path / f"broken-{len(data)}.sqlite"
        broken.write_bytes(data)
        with pytest.raises(IntegrityError, match=r"delete the file"):
            VectorCache.open(broken).embed(Spelled(), TEXTS[:1])
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 9")
    with pytest.raises(IntegrityError, match="its format is 9, not 1"):
        VectorCache.open(file)


def test_a_place_that_cannot_hold_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot make the vector cache"):
        VectorCache.open(tmp_path / "file" / "v.sqlite")
    (tmp_path / "folder.sqlite").mkdir()
    with pytest.raises(StoreError, match="cannot open the vector cache"):
        VectorCache.open(tmp_path / "folder.sqlite")


def test_a_store_may_hold_one(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    cache = VectorCache.of_store(store.path)
    cache.embed(Spelled(), TEXTS[:2])
    cache.close()
    assert not store.check("quick").foreign


def test_a_vector_of_another_processor_is_another_one(tmp_path: Path) -> None:
    cache = VectorCache.open(tmp_path / "vectors.sqlite")
    one = Spelled()
    for processor, computed in (("x86_64 avx2", 1), ("x86_64 avx2 avx512_vnni", 1), ("x86_64 avx2", 0)):
        one.computed_by = processor  # type: ignore[attr-defined]
        assert cache.embed(one, ["a"]).computed == computed
    assert local_models.processor().split()[0] == platform.machine()
    cache.close()
