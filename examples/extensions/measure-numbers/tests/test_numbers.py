from ragassay_numbers import numbers, score

from ragassay.contracts.measure import check_measure


def test_it_keeps_the_contract() -> None:
    check_measure(numbers, [("120 a minute, 9 a day", ("120 a minute, 8 a day",), 0.5), ("none", ("12",), 0.0)])


def test_a_reference_without_numbers_says_nothing() -> None:
    assert score("12", ("a dozen",)).reason == "no_numbers"
