"""Whose each document is, for the corpus and what was planted, and who may see it. The corpus's own rule decides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from ragassay.corpus import visible
from ragassay.probe.channels import Shown
from ragassay.records.base import DocumentId
from ragassay.records.case import Principal
from ragassay.records.document import Document
from ragassay.records.probe import PlantedDocument, Probe

PUBLIC = "*"
Standing = Literal["own", "foreign", "unknown"]
DENY_VARIANTS = (
    "missing", "empty", "malformed", "huge", "tampered", "expired", "not_yet_valid", "wrong_audience", "wrong_issuer",
    "wrong_signature", "alg_none", "rs_to_hs", "kid_path", "unknown_kid", "unknown_critical", "revoked", "no_tenant",
)  # fmt: skip
"""Credentials with which nothing but what is public may come."""
GROUP_VARIANTS = ("no_groups", "downgraded")
"""Credentials of somebody who has a tenant, and no group or role any more."""
CONFLICTS = ("tenant_header", "tenant_body", "two_headers")
"""A valid credential of one's own, and a claim of another tenant beside it."""
DENIED = frozenset(DENY_VARIANTS)
WITHOUT_GROUPS = frozenset(GROUP_VARIANTS)


def effective(principal: Principal, credential: str) -> Principal:
    """What somebody may see who comes with this credential."""
    if credential in DENIED:
        return Principal(id="nobody")
    if credential in WITHOUT_GROUPS:
        return msgspec.structs.replace(principal, roles=(), groups=())
    return principal


class Access:
    """The tenants and permissions of all known documents, before documents were removed and moved, and after."""

    def __init__(self, planted: Iterable[PlantedDocument], corpus: Iterable[Document] = ()) -> None:
        self._documents: dict[str, Document] = {}
        for one in corpus:
            self._documents[one.document_id] = one
        self._planted = {one.document_id: one for one in planted}
        self._before = {key: _document(one) for key, one in self._planted.items()}

    def planted(self, document_id: str | None) -> PlantedDocument | None:
        """A document of the suite."""
        return self._planted.get(DocumentId(document_id)) if document_id is not None else None

    def owner(self, document_id: str) -> str | None:
        """The tenant of a known document."""
        found = self._documents.get(document_id) or self._before.get(DocumentId(document_id))
        return found.tenants[0] if found is not None and found.tenants else None

    def may_see(self, document_id: str, principal: Principal, probe: Probe) -> bool | None:
        """Whether this document may be shown; None if it is not known."""
        planted = self._planted.get(DocumentId(document_id))
        if planted is None:
            known = self._documents.get(document_id)
            return None if known is None else visible(known, principal)
        if probe.after == "removal":
            if planted.role == "removed":
                return False
            if planted.role == "moved":
                return planted.to_tenant in principal.tenants
        return visible(self._before[planted.document_id], principal)

    def standing(self, shown: Shown, principal: Principal, probe: Probe) -> tuple[Standing, str | None]:
        """Whether a shown document is the asker's own, and its id where that is known."""
        for one in shown.ids:
            seen = self.may_see(one, principal, probe)
            if seen is not None:
                return ("own" if seen else "foreign"), one
        if shown.tenants:
            own = PUBLIC in shown.tenants or bool(set(shown.tenants) & set(principal.tenants))
            return ("own" if own else "foreign"), (shown.ids[0] if shown.ids else None)
        return "unknown", None

    def allowed(self, principal: Principal, probe: Probe) -> frozenset[DocumentId]:
        """The planted documents that this asker may be shown."""
        return frozenset(key for key in self._planted if self.may_see(key, principal, probe))


def _document(one: PlantedDocument) -> Document:
    return Document(
        document_id=one.document_id, version="1", text=one.text, title=one.title, tenants=(one.tenant,), acl=one.acl,
        parser="probe/1", normaliser="none",
    )  # fmt: skip
