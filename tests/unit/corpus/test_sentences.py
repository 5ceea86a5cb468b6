"""Sentences and windows: by hand, by property, and against sentences that people cut (CLAPnq)."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.corpus import chunk
from ragassay.corpus.sentences import split, windows
from ragassay.errors import UsageError
from ragassay.records.document import Document

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


def doc(text: str) -> Document:
    return Document(document_id="d", version="1", text=text, parser="p", normaliser="n")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text, sentences",
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. J. Smith paid 3.50 in the U.S. last May. Then he left.",
         ["Dr. J. Smith paid 3.50 in the U.S. last May.", "Then he left."]),
        ('He said "No!" And so?" (Yes.) End', ['He said "No!"', 'And so?"', "(Yes.)", "End"]),
        ("日本語の文。二つ目！三つ目", ["日本語の文。", "二つ目！", "三つ目"]),
        ("हिन्दी वाक्य। दूसरा वाक्य।", ["हिन्दी वाक्य।", "दूसरा वाक्य।"]),
        ("هل هذا سؤال؟ نعم۔ ", ["هل هذا سؤال؟", "نعم۔"]),
        ("hard\nwrapped line. Next\none.\n\nNew paragraph", ["hard\nwrapped line.", "Next\none.", "New paragraph"]),
        ("# Head\ntext here\n- a\n- b. c\n| x |\nend", ["# Head", "text here", "- a", "- b. c", "| x |", "end"]),
        ("wait... what? e.g. this. see http://a.b/c.d now", ["wait...", "what?", "e.g. this. see http://a.b/c.d now"]),
        ("", []), (" \n\t", []), ("...", ["..."]),
    ],
)  # fmt: skip
def test_by_hand(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_windows_by_hand() -> None:
    text = "A one. B two. C three. D four. E five."
    spans = windows(text, window=3, stride=2, longest=80)
    assert [text[start:end] for start, end in spans] == ["A one. B two. C three.", "C three. D four. E five."]
    long = windows("a b c d e. F.", window=1, stride=1, longest=2)
    assert ["a b c d e. F."[start:end] for start, end in long] == ["a b", "c d", "e.", "F."]


MARKED = st.lists(
    st.sampled_from(
        ["Aa bb", "c", ". ", "! ", "。", "\n\n", "\n", " ", "日本", "Dr.", "# H\n", "- x\n", "\u2028", "\x0b", "“", "”"]
    )
    | st.text(max_size=4)
).map("".join)


@given(MARKED, st.integers(1, 5), st.integers(1, 5), st.integers(1, 6))
@settings(deadline=None, max_examples=300)
def test_passages_are_slices_that_hold_everything_and_overlap_as_declared(
    text: str, window: int, stride: int, longest: int
) -> None:
    stride = min(stride, window)
    passages = chunk([doc(text)], chunker="sentences", window=window, stride=stride, longest=longest)
    spans = [(one.sources[0].start, one.sources[0].end) for one in passages]
    assert [one.text for one in passages] == [text[start:end] for start, end in spans]
    assert {one.transform for one in passages} <= {"slice"}
    held = {at for start, end in spans for at in range(start, end)}
    assert {at for at, letter in enumerate(text) if not letter.isspace()} <= held
    units = windows(text, window=1, stride=1, longest=longest)
    for number, (start, end) in enumerate(spans):
        inside = [one for one in units if start <= one[0] and one[1] <= end]
        assert len(inside) == window or number == len(spans) - 1
    for (_, end), (start, _) in pairwise(spans):
        assert len([one for one in units if start <= one[0] and one[1] <= end]) == window - stride


@pytest.mark.parametrize(
    "told, message",
    [({"window": 0}, "window is 0"), ({"stride": 6}, "from 1 to window"), ({"size": 3}, "no parameter 'size'"),
     ({"longest": 0}, "longest is 0")],
)  # fmt: skip
def test_windows_that_would_lose_text_are_refused(told: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        chunk([doc("a")], chunker="sentences", **told)
    assert len(chunk([doc("a. b.")], chunker="sentences", window=1)) == 1 + 0 * len(told)


def test_long_texts_are_cut_in_linear_time() -> None:
    for text in ("word. " * 100_000, "x" * 500_000, ". " * 200_000, "ก" * 200_000, "\n" * 500_000, "Mr. " * 100_000):
        windows(text, window=5, stride=3, longest=80)


@pytest.mark.shared
def test_edges_are_mostly_those_that_people_set() -> None:
    path = DATA / "clapnq" / "clapnq_dev_answerable.jsonl"
    if not path.exists():
        pytest.skip("needs ../shared/data/clapnq")
    right = made = wanted = 0
    for line in path.read_text("utf-8").splitlines():
        for passage in json.loads(line)["passages"]:
            sentences = [" ".join(one.split()) for one in passage["sentences"] if one.strip()]
            text, ends, at = " ".join(sentences), set(), 0
            for one in sentences:
                at += len(one)
                ends.add(at)
                at += 1
            found = {end for _, end in split(text)}
            right, made, wanted = right + len(found & ends), made + len(found), wanted + len(ends)
    assert right / made > 0.93  # pysbd 0.3.4 on its first 60 passages: 0.986 and 0.911
    assert right / wanted > 0.86
