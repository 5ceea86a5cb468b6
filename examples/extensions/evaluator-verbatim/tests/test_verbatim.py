from ragassay_verbatim import Verbatim

from ragassay.contracts.evaluator import check_evaluator, claim


def test_it_keeps_the_contract() -> None:
    shown = "A retry is safe. Wait for a second before it."
    check_evaluator(
        Verbatim,
        [
            (claim("A retry is safe.", shown), "supported"),
            (claim("A retry is never safe.", shown), "unsupported"),
            (claim("A retry is safe."), "unsupported"),
        ],
    )
