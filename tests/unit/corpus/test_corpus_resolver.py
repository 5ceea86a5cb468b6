from hypothesis import given
from hypothesis import strategies as st

from ragassay.corpus import Resolver, chunk, standing, visible
from ragassay.records.case import Principal
from ragassay.records.document import Acl, Document, DocumentRef, Span
from ragassay.records.trace import Item


def doc(document_id: str, text: str, **more) -> Document:
    values = {"version": "1", "tenants": ("*",), "parser": "p", "normaliser": "n", **more}
    return Document(document_id=document_id, text=text, **values)


def span(document_id: str, start: int, end: int, version: str = "1") -> Span:
    return Span(document_id=document_id, version=version, start=start, end=end)


def test_exact_text_keeps_all_documents_of_equal_text_and_equal_authorization() -> None:
    documents = [doc("a", "one two three"), doc("b", "one two three"), doc("c", "unlike the others")]
    found = Resolver(documents, chunk(documents, size=2, overlap=0)).by_text("one two")
    assert found.sources == (span("a", 0, 7), span("b", 0, 7))
    assert (found.resolution, found.transform, found.passage_id) == ("exact", "slice", "a@1:0-7")
    whole = Resolver(documents).by_text(" two three\n")
    assert whole.sources == (span("a", 4, 13), span("b", 4, 13))


def test_equal_text_under_other_authorization_is_ambiguous() -> None:
    documents = [doc("a", "same"), doc("b", "same", tenants=("t",))]
    for passages in ([], chunk(documents)):
        found = Resolver(documents, passages).by_text("same")
        assert (found.resolution, found.sources, found.reason) == ("unresolved", (), "ambiguous")


def test_text_of_two_versions_means_the_one_valid_at_as_of() -> None:
    old = doc("a", "shared part. old", valid_until="2026-01-01T00:00:00Z")
    new = doc("a", "shared part. new", version="2", valid_from="2026-01-01T00:00:00Z")
    passages = chunk([old, new], size=3, overlap=0)
    for given_passages in ([], passages):
        assert Resolver([old, new], given_passages).by_text("shared part.").reason == "ambiguous"
        at = Resolver([old, new], given_passages, as_of="2026-06-01T00:00:00Z")
        assert at.by_text("shared part.").sources == (span("a", 0, 12, "2"),)
        assert at.by_document("a").sources == (span("a", 0, 16, "2"),)
    assert Resolver([old, new]).by_document("a").reason == "ambiguous_version"
    assert Resolver([old, new]).by_document("a", "1").sources == (span("a", 0, 16),)


def test_ids() -> None:
    documents = [doc("a", "one two"), doc("empty", "")]
    resolver = Resolver(documents, chunk(documents))
    assert resolver.by_passage("a@1:0-7") == ((span("a", 0, 7),), "declared", "slice", "a@1:0-7", False, "", None, ())
    assert resolver.by_document("a") == ((span("a", 0, 7),), "declared", "slice", None, True, "", None, ())
    assert resolver.by_document("empty").sources == (span("empty", 0, 0),)
    assert resolver.by_document("b").reason == "unknown_id"
    assert resolver.by_document("a", "9").reason == "unknown_id"
    assert resolver.by_passage("b").reason == "unknown_id"


def test_texts_that_are_nowhere_twice_or_nothing() -> None:
    resolver = Resolver([doc("a", "aaa bcb"), doc("b", "x\x00y")])
    for text, reason in (
        ("", "empty"),
        (" \n", "empty"),
        ("aa", "ambiguous"),
        ("zz", "not_found"),
        ("\ud800", "not_found"),
    ):
        assert resolver.by_text(text)[:2] == ((), "unresolved")
        assert resolver.by_text(text).reason == reason
    assert resolver.by_text("bcb\ud800x").reason == "not_found"
    assert resolver.by_text("x\x00y").sources == (span("b", 0, 3),)


def test_a_decorated_passage_is_found_by_its_text_with_all_its_sources() -> None:
    documents = [doc("a", "# H\n\n## I\n\nbody")]
    resolver = Resolver(documents, chunk(documents, chunker="markdown"))
    found = resolver.by_text("# H\n\n## I\n\nbody")
    assert found.transform == "decorated"
    assert found.sources == (span("a", 0, 3), span("a", 5, 15))


@given(st.lists(st.text(alphabet="ab \n", min_size=1, max_size=12), min_size=1, max_size=4), st.data())
def test_what_is_resolved_really_stands_there(texts: list[str], data: st.DataObject) -> None:
    documents = [doc(str(number), text) for number, text in enumerate(texts)]
    source = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(source) - 1))
    wanted = source[start : data.draw(st.integers(start + 1, len(source)))]
    found = Resolver(documents).by_text(wanted)
    places = {
        (one.text, at)
        for one in documents
        for at in range(len(one.text))
        if wanted.strip() and one.text.startswith(wanted.strip(), at)
    }
    assert (found.resolution == "exact") == (len(places) == 1)
    if found.sources:
        by_id = {one.document_id: one.text for one in documents}
        assert {by_id[one.document_id][one.start : one.end] for one in found.sources} == {wanted.strip()}
        assert len(found.sources) == texts.count(next(iter(places))[0])
    Item(item_id="i", rank=1, sources=found.sources, resolution=found.resolution, transform=found.transform)


ANN = Principal(id="ann", tenants=("t1",), roles=("hr",), groups=("g",))


def test_visibility_by_hand() -> None:
    def sees(tenants: tuple[str, ...] | None, acl: Acl | None = None) -> bool:
        return visible(doc("a", "x", tenants=tenants, acl=acl), ANN)

    assert sees(("*",))
    assert sees(("t1", "t2"))
    assert not sees(("t2",))
    assert not sees(None)
    assert not sees(())
    assert not sees(("*",), Acl())
    assert sees(("*",), Acl(users=("ann",)))
    assert sees(("t1",), Acl(roles=("it", "hr")))
    assert sees(("t1",), Acl(groups=("g",)))
    assert not sees(("t1",), Acl(users=("bob",), groups=("h",), roles=("it",)))
    assert not sees(("t2",), Acl(users=("ann",)))
    nobody = Principal(id="x")
    assert not visible(doc("a", "x", tenants=("t1",)), nobody)
    assert visible(doc("a", "x"), nobody)


def test_standing_is_derived_at_as_of() -> None:
    first = doc("a", "1", valid_until="2026-03-01T00:00:00Z")
    second = doc(
        "a",
        "2",
        version="2",
        valid_from="2026-02-01T00:00:00Z",
        supersedes=DocumentRef(document_id="a", version="1"),  # type: ignore[arg-type]
    )

    def at(day: str) -> list[tuple[bool, bool, bool]]:
        return [tuple(one) for one in standing([first, second], f"{day}T00:00:00Z").values()]

    assert at("2026-01-31") == [(False, False, False), (False, False, True)]
    assert at("2026-02-01") == [(True, False, False), (False, False, False)]
    assert at("2026-03-01") == [(True, True, False), (False, False, False)]
