"""How a file is cut into pieces and put together from an index, by hand; means of one mode and of the other."""

from __future__ import annotations

import itertools
import math
import os
from pathlib import Path

import numpy as np
import pytest

from ragassay.errors import InputError
from ragassay.measures import evaluate
from ragassay.measures.drop_in import evaluate as as_ranx
from ragassay.measures.trec.columns import labels_from_dict, labels_of, run_of
from ragassay.measures.trec.parts import Part, gathered, is_scattered
from ragassay.measures.trec.source import Range, Source
from ragassay.measures.trec.texts import PAD, Texts


def file_of(folder: Path, text: str) -> Path:
    path = folder / "run"
    path.write_text(text)
    return path


def ranges_of(path: Path, size: int, threads: int | None = 1) -> list[list[tuple[int, int]]]:
    with Source(path) as source:
        parts: list[Part] = list(gathered(source, size, threads))
    return [[(one.start, one.end) for one in part.ranges] for part in parts]


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_parts_from_an_index_hold_whole_queries(tmp_path: Path, threads: int | None) -> None:
    path = file_of(tmp_path, "".join(f"{query} Q0 d 1 1 t\n" for query in "ababccdefg"))  # 13 bytes a line
    a, b = [(0, 13), (26, 39)], [(13, 26), (39, 52)]
    assert ranges_of(path, 26, threads) == [a, b, [(52, 78)], [(78, 104)], [(104, 130)]]
    assert ranges_of(path, 27, threads) == [[*a, *b], [(52, 91)], [(91, 130)]]
    assert ranges_of(path, 1, threads) == [a, b, [(52, 78)], *([(at, at + 13)] for at in (78, 91, 104, 117))]
    assert ranges_of(path, 1000, threads) == [[*a, *b[:1], (39, 130)]]


def scattered(folder: Path, queries: str) -> bool:
    with Source(file_of(folder, "".join(f"q-{query} Q0 d 1 1 t\n" for query in queries))) as source:
        return is_scattered(source)


def test_a_sample_tells_a_scattered_file(tmp_path: Path) -> None:
    assert not scattered(tmp_path, "a" * 300 + "b" * 300 + "c" * 300)
    assert scattered(tmp_path, "abc" * 300)
    assert scattered(tmp_path, ("a" * 20 + "b" * 20 + "c" * 20) * 2)
    assert not scattered(tmp_path, "a" * 50 + "b" * 50 + "a" * 50 + "c" * 50 + "a" * 50)  # twice again
    assert scattered(tmp_path, "a" * 50 + "b" * 50 + "a" * 50 + "b" * 50 + "a" * 50)  # three times again
    assert not scattered(tmp_path, "abcdefghijklmnopqrstuvwxyz")
    assert not scattered(tmp_path, "a")


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("space", [" ", "\t"])
def test_pieces_end_where_the_query_does_however_long_it_is(tmp_path: Path, end: str, space: str) -> None:
    sizes = [2, 5_000, 2, 300, 1_700, 9_000, 2, 2]
    blocks = [
        "".join(f"query{at}{space}Q0 document-{row:08d} {row} 1.0 tag\n" for row in range(size))
        for at, size in enumerate(sizes)
    ]
    path = file_of(tmp_path, "".join(blocks).removesuffix("\n") + end)
    ends = list(itertools.accumulate(map(len, blocks)))
    ends[-1] = path.stat().st_size
    blocks_of = [Range(low, high) for low, high in itertools.pairwise([0, *ends])]
    with Source(path) as source:
        assert list(source.pieces(10)) == blocks_of
        assert list(source.pieces(path.stat().st_size)) == [Range(0, ends[-1])]
        for size in (65_536, 100_000, 300_000):
            edges = [0]
            while edges[-1] < ends[-1]:
                wanted = edges[-1] + size
                edges.append(next((one for one in ends if one > wanted), ends[-1]) if wanted < ends[-1] else ends[-1])
            assert [one.end for one in source.pieces(size)] == edges[1:]


def test_pieces_at_blank_and_indented_lines(tmp_path: Path) -> None:
    line = "q Q0 d 1 1 t\n"
    path = file_of(tmp_path, line * 3 + "\n" + line * 3 + " " + line * 3)
    with Source(path) as source:
        assert list(source.pieces(30)) == [Range(0, 39), Range(39, 79), Range(79, 119)]
        assert [source.line_number(offset) for offset in (0, 1, 12, 13, 38, 39, 40, 118)] == [1, 1, 1, 2, 3, 4, 5, 10]


def test_means_are_exact_natively_and_added_in_order_for_trec() -> None:
    def grades(name: str) -> dict[str, int]:
        return {f"d{at}": int(at < int(name)) for at in range(10)}

    qrels = {name: grades(name) for name in ("1", "2", "3")}
    run = {name: dict.fromkeys((f"d{at}" for at in range(10)), 1.0) for name in qrels}
    found = evaluate(qrels, run, ["precision@10", "precision(mode=trec)@10"])
    native, trec = found.summaries()
    assert native.value == math.fsum([0.1, 0.2, 0.3]) / 3
    assert trec.value == (0.1 + 0.2 + 0.3) / 3
    assert native.value != trec.value
    nothing = evaluate(qrels, {}, ["precision@10", "precision(mode=trec)@10"])
    assert [one.value for one in nothing.summaries()] == [None, None]
    assert [one.bounds for one in nothing.summaries()] == [(0.0, 1.0), (0.0, 1.0)]


