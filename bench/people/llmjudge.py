"""The 33 judges of LLMJudge against one human grade a pair: kappa, panels, Dawid and Skene, corrected shares.

A share is corrected from a random sample of people's grades; how often its interval holds the share of all pairs is
counted over many such samples. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from bench.people.figures import kappa

from ragassay.stats.agreement import dawid_skene
from ragassay.stats.corrected import Sampled, ppi, stratified

Grades = dict[tuple[str, str], int]
BEST = ("h2oloo-fewself", "willia-umbrela1", "Olz-gpt4o", "TREMA-4prompts", "RMITIR-GPT4o")
"""Named with the kappas in view: their agreement is too favourable."""
BLIND = ("NISTRetrieval-instruct0", "Olz-exp", "RMITIR-GPT4o", "TREMA-4prompts", "h2oloo-fewself", "prophet-setting1",
         "willia-umbrela1")  # fmt: skip
"""The first judge of each team by name: chosen without looking at any grade."""
SAMPLES, SIZES, DRAWS, SEED = 400, (50, 200, 1000), 2000, 0


def llmjudge(folder: Path) -> Iterator[str]:
    """The three tables."""
    truth = read(folder / "qrels" / "llmjudge_test_qrel_idx.txt")
    judges = {path.stem: read(path) for path in sorted((folder / "scores").glob("*.txt"))}
    yield "## LLMJudge, 33 judges"
    yield ""
    yield "Cohen's kappa with the one human grade; a grade above 3 counts as 3. Some judges are near copies of others."
    yield ""
    yield "| judge | pairs | kappa, 4 grades | kappa, >= 2 | grades out of range |"
    yield "|---|---|---|---|---|"
    rows = [_row(name, grades, truth) for name, grades in judges.items()]
    for binary, four, name, pairs, odd in sorted(rows, reverse=True):
        yield f"| {name} | {pairs} | {four:.3f} | {binary:.3f} | {odd} |"
    yield ""
    yield from _panels(truth, judges)
    yield from _corrected(truth, judges)


def read(path: Path) -> Grades:
    """A file of TREC form."""
    rows = (one.split() for one in path.read_text("utf-8").splitlines() if one.strip())
    return {(one[0], one[2]): int(float(one[3])) for one in rows}


def _row(name: str, grades: Grades, truth: Grades) -> tuple[float, float, str, int, int]:
    both = [(min(grades[key], 3), truth[key]) for key in truth if key in grades]
    said, true = [a for a, _ in both], [b for _, b in both]
    odd = sum(not 0 <= one <= 3 for one in grades.values())
    return kappa([one >= 2 for one in said], [one >= 2 for one in true]), kappa(said, true), name, len(both), odd


def _panels(truth: Grades, judges: Mapping[str, Grades]) -> Iterator[str]:
    keys = list(truth)
    good = [truth[key] >= 2 for key in keys]
    yield "Panels, by kappa (>= 2). A judge without a grade for a pair has no vote on it; an even split is *not good*."
    yield "Dawid and Skene's model takes errors for independent; near copies of one judge are not, and count as often"
    yield "as they stand there."
    yield ""
    yield "| panel | majority | Dawid and Skene | best member |"
    yield "|---|---|---|---|"
    named = {f"{len(BEST)} with the kappas in view: {', '.join(BEST)}": BEST,
             f"first of each team by name: {', '.join(BLIND)}": BLIND,
             f"all {len(judges)}": tuple(judges)}  # fmt: skip
    for name, members in named.items():
        votes = [{one: judges[one][key] >= 2 for one in members if key in judges[one]} for key in keys]
        majority = [2 * sum(one.values()) > len(one) for one in votes]
        chances = dawid_skene(votes, (False, True))
        single = max(kappa([judges[one].get(key, 0) >= 2 for key in keys], good) for one in members)
        found = (kappa(majority, good), kappa([one[True] > 0.5 for one in chances], good), single)
        yield f"| {name} | {' | '.join(f'{one:.3f}' for one in found)} |"
    yield ""


def _corrected(truth: Grades, judges: Mapping[str, Grades]) -> Iterator[str]:
    """The share of pairs of grade 2 or more, raw and corrected, and how often intervals of 95 % hold it."""
    keys = list(truth)
    good = np.array([truth[key] >= 2 for key in keys])
    yield f"Share of pairs of grade 2 or more: people say {good.mean():.3f}. Corrected from random samples of their"
    yield f"grades, {SAMPLES} samples of each size: how many intervals of 95 % hold that share, and their mean width."
    yield "PPI++ stands only where it is safe (200 items, 10 in each way to disagree); elsewhere a dash."
    yield ""
    yield "| judge | raw share | sample | Jeffreys: held | width | PPI++: held | width |"
    yield "|---|---|---|---|---|---|---|"
    for name in ("h2oloo-fewself", "h2oloo-zeroshot2", "TREMA-rubric0"):
        said = np.array([judges[name].get(key, 0) >= 2 for key in keys])
        for size in SIZES:
            yield f"| {name} | {said.mean():.3f} | {size} | {_coverage(said, good, size)} |"
    yield ""


def _coverage(said: np.ndarray, good: np.ndarray, size: int) -> str:
    chance = np.random.default_rng(SEED)
    yes, share = int(said.sum()), float(good.mean())
    found: dict[str, list[tuple[bool, float]]] = {"jeffreys": [], "ppi": []}
    for number in range(SAMPLES):
        at = chance.choice(len(good), size, replace=False)
        one, other = said[at], good[at]
        cells = (one & other, one & ~other, ~one & other, ~one & ~other)
        sample = Sampled(*(int(each.sum()) for each in cells))
        made = stratified(yes, len(said) - yes, sample, seed=number, draws=DRAWS)
        for key, interval in (("jeffreys", made), ("ppi", ppi(yes, len(said) - yes, sample))):
            if interval is not None and interval.low is not None and interval.high is not None:
                found[key].append((interval.low <= share <= interval.high, interval.high - interval.low))
    return " | ".join(_told(found[key]) for key in ("jeffreys", "ppi"))


def _told(found: Sequence[tuple[bool, float]]) -> str:
    if not found:
        return "- | -"
    held = sum(one for one, _ in found)
    return f"{held / len(found):.3f} of {len(found)} | {sum(width for _, width in found) / len(found):.3f}"
