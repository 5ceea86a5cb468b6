"""An answer's sentences with exact offsets, and which of them claim something. Reads no meaning.

Sentences are those of `sentencex` (the segmenter of Wikimedia), within the blocks that blank lines and Markdown make.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from typing import Literal, NamedTuple

from ragassay.claims.marks import blank, definitions
from ragassay.corpus.sentences import blocks, without_space

RULE = "claims/1"
Kind = Literal["claim", "question", "heading", "lead", "mark", "code"]
"""heading: a line of # in Markdown; lead: it ends with a colon; mark: nothing but marks, numbers of a list or signs;
code: between fences."""
LANGUAGES = ("ar", "de", "en", "es", "ja", "zh")
_KANA, _HAN, _ARABIC = re.compile("[\u3040-\u30ff]"), re.compile("[\u3400-\u9fff]"), re.compile("[\u0600-\u06ff]")
_LETTER = re.compile(r"[^\W\d_]")
_SMALL = {
    name: re.compile(rf"\b(?:{words})\b")
    for name, words in {
        "de": "der|die|das|und|ist|nicht|ein|eine|mit|von|auf|für|den|dem|des|im|sich|auch|werden|wurde",
        "en": "the|and|is|are|was|were|not|a|an|with|of|on|for|to|in|that|this|it|be|by|as|from",
        "es": "el|la|los|las|y|es|no|un|una|con|de|en|para|que|por|se|del|al|fue|está|son",
    }.items()
}
_BULLET = re.compile(r"[ \t>]*(?:[-*+•‣◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))[ \t]+")
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:\*\*|__)[^*_\n]{1,200}(?:\*\*|__)[ \t:]*$)", re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_TAIL = re.compile(r"(?P<stop>[.!?])\s+(?P<mark>\[[^\[\]\n]{1,40}\])\Z")
_LONGEST_LOOK = 20_000


class Piece(NamedTuple):
    """A part of an answer: code points `start` to `end`, without white space around it."""

    start: int
    end: int
    kind: Kind


@cache
def splitter() -> str:
    """What cuts, with its version: part of every set of judgements."""
    return f"{RULE} sentencex/{version('sentencex')}"


def split(text: str, language: str | None = None) -> list[Piece]:
    """The sentences of a text in order; they do not overlap, and what no piece covers is white space or a bullet.

    `language` is a code such as `de`; left out, it is guessed from script and small words.

    >>> [("It rains. Does it? Yes:"[a:b], kind) for a, b, kind in split("It rains. Does it? Yes:")]
    [('It rains.', 'claim'), ('Does it?', 'question'), ('Yes:', 'lead')]
    """
    language = language or language_of(text)
    made: list[Piece] = []
    fenced = False
    for start, end, defined in _blocks(text):
        if defined:
            made.append(Piece(*(without_space(text, start, end) or (start, end)), "mark"))
            continue
        block = text[start:end]
        if _FENCE.match(block):
            fenced = not fenced
            kept = without_space(text, start, end)
            made += [Piece(*kept, "code")] if kept else []
            continue
        if not fenced and (bullet := _BULLET.match(block)):
            start += bullet.end()
        for piece in _sentences(text, start, end, language):
            made.append(Piece(*piece, "code" if fenced else _kind(text[slice(*piece)], block)))
    return made


def language_of(text: str) -> str:
    """ar, de, en, es, ja or zh: by script, then by small words; en where nothing says otherwise.

    >>> [language_of(one) for one in ("日本の首都", "他住在北京", "Der Hund ist nicht da", "El perro no es un gato")]
    ['ja', 'zh', 'de', 'es']
    """
    text = text[:_LONGEST_LOOK]
    letters = len(_LETTER.findall(text)) or 1
    kana, han, arabic = (len(one.findall(text)) for one in (_KANA, _HAN, _ARABIC))
    if kana + han > 0.2 * letters:
        return "ja" if kana > 0.05 * (kana + han) else "zh"
    if arabic > 0.2 * letters:
        return "ar"
    found = {name: len(words.findall(text.lower())) for name, words in _SMALL.items()}
    best = max(found, key=lambda name: (found[name], name == "en"))
    return best if found[best] else "en"


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """The blocks of a text, cut where a footnote is defined; the last says whether it is such a line."""
    notes = definitions(text)
    for start, end in blocks(text):
        for one in notes:
            if start < one.end and one.start < end:
                if start < one.start:
                    yield start, one.start, False
                yield max(start, one.start), min(end, one.end), True
                start = min(end, one.end)
        if start < end:
            yield start, end, False


def _sentences(text: str, start: int, end: int, language: str) -> list[tuple[int, int]]:
    """Sentences between two places; a mark before a small letter begins the next one: `It rains. [2] says so.`"""
    import sentencex

    found = sentencex.get_sentence_boundaries(language, text[start:end])
    spans = [(start + one["start_index"], start + one["end_index"]) for one in found]
    made = [kept for one in spans if (kept := without_space(text, *one))]
    for place in range(1, len(made)):
        (first, last), (follows, stop) = made[place - 1], made[place]
        tail = _TAIL.search(text, first, last)
        if tail and text[follows].islower() and tail.start() > first:
            made[place - 1], made[place] = (first, tail.end("stop")), (tail.start("mark"), stop)
    return made


def _kind(sentence: str, block: str) -> Kind:
    if _HEADING.match(block):
        return "heading"
    plain = blank(sentence).rstrip(" \t\r\n\"'”’»)*_")
    if not _LETTER.search(plain):
        return "mark"
    if plain.endswith(("?", "？", "؟")):
        return "question"
    return "lead" if plain.endswith((":", "：")) else "claim"
