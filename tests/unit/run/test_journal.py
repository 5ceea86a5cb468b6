"""The journal under torn lines, flipped bits, full disks, failed fsyncs and a second process."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ragassay.errors import IntegrityError, MixedRunError, StoreError, UsageError
from ragassay.records.canonical import digest_of
from ragassay.records.trace import Failure, Measurements, TraceContent
from ragassay.run.journal import FORMAT, Finished, Header, Journal, set_aside
from ragassay.run.lease import Lease
from ragassay.run.states import TRANSITIONS, advance

SUBJECT = "sha256:" + "0" * 64


def header(**more: Any) -> Header:
    return Header(
        **{
            "format": FORMAT,
            "name": "n",
            "subject": SUBJECT,
            "protocol": SUBJECT,
            "questions": 3,
            "started_at": "t",
            **more,
        }
    )


def finished(number: int, *, version: str = "m", failed: bool = False) -> Finished:
    content = TraceContent(
        query_id=f"q{number}", repeat=0, as_of="2026-08-01T00:00:00Z", versions={"model": version},
        failure=Failure(cause="timeout") if failed else None,
    )  # fmt: skip
    return Finished(
        content=content,
        measurements=Measurements(query_id=f"q{number}", repeat=0, latency_ms=1.5),
        digest=digest_of(content),
        texts={f"sha256:{number:064d}": "text \u2028 é"},
    )


def write(path: Path, number: int = 3) -> None:
    with Journal(path, header()) as journal:
        journal.move("running", "t1")
        for one in range(number):
            journal.append(finished(one, version=f"m{one % 2}", failed=one == 2))


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "j.journal"
    write(path)
    with Journal(path, header(started_at="later")) as journal:
        assert sorted(journal.entries) == [("q0", 0), ("q1", 0), ("q2", 0)]
        assert journal.state == "interrupted"
        assert journal.versions == {"model": {"m0", "m1"}}
        assert journal.failures == 1
        assert journal.header.started_at == "t"
        assert journal.read(("q1", 0)) == finished(1, version="m1")
        assert journal.texts == {f"sha256:{number:064d}" for number in range(3)}
        journal.move("running", "t2")
        assert journal.resumed == 1
        with pytest.raises(IntegrityError, match="already"):
            journal.append(finished(1))


def test_every_length_is_a_whole_prefix_and_can_go_on(tmp_path: Path) -> None:
    path = tmp_path / "j.journal"
    write(path)
    data = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    for length in [*range(0, len(data), 7), *ends, *(end - 1 for end in ends), len(data)]:
        torn = tmp_path / f"{length}.journal"
        torn.write_bytes(data[:length])
        with Journal(torn, header()) as journal:
            whole = sum(end <= length for end in ends)
            assert len(journal.entries) == max(0, whole - 2)
            assert journal.repaired == (length not in (0, *ends))
            if journal.state == "created" or journal.state == "interrupted":
                journal.move("running", "t")
            for one in range(len(journal.entries), 3):
                journal.append(finished(one))
        with Journal(torn, header()) as journal:
            assert len(journal.entries) == 3


def test_zeros_at_the_end_are_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "j.journal"
    write(path)
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0" * 100)
    with Journal(path, header()) as journal:
        assert len(journal.entries) == 3
    assert path.read_bytes() == whole


def test_any_flipped_bit_is_found(tmp_path: Path) -> None:
    path = tmp_path / "j.journal"
    write(path)
    data = bytearray(path.read_bytes())
    last = data.rindex(b"\n", 0, len(data) - 1)
    for at in range(0, last, 5):
        bad = bytearray(data)
        bad[at] ^= 1
        path.write_bytes(bad)
        with pytest.raises(IntegrityError, match="journal is damaged"):
            Journal(path, header())


def test_lines_cannot_be_left_out_or_exchanged(tmp_path: Path) -> None:
    path = tmp_path / "j.journal"
    write(path)
    lines = path.read_bytes().splitlines(keepends=True)
    for changed in (
        [*lines[:2], *lines[3:]],
        [*lines[:2], lines[3], lines[2], *lines[4:]],
        [*lines, lines[-1]],
        lines[1:],
    ):
        path.write_bytes(b"".join(changed))
        with pytest.raises(IntegrityError):
            Journal(path, header())


@pytest.mark.parametrize("field", ["name", "subject", "protocol", "questions"])
def test_another_job_is_refused(tmp_path: Path, field: str) -> None:
    path = tmp_path / "j.journal"
    write(path)
    with pytest.raises(MixedRunError, match=field):
        Journal(path, header(**{field: 9 if field == "questions" else "sha256:" + "1" * 64}))
    Journal(path, header()).close()


def test_one_lease_at_a_time_and_none_after_death(tmp_path: Path) -> None:
    path = tmp_path / "j.lock"
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from ragassay.run.lease import Lease
lease = Lease(Path({str(path)!r})); print("held", flush=True); sys.stdin.read()
"""
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdin is not None
    assert other.stdout.readline() == "held\n"
    with pytest.raises(UsageError, match=f"process {other.pid} is running"):
        Lease(path)
    other.kill()
    other.wait()
    other.stdin.close()
    other.stdout.close()
    lease = Lease(path)
    with pytest.raises(UsageError, match=f"process {os.getpid()}"):
        Lease(path)
    lease.release()
    lease.release()
    Lease(path).release()


@pytest.mark.parametrize("call", ["fsync", "pwrite"])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_disk_that_says_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int) -> None:
    path = tmp_path / "j.journal"
    write(path, 1)
    before = path.read_bytes()
    journal = Journal(path, header())

    def refuse(*_: Any) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(StoreError, match=os.strerror(number)):
            journal.append(finished(1))
    assert ("q1", 0) not in journal.entries
    with pytest.raises(StoreError, match="before"):
        journal.append(finished(1))
    journal.close()
    assert path.read_bytes() == before
    with Journal(path, header()) as again:
        assert list(again.entries) == [("q0", 0)]


def test_line_is_pushed_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    real_fsync, real_pwrite = os.fsync, os.pwrite
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append("fsync"), real_fsync(fd))[1])
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: (events.append("pwrite"), real_pwrite(fd, data, at))[1])
    with Journal(tmp_path / "j.journal", header()) as journal:
        events.clear()
        journal.move("running", "t")
        assert events == ["pwrite", "fsync"]
        events.clear()
        journal.append(finished(0))
        assert events == ["pwrite", "fsync"]


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: real(fd, data[:50], at))
    write(tmp_path / "j.journal")
    with Journal(tmp_path / "j.journal", header()) as journal:
        assert len(journal.entries) == 3


def test_set_aside_deletes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.journal"
    assert set_aside(path) is None
    for number in (1, 2):
        write(path)
        data = path.read_bytes()
        kept = set_aside(path)
        assert kept == tmp_path / f"j.journal.{number}"
        assert kept.read_bytes() == data
        assert not path.exists()


ALLOWED = {
    ("created", "running"), ("running", "interrupted"), ("running", "complete"), ("running", "failed"),
    ("interrupted", "running"), ("failed", "running"), ("complete", "sealed"),
    ("running", "stopped"), ("stopped", "running"),
}  # fmt: skip


@pytest.mark.parametrize(("current", "wanted"), list(product(TRANSITIONS, TRANSITIONS)))
def test_transitions_are_those_of_the_table(current: Any, wanted: Any) -> None:
    if (current, wanted) in ALLOWED:
        assert advance(current, wanted) == wanted
    else:
        with pytest.raises(IntegrityError, match="cannot go"):
            advance(current, wanted)
