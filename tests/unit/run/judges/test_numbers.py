"""Numbers of a claim that stand nowhere overrule a model that calls it supported."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trials.injections import asked
from trials.scripted_models import Seen

from ragassay.run.judges.contract import Item, Shown
from ragassay.run.judges.llm.numbers import absent

TEXTS = ("The mill was sold for 1,200 euros in March 1911.", "Forty people work there; 12 % are apprentices.")


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("It was sold for 1200 euros.", None),
        ("It was sold for 1.2 thousand euros.", None),
        ("It was sold for 1300 euros.", "1300 euros"),
        ("It was sold in 1911.", None),
        ("It was sold on 4 March 1911.", None),  # the evidence says no day: nothing is contradicted
        ("It was sold in April 1911.", "April 1911"),
        ("It was sold in 1912.", "1912"),
        ("40 people work there.", None),
        ("Fifty people work there.", "Fifty"),
        ("The other two left, and a third stayed.", None),  # counted off, not looked for
        ("12 percent are apprentices.", None),
        ("No numbers at all.", None),
    ],
)
def test_numbers_and_dates_by_value(claim: str, missing: str | None) -> None:
    assert absent(claim, TEXTS, "en") == missing


@given(st.text(max_size=200))
def test_every_number_of_a_text_stands_in_the_text(text: str) -> None:
    assert absent(text, [text], "en") is None


def obliging(seen: Seen) -> Any:
    """Calls everything supported and quotes the first words of the evidence."""
    quote = seen.evidence[0][:60]
    said = [{"item": one, "reason": "so", "quotes": [quote], "verdict": "supported"} for one in seen.items]
    return {"verdicts": said}


@pytest.mark.parametrize(
    ("numbers", "found"),
    [("error", ("error", None, "number_not_there")), ("unsupported", ("value", "unsupported", None)),
     ("none", ("value", "supported", None))],
)  # fmt: skip
def test_a_model_is_overruled_as_declared(numbers: str, found: tuple[str, str | None, str | None]) -> None:
    items = [
        Item("q", 0, "claim", f"c{at}", "support/1", claim, "When was it sold?", claim, (Shown("p", TEXTS[0]),))
        for at, claim in enumerate(("The mill was sold in 1911.", "The mill was sold in 1912."))
    ]
    verdicts, seen = asked(obliging, items, numbers=numbers, reasks=3)
    assert (verdicts[0].status, verdicts[0].label) == ("value", "supported")
    assert (verdicts[1].status, verdicts[1].label, verdicts[1].reason) == found
    assert len(seen) == 2  # asking again would not mend it
