"""Counts with their nouns: one helper says them, and no room writes a plural beside a number."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ragassay.records.text import many

ROOT = Path(__file__).parents[3] / "src" / "ragassay"
NOUNS = ("answer", "call", "case", "cell", "character", "column", "document", "estimate", "fact", "item", "label",
         "line", "object", "passage", "problem", "question", "quote", "run", "setting", "token", "topic", "trace",
         "turn", "value")  # fmt: skip
PLURAL = re.compile(rf" (?:more |further )?({'|'.join(NOUNS)})s\b")
COUNTED = re.compile(r"len\(|count|total|^planned|^found\.|^frozen|^self\._total")


@pytest.mark.parametrize(
    "count, words, said",
    [
        (0, ("document",), "0 documents"),
        (1, ("document",), "1 document"),
        (2, ("query",), "2 queries"),
        (2, ("day",), "2 days"),
        (3, ("search",), "3 searches"),
        (3, ("class",), "3 classes"),
        (1, ("line is", "lines are"), "1 line is"),
        (1234, ("line is", "lines are"), "1,234 lines are"),
    ],
)
def test_one_and_many(count: int, words: tuple[str, ...], said: str) -> None:
    assert many(count, *words) == said


def test_no_count_stands_beside_a_plural_that_is_always_one() -> None:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for first, second in (
                zip(node.values, node.values[1:], strict=False) if isinstance(node, ast.JoinedStr) else ()
            ):
                if not isinstance(first, ast.FormattedValue) or not isinstance(second, ast.Constant):
                    continue
                if COUNTED.search(ast.unparse(first.value)) and PLURAL.match(str(second.value)):
                    found.append(f"{path.relative_to(ROOT)}:{first.lineno}: use records.text.many")
    assert found == []
