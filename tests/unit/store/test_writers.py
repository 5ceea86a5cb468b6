"""Many writers at once, and writers that are killed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ragassay.store import Store

ROOT = Path(__file__).resolve().parents[3]
WRITER = """
import sys
from ragassay.store import Store
store = Store.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
for number in range(20):
    digest = store.put(f"the same {number}".encode() * 5000)
    store.set_ref("run/same", digest, kind="bytes")
    assert store.ref("run/same")
print(store.put_lines({"n": one} for one in range(1000)))
"""


def test_sixteen_processes_write_the_same_blobs_and_the_same_ref(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(16)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
        writer.stdin = None
    said = {writer.communicate(timeout=120)[0] for writer in writers}
    assert [writer.returncode for writer in writers] == [0] * 16
    assert len(said) == 1
    report = store.check("deep")
    assert report.ok
    assert (report.blobs, report.refs, report.temporary) == (21, 1, 0)
    assert store.get(store.ref("run/same")) == b"the same 19" * 5000


def test_sixteen_threads_on_one_store(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    together = threading.Barrier(16)
    failed: list[Exception] = []

    def work() -> None:
        together.wait()
        try:
            for number in range(30):
                store.set_ref("run/same", store.put(b"%d" % number), kind="bytes")
        except Exception as cause:
            failed.append(cause)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    report = store.check("deep")
    assert report.ok
    assert (report.blobs, report.temporary) == (30, 0)


def test_two_processes_may_make_one_store(tmp_path: Path) -> None:
    code = "import sys; from ragassay.store import Store; print(Store.open(sys.argv[1], create=True).put(b'x'))"
    makers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "a" / "b")], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    assert len({maker.communicate(timeout=60)[0] for maker in makers}) == 1
    assert [maker.returncode for maker in makers] == [0] * 6
    assert Store.open(tmp_path / "a" / "b").check().ok


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork are POSIX")
def test_killed_writers_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "trials" / "store_kills.py"), "--rounds", "3", "--store", str(tmp_path / "store")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == 12
    assert found["steps"] > 20
    assert found["acknowledged"] > 0
    store = Store.open(tmp_path / "store")
    for path in (store.path / "tmp").iterdir():
        assert path.name not in {one.name for one in (store.path / "blobs").rglob("*")}
