"""The check as a person reads it, with the worst of texts."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.benchmark.check import lines
from ragassay.benchmark.check.text import columns
from ragassay.errors import UsageError

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://x.test\x07link\x1b]8;;\x07",
    "a\nWRONG  0 cases",
    "a\r\x08\x7f\x9b31m",
    "\u202egnp.exe",
    "zero\u200bwidth\u2060\ufeff",
    "tag\U000e0041\U000e0042",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "x" * 500,
    "\ud800".encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
)


def printable(found: Any) -> list[str]:
    out = lines(found)
    for line in out:
        for sign in line:
            assert unicodedata.category(sign) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}, (line, sign)
    return out


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_ids_questions_answers_and_titles_print_as_text(hands: Any, text: str) -> None:
    documents = [hands.doc(f"{text}d"[:500], f"# {text}\n\nx", title=text, metadata={"type": text, "language": text})]
    asker = {"id": text, "tenants": [text]}
    cases = [
        hands.case(
            f"{text}{number}"[-500:], f"{text} and more words", hands.label("gone", id=text[:250]),
            hands.label(documents[0].document_id, id="x"), slice=[text, f"{text[:200]}={text[:200]}"], principal=asker,
            answers=[{"text": text}], facts=[{"id": text[:250], "any_of": [[text[:250]]]}],
        )
        for number in range(2)
    ]  # fmt: skip
    found = hands.run(cases, documents, dev=[hands.case(text, f"{text} and more words", principal=asker)], name=text)
    assert {"dangling", "duplicate", "leaked", "dangling_fact"} <= hands.levels(found).keys()
    out = printable(found)
    assert max(len(line) for line in out) < 700
    assert not any(line.startswith("WRONG  0 cases") for line in out), "no question forges a finding"


@given(st.text(min_size=1, max_size=60).filter(lambda text: text.isprintable() or "\ud800" not in text))
def test_no_text_is_printed_raw(hands: Any, text: str) -> None:
    clean = text.encode("utf-8", "replace").decode("utf-8")
    printable(hands.run([hands.case(clean, clean, hands.label(clean), slice=[clean])]))


def test_findings_come_first_and_the_gravest_on_top(hands: Any) -> None:
    found = hands.run([hands.case("a", "1?", hands.label("gone")), hands.case("b", "2?")], completeness="unknown")
    levels = [one.level for one in found.findings]
    assert levels == sorted(levels, key=["wrong", "weak", "note"].index)
    assert [one.code for one in found.wrong] == ["dangling"]
    out = lines(found)
    assert out[5] == "WRONG  1 label on a document or version that the corpus does not hold  [dangling]"
    assert "       a/e1 (gone)" in out
    assert "  why: it is relevant and stays in the denominator, so no system can reach full recall" in out
    assert all(one.why and one.do for one in found.findings)


def test_long_lists_are_cut_on_the_screen_only(hands: Any) -> None:
    cases = [hands.case(f"q{number:02}", f"question {number}?", slice=[f"s{number}"]) for number in range(30)]
    found = hands.run(cases)
    out = "\n".join(lines(found))
    assert "q07, and 22 more" in out
    assert "and 15 more values" in out
    assert hands.levels(found)["unlabelled"] == ("weak", 30)
    assert len(hands.places(found, "unlabelled")) == 30


def test_columns_count_wide_signs_as_two() -> None:
    assert columns([("費率", "1"), ("abc", "10")]) == ["  費率   1", "  abc   10"]


def test_what_does_not_fit_together_is_refused(hands: Any) -> None:
    from ragassay.benchmark.check import check
    from ragassay.records.canonical import digest_text
    from ragassay.records.document import Segmentation

    own = hands.split([hands.case("a", "1?")])
    with pytest.raises(UsageError, match="with itself"):
        check(own.benchmark, own.cases, [], against=own)
    foreign = Segmentation(
        corpus=digest_text("another"), chunker="x", chunker_version="1", parameters={}, passages=0,
        passages_digest=digest_text("p"), blob=digest_text("q"),
    )  # fmt: skip
    with pytest.raises(UsageError, match="another corpus"):
        check(own.benchmark, own.cases, [], segmentation=foreign)
