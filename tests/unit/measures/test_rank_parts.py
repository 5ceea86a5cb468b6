"""Parts of ranking against plain Python: places in ties, items that stand twice, labels by hash, words of texts."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ragassay.errors import InputError
from ragassay.measures.trec import ranks
from ragassay.measures.trec.columns import texts_of
from ragassay.measures.trec.labels import Labels, numbered
from ragassay.measures.trec.ranks import Block, _above, _above_by_sorting, rank, spread
from ragassay.measures.trec.texts import PAD, Texts, changes, hashes, heads, joined, word


def texts(*names: str) -> Texts:
    return Texts.pack(name.encode() for name in names)


def names(rng: random.Random, count: int) -> list[str]:
    """Different ids of 1 to 30 bytes, many with a common beginning."""
    found: set[str] = set()
    while len(found) < count:
        found.add(rng.choice(["", "doc", "a-common-beginning-", "é"]) + str(rng.randrange(1 << rng.choice([4, 40]))))
    return rng.sample(sorted(found), count)


def test_places_within_ties_by_both_ways() -> None:
    rng = random.Random(5)
    for shuffled in (False, True):
        for _ in range(60):
            sizes = [rng.randrange(1, 7) for _ in range(rng.randrange(1, 6))]
            ids = names(rng, sum(sizes))
            order = np.array(rng.sample(range(len(ids)), len(ids))) if shuffled else None
            spot_of = np.arange(len(ids)) if order is None else np.argsort(order)
            begins = np.cumsum([0, *sizes])[:-1]
            chosen = np.array(sorted(rng.sample(range(len(ids)), rng.randrange(1, len(ids) + 1))))
            tie = np.searchsorted(begins, spot_of[chosen], side="right") - 1
            first, count = begins[tie], np.array(sizes)[tie]
            at = range(len(ids)) if order is None else order.tolist()
            tied = [
                {ids[at[spot]].encode() for spot in range(low, low + n)} for low, n in zip(begins, sizes, strict=True)
            ]
            want = [
                sum(other > ids[row].encode() for other in tied[group])
                for row, group in zip(chosen.tolist(), tie.tolist(), strict=True)
            ]
            items = texts(*ids)
            assert _above(items, order, chosen, first, count).tolist() == want
            runs, which = np.unique(first, return_inverse=True)
            own = np.zeros(len(runs), np.int64)
            own[which] = count
            assert _above_by_sorting(items, order, chosen, runs, own, which).tolist() == want


@pytest.mark.parametrize("pairs", [1, 7, 40])
def test_ties_in_steps_of_few_pairs_are_the_same(monkeypatch: pytest.MonkeyPatch, pairs: int) -> None:
    ids = [f"d{at:02d}" for at in range(70)]
    block = Block(np.array([0, 64]), np.array([0, 1]), texts(*ids), np.array([2.0] * 60 + [1.0] * 4 + [5.0] * 6))
    labels = labels_of({"q": ids[:64:3], "r": ids[64:]})
    usual = rank(block, labels, ("double",)).ranked["double"]
    monkeypatch.setattr(ranks, "_PAIRS", pairs)
    stepped = rank(block, labels, ("double",)).ranked["double"]
    assert [one.tolist() for one in usual] == [one.tolist() for one in stepped]
    assert stepped.rank.tolist() == [*range(60, 0, -3), 64, 61, *range(6, 0, -1)]
    assert stepped.tied.tolist() == [64, 6]
    assert (stepped.first.tolist()[0], stepped.last.tolist()[0]) == (1, 60)


def labels_of(judged: dict[str, list[str]]) -> Labels:
    queries = [query for query, own in judged.items() for _ in own]
    items = [item for own in judged.values() for item in own]
    return Labels.of(texts(*queries), texts(*items), np.ones(len(items), np.int64))


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("short", [True, False])
def test_an_item_twice_counts_once_at_its_highest_score(even: bool, short: bool) -> None:
    rng = random.Random(9)
    for _ in range(60):
        sizes = [6] * 5 if even else [rng.randrange(1, 4 if short else 40) for _ in range(5)]
        lists = [[rng.choice("abcdefgh" * 2) + str(rng.randrange(3)) for _ in range(size)] for size in sizes]
        scores = [[float(rng.randrange(4)) for _ in own] for own in lists]
        flat = [item for own in lists for item in own]
        query = np.array([0, -1, 1, 2, 3])
        block = Block(
            np.cumsum([0, *sizes])[:-1], query, texts(*flat), np.array([one for own in scores for one in own])
        )
        labels = labels_of({f"q{at}": sorted({*"abcdefgh"} | {f"{x}{y}" for x in "abc" for y in range(3)})
                            for at in range(4)})  # fmt: skip
        found = rank(block, labels, ("double",))
        want = []
        for number, own, given in zip(query.tolist(), lists, scores, strict=True):
            best: dict[str, float] = {}
            for item, score in zip(own, given, strict=True):
                best[item] = max(best.get(item, -1.0), score)
            order = sorted(best, key=lambda item: (best[item], item.encode()), reverse=True)
            if number >= 0:
                judged = {f"{x}{y}" for x in "abc" for y in range(3)}
                want += [(number, at + 1, item) for at, item in enumerate(order) if item in judged]
        ranked = found.ranked["double"]
        got = [
            (q, r, labels.items.text(label).decode())
            for q, r, label in zip(ranked.query.tolist(), ranked.rank.tolist(), ranked.label.tolist(), strict=True)
        ]
        assert sorted(got) == sorted(want)
        repeated = [len(own) - len(set(own)) if q >= 0 else 0 for q, own in zip(query.tolist(), lists, strict=True)]
        assert found.duplicates.tolist() == repeated
        assert found.retrieved.tolist() == [len(own) - n for own, n in zip(lists, repeated, strict=True)]
        if any(repeated):
            with pytest.raises(InputError, match="stands twice in one list"):
                rank(block, labels, ("double",), strict=True)


def test_keys_hold_the_question_and_most_of_the_hash() -> None:
    labels = labels_of({"q": ["a"], "r": ["a"], "s": ["b"]})
    hashed = np.array([1 << 63, 8, 7, 2**64 - 1], np.uint64)
    keys = labels.keys(np.array([2, -1, 0]), np.array([2, 0, 2]), hashed)
    assert labels.question_of(keys).tolist() == [2, 2, 0, 0]
    assert labels.question_of(labels.keys(np.array([-1]), np.array([1]), hashed[:1])).tolist() == [3]
    lost = 64 - int(labels.keys(np.array([0]), np.array([1]), hashed[3:])[0]).bit_length()
    assert keys[2:].tolist() == [7 >> lost, (2**64 - 1) >> lost]


def test_spread() -> None:
    assert spread(np.array([5, 1, 9]), np.array([3, 1, 2])).tolist() == [5, 6, 7, 1, 9, 10]
    assert spread(np.array([], np.int64), np.array([], np.int64)).tolist() == []


def test_labels_are_found_by_question_and_bytes() -> None:
    judged = {"q": ["a", "b", "long-enough-to-need-words"], "r": ["a", "c"]}
    labels = labels_of(judged)
    items = texts("b", "x", "a", "long-enough-to-need-word", "long-enough-to-need-words", "c", "a", "a", "b", "c")
    lists = np.array([0, -1, 1]), np.array([5, 2, 3])
    rows, label, list_of = labels.find(*lists, items, labels.keys(*lists, hashes(items)))
    assert rows.tolist() == [0, 2, 4, 7, 9]
    assert [labels.items.text(one).decode() for one in label.tolist()] == ["b", "a", judged["q"][2], "a", "c"]
    assert list_of.tolist() == [0, 0, 0, 2, 2]
    assert labels.grade[label].tolist() == [1] * 5
    empty = Labels.of(texts(), texts(), np.zeros(0, np.int64))
    lists, items = (np.array([-1]), np.array([2])), texts("a", "b")
    assert [len(one) for one in empty.find(*lists, items, empty.keys(*lists, hashes(items)))] == [0] * 3


def test_labels_in_any_order_are_told_apart() -> None:
    labels = Labels.of(texts("r", "q", "r", "q", "s"), texts("1", "2", "3", "4", "5"), np.array([1, 3, 2, 0, 1]))
    assert labels.names == (b"q", b"r", b"s")
    assert labels.query.tolist() == [1, 0, 1, 0, 2]
    assert [one.tolist() for one in labels.by_grade] == [[0, 0, 1, 1, 2], [3, 0, 2, 1, 1]]
    assert labels.number == {b"q": 0, b"r": 1, b"s": 2}
    index, found = numbered(texts("b", "b", "a", "b", "a", "a"))
    assert (index.tolist(), found) == ([0, 0, 1, 0, 1, 1], [b"b", b"a"])
    with pytest.raises(InputError, match="'x' is judged twice for query 'q'") as caught:
        Labels.of(texts("q", "q", "q", "r"), texts("y", "x", "x", "x"), np.ones(4, np.int64))
    assert (caught.value.line, caught.value.hint) == (2, "keep one judgement an item")


def test_words_of_texts() -> None:
    packed = texts("a", "", "exactly8", "more-than-8", "é")
    whole = [packed.text(row) for row in range(len(packed))]
    for nth in range(3):
        want = [int.from_bytes(one[8 * nth : 8 * nth + 8], "little") for one in whole]
        assert word(packed, np.arange(5), nth).tolist() == want
    assert heads(packed).tolist() == [int.from_bytes(one[:8], "little") for one in whole]
    assert heads(texts("same", "size")).tolist() == [int.from_bytes(one, "little") for one in (b"same", b"size")]
    assert (packed.start[0], len(packed.buffer) - packed.end[-1]) == (PAD, PAD)
    both = joined([packed, texts("x", "yy")])
    assert [both.text(row) for row in range(len(both))] == [*whole, b"x", b"yy"]
    assert [both.part(5, 7).text(row) for row in range(2)] == [b"x", b"yy"]
    assert len(joined([])) == 0
    assert changes(texts("a", "a", "b", "b" * 9, "b" * 9, "b" * 10, "b" * 9 + "c")).tolist() == [0, 2, 3, 5, 6]
    assert changes(texts()).tolist() == []
    long = ["x" * size for size in (63, 64, 65, 71, 72, 73, 200)]
    assert len({*hashes(texts(*long, "x" * 64 + "y", "y" + "x" * 64)).tolist()}) == 9


def test_arrays_of_bytes_hash_as_the_same_texts_elsewhere() -> None:
    """Whether every id is as long as the array is wide, or some are shorter; at every width around whole words."""
    rng = np.random.default_rng(4)
    for width in (1, 2, 6, 7, 8, 9, 15, 16, 17, 23, 24, 40, 63, 64, 65, 90):
        for least in (width, 0):
            ids = [bytes(rng.integers(33, 127, rng.integers(least, width + 1)).astype(np.uint8)) for _ in range(40)]
            given, packed = texts_of(np.array(ids, f"S{width}"), "item"), Texts.pack(ids)
            assert [given.text(row) for row in range(40)] == ids
            assert hashes(given).tolist() == hashes(packed).tolist()
            assert heads(given.part(5, 30)).tolist() == heads(packed)[5:30].tolist()
    assert len(texts_of(np.array([], "S3"), "item")) == 0
    assert texts_of(np.array([b"", b""]), "item").listed(np.arange(2)) == [b"", b""]


def test_items_that_share_half_a_word_are_no_duplicates_unless_they_share_all_of_it() -> None:
    rng = np.random.default_rng(6)
    sizes = np.array([40, 1, 60])
    plain = rng.integers(0, 1 << 63, 101).astype(np.uint64)
    for other, where, expected in (
        (plain[3], 39, True),  # the same, in one list
        (plain[3], 50, False),  # the same, in another list
        (plain[3] ^ np.uint64(1), 39, False),  # the same half
        (plain[41], 100, True),
    ):
        own = plain.copy()
        own[where] = other
        keys = (own >> np.uint64(2)) | (np.repeat(np.arange(3, dtype=np.uint64), sizes) << np.uint64(62))
        keys[own == plain[3] ^ np.uint64(1)] = 7
        assert ranks._may_repeat(keys, own, sizes) is expected
    many = np.repeat(plain[:2], [2 * ranks._FEW, 2 * ranks._FEW]) + np.arange(4 * ranks._FEW, dtype=np.uint64)
    assert ranks._may_repeat(many, many, np.array([len(many)]))  # too many to look at: left to the whole keys
