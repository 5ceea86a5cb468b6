"""Which passages are open to a question: who may see them, what is valid, what the metadata say. Ranks nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ragassay.corpus import visible
from ragassay.errors import UsageError
from ragassay.records.base import Instant, Scalar
from ragassay.records.case import Principal
from ragassay.records.document import Document, Passage
from ragassay.records.text import valid_at

if TYPE_CHECKING:
    import numpy as np

DIGITS = 6
"""Scores are rounded to this many decimals before they are compared, so that ties do not hang on the last bit."""
Where = Mapping[str, Scalar]
"""Metadata that every document of a passage must have; a list in the metadata must hold the value."""


class Hit(NamedTuple):
    """A passage by its number in document order, and its score."""

    number: int
    score: float


class Hits(NamedTuple):
    """What was found, and how many passages were open to this question."""

    hits: list[Hit]
    passages: int
    visible: int
    valid: int
    """Visible and valid at the moment asked for."""
    matching: int | None = None
    """Those of them with the metadata asked for; None where none were asked for."""


class Open(NamedTuple):
    """What may be ranked, and the counts that a step reports."""

    mask: np.ndarray[Any, Any]
    passages: int
    visible: int
    valid: int
    matching: int | None

    def found(self, hits: list[Hit]) -> Hits:
        """These hits with the counts."""
        return Hits(hits, self.passages, self.visible, self.valid, self.matching)


class Openings:
    """Passages with the documents that they come from.

    A passage is open if *all* its documents are; one whose document is not known is shut.
    """

    def __init__(self, documents: Iterable[Document], passages: Sequence[Passage]) -> None:
        if not passages:
            raise UsageError("there are no passages to search", hint="segment the corpus first")
        self.passages = list(passages)
        self._documents = {(one.document_id, one.version): one for one in documents}
        self._open: dict[Any, np.ndarray[Any, Any]] = {}

    def opened(self, principal: Principal | None, as_of: Instant, where: Where | None = None) -> Open:
        """The passages that this asker may see, that are valid at that moment and that have these metadata."""
        seen = self._mask("visible", principal)
        mask = valid = seen & self._mask("valid", as_of)
        if where:
            mask = valid & self._mask("where", tuple(sorted((key, type(one), one) for key, one in where.items())))
        return Open(mask, len(self.passages), int(seen.sum()), int(valid.sum()), int(mask.sum()) if where else None)

    def _mask(self, kind: str, asked: Any) -> np.ndarray[Any, Any]:
        """Which passages are open in one respect."""
        import numpy as np

        if (kind, asked) not in self._open:
            allowed = {key: _allows(kind, one, asked) for key, one in self._documents.items()}
            self._open[kind, asked] = np.fromiter(
                (
                    all(allowed.get((span.document_id, span.version), False) for span in one.sources)
                    for one in self.passages
                ),
                dtype=bool,
                count=len(self.passages),
            )
        return self._open[kind, asked]


def _allows(kind: str, document: Document, asked: Any) -> bool:
    if kind == "valid":
        return valid_at(document.valid_from, document.valid_until, asked)
    if kind == "where":
        return all(_has(document.metadata.get(key), value) for key, _, value in asked)
    return asked is None or visible(document, asked)


def _has(found: Any, value: Scalar) -> bool:
    """Equal, or in the list; true and 1 are not equal."""
    return any(
        one == value and isinstance(one, bool) == isinstance(value, bool)
        for one in (found if isinstance(found, list) else [found])
        if one is not None
    )
