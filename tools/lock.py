"""Write the lock files: exact versions and hashes, no address of any registry. Needs `uv` on the PATH or in .venv."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ["hatchling>=1.27", "editables>=0.5"]
CROISSANT = ["mlcroissant>=1.0"]
"""The validator of Croissant files, in an environment of its own: it brings stubs that change what mypy sees."""


def compile_lock(target: str, *arguments: str) -> None:
    """One lock file, resolved for the oldest Python that the project supports."""
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    plain = ["--python-version", "3.11", "--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate"]
    command = [uv, "pip", "compile", *plain, "--quiet", "--output-file", str(ROOT / "locks" / target), *arguments]
    subprocess.run(command, check=True, cwd=ROOT)


def compile_of(target: str, wanted: list[str]) -> None:
    """One lock file of packages that stand in no group of the project."""
    with tempfile.NamedTemporaryFile("w", suffix=".in") as listed:
        listed.write("\n".join(wanted))
        listed.flush()
        compile_lock(target, listed.name)


def main() -> None:
    """All of them; none may move what an earlier one has chosen."""
    compile_lock("core.lock", "pyproject.toml")
    compile_of("build.lock", BUILD)
    compile_of("croissant.lock", CROISSANT)
    chosen = ["--constraint", "locks/core.lock", "--constraint", "locks/build.lock"]
    compile_lock("dev.lock", "--group", "dev", *chosen)
    compile_lock("models.lock", "--group", "models", "--no-deps")
    compile_lock("adapters.lock", "--group", "adapters", *chosen, "--constraint", "locks/dev.lock")


if __name__ == "__main__":
    main()
