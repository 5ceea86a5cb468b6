"""Decimal numbers of many digits and with exponents against Python's float, and texts that are nearly numbers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ragassay.measures.trec import decimals
from ragassay.measures.trec.decimals import _exponents, _long_division, parse_decimals
from ragassay.measures.trec.texts import Texts


def check(texts: list[str]) -> None:
    values, bad = parse_decimals(Texts.pack(text.encode() for text in texts))
    assert not len(bad)
    assert [value.hex() for value in values.tolist()] == [float(text).hex() for text in texts]


@pytest.mark.parametrize("digits", [8, 9, 16, 17, 18, 19, 20, 23])
def test_many_digits_with_the_point_at_one_place_and_anywhere(digits: int) -> None:
    rng = random.Random(digits)
    numbers = [str(rng.randrange(10 ** (digits - 1), 10**digits)) for _ in range(1_500)]
    for after in (0, 1, 7, digits - 1, digits):
        check([f"{one[: digits - after]}.{one[digits - after :]}" for one in numbers])
    check([f"{one[:at]}.{one[at:]}" for one in numbers if (at := rng.randrange(digits + 1)) >= 0])
    check([f"{'-' if rng.random() < 0.5 else ''}{one}" for one in numbers])
    check([f"{one[0]}.{one[1:]}e{rng.choice(['+', '-', ''])}{rng.randrange(30):02d}" for one in numbers])
    check([f"{one[0]}.{one[1:]}E{rng.randrange(-3, 300)}" for one in numbers])


def test_numbers_beside_the_middle_of_two_doubles() -> None:
    odd = [str((1 << 53) + 2 * at + 1) for at in range(200)]  # each is the middle of two
    check(odd)
    check([f"{one}.0" for one in odd])
    check([f"{int(one) * 10 + change}.{zeros}" for one in odd for change in (-1, 1) for zeros in ("", "0")])
    check([f"{one[:8]}.{one[8:]}" for one in odd])
    check([f"{2.0**-at:.19f}"[:20] for at in range(1, 12)])


def test_most_long_numbers_need_no_slow_way() -> None:
    rng = random.Random(4)
    numbers = [rng.randrange(1 << 53, 1 << 63) for _ in range(3_000)]
    total, sure = _long_division(np.array(numbers, np.uint64), np.full(len(numbers), 1e9))
    assert sure.mean() > 0.99
    expected = [float(f"{one // 10**9}.{one % 10**9:09d}") for one in numbers]
    assert all(value == want for value, want, good in zip(total.tolist(), expected, sure.tolist(), strict=True) if good)
    exact = np.array([5 * 10**16, 3 * 2**53], np.uint64)
    assert _long_division(exact, np.ones(2))[0].tolist() == [5e16, 3 * 2.0**53]
    powers = np.array([2**53, 2**60], np.uint64)
    assert _long_division(powers, np.ones(2))[1].tolist() == [False, False]  # half an ulp is less on one side


NEARLY = ["1e:", "1e1:", "1e:1", "1e.5", "1e,5", "1ea5", "1e5a", "1e+:", "1e-,5", "1e+-5", "1e", "1e+", "1:5", "1/5",
          "1.5.", "1..5", ".", "-.", "1,5", "12345678:", "1234567:8", "+", "--1", "1e5.0", "1e 5"]  # fmt: skip


@pytest.mark.parametrize("text", NEARLY)
def test_texts_that_are_nearly_numbers_are_refused(text: str) -> None:
    for beside in ([], ["1e05"], ["1e5", "1.5"], ["1.5e+01", "2e-300"], ["12.5"], ["123456789"]):
        _, bad = parse_decimals(Texts.pack(one.encode() for one in [*beside, text, *beside]))
        assert bad.tolist() == [len(beside)], beside


def test_common_exponents_need_no_slow_way() -> None:
    texts = [b"5", b"-5", b"+05", b"-123", b"300", b"", b"-", b"a", b"4:"]
    packed = Texts.pack(texts)
    power, good = _exponents(packed, packed.start, packed.end)
    assert good.tolist() == [True] * 5 + [False] * 4
    assert power[:5].tolist() == [5, -5, 5, -123, 300]
    same = Texts.pack([b"-05", b"-17", b"-99"])
    power, good = _exponents(same, same.start, same.end)
    assert (power.tolist(), good.tolist()) == ([-5, -17, -99], [True] * 3)


COMMON = [
    ["1.5e+01", "2.5e-03", "-7.5e+00", "9.9e+22"],
    ["1.5e1", "2.5e3"],
    ["1e5", "1.5e+10", "2.5e-10", "3E07", "1.25e+1", "12e-9", "+4e2", "0.5E-0"],
    ["2e-05", "1e5"],
    ["1e+010", "5e-010", "5e1"],
    ["7", "1e5", "2.5"],
    ["1e5", "7", "2.5"],
    ["41.552000", "9.123456", "8"],
    ["0.123456789012345", "12", "3.5e2"],
]


@pytest.mark.parametrize("texts", COMMON)
def test_common_forms_need_no_slow_way(monkeypatch: pytest.MonkeyPatch, texts: list[str]) -> None:
    def never(*_: object) -> bool:
        raise AssertionError

    monkeypatch.setattr(decimals, "_one", never)
    check(texts)
    check(texts[::-1])
    for text in texts:
        check([text])


def test_an_e_in_front_is_no_exponent() -> None:
    for texts, wrong in ((["e5", "1e5"], [0]), (["1e5", "e5"], [1]), (["e5"], [0]), (["ee5", "1ee5"], [0, 1])):
        assert parse_decimals(Texts.pack(text.encode() for text in texts))[1].tolist() == wrong
