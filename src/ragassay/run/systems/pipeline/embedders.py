"""What turns texts into vectors: the protocol, what every embedder promises, and how one is named. Ranks nothing."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ragassay.errors import UsageError
from ragassay.extensions import extension_names, load_extension, unknown_name
from ragassay.records.text import clean, many
from ragassay.run.foreign import foreign

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EMBEDDERS = "ragassay.embedders"
"""Entry point group: a class or function that takes settings and returns an embedder."""
KINDS = ("wordllama", "minilm", "endpoint")
"""The built-in ones; besides them `module:name`, and the names of the entry point group."""


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors. `ragassay.contracts.embedder.check_embedder` says whether something is one."""

    @property
    def identity(self) -> str:
        """Name, version, digest of the weights, dimensions, pooling, prefix: everything that changes a vector."""
        ...

    @property
    def dimensions(self) -> int:
        """Numbers in a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dimensions), each row of unit length; a text that is empty or white space only is a row of zeros.

        A row depends on its text alone, not on those beside it.
        """
        ...


class TextEmbedder:
    """What every embedder here shares: prefix, blank texts, unit length, and a check of what came back."""

    told = False
    """Whether the identity names all that decides a vector, weights included; else vectors that were kept are tried."""

    def __init__(self, identity: str, dimensions: int, *, prefix: str = "") -> None:
        check_whole("dimensions", dimensions, 1)
        if not isinstance(prefix, str):
            raise UsageError(f"the prefix is {prefix!r}", field="prefix", hint='a text, such as "query: "')
        self.identity = f"{identity}; prefix {prefix!r}" if prefix else identity
        self.dimensions = dimensions
        self.prefix = prefix

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, dimensions) as in `Embedder`."""
        return self.embed_counted(texts)[0]

    def embed_counted(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """The vectors, and how many requests went to an endpoint for them."""
        import numpy as np

        kept = [number for number, one in enumerate(texts) if one.strip()]
        made = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        calls = 0
        if kept:
            raw, calls = self.raw_vectors([self.prefix + clean(texts[number]).text for number in kept])
            made[kept] = unit(raw, (len(kept), self.dimensions), self.identity)
        return made, calls

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:  # noqa: ARG002  by the protocol
        """One matrix a text, (tokens, dimensions) with rows of unit length; UsageError where there are none."""
        raise UsageError(
            f"{self.identity.split(' ')[0]} has no vectors of tokens",
            field="embedder",
            hint='late interaction needs them: use "minilm" or "wordllama"',
        )

    def cut_off(self, texts: Sequence[str]) -> int | None:  # noqa: ARG002  by the protocol
        """How many of these texts are longer than what is read of them; None if that is not known."""
        return None

    def close(self) -> None:
        """Let go of what is open; an embedder that is asked again opens it again."""

    def raw_vectors(self, texts: list[str]) -> tuple[Any, int]:
        """Vectors of texts that are not blank, of any length, and the requests that were sent."""
        raise NotImplementedError


def check_whole(field: str, value: Any, least: int, most: int | None = None) -> None:
    """UsageError unless the value is a whole number, `least` or more and `most` or less."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        hint = f"a whole number, {least} or more" if most is None else f"a whole number, {least} to {most}"
        raise UsageError(f"{field} is {value!r}", field=field, hint=hint)


def unit(vectors: Any, shape: tuple[int, int], who: str) -> NDArray[np.float32]:
    """Rows of length 1 (computed in float64; a row of zeros stays one); UsageError if they cannot be vectors."""
    import numpy as np

    try:
        found = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as cause:
        raise UsageError(
            f"{who} returned no table of numbers: {cause}", field="embedder", hint="one list of numbers for each text"
        ) from None
    if found.shape != shape:
        wrong = f"{shape[0]} texts gave a table of {' x '.join(map(str, found.shape)) or 'nothing'}"
        raise UsageError(
            f"{who}: {wrong}, not {shape[0]} x {shape[1]}",
            field="embedder",
            hint="one vector for each text, each with the dimensions that are declared",
        )
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise UsageError(f"{who}: vector {row} holds NaN or infinity", field="embedder", hint="no vector is better")
    largest = np.abs(found).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(found, largest, out=np.zeros_like(found), where=largest > 0)
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    rows: NDArray[np.float64] = np.divide(scaled, lengths, out=np.zeros_like(scaled), where=lengths > 0)
    return rows.astype(np.float32)


