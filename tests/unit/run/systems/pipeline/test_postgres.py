"""The index in a real PostgreSQL: rankings as in memory, filters in SQL, built once, and errors that say what to do."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.run.small import AS_OF, document

from ragassay.errors import InputError, IntegrityError, MissingExtraError, SystemUnderTestError, UsageError
from ragassay.records.case import Principal
from ragassay.records.document import Acl, Document, Passage, Span
from ragassay.run.systems.declared import Secret
from ragassay.run.systems.pipeline import pg_database, postgres
from ragassay.run.systems.pipeline.dense import DenseIndex
from ragassay.run.systems.pipeline.pg_tables import vector_of, vector_text
from ragassay.run.systems.pipeline.postgres import PostgresIndex

from .conftest import Table

OPEN: dict[str, Any] = {"principal": None, "as_of": AS_OF}
TENANTS, GROUPS = ["a", "b", "*", "c\0d"], ["g", "h"]
MOMENTS = ["2025-06-01T00:00:00Z", AS_OF, "2026-08-01T00:00:00.000001Z", "2027-01-01T00:00:00Z"]
METADATA = [1, 1.0, True, "1", "x'; DROP TABLE y; --", "é", ["x", 1], [True, "1"]]


def random_world(seed: int, *, count: int = 300, dimensions: int = 24) -> tuple[list[Document], list[Passage], Table]:
    """Documents with all kinds of access, passages over one or two of them, and vectors with ties and near ties."""
    draw = np.random.default_rng(seed)

    def some(values: list[Any], most: int = 2) -> tuple[Any, ...]:
        return tuple(values[one] for one in draw.permutation(len(values))[: draw.integers(0, most + 1)])

    documents = []
    for number in range(40):
        begin, end = sorted(draw.integers(0, len(MOMENTS), 2).tolist())
        more: dict[str, Any] = {"tenants": None if number % 9 == 0 else some(TENANTS[:3])}
        if number % 3 == 0:
            more["acl"] = Acl(users=some(["u"]), groups=some(GROUPS), roles=some(["r"]))
        if number % 4 == 0:
            more |= {"valid_from": MOMENTS[begin], "valid_until": MOMENTS[end]}
        more["metadata"] = {key: METADATA[draw.integers(len(METADATA))] for key in some(["k", "n'; --"])}
        documents.append(document(f"d{number}", f"document {number}", **more))
    passages, vectors = [], {}
    centre = draw.normal(size=dimensions)
    for number in range(count):
        chosen = draw.permutation(40)[: 1 + number % 2]
        spans = [Span(document_id=documents[one].document_id, version="1", start=0, end=3) for one in chosen]
        if number % 50 == 0:
            spans.append(Span(document_id="gone", version="1", start=0, end=3))  # type: ignore[arg-type]
        text = " " if number % 37 == 0 else f"t{number}"
        passages.append(
            Passage(
                passage_id=f"p{number}",  # type: ignore[arg-type]
                text=text,
                sources=() if number % 60 == 1 else tuple(spans),
                transform="derived",
            )
        )
        if number % 5 == 0 and number:
            vectors[f"t{number}"] = vectors.get(f"t{number - 3}", [1.0] * dimensions)
        elif number % 2:
            vectors[f"t{number}"] = (centre + draw.normal(size=dimensions) * 10.0 ** -draw.integers(3, 9)).tolist()
        else:
            vectors[f"t{number}"] = draw.normal(size=dimensions).tolist()
    for number in range(8):
        vectors[f"q{number}"] = (centre * (number % 2) + draw.normal(size=dimensions) * 0.5).tolist()
    return documents, passages, Table(vectors)


@pytest.fixture
def opened() -> Iterator[list[PostgresIndex]]:
    made: list[PostgresIndex] = []
    yield made
    for one in made:
        one.close()


principals = st.one_of(
    st.none(),
    st.builds(
        Principal,
        id=st.sampled_from(["u", "v", "n\0l"]),
        tenants=st.lists(st.sampled_from(TENANTS), max_size=2).map(tuple),
        groups=st.lists(st.sampled_from([*GROUPS, "\0"]), max_size=2).map(tuple),
        roles=st.lists(st.sampled_from(["r", "s"]), max_size=1).map(tuple),
    ),
)
wheres = st.dictionaries(
    st.sampled_from(["k", "n'; --", "missing", "nul\0"]),
    st.sampled_from([1, 1.0, 2, True, False, "1", "x", "é", METADATA[4], "a\0b"]),
    max_size=2,
)


@pytest.fixture(scope="module")
def both(database: str) -> Iterator[tuple[DenseIndex, PostgresIndex]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGASSAY_TEST_PG", database)
        documents, passages, embedder = random_world(1)
        there = PostgresIndex(documents, passages, embedder, connection={"env": "RAGASSAY_TEST_PG"})
        there.warm()
        yield DenseIndex(documents, passages, embedder), there
        there.close()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.integers(0, 7), st.integers(1, 320), principals, st.sampled_from(MOMENTS), wheres)
def test_the_same_hits_scores_and_counts_as_in_memory(
    both: Any, query: int, top_k: int, who: Any, at: str, where: dict[str, Any]
) -> None:
    here, there = both
    asked = {"top_k": top_k, "principal": who, "as_of": at, "where": where or None}
    assert there.search(f"q{query}", **asked) == here.search(f"q{query}", **asked)


def test_ranking_by_the_databases_own_distance_differs_which_is_why_it_only_finds_candidates(both: Any) -> None:
    here, there = both
    differing = 0
    for query in range(8):
        vector = there.embed(f"q{query}").vectors[0]
        statement = there._sql(
            "SELECT number FROM {passages} WHERE vector IS NOT NULL ORDER BY vector <#> %s::vector, number"
        )
        rows = there._database.work(lambda c, s=statement, v=vector: c.execute(s, [vector_text(v)]).fetchall())
        every = here.search_vector(vector, top_k=1000, principal=None, as_of=AS_OF).hits
        shown = {one.number for one in every}
        naive = [number for (number,) in rows if number in shown]
        scores = {one.number: one.score for one in every}
        assert all(scores[a] >= scores[b] - 1e-5 for a, b in itertools.pairwise(naive))
        differing += naive != [one.number for one in every]
    assert differing


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_every_bit_of_a_vector_survives_the_way_there_as_text(numbers: list[float]) -> None:
    vector = np.array(numbers, dtype=np.float32)
    again = np.array([float(one) for one in vector_text(vector).strip("[]").split(",")], dtype=np.float32)
    assert again.tobytes() == vector.tobytes()


def test_vectors_come_back_bit_for_bit(both: Any) -> None:
    _, there = both
    rows = there._database.work(
        lambda c: c.cursor(binary=True).execute(there._sql("SELECT passage_id, vector FROM {passages}")).fetchall()
    )
    assert len(rows) == 300
    for name, data in rows:
        text = there.passages[int(name[1:])].text
        if not text.strip():
            assert data is None
        else:
            assert vector_of(data).tobytes() == there.embedder.embed([text])[0].tobytes()


def test_it_is_built_once_by_whoever_comes_first(pg: dict[str, str], opened: list[PostgresIndex]) -> None:
    documents, passages, embedder = random_world(2, count=60)
    opened += [PostgresIndex(documents, passages, embedder, connection=pg, schema="once") for _ in range(4)]
    threads = [threading.Thread(target=one.warm) for one in opened]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(one.artefact.envelope.reused for one in opened) == [False, True, True, True]
    assert len({one.artefact.content for one in opened}) == 1
    later = PostgresIndex(documents, passages, embedder, connection=pg, schema="once")
    opened.append(later)
    before = list(embedder.asked)
    assert later.artefact.envelope.reused
    assert later.artefact.envelope.computed == 0
    assert embedder.asked == [*before, "t1"], "one text, to see that it is the same model"
    assert "PostgreSQL" in (later.artefact.envelope.server or "")
    assert "pgvector" in (later.artefact.envelope.server or "")
    assert later.artefact.content == DenseIndex(documents, passages, embedder).content


def test_another_acl_is_another_index_although_the_passages_are_the_same(
    pg: dict[str, str], opened: list[PostgresIndex]
) -> None:
    embedder = Table({"t": [1.0, 0.0], "q": [1.0, 0.0]})
    passage = Passage(
        passage_id="p", text="t", transform="slice",  # type: ignore[arg-type]
        sources=(Span(document_id="d", version="1", start=0, end=1),),  # type: ignore[arg-type]
    )  # fmt: skip
    who = Principal(id="u", tenants=("a",))
    for tenants, hits in ((("a",), 1), (("b",), 0), (("a",), 1)):
        made = PostgresIndex([document("d", "t", tenants=tenants)], [passage], embedder, connection=pg, schema="acl")
        opened.append(made)
        assert len(made.search("q", top_k=5, principal=who, as_of=AS_OF).hits) == hits


def test_hnsw_uses_its_index_keeps_the_filters_and_says_what_it_is(
    pg: dict[str, str], opened: list[PostgresIndex]
) -> None:
    documents, passages, embedder = random_world(3, count=1500)
    exact = DenseIndex(documents, passages, embedder)
    near = PostgresIndex(
        documents, passages, embedder, connection=pg, schema="near", hnsw={"m": 8, "ef_construction": 32}
    )
    opened.append(near)
    assert "hnsw m=8 ef_construction=32 ef_search=40 PostgreSQL" in near.identity
    assert near.artefact.content == exact.artefact.content
    found, wanted = 0, 0
    who = Principal(id="u", tenants=("a",))
    for query in range(8):
        asked: dict[str, Any] = {"top_k": 10, "principal": who, "as_of": AS_OF}
        hits, best = near.search(f"q{query}", **asked), exact.search(f"q{query}", **asked)
        assert hits[1:] == best[1:]
        assert hits.hits == sorted(hits.hits, key=lambda one: (-one.score, one.number))
        scores = {one.number: one.score for one in exact.search(f"q{query}", **{**asked, "top_k": 5000}).hits}
        assert all(scores[one.number] == one.score for one in hits.hits)
        found += len({one.number for one in hits.hits} & {one.number for one in best.hits})
        wanted += len(best.hits)
    assert wanted == 80
    assert found >= 0.5 * wanted  # builds differ; by chance it would be about 0.05
    asked_ = postgres.pg_tables.filter_of(who, AS_OF, None)  # type: ignore[arg-type]
    values = {"vector": vector_text(embedder.embed(["q0"])[0]), "top_k": 10, **asked_.values}

    def plan(connection: Any) -> str:
        with connection.transaction():
            connection.execute("SET LOCAL enable_seqscan = off")
            connection.execute("SET LOCAL enable_sort = off")
            statement = near._sql("EXPLAIN " + postgres.pg_tables.NEAREST, allowed=asked_.allowed)
            return "\n".join(line for (line,) in connection.execute(statement, values).fetchall())

    assert "Index Scan using passages_" in near._database.work(plan)
    assert "_vector_idx" in near._database.work(plan)


def test_an_index_that_somebody_changed_is_refused(pg: dict[str, str], opened: list[PostgresIndex]) -> None:
    documents, passages, embedder = random_world(4, count=20)
    made = PostgresIndex(documents, passages, embedder, connection=pg, schema="changed")
    made.warm()
    opened.append(made)
    for change, words in (
        ("DELETE FROM {passages} WHERE number = 3", "it holds 19 passages instead of 20"),
        ("ALTER TABLE {passages} ALTER vector TYPE vector(3) USING '[1,2,3]'", "has? 3 dimensions, the embedder 24"),
        ("DROP TABLE {passages}", "its tables are gone"),
    ):
        made._database.work(lambda c, s=change: c.execute(made._sql(s)))
        other = PostgresIndex(documents, passages, embedder, connection=pg, schema="changed")
        opened.append(other)
        with pytest.raises(UsageError, match=words.replace("has? ", "have ")):
            other.warm()


def test_an_index_of_another_model_under_the_same_name_is_refused(
    pg: dict[str, str], opened: list[PostgresIndex]
) -> None:
    documents, passages, embedder = random_world(6, count=20)
    opened.append(PostgresIndex(documents, passages, embedder, connection=pg, schema="model"))
    opened[0].warm()
    for name in ("t1", "t3"):
        embedder._vectors[name] = [-one for one in embedder._vectors[name]]
    opened.append(PostgresIndex(documents, passages, embedder, connection=pg, schema="model"))
    with pytest.raises(IntegrityError, match="another vector"):
        opened[1].warm()


def test_a_build_that_fails_leaves_nothing(pg: dict[str, str], opened: list[PostgresIndex]) -> None:
    documents, passages, embedder = random_world(5, count=20)
    bad = [*documents, document("nul", "x", metadata={"k": ["a\0b"]})]
    made = PostgresIndex(bad, passages, embedder, connection=pg, schema="nothing")
    opened.append(made)
    with pytest.raises(InputError, match=r"document 'nul' has a NUL character"):
        made.warm()
    count = made._database.work(
        lambda c: c.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'nothing'").fetchone()
    )
    assert count == (0,)
    good = PostgresIndex([*documents, document("back", r"\x00")], passages, embedder, connection=pg, schema="nothing")
    opened.append(good)
    assert not good.artefact.envelope.reused


def test_a_connection_that_broke_is_replaced(both: Any, server: Any) -> None:
    here, there = both
    assert there.search("q1", top_k=3, **OPEN) == here.search("q1", top_k=3, **OPEN)
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ragassay_tests'")
    assert there.search("q2", top_k=3, **OPEN) == here.search("q2", top_k=3, **OPEN)


@pytest.mark.parametrize(
    "value, error, words",
    [
        (None, UsageError, "RAGASSAY_TEST_PG is not set"),
        ("postgresql://me:pa55word@127.0.0.1:9/none", SystemUnderTestError, "cannot connect to PostgreSQL"),
        ("host=127.0.0.1 pa55word", UsageError, "holds no connection string"),
        ("host=/nowhere/at/all dbname=x password=pa55word", SystemUnderTestError, "see the address in RAGASSAY_TEST"),
    ],
)
def test_a_connection_that_cannot_be_made_says_so_and_keeps_the_secret(
    monkeypatch: pytest.MonkeyPatch, value: str | None, error: Any, words: str
) -> None:
    pytest.importorskip("psycopg")
    if value is None:
        monkeypatch.delenv("RAGASSAY_TEST_PG", raising=False)
    else:
        monkeypatch.setenv("RAGASSAY_TEST_PG", value)
    documents, passages, embedder = random_world(6, count=20)
    made = PostgresIndex(documents, passages, embedder, connection=Secret(env="RAGASSAY_TEST_PG"))
    assert "pgvector exact" in made.identity
    with pytest.raises(error, match=words) as caught:
        made.warm()
    assert "pa55word" not in str(caught.value)
    assert "pa55word" not in repr(made.__dict__)


def test_a_server_without_pgvector_and_a_role_without_rights(
    server: Any, pg: dict[str, str], monkeypatch: pytest.MonkeyPatch, opened: list[PostgresIndex]
) -> None:
    import psycopg

    documents, passages, embedder = random_world(7, count=20)
    with monkeypatch.context() as patch:
        patch.setattr(pg_database, "EXTENSION", "no_such_extension")
        made = PostgresIndex(documents, passages, embedder, connection=pg)
        with pytest.raises(UsageError, match="has no pgvector"):
            made.warm()
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("CREATE DATABASE bare")
    for name, words in (("bare", "let its owner run: CREATE EXTENSION vector"), ("ragassay_tests", "grant the role")):
        uri = server.get_uri(name).replace("postgres:@", "reader:@")
        monkeypatch.setenv("RAGASSAY_TEST_PG", uri)
        one = PostgresIndex(documents, passages, embedder, connection=pg, schema="forbidden")
        opened.append(one)
        with pytest.raises(UsageError, match=words):
            one.warm()


@pytest.mark.parametrize(
    "more, words",
    [
        ({"connection": "postgresql://u:p@h/d"}, r'\{ env = "DATABASE_URL" \}'),
        ({"connection": {"env": "X", "value": "y"}}, "would be stored"),
        ({"schema": "Robert'); DROP"}, "cannot name a schema"),
        ({"schema": "pg_x"}, "cannot name a schema"),
        ({"hnsw": {"n": 4}}, "hnsw has no 'n'"),
        ({"hnsw": {"m": 1}}, "from 2 to 100"),
        ({"hnsw": {"m": True}}, "from 2 to 100"),
        ({"hnsw": {"m": 64, "ef_construction": 64}}, "twice m"),
    ],
)
def test_what_may_not_be_declared(more: dict[str, Any], words: str) -> None:
    documents, passages, embedder = random_world(8, count=5)
    with pytest.raises(UsageError, match=words):
        PostgresIndex(documents, passages, embedder, **{"connection": {"env": "X"}, **more})


def test_more_dimensions_than_pgvector_takes_are_refused_before_anything_is_embedded() -> None:
    documents, passages, _ = random_world(9, count=5)
    for dimensions, hnsw in ((16_001, False), (2_001, True)):
        wide = Table({"t1": [0.0] * dimensions})
        with pytest.raises(UsageError, match=f"the embedder has {dimensions}"):
            PostgresIndex(documents, passages, wide, connection={"env": "X"}, hnsw=hnsw)
        assert not wide.asked


def test_without_psycopg_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    documents, passages, embedder = random_world(10, count=5)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ragassay\[postgres\]'"):
        PostgresIndex(documents, passages, embedder, connection={"env": "X"}).warm()
