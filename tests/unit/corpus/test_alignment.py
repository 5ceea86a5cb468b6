"""Texts that a splitter, a store or a prompt changed, resolved to their places; expected spans are counted by hand."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.corpus import Resolved, Resolver, chunk, floor_of, rule
from ragassay.corpus.fold import fold, places
from ragassay.corpus.places import Places
from ragassay.errors import UsageError
from ragassay.records.document import Document, DocumentRef
from ragassay.records.trace import Item

REFUNDS = (
    "# Refunds\n\nDigital goods can be returned within fourteen days — unless they were “used”.\n"
    "Money is sent back in five working days to the card that paid.\n\n## Exceptions\n\n"
    "Gift cards, and café vouchers,\tcannot be returned at all; please ask our staff in the shop.\n"
)
SHIPPING = (
    "Shipping takes two days inside the country and a week for all others. "
    "Money is sent back in five working days to the card that paid.\n"
)
JAPANESE = (
    "公開に失敗した場合、改訂番号は保持されます。キャッシュは三回まで再試行されます。その後、利用者に通知が送られます。"
)
TEXTS = {"refunds": REFUNDS, "shipping": SHIPPING, "guide": JAPANESE, "table": "no table is here today; nowhere"}
TITLES = {"refunds": "Refund policy"}


def doc(document_id: str, text: str, **more) -> Document:
    values = {"version": "1", "tenants": ("*",), "parser": "p", "normaliser": "n", **more}
    return Document(document_id=document_id, text=text, **values)


RESOLVER = Resolver([doc(name, text, title=TITLES.get(name)) for name, text in TEXTS.items()], floor=0.9)


def stands(found: Resolved, texts: dict[str, str] = TEXTS) -> list[tuple[str, str]]:
    return [(one.document_id, texts[one.document_id][one.start : one.end]) for one in found.sources]


def among(found: Resolved) -> list[tuple[str, int, int]]:
    assert (found.sources, found.reason) == ((), "")
    return [(one.document_id, one.start, one.end) for one in found.among]


GIFT = "Gift cards, and café vouchers,\tcannot be returned at all"


@pytest.mark.parametrize(
    ("text", "transform", "score", "expected"),
    [
        (
            'Digital  goods can be\nreturned within fourteen days - unless they were "used".',
            "slice",
            1.0,
            [("refunds", "Digital goods can be returned within fourteen days — unless they were “used”.")],
        ),
        ("\u202eno table\u200b is here", "slice", 1.0, [("table", "no table is here")]),
        (
            "改訂番号は 保持されます。\nキャッシュは三回まで再試行されます。",
            "slice",
            1.0,
            [("guide", "改訂番号は保持されます。キャッシュは三回まで再試行されます。")],
        ),
        (
            "Refund policy: Gift cards, and café vouchers, cannot be returned at all",
            "decorated",
            1.0,
            [("refunds", GIFT)],
        ),
        (
            "source: x.md\npage: 3\n\nGift cards, and cafe\u0301 vouchers, cannot be returned at all",
            "decorated",
            1.0,
            [("refunds", GIFT)],
        ),
        (
            "# Refunds\nGift cards, and café vouchers, cannot be returned at all",
            "decorated",
            1.0,
            [("refunds", "# Refunds"), ("refunds", GIFT)],
        ),
        ("Digital goods can be returned with...", "slice", 1.0, [("refunds", "Digital goods can be returned with")]),
        (
            "\ufffdft cards, and café vouchers, cannot be returned at\ufffd",
            "slice",
            1.0,
            [("refunds", "ft cards, and café vouchers,\tcannot be returned at")],
        ),
        (
            "Digital goods can be returned within fourteen days\n\n"
            "Shipping takes two days inside the country and a week",
            "slice",
            1.0,
            [
                ("refunds", "Digital goods can be returned within fourteen days"),
                ("shipping", "Shipping takes two days inside the country and a week"),
            ],
        ),
        (
            "Gift cards, and cafe vouchers, cannot be returned at all; please ask our staff in the shop.",
            "slice",
            0.9866,  # 74 of 75 dense characters: the e of café is no e
            [
                ("refunds", "Gift cards, and caf"),
                ("refunds", "vouchers,\tcannot be returned at all; please ask our staff in the shop."),
            ],
        ),
    ],
)
def test_aligned(text: str, transform: str, score: float, expected: list[tuple[str, str]]) -> None:
    found = RESOLVER.by_text(text)
    assert (found.resolution, found.transform, stands(found)) == ("aligned", transform, expected)
    assert found.score == pytest.approx(score, abs=1e-4)
    Item(
        item_id="i",
        rank=1,
        resolution="aligned",
        transform=found.transform,
        sources=found.sources,
        alignment=found.score,
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \u3000\n", "empty"),
        ("\u200b\u202e", "not_found"),
        ("notable", "not_found"),
        ("Goods that are digital may be given back before two weeks have passed", "not_found"),
        ("The moon is made of cheese and of nothing else.\n" * 3 + "no table is here", "not_found"),
    ],
)
def test_unresolved_with_a_reason(text: str, reason: str) -> None:
    found = RESOLVER.by_text(text)
    assert (found.resolution, found.sources, found.reason) == ("unresolved", (), reason)


def test_a_text_that_stands_in_several_places_is_one_among_them() -> None:
    text = "Money is sent back in five\nworking days to the card that paid."
    assert among(RESOLVER.by_text(text)) == [("refunds", 89, 151), ("shipping", 70, 132)]
    exact = RESOLVER.by_text(text.replace("\n", " "))
    assert (exact.resolution, exact.score, among(exact)) == (
        "exact",
        None,
        [("refunds", 89, 151), ("shipping", 70, 132)],
    )
    of_one = Resolver([doc("a", "no, no, and no")], floor=0.9).by_text("no")
    assert among(of_one) == [("a", 0, 2), ("a", 4, 6), ("a", 12, 14)]
    listed = Resolver([doc("a", "no " * 32)], floor=0.9).by_text("no")
    too_often = Resolver([doc("a", "no " * 33)], floor=0.9).by_text("no")
    assert (len(listed.among), too_often.among, too_often.reason) == (32, (), "ambiguous")


def test_what_stands_very_often_is_not_taken_for_what_stands_once() -> None:
    often = doc("a", "notable " * 1200 + "no table")
    assert Resolver([often, doc("b", "no table")], floor=0.9).by_text("no table").among == (
        *Resolver([often], floor=0.9).by_text("no table").sources,
        *Resolver([doc("b", "no table")], floor=0.9).by_text("no table").sources,
    )
    home = DocumentRef(document_id="b", version="1")  # type: ignore[arg-type]
    assert among(Resolver([often, doc("b", "notable notable")], floor=0.9).by_text("notable", within=[home])) == [
        ("b", 0, 7),
        ("b", 8, 15),
    ]


def test_a_title_or_id_in_front_settles_what_stands_in_several() -> None:
    body = "Money is sent back in five working days to the card that paid."
    for front in ("title: Refund policy", "Refund policy", "source: refunds", "page: 3\nfile: refunds\nseen: today"):
        found = RESOLVER.by_text(f"{front}\n\n{body}")
        assert (found.resolution, found.transform, found.score) == ("aligned", "decorated", 1.0)
        assert stands(found) == [("refunds", body)]
    unsettled = RESOLVER.by_text(f"title: Another policy\n\n{body}")
    assert among(unsettled) == [("refunds", 89, 151), ("shipping", 70, 132)]
    dear = RESOLVER.by_text(f"Shipping takes two days inside the country\n{body}")  # a slice before it is no decoration
    assert not dear.among


def test_a_declared_document_settles_what_stands_in_several() -> None:
    text = "Money is sent back in five\nworking days to the card that paid."
    home = DocumentRef(document_id="shipping", version="1")  # type: ignore[arg-type]
    assert stands(RESOLVER.by_text(text, within=[home])) == [("shipping", SHIPPING[70:-1])]
    assert RESOLVER.by_text("no table is here", within=[home]).reason == "not_found"


def test_letter_for_letter_goes_before_and_without_a_floor_alone() -> None:
    documents = [doc("a", "one two three four"), doc("b", "one two\nthree four")]
    assert [one.document_id for one in Resolver(documents, floor=0.9).by_text("one two three").sources] == ["a"]
    assert among(Resolver(documents, floor=0.9).by_text("one  two three")) == [("a", 0, 13), ("b", 0, 13)]
    assert Resolver(documents[:1]).by_text("one  two three").reason == "not_found"


def test_versions_and_tenants_are_told_apart_also_when_aligned() -> None:
    old = doc("a", "shared part of all. old", valid_until="2026-01-01T00:00:00Z")
    new = doc("a", "shared part of all. new", version="2", valid_from="2026-01-01T00:00:00Z")
    assert among(Resolver([old, new], floor=0.9).by_text("shared  part of all.")) == [("a", 0, 19), ("a", 0, 19)]
    at = Resolver([old, new], as_of="2026-06-01T00:00:00Z", floor=0.9)
    assert [one.version for one in at.by_text("shared  part of all.").sources] == ["2"]
    both = [doc("x", "the very same text"), doc("y", "the very same text", tenants=("t",))]
    assert among(Resolver(both, floor=0.9).by_text("the very\nsame text")) == [("x", 0, 18), ("y", 0, 18)]
    headed = Resolver(both, floor=0.9).by_text("seen: today\nthe very same text")
    assert (headed.resolution, headed.transform, among(headed)) == (
        "aligned",
        "decorated",
        [("x", 0, 18), ("y", 0, 18)],
    )
    copies = [doc("x", "the very same text"), doc("y", "the very same text")]
    assert len(Resolver(copies, floor=0.9).by_text("the very\nsame text").sources) == 2


def test_a_decorated_passage_is_found_though_its_white_space_changed() -> None:
    documents = [doc("a", "# H\n\nintro\n\n## I\n\nbody of it")]
    passages = chunk(documents, chunker="markdown", size=4, overlap=0)
    last = passages[-1]
    found = Resolver(documents, passages, floor=0.9).by_text(" ".join(last.text.split()))
    assert (found.resolution, found.passage_id, found.sources) == ("aligned", last.passage_id, last.sources)


def test_rule_and_floor() -> None:
    assert (rule(0), rule(None), floor_of(None)) == (None, None, None)
    assert rule(0.9) == "align/2 floor=0.9"
    assert floor_of("align/2 floor=0.85") == 0.85
    for wrong in ("align/1 floor=0.9", "align/2 floor=x", "align/2", "align/2 floor=0.1"):
        with pytest.raises(UsageError, match="was sealed for resolution"):
            floor_of(wrong)
    with pytest.raises(UsageError, match=r"0\.5"):
        rule(0.5)


SPACES = ["", " ", "\n", "  ", "\t\n", "\u00a0", "\u3000", "\u200b", "\u00ad"]
WORDS = st.lists(
    st.sampled_from(["ab", "ba", "é", "e", "ﬁ", "日", "本", "”", "-", "x1", "word"]), min_size=1, max_size=14
)


@given(st.lists(WORDS, min_size=1, max_size=4), st.data())
def test_a_span_under_changed_white_space_is_that_span_or_ambiguous(of: list[list[str]], data: st.DataObject) -> None:
    texts = [" ".join(words) for words in of]
    number = data.draw(st.integers(0, len(texts) - 1))
    source = texts[number]
    start = data.draw(st.integers(0, len(source) - 1))
    end = data.draw(st.integers(start + 1, len(source)))
    changed = "".join(data.draw(st.sampled_from(SPACES)) if one == " " else one for one in source[start:end])
    found = Resolver([doc(str(at), text) for at, text in enumerate(texts)], floor=0.9).by_text(changed)

    def bare(text: str) -> str:
        kept = "".join(one for one in text if not one.isspace() and unicodedata.category(one) != "Cf")
        return unicodedata.normalize("NFKD", kept)

    if found.sources:
        assert {bare(texts[int(one.document_id)][one.start : one.end]) for one in found.sources} == {bare(changed)}
        alone = [text for text in texts if bare(changed) in bare(text)] == [source] and bare(source).count(
            bare(changed)
        ) == 1
        if alone:
            assert {texts[int(one.document_id)] for one in found.sources} == {source}
    elif found.among:
        cut = [texts[int(one.document_id)][one.start : one.end] for one in found.among]
        assert {bare(one) for one in cut} == {bare(changed)}
        assert changed not in cut or {changed} == set(cut)
        every = sum(_count(bare(changed), bare(text)) for text in texts)
        assert 1 < len(cut) <= every
        if len({" ".join(one.split()) for one in cut}) > 1:  # not those only whose white space alone is another
            assert len(cut) == every
    elif found.reason == "ambiguous":  # more places than are listed
        assert sum(_count(bare(changed), bare(text)) for text in texts) > 32
    else:  # too short to differ by more than its white space, or no whole letters
        assert len(fold(changed)) < 12


def _count(part: str, text: str) -> int:
    return sum(text.startswith(part, at) for at in range(len(text)))


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_dense_form_is_by_code_point_and_maps_back(one: str, other: str) -> None:
    assert fold(one + other) == fold(one) + fold(other)
    assert "".join(fold(one[at]) for at in sorted(set(places(one).tolist()))) == fold(one)
    assert len(places(one)) == len(fold(one)) <= 4 * len(one)
    assert fold(one).isascii() or not one.isascii()


@given(st.lists(st.text(alphabet="ab", max_size=60), min_size=1, max_size=4), st.data())
def test_the_index_finds_every_place(texts: list[str], data: st.DataObject) -> None:
    wanted = data.draw(st.sampled_from(texts))[data.draw(st.integers(0, 30)) :][: data.draw(st.integers(1, 40))]
    every = [
        (n, at) for n, text in enumerate(texts) for at in range(len(text)) if wanted and text.startswith(wanted, at)
    ]
    assert Places(texts).find(wanted) == every
    for block in Places(texts).blocks(wanted + "c" + wanted):
        size = block.end - block.start
        assert texts[block.text][block.at : block.at + size] == (wanted + "c" + wanted)[block.start : block.end]


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10_000_000,
        "ab" * 1_000_000,
        " " * 10_000_000 + "☃",
        "\ufdfa" * 1_000_000,
        "e\u0301" * 1_000_000,
        ". " * 90_000,
        "\ufffd" * 1_000_000,
    ],
    ids=["one letter", "two letters", "white space", "ligatures", "accents", "dots", "replacements"],
)
def test_hostile_texts_cost_a_bounded_time(text: str) -> None:
    corpus = [doc("a", "a" * 200_000), doc("b", "ab" * 100_000), doc("c", "e\u0301" * 50_000 + "\ufdfa" * 50_000)]
    resolver = Resolver([*corpus, *(doc(name, one) for name, one in TEXTS.items())], floor=0.9)
    resolver.prepare()
    started = time.process_time()
    assert resolver.by_text(text).resolution == "unresolved"
    assert time.process_time() - started < 20
