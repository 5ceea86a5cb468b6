"""Ten wrong files: a clear error with file, line and hint, or read correctly; memory does not follow their size."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.measures import evaluate

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
NAMES = "plain crlf tabs double-spaces no-last-newline bom comments more-fields exponent gzip scattered indented"
RUN = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\nq2 Q0 x 1 9 t\nq2 Q0 c 2 8 t\n"


@pytest.fixture
def qrels(tmp_path: Path) -> str:
    path = tmp_path / "qrels"
    path.write_text(QRELS)
    return str(path)


def written(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "run"
    path.write_bytes(content)
    return str(path)


def refused(qrels: str, run: str) -> InputError:
    with pytest.raises(InputError) as caught:
        evaluate(qrels, run, ["ap"])
    assert caught.value.file == run
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    "content, message, line",
    [
        (b"q1 Q0 a 1 2.0 t\n\x00\x01\x02\xff binary", "binary", 2),
        (b"q1 Q0 a 1 2.0 t\nq1 Q0 \x07 1 2.0 t\n", "control character", 2),
        (RUN.encode("utf-16"), "UTF-16", 1),
        (RUN.encode("utf-16-le"), "binary", 1),
        (b"q1 Q0 a 1 2.0 t\n# comment\nq1 Q0 b 2 1.0\n", "5 fields", 3),
        (b"q1 Q0 a 1 2.0 t\r\nq1 Q0 b 2 NaN t\r\n", "'NaN' is not a number", 2),
        (QRELS.encode(), "4 fields where 6", 1),
        (b"", "empty", 1),
        (b" \n\n", "empty", 1),
        (gzip.compress(RUN.encode(), mtime=0)[:-12], "gzip data is damaged", None),
        (RUN.replace("\n", "\r").encode(), "carriage return", 1),
        (b"q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\rq2 Q0 c 2 8 t\n", "carriage return", 2),
    ],
    ids=[
        "binary", "control", "utf16", "utf16le", "columns", "nan", "qrels", "empty", "blank", "gzip-cut", "cr-only",
        "cr-inside",
    ],
)  # fmt: skip
def test_wrong_file(tmp_path: Path, qrels: str, content: bytes, message: str, line: int | None) -> None:
    error = refused(qrels, written(tmp_path, content))
    assert message in error.message
    assert error.line == line


def test_qrels_given_as_run_says_which_order(tmp_path: Path, qrels: str) -> None:
    assert "QRELS RUN" in refused(qrels, written(tmp_path, QRELS.encode())).hint


def test_run_given_as_qrels(tmp_path: Path) -> None:
    run = written(tmp_path, RUN.encode())
    with pytest.raises(InputError, match="looks like a run") as caught:
        evaluate(run, run, ["ap"])
    assert caught.value.line == 1


def test_no_file_no_permission_and_a_directory(tmp_path: Path, qrels: str) -> None:
    assert "no such file" in refused(qrels, str(tmp_path / "none")).message
    assert "directory" in refused(qrels, str(tmp_path)).message
    path = written(tmp_path, RUN.encode())
    os.chmod(path, 0)  # noqa: PTH101
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    assert "may not be read" in refused(qrels, path).message


def test_no_permission_is_told_to_whoever_may_not(tmp_path: Path, qrels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, opened = written(tmp_path, RUN.encode()), Path.open

    def locked(self: Path, *arguments: object) -> object:
        if str(self) == path:
            raise PermissionError(13, "Permission denied")
        return opened(self, *arguments)

    monkeypatch.setattr(Path, "open", locked)
    error = refused(qrels, path)
    assert "may not be read" in error.message
    assert "chmod" in error.hint


@pytest.mark.parametrize(
    "content",
    [
        RUN.encode(),
        RUN.replace("\n", "\r\n").encode(),
        RUN.replace(" ", "\t").encode(),
        RUN.replace(" ", "  ").encode(),
        RUN.rstrip("\n").encode(),
        b"\xef\xbb\xbf" + RUN.encode(),
        b"# a comment\n\n" + RUN.encode() + b"\n\n# end",
        RUN.replace(" t\n", " t and more fields\n").encode(),
        RUN.replace("2.0", "+.2e1").encode(),
        gzip.compress(RUN.encode(), mtime=0),
        b"q2 Q0 c 2 8 t\nq1 Q0 b 2 1.0 t\nq2 Q0 x 1 9 t\nq1 Q0 a 1 2.0 t\n",
        b"  q1 Q0 a 1 2.0 t\n" + b"".join(RUN.encode().splitlines(keepends=True)[1:]),
    ],
    ids=NAMES.split(),
)
def test_odd_but_right(tmp_path: Path, qrels: str, content: bytes) -> None:
    result = evaluate(qrels, written(tmp_path, content), ["ap", "rr"])
    assert [result.question("ap", name).value for name in ("q1", "q2")] == [1.0, 0.5]
    assert result["rr"].value == 0.75


def test_a_pipe_is_read(tmp_path: Path, qrels: str) -> None:
    code = f"from ragassay.measures import evaluate; print(evaluate({qrels!r}, '-', ['ap'])['ap'].value)"
    done = subprocess.run([sys.executable, "-c", code], input=RUN, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0.75"


def test_a_line_without_end_is_refused_in_little_memory(tmp_path: Path, qrels: str) -> None:
    path = tmp_path / "run"
    with path.open("wb") as out:
        out.write(RUN.encode())
        out.truncate(1 << 30)  # a hole: one gigabyte of NUL without a line end
    text = tmp_path / "text"
    with text.open("wb") as out:
        out.write(RUN.encode())
        for _ in range(40):
            out.write(b"x" * (1 << 20))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refused(qrels, str(path)).line is not None
    assert "a line of more than" in refused(qrels, str(text)).message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000
