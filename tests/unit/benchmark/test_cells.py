"""Lists and objects in one cell, as JSON, as Python prints them, and as nobody should write them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.benchmark.cells import MOST_ITEMS, MOST_LITERAL, mapping, objects, parts, texts
from ragassay.benchmark.rows import Row
from ragassay.errors import InputError


def row(value: Any) -> Row:
    return Row(7, "", {"cell": value})


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("['a', \"it's\"]", ("a", "it's")),
        ('["a", "b"]', ("a", "b")),
        ("  [ 'a' ,'b' ]  ", ("a", "b")),
        ("[]", ()),
        ("[ ]", ()),
        ("[1, 22]", ("1", "22")),
        ("['a', 3]", ("a", "3")),
        (r"['\u00e9 \n \\ \'']", ("é \n \\ '",)),
        ("['two\nlines']", None),
        ("['a',]", None),
        ("['a' 'b']", None),
        ("['a'", None),
        ("[]]", None),
        ("['a'] + ['b']", None),
        ("[__import__('os').getcwd()]", None),
        ("[f'{1}']", None),
        ("['\\x']", None),
        ("plain", None),
        ('{"a": 1}', None),
        ("3", None),
        ("[null]", None),
        ("[[1]]", None),
    ],
)
def test_a_list_of_texts(cell: str, found: tuple[str, ...] | None) -> None:
    if found is None:
        with pytest.raises(InputError) as caught:
            texts(row(cell), "cell")
        assert caught.value.field.startswith("cell")
        return
    assert texts(row(cell), "cell") == found


def test_a_separator_parts_what_is_no_list() -> None:
    assert texts(row(" a | b ||c"), "cell", separator="|") == ("a", "b", "c")
    assert texts(row("['a|b']"), "cell", separator="|") == ("a|b",)
    assert texts(row("[sic] a|b"), "cell", separator="|") == ("[sic] a", "b")
    assert parts(None, "|") == ()
    assert parts(" a ", None) == ("a",)
    assert texts(row(None), "cell") is None


def test_a_broken_python_list_is_not_split_at_its_separator() -> None:
    """What begins as a list of quoted texts and is none was cut somewhere: its parts would be wrong texts."""
    for cell in ("['a|b', 'c", '["a|b", "c'):
        with pytest.raises(InputError):
            texts(row(cell), "cell", separator="|")


def test_objects_and_mappings() -> None:
    assert objects(row("[{'a': None, 'b': 'x'}]"), "cell") == [{"a": None, "b": "x"}]
    assert objects(row('[{"a": true}]'), "cell") == [{"a": True}]
    assert mapping(row("{'a': [1, 2]}"), "cell") == {"a": [1, 2]}
    assert (objects(row(None), "cell"), mapping(row(None), "cell")) == (None, {})
    for cell in ("[1]", "x", "open('/etc/passwd')", "{'a': {1, 2}}", "{'a': 1j}", "(" * 5000, "[" * 5000, "9" * 5000):
        with pytest.raises(InputError):
            objects(row(cell), "cell")
        with pytest.raises(InputError):
            mapping(row(cell), "cell")


def test_what_is_too_much_is_refused_soon() -> None:
    start_s = time.monotonic()
    for cell in (
        "[" + "1," * (MOST_ITEMS + 1) + "1]",
        "['" + "\\" * 1_000_000,
        "[" + "'a'," * 500_000,
        "[" + " " * 1_000_000,
        "['" + "a" * 4_000_000,
    ):
        with pytest.raises(InputError):
            texts(row(cell), "cell")
    with pytest.raises(InputError):
        objects(row("[{'a': '" + "x" * MOST_LITERAL + "'}]"), "cell")
    with pytest.raises(InputError, match="the most is"):
        texts(row(["x"] * (MOST_ITEMS + 1)), "cell")
    assert time.monotonic() - start_s < 5


@given(st.lists(st.text(max_size=30) | st.integers(-(10**17), 10**17), max_size=6))
def test_what_python_and_json_print(values: list[str | int]) -> None:
    clean = [str(one).encode("utf-8", "replace").decode() for one in values]
    if [str(one) for one in values] == clean:
        assert texts(row(str(values)), "cell") == tuple(clean)
        assert texts(row(json.dumps(values)), "cell") == tuple(clean)


@given(st.text(st.sampled_from("[]'\",\\ a1{}:|\n"), max_size=40))
def test_any_cell_is_texts_or_an_error(cell: str) -> None:
    for separator in (None, "|"):
        try:
            found = texts(row(cell), "cell", separator=separator)
        except InputError as error:
            found = (error.field[:4],)
        assert found is not None
        assert all(isinstance(one, str) for one in found)
