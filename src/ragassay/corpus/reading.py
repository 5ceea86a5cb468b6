"""What a reader hands on: documents, with the raw bytes of the lossy ones beside them. Reads no file itself."""

from __future__ import annotations

from collections.abc import Iterable

from ragassay.records.base import Digest
from ragassay.records.document import Document


class Reading(list[Document]):
    """A list of documents; `raws` holds the bytes of those that are `lossy`, so that `build` can keep them."""

    def __init__(
        self,
        documents: Iterable[Document] = (),
        *,
        raws: dict[Digest, bytes] | None = None,
        default_tenants: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(documents)
        self.raws: dict[Digest, bytes] = raws or {}
        self.default_tenants = default_tenants
