"""A suite for the service of the tests: settings, planting, asking, judging, in a store of its own. Only for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.unit.probe.service import OPERATOR, PEOPLE, Service

from ragassay.probe.settings import CredentialSource, PrincipalSettings, ProbeSettings, StandingSettings
from ragassay.probe.standing import standing_of
from ragassay.records.base import Digest
from ragassay.records.document import Document
from ragassay.records.probe import Assessment, Finding, ProbeReply
from ragassay.run.probing.executing import run_suite
from ragassay.run.probing.keeping import freeze_suite, keep_assessment
from ragassay.run.probing.sending import Sender
from ragassay.store import Store

KEY = b"a key of the tests, long enough"
DOCUMENTS = [
    Document(document_id=f"{tenant}-{number}", version="1", text=f"The {tenant} travel budget covers invoice {number}.",
             parser="text/1", normaliser="none", tenants=(tenant,))
    for tenant in ("north", "south") for number in range(3)
]  # fmt: skip


class Found(NamedTuple):
    assessment: Assessment
    findings: list[Finding]
    replies: list[ProbeReply]
    store: Store
    service: Service
    digest: Digest


def settings_for(url: str, **changed: Any) -> ProbeSettings:
    given: dict[str, Any] = {
        "principals": {who: PrincipalSettings(tenants=(tenant,), groups=tuple(groups))
                       for who, (tenant, groups) in PEOPLE.items()},
        "endpoints": {"ask": f"{url}/ask", "document": f"{url}/documents/{{id}}", "plant": f"{url}/admin/plant",
                      "remove": f"{url}/admin/remove"},
        "standing": StandingSettings(embedding="none", index="words/1", policy="test/1"),
        "operator": CredentialSource(env="PROBE_OPERATOR"), "operator_header": "X-Operator",
        "issuer": CredentialSource(url=f"{url}/token"), "documents": 2, "oracle_documents": 0, "most_requests": 50_000,
        "languages": ("de", "fr"), "per_second": 1000.0,
    }  # fmt: skip
    return ProbeSettings(**{**given, **changed})


def probed(
    service: Service, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch, limit: int | None = None, **changed: Any
) -> Found:
    monkeypatch.setenv("PROBE_OPERATOR", OPERATOR)
    settings = settings_for(url, **changed)
    store = Store.open(folder / "store", create=True)
    service.operate("/admin/plant", {"documents": [
        {"document_id": one.document_id, "title": "", "text": one.text, "tenants": list(one.tenants or ())}
        for one in DOCUMENTS
    ]})  # fmt: skip
    standing = standing_of(settings.standing, Digest("sha256:" + "0" * 64), DOCUMENTS, folder)
    frozen = freeze_suite(store, KEY, settings, DOCUMENTS, standing)
    sender = Sender(settings)
    try:
        ran = run_suite(store, frozen.suite, frozen.digest, sender, limit=limit)
    finally:
        sender.close()
    assessment, digest = keep_assessment(store, frozen, ran, DOCUMENTS, left=0)
    findings = list(store.get_lines(Finding, assessment.findings))
    return Found(assessment, findings, ran.replies, store, service, digest)