def token_rows(given: Any, texts: Sequence[str], whose: Embedder) -> list[NDArray[np.float32]]:
    """One matrix of unit rows a text; UsageError where what came is something else."""
    import numpy as np

    found = list(given) if isinstance(given, Iterable) else []
    if len(found) != len(texts):
        raise UsageError(
            f"{whose.identity}: {many(len(texts), 'text')}, {many(len(found), 'matrix', 'matrices')} of token vectors",
            field="embedder",
            hint="one matrix for each text",
        )
    none = np.zeros((0, whose.dimensions), dtype=np.float32)
    sizes = [len(one) if hasattr(one, "__len__") else -1 for one in found]
    return [
        unit(one, (size, whose.dimensions), f"{whose.identity}, token vectors") if size else none
        for one, size in zip(found, sizes, strict=True)
    ]


class FunctionEmbedder(TextEmbedder):
    """A function of the user's: `texts -> vectors`. Its source and the values that it keeps are its identity.

    Dimensions that are not given are those of the vector of a probe.
    """

    def __init__(
        self, spec: str, function: Callable[[list[str]], Any], *, dimensions: int | None = None, prefix: str = ""
    ) -> None:
        self._function = function
        super().__init__(f"{spec} {_state(function)}", dimensions or self._probe(spec), prefix=prefix)
        self.identity = f"{self.identity}; {self.dimensions} d"

    def _probe(self, spec: str) -> int:
        import numpy as np

        with foreign(f"{spec}, asked for the vector of one word,", "embedder"):
            found = np.asarray(self.raw_vectors(["probe"])[0])
        if found.ndim != 2 or found.shape[0] != 1 or not found.shape[1]:
            raise UsageError(
                f"{spec} returned no vector for one text",
                field="embedder",
                hint="def embed(texts): return [[...], ...]",
            )
        return int(found.shape[1])

    def raw_vectors(self, texts: list[str]) -> tuple[Any, int]:
        """Whatever the function returns."""
        return self._function(texts), 0


