"""Cranfield to documents.jsonl and ragassay.toml; its topics and qrels are read as they are: 225 questions.

    python examples/cranfield.py ../shared/data/cranfield out/cranfield
    ragassay run --config out/cranfield/ragassay.toml

Two traps. The topics print 1, 2, 4, 8 ... 365, but the qrels count 1 to 225: they join by *position* (the
settings say so; by the printed number the reader refuses). The file of abstracts has no single root element, so it is
not XML: here its `<doc>` blocks are read one by one. Two abstracts are empty, and one of them is judged relevant.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import write_lines, write_settings

MEASURES = ("ndcg@10", "recall(rel=1)@20", "recall(rel=1)@100", "precision(rel=1)@10", "rr(rel=1)@100", "judged@10")
_DOC = re.compile(r"<doc>(.*?)</doc>", re.DOTALL)


def documents(text: str) -> Iterator[dict[str, Any]]:
    """The abstracts; a text begins with its title already, and the empty one stays empty."""
    for block in _DOC.finditer(text):
        number, title, body = (_field(block[1], name) for name in ("docno", "title", "text"))
        title = " ".join(title.split())
        made = {"document_id": number.strip(), "text": body.strip(), "tenants": ["*"]}
        yield made | ({"title": title} if title else {})


def _field(block: str, name: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>", block, re.DOTALL)
    return found[1] if found else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with cran.all.1400.xml, cran.qry.xml, cranqrel.trec.txt")
    parser.add_argument("out", type=Path, help="folder to write")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    text = (given.data / "cran.all.1400.xml").read_text("utf-8")
    count = write_lines(given.out / "documents.jsonl", documents(text))
    for source, name in (("cran.qry.xml", "topics.xml"), ("cranqrel.trec.txt", "qrels.txt")):
        shutil.copyfile(given.data / source, given.out / name)
    write_settings(
        given.out, "cranfield.py", name="cranfield", size=2000, overlap=0, top_k=100, completeness="partial",
        benchmark='topics = "topics.xml"\nqrels = "qrels.txt"\njoin = "position"', measures=MEASURES,
    )  # fmt: skip
    print(f"{count} documents and 225 topics in {given.out}")
    print(f"next: ragassay run --config {given.out / 'ragassay.toml'}")


if __name__ == "__main__":
    main()
