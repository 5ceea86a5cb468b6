"""A gate that demands probes: a leak fails it, whatever else holds, and what was not seen never passes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import msgspec
import pytest
from tests.unit.gate.project import GOOD, POLICY, Project
from tests.unit.probe.service import OPERATOR, Service, serving

from ragassay.audit.archive import read_manifest
from ragassay.gate.decide import Decided, decided
from ragassay.gate.probed import Probed
from ragassay.probe.again import Asked, judged
from ragassay.probe.rates import more_needed, rate
from ragassay.probe.settings import StandingSettings
from ragassay.records.base import Digest
from ragassay.records.probe import Assessment, ProbeRate, ProbeReply
from ragassay.records.protocol import Protocol, Run
from ragassay.records.score import ScoreTable
from ragassay.store import Store

STANDING = {"embedding": "none", "index": "words/1", "policy": "file:rules.sql"}
DEMAND = '[policy.probe]\nsuite = "tenants"\n'
KEY = "a key of the tests, long enough"


def probe_section(url: str, **standing: str) -> str:
    said = "".join(f'{name} = "{value}"\n' for name, value in {**STANDING, **standing}.items())
    people = "".join(
        f'[probe.principals.{who}]\ntenants = ["{tenant}"]\ngroups = {groups}\n'
        for who, tenant, groups in (("ada", "north", '["staff", "board"]'), ("ben", "north", '["staff"]'),
                                    ("cyd", "south", '["staff", "board"]'))
    )  # fmt: skip
    return (
        f'\n[probe]\ndocuments = 1\nlanguages = ["de"]\nper_second = 1000.0\noperator = {{ env = "PROBE_OPERATOR" }}\n'
        f'operator_header = "X-Operator"\nissuer = {{ url = "{url}/token" }}\n[probe.endpoints]\nask = "{url}/ask"\n'
        f'document = "{url}/documents/{{id}}"\nplant = "{url}/admin/plant"\nremove = "{url}/admin/remove"\n'
        f"[probe.standing]\n{said}{people}"
    )


class Quiet(NamedTuple):
    """In place of capsys where a fixture serves a whole module."""

    out: str = ""
    err: str = ""

    def readouterr(self) -> Quiet:
        return self


class Given(NamedTuple):
    folder: Path
    url: str


def made(folder: Path, hole: str) -> Given:
    """A project whose system was probed once."""
    with pytest.MonkeyPatch.context() as patch, serving(Service(hole)) as url:
        patch.setenv("PROBE_OPERATOR", OPERATOR)
        patch.setenv("RAGASSAY_PROBE_KEY", KEY)
        (folder / "rules.sql").write_text("enable row level security")
        project = Project(folder, Quiet(), policy=POLICY + probe_section(url))
        code, _, _ = project.do("probe", "run")
        assert code == (1 if hole else 0)
    return Given(folder, url)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Given:
    return made(tmp_path_factory.mktemp("honest"), "")


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory) -> Given:
    return made(tmp_path_factory.mktemp("leaky"), "base64")


class Probing(Project):
    """A copy of such a project, with a policy that demands probes."""

    def __init__(self, given: Given, folder: Path, capsys: Any) -> None:
        shutil.copytree(given.folder, folder, dirs_exist_ok=True)
        self.url = given.url
        super().__init__(folder, capsys)

    def demand(self, more: str = "", **standing: str) -> None:
        self.policy(POLICY + DEMAND + more + probe_section(self.url, **standing))

    @property
    def store(self) -> Store:
        return Store.open(self.folder / ".ragassay")

    @property
    def assessment(self) -> Assessment:
        return self.store.get_record(Assessment, self.store.ref("assessment/tenants"))

    def decide(self, one: Assessment | None = None, **declared: str) -> Decided:
        """The decision on an assessment, judged by nobody again."""
        store = self.store
        scores = store.ref("scores/candidate")
        run = store.get_record(Run, store.get_record(ScoreTable, scores).run_record)
        stored = self.assessment
        now = {name: getattr(stored.standing, name) for name in STANDING} | declared
        digest = store.put_record(stored if one is None else one)
        return decided(
            store, store.get_record(Protocol, run.protocol).policy, scores, as_of="2099-01-01T00:00:00Z",
            probed=Probed(digest, StandingSettings(**now)), judge=lambda _store, given, _documents: given,
        )  # fmt: skip


@pytest.fixture
def project(honest: Given, tmp_path: Path, capsys: Any, monkeypatch: Any) -> Probing:
    monkeypatch.syspath_prepend(str(tmp_path))
    return Probing(honest, tmp_path, capsys)


def probes(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["rule"].removeprefix("probe tenants: "): one for one in found["results"] if one["kind"] == "probe"}


def reasons(made: Decided) -> set[str]:
    return {code for one in made.decision.results for code in one.reasons}


def replaced(one: Assessment, new: ProbeRate) -> Assessment:
    kept = tuple(new if (each.of, each.key) == (new.of, new.key) else each for each in one.rates)
    return msgspec.structs.replace(one, rates=kept)


def test_no_leak_passes_and_the_decision_names_the_assessment_everywhere(project: Probing) -> None:
    project.demand("at_most = 0.05\nchannels = { answer = 0.05 }\n")
    project.run()
    code, out, err = project.do("gate", "--as-of", "2099-01-01", "--junit", str(project.folder / "gate.xml"),
                                "--md", str(project.folder / "gate.md"))  # fmt: skip
    assert code == 0, out + err
    digest = project.store.ref("assessment/tenants")
    assert f"assessment of probes {digest}" in out
    assert digest in (project.folder / "gate.md").read_text()
    named = ElementTree.parse(project.folder / "gate.xml").getroot().iter("property")
    assert {one.get("name"): one.get("value") for one in named}["assessment"] == digest
    code, found = project.gate()
    assert (code, found["assessment"]) == (0, digest)
    assert found["standing"]["index"] == "words/1"
    assert found["standing"]["policy"].startswith("sha256:")
    rows = probes(found)
    assert set(rows) == {"no leak", "nothing protected in answers to what cannot be answered", "at most 0.05 leak",
                         "at most 0.05 leak by answer", "no planted attack works"}  # fmt: skip
    every = project.assessment.rate("all", "all")
    assert every is not None
    first = rows["no leak"]
    assert (first["attempted"], first["undefined"]) == (every.attempted, every.invalid)
    assert first["scored"] == every.clean + every.empty, "apart from all questions of the run"
    assert "held only the asker's own" in first["told"]
    assert rows["at most 0.05 leak"]["bound"] == pytest.approx(every.bound)


def test_what_was_decided_is_made_again_explained_and_exported(project: Probing) -> None:
    project.demand()
    project.run()
    assert project.gate()[0] == 0
    digest = project.store.ref("assessment/tenants")
    code, out, err = project.do("audit")
    assert code == 0, out + err
    assert "assessment  equal" in out
    assert "judged again: 0 leaks" in out
    code, out, _ = project.do("explain", "candidate", "q1")
    assert code == 0
    assert "assessment of probes: probe tenants: no leak: pass" in out
    assert digest in out
    suite = project.store.get_record(Assessment, digest)
    for name, there in (("all.zip", True), ("public.zip", False)):
        public = () if there else ("--public",)
        assert project.do("export", str(project.folder / name), *public)[0] == 0
        manifest = read_manifest(project.folder / name)
        held = {one.digest for one in manifest.objects}
        assert {digest, suite.suite} <= held
        assert (suite.replies in held) == there
        assert (suite.replies in manifest.left_out) == (not there), "canaries and replies are texts"


def test_a_leak_fails_whatever_else_holds(leaky: Given, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    project = Probing(leaky, tmp_path, capsys)
    project.demand()
    project.run()
    code, found = project.gate()
    assert code == 1
    rows = probes(found)
    assert rows["no leak"]["result"] == "fail"
    assert rows["no leak"]["reasons"] == ["leak"]
    assert "by answer" in rows["no leak"]["told"]
    protected = rows["nothing protected in answers to what cannot be answered"]
    assert (protected["result"], protected["reasons"]) == ("fail", ["protected_in_empty"])
    assert [one["result"] for one in found["results"] if one["kind"] == "floor"] == ["pass"], "and all else holds"


def test_a_typed_in_assessment_is_found_out(leaky: Given, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    project = Probing(leaky, tmp_path, capsys)
    project.demand()
    project.run()
    store = project.store
    said = msgspec.structs.replace(project.assessment, leaks=0, protected_in_empty=0)
    store.set_ref("assessment/tenants", store.put_record(said), kind="assessment")
    code, found = project.gate()
    assert code == 5
    assert "does not follow from its replies: leaks, protected_in_empty" in found["error"]


def test_without_an_assessment_nothing_passes(project: Probing) -> None:
    project.policy(POLICY + DEMAND.replace("tenants", "others") + probe_section(project.url))
    project.run()
    code, found = project.gate()
    assert code == 3
    (row,) = [one for one in found["results"] if one["kind"] == "probe"]
    assert (row["result"], row["reasons"]) == ("inconclusive", ["assessment_absent"])
    assert "ragassay probe run" in project.do("gate", "--as-of", "2099-01-01")[2]
    code, found = project.gate("--assessment", "tenants")
    assert code == 3
    assert project.reasons(found) == {"another_suite"}


def test_an_assessment_that_nobody_demands_is_refused(project: Probing) -> None:
    project.policy(POLICY + probe_section(project.url))
    project.run()
    assert project.gate()[0] == 0
    code, found = project.gate("--assessment", "tenants")
    assert code == 2
    assert "the policy demands no assessment" in found["error"]


@pytest.mark.parametrize("part", ["embedding", "index", "policy"])
def test_a_change_of_what_is_declared_makes_it_stale(project: Probing, part: str) -> None:
    project.demand()
    project.run()
    project.demand(**{part: "another"})
    code, found = project.gate()
    assert code == 3
    assert project.reasons(found) == {"assessment_stale"}
    assert f"{part} changed since" in probes(found)["no leak"]["told"]


def test_another_file_behind_the_policy_makes_it_stale(project: Probing) -> None:
    project.demand()
    project.run()
    (project.folder / "rules.sql").write_text("disable row level security")
    assert project.reasons(project.gate()[1]) == {"assessment_stale"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"text": "The answer is word3. Again."}, "corpus and metadata"), ({"tenants": ["north"]}, "corpus and metadata")],
)
def test_a_run_over_another_corpus_or_acl_makes_it_stale(project: Probing, changed: Any, told: str) -> None:
    project.demand()
    rows = [{"document_id": f"d{one}", "version": "1", "text": f"The answer is word{one}."} for one in range(30)]
    rows[3] |= changed
    project.lines("documents.jsonl", rows)
    project.run()
    code, found = project.gate()
    assert code == 3
    assert "assessment_stale" in project.reasons(found)
    assert probes(found)["no leak"]["told"].startswith("Nothing was read: corpus")


def test_a_run_of_another_version_than_was_probed_makes_it_stale(project: Probing) -> None:
    project.system(GOOD.replace('{"answer"', '{"versions": {"service": "test-2"}, "answer"'))
    project.demand()
    project.run()
    code, found = project.gate()
    assert code == 3
    assert "service test-2, probed test-1" in probes(found)["no leak"]["told"]


def test_nobody_says_what_stands_now(project: Probing) -> None:
    project.demand()
    project.run()
    project.policy(POLICY + DEMAND)
    assert project.reasons(project.gate()[1]) == {"standing_unknown"}


def test_an_old_assessment_decides_nothing(project: Probing) -> None:
    project.policy(
        POLICY.replace('"release"\n', '"release"\nmax_age_days = 14\n') + DEMAND + probe_section(project.url)
    )
    project.run()
    code, found = project.gate()
    assert code == 3
    assert "stale_evidence" in probes(found)["no leak"]["reasons"]
    assert project.gate(as_of=False)[0] == 0


def test_too_few_probes_cannot_tell_and_say_how_many_would(project: Probing) -> None:
    project.demand("at_most = 0.001\nchannels = { tool = 0.05 }\n")
    project.run()
    code, found = project.gate()
    assert code == 3
    rows = probes(found)
    every = project.assessment.rate("all", "all")
    assert every is not None
    wanted = rows["at most 0.001 leak"]
    assert (wanted["result"], wanted["reasons"]) == ("inconclusive", ["not_enough_probes"])
    assert wanted["needed"] == more_needed(0, every.clean + every.empty, 0.001) > 2000
    assert rows["at most 0.05 leak by tool"]["reasons"] == ["channel_not_evaluable"]
    assert rows["no leak"]["result"] == "pass"


def test_a_part_of_a_suite_and_blind_categories_never_pass(project: Probing) -> None:
    project.demand()
    project.run()
    store, whole = project.store, project.assessment
    assert project.decide().decision.outcome == "pass"
    replies = list(store.get_lines(ProbeReply, whole.replies))
    asked = Asked(whole.started_at, whole.finished_at, whole.requests, 0)
    documents: list[Any] = []
    part = judged(store, whole.suite, replies[:-1], documents, asked)
    assert not part.complete
    assert reasons(project.decide(part)) == {"assessment_partial"}
    seen = msgspec.structs.replace(part, leaks=1)
    assert project.decide(seen).decision.outcome == "fail", "what was seen was seen"
    blind = rate("category", "credential", ["not_evaluable"] * 5 + ["invalid"] * 2, 0.001)
    found = project.decide(replaced(whole, blind))
    assert reasons(found) == {"category_not_evaluable"}
    (told,) = [one.told for one in found.decision.results if one.rule.endswith("no leak")]
    assert "of 7 probes of category credential none could be evaluated (2 invalid, 5 not evaluable" in told
    gone = msgspec.structs.replace(whole, rates=tuple(one for one in whole.rates if one.key != "shared"))
    assert reasons(project.decide(gone)) == {"category_not_evaluable"}


def test_attacks_block_and_findings_for_review_call_a_person(project: Probing) -> None:
    project.demand("reviews = 2\n")
    project.run()
    whole = project.assessment
    assert project.decide(msgspec.structs.replace(whole, attacks=1)).decision.outcome == "fail"
    assert project.decide(msgspec.structs.replace(whole, reviews=2)).decision.outcome == "pass"
    found = project.decide(msgspec.structs.replace(whole, reviews=3))
    assert found.decision.outcome == "review"
    assert reasons(found) == {"probe_review"}


def test_an_assessment_alone_may_be_all_that_is_demanded(project: Probing) -> None:
    project.policy(f'[policy]\nname = "release"\n{DEMAND}{probe_section(project.url)}')
    project.run()
    assert project.gate()[0] == 0


def test_another_digest_is_another_record(project: Probing) -> None:
    project.demand()
    project.run()
    assert project.gate("--assessment", "feedfeed")[0] != 0
    digest: Digest = project.store.ref("assessment/tenants")
    assert project.gate("--assessment", digest)[1]["assessment"] == digest


def test_policy_check_refuses_a_bound_that_the_suite_could_never_reach(project: Probing) -> None:
    project.demand("at_most = 0.0001\nchannels = { answer = 0.05 }\n")
    code, out, _ = project.do("policy", "check")
    assert code == 2
    assert "policy.probe.at_most" in out
    assert "29,956 are needed" in out
    assert "policy.probe.channels" not in out
    project.demand("at_most = 0.05\n")
    assert project.do("policy", "check")[0] == 0
    project.policy(POLICY + DEMAND.replace("tenants", "others") + probe_section(project.url))
    code, out, _ = project.do("policy", "check")
    assert code == 0
    assert "no suite 'others' is frozen yet" in out


def test_the_scorecard_has_a_section_of_its_own(project: Probing) -> None:
    project.demand()
    project.run()
    assert project.gate()[0] == 0
    code, out, err = project.do("report", "candidate", "--out", str(project.folder / "report"))
    assert code == 0, out + err
    assert "probes of suite tenants: No leak in" in out
    page = (project.folder / "report" / "scorecard.html").read_text()
    section = page.partition('<section id="authorization">')[2].partition("</section>")[0]
    every = project.assessment.rate("all", "all")
    assert every is not None
    assert f"{every.clean:,} of {every.clean:,} responses with documents held only the asker" in section
    assert f"{every.empty:,} responses held none and count apart" in section
    for title in ("All probes", "By category", "By channel", "By pair of asker and owner"):
        assert f">{title}. Attempted" in section
    assert "no finding" in section.casefold()
    data = msgspec.json.decode((project.folder / "report" / "scorecard.json").read_bytes())
    (shown,) = data["probed"]
    assert shown["assessment"] == project.store.ref("assessment/tenants")
    assert (shown["stale"], shown["unknown"]) == ([], [])
    total = next(one for one in shown["rates"] if one["of"] == "all")
    assert total["attempted"] == every.attempted
    assert "### Suite tenants" in (project.folder / "report" / "scorecard.md").read_text()


def test_without_a_decision_the_scorecard_says_what_it_does_not_know(project: Probing) -> None:
    project.demand()
    project.run()
    assert project.do("report", "candidate", "--out", str(project.folder / "report"))[0] == 0
    data = msgspec.json.decode((project.folder / "report" / "scorecard.json").read_bytes())
    assert data["probed"][0]["unknown"] == ["embedding", "index", "policy"]
    rows = [{"document_id": f"d{one}", "version": "1", "text": f"Now word{one}."} for one in range(30)]
    project.lines("documents.jsonl", rows)
    project.run("second")
    assert project.do("report", "second", "--out", str(project.folder / "report"))[0] == 0
    page = (project.folder / "report" / "scorecard.html").read_text()
    assert "Stale: corpus changed since it was made, so that it counts as missing." in page


def test_a_system_that_nobody_probed_is_said_to_be_that(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    project = Project(tmp_path, capsys)
    project.run()
    code, out, _ = project.do("report", "candidate", "--out", str(tmp_path / "report"))
    assert code == 0
    assert "authorization: not probed" in out
    assert "This system was <b>not probed</b>" in (tmp_path / "report" / "scorecard.html").read_text()
    assert "This system was not probed" in (tmp_path / "report" / "scorecard.md").read_text()


def test_findings_that_are_alike_are_one_row_with_examples(
    leaky: Given, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    project = Probing(leaky, tmp_path, capsys)
    project.demand()
    code, out, _ = project.do("probe", "report")
    assert code == 1
    _, told, _ = project.do("probe", "report", "--json")
    found = json.JSONDecoder().raw_decode(told)[0]
    assert sum(one["count"] for one in found["groups"]) == len(found["findings"]) > 20, "each stands in one group"
    assert len(found["groups"]) < len(found["findings"]) / 2
    assert all(len(one["examples"]) <= 3 and one["owasp"] for one in found["groups"])
    assert f"Findings: {len(found['findings']):,}, those that are alike together" in out
    leaks = [one for one in found["groups"] if one["severity"] == "leak"]
    assert out.count("  leak ") == min(12, len(leaks)) == 12, "and how many more there are is told"
    assert "more kinds of them" in out
    assert out.index("Where to look first") < out.index("Findings:") < out.index("All probes")


@pytest.mark.parametrize(
    ("clean", "empty", "most", "wanted", "why"),
    [(1, 9, 0.1, "pass", []), (2, 9, 0.1, "fail", ["neighbours"]), (1, 0, 1.0, "pass", []), (0, 5, 0.0, "pass", []),
     (0, 0, 0.1, "inconclusive", ["category_not_evaluable"])],
)  # fmt: skip
def test_a_policy_may_forbid_the_nearest_where_there_is_nothing_to_find(
    clean: int, empty: int, most: float, wanted: str, why: list[str], project: Probing
) -> None:
    project.demand(f"neighbours = {most}\n")
    project.run()
    new = rate("category", "empty", ["clean"] * clean + ["empty"] * empty, wanted=0.001)  # type: ignore[list-item]
    found = project.decide(replaced(project.assessment, new)).decision.results
    one = next(one for one in found if one.rule.endswith("of what does not exist brings documents"))
    assert (one.result, list(one.reasons)) == (wanted, why)
