"""A chunker: so many paragraphs a passage."""

import re


def split(text: str, *, paragraphs: int = 1) -> list[tuple[int, int]]:
    found = [(one.start(), one.end()) for one in re.finditer(r"\S(?:[^\n]|\n(?!\s*\n))*", text)]
    groups = [found[at : at + paragraphs] for at in range(0, len(found), paragraphs)]
    return [(group[0][0], group[-1][1]) for group in groups]
