"""A panel out of the finished sets of its members: votes by hand, who may sit on it, and what it leaves to people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.trials.people.judged_run import Judged, judged_run

from ragassay.errors import UsageError
from ragassay.records.judgement import JudgeIdentity, Judgement, JudgementSet
from ragassay.run.judges.panel import panel
from ragassay.score.named import judgements_ref
from ragassay.trials.people import draw


@pytest.fixture
def given(tmp_path: Path) -> Judged:
    return judged_run(tmp_path / "store")


def join(given: Judged, name: str, flipped: int, kind: str = "model", **more: Any) -> None:
    """Another judge, which says what `words` says but for its first `flipped` verdicts; those it turns round."""
    identity = given.store.put_record(JudgeIdentity(name=name, kind=kind, model=more.pop("model", name)))
    made = []
    for number, one in enumerate(given.store.get_lines(Judgement, given.record.judgements)):
        label = one.label if number >= flipped else "unsupported" if one.label == "supported" else "supported"
        made.append(msgspec.structs.replace(one, judge=identity, label=label))
    record = msgspec.structs.replace(
        given.record, name=name, judge=identity, judgements=given.store.put_lines(made), **more
    )
    given.store.set_ref(judgements_ref(name, record.run), given.store.put_record(record), kind=JudgementSet)


def verdicts(given: Judged, record: JudgementSet) -> list[Judgement]:
    return list(given.store.get_lines(Judgement, record.judgements))


def test_two_members_must_agree_and_what_they_dispute_is_missing(given: Judged) -> None:
    join(given, "llm", 10)
    record, _ = panel(given.store, given.run, "both", {"members": ["words", "llm"]})
    found = verdicts(given, record)
    assert (record.asked, record.valued, record.state) == (120, 110, "complete")
    assert {(one.status, one.reason) for one in found[:10]} == {("missing", "disagreement")}
    own = list(given.store.get_lines(Judgement, given.record.judgements))
    assert [one.label for one in found[10:]] == [one.label for one in own[10:]]
    assert {one.score for one in found} <= {0.0, 0.5, 1.0}
    assert found[0].rationale is not None
    assert found[0].rationale.startswith("words: ")
    drawn = draw(given.store, given.run, ["words", "llm"], size=30, about=["claim"])
    assert drawn.sample.strata["disagreement"] + drawn.sample.strata.get("contradicted", 0) >= 10


def test_of_three_members_two_are_enough(given: Judged) -> None:
    join(given, "llm", 10)
    join(given, "other", 0, model="m-2")
    record, _ = panel(given.store, given.run, "three", {"members": ["words", "llm", "other"]})
    own = list(given.store.get_lines(Judgement, given.record.judgements))
    assert [one.label for one in verdicts(given, record)] == [one.label for one in own]
    again, digest = panel(given.store, given.run, "three", {"members": ["words", "llm", "other"]})
    assert (again, given.store.ref(judgements_ref("three", record.run))) == (record, digest)


def test_dawid_and_skene_trust_the_two_who_agree(given: Judged) -> None:
    join(given, "llm", 60)  # half of its verdicts are turned round
    join(given, "other", 0, model="m-2")
    record, _ = panel(given.store, given.run, "ds", {"members": ["words", "llm", "other"], "vote": "dawid_skene"})
    own = list(given.store.get_lines(Judgement, given.record.judgements))
    found = verdicts(given, record)
    assert sum(one.label == other.label for one, other in zip(found, own, strict=True)) > 110
    assert all(0 <= (one.score or 0.0) <= 1 for one in found)
    assert given.store.get_record(JudgeIdentity, record.judge).settings["vote"] == "dawid_skene"


def test_of_first_a_person_overrules_the_judge_item_by_item(given: Judged) -> None:
    join(given, "ada", 10, kind="person", model=None, state="partial", stopped="sampled")
    own = list(given.store.get_lines(Judgement, given.record.judgements))
    ada = given.store.get_record(JudgementSet, given.store.ref(judgements_ref("ada", given.record.run)))
    some = list(given.store.get_lines(Judgement, ada.judgements))[:10]  # she ruled on ten items, against the judge
    part = msgspec.structs.replace(ada, judgements=given.store.put_lines(some), asked=10, valued=10)
    given.store.set_ref(judgements_ref("ada", ada.run), given.store.put_record(part), kind=JudgementSet)
    record, _ = panel(given.store, given.run, "final", {"members": ["ada", "words"], "vote": "first"})
    found = verdicts(given, record)
    assert (record.asked, record.valued, record.state) == (120, 120, "complete")
    assert [one.label for one in found[:10]] == [one.label for one in some]
    assert all(one.label != before.label for one, before in zip(found[:10], own[:10], strict=True))
    assert [one.label for one in found[10:]] == [one.label for one in own[10:]]
    assert found[0].rationale == f"ada: {some[0].label}; words: {own[0].label}"
    assert list(given.store.get_lines(Judgement, given.record.judgements)) == own, "the judge's own words stay"


def test_who_is_disqualified_does_not_vote(given: Judged) -> None:
    join(given, "llm", 0, state="disqualified", stopped="controls")
    record, _ = panel(given.store, given.run, "both", {"members": ["words", "llm"]})
    assert (record.state, record.stopped, record.asked) == ("disqualified", "members_disqualified", 0)
    join(given, "other", 0, model="m-2")
    record, _ = panel(given.store, given.run, "three", {"members": ["words", "llm", "other"]})
    assert (record.state, record.valued) == ("complete", 120)


def test_any_other_member_is_another_panel(given: Judged) -> None:
    join(given, "llm", 3)
    one, _ = panel(given.store, given.run, "both", {"members": ["words", "llm"]})
    join(given, "llm", 3, model="newer")
    other, _ = panel(given.store, given.run, "both", {"members": ["words", "llm"]})
    assert one.judge != other.judge
    assert other.supersedes is not None


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ({}, "a panel names its members"),
        ({"members": "words"}, "a panel names its members"),
        ({"members": ["words"]}, "majority needs 2 members"),
        ({"members": ["words", "words"]}, "a member stands twice"),
        ({"members": ["words", "p"]}, "a member stands twice, or is the panel"),
        ({"members": ["words", "llm"], "vote": "dawid_skene"}, "dawid_skene needs 3 members"),
        ({"members": ["words", "llm"], "vote": "lot"}, "'lot' is no way to vote"),
        ({"members": ["words", "llm"], "size": 3}, "a panel has no setting 'size'"),
        ({"members": ["words", "ghost"]}, "ghost has not judged this run"),
        ({"members": ["words", "words2"]}, "words and words2 are of one kind and model"),
    ],
)
def test_a_panel_that_cannot_be_is_refused(given: Judged, own: dict[str, Any], says: str) -> None:
    join(given, "words2", 0, kind="lexical", model=None)
    with pytest.raises(UsageError) as error:
        panel(given.store, given.run, "p", own)
    assert says in error.value.message
