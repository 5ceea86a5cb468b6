"""Suites against an honest service and against leaky ones: what is told of each, with channel and step."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.probe.service import Service, serving
from tests.unit.probe.suites import probed

HOLES = {
    "filter_after": ("items", "words"),
    "cache": ("cache", None),
    "memory": ("answer", None),
    "header": ("answer", None),
    "token_none": ("answer", None),
    "expired": ("answer", None),
    "groups_all": ("answer", None),
    "filter": ("answer", None),
    "deleted": ("answer", None),
    "acl": ("answer", None),
    "title": ("title", None),
    "base64": ("answer", None),
    "count": ("count", None),
    "status": ("status", None),
}


def test_an_honest_service_leaks_nothing_and_the_bound_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch)
    one = found.assessment
    assert (one.leaks, one.attacks, one.protected_in_empty) == (0, 0, 0), found.findings[:3]
    assert one.complete
    total = one.rate("all", "all")
    assert total is not None
    counted = total.clean + total.empty
    assert counted > 400
    assert total.bound == pytest.approx(1 - 0.05 ** (1 / counted))
    assert total.more_needed == 2995 - counted
    assert {"authorized", "unauthorized", "credential", "empty", "shared"} <= {
        each.key for each in one.rates if each.of == "category"
    }
    authorized = one.rate("category", "authorized")
    assert authorized is not None
    assert authorized.clean > 0.4 * authorized.attempted, "the owner gets what is planted"
    (words,) = one.filters
    assert words.step == "words"
    assert words.verified > 150
    assert not words.violated
    assert one.versions == {"service": "test-1"}
    assert not any(key.startswith("probe-") for key in service.documents), "nothing is left behind"


@pytest.mark.parametrize("hole", HOLES)
def test_every_hole_is_found_in_its_channel(hole: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(hole)
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch, documents=14 if hole == "status" else 2)
    channel, step = HOLES[hole]
    leaks = [one for one in found.findings if one.severity == "leak"]
    assert found.assessment.leaks == len(leaks) > 0
    assert any((one.channel, one.step) == (channel, step) for one in leaks), {(one.channel, one.step) for one in leaks}
    assert all(any(name.endswith("2025") for name in one.owasp) for one in leaks)
    assert all(any(name.endswith("2026") for name in one.owasp) for one in leaks)
