"""The quick encoder against the reference implementation of RFC 8785."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from ragassay.records.canonical import canonical_bytes
from ragassay.records.plain_json import NotPlain, encode_plain

SCALARS = st.one_of(
    st.text(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=5)
)


@given(VALUES)
@example({"a": -0.0, "b": 1e-4, "c": 9.999e-5, "d": 1e15, "e": 1e16, "f": 0.1, "g": 5e-324})
@example({"\U0001f600": 1, "\uffff": 2})
@example('\x00\x1f\x7f\u2028\\"/\b\f\n\r\t')
def test_equal_to_the_reference_or_refused(value: Any) -> None:
    wanted = rfc8785.dumps(value)
    assert canonical_bytes(value) == wanted
    try:
        quick = encode_plain(value)
    except NotPlain:
        return
    assert quick == wanted


def test_random_floats_of_every_size() -> None:
    draw = random.Random(5)
    for _ in range(20_000):
        value = struct.unpack("<d", struct.pack("<Q", draw.getrandbits(64)))[0]
        if value == value and abs(value) != float("inf"):
            assert canonical_bytes([value]) == rfc8785.dumps([value])
        small = draw.uniform(-2, 2) * 10.0 ** draw.randint(-8, 18)
        assert canonical_bytes([small]) == rfc8785.dumps([small])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800", {"\ud800": 1}])
def test_what_has_no_canonical_form_is_still_refused(value: Any) -> None:
    from ragassay.errors import RecordError

    with pytest.raises(RecordError):
        canonical_bytes([value])
