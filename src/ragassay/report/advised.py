"""What a model said of replies that no rule called a leak, for a person to look at. No count of the section has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from ragassay.errors import AbsentError
from ragassay.records.advice import ADVICE, Advice, ReadText
from ragassay.records.base import Digest
from ragassay.records.judgement import JudgeIdentity
from ragassay.records.text import many

if TYPE_CHECKING:
    from ragassay.store import Store

MOST_SHOWN = 12
HEAD = "For a person to look at: a model's advice, in no count, bound or exit code"
NOBODY = (
    "No model has read the replies for what no rule knows, such as a fact told in other words: "
    "`ragassay probe advise` asks one, and what it says is advice alone."
)
_STOPPED = {"cost_ceiling": "a ceiling was reached", "error_budget": "too many were in error"}


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One text at which a person should look."""

    where: str
    quotes: tuple[str, ...]
    reason: str
    """The model's own words."""


class Advised(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the section; apart from all that is counted."""

    sentence: str
    looks: tuple[Look, ...] = ()
    more: int = 0
    errors: tuple[str, ...] = ()
    believed: bool = True
    advice: Digest | None = None
    """Record of the Advice."""


def advised_of(store: Store, suite: str, assessment: Digest) -> Advised:
    """What the newest advice of a suite says, if it is about this assessment."""
    name = f"{ADVICE}/{suite}"
    if name not in store.ref_names(name):
        return Advised(sentence=NOBODY)
    try:
        digest = store.ref(name)
        made = store.get_record(Advice, digest)
        lines = tuple(store.get_lines(ReadText, made.texts))
        judge = store.get_record(JudgeIdentity, made.judge)
    except AbsentError:  # taken away on purpose
        return Advised(sentence=NOBODY)
    return advised((made, lines), assessment, judge.model or judge.name, digest)


def advised(found: tuple[Advice, Sequence[ReadText]], assessment: Digest, model: str, digest: Digest) -> Advised:
    """What is shown beside an assessment; that only an earlier one was read is said."""
    made, lines = found
    if made.assessment != assessment:
        return Advised(sentence="The newest advice is about an earlier assessment, so that nothing of it is shown: "
                       "`ragassay probe advise` reads this one.")  # fmt: skip
    looks = [_look(one) for one in lines if one.said == "look"]
    causes = Counter(one.cause or "unknown" for one in lines if one.said == "error")
    return Advised(
        sentence=_sentence(made, model), looks=tuple(looks[:MOST_SHOWN]), more=max(0, len(looks) - MOST_SHOWN),
        errors=tuple(f"{cause}: {count:,}" for cause, count in sorted(causes.items())),
        believed=made.disbelieved is None, advice=digest,
    )  # fmt: skip


def _sentence(made: Advice, model: str) -> str:
    reported = f" ({made.model})" if made.model and made.model != model else ""
    right = sum(one.passed for one in made.controls)
    told = (
        f"{model}{reported} read {many(made.attempted - made.not_asked, 'text')} against what was planted: it says "
        f"that {made.look:,} {'gives' if made.look == 1 else 'give'} an invented fact away and that {made.nothing:,} "
        f"{'does' if made.nothing == 1 else 'do'} not; {many(made.error, 'was', 'were')} in error. "
        f"{right:,} of {many(len(made.controls), 'text')} of known truth were read rightly."
    )
    if made.not_asked:
        why = _STOPPED.get(made.stopped or "", made.stopped or "it was stopped")
        told += f" {many(made.not_asked, 'text was', 'texts were')} not asked about: {why}."
    if made.disbelieved:
        told += f" It is not to be believed: {made.disbelieved}."
    return told


def _look(one: ReadText) -> Look:
    others = f" and {many(one.replies - 1, 'more reply', 'more replies')}" if one.replies > 1 else ""
    first = one.probes[0] if one.probes else "?"
    return Look(
        where=f"{one.channel} at {one.path} in {first}{others}, against {one.document_id} of {one.owner}",
        quotes=one.quotes, reason=one.reason or "",
    )  # fmt: skip


def lines_of(one: Advised) -> Iterable[str]:
    """For a terminal."""
    yield HEAD
    yield f"  {one.sentence}"
    for each in one.looks:
        yield f"  look    {each.where}"
        yield f"          it quotes {'; '.join(repr(quote) for quote in each.quotes)}"
        if each.reason:
            yield f"          it says: {' '.join(each.reason.split())}"
    if one.more:
        yield f"  and {many(one.more, 'more text')}; --json has every one"
    if one.errors:
        yield f"  in error: {', '.join(one.errors)}"
