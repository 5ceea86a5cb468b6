"""How a check says what is wrong, and hostile input that every extension must survive. Checks nothing itself."""

from __future__ import annotations

from typing import NoReturn

from ragassay.errors import ContractError

HOSTILE_TEXTS = (
    "", " ", "\n\n\t", "\ufeff", "a", ".", "日本語のテキスト。二つ目。", "ไทยไม่มีช่องว่าง", "שלום \u202eעולם",
    "👩‍👩‍👧" * 50, "x" * 20_000, "a\r\nb\rc\u2028d",
    "\0\x07\x1b[31m", "<script>alert(1)</script>", "word " * 5_000, "# A\n\n## B\n\n| a |\n|---|\n",
)  # fmt: skip
"""Texts that documents really hold: none, white space, no spaces at all, controls, markup, one long word."""


def broken(kind: str, name: str, what: str, hint: str) -> NoReturn:
    """Raise ContractError: which extension, what it did, and what to do about it."""
    raise ContractError(f"{kind} {name}: {what}", hint=hint)


def name_of(extension: object) -> str:
    """What to call an extension in a message."""
    return str(getattr(extension, "__qualname__", type(extension).__qualname__))
