"""What `make mutants` found, file by file: mutants, killed, survived.

python tools/mutants.py [--survivors] [--sample N [--seed S]]

--survivors: each that survived as a difference. --sample: only those of a random sample (tools/mutants_drawn.py), by
folder, with the most that may survive of all.
"""

from __future__ import annotations

import ast
import difflib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mutants_drawn import at_most, drawn, number

ROOT = Path(__file__).resolve().parent.parent
FOUND = ROOT / "mutants" / "src" / "ragassay"
KILLED, SURVIVED, UNTESTED = frozenset({1, 3, 37}), 0, 33
"""Exit codes of mutmut; any other number is a mutant that ran too long or crashed, which was noticed as well."""
Codes = dict[str, int | None]


def counted(codes: Codes) -> Counter[str]:
    """How many were killed, survived, not run."""
    counts = Counter({"all": len(codes)})
    for code in codes.values():
        kind = "not run" if code is None else "survived" if code in {SURVIVED, UNTESTED} else "killed"
        counts[kind] += 1
        counts["of them by time"] += kind == "killed" and code not in KILLED
    return counts


def differences(path: Path, names: list[str]) -> Iterator[str]:
    """The changed lines of some mutants of a file, without the comments."""
    tree = ast.parse(path.read_text("utf-8"))
    bodies = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    for name in names:
        own = name.rpartition(".")[2]
        pair = []
        for each in (own.rpartition("__mutmut_")[0] + "__mutmut_orig", own):
            bodies[each].name = "_"
            pair.append(ast.unparse(bodies[each]).splitlines())
        yield name
        yield from (line for line in list(difflib.unified_diff(*pair, lineterm="", n=0))[2:] if line[0] in "+-")


def main(arguments: list[str]) -> None:
    """A line a file, or of a sample a line a folder, then the share of all; what was not run is counted apart."""
    left = list(arguments)
    sample, seed = number(left, "--sample"), number(left, "--seed") or 0
    files: dict[Path, Codes] = {
        path: json.loads(path.read_text("utf-8"))["exit_code_by_key"] for path in sorted(FOUND.rglob("*.meta"))
    }
    if sample is None:
        groups = {path.relative_to(FOUND).as_posix().removesuffix(".meta"): codes for path, codes in files.items()}
    else:
        copy = ROOT / "mutants"  # the runner's names of folders, which the draw hangs on
        folders = {name: path.parent.relative_to(copy).as_posix() for path, codes in files.items() for name in codes}
        codes_of = {name: code for codes in files.values() for name, code in codes.items()}
        names = drawn(folders, sample, seed)
        groups = {
            folder: {name: codes_of[name] for name in names if folders[name] == folder}
            for folder in sorted(set(folders.values()))
        }
        print(f"{len(names)} of {len(folders)} mutants, drawn with seed {seed}")
    for label, codes in groups.items():
        if codes:
            counts = counted(codes)
            print(f"{label:36} {counts['all']:5} mutants {counts['killed']:5} killed {counts['survived']:4} survived "
                  f"{counts['not run']:5} not run")  # fmt: skip
    show(files, groups, sampled=sample is not None, survivors="--survivors" in left)


def show(files: dict[Path, Codes], groups: dict[str, Codes], *, sampled: bool, survivors: bool) -> None:
    """The last line, and the differences."""
    every = {name: code for codes in groups.values() for name, code in codes.items()}
    total = counted(every)
    ran = total["killed"] + total["survived"]
    bound = f" (at most {at_most(total['survived'], ran):.2%} of all, one-sided 95 %)" if sampled and ran else ""
    share = total["survived"] / max(ran, 1)
    print(f"{total['survived']} of {ran} survived: {share:.2%}{bound}; {total['not run']} not run, "
          f"{total['of them by time']} of the killed ran too long")  # fmt: skip
    for path, codes in files.items() if survivors else ():
        living = [name for name in codes if name in every and every[name] in {SURVIVED, UNTESTED}]
        for line in differences(path.with_suffix(""), living) if living else ():
            print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
