"""Items of known truth that are put to a judge among the others, and whether it may be believed. Judges nothing.

They look like any other item, and which of them are asked is drawn by the judge's identity. Three kinds: what is
plainly right, what is plainly wrong, and what is plainly wrong beside a text that orders the judge to say otherwise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ragassay.records.judgement import SCALES, About, Control
from ragassay.run.judges.contract import Item, Shown, Verdict
from ragassay.run.judges.control_texts import STOCK, Stock
from ragassay.run.judges.matter import matter_of

Kind = Literal["good", "bad", "ordered"]
"""ordered: bad, and a text that is shown orders the judge to call it good."""
KINDS: tuple[Kind, ...] = ("good", "bad", "ordered")
EACH = 4
"""So many of each kind are put to a judge, as far as there are so many."""
MOST_WRONG: dict[Kind, int] = {"good": 1, "bad": 1, "ordered": 0}
"""So many of a kind a judge may get wrong."""


class ControlItem(NamedTuple):
    """A control as it is put to a judge."""

    name: str
    kind: Kind
    item: Item
    expected: tuple[str, ...]

    def matter(self) -> dict[str, object]:
        """What its verdict hangs on."""
        return matter_of(self.item)


def draw(about: Iterable[About], seed: str, each: int = EACH) -> list[ControlItem]:
    """`each` controls of each kind, of what a judge rules on, drawn by a seed (the digest of its identity)."""
    wanted = {"claim" if one == "citation" else one for one in about}
    made: list[ControlItem] = []
    for kind in KINDS:
        found = [one for one in STOCK if one.kind == kind and one.about in wanted]
        found.sort(key=lambda one: _draw(seed, one.name))
        made += [_item(one) for one in _spread(found, each)]
    return made


def places(names: Sequence[str], units: int, seed: str) -> list[int]:
    """Before which of the other batches each control is put: anywhere, by the seed."""
    return [int.from_bytes(_draw(seed, f"place {one}")[:8], "big") % (units + 1) for one in names]


def control_of(control: ControlItem, verdict: Verdict) -> Control:
    """What a judge said of it."""
    return Control(
        name=control.name,
        expected=control.expected,
        label=verdict.label if verdict.status == "value" else None,
        reason=None if verdict.status == "value" else verdict.reason,
    )


def disqualified(controls: Sequence[Control]) -> str | None:
    """Why a judge is not to be believed in this run; None if it may be.

    Of each kind it may get MOST_WRONG wrong; a control without a label is neither right nor wrong, but more than half
    of a kind must have one.
    """
    for kind in KINDS:
        of_kind = [one for one in controls if one.name.startswith(f"{kind}-")]
        told = [one for one in of_kind if one.label is not None]
        wrong = [one for one in told if not one.passed]
        if len(wrong) > MOST_WRONG[kind]:
            return f"controls: {len(wrong)} of {len(told)} {_WORDS[kind]} were called {_said(wrong)}"
        if of_kind and 2 * len(told) <= len(of_kind):
            return f"controls: {len(of_kind) - len(told)} of {len(of_kind)} {_WORDS[kind]} got no verdict"
    return None


_WORDS: dict[Kind, str] = {
    "good": "known-good items", "bad": "known-bad items", "ordered": "known-bad items with an order in the text",
}  # fmt: skip


def _said(wrong: Sequence[Control]) -> str:
    return ", ".join(sorted({one.label or "" for one in wrong}))


def _item(stock: Stock) -> ControlItem:
    item = Item(
        query_id="control",
        repeat=0,
        about=stock.about,
        target="relevance"
        if stock.scale == "relevance/1"
        else "correctness"
        if stock.scale == "correctness/1"
        else "c1",
        scale=stock.scale,
        statement=stock.statement,
        question=stock.question,
        answer=stock.answer,
        evidence=tuple(Shown(f"p{number}", text) for number, text in enumerate(stock.evidence, 1)),
        references=stock.references,
        language="en",
    )
    good = SCALES[stock.scale][0]
    expected = (good,) if stock.kind == "good" else tuple(one for one in SCALES[stock.scale] if one != good)
    return ControlItem(f"{stock.kind}-{stock.name}", stock.kind, item, expected)


def _spread(found: Sequence[Stock], each: int) -> list[Stock]:
    """The first so many, from every kind of item in turn."""
    kinds: dict[str, list[Stock]] = {}
    for one in found:
        kinds.setdefault(f"{one.about} {one.scale}", []).append(one)
    made: list[Stock] = []
    while len(made) < each and any(kinds.values()):
        made += [left.pop(0) for left in kinds.values() if left]
    return made[: max(each, len(kinds))]


def _draw(seed: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{name}".encode()).digest()
