"""A parser: fortune files, texts with a line `%` between them."""

from collections.abc import Iterator
from pathlib import Path

from ragassay.errors import InputError


def parse(path: Path) -> Iterator[dict[str, str] | InputError]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise InputError(f"cannot be read: {cause}", file=str(path), hint="a text file in UTF-8") from cause
    line = 1
    for number, part in enumerate(text.split("\n%\n"), 1):
        if part.strip():
            yield {"document_id": f"{path.stem}-{number}", "text": part.strip("\n")}
        else:
            yield InputError("an empty fortune", file=str(path), line=line, hint="remove one of the % lines")
        line += part.count("\n") + 2
