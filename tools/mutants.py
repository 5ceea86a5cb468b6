"""What `make mutants` found, file by file: mutants, killed, survived; `--survivors` shows each that survived."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOUND = ROOT / "mutants"
KILLED, SURVIVED, UNTESTED = frozenset({1, 3, 37}), 0, 33
"""Exit codes of mutmut; any other number is a mutant that ran too long or crashed, which was noticed as well."""


def of_file(path: Path) -> tuple[Counter[str], list[str]]:
    """Counts of one file, and the names of those that survived."""
    codes: dict[str, int | None] = json.loads(path.read_text("utf-8"))["exit_code_by_key"]
    counts: Counter[str] = Counter(all=len(codes))
    living = []
    for name, code in codes.items():
        if code in {SURVIVED, UNTESTED}:
            living.append(name)
        kind = "not run" if code is None else "survived" if code in {SURVIVED, UNTESTED} else "killed"
        counts[kind] += 1
        counts["of them by time"] += code is not None and kind == "killed" and code not in KILLED
    return counts, living


def main(arguments: list[str]) -> None:
    """A line a file, then the share of all; mutants that were not run are counted apart."""
    total: Counter[str] = Counter()
    living: list[str] = []
    for path in sorted(FOUND.rglob("*.meta")):
        counts, own = of_file(path)
        if counts["all"]:
            name = path.relative_to(FOUND / "src" / "ragassay").as_posix().removesuffix(".meta")
            print(f"{name:36} {counts['all']:5} mutants {counts['killed']:5} killed {counts['survived']:4} survived "
                  f"{counts['not run']:5} not run")  # fmt: skip
            total += counts
            living += own
    ran = total["killed"] + total["survived"]
    print(f"{total['survived']} of {ran} survived: {total['survived'] / max(ran, 1):.1%}; {total['not run']} not run, "
          f"{total['of them by time']} of the killed ran too long")  # fmt: skip
    for name in living if "--survivors" in arguments else []:
        subprocess.run([Path(sys.executable).with_name("mutmut"), "show", name], check=False, cwd=ROOT)


if __name__ == "__main__":
    main(sys.argv[1:])
