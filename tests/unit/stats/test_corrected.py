"""Estimates that a judge is corrected by: by hand, by simulation of their coverage, and where they keep silent."""

from __future__ import annotations

import random

import pytest

from ragassay.stats.corrected import Sampled, ppi, stratified


def test_the_estimate_is_the_mean_of_the_three_shares_that_it_is_made_of() -> None:
    """80 of 100 good by the judge: (80.5/101) (18.5/21) + (20.5/101) (2.5/6)."""
    found = stratified(80, 20, Sampled(tp=18, fp=2, fn=2, tn=3))
    assert found.estimate == pytest.approx(80.5 / 101 * 18.5 / 21 + 20.5 / 101 * 2.5 / 6)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.estimate < found.high  # type: ignore[operator]
    assert stratified(80, 20, Sampled(18, 2, 2, 3)) == found


def test_without_sample_or_items_there_is_none() -> None:
    assert stratified(80, 20, Sampled(0, 0, 0, 0)).reason == "no_sample"
    assert stratified(0, 0, Sampled(1, 0, 0, 0)).reason == "no_items"
    with pytest.raises(ValueError, match="below 0"):
        stratified(1, 1, Sampled(-1, 1, 1, 1))


def drawn(rng: random.Random, rate: float, size: int, n: int) -> tuple[float, int, int, Sampled]:
    """A population with errors of the judge, and a random sample of it."""
    people = [rng.random() < rate for _ in range(size)]
    judge = [rng.random() < (0.9 if one else 0.3) for one in people]
    cells = [0, 0, 0, 0]
    for place in rng.sample(range(size), n):
        cells[
            {(True, True): 0, (False, True): 1, (True, False): 2, (False, False): 3}[people[place], judge[place]]
        ] += 1
    return (
        sum(people) / size,
        sum(judge),
        size - sum(judge),
        Sampled(tp=cells[0], fp=cells[1], fn=cells[2], tn=cells[3]),
    )


@pytest.mark.parametrize(("rate", "n"), [(0.97, 20), (0.85, 50), (0.5, 100)])
def test_it_covers_what_all_people_would_have_said(rate: float, n: int) -> None:
    """Of 120 populations of 1,000 items, at least 90 % lie within the 95 % interval, also at 20 items and 97 %."""
    rng = random.Random(f"{rate} {n}")
    inside = 0
    for _ in range(120):
        truth, good, bad, sample = drawn(rng, rate, 1000, n)
        found = stratified(good, bad, sample, draws=1500)
        inside += found.low <= truth <= found.high  # type: ignore[operator]
    assert inside >= 108


def test_ppi_keeps_silent_outside_of_its_safe_region() -> None:
    assert ppi(800, 200, Sampled(150, 12, 12, 25)) is None  # 199 items
    assert ppi(800, 200, Sampled(200, 9, 12, 79)) is None
    assert ppi(800, 200, Sampled(200, 12, 9, 79)) is None
    assert ppi(200, 100, Sampled(200, 12, 12, 76)) is None  # nothing is left that people did not see
    assert ppi(800, 200, Sampled(200, 12, 12, 76)) is not None


def test_ppi_by_hand_and_its_coverage() -> None:
    """With a judge that knows nothing its weight is 0, so that the estimate is the mean of the people."""
    found = ppi(500, 500, Sampled(100, 100, 100, 100))
    assert found is not None
    assert found.estimate == pytest.approx(0.5)
    assert found.high - found.low == pytest.approx(2 * 1.959964 * 0.5 / 20, abs=1e-5)  # type: ignore[operator]
    rng = random.Random(3)
    inside = tried = 0
    for _ in range(200):
        truth, good, bad, sample = drawn(rng, 0.6, 2000, 300)
        one = ppi(good, bad, sample)
        if one is not None:
            tried += 1
            inside += one.low <= truth <= one.high  # type: ignore[operator]
    assert tried > 150
    assert inside / tried > 0.9
