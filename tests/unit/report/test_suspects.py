"""Where to look first: what leaking probes have in common, the most telling word for it."""

from __future__ import annotations

from typing import Any

from ragassay.records.probe import Finding
from ragassay.report.leaks import suspects


def leak(probe: int, channel: Any, step: str | None = None, **more: Any) -> Finding:
    return Finding(
        severity=more.pop("severity", "leak"), channel=channel, by="id", owasp=("LLM02:2025",), told="x",
        probe_id=f"p-{probe}", repeat=0, step=step, wording=more.pop("wording", "plain"), path=channel, **more,
    )  # fmt: skip


def test_a_cache_says_more_than_the_steps_of_the_reply_that_lay_in_it() -> None:
    every = [leak(n, channel, step) for n in range(9) for channel, step in (("items", "dense"), ("cache", None))]
    assert suspects(every) == ["9 of 9 leaking probes were answered from a cache: look at what the cache is keyed by"]


def test_a_credential_alone_says_most() -> None:
    every = [leak(n, "items", "dense", credential="expired") for n in range(4)]
    assert suspects(every) == ["4 of 4 leaking probes came with the credential expired: look at how it is checked"]


def test_the_first_step_says_more_than_what_came_of_it() -> None:
    every = [leak(n, channel, step) for n in range(5)
             for channel, step in (("items", "dense"), ("items", "rerank"), ("answer", None))]  # fmt: skip
    assert suspects(every) == ["5 of 5 leaking probes hold what is foreign at step dense first"]


def test_two_holes_are_both_named_and_without_a_leak_there_is_none() -> None:
    every = [leak(n, "title") for n in range(6)] + [leak(n + 6, "answer", wording="memory") for n in range(5)]
    assert suspects(every) == [
        "5 of 11 leaking probes got it in a conversation of somebody else",
        "6 of 11 leaking probes show it in title (title)",
    ]
    assert suspects([leak(1, "answer", severity="review")]) == []
