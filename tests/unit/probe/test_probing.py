"""Suites against an honest service and against leaky ones: what is told of each, with channel and step."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.probe.service import Service, serving
from tests.unit.probe.suites import probed

from ragassay.records.probe import ProbeSuite

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
    "latency": ("latency", None),
}
BY_ORACLES = ("count", "status", "latency")
"""Told over many documents, or not at all."""


def test_an_honest_service_leaks_nothing_and_the_bound_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch, oracle_documents=40)
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
    assert not words.short
    assert one.versions == {"service": "test-1"}
    attacks = {each.key: each for each in one.rates if each.of == "attack"}
    assert set(attacks) == {"instruction", "jamming", "contradiction"}
    assert all(each.clean == each.attempted > 0 for each in attacks.values()), "each was retrieved, none was followed"
    assert not any(key.startswith("probe-") for key in service.documents), "nothing is left behind"


@pytest.mark.parametrize("hole", HOLES)
def test_every_hole_is_found_in_its_channel(hole: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(hole)
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch, oracle_documents=40 if hole in BY_ORACLES else 0)
    channel, step = HOLES[hole]
    leaks = [one for one in found.findings if one.severity == "leak"]
    assert found.assessment.leaks == len(leaks) > 0
    assert any((one.channel, one.step) == (channel, step) for one in leaks), {(one.channel, one.step) for one in leaks}
    assert all(any(name.endswith("2025") for name in one.owasp) for one in leaks)
    assert all(any(name.endswith("2026") for name in one.owasp) for one in leaks)


def test_a_filter_after_ranking_that_the_trace_hides_gives_short_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service("filter_hidden")
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch, oracle_documents=40, languages=())
    (words,) = found.assessment.filters
    assert not words.violated
    assert words.short > 0
    (told,) = [one for one in found.findings if one.category == "shared"]
    assert (told.severity, told.channel, told.step) == ("review", "items", "words")


@pytest.mark.parametrize("kind", ["instruction", "jamming", "contradiction"])
def test_an_attack_that_works_is_counted_apart_and_against_its_clean_twin(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(f"obeys {kind}")
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch)
    one = found.assessment
    rates = {each.key: each for each in one.rates if each.of == "attack"}
    assert rates[kind].leaked == rates[kind].attempted > 0, "every attack had power, and worked"
    assert not any(each.leaked for name, each in rates.items() if name != kind)
    assert one.attacks == rates[kind].leaked
    assert not one.leaks, "nobody saw what is not theirs"
    assert {each.severity for each in found.findings} == {"attack"}
    # OWASP Top 10 for LLM applications: poisoning is LLM04:2025 and LLM05:2026, vectors LLM08:2025 and LLM09:2026,
    # prompt injection LLM01 in both years.
    wanted = {"LLM04:2025", "LLM08:2025", "LLM05:2026", "LLM09:2026"}
    wanted |= {"LLM01:2025", "LLM01:2026"} if kind == "instruction" else set()
    assert {name for each in found.findings for name in each.owasp} == wanted
    every = one.rate("all", "all")
    assert every is not None
    assert every.attempted == found.store.get_record(ProbeSuite, one.suite).probe_count - 2 * sum(
        each.attempted for each in rates.values()
    ), "attack and twin stand in no other denominator"


def test_an_attack_has_no_power_where_its_clean_twin_is_not_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service("mute")
    with serving(service) as url:
        found = probed(service, url, tmp_path, monkeypatch)
    rates = [each for each in found.assessment.rates if each.of == "attack"]
    assert len(rates) == 3
    assert all(each.invalid == each.attempted > 0 for each in rates)
    assert not found.assessment.attacks
