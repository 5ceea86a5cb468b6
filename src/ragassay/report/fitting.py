"""Parts of a text that fit into a number of bytes, and the names of those that do not. Cuts no part."""

from __future__ import annotations

from collections.abc import Iterable

BETWEEN = 2
"""Bytes of the blank line between two parts."""


def fitting(parts: Iterable[tuple[str, str]], room: int, *, past_a_gap: bool = False) -> tuple[list[str], list[str]]:
    """(texts that fit, names of those left out) of (name, text), in order, each with the blank line behind it.

    After the first that does not fit, none is taken, unless `past_a_gap`: then a later one that fits is.
    """
    kept: list[str] = []
    left: list[str] = []
    for name, text in parts:
        size = len(text.encode()) + BETWEEN
        if size <= room and (past_a_gap or not left):
            kept.append(text)
            room -= size
        else:
            left.append(name)
    return kept, left


def left_out(names: Iterable[str]) -> str:
    """The sentence that names what did not fit."""
    return f"**Left out for want of room: {', '.join(names)}.**"
