"""The tutorial of the gate, command by command: exit codes and printed lines are those that stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "examples" / "gate_thirty" / "README.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)


def blocks() -> list[tuple[str, list[str]]]:
    """The blocks of commands and of output, in their order."""
    return [(kind, body.splitlines()) for kind, body in BLOCK.findall(TUTORIAL.read_text("utf-8"))]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the tutorial's commands are for a shell")
def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    shutil.copytree(TUTORIAL.parent, tmp_path / "examples" / "gate_thirty")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    folder, said, commands = tmp_path, "", 0
    for kind, lines in blocks():
        if kind == "text":
            for line in lines:
                assert line in said, f"{line!r} was not printed"
            continue
        said = ""
        for line in lines:
            wanted = re.search(r"# exit (\d+)$", line)
            done = subprocess.run(
                [shutil.which("bash") or "bash", "-c", line], cwd=folder, env={**os.environ, "PATH": path},
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            said += done.stdout
            commands += 1
            assert done.returncode == (int(wanted[1]) if wanted else 0), f"{line}\n{done.stdout}{done.stderr}"
            if " && cd " in line:
                folder = folder / line.rpartition(" && cd ")[2]
    assert commands >= 9
    assert (folder / "gate.xml").exists()
    assert "**Fail: " in (folder / "comment.md").read_text("utf-8")
