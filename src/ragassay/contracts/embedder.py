"""The contract of an embedder (entry point group `ragassay.embedders`), for its author to run. Installs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ragassay.contracts.faults import HOSTILE_TEXTS, broken, name_of
from ragassay.run.systems.pipeline.embedders import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_KIND = "embedder"
_LENGTH_ERROR = 1e-5


def check_embedder(embedder: Embedder, examples: Iterable[str]) -> None:
    """Embed your texts and hostile ones, together, alone, in another order and again.

    Promises: `identity` is a text and `dimensions` a whole number; `embed` gives one float32 row a text, finite and of
    unit length, zeros for a text without anything to read; a text's row is the same to the bit whatever is beside it
    and however often it is asked for; nothing is raised for any text; the texts given are not changed.

    Raises ContractError for the first promise that is broken.
    """
    name = name_of(embedder)
    identity, dimensions = getattr(embedder, "identity", None), getattr(embedder, "dimensions", None)
    if not isinstance(identity, str) or not identity:
        broken(_KIND, name, f"has the identity {identity!r}", "name, version, weights: all that changes a vector")
    if isinstance(dimensions, bool) or not isinstance(dimensions, int) or dimensions < 1:
        broken(_KIND, name, f"has {dimensions!r} dimensions", "a whole number of 1 or more")
    given = list(examples)
    if not any(one.strip() for one in given):
        broken(_KIND, name, "was given no text", "give examples: texts as your documents and questions hold them")
    texts = [*given, *HOSTILE_TEXTS]
    together = _vectors(embedder, name, texts)
    lengths = (together.astype("f8") ** 2).sum(axis=1) ** 0.5
    for text, length in zip(texts, lengths, strict=True):
        shown = repr(text if len(text) < 60 else text[:57] + "...")
        if not text.strip() and length:
            broken(_KIND, name, f"gives {shown} a vector that is not zero", "there is nothing in it to be near to")
        if text.strip() and text in given and not length:
            broken(_KIND, name, f"gives {shown} a vector of zeros", "a text with letters has a direction")
        if length and abs(length - 1) > _LENGTH_ERROR:
            broken(_KIND, name, f"gives {shown} a vector of length {length:.6g}", "divide by its length")
    alone = [_vectors(embedder, name, [one])[0] for one in texts]
    turned = _vectors(embedder, name, texts[::-1])[::-1]
    for number, text in enumerate(texts):
        for what, row in (("alone", alone[number]), ("in another order", turned[number])):
            if row.tobytes() != together[number].tobytes():
                most = abs(row - together[number]).max()
                shown = repr(text if len(text) < 60 else text[:57] + "...")
                broken(
                    _KIND, name, f"gives {shown} another vector {what} (by up to {most:.2g})",
                    "let a text's vector depend on that text only: no padding that counts, no shared scale",
                )  # fmt: skip


def _vectors(embedder: Embedder, name: str, texts: Sequence[str]) -> NDArray[np.float32]:
    import numpy as np

    sent = list(texts)
    try:
        found: Any = embedder.embed(sent)
    except Exception as cause:  # noqa: BLE001  code of others
        broken(_KIND, name, f"raised {type(cause).__name__}: {cause}", "no text may stop an index from being built")
    if sent != list(texts):
        broken(_KIND, name, "changed the list of texts", "leave it as it came")
    shape = getattr(found, "shape", None)
    if not isinstance(found, np.ndarray) or found.dtype != np.float32 or shape != (len(texts), embedder.dimensions):
        what = f"{getattr(found, 'dtype', type(found).__name__)} of shape {shape}"
        broken(_KIND, name, f"returned {what}", f"float32 of shape {(len(texts), embedder.dimensions)}")
    if not np.isfinite(found).all():
        broken(_KIND, name, "returned NaN or infinity", "a text that cannot be embedded is a row of zeros")
    return found
