"""What a person waits for before anything happens: imports and `--help`, as ratios to `import numpy`.

Run `python bench/startup.py`. Alternating rounds in one process tree, medians.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 15
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import ragassay": ["-c", "import ragassay"],
    "from ragassay import evaluate": ["-c", "from ragassay import evaluate"],
    "ragassay --help": ["-m", "ragassay", "--help"],
    "ragassay measures": ["-m", "ragassay", "measures"],
}


def main() -> None:
    """One line a command."""
    took: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, words in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *words], check=True, capture_output=True)
            took[name].append(time.perf_counter() - start)
    base = statistics.median(took["import numpy"])
    for name, seconds in took.items():
        median = statistics.median(seconds)
        print(f"{name:32} {median:6.3f} s  x{median / base:.2f} of import numpy")


if __name__ == "__main__":
    main()
