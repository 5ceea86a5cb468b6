"""The reader against plain Python on generated texts: numbers, fields, ids, and any cut of the file into pieces."""

from __future__ import annotations

import itertools
import math
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.measures.trec.decimals import parse_decimals
from ragassay.measures.trec.labels import Labels, read_labels
from ragassay.measures.trec.run import RunRows, read_run
from ragassay.measures.trec.scan import first_fields, padded, scan
from ragassay.measures.trec.source import Source
from ragassay.measures.trec.texts import PAD, Texts, changes, descending, equal, greater, hashes

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(0, 100).map(lambda value: f"{value:.6f}"),
    st.floats(-1, 1).map(lambda value: f"{value:.9e}"),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(NUMBER, fullmatch=True).filter(lambda text: text.isascii()),
    st.text("0123456789.eE+-", min_size=1, max_size=26),
    st.sampled_from(["nan", "inf", "-inf", "0x1p3", "1_0", "1e400", "-1e-400", "1e22", "1e23", "9007199254740993",
                     "0.1", "5e-324", "2.2250738585072011e-308", "-0", "+.5e-3", "1e", "e5", ".", "-", "1e+", "1.e5"]),
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(numbers, min_size=1, max_size=40))
def test_numbers_are_those_of_strtod(texts: list[str]) -> None:
    values, bad = parse_decimals(Texts.pack(text.encode() for text in texts))
    for row, text in enumerate(texts):
        good = NUMBER.fullmatch(text) is not None and math.isfinite(float(text))
        assert (row not in bad) == good, text
        if good:
            assert values[row].tobytes() == np.float64(float(text)).tobytes(), text


names = st.lists(st.binary(min_size=1, max_size=40).filter(lambda name: b"\0" not in name), min_size=1, max_size=30)


@given(names)
def test_texts_compare_as_bytes(texts: list[bytes]) -> None:
    packed = Texts.pack(texts)
    left, right = (side.ravel() for side in np.meshgrid(np.arange(len(texts)), np.arange(len(texts))))
    pairs = [(texts[a], texts[b]) for a, b in zip(left, right, strict=True)]
    assert greater(packed, left, right).tolist() == [a > b for a, b in pairs]
    assert equal(packed, left, packed, right).tolist() == [a == b for a, b in pairs]
    keys = hashes(packed)
    assert (keys[left] == keys[right]).tolist() == [a == b for a, b in pairs]
    assert [hashes(Texts.pack([text]))[0] for text in texts] == keys.tolist()  # whatever stands beside it
    order = descending(packed, np.arange(len(texts)), np.zeros(len(texts), np.int64))
    assert [texts[at] for at in order] == sorted(texts, reverse=True)
    assert changes(packed).tolist() == [at for at in range(len(texts)) if at == 0 or texts[at] != texts[at - 1]]


lines = st.lists(
    st.one_of(
        st.lists(st.text("ab1é", min_size=1, max_size=9), min_size=4, max_size=7).flatmap(
            lambda words: st.lists(st.sampled_from([" ", "\t", "  ", " \t "]), min_size=len(words), max_size=len(words))
            .map(lambda gaps: "".join(word + gap for word, gap in zip(words, gaps, strict=True)))
        ),
        st.sampled_from(["", "  ", "# a comment", "#"]),
    ),
    max_size=12,
)  # fmt: skip


