"""A decision as JUnit XML: a test case a result of a rule. Passes nothing, hides nothing."""

from __future__ import annotations

from collections import Counter
from xml.sax.saxutils import escape, quoteattr

from ragassay.records.decision import Decision, RuleResult
from ragassay.report.decided import in_order, sentence
from ragassay.report.testcases import xml_text

MOST_RESULTS = 20_000


def decision_junit(decision: Decision, policy: str) -> str:
    """JUnit XML of every result, worst first.

    *failure*: a rule that does not hold, one that calls a person, and one that cannot be told; `type` says which. The
    last case, `gate`, is the outcome, and fails where that is not pass: a file without any other case never passes.
    """
    kept = in_order(decision.results)[:MOST_RESULTS]
    seen: Counter[str] = Counter()
    cases = [_case(one, seen) for one in kept]
    failed = sum(one.result != "pass" for one in kept) + (decision.outcome != "pass")
    told = sentence(decision, policy)
    outcome = "" if decision.outcome == "pass" else _failure(decision.outcome, told, "")
    cases.append(f'<testcase classname="gate" name="gate">{outcome}</testcase>\n')
    counts = f'tests="{len(cases)}" failures="{failed}" errors="0" skipped="0"'
    properties = {
        "policy": decision.policy,
        "candidate": decision.candidate.scores,
        "as of": decision.as_of,
        "left out": str(len(decision.results) - len(kept)),
    }
    if decision.baseline is not None:
        properties["baseline"] = decision.baseline.scores
    if decision.assessment is not None:
        properties["assessment"] = decision.assessment
    properties |= {f"note {place}": xml_text(one, 1_000) for place, one in enumerate(decision.notes, 1)}
    lines = "".join(f"<property name={quoteattr(key)} value={quoteattr(said)}/>\n" for key, said in properties.items())
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gate" {counts}>\n'
        f"<testsuite name={quoteattr(xml_text(policy, 200))} {counts}>\n<properties>\n{lines}</properties>\n"
        f"{''.join(cases)}<system-out>{escape(xml_text(told, 4_000))}</system-out>\n</testsuite>\n</testsuites>\n"
    )


def _case(one: RuleResult, seen: Counter[str]) -> str:
    where = f" [{one.population}]" if one.population is not None else ""
    name = xml_text(one.rule + where, 300)
    seen[name] += 1
    if seen[name] > 1:  # two rules of one name: readers drop equal names
        name = f"{name} ({seen[name]})"
    inner = "" if one.result == "pass" else _failure(one.result, one.told, ", ".join(one.questions))
    return f"<testcase classname={quoteattr(f'gate.{one.kind}')} name={quoteattr(name)}>{inner}</testcase>\n"


def _failure(kind: str, told: str, body: str) -> str:
    message = quoteattr(xml_text(told, 1_000))
    return f"<failure type={quoteattr(kind)} message={message}>{escape(xml_text(body, 2_000))}</failure>"
