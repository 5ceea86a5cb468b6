"""Numbers that are all written in one way, each byte of them changed to every other byte."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from ragassay.measures.trec.decimals import parse_decimals
from ragassay.measures.trec.layout import alike
from ragassay.measures.trec.texts import Texts

NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
FORMS = [b"7", b"12345678", b"1234567890123456", b"7.", b"1.5", b"12.345678", b"1234567.", b"1.12345678901234",
         b"12345678.1234567", b"0.1428571e-01", b"1.4285714e+00", b"2.5E-7", b"12e+012", b"99999999999e-10", b"5.e+22",
         b"-3.25", b"-1.4285714e-03", b"+12.5"]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_number_with_any_byte_changed_is_what_python_reads_or_refused(form: bytes) -> None:
    texts = [form]
    for at in range(len(form)):
        texts += [form[:at] + bytes([byte]) + form[at + 1 :] for byte in range(256)]
        texts += [form[:at] + form[at + 1 :], form[:at] + b"0" + form[at:]]
    values, bad = parse_decimals(Texts.pack(texts))
    numbers = [float(text) if NUMBER.fullmatch(text) else None for text in texts]
    finite = [None if one is None or not math.isfinite(one) else one for one in numbers]
    assert bad.tolist() == [row for row, one in enumerate(finite) if one is None]
    assert not values[bad].any()
    good = [(value, want) for value, want in zip(values.tolist(), finite, strict=True) if want is not None]
    assert [value.hex() for value, _ in good] == [want.hex() for _, want in good]


@pytest.mark.parametrize("form", ["{:.0f}", "{:.3f}", "{:.6f}", "{:.8f}", "{:.9f}", "{:.7e}", "{:.2E}", "{:.4f}e+01"])
def test_all_numbers_of_one_form_are_read_at_once(form: str) -> None:
    numbers = np.random.default_rng(len(form)).gamma(2.0, 30.0, 3_000).tolist()
    texts = [form.format(one) for one in numbers]
    read = alike(Texts.pack(text.encode() for text in texts))
    assert read is not None
    assert read.good.all()
    values, bad = parse_decimals(Texts.pack(text.encode() for text in texts))
    assert not len(bad)
    assert values.tolist() == [float(text) for text in texts]


def test_what_has_no_first_number_is_left() -> None:
    assert alike(Texts.pack([])) is None
    assert alike(Texts.pack([b"x", b"1"])) is None
    assert alike(Texts.pack([b"1", b"12345678901234567"])) is None
