"""Arrow columns of every kind that is read, sliced and in batches, against what pyarrow itself gives out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragassay.errors import InputError
from ragassay.measures.trec.arrow import read_stream
from ragassay.measures.trec.texts import PAD, Texts

pa = pytest.importorskip("pyarrow")
WORDS = ["a", "", "seven77", "twelve-bytes", "thirteen-byte", "é", "a text that is longer than any view holds inline"]


def given_back(table: Any) -> dict[str, list[Any]]:
    found = read_stream(table)
    return {
        name: [column.text(row).decode() for row in range(len(column))]
        if isinstance(column, Texts)
        else column.tolist()
        for name, column in found.items()
    }


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"])
def test_texts_whole_sliced_and_in_batches(kind: str) -> None:
    made = [word.encode() for word in WORDS] if "binary" in kind else WORDS
    column = pa.array(made, getattr(pa, kind)())
    whole = pa.table({"name": column, "other": column})
    assert given_back(whole) == {"name": WORDS, "other": WORDS}
    assert given_back(whole.slice(2, 3))["name"] == WORDS[2:5]
    assert given_back(whole.slice(5))["name"] == WORDS[5:]
    assert given_back(pa.concat_tables([whole.slice(4), whole.slice(0, 2)]))["name"] == WORDS[4:] + WORDS[:2]
    assert given_back(whole.slice(0, 0))["name"] == []
    text = read_stream(whole)["name"]
    assert isinstance(text, Texts)
    assert text.start.min() >= PAD
    assert len(text.buffer) - text.end.max() >= PAD


NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_whole_sliced_and_in_batches(kind: str) -> None:
    numbers = [1, 2, 3, 100, 5]
    table = pa.table({"n": pa.array(numbers, getattr(pa, kind)())})
    assert read_stream(table)["n"].dtype == np.dtype(kind)  # type: ignore[union-attr]
    assert given_back(table)["n"] == numbers
    assert given_back(pa.concat_tables([table.slice(3), table.slice(1, 2)]))["n"] == [100, 5, 2, 3]


@pytest.mark.parametrize("index", ["int8", "uint16", "int32", "int64"])
def test_dictionaries(index: str) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2, 1], getattr(pa, index)()), pa.array(["x", "yy", "zzz"]))
    whole = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1, 1], getattr(pa, index)()), pa.array([7.5, 2.0]))
    table = pa.table({"text": texts, "number": whole})
    assert given_back(table) == {"text": ["zzz", "x", "zzz", "yy"], "number": [2.0, 7.5, 2.0, 2.0]}
    assert given_back(table.slice(1, 2)) == {"text": ["x", "zzz"], "number": [7.5, 2.0]}


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="the column 'n' has nulls") as caught:
        read_stream(pa.table({"n": [1, None]}))
    assert (caught.value.field, caught.value.hint) == ("n", "fill them or drop their rows")
    with pytest.raises(InputError, match=r"the column 'day' has the Arrow type 'tdD'") as caught:
        read_stream(pa.table({"day": pa.array([1], pa.date32())}))
    assert (caught.value.field, caught.value.hint) == ("day", "strings and numbers are read")
    with pytest.raises(InputError, match="the Arrow stream is not a table") as caught:
        read_stream(pa.chunked_array([[1]]))
    assert caught.value.hint == "give a table with named columns"


def test_a_stream_that_breaks_is_refused_with_its_reason() -> None:
    def batches() -> Any:
        yield pa.record_batch({"n": [1]})
        raise ValueError("the disk is gone")

    broken = pa.RecordBatchReader.from_batches(pa.schema({"n": pa.int64()}), batches())
    with pytest.raises(InputError, match=r"the table could not be read: .*the disk is gone"):
        read_stream(broken)