class ForeignEmbedder(TextEmbedder):
    """An embedder object of somebody else: its vectors are checked, and its package is part of its identity."""

    def __init__(self, inner: Embedder, whose: str) -> None:
        with foreign(f"{whose[:200]}, asked for its identity and dimensions,", "embedder"):
            identity, dimensions = getattr(inner, "identity", None), getattr(inner, "dimensions", None)
            embeds = callable(getattr(inner, "embed", None))
        if not isinstance(identity, str) or not identity or not embeds:
            raise UsageError(
                f"{whose} is no embedder", field="embedder", hint="it needs identity, dimensions and embed"
            )
        if isinstance(dimensions, bool) or not isinstance(dimensions, int) or dimensions < 1:
            raise UsageError(f"{whose} says no dimensions", field="embedder", hint="dimensions is a whole number")
        self._inner = inner
        super().__init__(f"{identity} ({whose})", dimensions)

    def raw_vectors(self, texts: list[str]) -> tuple[Any, int]:
        """Of the object."""
        return self._inner.embed(texts), 0

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Of the object, if it has them."""
        inner: Callable[[Sequence[str]], Any] | None = getattr(self._inner, "token_vectors", None)
        return token_rows(inner(texts), texts, self) if callable(inner) else super().token_vectors(texts)

    def cut_off(self, texts: Sequence[str]) -> int | None:
        """Of the object, if it says."""
        inner: Callable[[Sequence[str]], Any] | None = getattr(self._inner, "cut_off", None)
        with foreign(f"cut_off of {self.identity[:200]}", "embedder"):
            found = inner(texts) if callable(inner) else None
        if found is not None and (isinstance(found, bool) or not isinstance(found, int) or found < 0):
            raise UsageError(
                f"cut_off of {self.identity[:200]} returned {type(found).__name__}",
                field="embedder",
                hint="how many of the texts are longer than what is read, or None if that is not known",
            )
        return found

    def attach(self, conditions: Any) -> None:
        """Hand the conditions of a run on, if they are wanted."""
        attach: Callable[[Any], None] | None = getattr(self._inner, "attach", None)
        if callable(attach):
            attach(conditions)

    def close(self) -> None:
        """Close the object, if it can be closed; what goes wrong then changes nothing any more."""
        close: Callable[[], Any] | None = getattr(self._inner, "close", None)
        if callable(close):
            with suppress(Exception, SystemExit):
                close()


def embedder(kind: str, *, folder: Path | None = None, **settings: Any) -> TextEmbedder:
    """The embedder that a name and its settings mean.

    `kind`: "wordllama" (dimensions 64, 128, 256), "minilm" (max_tokens, batch_size, threads), "endpoint" (url, model,
    dimensions and more), "module:name" (a function texts -> vectors, a class, or an object with `embed`; modules are
    looked for in `folder`), or a name of the entry point group. All take `prefix`.

    Raises UsageError for unknown names and settings, MissingExtraError where a package is not installed.
    """
    if kind in KINDS:
        built: TextEmbedder = _made(kind, _built_in(kind), settings)
        return built
    if ":" in kind:
        return _of_module(kind, folder, settings)
    extension = load_extension(EMBEDDERS, kind)
    if extension is None:
        raise unknown_name("embedder", kind, sorted({*KINDS, *extension_names(EMBEDDERS)}), EMBEDDERS)
    return ForeignEmbedder(_made(kind, extension.value, settings), extension.identity)


def _built_in(kind: str) -> type[TextEmbedder]:
    if kind == "endpoint":
        from ragassay.run.systems.pipeline.embedding_endpoint import EndpointEmbedder

        return EndpointEmbedder
    from ragassay.run.systems.pipeline import local_models

    return local_models.WordLlamaEmbedder if kind == "wordllama" else local_models.MiniLmEmbedder


def _of_module(spec: str, folder: Path | None, settings: dict[str, Any]) -> TextEmbedder:
    from ragassay.run.systems.python import load_object, module_digest

    found = load_object(spec, folder=folder, field="embedder")
    if inspect.isclass(found):
        found = _made(spec, found, settings)
        settings = {}
    if hasattr(found, "embed"):
        if settings:
            raise UsageError(
                f"{spec} is made already and takes no settings", field=min(settings), hint="leave them out"
            )
        return ForeignEmbedder(found, f"{spec} {module_digest(spec) or 'no source'}")
    if not callable(found):
        raise UsageError(f"{spec} is not callable", field="embedder", hint="def embed(texts): return [[...], ...]")
    own = {key: settings.pop(key) for key in ("dimensions", "prefix") if key in settings}
    return FunctionEmbedder(spec, functools.partial(found, **settings) if settings else found, **own)


def _made(kind: str, maker: Callable[..., Any], settings: dict[str, Any]) -> Any:
    """What a class or function makes of settings; a UsageError about those that it does not know."""
    try:
        inspect.signature(maker).bind(**settings)
    except TypeError as cause:
        known = [one for one in inspect.signature(maker).parameters if one not in ("self", "transport", "settings")]
        raise UsageError(
            f"the embedder {kind!r}: {cause}", field="embedder", hint=f"its settings: {', '.join(known) or 'none'}"
        ) from None
    except ValueError:  # a callable without a signature
        pass
    with foreign(f"{kind!r}, as it was made,", "embedder"):
        return maker(**settings)


def _state(function: Callable[..., Any]) -> str:
    """The digest of the source of a function and of the plain values that it keeps."""
    from ragassay.records.canonical import digest_of
    from ragassay.redact import Redaction
    from ragassay.run.systems.python import captured, source_digest

    kept, _ = Redaction().value(captured(function))
    return digest_of([source_digest(function) or "no source", repr(kept)])
