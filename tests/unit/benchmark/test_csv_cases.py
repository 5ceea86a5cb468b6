"""Spreadsheets as people save them, read by a declared mapping of columns."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.score.score_material import doc

from ragassay.benchmark import read_csv
from ragassay.corpus import csv_rows
from ragassay.errors import InputError, RagassayError, UsageError

COLUMNS = {"query": "Frage", "answers": "Antwort", "documents": "Quelle", "slice.topic": "Thema"}


def written(folder: Path, data: str | bytes, name: str = "fragen.csv") -> Path:
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder / name


EXCEL = "\ufeffFrage;Antwort;Quelle;Thema;Bemerkung\r\n" \
        '"Was kostet ""Plus""?\nIm Jahr?";12 €|zwölf Euro;preise.md|agb.md;Preise;gut\r\n' \
        ";;;;\r\nWie lange?; 14 Tage ;agb.md;;\r\n"  # fmt: skip


def test_a_sheet_with_a_mark_semicolons_and_line_breaks(tmp_path: Path) -> None:
    first, second = cases = read_csv(written(tmp_path, EXCEL), COLUMNS, separator="|")
    assert first.query == 'Was kostet "Plus"?\nIm Jahr?'
    assert [one.text for one in first.answers] == ["12 €", "zwölf Euro"]
    assert [(one.document_id, one.grade) for one in first.evidence or ()] == [("preise.md", 2), ("agb.md", 2)]
    assert first.slice == ("topic=Preise",)
    assert ([one.text for one in second.answers], second.slice) == (["14 Tage"], ())
    assert [one.grade for one in second.evidence or ()] == [3]
    assert [cases.places[one.query_id].line for one in cases] == [2, 5]
    assert cases.remarks == ("columns that are not read: Bemerkung",)
    assert any("how relevant" in one for one in cases.said_not)


@pytest.mark.parametrize(
    "data, options",
    [
        (EXCEL.removeprefix("\ufeff").encode("utf-16"), {}),
        (("sep=;\r\n" + EXCEL.removeprefix("\ufeff")).encode(), {}),
        (EXCEL.removeprefix("\ufeff").encode("cp1252"), {"encoding": "cp1252"}),
        (EXCEL.replace("\r\n", "\n").encode(), {"delimiter": ";"}),
    ],
)
def test_other_ways_to_save_the_same_sheet(tmp_path: Path, data: bytes, options: dict) -> None:
    wanted = list(read_csv(written(tmp_path, EXCEL), COLUMNS, separator="|"))
    assert list(read_csv(written(tmp_path, data, "other.csv"), COLUMNS, separator="|", **options)) == wanted


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_under_which_the_columns_are_there(tmp_path: Path, delimiter: str) -> None:
    text = delimiter.join(["Frage", "Antwort"]) + "\n" + delimiter.join(['"a,b;c"', "d"]) + "\n"
    (case,) = read_csv(written(tmp_path, text), {"query": "Frage", "answers": "Antwort"})
    assert (case.query, [one.text for one in case.answers]) == ("a,b;c", ["d"])


def test_every_field(tmp_path: Path) -> None:
    header = "id,q,docs,grades,quotes,class,ans,who,tenants,risk,notes,hold,from,expect,words"
    row = (
        '7,why,d1 / d2,3 / 0,"left / right",answerable,Yes,ann,acme / globex,high,careful,TRUE,2026-01-02,answered,'
        "a / b"
    )
    fields = ["query_id", "query", "documents", "grades", "quotes", "class", "answerable", "principal", "tenants",
              "risk", "notes", "must_hold", "valid_from", "expect", "slice"]  # fmt: skip
    columns = dict(zip(fields, header.split(","), strict=True))
    (case,) = read_csv(written(tmp_path, f"{header}\n{row}\n"), columns, separator=" / ")
    assert [(one.document_id, one.grade, one.quote) for one in case.evidence or ()] == [
        ("d1", 3, "left"), ("d2", 0, "right"),
    ]  # fmt: skip
    assert (case.query_id, case.class_, case.answerable, case.risk, case.must_hold, case.valid_from) == (
        "7", "answerable", "yes", "high", True, "2026-01-02T00:00:00Z",
    )  # fmt: skip
    assert case.principal is not None
    assert (case.principal.id, case.principal.tenants, case.expect, case.slice) == (
        "ann", ("acme", "globex"), ("answered",), ("a", "b"),
    )  # fmt: skip


def test_quotes_without_documents_are_looked_up(tmp_path: Path) -> None:
    path = written(tmp_path, "q,quote\nwhy,because\nhow,slowly\n")
    cases = read_csv(path, {"query": "q", "quotes": "quote"}, corpus=[doc("d", "It is so because.")])
    (found,) = cases[0].evidence or ()
    assert (found.document_id, found.start, found.end) == ("d", 9, 16)
    assert "1 of 2 gold texts" in cases.remarks[0]
    assert [one.text for one in read_csv(path, {"query": "q", "quotes": "quote"}).documents] == ["because", "slowly"]


Q = {"query": "q"}


@pytest.mark.parametrize(
    "data, columns, line, words",
    [
        ("q,a\nx,1,2\n", Q, 2, "3 cells in a table of 2"),
        ("q,a\n\n\nx\n", Q, 4, "1 cell in a table of 2"),
        ("q,a\n ,1\n", Q, 2, "empty"),
        ('q,a\n"x"y,1\n', Q, 2, "broken quotes"),
        ('q,a\nfine,1\n"never closed,1\nmore\n', Q, 3, "broken quotes"),
        ("q,q\nx,1\n", Q, 1, "two columns"),
        ("frage,a\nx,1\n", Q, 1, "no column is named 'q'"),
        ("q,\nx,\n", Q, None, ""),
        ("q,,b\nx,1,2\n", Q, 2, "column 2, which has no name"),
        ("", Q, None, "empty file"),
        ("q\n", Q, None, "no case"),
        ("q,d,g\nx,d1,high\n", {**Q, "documents": "d", "grades": "g"}, 2, "whole numbers"),
        ("q,d,g\nx,d1,²\n", {**Q, "documents": "d", "grades": "g"}, 2, "whole numbers"),
        ("q,u\nx,maybe\n", {**Q, "answerable": "u"}, 2, "neither yes nor no"),
        ("q,i\nx,1\ny,1\n", {**Q, "query_id": "i"}, 3, "line 2 and on line 3"),
        ("q,i\nx,\n", {**Q, "query_id": "i"}, 2, "empty"),
        ("q,c\nx,odd\n", {**Q, "class": "c"}, 2, "odd"),
        ("q,f\nx,1.2.26\n", {**Q, "valid_from": "f"}, 2, "not a date"),
        (b"q,a\nx\0,1\n", Q, 2, "NUL"),
        (b"PK\x03\x04" + b"x" * 50, Q, 1, "Excel"),
    ],
)  # fmt: skip
def test_errors(tmp_path: Path, data: str | bytes, columns: dict[str, str], line: int | None, words: str) -> None:
    path = written(tmp_path, data)
    if not words:
        assert len(read_csv(path, columns)) == 1  # an unnamed column of empty cells at the end is a sheet's padding
        return
    with pytest.raises(InputError, match=words) as caught:
        read_csv(path, columns)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert caught.value.hint


@pytest.mark.parametrize(
    "columns, words",
    [
        ({}, "no column is the question"), ({"query": "q", "answer": "a"}, "no field 'answer'"),
        ({"query": "q", "grades": "g"}, "grades without documents"), ({"query": "q", "slice.": "g"}, "no field"),
    ],
)  # fmt: skip
def test_wrong_mappings(tmp_path: Path, columns: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_csv(written(tmp_path, "q\nx\n"), columns)


def test_bytes_that_are_not_utf8_are_kept_marked_and_no_row_is_lost(tmp_path: Path) -> None:
    first, second = read_csv(written(tmp_path, b"q,a\ncaf\xe9,1\nfine,2\n"), Q)
    assert (first.query, first.lossy, second.lossy) == ("caf\ufffd", True, False)


def test_a_cell_without_end_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "MAX_BYTES", 100_000)
    path = written(tmp_path, b'q,a\n"' + b"x\n" * 60_000)
    with pytest.raises(InputError, match="a row of more than 100000 bytes") as caught:
        read_csv(path, Q)
    assert caught.value.line == 2


def test_skip_lists_each_line(tmp_path: Path) -> None:
    cases = read_csv(written(tmp_path, 'q,a\nx,1\ny\n"z"z,2\nw,3\n'), Q, on_error="skip")
    assert [one.query for one in cases] == ["x", "w"]
    assert [one.line for one in cases.skipped] == [3, 4]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=12)


@given(st.lists(st.tuples(cells.filter(str.strip), cells), min_size=1, max_size=8), st.sampled_from(",;\t|"))
def test_what_csv_writes_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], delimiter: str
) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("Frage", "Antwort"), *rows])
    path = written(tmp_path_factory.mktemp("c"), text.getvalue())
    cases = read_csv(path, {"query": "Frage", "answers": "Antwort"})
    assert [one.query for one in cases] == [query for query, _ in rows]
    assert ["".join(one.text for one in case.answers) for case in cases] == [answer.strip() for _, answer in rows]


@given(
    st.binary(max_size=80),
    st.sampled_from([b"q,a\n", b"", b"\xef\xbb\xbfq;a\n", b"\xff\xfe", b'"q","a"\n"', b"sep=;\n"]),
)
def test_no_bytes_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, data: bytes, start: bytes) -> None:
    path = written(tmp_path_factory.mktemp("c"), start + data)
    for on_error in ("stop", "skip"):
        try:
            read_csv(path, {"query": "q", "answers": "a"}, on_error=on_error)  # type: ignore[arg-type]
        except RagassayError:
            continue
