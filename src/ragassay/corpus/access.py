"""Who may see a document, and whether it still stands at a given time. Reads no clock and no trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ragassay.records.base import DocumentId, Instant
from ragassay.records.case import Principal
from ragassay.records.document import Document, DocumentRef
from ragassay.records.text import valid_at

PUBLIC = "*"


def visible(document: Document, principal: Principal) -> bool:
    """Whether this principal may see this document.

    True if the tenants hold `*` or one of the principal's, and the acl is absent or lists the principal's id, one of
    its groups or one of its roles. Tenants missing or empty admit nobody; an empty acl admits nobody.
    """
    tenants = set(document.tenants or ())
    if PUBLIC not in tenants and tenants.isdisjoint(principal.tenants):
        return False
    acl = document.acl
    if acl is None:
        return True
    return (
        principal.id in acl.users
        or not set(acl.groups).isdisjoint(principal.groups)
        or not set(acl.roles).isdisjoint(principal.roles)
    )


class Standing(NamedTuple):
    """How one version of a document stands at a time; a version that is neither is current."""

    superseded: bool
    """Another document of the corpus that has begun to be valid supersedes it."""
    stale: bool
    """Its validity has ended."""
    pending: bool
    """Its validity has not begun."""

    @property
    def current(self) -> bool:
        """Whether nothing speaks against it."""
        return not (self.superseded or self.stale or self.pending)


def standing(documents: Iterable[Document], as_of: Instant) -> dict[DocumentRef, Standing]:
    """The standing of every document at `as_of`, derived from validity (`from <= t < until`) and `supersedes`.

    A successor counts from its own `valid_from` on, and goes on counting after it has become stale itself.
    """
    known = list(documents)
    superseded = {one.supersedes for one in known if one.supersedes and valid_at(one.valid_from, None, as_of)}
    return {
        reference(one): Standing(
            superseded=reference(one) in superseded,
            stale=not valid_at(None, one.valid_until, as_of),
            pending=not valid_at(one.valid_from, None, as_of),
        )
        for one in known
    }


def reference(document: Document) -> DocumentRef:
    """(document_id, version) of a document."""
    return DocumentRef(document_id=DocumentId(document.document_id), version=document.version)
