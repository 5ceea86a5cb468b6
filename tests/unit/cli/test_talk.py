"""Standard output is data for another program, and a terminal obeys nothing that a model wrote."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ragassay import cli
from ragassay.cli import schema, talk

HOSTILE = "\x1b[31m\x9b31m\u202e\u2066\u061c<b>é\ud800"


class _Full(io.StringIO):
    encoding = "utf-8"

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def test_json_on_a_terminal_holds_no_control_character_and_keeps_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    talk.data_json({"text": HOSTILE})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"text": HOSTILE}
    assert not set(shown) & set("\x1b\x9b\u202e\u2066\u061c\ud800")
    assert "<b>é" in shown


def test_json_is_ascii_where_the_stream_knows_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    talk.data_json({"é": "日本"})
    assert json.loads(raw.getvalue()) == {"é": "日本"}


def test_a_full_standard_error_stops_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Full())
    talk.say("on")
    talk.say_error("and on")


def test_a_full_standard_output_is_an_error_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", _Full())
    assert cli.exit_code_of(["schema", "settings"]) == 2
    assert "No space left" in capsys.readouterr().err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_closed_streams_end_no_command(closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m ragassay schema settings {closed}', sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    if closed != ">&-":
        assert json.loads(done.stdout)


def test_a_second_command_in_one_process_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code_of(["init", str(tmp_path / "p")]) == 0
    config = ["--config", str(tmp_path / "p" / "ragassay.toml")]
    assert cli.exit_code_of(["run", *config]) == 0
    assert cli.exit_code_of(["score", *config]) == 0
    assert "scores sha256:" in capsys.readouterr().out


def test_what_a_system_prints_is_not_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "p"
    assert cli.exit_code_of(["init", str(folder)]) == 0
    capsys.readouterr()
    (folder / "loud_system.py").write_text(
        "print('while loading')\ndef answer(request):\n    print('SYSTEM')\n    return {'answer': 'x'}\n"
    )
    config = folder / "ragassay.toml"
    text = config.read_text().replace('kind = "reference"', 'kind = "python"\ncallable = "loud_system:answer" #')
    config.write_text("\n".join(line for line in text.splitlines() if not line.startswith("evidence_floor")))
    assert cli.exit_code_of(["run", "--json", "--config", str(config)]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["questions"] == 4
    assert "SYSTEM" in shown.err
    assert "while loading" in shown.err


def test_a_module_that_exits_while_it_is_loaded_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "p"
    assert cli.exit_code_of(["init", str(folder)]) == 0
    (folder / "leaving_system.py").write_text("raise SystemExit(0)\n")
    config = folder / "ragassay.toml"
    text = config.read_text().replace('kind = "reference"', 'kind = "python"\ncallable = "leaving_system:answer" #')
    config.write_text("\n".join(line for line in text.splitlines() if not line.startswith("evidence_floor")))
    capsys.readouterr()
    assert cli.exit_code_of(["run", "--config", str(config)]) == 2
    assert "SystemExit" in capsys.readouterr().err


def test_an_interrupted_command_says_so_and_exits_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_name: str = "") -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(schema, "schema", interrupted)
    assert cli.exit_code_of(["schema"]) == 130
    assert "interrupted; what was finished is kept" in capsys.readouterr().err


def test_a_full_disk_leaves_the_earlier_report_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = ["--config", str(tmp_path / "p" / "ragassay.toml")]
    report = ["report", "--out", str(tmp_path / "out"), *config]
    assert cli.exit_code_of(["init", str(tmp_path / "p")]) == 0
    assert [cli.exit_code_of([one, *config]) for one in ("run", "score")] == [0, 0]
    assert cli.exit_code_of(report) == 0
    before = {one.name: one.read_bytes() for one in (tmp_path / "out").iterdir()}
    real = Path.write_text

    def half(path: Path, text: str, *more: str) -> int:
        real(path, text[: len(text) // 2], *more)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    capsys.readouterr()
    assert cli.exit_code_of(report) == 2
    assert "No space left" in capsys.readouterr().err
    assert {one.name: one.read_bytes() for one in (tmp_path / "out").iterdir()} == before
