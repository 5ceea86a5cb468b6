"""How large the core is: a new environment with the core lock only; megabytes and distributions.

Run `python bench/install.py`. Promise: under 300 MB and 35 distributions.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Install, count, print."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*pip, "install", "--no-deps", "--require-hashes", "-r", str(ROOT / "locks" / "core.lock")], check=True
        )
        listed = json.loads(
            subprocess.run([python, "-m", "pip", "list", "--format", "json"], check=True, capture_output=True).stdout
        )
        names = [one["name"] for one in listed if one["name"].lower() not in {"pip", "setuptools"}]
        tools = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
        packages = next((Path(folder) / "lib").glob("python*/site-packages"))
        files = [one for one in packages.rglob("*") if one.is_file() and not one.is_symlink()]
        size = sum(one.stat().st_size for one in files if not one.relative_to(packages).parts[0].startswith(tools))
        print(
            f"core: {size / 1e6:.0f} MB in {len(names)} distributions (compiled caches included), ragassay itself apart"
        )


if __name__ == "__main__":
    main()
