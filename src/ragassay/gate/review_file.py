"""Reviews as a TOML file: written with what must be opened, read with what persons said. Decides nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ragassay.errors import RagassayError, UsageError
from ragassay.gate.decide import Decided
from ragassay.gate.results import number
from ragassay.gate.reviews import Moved, largest
from ragassay.records.base import Digest, Record
from ragassay.records.canonical import parse_value
from ragassay.records.decision import Review
from ragassay.records.text import instant
from ragassay.records.toml_file import line_of, read_toml, without_dates

MOST = 10_000
HINT = "`ragassay gate --baseline RUN --to-review FILE` writes such a file"
_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


class _Entry(Record, frozen=True, kw_only=True):
    """One [[review]] as it stands in the file; all but the question blank: nobody has opened it yet."""

    query_id: str
    by: str = ""
    at: str = ""
    verdict: str = ""
    reason: str = ""


class _File(Record, frozen=True, kw_only=True):
    candidate: str
    baseline: str
    review: tuple[_Entry, ...] = ()


def review_file(made: Decided) -> str:
    """The largest gains and losses that the policy demands a person to open, as TOML to be filled in."""
    demand = made.policy.review
    if demand is None:
        raise UsageError(
            "the policy demands no review", field="policy.review", hint="add [policy.review]: docs/gate.md"
        )
    if made.baseline is None:
        raise UsageError("there is no baseline", field="--baseline", hint="a review is of a change: --baseline RUN")
    found = largest(made.candidate, made.baseline, demand)
    if not isinstance(found, list):
        raise UsageError(f"nothing can be listed: {found.told}", field="policy.review", hint="ragassay policy check")
    return "\n".join(_lines(made, found)) + "\n"


def _lines(made: Decided, found: list[Moved]) -> Iterator[str]:
    demand, baseline = made.policy.review, made.baseline
    if demand is None or baseline is None:
        return
    asked = {str(one.query_id): one.query for one in made.candidate.cases}
    yield "# Open each question in both runs. Then fill in by (your name), at (the day), verdict (acceptable or"
    yield "# not_acceptable) and reason. What is left blank counts as not opened."
    yield f"# Moved: {toml_text(demand.measure)}, candidate less baseline, in the better direction."
    yield f"candidate = {toml_text(made.candidate.scores)}"
    yield f"baseline = {toml_text(baseline.scores)}"
    for one in found:
        yield ""
        yield "[[review]]"
        yield f"# {'gain' if one.difference > 0 else 'loss'} of {number(abs(one.difference))}"
        yield f"# question: {toml_text(asked[one.query_id][:300])}"
        yield f"query_id = {toml_text(one.query_id)}"
        yield 'by = ""'
        yield 'at = ""'
        yield 'verdict = ""'
        yield 'reason = ""'


def toml_text(text: str) -> str:
    """A TOML basic string of one line; what hides or reorders text is escaped, a lone surrogate is U+FFFD."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _HIDDEN.sub(
        lambda found: "\\ufffd" if "\ud800" <= found[0] <= "\udfff" else f"\\u{ord(found[0]):04x}", quoted
    )


def read_reviews(path: Path, candidate: Digest, baseline: Digest) -> list[Review]:
    """The reviews of a file that are filled in, of exactly these two score tables.

    UsageError names file, line and field for one that is filled in half, and for a file about other tables.
    """
    text, loaded = read_toml(path, what="a file of reviews", absent=HINT)
    try:
        read = parse_value(_File, without_dates(loaded))
    except RagassayError as error:
        raise _located(error.message, error.field, path, text) from None
    for side, said, wanted in (("candidate", read.candidate, candidate), ("baseline", read.baseline, baseline)):
        if said != wanted:
            raise UsageError(
                f"these reviews are about another {side}: {said}, not {wanted}", file=str(path), field=side,
                line=line_of(text, side), hint=f"what was reviewed is not this change; {HINT}",
            )  # fmt: skip
    if len(read.review) > MOST:
        raise UsageError(f"more than {MOST:,} reviews", file=str(path), field="review", hint=HINT)
    found = []
    for place, one in enumerate(read.review):
        if any(each.strip() for each in (one.by, one.at, one.verdict, one.reason)):
            found.append(_review(one, place, candidate, baseline, path, text))
    return found


def _review(one: _Entry, place: int, candidate: Digest, baseline: Digest, path: Path, text: str) -> Review:
    for field in ("by", "at", "verdict", "reason"):
        if not getattr(one, field).strip():
            raise _located("is blank: fill in all four, or none", f"review[{place}].{field}", path, text)
    try:
        at = instant(one.at)
    except RagassayError as error:
        raise _located(error.message, f"review[{place}].at", path, text) from None
    values = {"query_id": one.query_id, "by": one.by, "at": at, "verdict": one.verdict, "reason": one.reason}
    try:
        return parse_value(Review, {**values, "candidate": candidate, "baseline": baseline})
    except RagassayError as error:
        raise _located(error.message, f"review[{place}].{error.field or 'query_id'}", path, text) from None


def _located(message: str, field: str, path: Path, text: str) -> UsageError:
    return UsageError(message, file=str(path), line=line_of(text, field, message), field=field, hint=HINT)
