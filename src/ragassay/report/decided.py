"""A decision in words: one sentence, lines for a terminal, Markdown, a step summary. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.records.decision import Decision, RuleResult
from ragassay.records.text import many
from ragassay.report.fitting import fitting, left_out
from ragassay.report.text import table
from ragassay.report.words import class_name, literal, plain

CALLS = {
    "pass": "Pass",
    "fail": "Fail",
    "review": "Review: a person must look",
    "inconclusive": "Cannot tell yet",
}
"""Outcome -> the first words of its sentence."""
RESULTS = {"pass": "pass", "fail": "fail", "review": "review", "inconclusive": "cannot tell"}
WORST_FIRST = ("fail", "inconclusive", "review", "pass")
MARKER = "<!-- ragassay gate -->"
"""First line of the comment, by which a later run finds it again and replaces it."""
MOST_NAMED = 3
MOST_ROWS = 200
MOST_BYTES = 900_000
_TOLD = 1_000


def in_order(results: Sequence[RuleResult]) -> list[RuleResult]:
    """Worst first; within one result, blocking rules first, then as the policy has them."""
    return sorted(results, key=lambda one: (WORST_FIRST.index(one.result), one.on_fail != "block"))


def sentence(decision: Decision, policy: str) -> str:
    """The outcome with what stands against it, in one sentence; names of rules are cleaned, not shortened away."""
    against = [one for one in in_order(decision.results) if one.result != "pass"]
    rules = [one for one in decision.results if one.kind != "evidence"]
    of_policy = f"policy {plain(policy, 80)}"
    if decision.outcome == "pass":
        return f"{CALLS['pass']}: {_all(len(rules))} of {of_policy} {'holds' if len(rules) == 1 else 'hold'}."
    wanted = {"fail": ("fail",), "inconclusive": ("inconclusive",), "review": ("review", "inconclusive")}
    own = [one for one in against if one.result in wanted[decision.outcome]]
    if not own:
        return f"{CALLS[decision.outcome]}: no rule of {of_policy} was read."
    names = [plain(one.rule, 120) + _where(one) for one in own[:MOST_NAMED]]
    more = f" and {len(own) - len(names):,} more" if len(own) > len(names) else ""
    held = sum(one.result == "pass" for one in rules)
    return (
        f"{CALLS[decision.outcome]}: {'; '.join(names)}{more} ({held:,} of {many(len(rules), 'result')} of {of_policy} "
        f"{'holds' if held == 1 else 'hold'})."
    )


def _all(count: int) -> str:
    return "the one result" if count == 1 else f"all {count:,} results"


def decision_lines(decision: Decision, policy: str) -> Iterator[str]:
    """The whole decision for a terminal: what stands against it first, the sentence last."""
    arms = [plain(decision.candidate.name, 80)]
    if decision.baseline is not None:
        arms.append(f"against {plain(decision.baseline.name, 80)}")
    yield f"{' '.join(arms)}, as of {decision.as_of}"
    if decision.assessment is not None:
        yield f"  assessment of probes {decision.assessment}"
    for one in in_order(decision.results):
        called = "" if one.on_fail == "block" or one.result == "pass" else " (calls a person)"
        yield f"  {RESULTS[one.result]:11}  {plain(one.rule, 160)}{_where(one)}{called}"
        yield f"               {plain(one.told, _TOLD)}"
        if one.result != "pass":
            yield f"               because: {', '.join(code.replace('_', ' ') for code in one.reasons)}"
        if one.result != "pass" and one.questions:
            named = ", ".join(plain(name, 60) for name in one.questions[:5])
            yield f"               see: {named}{' …' if len(one.questions) > 5 else ''}"
    for share in decision.verdicts:
        risk = f", risk {share.risk}" if share.risk else ""
        yield (
            f"  {class_name(share.class_)}{risk}: {many(share.questions, 'question')}, {share.good:,} good, "
            f"{share.bad:,} bad, {share.review:,} to be reviewed, {share.open:,} open"
        )
    for note in decision.notes:
        yield f"  note: {plain(note, _TOLD)}"
    yield sentence(decision, policy)


def _where(one: RuleResult) -> str:
    """The population, where the name of the rule does not say it already."""
    if one.population is None or str(one.population) in one.rule:
        return ""
    return f" [{plain(str(one.population), 80)}]"


def decision_markdown(decision: Decision, policy: str) -> str:
    """The comment on a change: sentence, table of results, verdicts of the questions; begins with MARKER."""
    return "\n\n".join([MARKER, *(text for _, text in _parts(decision, policy))]) + "\n"


def decision_summary(decision: Decision, policy: str, most_bytes: int = MOST_BYTES) -> str:
    """The same for a step summary, of at most `most_bytes` bytes; parts that do not fit are left out and named."""
    kept, left = fitting(_parts(decision, policy), most_bytes - 200)
    if left and most_bytes >= 200:
        kept.append(left_out(left))
    return "\n\n".join(kept) + "\n" if kept else ""


def _parts(decision: Decision, policy: str) -> Iterator[tuple[str, str]]:
    against = f" against {literal(decision.baseline.name, 80)}" if decision.baseline is not None else ""
    yield "the heading", f"## Gate: {literal(decision.candidate.name, 80)}{against}"
    yield "the sentence", f"**{literal(sentence(decision, policy), 1_000)}**"
    ordered = in_order(decision.results)
    rows = [(RESULTS[one.result], literal(one.rule + _where(one), 200), literal(one.told, 400), _questions(one))
            for one in ordered[:MOST_ROWS]]  # fmt: skip
    if rows:
        yield "the results", table(("Result", "Rule", "What was found", "Questions"), rows)
    if len(ordered) > MOST_ROWS:
        yield "the rest", f"{len(ordered) - MOST_ROWS:,} more results are in the JSON."
    shares = [
        (class_name(one.class_), one.risk or "", *(f"{n:,}" for n in (one.questions, one.good, one.bad, one.review,
                                                                       one.open)))
        for one in decision.verdicts
    ]  # fmt: skip
    if shares:
        head = ("Class", "Risk", "Questions", "Good", "Bad", "To be reviewed", "Open")
        yield "verdicts of questions", table(head, shares)
    if decision.notes:
        yield "the notes", "\n".join(f"- {literal(one, _TOLD)}" for one in decision.notes)
    told = f"policy `{decision.policy}`, candidate `{decision.candidate.scores}`"
    if decision.baseline is not None:
        told += f", baseline `{decision.baseline.scores}`"
    if decision.assessment is not None:
        told += f", assessment of probes `{decision.assessment}`"
    yield "what it rests on", f"As of {decision.as_of}; {told}."


def _questions(one: RuleResult) -> str:
    if one.result == "pass":
        return ""
    return ", ".join(literal(name, 60) for name in one.questions[:5]) + (" …" if len(one.questions) > 5 else "")
