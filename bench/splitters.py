"""The text splitters of LangChain and LlamaIndex, as they come, over real pages; nothing is downloaded.

Token splitters use the encoding, sentence splitters the model, that llama-index-core ships in its package. The semantic
splitter gets an embedding of word counts, since where it cuts does not matter here.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Page(NamedTuple):
    """One document: its id, title, and text with the title as a first heading."""

    id: str
    title: str
    text: str


class Chunk(NamedTuple):
    """What a splitter made of a page. `start` is its own word for where, if it says so."""

    page: str
    text: str
    start: int | None = None


Splitter = Callable[[Page], Iterable[Chunk]]


def pages(data: Path, name: str) -> list[Page]:
    """Each different page once: CLAPnq's passages, MuSiQue's paragraphs, or WiCE's cited web pages."""
    found = {text: title for title, text in READERS[name](data)}
    return [
        Page(f"{name}-{number}", title, f"# {title}\n\n{text}" if title else text)
        for number, (text, title) in enumerate(found.items())
    ]


def _clapnq(data: Path) -> Iterator[tuple[str, str]]:
    for part in ("answerable", "unanswerable"):
        for line in (data / "clapnq" / f"clapnq_dev_{part}.jsonl").read_text("utf-8").split("\n"):
            for passage in json.loads(line)["passages"] if line else ():
                yield passage["title"], passage["text"]


def _musique(data: Path) -> Iterator[tuple[str, str]]:
    for line in (data / "musique" / "musique.json").read_text("utf-8").split("\n"):
        for paragraph in json.loads(line)["paragraphs"] if line else ():
            yield paragraph["title"], paragraph["paragraph_text"]


def _wice(data: Path) -> Iterator[tuple[str, str]]:
    for line in (data / "wice" / "claim_dev.jsonl").read_text("utf-8").split("\n"):
        if line:
            yield "", "\n".join(json.loads(line)["evidence"])


READERS: dict[str, Callable[[Path], Iterator[tuple[str, str]]]] = {
    "clapnq": _clapnq,
    "musique": _musique,
    "wice": _wice,
}


def splitters() -> dict[str, Splitter]:
    """Every splitter by name. ImportError names the package that is missing."""
    import llama_index.core

    shipped = Path(llama_index.core.__file__).parent / "_static"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(shipped / "tiktoken_cache")
    os.environ["NLTK_DATA"] = str(shipped / "nltk_cache")
    return {**_langchain(shipped), **_llamaindex()}


def _langchain(shipped: Path) -> dict[str, Splitter]:
    import langchain_text_splitters as lc
    import nltk.data
    from langchain_text_splitters.nltk import NLTKTextSplitter

    nltk.data.path.append(str(shipped / "nltk_cache"))
    heads = [("#", "h1"), ("##", "h2"), ("###", "h3")]
    tags = [("h1", "h1"), ("h2", "h2"), ("h3", "h3")]
    markdown = lc.MarkdownHeaderTextSplitter(heads)
    small = lc.RecursiveCharacterTextSplitter(chunk_size=300, chunk_overlap=40)
    whole_html = lc.HTMLHeaderTextSplitter(tags)
    kept = lc.HTMLSemanticPreservingSplitter(tags, max_chunk_size=500)
    sections = lc.HTMLSectionSplitter(tags)

    def indexed(splitter: Any) -> Splitter:
        return lambda page: [
            Chunk(page.id, one.page_content, one.metadata["start_index"])
            for one in splitter.create_documents([page.text])
        ]

    def texts(split: Callable[[str], Iterable[Any]]) -> Splitter:
        return lambda page: [Chunk(page.id, getattr(one, "page_content", one)) for one in split(page.text)]

    def web(splitter: Any) -> Splitter:
        return texts(lambda text: splitter.split_text(_as_html(text)))

    return {
        "lc Recursive 500/50": indexed(
            lc.RecursiveCharacterTextSplitter(chunk_size=500, chunk_overlap=50, add_start_index=True)
        ),
        "lc Recursive 200/0, no separators": indexed(
            lc.RecursiveCharacterTextSplitter(
                chunk_size=200, chunk_overlap=0, keep_separator=False, add_start_index=True
            )
        ),
        "lc Character, by line": texts(
            lc.CharacterTextSplitter(separator="\n", chunk_size=400, chunk_overlap=80).split_text
        ),
        "lc Character, by word": texts(
            lc.CharacterTextSplitter(separator=" ", chunk_size=300, chunk_overlap=30).split_text
        ),
        "lc Token cl100k 64/8": texts(
            lc.TokenTextSplitter(encoding_name="cl100k_base", chunk_size=64, chunk_overlap=8).split_text
        ),
        "lc Token o200k 128/16": texts(
            lc.TokenTextSplitter(encoding_name="o200k_base", chunk_size=128, chunk_overlap=16).split_text
        ),
        "lc Recursive by tokens 100/10": texts(
            lc.RecursiveCharacterTextSplitter.from_tiktoken_encoder(
                "cl100k_base", chunk_size=100, chunk_overlap=10
            ).split_text
        ),
        "lc NLTK sentences 400": texts(NLTKTextSplitter(chunk_size=400, chunk_overlap=60).split_text),
        "lc Markdown": texts(lc.MarkdownTextSplitter(chunk_size=400, chunk_overlap=0).split_text),
        "lc MarkdownHeader + Recursive": texts(lambda text: small.split_documents(markdown.split_text(text))),
        "lc HTMLHeader": web(whole_html),
        "lc HTMLSection": web(sections),
        "lc HTMLSemanticPreserving": web(kept),
    }


