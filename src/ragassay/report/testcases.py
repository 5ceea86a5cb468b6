"""A scorecard as JUnit XML: a suite a class, a test case a question and repeat. Passes no gate, hides no question."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from ragassay.report.model import Question, RepeatView, Scorecard, Verdict
from ragassay.report.trouble import Finding, find
from ragassay.report.words import class_name, plain

MOST_CASES = 20_000
"""GitLab reads at most 250,000 XML objects of a file; a case is eight at the most."""
MOST_BYTES = 10_000_000
"""GitLab takes files below 30 MB; others take less."""
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {"failed": "error", "bad": "failure", "open": "skipped"}
_WORST_FIRST = ("failed", "bad", "open", "good")


class _Case(NamedTuple):
    class_: str
    state: str
    text: str


def junit(card: Scorecard) -> str:
    """JUnit XML of every question.

    *error*: the system failed. *failure*: a required fact is not in the context, or the outcome is none of the expected
    ones, or nothing relevant was found. *skipped*: it cannot be told, or nothing was measured; so is the case `gate`
    as long as no gate has decided, and it fails where one has and the decision is not pass. Above MOST_CASES or
    MOST_BYTES passed cases are left out first, and the property `left out` says how many. Only characters that XML 1.0
    allows; hidden ones are named.
    """
    cases = _cases(card)
    kept, left = _fitting(cases)
    suites = [_gate(card, len(cases), left)]
    by_class: dict[str, list[_Case]] = {}
    for one in kept:
        by_class.setdefault(one.class_, []).append(one)
    suites += [_suite(class_name(name), own) for name, own in by_class.items()]
    title = quoteattr(xml_text(f"{card.title} on {card.benchmark}"))
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name={title} {_counts(kept, gate=card.verdict)}>\n'
    return head + "".join(suites) + "</testsuites>\n"


def _cases(card: Scorecard) -> list[_Case]:
    seen: Counter[str] = Counter()
    made = []
    for one in card.questions:
        for view in one.repeats:
            name = xml_text(one.query_id, 200) + (f" repeat {view.repeat}" if len(one.repeats) > 1 else "")
            seen[name] += 1
            if seen[name] > 1:  # ids that differ only in what was cut or named: readers drop equal names
                name = f"{name} ({seen[name]})"
            made.append(_case(card, one, view, name))
    return made


def _case(card: Scorecard, question: Question, view: RepeatView, name: str) -> _Case:
    found = find(question, view)
    where = quoteattr(xml_text(f"{card.benchmark}: {class_name(question.class_)}", 200))
    time = f' time="{view.latency_ms / 1000:.3f}"' if view.latency_ms is not None else ""
    inner = _inner(found, question)
    text = f"<testcase classname={where} name={quoteattr(name)}{time}"
    return _Case(question.class_, found.state, f"{text}>{inner}</testcase>\n" if inner else f"{text}/>\n")


def _inner(found: Finding, question: Question) -> str:
    kind = _ELEMENTS.get(found.state)
    if kind is None:
        return ""
    message = quoteattr(xml_text(found.words))
    if kind == "skipped":
        return f"<skipped message={message}/>"
    body = escape(xml_text(question.query.text))
    return f"<{kind} type={quoteattr(xml_text(found.kind))} message={message}>{body}</{kind}>"


def _fitting(cases: list[_Case]) -> tuple[list[_Case], int]:
    """The cases that fit, in their order; of those that do not, good ones go first."""
    chosen: set[int] = set()
    room = MOST_BYTES
    for number in sorted(range(len(cases)), key=lambda at: (_WORST_FIRST.index(cases[at].state), at)):
        room -= len(cases[number].text.encode())
        if room < 0 or len(chosen) == MOST_CASES:
            break
        chosen.add(number)
    return [one for number, one in enumerate(cases) if number in chosen], len(cases) - len(chosen)


def _gate(card: Scorecard, cases: int, left: int) -> str:
    told = quoteattr(xml_text(card.verdict.lead, 1_000))
    properties = {
        "scores": card.scores,
        "as of": card.as_of,
        "questions times repeats": str(cases),
        "left out": str(left),
    }
    lines = "".join(
        f"<property name={quoteattr(key)} value={quoteattr(value)}/>\n" for key, value in properties.items()
    )
    inner = {None: f"<skipped message={told}/>", "pass": ""}.get(
        card.verdict.outcome, f'<failure type="{card.verdict.outcome}" message={told}/>'
    )
    case = f'<testcase classname="gate" name="gate">{inner}</testcase>\n'
    return (
        f'<testsuite name="gate" {_counts([], gate=card.verdict)}>\n<properties>\n{lines}</properties>\n'
        f"{case}<system-out>{escape(xml_text(card.verdict.sentence, 4_000))}</system-out>\n</testsuite>\n"
    )


def _suite(name: str, cases: list[_Case]) -> str:
    lines = "".join(one.text for one in cases)
    return f"<testsuite name={quoteattr(name)} {_counts(cases)}>\n{lines}</testsuite>\n"


def _counts(cases: list[_Case], gate: Verdict | None = None) -> str:
    states = Counter(one.state for one in cases)
    if gate is not None:
        states["open" if gate.outcome is None else "good" if gate.outcome == "pass" else "bad"] += 1
    return f'tests="{states.total()}" failures="{states["bad"]}" errors="{states["failed"]}" skipped="{states["open"]}"'


def xml_text(text: str, most: int = 300) -> str:
    """One line, hidden characters named, nothing that XML 1.0 forbids."""
    return _ILLEGAL.sub("\ufffd", plain(text, most))
