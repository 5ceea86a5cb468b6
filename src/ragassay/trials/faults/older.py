"""What a document said before: the same length and most of the same words, and other facts. Reads no clock."""

from __future__ import annotations

import re
from collections import defaultdict

from ragassay.trials.faults.chance import place

_EVERY = 4
_LEAST = 4


def older_text(text: str, key: str = "") -> str:
    """An older wording: digits are others, and every fourth word of four letters or more stands for another one of
    the document of the same length (or is spelled backwards). As long as the text, so that every place in it stays.

    The same text and key give the same wording. A text without digits and long words stays as it is.

    >>> older_text("Built in 1998.")
    'Built in 2009.'
    """
    words: dict[int, list[str]] = defaultdict(list)
    for found in _WORD.finditer(text):
        words[len(found[0])].append(found[0])
    count = 0

    def other(found: re.Match[str]) -> str:
        nonlocal count
        word = found[0]
        count += 1
        if count % _EVERY:
            return word
        others = sorted({one for one in words[len(word)] if one.casefold() != word.casefold()})
        if not others:
            return word[::-1]
        return others[int(place(count, f"{key}\n{word}") * len(others))]

    return _DIGIT.sub(lambda one: str((int(one[0]) + 1) % 10), _WORD.sub(other, text))


_WORD = re.compile(rf"[^\W\d_]{{{_LEAST},}}")
_DIGIT = re.compile(r"[0-9]")