@given(lines, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_fields_are_those_of_split(texts: list[str], end: str, last: bool) -> None:
    whole = end.join(texts) + (end if last else "")
    fields = scan(padded(whole.encode()), 4, (0, 2, 3))
    expected = [line.split() for line in whole.split("\n") if line.strip() and not line.startswith("#")]
    for column, texts_of_column in zip((0, 2, 3), fields.texts, strict=True):
        found = [texts_of_column.text(row).decode() for row in range(len(texts_of_column))]
        assert found == [words[column] for words in expected]
    first, line = first_fields(padded(whole.encode()))
    starts = [words[0] for words in (text.split() for text in whole.split("\n")) if words]
    assert [first.text(row).decode() for row in range(len(first)) if first.text(row)] == starts
    assert len(line) == whole.count("\n") + (bool(whole) and not whole.endswith("\n"))


same_shape = st.lists(
    st.lists(st.text("ab1é", min_size=1, max_size=9), min_size=4, max_size=4).map("\t".join), min_size=1, max_size=8
)


@given(
    same_shape, st.sampled_from(["\n", "\r\n", " \n", "\x0b\n"]), st.sampled_from(["", "#c\n", "\n", "a b c\n", "\r"])
)
def test_lines_of_one_shape_are_read_as_others(texts: list[str], end: str, odd: str) -> None:
    whole = end.join(texts) + end + odd
    lines = [line.split() for line in whole.split("\n") if line.strip() and not line.startswith("#")]
    if odd == "a b c\n":
        with pytest.raises(InputError, match="3 fields where 4"):
            scan(padded(whole.encode()), 4, (0, 3))
        return
    fields = scan(padded(whole.encode()), 4, (0, 3))
    for column, found in zip((0, 3), fields.texts, strict=True):
        assert [found.text(row).decode() for row in range(len(found))] == [words[column] for words in lines]
    starts = np.cumsum([0, *(len(line.encode()) + 1 for line in whole.split("\n"))])
    used = [at for at, line in enumerate(whole.split("\n")) if line.strip() and not line.startswith("#")]
    assert (fields.line - PAD).tolist() == starts[used].tolist()


@given(st.integers(1, 3), st.text("ab", min_size=1, max_size=3))
def test_too_few_fields_name_their_line(fields: int, word: str) -> None:
    text = ("x " * 4 + "\n") * 3 + f"{word} " * fields + "\n"
    with pytest.raises(InputError, match=f"{fields} fields where 4") as caught:
        scan(padded(text.encode()), 4, (0,))
    assert padded(text.encode())[: caught.value.line].tobytes().count(b"\n") - PAD == 3


rows = st.lists(
    st.tuples(st.sampled_from(["q1", "q2", "a-longer-query", "q10"]), st.integers(0, 30), st.integers(0, 3)),
    min_size=1, max_size=60, unique_by=lambda row: row[:2],
)  # fmt: skip


@settings(max_examples=80)
@given(rows, st.integers(1, 200), st.integers(1, 3), st.booleans())
def test_pieces_threads_and_places_do_not_matter(
    table: list[tuple[str, int, int]], piece: int, threads: int, grouped: bool
) -> None:
    table = sorted(table, key=lambda row: row[0]) if grouped else table
    with tempfile.TemporaryDirectory() as folder:
        run, qrels = Path(folder, "run"), Path(folder, "qrels")
        run.write_text("".join(f"{query} Q0 d{item} 1 {score} t\n" for query, item, score in table))
        qrels.write_text("".join(f"{query} 0 d{item} {score}\n" for query, item, score in table[::2]))
        labels = read_labels(str(qrels))
        whole = read_run(str(run), labels, ("double", "single"), threads=1)
        parts = read_run(str(run), labels, ("double", "single"), threads=threads, piece=piece)
    same(whole, parts)
    by_hand(table, labels, whole)


def same(left: RunRows, right: RunRows) -> None:
    for precision in ("double", "single"):
        for a, b in zip(left.ranked[precision], right.ranked[precision], strict=True):
            assert a.tolist() == b.tolist()
        assert left.tied[precision].tolist() == right.tied[precision].tolist()
    assert left.retrieved.tolist() == right.retrieved.tolist()
    assert left.unknown == right.unknown


def by_hand(table: list[tuple[str, int, int]], labels: Labels, run: RunRows) -> None:
    """Ranks by Python's sort."""
    ranked = run.ranked["double"]
    for query in {row[0] for row in table}:
        order = sorted(((score, f"d{item}".encode()) for name, item, score in table if name == query), reverse=True)
        at = labels.number.get(query.encode())
        if at is None:
            continue
        assert run.retrieved[at] == len(order)
        mine = ranked.query == at
        for rank, label in zip(ranked.rank[mine].tolist(), ranked.label[mine].tolist(), strict=True):
            assert order[rank - 1][1] == labels.items.text(label)


def test_pieces_are_cut_between_queries(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("".join(f"q{query} Q0 d{item} 1 1 t\n" for query in range(40) for item in range(query % 7 + 1)))
    with Source(path) as source:
        ranges = list(source.pieces(100))
        texts = [source.read(one).decode().splitlines() for one in ranges]
    assert [line for text in texts for line in text] == path.read_text().splitlines()
    assert len(texts) > 10
    for before, after in itertools.pairwise(texts):
        assert before[-1].split()[0] != after[0].split()[0]


def test_a_big_scattered_file_is_put_together(tmp_path: Path) -> None:
    """Many pieces, every query in many places: the index is made first."""
    rng = np.random.default_rng(3)
    path, qrels = tmp_path / "run", tmp_path / "qrels"
    rows_of_file = [
        (f"q{at % 50}", f"document-{at:06d}", float(score)) for at, score in enumerate(rng.random(70_000).round(3))
    ]
    path.write_text("".join(f"{query} Q0 {item} 1 {score} t\n" for query, item, score in rows_of_file))
    judged = rows_of_file[::97]
    qrels.write_text("".join(f"{query} 0 {item} 1\n" for query, item, _ in judged))
    labels = read_labels(str(qrels))
    run = read_run(str(path), labels, piece=path.stat().st_size // 7)
    by_hand([], labels, run)
    ordered: dict[str, list[tuple[float, str]]] = {}
    for query, item, score in rows_of_file:
        ordered.setdefault(query, []).append((score, item))
    for own in ordered.values():
        own.sort(reverse=True)
    ranked = run.ranked["double"]
    for query, rank, label in zip(ranked.query.tolist(), ranked.rank.tolist(), ranked.label.tolist(), strict=True):
        assert ordered[labels.names[query].decode()][rank - 1][1] == labels.items.text(label).decode()
    assert len(ranked.query) == len(judged)
