"""Chunks of LangChain's and LlamaIndex's own splitters, given back as bare texts: how many are tied to their places.

    python -m bench.resolution [clapnq] [musique] [wice]        (all three without names; eight minutes)
    python -m bench.resolution speed                            (10,000 texts, seconds of processor time, memory)

Each page is split by each splitter as it comes; ragassay gets the text of the chunk and nothing else. Some chunks
stand in several places of the corpus (a menu, a short sentence), which no text can tell apart: these are resolved to
all of them (*alike*). *placed* is what is resolved, exactly or aligned, to one place or to several alike; *one* is what
has one place, of all; *named* is what is resolved if the document, but no offset, is named as well.

Every resolved chunk is checked by other means than ours: the page that it was cut from must be among its places, and
what stands in its places, in each of several alike, must be its text (`same_text`); where the splitter says at which
character a chunk begins, its place, or one of them, must begin there. RESOLUTION_DATA names the folder of the data.
"""

from __future__ import annotations

import os
import random
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.splitters import READERS, Chunk, Page, pages, splitters
from rapidfuzz import fuzz

from ragassay.corpus import FLOOR, Resolved, Resolver
from ragassay.records.document import Document, DocumentRef

DATA = Path(os.environ.get("RESOLUTION_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SAME = 90.0


class Checked(NamedTuple):
    """What became of one chunk."""

    outcome: str
    """exact, aligned, or why it is unresolved."""
    score: float | None
    alike: int
    """How many places it stands in alike; 0 of what has one place, or none."""
    named: bool
    """Resolved, if its document is named as well."""
    wrong: str
    """What is wrong about its places; empty if nothing is."""


def documents(of: Iterable[Page]) -> list[Document]:
    """The pages as a corpus that everybody may read."""
    return [
        Document(
            document_id=one.id,  # type: ignore[arg-type]
            version="1",
            text=one.text,
            title=one.title or None,
            tenants=("*",),
            parser="p",
            normaliser="n",
        )
        for one in of
    ]


def bare(text: str) -> str:
    """Letters, digits and marks only, in NFKC; replacement characters left out."""
    kept = unicodedata.normalize("NFKC", text).replace("\ufffd", "")
    return "".join(char for char in kept if not char.isspace() and unicodedata.category(char) not in ("Cf", "Cc"))


def same_text(chunk: str, places: str) -> bool:
    """Whether what stands in the places is the chunk: nine tenths of it, or half of it behind what was put in front."""
    wanted, found = bare(chunk), bare(places)
    behind = bool(found) and wanted.endswith(found) and 2 * len(found) >= len(wanted)
    return wanted == found or behind or (bool(found) and fuzz.ratio(wanted, found) >= SAME)


def check(chunk: Chunk, resolver: Resolver, texts: Mapping[str, str]) -> Checked:
    """Resolve one chunk with and without the name of its document, and compare."""
    found = resolver.by_text(chunk.text)
    home = DocumentRef(document_id=chunk.page, version="1")  # type: ignore[arg-type]
    named = resolver.by_text(chunk.text, within=[home])
    wrong = [_wrong(one, chunk, texts) for one in (found, named) if one.placed]
    outcome = found.resolution if found.placed else found.reason
    return Checked(outcome, found.score, len(found.among), bool(named.placed), "; ".join(filter(None, wrong)))


def _wrong(found: Resolved, chunk: Chunk, texts: Mapping[str, str]) -> str:
    """What is wrong about its places; of several alike each must have the text, and its own must be one of them."""
    if found.among:
        alone = [_wrong(found._replace(sources=(one,), among=()), chunk, texts) for one in found.among]
        if "another text" in (_wrong_text(chunk, texts[one.document_id][one.start : one.end]) for one in found.among):
            return "another text among several"
        return "" if "" in alone else max(alone)
    first = found.sources[0].document_id
    own = [one for one in found.sources if one.document_id == first]
    if chunk.page not in {one.document_id for one in found.sources}:
        return "another page"
    if wrong := _wrong_text(chunk, "".join(texts[one.document_id][one.start : one.end] for one in own)):
        return wrong
    if chunk.start is not None and len(own) == 1:
        lead = len(chunk.text) - len(chunk.text.lstrip().lstrip("\ufffd").lstrip())
        between = texts[chunk.page][min(chunk.start, own[0].start) : max(chunk.start + lead, own[0].start)]
        if between.strip().strip("\ufffd") and own[0].start != chunk.start + lead:
            return "another start"
    return ""


def _wrong_text(chunk: Chunk, places: str) -> str:
    return "" if same_text(chunk.text, places) else "another text"


def measure(
    names: Iterable[str], data: Path = DATA, most: int | None = None, each: int | None = None
) -> dict[tuple[str, str], list[Checked]]:
    """(data set, splitter) -> what became of each chunk; of `each` chunks of `most` pages at random, if given."""
    made: dict[tuple[str, str], list[Checked]] = {}
    every = splitters()
    for name in names:
        of = pages(data, name)
        texts = {one.id: one.text for one in of}
        resolver = Resolver(documents(of), floor=FLOOR)
        for splitter, split in every.items():
            some = of if most is None else random.Random(4).sample(of, min(most, len(of)))
            chunks = [chunk for page in some for chunk in split(page) if bare(chunk.text)]
            if each is not None and len(chunks) > each:
                chunks = random.Random(5).sample(chunks, each)
            made[name, splitter] = [check(one, resolver, texts) for one in chunks]
    return made


HEADS = ("chunks", "exact", "aligned", "lowest", "alike", "lost", "placed %", "one %", "named %", "wrong")


def row(label: str, results: Iterable[Checked]) -> str:
    """One line of the table: counts, then the parts that are resolved, have one place, and are resolved if named."""
    every = list(results)
    counts = Counter(one.outcome for one in every)
    placed, alike = counts["exact"] + counts["aligned"], sum(bool(one.alike) for one in every)
    lowest = min((one.score for one in every if one.score is not None), default=None)
    shares = (placed / len(every), (placed - alike) / len(every), sum(one.named for one in every) / len(every))
    cells = [len(every), counts["exact"], counts["aligned"], "" if lowest is None else f"{lowest:.3f}"]
    cells += [alike, len(every) - placed, *(f"{100 * one:.2f}" for one in shares)]
    return line(label, *cells, sum(bool(one.wrong) for one in every))


def line(label: str, *cells: object) -> str:
    """Cells under their heads."""
    return f"{label:44}" + "".join(f"{one!s:>9}" for one in cells)


def speed(data: Path = DATA, wanted: int = 10_000) -> None:
    """Print seconds for `wanted` texts over the pages of all three data sets, changed in several ways, and memory."""
    import resource

    of = [page for name in READERS for page in pages(data, name)]
    made, rng = documents(of), random.Random(6)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    resolver = Resolver(made, floor=FLOOR)
    resolver.prepare()
    size = sum(len(one.text) for one in of)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    took = time.process_time() - started
    print(f"{len(of):,} documents, {size / 1e6:.1f} million characters, to index: {took:.1f} s, {more:.0f} MB")
    long = [one.text for one in of if len(one.text) > 200]
    texts = []
    for _ in range(wanted):
        text = rng.choice(long)
        start = rng.randrange(len(text) - 150)
        texts.append(text[start : start + rng.randrange(150, 800)])
    for name, change in {
        "as it stands": lambda text: text,
        "white space changed": lambda text: "\n".join(text.split(" ")),
        "heading and metadata in front": lambda text: f"source: x.md\npage: 3\n\n{text}",
        "seven characters replaced": lambda text: f"{text[:80]}#######{text[87:]}",
        "nowhere (reversed)": lambda text: text[::-1],
    }.items():
        changed = [change(one) for one in texts]
        started = time.process_time()
        counts = Counter(resolver.by_text(one).resolution for one in changed)
        print(f"{name:32} {time.process_time() - started:6.1f} s  {dict(counts)}")


def main(names: list[str]) -> int:
    """Print the table; 1 if any chunk was tied to a wrong place."""
    if names == ["speed"]:
        speed()
        return 0
    started = time.perf_counter()
    results = measure(names or list(READERS))
    print(line("data and splitter", *HEADS))
    for (name, splitter), every in results.items():
        print(row(f"{name} {splitter}", every))
    for name in dict.fromkeys(name for name, _ in results):
        print(row(f"{name}, all", [one for (own, _), every in results.items() if own == name for one in every]))
    together = [one for every in results.values() for one in every]
    print(row("all", together))
    lost = Counter(one.outcome for one in together if one.outcome not in ("exact", "aligned"))
    wrong = Counter(one.wrong for one in together if one.wrong)
    print(f"lost: {dict(lost)}; wrong: {dict(wrong)}; {time.perf_counter() - started:.0f} s")
    return int(any(one.wrong for one in together))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
