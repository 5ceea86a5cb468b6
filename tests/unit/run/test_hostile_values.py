"""What a system hands back may run code of its own while it is read, or have no end: one question fails, no run."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ragassay import evaluate_sync
from ragassay.run.reading import MAX_ENTRIES, InvalidResponseError, plain_value, read_response
from ragassay.run.threads import words_of

DOCUMENTS = {"a": "A retry must send the original tuple.", "b": "Something else."}
CASES = [{"query_id": "q", "query": "What must a retry send?", "relevant": [{"document_id": "a", "grade": 3}]}]


class _Endless(collections.abc.Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return 1

    def __iter__(self) -> Iterator[str]:
        number = 0
        while True:
            number += 1
            yield f"k{number}"

    def __len__(self) -> int:
        return 1


class _Dump:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def model_dump(self) -> Any:
        raise self._error


class _NoAttributes:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class _Items(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("items")


class _Key:
    def __str__(self) -> str:
        raise RuntimeError("key")


class _Number(float):
    def __float__(self) -> float:
        raise RuntimeError("float")


class _Whole(int):
    def __int__(self) -> int:
        raise RuntimeError("int")


class _Text(str):
    __slots__ = ()

    def strip(self, _characters: str | None = None, /) -> str:
        raise RuntimeError("strip")

    def partition(self, _separator: str, /) -> tuple[str, str, str]:
        raise RuntimeError("partition")


VALUES: dict[str, Callable[[], Any]] = {
    "endless mapping": _Endless,
    "a list of 10^12": lambda: range(10**12),
    "model_dump raises": lambda: _Dump(RuntimeError("x")),
    "model_dump exits": lambda: _Dump(SystemExit(0)),
    "attributes raise": _NoAttributes,
    "items raise": lambda: _Items(answer="x"),
    "a key that cannot be read": lambda: {_Key(): 1},
    "a score that is no number": lambda: {"contexts": [{"id": "a", "score": _Number(1.5)}]},
    "a count that is no number": lambda: {"usage": {"input_tokens": _Whole(5)}},
}


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
def test_a_value_that_cannot_be_read_is_an_invalid_response(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidResponseError):
        read_response(plain_value(make()))


def test_text_of_a_subclass_is_read_as_the_text_that_it_is() -> None:
    found = plain_value({"answer": _Text("tuple")})
    assert found == {"answer": "tuple"}
    assert type(found["answer"]) is str
    assert read_response(_Text("tuple")).response.answer == "tuple"


def test_as_many_entries_as_allowed_are_read() -> None:
    assert len(plain_value(range(MAX_ENTRIES))) == MAX_ENTRIES
    with pytest.raises(InvalidResponseError, match="entries"):
        plain_value(range(MAX_ENTRIES + 1))


class _Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class _Ends(BaseException):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class _Wordless(Exception):
    def __str__(self) -> Any:
        return 5


_LongName = type("N" * 5000, (Exception,), {})


@pytest.mark.parametrize("error", [_Silent(), _Ends(), _Wordless()])
def test_an_exception_that_cannot_say_what_it_is_still_has_words(error: BaseException) -> None:
    assert words_of(error) == "(its message cannot be read)"


@pytest.mark.parametrize("make", [_Silent, _Ends, _Wordless, _LongName], ids=["silent", "ends", "wordless", "long"])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_an_exception_without_words_fails_its_question_only(make: Callable[[], BaseException], kind: str) -> None:
    def system(request: Any) -> Any:
        if request.query_id == "q":
            raise make()
        return {"contexts": [{"document_id": "a"}]}

    async def asynchronous(request: Any) -> Any:
        return system(request)

    found = evaluate_sync(
        [*CASES, {**CASES[0], "query_id": "good"}],
        system if kind == "sync" else asynchronous,
        documents=DOCUMENTS,
        as_of="2026-01-01",
        max_error_rate=1.0,
        measures=["hit(rel=2)@5"],
    )
    (one,) = [
        one
        for one in found.scorecard.estimates
        if (one.measure, one.step, one.aggregation) == ("hit(rel=2)@5", "context", "macro")
        and one.population.slice is None
    ]
    assert (one.attempted, one.scored, one.error) == (2, 1, 1)
