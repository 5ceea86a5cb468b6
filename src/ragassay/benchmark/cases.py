"""Cases from JSON lines, strictly. Looks at no corpus: quotes and versions are resolved when the benchmark is built."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ragassay.benchmark.intake import OnError, Problem, Problems, lines_in, listed
from ragassay.benchmark.outputs import Output
from ragassay.corpus.jsonl import clean_strings
from ragassay.errors import BenchmarkError, InputError, RecordError
from ragassay.records.canonical import load_json, parse_value, snake
from ragassay.records.case import NATIVE_RUBRIC, CaseLine, Rubric
from ragassay.records.document import Document
from ragassay.records.text import clean, instant

_MOMENTS = ("valid_from", "valid_until")


class Place(NamedTuple):
    """Where a case was written."""

    file: str
    line: int


class HeaderDefaults(NamedTuple):
    """What a benchmark's header says unless the caller says otherwise."""

    relevance_unit: Literal["span", "passage", "document"] = "span"
    rubric: Rubric = NATIVE_RUBRIC
    rel: int = 2


class CaseReading(list[CaseLine]):
    """A list of cases, where each was written, and what its kind of file implies for the header.

    `said_not` holds what a kind of file does not say, `remarks` what else must be known, `documents` the texts that
    stand in it, `outputs` what a system said, if the file holds that too.
    """

    def __init__(
        self,
        cases: Iterable[CaseLine] = (),
        *,
        defaults: HeaderDefaults | None = None,
        said_not: Iterable[str] = (),
        documents: Iterable[Document] = (),
    ) -> None:
        super().__init__(cases)
        self.places: dict[str, Place] = {}
        self.defaults = defaults or HeaderDefaults()
        self.said_not = tuple(said_not)
        self.remarks: tuple[str, ...] = ()
        self.skipped: tuple[Problem, ...] = ()
        self.documents = list(documents)
        self.outputs: list[Output] = []

    @property
    def notes(self) -> list[str]:
        """What is sealed with the benchmark: what its file does not say, remarks, each line that was left out."""
        said_not = [f"not said by the data set: {one}" for one in self.said_not]
        return [*said_not, *self.remarks, *listed(self.skipped)]

    def add(self, case: CaseLine, place: Place) -> None:
        """Append a case; BenchmarkError naming both lines if its query_id is there already."""
        before = self.places.get(case.query_id)
        if before is not None:
            raise BenchmarkError(
                f"query_id {case.query_id!r} stands on line {before.line} and on line {place.line}",
                file=place.file,
                line=place.line,
                field="query_id",
                hint="one case is one question; repeats are a setting of the run",
            )
        self.places[case.query_id] = place
        self.append(case)

    def settle(self, problems: Problems, path: Path, hint: str) -> CaseReading:
        """Raise what was wrong, or keep what was skipped; InputError if there is no case."""
        problems.settle(len(self))
        if not self:
            raise InputError("no case in this file", file=str(path), hint=hint)
        self.skipped = problems.skipped
        return self


def read_cases(path: str | Path, *, on_error: OnError = "stop") -> CaseReading:
    """Cases of a file (or gzip file) with one JSON object a line, in snake_case or camelCase; blank lines are skipped.

    Needed are `query_id` and `query`. Dates become instants; text that is not valid Unicode is kept with U+FFFD and
    sets `lossy`. Errors (RecordError, BenchmarkError) name file, line and field, and up to 20 more of them. With
    `on_error="skip"` lines that are wrong are left out and stand in `skipped`.
    """
    path = Path(path)
    found = CaseReading()
    problems = Problems(on_error)
    for number, raw in lines_in(path):
        with problems.at(path, number):
            found.add(_case(raw), Place(str(path), number))
    return found.settle(problems, path, 'one line: {"query_id": "q1", "query": "…"}')


def _case(raw: bytes) -> CaseLine:
    text, undecodable = clean(raw)
    value, unpaired = clean_strings(load_json(text))
    if not isinstance(value, dict):
        raise RecordError("not a JSON object", hint='one case a line: {"query_id": "q1", "query": "…"}')
    _date(value, _MOMENTS, "")
    if undecodable or unpaired:
        value["lossy"] = True
    _date(value.get("label"), ("at",), "label.")
    evidence = value.get("evidence")
    for number, one in enumerate(evidence if isinstance(evidence, list) else ()):
        if isinstance(one, dict):
            _date(one.get("provenance"), ("at",), f"evidence[{number}].provenance.")
    return parse_value(CaseLine, value)


def _date(value: Any, names: tuple[str, ...], path: str) -> None:
    """Bring the dates of an object to their stored form, in place."""
    if not isinstance(value, dict):
        return
    for key in [key for key in value if snake(key) in names and isinstance(value[key], str)]:
        try:
            value[key] = instant(value[key])
        except RecordError as error:
            raise error.at(field=path + snake(key))  # noqa: B904  the same error, with its place
