"""What the redaction takes of real texts, and what it costs: 5,000 of the public data sets, drawn by seed.

Nobody labelled these texts. What the detectors took of them was looked at by hand: `real_texts.txt` holds a digest of
each that is what it was taken for (the address of a newspaper, the number of a club). Anything else is a false alarm.
How much was missed, this cannot tell.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragassay.redact import Redaction
from ragassay.redact.detect import DETECTORS, GROUPS, find
from trials.lives import TrialError

COUNT = 5000
MOST_FALSE = 0.002
"""Of the texts."""
LEAST = 80
"""Characters; what is shorter is an id or a title."""
KNOWN = Path(__file__).with_name("real_texts.txt")
FOLDERS = ("bipia", "clapnq", "cranfield", "mtrag", "musique", "ragchecker", "wice")
Figures = list[tuple[str, str]]


def drawn(data: Path, seed: int, count: int = COUNT) -> list[str]:
    """Texts of all sets together, the same for the same data and seed."""
    every: dict[str, None] = {}
    for folder in FOLDERS:
        for path in sorted((data / folder).rglob("*")):
            if path.suffix in (".json", ".jsonl"):
                every.update(dict.fromkeys(_strings(path)))
            elif path.suffix == ".xml":
                every.update(dict.fromkeys(_of_xml(path.read_text("utf-8", errors="replace"))))
    known = [one for one in every if len(one) >= LEAST]
    if len(known) < count:
        raise TrialError(f"{data} holds {len(known):,} texts; {count:,} are needed")
    return random.Random(seed).sample(known, count)


def _strings(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8", errors="replace")
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
    for value in values:
        yield from _walk(value)


def _walk(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _walk(one)
    elif isinstance(value, list):
        if value and all(isinstance(one, str) for one in value):
            yield "\n".join(value)
        else:
            for one in value:
                yield from _walk(one)


def _of_xml(text: str) -> Iterator[str]:
    for match in re.finditer(r"<text>(.*?)</text>", text, re.DOTALL):
        yield match[1].strip()


def mark(name: str, text: str) -> str:
    """What stands for something that was taken: these are other people's addresses, and not to be copied."""
    return hashlib.sha256(f"{name} {' '.join(text.split())}".encode()).hexdigest()[:16]


def run_real_texts(data: Path, seed: int, count: int = COUNT) -> Figures:
    """The figures; TrialError where more is taken wrongly than docs/redaction.md says."""
    texts = drawn(data, seed, count)
    size = sum(map(len, texts))
    figures = [("texts", f"{len(texts):,} of {size / 1e6:.1f} million characters, median {_median(texts):,}")]
    right = set(KNOWN.read_text("utf-8").split())
    taken, wrong, hit = Counter[str](), [], set()
    for number, text in enumerate(texts):
        for one in find(text, DETECTORS):
            taken[one.name] += 1
            if mark(one.name, text[one.start : one.end]) not in right:
                wrong.append((one.name, text[one.start : one.end]))
                hit.add(number)
    groups = {one.name: one.group for one in DETECTORS}
    for group in GROUPS:
        names = {name for name in taken if groups[name] == group}
        false = [one for one in wrong if one[0] in names]
        told = f"{len(false)} false alarms in {count:,} texts; {sum(taken[name] for name in names)} taken"
        figures.append((group, told + "".join(f", {name} {taken[name]}" for name in sorted(names))))
    figures += [("  false alarm", f"{name}: {text!r} ({mark(name, text)})") for name, text in wrong]
    for what, redaction in (("secrets (the default)", Redaction()), ("everything", Redaction(detect=GROUPS))):
        start = time.process_time()
        for text in texts:
            redaction.text(text)
        used = time.process_time() - start
        figures.append((f"cost, {what}", f"{used / count * 1e6:.0f} µs a text, {size / used / 1e6:.1f} MB a second"))
    if len(hit) > MOST_FALSE * count:
        raise TrialError(f"{len(hit)} of {count:,} texts have a false alarm")
    return figures


def _median(texts: list[str]) -> int:
    return sorted(map(len, texts))[len(texts) // 2]
