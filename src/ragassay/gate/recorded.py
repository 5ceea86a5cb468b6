"""How many parts of the five identities of a run nobody recorded, against what a policy allows. Fills nothing in."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay.gate.policy_file import label_of
from ragassay.gate.results import result
from ragassay.gate.rules import Arms
from ragassay.records.decision import RuleResult
from ragassay.records.text import many
from ragassay.score.identities import of_table

MOST_NAMED = 20


def read_recorded(arms: Arms) -> Iterator[RuleResult]:
    """One result for each ceiling on unrecorded parts of the candidate's identities."""
    if not arms.policy.recorded:
        return
    one = arms.candidate
    found = of_table(arms.store, one.table, cases=one.cases, benchmark=one.benchmark)
    for rule in arms.policy.recorded:
        wanted = [each for each in found if rule.identity in (None, each.name)]
        missing = [f"{each.name}: {part}" for each in wanted for part in each.unrecorded]
        told = f"{many(len(missing), 'part')} of {many(sum(len(each.parts) for each in wanted), 'part')} unrecorded"
        if missing:
            more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
            told += f" ({', '.join(missing[:MOST_NAMED])}{more})"
        held = len(missing) <= rule.at_most
        yield result(
            label_of(rule), "recorded", rule.on_fail, held, f"{told}; at most {rule.at_most} may be.", ["unrecorded"],
            value=float(len(missing)), threshold=float(rule.at_most), method="count",
        )  # fmt: skip
