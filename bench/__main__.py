"""`make bench`: every quick benchmark by turns, as ratios. Name some to run only those: `python -m bench startup`.

Others take longer or install things, and run alone: `python bench/install.py`, `python bench/tables.py`,
`python -m bench.measures long`, `python -m bench.audit`, `python -m bench.scale`, `python -m bench.embedders`,
`python -m bench.pgvector`, `python -m bench.gate_bounds`, `python -m bench.faults`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
QUICK = {"startup": ["bench/startup.py"], "measures": ["-m", "bench.measures"]}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all quick ones; the worst exit code."""
    unknown = [name for name in names if name not in QUICK]
    if unknown:
        print(f"no benchmark {unknown[0]!r}; there are: {', '.join(QUICK)}", file=sys.stderr)
        return 2
    worst = 0
    for name in names or list(QUICK):
        print(f"{name}:", flush=True)
        worst = max(worst, subprocess.run([sys.executable, *QUICK[name]], cwd=HERE.parent, check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
