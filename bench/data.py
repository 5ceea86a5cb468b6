"""Synthetic runs and judgements of MS MARCO's size, the same bytes for the same arguments; no data is downloaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

QUESTIONS, DEPTH = 6_980, 1_000


def regular(folder: Path, questions: int = QUESTIONS, depth: int = DEPTH) -> tuple[Path, Path]:
    """A run in rank order (7-digit ids, 6 decimals, some ties) and binary judgements, about 1.09 a question."""
    run, qrels = folder / f"regular-{questions}.run", folder / f"regular-{questions}.qrels"
    if run.exists() and qrels.exists():
        return run, qrels
    rng = np.random.default_rng(7)
    with run.open("w") as out, qrels.open("w") as judged:
        for number in range(questions):
            query = 1_000_000 + 7 * number
            items = rng.choice(8_841_823, depth, replace=False)
            scores = np.sort(rng.gamma(9.0, 2.0, depth).round(6 if number % 3 else 3))[::-1]
            out.writelines(
                f"{query} Q0 {item:07d} {rank} {score:.6f} bench\n"
                for rank, (item, score) in enumerate(zip(items, scores, strict=True), 1)
            )
            found = items[rng.integers(0, depth, 1 + (number % 11 == 0))]
            for item in set(found.tolist()):
                kept = item if rng.random() < 0.85 else 9_000_000 + item % 1000
                judged.write(f"{query} 0 {kept:07d} 1\n")
    return run, qrels


def awkward(folder: Path, questions: int = QUESTIONS, depth: int = DEPTH) -> tuple[Path, Path]:
    """The same amount, made awkward: unsorted lists, ids of 5 to 40 bytes, tabs and double spaces, exponents, each
    query in two places of the file, ties everywhere; graded judgements, 10 a question."""
    run, qrels = folder / f"awkward-{questions}.run", folder / f"awkward-{questions}.qrels"
    if run.exists() and qrels.exists():
        return run, qrels
    rng = np.random.default_rng(8)
    with run.open("w") as out, qrels.open("w") as judged:
        chosen = []
        for half in range(2):
            for number in range(questions):
                query = f"q-{number * 7919 % questions}"
                low = half * depth // 2
                items = [_awkward_id(number, at) for at in range(low, low + depth // 2)]
                scores = rng.integers(1, 200, len(items)) / 7.0
                out.writelines(
                    (f"{query}\tQ0  {item} {at}\t{score:.7e} bench\n")
                    for at, (item, score) in enumerate(zip(items, scores, strict=True), 1)
                )
                picks = rng.choice(len(items), 5, replace=False)
                chosen += [
                    (query, items[at], int(grade)) for at, grade in zip(picks, rng.integers(0, 4, 5), strict=True)
                ]
        judged.writelines(f"{query} 0 {item} {grade}\n" for query, item, grade in chosen)
    return run, qrels


def _awkward_id(number: int, at: int) -> str:
    tail = f"{(number * 31 + at * 7919) % 99_991:05d}"
    return tail if at % 4 == 0 else f"c/{number % 7}/{at:04d}/document-of-part-{tail}-{tail}"[: 9 + at % 32]
