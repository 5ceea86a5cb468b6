"""Declining: how often, and whether every refusing answer used the declared words. Rules on no answer's truth."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay.gate.evidence import Evidence
from ragassay.gate.results import result
from ragassay.records.decision import RuleResult
from ragassay.records.policy import Refusal, Rule
from ragassay.records.text import many
from ragassay.score.answer import ANSWERING

WORDS = ("abstained", "escalated")
"""Outcomes whose answer must be the declared text."""


def rules_of(refusal: Refusal | None) -> list[Rule]:
    """The floor and the ceiling of a refusal section as rules like any other."""
    made = []
    if refusal is not None and refusal.abstention_at_least is not None:
        made.append(
            Rule(measure="abstention_rate", class_="unanswerable", at_least=refusal.abstention_at_least,
                 on_fail=refusal.on_fail)
        )  # fmt: skip
    if refusal is not None and refusal.false_refusal_at_most is not None:
        made.append(Rule(measure="false_refusal", at_most=refusal.false_refusal_at_most, on_fail=refusal.on_fail))
    return made


def read_words(evidence: Evidence, refusal: Refusal | None) -> Iterator[RuleResult]:
    """Whether every answer that abstained or escalated is the exact text; white space around it does not count.

    An escalated answer may go on after the text, and must name the route where one is declared. An answer that is the
    text and is called anything else is against it too, or the shares of declined questions would not count it. With no
    refusing answer there is nothing to check, and the result is inconclusive.
    """
    if refusal is None or refusal.text is None:
        return
    rows = evidence.observed.at("outcome", None)
    outcome = {(row.query_id, row.repeat): row.target for own in rows.values() for row in own if row.status == "value"}
    refusing, wrong, hidden = 0, [], []
    known = {one.query_id for one in evidence.cases}
    for content in evidence.contents:
        said = outcome.get((content.query_id, content.repeat))
        if content.answer is None or content.query_id not in known:
            continue
        if said in ANSWERING and uses(content.answer.text, "abstained", refusal):
            hidden.append(content.query_id)
        if said not in WORDS:
            continue
        refusing += 1
        if not uses(content.answer.text, said, refusal):
            wrong.append(content.query_id)
    label, on_fail = "the text for insufficient evidence", refusal.on_fail
    if not rows:
        yield result(
            label, "refusal", on_fail, None, "Nothing was read: outcome was not measured.", ["measure_missing"]
        )
    elif hidden:
        count = many(len(hidden), "answer is", "answers are")
        told = f"{count} the text and called answered, so that nobody counts them as declined."
        yield result(
            label,
            "refusal",
            on_fail,
            False,
            told,
            ["refusal_called_answered", *(["other_words"] if wrong else [])],
            counts={"value": refusing + len(hidden)},
            questions=list(dict.fromkeys([*hidden, *wrong])),
            method="count",
        )
    elif not refusing:
        yield result(label, "refusal", on_fail, None, "Nothing was read: no answer abstained or escalated.",
                     ["empty_population"])  # fmt: skip
    else:
        told = f"{refusing - len(wrong):,} of {refusing:,} refusing answers used it."
        yield result(label, "refusal", on_fail, not wrong, told, ["other_words"] if wrong else [],
                     counts={"value": refusing}, questions=list(dict.fromkeys(wrong)), method="count")  # fmt: skip


def uses(text: str, outcome: str | None, refusal: Refusal) -> bool:
    """Whether one refusing answer is in the declared words."""
    said, wanted = text.strip(), (refusal.text or "").strip()
    if outcome != "escalated":
        return said == wanted
    return said.startswith(wanted) and (refusal.route is None or refusal.route in said)
