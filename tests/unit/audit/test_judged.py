"""Evidence of a judged run: verdicts, people and calibration travel with it; every number is made again from them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import msgspec
import pytest
from tests.unit.run.judges.world import Overlap, RunWorld
from tests.unit.score.score_material import scoring

from ragassay import assay
from ragassay.audit.archive import export, unpack
from ragassay.audit.remake import audit
from ragassay.records.base import Digest
from ragassay.records.judgement import Judgement, JudgementSet
from ragassay.records.score import ScoreTable
from ragassay.store import Store
from ragassay.trials.people import calibrate, draw, import_verdicts, sample_text


@pytest.fixture
def world(tmp_path: Path) -> RunWorld:
    made = RunWorld(tmp_path, questions=12)
    made.judge(Overlap(), name="words")
    drawn = draw(made.store, made.digest, ["words"], size=10, about=("claim",), plain=True)
    path = tmp_path / "people.jsonl"
    path.write_text(sample_text(drawn, "jsonl").replace('"label": ""', '"label": "supported"'))
    import_verdicts(made.store, made.digest, path, author="anna", rubric="r")
    calibrate(made.store, made.digest, "words")
    asked = made.store.put_record(scoring("faithfulness", "citation_recall", judges=("words", "anna")))
    assay.measure(made.store, Digest(made.digest), asked, name="judged")
    return made


def test_what_was_judged_is_made_again_elsewhere(world: RunWorld, tmp_path: Path) -> None:
    table = world.store.get_record(ScoreTable, world.store.ref("scores/judged"))
    assert set(table.judged) == {"words", "anna"}
    assert set(table.calibrations) == {"words"}
    checks = {one.kind: one.result for one in audit(world.store, Digest(world.digest))}
    assert (checks["bytes"], checks["scores"]) == ("equal", "equal")
    path = tmp_path / "evidence.zip"
    with path.open("wb") as file:
        export(world.store, Digest(world.digest), file, version="0")
    unpack(path, tmp_path / "elsewhere")
    other = Store.open(tmp_path / "elsewhere")
    names = {one.name.split("/")[0] for one in other.refs()}
    assert {"judgements", "calibrations", "samples", "scores"} <= names
    again = {one.kind: one.result for one in audit(other, Digest(world.digest))}
    assert (again["bytes"], again["scores"]) == ("equal", "equal")
    assert other.ref("scores/judged") == world.store.ref("scores/judged")


def test_a_newer_set_does_not_make_an_old_table_wrong(world: RunWorld) -> None:
    world.judge(Overlap(version="2"), name="words")
    assert all(one.result != "differs" for one in audit(world.store, Digest(world.digest)))


def test_verdicts_that_were_changed_are_found(world: RunWorld) -> None:
    import msgspec

    store = world.store
    table = store.get_record(ScoreTable, store.ref("scores/judged"))
    record = store.get_record(JudgementSet, table.judged["words"])
    lines = [
        msgspec.structs.replace(one, label="unsupported") if one.about == "claim" else one
        for one in store.get_lines(Judgement, record.judgements)
    ]
    forged = store.put_record(msgspec.structs.replace(record, judgements=store.put_lines(lines)))
    changed = msgspec.structs.replace(table, judged={**table.judged, "words": forged})
    store.set_ref("scores/judged", store.put_record(changed), kind="scores")
    found = [one for one in audit(store, Digest(world.digest)) if one.result == "differs"]
    assert len(found) == 1
    assert "faithfulness" in found[0].told or "observations" in found[0].told


def test_a_public_archive_holds_no_words_of_judges_or_people(world: RunWorld) -> None:
    table = world.store.get_record(ScoreTable, world.store.ref("scores/judged"))
    record = world.store.get_record(JudgementSet, table.judged["words"])
    inside = []
    for public in (True, False):
        out = io.BytesIO()
        export(world.store, Digest(world.digest), out, version="0", public=public)
        inside.append(any(record.judgements[9:] in name for name in zipfile.ZipFile(out).namelist()))
    assert inside == [False, True]


def test_a_part_of_a_table_that_was_taken_away_is_missed(world: RunWorld) -> None:
    table = world.store.get_record(ScoreTable, world.store.ref("scores/judged"))
    assert table.failures is not None
    less = world.store.put_record(msgspec.structs.replace(table, failures=None))
    world.store.set_ref("scores/judged", less, kind="scores")
    (found,) = [one for one in audit(world.store, Digest(world.digest)) if one.result == "differs"]
    assert found.first is not None
    assert (found.first.place, found.first.stored, found.first.made) == ("failures", "none", "there")
