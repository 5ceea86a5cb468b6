"""The contract of an evaluator (entry point group `ragassay.evaluators`), for its author to run. Installs nothing."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from ragassay.contracts.faults import HOSTILE_TEXTS, broken, name_of
from ragassay.records.base import DocumentId
from ragassay.records.document import Span
from ragassay.records.judgement import SCALES, JudgeIdentity
from ragassay.records.text import many
from ragassay.run.judges.contract import Item, Shown, Verdict

_KIND = "evaluator"
_ABOUT = ("claim", "citation", "fact", "item", "answer", "similarity")


def claim(statement: str, *shown: str, question: str = "What?", answer: str | None = None) -> Item:
    """A claim with the texts that it is to be judged by, each a document of its own: d1, d2, ..."""
    return Item(
        query_id="q1", repeat=0, about="claim", target="c1", scale="support/1", statement=statement,
        question=question, answer=answer or statement, evidence=_shown(shown),
    )  # fmt: skip


def check_evaluator(
    make: Callable[[Mapping[str, str]], Any],
    examples: Sequence[tuple[Item, str]],
    *,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Put your examples and hostile texts to an evaluator, as a job would: together, alone, in another order, again.

    Promises: `make(settings)` gives an object with an `identity` (a JudgeIdentity, equal each time) and with `about`,
    kinds of items; `judge(items)`, plain or a coroutine function, gives one Verdict an item in their order and raises
    for no text; a verdict has a label of the item's scale exactly where its status is *value*, and a reason exactly
    where it is not; its spans lie in what the item shows; every example gets the label that you worked out by hand; an
    item's verdict does not hang on what is beside it or before it; the items given are not changed.

    Raises ContractError for the first promise that is broken.
    """
    told, name = dict(settings or {}), name_of(make)
    made = make(told)
    _check_shape(made, make(told), name)
    if not examples:
        broken(_KIND, name, "was given no example", "give (item, label), the label worked out by hand")
    strange = [one for one, _ in examples if one.about not in made.about]
    if strange:
        broken(_KIND, name, f"rules on no {strange[0].about}", f"it says that it rules on {', '.join(made.about)}")
    items = [one for one, _ in examples]
    together = _verdicts(made, name, items)
    for (item, label), verdict in zip(examples, together, strict=True):
        if verdict.label != label:
            said = verdict.label or f"{verdict.status} ({verdict.reason})"
            broken(
                _KIND, name, f"says {said} of {item.statement!r}; the example says {label}", "one of the two is wrong"
            )
    hostile = [_hostile(items[0], text, shown) for text in HOSTILE_TEXTS for shown in ((), HOSTILE_TEXTS[:3])]
    every = [*items, *hostile]
    wanted = [*together, *_verdicts(made, name, hostile)]
    alone = list(chain.from_iterable(_verdicts(made, name, [one]) for one in every))
    turned = _verdicts(made, name, every[::-1])[::-1]
    for item, first, *others in zip(every, wanted, alone, turned, strict=True):
        for how, other in zip(("alone", "in another order"), others, strict=True):
            if _said(first) != _said(other):
                broken(
                    _KIND, name, f"says something else {how} of {item.statement[:60]!r}",
                    "let an item's verdict hang on that item only",
                )  # fmt: skip


def _check_shape(made: Any, again: Any, name: str) -> None:
    identity, about = getattr(made, "identity", None), getattr(made, "about", None)
    if not isinstance(identity, JudgeIdentity):
        broken(_KIND, name, f"has the identity {identity!r}", "a JudgeIdentity: all that can change a verdict")
    if again.identity != identity:
        broken(_KIND, name, "has another identity the second time", "let it follow from the settings and versions only")
    if not about or not set(about) <= set(_ABOUT):
        broken(_KIND, name, f"rules on {about!r}", f"a set of {', '.join(_ABOUT)}")
    if not callable(getattr(made, "judge", None)):
        broken(_KIND, name, "has no method judge", "judge(items) gives a Verdict an item, in order")


def _verdicts(made: Any, name: str, items: Sequence[Item]) -> list[Verdict]:
    given = list(items)
    try:
        found = made.judge(given)
        if inspect.isawaitable(found):
            found = asyncio.run(_awaited(found))
        found = list(found)
    except Exception as cause:  # noqa: BLE001  code of others
        broken(
            _KIND, name, f"raised {type(cause).__name__}: {cause}", "what cannot be ruled on is a Verdict that says why"
        )
    if given != list(items):
        broken(_KIND, name, "changed the list of items", "leave it as it came")
    if len(found) != len(given) or not all(isinstance(one, Verdict) for one in found):
        broken(_KIND, name, f"gave {len(found)} for {many(len(given), 'item')}", "one Verdict an item, in order")
    for item, verdict in zip(given, found, strict=True):
        _check_verdict(name, item, verdict)
    return found


async def _awaited(found: Any) -> Any:
    return await found


def _check_verdict(name: str, item: Item, verdict: Verdict) -> None:
    labels = SCALES.get(item.scale, ())
    if verdict.status not in ("value", "undefined", "missing", "error"):
        broken(_KIND, name, f"gives the status {verdict.status!r}", "value, undefined, missing or error")
    if (verdict.status == "value") != (verdict.label is not None) or (labels and verdict.label not in (None, *labels)):
        broken(_KIND, name, f"gives {verdict.status} with the label {verdict.label!r}", f"one of {', '.join(labels)}")
    if (verdict.status == "value") == (verdict.reason is not None):
        broken(
            _KIND,
            name,
            f"gives {verdict.status} with the reason {verdict.reason!r}",
            "a reason where there is no label",
        )
    if verdict.score is not None and not (isinstance(verdict.score, int | float) and abs(verdict.score) < float("inf")):
        broken(_KIND, name, f"gives the score {verdict.score!r}", "a finite number, or none")
    sources = [one for shown in item.evidence for one in shown.sources]
    for span in verdict.spans:
        if not any(_inside(span, one) for one in sources):
            broken(_KIND, name, f"points to {span}, which it was not shown", "spans lie in the sources of the evidence")


def _inside(span: Span, source: Span) -> bool:
    alike = (span.document_id, span.version) == (source.document_id, source.version)
    return alike and source.start <= span.start <= span.end <= source.end


def _said(one: Verdict) -> tuple[Any, ...]:
    return (one.status, one.label, one.reason, one.score, one.spans)


def _hostile(like: Item, text: str, shown: Sequence[str]) -> Item:
    return like._replace(
        statement=text, answer=text, question=text, evidence=_shown((text, *shown)), references=(text,)
    )


def _shown(texts: Sequence[str]) -> tuple[Shown, ...]:
    return tuple(
        Shown(
            f"d{number}#0", text,
            (Span(document_id=DocumentId(f"d{number}"), version="1", start=0, end=len(text)),),
        )
        for number, text in enumerate(texts, 1)
    )  # fmt: skip
