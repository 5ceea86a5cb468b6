"""One call to a judging model as messages: ours stands outside of the fences, all else inside. Sends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ragassay.records.canonical import digest_of, digest_text
from ragassay.records.judgement import SCALES
from ragassay.run.judges.contract import Item, Shown
from ragassay.run.judges.llm import texts
from ragassay.run.judges.llm.fence import fenced
from ragassay.run.judges.llm.form import MOST_QUOTES, QUOTE, REASON

_LONGEST_ANSWER = 6000
"""Characters of an answer that are shown beside its claims, so that pronouns can be understood."""
QUOTED = frozenset({"claim", "citation", "fact"})
"""What is ruled on by quotes."""


class Call(NamedTuple):
    """What is asked in one request, without nonce and names: equal calls ask the same."""

    topic: str
    scale: str
    statements: tuple[str, ...]
    evidence: tuple[Shown, ...]
    question: str
    answer: str
    references: tuple[str, ...]

    def identity(self) -> str:
        """What tells two calls apart; ids of items and documents are not shown, and do not count."""
        return digest_of(
            [self.topic, self.scale, list(self.statements), [list(shown_of(one)) for one in self.evidence],
             self.question, self.answer, list(self.references)]
        )  # fmt: skip

    @property
    def quoted(self) -> bool:
        """Whether a verdict needs quotes."""
        return self.topic in QUOTED

    @property
    def sources(self) -> list[str]:
        """The texts in which a quote may stand."""
        if self.topic == "fact":
            return [self.answer]
        return [one.text for one in self.evidence] + [one.title or "" for one in self.evidence]

    def reversed(self) -> Call:
        """The same with items and evidence in the other order."""
        return self._replace(
            statements=self.statements[::-1], evidence=self.evidence[::-1], references=self.references[::-1]
        )

    def opposite(self) -> Call:
        """What must not be called good beside this: the negation, another question, another reference."""
        if self.topic in QUOTED:
            negated = tuple(texts.NEGATED.format(statement=one) for one in self.statements)
            return self._replace(statements=negated)
        if self.topic == "correctness":
            return self._replace(references=(texts.OTHER_REFERENCE,))
        return self._replace(question=texts.OTHER_QUESTION)


def shown_of(one: Shown) -> tuple[str, str, str]:
    """What of a text is shown: no id, no rank, no score."""
    return (one.title or "", one.url or "", one.text)


def calls_for(items: Sequence[Item], together: int) -> list[tuple[Call, tuple[int, ...]]]:
    """Items as calls, with the places of their items: those that share topic and evidence together, in their order.

    Evidence stands in an order that its texts decide, so that no place says how a system ranked it.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, one in enumerate(items):
        topic = texts.topic_of(one.about, one.target)
        groups.setdefault((topic, one.scale, one.evidence, one.question, one.answer, one.references), []).append(place)
    made = []
    for key, places in groups.items():
        first = items[places[0]]
        evidence = tuple(sorted(first.evidence, key=lambda one: digest_text("\0".join(shown_of(one)))))
        for start in range(0, len(places), together):
            part = tuple(places[start : start + together])
            statements = tuple(items[one].statement for one in part)
            call = Call(str(key[0]), first.scale, statements, evidence, first.question, first.answer, first.references)
            made.append((call, part))
    return made


def names_of(call: Call, tag: str) -> list[str]:
    """The names of a call's items; those of another call begin otherwise."""
    return [f"{tag}-{number}" for number in range(1, len(call.statements) + 1)]


def messages(call: Call, rubric: str, nonce: str, tag: str) -> list[dict[str, str]]:
    """The messages that ask for verdicts."""
    quotes = texts.QUOTES.format(most=MOST_QUOTES, long=QUOTE) if call.quoted else ""
    one = '{"item": ..., "reason": ..., ' + ('"quotes": [...], ' if call.quoted else "") + '"verdict": ...}'
    labels = ", ".join(SCALES[call.scale])
    form = texts.FORM.format(one=one, count=len(call.statements), reason=REASON, quotes=quotes, labels=labels)
    return _messages(call, nonce, tag, f"Task: {rubric}", form)


def yes_no(call: Call, rubric: str, nonce: str, tag: str) -> list[dict[str, str]]:
    """The messages that ask about the one item of a call with a word."""
    return _messages(
        call, nonce, tag, f"Task: {rubric}", texts.YES_NO.format(question=texts.YES_NO_QUESTIONS[call.topic])
    )


def _messages(call: Call, nonce: str, tag: str, task: str, form: str) -> list[dict[str, str]]:
    parts = [task, "Material:"]
    if call.topic != "item" or call.question:
        parts.append(fenced(nonce, "question", call.question))
    if call.topic in QUOTED:
        whole = call.answer if call.topic == "fact" else call.answer[:_LONGEST_ANSWER]
        parts.append(fenced(nonce, "answer", whole))
    parts += [fenced(nonce, f"evidence {number}", _text(one)) for number, one in enumerate(call.evidence, 1)]
    parts += [fenced(nonce, f"reference {number}", one) for number, one in enumerate(call.references, 1)]
    parts.append("Items:")
    parts += [
        fenced(nonce, f"item {name}", one) for name, one in zip(names_of(call, tag), call.statements, strict=True)
    ]
    system = texts.SYSTEM.format(nonce=nonce)
    return [{"role": "system", "content": system}, {"role": "user", "content": "\n\n".join([*parts, form])}]


def _text(one: Shown) -> str:
    head = [f"title: {one.title}"] if one.title else []
    head += [f"address: {one.url}"] if one.url else []
    return "\n".join([*head, one.text])


def size_of(call: Call) -> int:
    """Characters of the material."""
    sizes: list[int] = [len(one.text) for one in call.evidence]
    sizes += [len(one) for one in call.references]
    return sum(sizes) + (len(call.answer) if call.topic == "fact" else 0)


def body_of(model: str, said: list[dict[str, str]], options: dict[str, Any]) -> dict[str, Any]:
    """The body of a request."""
    return {"model": model, "messages": said, "temperature": 0, **options}
