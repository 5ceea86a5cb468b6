"""A random sample of the mutants, drawn folder by folder from a written seed, and what it says of all of them."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping


def drawn(folders: Mapping[str, str], wanted: int, seed: int) -> list[str]:
    """`wanted` of the names, of each folder as many as its share (largest remainders), in a random order.

    `folders`: name of a mutant -> folder of its file. The same names, number and seed give the same sample.
    """
    by_folder: dict[str, list[str]] = defaultdict(list)
    for name, folder in sorted(folders.items()):
        by_folder[folder].append(name)
    wanted = min(wanted, len(folders))
    exact = {folder: wanted * len(names) / max(len(folders), 1) for folder, names in sorted(by_folder.items())}
    sizes = {folder: int(size) for folder, size in exact.items()}
    for folder in sorted(exact, key=lambda one: sizes[one] - exact[one])[: wanted - sum(sizes.values())]:
        sizes[folder] += 1
    made = [
        name
        for folder, size in sizes.items()
        for name in random.Random(f"{seed} {folder}").sample(by_folder[folder], size)
    ]
    random.Random(seed).shuffle(made)
    return made


def at_most(survived: int, ran: int, level: float = 0.95) -> float:
    """The exact one-sided upper bound of the surviving share (Clopper and Pearson 1934).

    For a sample that is drawn by folder, and without putting back, it is on the safe side.
    """
    from scipy.stats import beta

    return 1.0 if survived >= ran else float(beta.ppf(level, survived + 1, ran - survived))


def option(arguments: list[str], name: str) -> str | None:
    """The word after an option, which is taken out of the arguments; None without it."""
    if name not in arguments:
        return None
    at = arguments.index(name)
    _, value = arguments[at : at + 2]
    del arguments[at : at + 2]
    return value


def number(arguments: list[str], name: str) -> int | None:
    """The same as a whole number."""
    value = option(arguments, name)
    return None if value is None else int(value)
