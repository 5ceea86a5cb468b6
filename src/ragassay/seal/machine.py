"""The circumstances of a run: code revision, packages, machine. Reads no clock and no secret; the time is passed in."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path

from ragassay.records.base import Instant
from ragassay.records.protocol import Envelope, Package, Stated
from ragassay.version import VERSION

GIT_TIMEOUT_S = 5.0


def describe_machine(
    *,
    started_at: Instant,
    clock: str,
    concurrency: int,
    resumed: int = 0,
    finished_at: Instant | None = None,
    folder: Path | None = None,
) -> Envelope:
    """The envelope of a run that starts now, as far as the machine knows it.

    `clock` says which clocks the caller read for the times it passes in. `folder` is where the code revision is
    looked up (default: the current folder). No host name, user name, path or environment is recorded, but for the
    value of PYTHONHASHSEED.
    """
    revision, dirty = code_revision(folder or Path.cwd())
    return Envelope(
        started_at=started_at,
        finished_at=finished_at,
        code_revision=revision,
        code_dirty=dirty,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=platform.platform() or sys.platform,
        machine=platform.machine() or "unknown",
        cpu_count=os.cpu_count() or 0,
        packages=installed_packages(),
        hash_seed=os.environ.get("PYTHONHASHSEED") or "random",
        concurrency=concurrency,
        resumed=resumed,
        ragassay_version=VERSION,
        clock=clock,
    )


def installed_packages() -> tuple[Package, ...]:
    """Every distribution that this Python can import, by name; the first of two with one name is the one imported."""
    found: dict[str, Package] = {}
    for one in importlib.metadata.distributions():
        name, version = _said(one, "Name"), _said(one, "Version")
        if name and version:
            found.setdefault(name.lower(), Package(name=name, version=version))
    return tuple(found[name] for name in sorted(found))


def _said(one: importlib.metadata.Distribution, key: str) -> str:
    """A metadata field, empty where a broken installation has none."""
    return str(one.metadata[key]) if key in one.metadata else ""


def code_revision(folder: Path) -> tuple[Stated, bool | None]:
    """The git revision of a folder and whether tracked or new files differ from it; else why there is none.

    Dirty is None where git did not say. Nothing is written, and no hook or monitor of the repository is run.
    """
    try:
        revision = _git(folder, "rev-parse", "--verify", "HEAD")
    except FileNotFoundError:
        return Stated(absent="git is not installed"), None
    except subprocess.TimeoutExpired:
        return Stated(absent=f"git did not answer in {GIT_TIMEOUT_S:g} s"), None
    except subprocess.CalledProcessError as cause:
        inside = "not a git repository" not in (cause.stderr or "")
        return Stated(absent="git names no revision here" if inside else "not in a git repository"), None
    except OSError as cause:
        return Stated(absent=f"git could not be run: {cause.strerror}"), None
    try:
        changes = _git(folder, "status", "--porcelain", "--untracked-files=normal")
    except (OSError, subprocess.SubprocessError):
        return Stated(value=revision), None
    return Stated(value=revision), bool(changes)


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  fixed arguments, no shell
        ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments],  # noqa: S607
        capture_output=True,
        text=True,
        errors="replace",
        timeout=GIT_TIMEOUT_S,
        check=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
    )
    return done.stdout.strip()
