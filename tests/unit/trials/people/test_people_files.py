"""Files that people fill in: whatever bytes they hold, they are read as rows or refused with a place."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragassay.errors import InputError, RagassayError, UsageError
from ragassay.trials.people.files import LONGEST, read_filled

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
LABEL = st.sampled_from(["supported", "unsure", " ", "", "=1+1", "partly"])


def read(data: bytes, ending: str) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"people{ending}"
        path.write_bytes(data)
        return [(one.values["label"], one.values.get("comment", "")) for one in read_filled(path)]


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([".csv", ".jsonl"]))
@example(b"label\n\xff\n", ".csv")
@example(b'{"label": "' + b"\\ud800" + b'"}', ".jsonl")
@example(b'label,comment\n"', ".csv")
def test_any_bytes_are_rows_or_an_error_with_a_place(data: bytes, ending: str) -> None:
    files = ["read"]
    try:
        read(data, ending)
    except RagassayError as error:
        files.append(error.file)
    assert all(files)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(LABEL, TEXT), min_size=1, max_size=8))
def test_what_was_filled_in_is_what_is_read(rows: list[tuple[str, str]]) -> None:
    """In both forms; blank labels are left out. An apostrophe that a cell begins with is the spreadsheet's."""
    wanted = [(label, comment) for label, comment in rows if label.strip()]
    lines = "".join(json.dumps({"label": label, "comment": comment}) + "\n" for label, comment in rows)
    assert read(lines.encode(), ".jsonl") == wanted
    plain = [(label, comment) for label, comment in rows if not comment.startswith("'") and "\\u{" not in comment]
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["label", "comment", "item"])
    writer.writerows([(label, comment, "i") for label, comment in plain])
    found = [(label, comment.strip()) for label, comment in read(buffer.getvalue().encode(), ".csv")]
    assert found == [(label, comment.strip()) for label, comment in plain if label.strip()]


def test_too_long_and_of_no_known_kind() -> None:
    with pytest.raises(InputError, match="longer than"):
        read(json.dumps({"label": "supported", "comment": "x" * (LONGEST + 1)}).encode(), ".jsonl")
    with pytest.raises(UsageError, match=r"neither \.csv nor \.jsonl"):
        read(b"label\n", ".xlsx")
