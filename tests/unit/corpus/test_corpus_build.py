from pathlib import Path

import pytest

from ragassay.corpus import build, chunk, load, load_passages, read_jsonl, segment
from ragassay.corpus.build import load_entries
from ragassay.errors import InputError, IntegrityError
from ragassay.records.document import Corpus, Document, Segmentation
from ragassay.store import Store


def doc(document_id: str, text: str, **more) -> Document:
    return Document(document_id=document_id, text=text, **{"version": "1", "parser": "p", "normaliser": "n", **more})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def test_a_corpus_comes_back_as_it_went_in_and_its_order_does_not_count(store: Store) -> None:
    documents = [doc("a", "one"), doc("b", "", tenants=("t",)), doc("a", "two", version="2")]
    corpus, digest = build(store, documents, name="c")
    assert load(store, corpus) == documents
    assert store.ref("corpus/c") == digest
    assert store.get_record(Corpus, digest) == corpus
    again, _ = build(store, documents[::-1], name="d", mode="referenced")
    assert again.digest == corpus.digest
    with pytest.raises(InputError, match="referenced"):
        load(store, again)
    assert len(load_entries(store, again)) == 3


def test_the_digest_tells_text_access_and_description_apart(store: Store) -> None:
    variants = [doc("a", "one"), doc("a", "two"), doc("a", "one", tenants=("*",)), doc("a", "one", title="t")]
    digests = {build(store, [one], name="c")[0].digest for one in variants}
    assert len(digests) == 4


def test_default_tenants_are_stored_in_each_document(store: Store) -> None:
    corpus, _ = build(store, [doc("a", ""), doc("b", "", tenants=())], name="c", default_tenants=["*"])
    assert [one.tenants for one in load(store, corpus)] == [("*",), ()]
    assert corpus.default_tenants == ("*",)


def test_raw_bytes_of_lossy_documents_are_kept(store: Store, tmp_path: Path) -> None:
    raw = b'{"document_id": "a", "text": "\xff"}'
    (tmp_path / "d.jsonl").write_bytes(raw)
    found = read_jsonl(tmp_path / "d.jsonl")
    with pytest.raises(InputError, match="raw bytes"):
        build(store, list(found), name="c")
    corpus, _ = build(store, found, name="c")
    (one,) = load(store, corpus)
    assert one.raw
    assert store.get(one.raw) == raw


def test_refusals(store: Store) -> None:
    with pytest.raises(InputError, match="no documents"):
        build(store, [], name="c")
    with pytest.raises(InputError, match="twice"):
        build(store, [doc("a", "x"), doc("a", "y")], name="c")


def test_a_segmentation_is_recorded_with_all_that_the_chunker_was_told(store: Store) -> None:
    documents = [doc("a", "one two three"), doc("b", "")]
    corpus, _ = build(store, documents, name="c")
    segmentation, digest = segment(store, corpus, documents, name="s", size=2, overlap=1)
    assert store.ref("segmentation/s") == digest
    assert store.get_record(Segmentation, digest) == segmentation
    assert load_passages(store, segmentation) == chunk(documents, size=2, overlap=1)
    assert [one.text for one in load_passages(store, segmentation)] == ["one two", "two three"]
    assert segmentation.parameters == {"size": 2, "overlap": 1, "tokenizer": "word/1"}
    assert (segmentation.corpus, segmentation.passages) == (corpus.digest, 2)


def test_lines_that_are_not_those_of_the_digest_are_found(store: Store) -> None:
    corpus, _ = build(store, [doc("a", "one")], name="c")
    other, _ = build(store, [doc("a", "two")], name="d")
    forged = Corpus(digest=corpus.digest, documents=1, mode="embedded", blob=other.blob)
    with pytest.raises(IntegrityError, match="not those"):
        load(store, forged)