def _as_html(text: str) -> str:
    made = []
    for line in text.split("\n"):
        level = len(line) - len(line.lstrip("#"))
        if 1 <= level <= 6 and line[level : level + 1] == " ":
            made.append(f"<h{level}>{html.escape(line[level + 1 :])}</h{level}>")
        elif line.strip():
            made.append(f"<p>{html.escape(line)}</p>")
    return f"<html><body>\n{chr(10).join(made)}\n</body></html>"


def _llamaindex() -> dict[str, Splitter]:
    from llama_index.core import Document
    from llama_index.core.node_parser import (
        HierarchicalNodeParser,
        MarkdownNodeParser,
        SemanticSplitterNodeParser,
        SentenceSplitter,
        SentenceWindowNodeParser,
        TokenTextSplitter,
    )
    from llama_index.core.schema import MetadataMode

    def nodes(parser: Any, show: Callable[[Any], str] = lambda node: node.get_content(), **metadata: str) -> Splitter:
        def split(page: Page) -> Iterator[Chunk]:
            """Of a hierarchy `start_char_idx` counts from the parent, so it is left out."""
            about = {"title": page.title or page.id, **metadata} if metadata else {}
            document = Document(text=page.text, id_=page.id, metadata=about)
            for node in parser.get_nodes_from_documents([document]):
                known = show(node) == node.get_content() and not isinstance(parser, HierarchicalNodeParser)
                yield Chunk(page.id, show(node), node.start_char_idx if known else None)

        return split

    def window(node: Any) -> str:
        return str(node.metadata["window"])

    def everything(node: Any) -> str:
        return str(node.get_content(metadata_mode=MetadataMode.ALL))

    return {
        "li SentenceSplitter 128/20": nodes(SentenceSplitter(chunk_size=128, chunk_overlap=20)),
        "li SentenceSplitter 64/0": nodes(SentenceSplitter(chunk_size=64, chunk_overlap=0)),
        "li SentenceSplitter + metadata": nodes(
            SentenceSplitter(chunk_size=160, chunk_overlap=20), everything, file_name="page.md", page_label="7"
        ),
        "li TokenTextSplitter 128/20": nodes(TokenTextSplitter(chunk_size=128, chunk_overlap=20)),
        "li SentenceWindow, window of 3": nodes(SentenceWindowNodeParser(window_size=1), window),
        "li SentenceWindow, sentence": nodes(SentenceWindowNodeParser(window_size=1)),
        "li Markdown": nodes(MarkdownNodeParser()),
        "li Hierarchical 512/128/64": nodes(HierarchicalNodeParser.from_defaults([512, 128, 64], chunk_overlap=10)),
        "li SemanticSplitter": nodes(SemanticSplitterNodeParser(embed_model=_word_counts())),
    }


def _word_counts() -> Any:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class WordCounts(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            vector = [0.0] * 64
            for word in text.lower().split():
                vector[hashlib.sha256(word.encode()).digest()[0] % 64] += 1.0
            return vector

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    return WordCounts()
