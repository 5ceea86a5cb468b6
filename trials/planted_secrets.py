"""How much of a labelled set of secrets and personal data is found, and what else is taken; the same, split in two.

The set is `secrets_set.txt`, written by hand beside this file. Whoever wrote the detectors wrote it, so it says what
forms they know rather than how much of anybody's data they would find.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ragassay.redact import Redaction
from ragassay.redact.detect import DETECTORS, GROUPS, find
from trials.lives import TrialError

SET = Path(__file__).with_name("secrets_set.txt")
MARK = re.compile(r"\[\[(\w+):(.*?)\]\]", re.DOTALL)
EVERYTHING = Redaction(detect=GROUPS)


class Label(NamedTuple):
    """Something that must go, by its place."""

    start: int
    end: int
    name: str


class Example(NamedTuple):
    """A text and what in it must go."""

    text: str
    labels: tuple[Label, ...]


class Outcome(NamedTuple):
    """What became of the labels of a set."""

    labels: Counter[str]
    found: Counter[str]
    missed: list[str]
    texts: int
    false: list[str]
    """What was taken though nobody labelled it."""

    @property
    def recall(self) -> float:
        """Of what must go, the part that went."""
        return self.found.total() / self.labels.total()

    @property
    def precision(self) -> float:
        """Of what went, the part that had to."""
        return self.found.total() / max(1, self.found.total() + len(self.false))


def examples() -> Iterator[Example]:
    """The labelled set."""
    for line in SET.read_text("utf-8").splitlines():
        if line and not line.startswith("# "):
            yield example(line.replace("·", "").replace("\\n", "\n"))


def example(marked: str) -> Example:
    """A text without its marks."""
    text, labels, at = "", [], 0
    for match in MARK.finditer(marked):
        text += marked[at : match.start()]
        labels.append(Label(len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        at = match.end()
    return Example(text + marked[at:], tuple(labels))


def measured() -> Outcome:
    """Every text by itself: a label is found if nothing of it is left but punctuation."""
    labels: Counter[str] = Counter()
    found: Counter[str] = Counter()
    missed, false = [], []
    texts = 0
    for one in examples():
        texts += 1
        taken = find(one.text, DETECTORS)
        for label in one.labels:
            labels[label.name] += 1
            left = [
                place for place in range(label.start, label.end)
                if one.text[place].isalnum() and not any(each.start <= place < each.end for each in taken)
            ]  # fmt: skip
            found[label.name] += not left
            missed += [one.text[label.start : label.end]] if left else []
        false += [
            f"{each.name}: {one.text[each.start : each.end]}" for each in taken
            if not any(each.start < label.end and label.start < each.end for label in one.labels)
        ]  # fmt: skip
    return Outcome(labels, found, missed, texts, false)


def split_measured(seed: int) -> Outcome:
    """Each label that is looked for across texts, cut in two anywhere and put into two steps one after the other.

    Beside them the texts without labels in pairs, at whose joint nothing may be found.
    """
    dice = random.Random(seed)
    joined = {one.name for one in DETECTORS if one.joined}
    labels: Counter[str] = Counter()
    found: Counter[str] = Counter()
    missed, false, silent = [], [], []
    for one in examples():
        silent += [] if one.labels else [one.text]
        for label in one.labels:
            if label.name not in joined:
                continue
            cut = dice.randrange(label.start + 1, label.end)
            whole = one.text[label.start : label.end]
            value = {"steps": [{"kind": "rewrite", "query_text": one.text[:cut]},
                               {"kind": "lexical", "query_text": one.text[cut:]}]}  # fmt: skip
            kept, _ = EVERYTHING.value(value)
            labels[label.name] += 1
            left = "".join(step["query_text"] for step in kept["steps"])
            good = whole not in left and not (_pieces(whole, cut - label.start) & set(re.split(r"[\s,;]+", left)))
            found[label.name] += good
            missed += [] if good else [f"{one.text[:cut]!r} | {one.text[cut:]!r}"]
    for first, second in zip(silent, [*silent[1:], silent[0]], strict=True):
        value = {"contexts": [{"id": "1", "text": first}, {"id": "2", "text": second}]}
        alone = sum(len(find(each, DETECTORS)) for each in (first, second))
        if sum(EVERYTHING.value(value)[1].values()) > alone:
            false.append(f"{first!r} | {second!r}")
    return Outcome(labels, found, missed, labels.total() + len(silent), false)


def _pieces(whole: str, cut: int) -> set[str]:
    """The two halves, where they are long enough to tell something."""
    return {one for one in (whole[:cut], whole[cut:]) if len(one) >= 8}


def run_secrets(seed: int) -> list[tuple[str, str]]:
    """The figures; TrialError where one is worse than what docs/redaction.md promises."""
    one, two = measured(), split_measured(seed)
    figures = [
        (f"secrets: {name}", f"{one.found[name]} of {count} found") for name, count in sorted(one.labels.items())
    ]
    for what, outcome in (("whole", one), ("split in two", two)):
        told = (
            f"recall {outcome.recall:.3f} ({outcome.found.total()} of {outcome.labels.total()}), false alarms "
            f"{len(outcome.false)} in {outcome.texts} texts, precision {outcome.precision:.3f}"
        )
        figures.append((f"secrets, {what}", told))
        figures += [(f"  missed, {what}", each) for each in outcome.missed]
        figures += [(f"  false alarm, {what}", each) for each in outcome.false]
    if min(one.recall, one.precision) < 0.96 or two.recall < 0.9 or two.precision < 0.95:
        raise TrialError("; ".join(f"{name}: {told}" for name, told in figures if name.startswith("secrets, ")))
    return figures
