"""Text and time in their stored form."""

from __future__ import annotations

import pytest

from ragassay.errors import RecordError
from ragassay.records.text import clean, in_order, instant, is_digest, is_instant, shown, valid_at


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("2026-08-01", "2026-08-01T00:00:00Z"), ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("2026-08-01T02:00:00+02:00", "2026-08-01T00:00:00Z"), ("2026-07-31T19:30:00-04:30", "2026-08-01T00:00:00Z"),
        ("2026-08-01T00:00:00.5Z", "2026-08-01T00:00:00.500000Z"), ("2026-08-01 00:00:00z", "2026-08-01T00:00:00Z"),
    ],
)  # fmt: skip
def test_an_instant_has_one_stored_form(written: str, stored: str) -> None:
    assert instant(written) == stored
    assert is_instant(stored)
    assert is_instant(written) == (written == stored)


@pytest.mark.parametrize(
    "written",
    ["", "2026", "2026-8-1", "2026-02-30", "20260801", "2026-W31-6", "2026-08-01T00:00:00", "2026-08-01T00:00Z",
     "2026-08-01T24:00:00Z", "2026-08-01T00:00:00.1234567Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
     "２０２６-08-01", "2026-08-01\n", "2026-08-01T00:00:00+25:00"],
)  # fmt: skip
def test_what_is_no_instant_is_refused(written: str) -> None:
    with pytest.raises(RecordError):
        instant(written)
    assert not is_instant(written)


def test_validity_is_half_open() -> None:
    start, end = instant("2026-07-01"), instant("2026-08-01")
    assert valid_at(start, end, start)
    assert not valid_at(start, end, end)
    assert valid_at(start, end, instant("2026-07-31T23:59:59.999999Z"))
    assert valid_at(None, None, end)
    assert not valid_at(start, None, instant("2026-06-30T23:59:59Z"))


def test_order_is_by_time_and_not_by_letters() -> None:
    whole, half = instant("2026-08-01T00:00:00Z"), instant("2026-08-01T00:00:00.5Z")
    assert half < whole, "as text the fraction sorts first"
    assert in_order(whole, half)
    assert not in_order(half, whole)
    assert in_order(whole, whole)


@pytest.mark.parametrize(
    ("raw", "text", "lossy"),
    [
        ("zażółć \U0001f600", "zażółć \U0001f600", False), (b"caf\xc3\xa9", "café", False),
        (b"caf\xe9!", "caf\ufffd!", True),
        ("a\ud800b", "a\ufffdb", True), ("\ud83d\ude00", "\U0001f600", False), ("\ude00\ud83d", "\ufffd\ufffd", True),
        ("\ud83d\ude00\ud800", "\U0001f600\ufffd", True), ("", "", False), (b"", "", False),
    ],
)  # fmt: skip
def test_clean_keeps_what_it_can_and_says_when_it_could_not(raw: str | bytes, text: str, lossy: bool) -> None:
    assert clean(raw) == (text, lossy)


def test_shown_is_printable_and_short() -> None:
    assert shown("a\x1b[2J\u202e\ud800é") == "a\\x1b[2J\\u202e\\ud800é"
    assert len(shown("x" * 1000)) == 80


def test_digests() -> None:
    assert is_digest("sha256:" + "0" * 64)
    for bad in ("", "sha256:" + "0" * 63, "sha256:" + "A" * 64, "sha256:" + "0" * 64 + "\n", "md5:" + "0" * 64):
        assert not is_digest(bad)
