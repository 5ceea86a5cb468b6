from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.corpus import chunk
from ragassay.corpus.tokens import split
from ragassay.corpus.words import words
from ragassay.errors import UsageError
from ragassay.records.document import Document, Passage

BLOCKS = st.sampled_from(
    [
        *("# Top", "## Two", "### Three", "Setext\n===", "Low\n---", "#", "#not", "plain words here."),
        *("- a\n- b\n  - c d e", "1. one\n2. two", "> quoted\n> # inside", "```\ncode # not\n\nmore\n```"),
        *("    indented\n    code", "| a | b |\n|---|---|\n| 1 | 2 |", "[ref]: /x 'y'", "<div>\nraw\n</div>", "***"),
        *("word " * 30, "日本語のテキスト。", "śćź é 👩‍👩‍👧", "~~~\nnever closed", "\t- tab", "\x0b", "\x00"),
    ]
)
MARKDOWN = st.builds(
    lambda parts, end: "".join(f"{part}{mark}" for part, mark in parts) + end,
    st.lists(st.tuples(BLOCKS | st.text(max_size=20), st.sampled_from(["\n", "\n\n", "\r\n", "\r", "\r\n\r\n"]))),
    st.sampled_from(["", "\n", " "]),
)


def doc(text: str) -> Document:
    return Document(document_id="d", version="1", text=text, parser="p", normaliser="n", tenants=("*",))  # type: ignore[arg-type]


def covered(passages: list[Passage]) -> set[int]:
    return {at for one in passages for span in one.sources for at in range(span.start, span.end)}


@given(MARKDOWN | st.text(), st.integers(1, 12), st.integers(0, 11), st.sampled_from(["tokens", "markdown"]))
@settings(max_examples=300, deadline=None)
def test_passages_are_exact_and_together_hold_all_of_the_text(text: str, size: int, overlap: int, chunker: str) -> None:
    passages = chunk([doc(text)], chunker=chunker, size=size, overlap=min(overlap, size - 1))
    for one in passages:
        spans = [text[span.start : span.end] for span in one.sources]
        if one.transform == "slice":
            assert [one.text] == spans
        else:
            assert one.text == "\n".join(spans[:-1]) + "\n\n" + spans[-1]
        assert one.text.strip()
    assert {at for at, letter in enumerate(text) if not letter.isspace()} <= covered(passages)
    assert len({one.passage_id for one in passages}) == len(passages)


@given(st.text(), st.integers(1, 9), st.integers(0, 8))
def test_token_windows_have_the_size_and_overlap_asked_for(text: str, size: int, overlap: int) -> None:
    overlap = min(overlap, size - 1)
    spans = split(text, size=size, overlap=overlap)
    counts = [len(words(text[start:end])) for start, end in spans]
    assert all(count == size for count in counts[:-1])
    assert all(0 < count <= size for count in counts[-1:])
    for (_, end), (start, _) in pairwise(spans):
        assert len(words(text[start:end])) == overlap


def test_token_windows_by_hand() -> None:
    text = "a b c d e f g"
    assert [text[start:end] for start, end in split(text, size=4, overlap=2)] == ["a b c d", "c d e f", "e f g"]
    assert split("", size=4, overlap=2) == []
    assert split(" \n ", size=4, overlap=2) == []


def test_japanese_is_cut_by_character_and_words_stay_whole() -> None:
    text = "日本 żółw x1_y 👍"
    assert [text[start:end] for start, end in words(text)] == ["日", "本", "żółw", "x1_y", "👍"]


GUIDE = """Intro before any heading.

# Guide

## Install

First paragraph of install.

| os | command |
|----|---------|
| mac | brew |
| deb | apt |

### From source

```sh
# not a heading

make
```

## Use

Run it.
"""


def test_markdown_inherits_headings_and_keeps_tables_and_code_whole() -> None:
    passages = chunk([doc(GUIDE)], chunker="markdown", size=8)
    table = "| os | command |\n|----|---------|\n| mac | brew |\n| deb | apt |"
    code = "```sh\n# not a heading\n\nmake\n```"
    assert [(one.transform, one.text) for one in passages] == [
        ("slice", "Intro before any heading."),
        ("decorated", "# Guide\n\n## Install\n\nFirst paragraph of install."),
        ("decorated", f"# Guide\n## Install\n\n{table}"),
        ("decorated", f"# Guide\n## Install\n\n### From source\n\n{code}"),
        ("decorated", "# Guide\n\n## Use\n\nRun it."),
    ]


def test_a_long_paragraph_is_cut_between_words_and_a_long_list_between_items() -> None:
    text = "# H\n\none two three four five six\n\n- aa bb cc\n- dd ee ff\n"
    texts = [one.text for one in chunk([doc(text)], chunker="markdown", size=5)]
    assert texts == ["# H\n\none two three four five", "# H\n\nsix\n\n- aa bb cc", "# H\n\n- dd ee ff"]


def test_link_definitions_are_not_lost() -> None:
    text = "See [x].\n\n[x]: http://example.com/a\n"
    (one,) = chunk([doc(text)], chunker="markdown")
    assert one.text == text.strip()


def test_headings_nested_deep_drop_when_a_higher_one_comes() -> None:
    text = "# A\n\n### C\n\nc\n\n## B\n\nb\n\n# D\n"
    assert [one.text for one in chunk([doc(text)], chunker="markdown")] == [
        "# A\n\n### C\n\nc",
        "# A\n\n## B\n\nb",
        "# D",
    ]


@pytest.mark.parametrize(
    "chunker, parameters, message, hint",
    [
        ("token", {}, "unknown chunker 'token'", "did you mean 'tokens'?"),
        ("tokens", {"sise": 3}, "has no parameter 'sise'", "did you mean 'size'?"),
        ("tokens", {"size": 0}, "size is 0", "120"),
        ("tokens", {"size": "9"}, "not a whole number", "word tokens"),
        ("tokens", {"size": 5, "overlap": 5}, "overlap is 5", "sixth"),
        ("markdown", {"size": True}, "not a whole number", "word tokens"),
    ],
)
def test_wrong_parameters(chunker: str, parameters: dict, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        chunk([doc("a")], chunker=chunker, **parameters)
    assert message in str(caught.value)
    assert hint in caught.value.hint


def test_a_document_id_of_full_length_still_gives_a_passage_id_that_fits_an_item() -> None:
    long = Document(document_id="x" * 512, version="v" * 512, text="a", parser="p", normaliser="n")  # type: ignore[arg-type]
    other = Document(document_id="x" * 512, version="v" * 511, text="a", parser="p", normaliser="n")  # type: ignore[arg-type]
    ids = {one.passage_id for one in chunk([long, other])}
    assert len(ids) == 2
    assert all(len(one) <= 512 for one in ids)


def test_a_megabyte_is_cut_in_linear_time() -> None:
    text = "# H\n\n" + "word " * 100_000 + "\n\n" + "- item\n" * 20_000
    passages = chunk([doc(text)], chunker="markdown", size=100)
    assert len(passages) > 1_000
