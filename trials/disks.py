"""Full disks, limits on file size, read-only stores and failed fsyncs: a clear error, and nothing lost on resuming."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from trials.lives import Trial, build, promise, reference_digest, server

NOBODY = 65534


def fail_fsync(number: int) -> Callable[[], None]:
    """Make the n-th fsync of the process, and all after it, fail with EIO."""

    def prepare() -> None:
        real = os.fsync
        calls = 0

        def fsync(descriptor: int) -> None:
            nonlocal calls
            calls += 1
            if calls >= number:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            real(descriptor)

        os.fsync = fsync

    return prepare


def limit_files(most_bytes: int) -> Callable[[], None]:
    """No file may grow beyond this."""

    def prepare() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    return prepare


def run_disks(*, questions: int, fsyncs: tuple[int, ...], limits: tuple[int, ...]) -> list[tuple[str, str]]:
    """The trial; figures as (what, value). Raises TrialError when a promise is broken."""
    figures: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory(prefix="ragassay-trials-") as name, server() as port:
        folder = Path(name)
        folder.chmod(0o755)
        protocol = build(folder / "base", questions=questions)
        reference = reference_digest(folder / "base", folder / "reference", protocol, port, questions)

        def broken(label: str, prepare: Callable[[], None], wanted: str) -> Trial:
            trial = Trial(folder / "base", folder / "run", protocol, port, label)
            code = trial.live(prepare=prepare)
            promise(code == 2, f"{label}: ended with {code}, not with an error of ours")
            promise(trial.error.startswith("StoreError") and wanted in trial.error, f"{label}: said {trial.error!r}")
            return trial

        def mended(trial: Trial) -> None:
            promise(trial.live() == 0, f"{trial.name}: did not finish afterwards: {trial.error}")
            trial.check(reference, questions=questions)
            trial.remove()

        for number in fsyncs:
            mended(broken(f"fsync-{number}", fail_fsync(number), os.strerror(errno.EIO)))
        figures.append(("failed fsyncs: clear error, resumed to the same digest", f"{len(fsyncs)} of {len(fsyncs)}"))
        for most in limits:
            mended(broken(f"limit-{most}", limit_files(most), os.strerror(errno.EFBIG)))
        figures.append(("file size limits: clear error, resumed to the same digest", f"{len(limits)} of {len(limits)}"))
        figures.append(("read-only store", read_only(broken, mended)))
        figures.append(("full disk (tmpfs)", full_disk(folder, protocol, port, reference, questions)))
    return figures


def give_up_root() -> None:
    """From here on this process may read the store and not write it."""
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def read_only(broken: Callable[..., Trial], mended: Callable[[Trial], None]) -> str:
    """A store that this process may not write."""
    if os.getuid() != 0:
        return "skipped: only root can give up the right to write and take it back"
    mended(broken("read-only", give_up_root, os.strerror(errno.EACCES)))
    return "clear error, resumed to the same digest"


def full_disk(folder: Path, protocol: str, port: int, reference: str, questions: int) -> str:
    """A store on a file system that is full before the run is done."""
    small = folder / "small"
    small.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], capture_output=True, check=False
    )
    if made.returncode:
        return "skipped: this user may not mount; the file size limits above stand for it"
    try:
        trial = Trial(folder / "base", small / "run", protocol, port, "full")
        filler = small / "filler"
        with filler.open("wb", buffering=0) as stream:
            try:
                while True:
                    stream.write(b"x" * 1024)
            except OSError:
                pass
        os.truncate(filler, max(0, filler.stat().st_size - 8192))
        code = trial.live()
        said = trial.error
        filler.unlink()
        promise(code == 2, f"full disk: ended with {code}")
        promise(os.strerror(errno.ENOSPC) in said, f"full disk: said {said!r}")
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        promise(trial.live() == 0, f"full disk: did not finish afterwards: {trial.error}")
        trial.check(reference, questions=questions)
    finally:
        subprocess.run(["umount", str(small)], check=False)
        shutil.rmtree(small, ignore_errors=True)
    return "clear error, resumed to the same digest"
