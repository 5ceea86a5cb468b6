"""Whether questions in users' own words may be sent to a judge behind an endpoint. Sends nothing."""

from __future__ import annotations

from collections.abc import Iterable

from ragassay.errors import UsageError
from ragassay.records.case import Benchmark, Case
from ragassay.records.text import many

USER_TEXT = "text=user"
"""The slice of questions that are raw text of users."""


def check_permitted(benchmark: Benchmark, cases: Iterable[Case], endpoint: str) -> None:
    """UsageError where a benchmark holds raw text of users and does not say that it is authorised and redacted.

    Authorised: its provenance has an `authorisation`; redacted: one of its transformations is of kind `redact`. A judge
    without an endpoint reads everything: nothing leaves the machine.
    """
    raw = [one for one in cases if USER_TEXT in one.slice]
    if not endpoint or not raw:
        return
    said = benchmark.provenance
    absent = []
    if said is None or not said.authorisation:
        absent.append("authorised")
    if said is None or not any(one.kind == "redact" for one in said.transformations):
        absent.append("redacted")
    if absent:
        raise UsageError(
            f"{many(len(raw), 'question')} of this benchmark {'is' if len(raw) == 1 else 'are'} raw text of users "
            f"(slice {USER_TEXT}), and it does not say that they are {' and '.join(absent)}: nothing was sent",
            field="benchmark.provenance",
            hint="say authorisation and a transformation of kind redact in [benchmark.provenance] and run again, or "
            'judge with kind = "lexical", which sends nothing',
        )