def test_ranx_like_calls_take_columns_too() -> None:
    qrels = (["q", "q", "r"], ["a", "b", "c"], [1, 0, 1])
    run = (["q", "q", "r"], ["b", "a", "c"], [2.0, 1.0, 1.0])
    assert as_ranx(qrels, run, "mrr", make_comparable=True) == 0.75
    assert as_ranx(qrels, run, ["mrr", "ndcg_burges"], return_mean=False)["mrr"].tolist() == [0.5, 1.0]
    assert as_ranx(qrels, {"q": {"a": 1.0}}, "mrr") == 0.5


@pytest.mark.parametrize("kind", ["texts", "S", "U", "object", "list"])
def test_columns_in_any_order_of_rows(kind: str) -> None:
    queries = ["q", "r", "q", "s", "r", "q"]
    items = ["1", "2", "3", "14", "5", "26"]
    scores = [3.0, 2.0, 1.0, 5.0, 9.0, 4.0]
    column = {
        "texts": Texts.pack(one.encode() for one in items),
        "S": np.array(items, "S"),
        "U": np.array(items),
        "object": np.array([1, 2, 3, 14, 5, 26], object),
        "list": [1, 2, 3, 14, 5, 26],
    }[kind]
    labels = labels_from_dict({"q": {"3": 1, "26": 1}, "r": {"2": 1}, "s": {"14": 1}})
    run = run_of(queries, column, scores, labels)  # type: ignore[arg-type]
    ranked = run.ranked["double"]
    assert run.retrieved.tolist() == [3, 2, 1]
    assert list(zip(ranked.query.tolist(), ranked.rank.tolist(), strict=True)) == [(0, 1), (0, 3), (1, 2), (2, 1)]
    assert [labels.items.text(at) for at in ranked.label.tolist()] == [b"26", b"3", b"2", b"14"]


@pytest.mark.parametrize(
    ("columns", "field", "words"),
    [
        ((["q"], ["a"], ["1"]), "score", "score has the type <U1"),
        ((["q"], ["a"], Texts.pack([b"1"])), "score", "score must be numbers"),
        (([1.5], ["a"], [1.0]), "query", "query holds 1.5"),
        ((["q"], [1.5], [1.0]), "item", "item holds 1.5"),
        ((np.array([[b"q"]]), ["a"], [1.0]), "query", r"query must be one-dimensional, got shape \(1, 1\)"),
        ((np.array([1.5]), ["a"], [1.0]), "query", "query has the type float64"),
        ((["q"], ["a"], [math.inf]), "score", "the score in row 0 is inf"),
    ],
)
def test_columns_that_cannot_be_read(columns: tuple[object, ...], field: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        run_of(*columns, labels_from_dict({"q": {"a": 1}}))  # type: ignore[arg-type]
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("columns", "field", "words"),
    [
        ((["q"], ["a"], [0.5]), "grade", "grades must be whole numbers"),
        ((["q"], ["a"], ["1"]), "grade", "grade has the type <U1"),
        (([None], ["a"], [1]), "query", "query holds None"),
        ((["q"], [True], [1]), "item", "item holds True"),
        ((["q", "r", "q"], ["a", "a", "a"], [1, 1, 1]), "row 2", "'a' is judged twice for query 'q'"),
    ],
)
def test_judgements_that_cannot_be_read(columns: tuple[object, ...], field: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        labels_of(*columns)  # type: ignore[arg-type]
    assert (caught.value.field, caught.value.line) == (field, None)


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = file_of(tmp_path, "q Q0 d 1 1 t\n" * 9)
    with Source(path) as source:
        path.write_text("q Q0")
        for call in (lambda: source.read(Range(0, 100)), lambda: source.text([Range(0, 100)])):
            with pytest.raises(InputError) as caught:
                call()
            assert caught.value.message == "the file became shorter while it was read"
            assert caught.value.file == str(path)


def test_reads_that_give_less_than_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"q Q0 d{at} 1 1 t\n" for at in range(50)).removesuffix("\n")
    path = file_of(tmp_path, text)
    read, read_into = os.pread, os.preadv
    monkeypatch.setattr(os, "pread", lambda handle, size, at: read(handle, min(size, 7), at))
    monkeypatch.setattr(os, "preadv", lambda handle, into, at: read_into(handle, [into[0][:7]], at))
    with Source(path) as source:
        assert source.read(Range(3, len(text))) == text[3:].encode()
        found = source.text([Range(13, 100), Range(0, 13), Range(200, len(text))])
    whole = text.encode()
    assert found.tobytes() == b"\n" * PAD + whole[13:100] + whole[:13] + whole[200:] + b"\n" + b"\n" * PAD
