"""Where a file of a few bytes is cut, byte by byte, with windows as small as its lines; what is refused on opening."""

from __future__ import annotations

import gzip
import os
import re
import sys
import threading
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.measures.trec import source as module
from ragassay.measures.trec.source import Range, Source

QUERIES = ["q", "q", "qq", "q1", "q1", "q1", "q1", "b", "bb", "b-", "b-", "x", "x", "x", "x", "x", "x", "y"]


def source_of(folder: Path, text: bytes) -> Source:
    path = folder / "run"
    path.write_bytes(text)
    return Source(path)


def starts_of(text: bytes) -> list[int]:
    return [0, *(at.end() for at in re.finditer(b"\n", text))]


def next_start(text: bytes, after: int) -> int:
    return next((one for one in starts_of(text) if one > after), len(text))


def end_of_block(text: bytes, line: int) -> int:
    """The end of the block of lines with one first word that begins at, or before, a line."""
    first = text[line:].split(None, 1)[0] if line < len(text) else b""
    for start in starts_of(text):
        if start > line and (start == len(text) or text[start:].split(None, 1)[0] != first):
            return min(start, len(text))
    return len(text)


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("space", [" ", "\t", " \t"])
@pytest.mark.parametrize("longest", [12, 16, 27, 64])
def test_every_cut_is_the_end_of_the_block_of_the_next_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, space: str, longest: int
) -> None:
    monkeypatch.setattr(module, "LONGEST_LINE", longest)
    text = "".join(f"{one}{space}0 d{at}\n" for at, one in enumerate(QUERIES)).removesuffix("\n") + end
    raw = text.encode()
    with source_of(tmp_path, raw) as source:
        for after in range(1, len(raw)):
            first, *rest = source.pieces(after)
            assert first == Range(0, end_of_block(raw, next_start(raw, after))), after
            assert [one.start for one in rest] == [one.end for one in (first, *rest)][:-1]
            assert (first, *rest)[-1].end == len(raw)


def test_lines_are_looked_for_in_two_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With windows of 8 bytes the next line must begin within 16; a file may end there."""
    monkeypatch.setattr(module, "LONGEST_LINE", 8)
    raw = b"q 1\nq 22222\nq 3333333333\nq 44444444444444444444\nq 5\nq 66666666666666"
    with source_of(tmp_path, raw) as source:
        for after in range(len(raw)):
            end = raw.find(b"\n", after)
            if (end < 0 and len(raw) - after <= 16) or 0 <= end - after < 16:
                assert source._next_line(after) == (end + 1 or len(raw))
            else:
                with pytest.raises(InputError) as caught:
                    source._next_line(after)
                assert caught.value.message == "a line of more than 8 bytes"
                assert caught.value.line == raw[:after].count(b"\n") + 1


def test_a_query_that_comes_again_within_the_window_is_kept_together(tmp_path: Path) -> None:
    with source_of(tmp_path, b"a 0 d\na 0 e\nb 0 d\na 0 f\nc 0 d\nb 0 f\n") as source:
        assert list(source.pieces(2)) == [Range(0, 24), Range(24, 36)]


def test_ranges_are_put_together_as_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours in the file are read at once, at most as many as the system takes."""
    raw = b"".join(b"q 0 d%02d\n" % at for at in range(40)).removesuffix(b"\n")
    calls: list[int] = []
    preadv = os.preadv
    monkeypatch.setattr(module, "_TOGETHER", 3)
    monkeypatch.setattr(os, "preadv", lambda handle, into, at: (calls.append(len(into)), preadv(handle, into, at))[1])
    with source_of(tmp_path, raw) as source:
        ranges = [Range(8 * at, min(8 * at + 8, len(raw))) for at in (5, 3, 4, 39, 6, 7, 0, 20)]
        found = source.text(ranges).tobytes()
        assert (
            found.strip(b"\n") == b"".join(raw[low:high] + b"\n" * (high == len(raw)) for low, high in ranges).strip()
        )
        assert calls == [1, 3, 2, 1, 1]
        assert source.text([]).tobytes().strip(b"\n") == b""


def refused(call: object) -> tuple[str, int | None, str]:
    with pytest.raises(InputError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.hint
    return caught.value.message, caught.value.line, str(caught.value.file)


@pytest.mark.parametrize(
    ("raw", "message", "line"),
    [
        (b"\xff\xfeq\0", "the file is UTF-16", 1),
        (b"\xfe\xff\0q", "the file is UTF-16", 1),
        (b"q 0 d 1\nq 0 \0", "the file is binary, not text", 2),
        (b"\0", "the file is binary, not text", 1),
        (b"", "the file is empty", 1),
        (b" \n\n\t\n", "the file is empty", 1),
        (b"x" * 65_537, "a line of more than 65536 bytes", 1),
    ],
)
def test_what_is_refused_on_opening(tmp_path: Path, raw: bytes, message: str, line: int) -> None:
    assert refused(lambda: source_of(tmp_path, raw)) == (message, line, str(tmp_path / "run"))
    packed = gzip.compress(raw)
    assert refused(lambda: source_of(tmp_path, packed)) == (message, line, str(tmp_path / "run"))


def test_what_is_just_accepted(tmp_path: Path) -> None:
    for raw, start in ((b"x" * 65_536, 0), (b"\xef\xbb\xbfq 0 d 1", 3), (b"x" * 65_537 + b"\n", 0), (b"\n q", 0)):
        if raw.startswith(b"x" * 65_537):
            assert refused(lambda raw=raw: source_of(tmp_path, raw))[0] == "a line of more than 65536 bytes"
            continue
        with source_of(tmp_path, raw) as source:
            assert (source.start, source.size, source.unended) == (start, len(raw), True)
    with source_of(tmp_path, b"q\n") as source:
        assert (source.name, source.unended) == (str(tmp_path / "run"), False)
        assert source.read(Range(0, 2)) == b"q\n"
        assert source.read(Range(1, 1)) == b""


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert refused(lambda: Source(missing)) == ("there is no such file", None, str(missing))
    assert refused(lambda: Source(tmp_path)) == ("this is a directory", None, str(tmp_path))
    assert refused(lambda: Source("x" * 300))[0] == "the file cannot be read: File name too long"
    damaged = tmp_path / "damaged.gz"
    for cut in (gzip.compress(b"q 0 d 1\n" * 99)[:-9], b"\x1f\x8bno gzip", gzip.compress(b"q" * 99)[:-8] + b"12345678"):
        damaged.write_bytes(cut)
        message, line, name = refused(lambda: Source(damaged))
        assert message.startswith("the gzip data is damaged: ")
        assert (line, name) == (None, str(damaged))


def test_standard_input_and_pipes_are_spooled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b"q 0 d 1\n" * 200_000
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(raw)))
    with Source("-") as source:
        assert (source.name, source.size) == ("-", len(raw))
        assert source.read(Range(0, source.size)) == raw
        assert source.line_number(len(raw)) == 200_001
        assert source.line_number(len(raw) - 1) == 200_000
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"r 0 d 1\n",))
    writer.start()
    with Source(pipe) as source:
        assert source.read(Range(0, source.size)) == b"r 0 d 1\n"
    writer.join()
