"""Fields of lines of one shape, however long they are, and first fields, against Python's split."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.measures.trec.scan import _regular, first_fields, padded, scan
from ragassay.measures.trec.texts import PAD

LENGTHS = (1, 2, 7, 8, 9, 55, 56, 57, 61, 62, 63, 64, 65, 66, 126, 127, 128, 129, 200)
words = st.sampled_from(LENGTHS).flatmap(lambda size: st.just("x" * (size - 1) + "y"))
lines = st.lists(st.lists(words, min_size=6, max_size=6), min_size=1, max_size=6)
gaps = st.sampled_from([[" "], ["\t"], [" ", "\t"], ["  ", " "], [" \t ", "\t", " " * 70], [" " * 64], [" " * 130]])
wanted_fields = st.sampled_from([(0, 2, 4), (0, 2, 3), (0,), (5,), (0, 5), (1, 3, 5), (0, 1, 2, 3, 4, 5)])


@settings(max_examples=300)
@given(lines, gaps, wanted_fields, st.integers(0, 63))
def test_fields_of_any_length_are_found_by_the_quick_way(
    table: list[list[str]], between: list[str], wanted: tuple[int, ...], more: int
) -> None:
    cycle = itertools.cycle(between)
    text = "".join("".join(word + next(cycle) for word in row[:-1]) + row[-1] + "\n" for row in table)
    last = ["z" * (more + 1), "b", "c", "d", "e", "f"]  # the text ends at any place of a word of bits
    table = [*table, last]
    text += " ".join(last) + "\n"
    found = _regular(padded(text.encode()), 6, wanted)
    assert found is not None
    for column, texts in zip(wanted, found.texts, strict=True):
        assert [texts.text(row).decode() for row in range(len(texts))] == [row[column] for row in table]
    starts = [0, *itertools.accumulate(len(line) for line in text.splitlines(keepends=True))][:-1]
    assert (found.line - PAD).tolist() == starts


ODD = ["a b c d e f\n", "a b c d e\n", "a b c d e f g\n", "a b c d e f \n", "a\tb  c d e " + "f" * 70 + "\n", "\n",
       " a b c d e f\n", "#a b c d e f\n", "a b c d e f\r\n", "a b c\n", " \n", "a b c d " + "e" * 150 + "\n",
       "a" * 80 + "\n", "a b c d e f g h i\n", "a b c d e" + " " * 80 + "\n"]  # fmt: skip


@settings(max_examples=400)
@example(
    ["a b c d e\n", "a b c d e f \n", "a b c d e f g h i\n", "a b c d e f g h i\n", "a" * 80 + "\n"]
)  # past the end
@given(st.lists(st.sampled_from(ODD), min_size=1, max_size=6))
def test_lines_of_other_shapes_are_never_misread_by_the_quick_way(texts: list[str]) -> None:
    """It reads all fields right or leaves them to the general way; which one it was does not show."""
    whole = "".join(texts)
    kept = [line.split() for line in whole.split("\n") if line.strip() and not line.startswith("#")]
    found = _regular(padded(whole.encode()), 6, (0, 2, 5))
    if found is not None:
        for column, own in zip((0, 2, 5), found.texts, strict=True):
            assert [own.text(row).decode() for row in range(len(own))] == [row[column] for row in kept]
    if any(len(row) < 6 for row in kept):
        with pytest.raises(InputError, match="fields where 6 are expected") as caught:
            scan(padded(whole.encode()), 6, (0, 2, 5))
        short = next(at for at, row in enumerate(whole.split("\n"))
                     if row.strip() and not row.startswith("#") and len(row.split()) < 6)  # fmt: skip
        assert whole.encode()[: (caught.value.line or 0) - PAD].count(b"\n") == short
    else:
        general = scan(padded(whole.encode()), 6, (0, 2, 5))
        assert [general.texts[2].text(row).decode() for row in range(len(kept))] == [row[5] for row in kept]


FIRST = ["q", "query-12", "query-123", "x" * 40, "é" * 9, "#", "1\x7f"]


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(["", "", " ", "\t ", " " * 9]), st.sampled_from([*FIRST, ""]),
                          st.sampled_from(["", " rest of it", "\tx", "\r", "\x0b1", "\x0c1"])), max_size=8),
       st.booleans())  # fmt: skip
def test_first_fields_are_those_of_split(rows: list[tuple[str, str, str]], last: bool) -> None:
    texts = ["".join(row) for row in rows]
    whole = "\n".join(texts) + ("\n" if last and texts else "")
    buffer = padded(whole.encode())
    found, line = first_fields(buffer)
    expected = whole.split("\n")
    expected = expected[:-1] if not expected[-1] else expected
    assert [found.text(row).decode() for row in range(len(found))] == [
        one.encode().split(None, 1)[0].decode() if one.strip() else "" for one in expected
    ]
    starts = np.cumsum([0, *(len(one.encode()) + 1 for one in expected)])[:-1]
    assert (line - PAD).tolist() == starts.tolist()


@pytest.mark.parametrize("byte", [*range(9), *range(14, 32)])
def test_control_characters_are_refused(byte: int) -> None:
    with pytest.raises(InputError) as caught:
        scan(padded(b"a b c d e f\na b " + bytes([byte]) + b" d e f\n"), 6, (0,))
    assert caught.value.message == f"a control character (byte {byte}) in the line"
    assert caught.value.hint == "the file must be plain UTF-8 text; is it binary, or UTF-16?"
    assert caught.value.line == PAD + 16


def test_carriage_returns_only_at_the_end_of_a_line() -> None:
    for text in (b"a b c d e f\r\n", b"a b c d e f\r\r\n", b"\r\na b c d e f\r\n\r\n", b"a\x0bb\x0cc d e f\n"):
        assert len(scan(padded(text), 6, (0,)).line) == 1
    for text, at in ((b"a b c\rd e f\n", 5), (b"a b c d e f\rg\r\n", 11), (b"a b\r\rc d e f\n", 4), (b"\ra b\n", 0),
                     (b"a b c d e f\n\r x\r\n", 12)):  # fmt: skip
        with pytest.raises(InputError) as caught:
            scan(padded(text), 6, (0,))
        assert caught.value.message == "a carriage return in the line"
        assert caught.value.hint == "end lines with LF or CRLF: tr '\\r' '\\n' < IN > OUT"
        assert caught.value.line == PAD + at
