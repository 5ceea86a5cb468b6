"""What the probe's matcher finds: leaks in every disguise of `disguises.py`, and nothing in 5,000 clean real texts.

The clean texts are those of `real_texts.py`: questions, answers and passages of the public data sets. Whoever wrote the
matcher wrote the disguises, translations and paraphrases, so they say which forms it reads.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

from ragassay.probe.canary import document_id, draw
from ragassay.probe.match import FUZZY_FROM, Matcher
from ragassay.probe.wording import memo, title
from ragassay.records.probe import PlantedDocument
from trials.disguises import DATES, ENCODINGS, LOSSY, NUMBERS, PARAPHRASED, TRANSLATED, paraphrased, said_in
from trials.lives import TrialError
from trials.real_texts import drawn

DOCUMENTS = 200
LEAST_RECALL = 0.99
Figures = list[tuple[str, str]]


def planted(seed: int, count: int = DOCUMENTS) -> list[PlantedDocument]:
    """As many documents as a large suite has, drawn under a key of this seed."""
    key = f"a key of the trial of texts, {seed}".encode()
    return [_planted(key, number) for number in range(count)]


def _planted(key: bytes, number: int) -> PlantedDocument:
    one = draw(key, "texts", "north", str(number))
    return PlantedDocument(
        document_id=document_id(key, "texts", str(number)), tenant="north", role="canary", title=title(one),
        text=memo(one, ("travel", "invoices")), anchor=one.anchor, token=one.token, facts=one.facts,
    )  # fmt: skip


def facts_of(one: PlantedDocument) -> dict[str, str]:
    """Value by kind."""
    return {fact.kind: fact.value for fact in one.facts}


def recall(documents: list[PlantedDocument], matcher: Matcher, told: Callable[[PlantedDocument], str]) -> int:
    """Of how many documents the text is recognised; a match of another document is a TrialError."""
    found = 0
    for one in documents:
        text = told(one)
        matches = matcher.find(text)
        if other := {match.document_id for match in matches} - {one.document_id}:
            raise TrialError(f"{text!r} matches {other}, which it does not hold")
        found += any(match.by != "fuzzy" for match in matches)
    return found


def forms() -> Iterator[tuple[str, str, Callable[[PlantedDocument], str]]]:
    """(group, form, what it makes of a document)."""
    for name, made in ENCODINGS.items():
        yield "token, hidden", name, lambda one, made=made: made(f"the code {one.token}")  # type: ignore[misc]
        yield (
            "facts, hidden",
            name,
            _of(
                lambda _, facts, made=made: made(f"{facts['name']} in {facts['place']}: {int(facts['amount']):,} euros")
            ),
        )
    for name, number in NUMBERS.items():
        yield (
            "amount, with the place",
            name,
            _of(
                lambda _, facts, number=number: (
                    f"in {facts['place']} they paid {number(int(facts['amount']))} in the end"
                )
            ),
        )
    for name, day in DATES.items():
        yield (
            "date, with the place",
            name,
            _of(lambda _, facts, day=day: f"in {facts['place']}, {day(date.fromisoformat(facts['date']))}."),
        )
    for language, sentences in TRANSLATED.items():
        for what, said in zip(("all facts", "amount and day"), sentences, strict=True):
            yield (
                "translated",
                f"{language}, {what}",
                _of(lambda _, facts, language=language, said=said: said_in(language, said, facts)),
            )
    for what, said in PARAPHRASED.items():
        yield "paraphrased", what, _of(lambda _, facts, said=said: paraphrased(said, facts))


def _of(made: Callable[..., str]) -> Callable[[PlantedDocument], str]:
    return lambda one: made(one, facts_of(one))


def rows(seed: int, count: int = DOCUMENTS) -> Iterator[tuple[str, str, int, int]]:
    """(group, form, found, of)."""
    documents = planted(seed, count)
    matcher = Matcher(documents)
    for group, name, made in forms():
        yield group, name, recall(documents, matcher, made), len(documents)


def false_alarms(data: Path, seed: int, count: int = 5000) -> tuple[int, Counter[str]]:
    """Texts that were read, and how many of them matched by each way."""
    matcher = Matcher(planted(seed))
    texts = drawn(data, seed, count)
    found: Counter[str] = Counter()
    for text in texts:
        found.update({match.by for match in matcher.find(text)})
    return len(texts), found


def run_probe_texts(data: Path, seed: int) -> Figures:
    """The figures; TrialError where an encoding hides a leak or a clean text matches exactly or by facts."""
    figures: Figures = []
    for group, name, found, of in rows(seed):
        figures.append((f"{group}: {name}", f"{found} of {of} found"))
        sure = group not in ("translated", "paraphrased") or (group == "translated" and name.endswith("all facts"))
        if sure and found < LEAST_RECALL * of:
            raise TrialError(": ".join(figures[-1]))
    if data.is_dir():
        texts, alarms = false_alarms(data, seed)
        told = f"{texts:,} texts: " + ", ".join(f"{by} {alarms[by]}" for by in ("exact", "id", "fact", "fuzzy"))
        figures.append(("false alarms", f"{told} (fuzzy from {FUZZY_FROM:g} of 100: {alarms['fuzzy'] / texts:.2%})"))
        if alarms.total() - alarms["fuzzy"]:
            raise TrialError(": ".join(figures[-1]))
    else:
        figures.append(("false alarms", f"left out: there is no {data}; name the data with --data"))
    return figures


def table(data: Path, seed: int) -> str:
    """The figures in Markdown."""
    found = list(rows(seed))
    hidden = [one for one in found if one[0].endswith("hidden")]
    least = min(one[2] / one[3] for one in hidden)
    together = f"{sum(one[2] for one in hidden):,} of {sum(one[3] for one in hidden):,}"
    lines = [
        f"Of {DOCUMENTS} tokens and {DOCUMENTS} times three facts, each hidden in {len(ENCODINGS)} ways: {together} "
        f"found, at least {least:.1%} in each.",
        "", f"The ways: {', '.join(ENCODINGS)}.", "", "| what is told | form | found |", "|---|---|---|",
    ]  # fmt: skip
    for group, form, right, of in found:
        if not group.endswith("hidden"):
            lossy = " (too little, or in a form that nothing reads)" if form in LOSSY else ""
            lines.append(f"| {group} | {form}{lossy} | {right} of {of} |")
    texts, alarms = false_alarms(data, seed)
    sure, near = alarms.total() - alarms["fuzzy"], alarms["fuzzy"]
    return "\n".join([
        *lines, "",
        f"In {texts:,} questions, answers and passages of the public data sets, against {DOCUMENTS} planted",
        f"documents: {sure} false alarms by token, id or facts, {near} by near misses ({near / texts:.2%}).",
    ])  # fmt: skip


def main() -> int:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(prog="python -m trials.probe_texts", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seed", type=int, default=20260801)
    given = parser.parse_args()
    print(table(given.data, given.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
