"""A pipe, or a device, in place of a file of questions or traces is refused, and not waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragassay.benchmark import read_cases
from ragassay.errors import InputError
from ragassay.run.systems.replay import _digest


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for one in (pipe, Path("/dev/zero")):
        for read in (read_cases, _digest):
            with pytest.raises(InputError, match="not a regular file"):
                read(one)
