"""Denied against non-existent: documents count once, both samples must say so, and the power is what is promised."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from ragassay.probe.oracles import LEAST_PAIRS, POWER, Pair, Seen, detectable_shift, oracles, share_needed
from ragassay.records.probe import Channel

TIME: tuple[Channel, str] = ("latency", "latency_ms")
WORD: tuple[Channel, str] = ("error", "error")


def pairs(documents: int, told: Callable[[int], float], each: int = 1) -> list[Pair]:
    return [
        Pair(f"d{number}", Seen({TIME: 10.0 + told(number)}, {}), Seen({TIME: 10.0}, {}))
        for number in range(documents) for _ in range(each)
    ]  # fmt: skip


def verdict(given: list[Pair]) -> str:
    (one,) = oracles(given)
    return one.verdict


def test_what_differs_at_every_document_is_a_finding() -> None:
    (one,) = oracles(pairs(2 * LEAST_PAIRS, lambda _: 0.5))
    assert (one.verdict, one.pairs, one.effect) == ("finding", (15, 15), 0.5)
    assert max(one.p_values) < 1e-4


def test_many_pairs_about_few_documents_prove_nothing() -> None:
    assert verdict(pairs(8, lambda number: 1.0 + number, each=40)) == "not_evaluable"
    held = pairs(30, lambda number: 1.0 if number % 4 < 2 else -1.0, each=40)
    assert verdict(held) == "none", "1,200 pairs, but only thirty documents, half this way and half that"


def test_one_sample_alone_is_for_review() -> None:
    given = pairs(60, lambda number: 1.0 if number % 2 == 0 else (-1.0) ** (number // 2))
    assert verdict(given) == "review"
    assert verdict(pairs(60, lambda number: 1.0 if number % 2 == 0 else -1.0)) == "review", "the other way in the other"


def test_words_that_tell_denied_from_absent() -> None:
    denied, absent = Seen({}, {WORD: "not yours"}), Seen({}, {WORD: "nothing there"})
    same = [Pair(str(number), absent, absent) for number in range(40)]
    (one,) = oracles([Pair(str(number), denied, absent) for number in range(40)])
    assert (one.verdict, one.channel) == ("finding", "error")
    (none,) = oracles(same)
    assert none.verdict == "none"


def test_an_honest_service_whose_pairs_hang_together_is_not_accused() -> None:
    dice = random.Random(5)
    for _ in range(300):
        own = [dice.gauss(0, 5) for _ in range(48)]
        given = pairs(48, lambda number, own=own: own[number] + dice.gauss(0, 0.1), each=4)  # type: ignore[misc]
        assert verdict(given) == "none"


@pytest.mark.parametrize("documents", [15, 24, 40, 100])
def test_the_power_is_what_is_promised(documents: int) -> None:
    share, dice = share_needed(documents), random.Random(documents)
    assert share is not None
    found = sum(
        verdict(pairs(2 * documents, lambda _: 1.0 if dice.random() < share else -1.0)) == "finding" for _ in range(300)
    )
    assert found >= (POWER - 0.05) * 300


def test_the_least_shift_is_told_in_the_noise_that_was_seen() -> None:
    dice = random.Random(3)
    noise = [dice.gauss(0, 1) for _ in range(60)]
    least = detectable_shift(noise, 30)
    assert least is not None
    assert 1.0 < least < 3.5
    assert detectable_shift([0.0] * 60, 30, whole=True) == 1.0
    assert detectable_shift(noise, 14) is None, "so few documents show nothing"
