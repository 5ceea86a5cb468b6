"""From a judged run to a file for people, back as verdicts, and to a calibration: counted against a known truth."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.trials.people.judged_run import Judged, judged_run

from ragassay.errors import InputError, UsageError
from ragassay.records.judgement import Calibration, Judgement, JudgementSet, SampledItem
from ragassay.records.protocol import Run
from ragassay.score.named import of_judges
from ragassay.store.superseding import history, supersessions
from ragassay.trials.people import calibrate, draw, import_verdicts, sample_text
from ragassay.trials.people.drawing import shares


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    return judged_run(tmp_path_factory.mktemp("judged") / "store")


@pytest.fixture
def own(tmp_path: Path) -> Judged:
    return judged_run(tmp_path / "store")


def filled(given: Judged, path: Path, *, size: int = 60, plain: bool = True, wrong: int = 0) -> Path:
    """A sample that somebody filled in by the truth, with some labels turned round."""
    drawn = draw(given.store, given.run, [], size=size, about=("claim",), plain=plain)
    by_id = {one.item_id: one for one, _ in drawn.items}
    lines = []
    for number, line in enumerate(sample_text(drawn, "jsonl").splitlines()):
        row = json.loads(line)
        one = by_id[row["item"]]
        true = given.truth[one.query_id, one.target] != (number < wrong)
        lines.append(json.dumps({**row, "label": "supported" if true else "unsupported"}))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_stratified_sample_knows_the_chance_of_each_item(made: Judged) -> None:
    drawn = draw(made.store, made.run, ["words"], size=30, about=("claim",))
    assert drawn.sample.drawn == "stratified"
    assert sum(drawn.sample.strata.values()) == 120
    assert set(drawn.sample.strata) == {"contradicted", "low_confidence", "rest"}
    counts = Counter(one.stratum for one, _ in drawn.items)
    assert sum(counts.values()) == 30
    for one, _ in drawn.items:
        assert one.probability == counts[one.stratum] / drawn.sample.strata[one.stratum]
    assert counts["contradicted"] >= 5  # few of 120, and every sixth item that is drawn
    again = draw(made.store, made.run, ["words"], size=30, about=("claim",))
    assert again.digest == drawn.digest
    assert draw(made.store, made.run, ["words"], size=30, about=("claim",), seed=1).digest != drawn.digest
    assert list(made.store.get_lines(SampledItem, drawn.sample.items)) == [one for one, _ in drawn.items]


def test_every_item_is_drawn_as_often_as_its_chance_says(made: Judged) -> None:
    """Over 60 seeds of 30 of 120 each item comes 15 times on average; the spread is that of chance."""
    seen: Counter[tuple[str, str]] = Counter()
    for seed in range(60):
        drawn = draw(made.store, made.run, [], size=30, about=("claim",), plain=True, seed=seed)
        assert drawn.sample.drawn == "random"
        assert {one.probability for one, _ in drawn.items} == {0.25}
        seen.update((one.query_id, one.target) for one, _ in drawn.items)
    assert len(seen) == 120
    variance = sum((count - 15) ** 2 for count in seen.values()) / 120
    assert 7 < variance < 17  # binomial: 60 / 4 * 3 / 4 = 11.25


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 200), min_size=1), st.integers(1, 300))
def test_shares_add_up_and_never_exceed_a_stratum(sizes: dict[str, int], size: int) -> None:
    found = shares(sizes, size)
    assert sum(found.values()) == min(size, sum(sizes.values()))
    assert all(0 < count <= sizes[name] for name, count in found.items())


def test_nobody_sees_what_the_judge_said_or_who_answered(made: Judged) -> None:
    drawn = draw(made.store, made.run, ["words"], size=5, about=("claim",))
    rows = [json.loads(line) for line in sample_text(drawn, "jsonl").splitlines()]
    assert {row["label"] for row in rows} == {""}
    assert "words" not in sample_text(drawn, "csv").replace("words of", "")
    assert all(set(row) == {"sample", "item", "about", "labels", "question", "statement", "evidence", "answer", "label",
                            "comment"} for row in rows)  # fmt: skip


def test_a_cell_that_a_spreadsheet_could_run_is_neutralised_and_read_back(tmp_path: Path) -> None:
    given_ = judged_run(tmp_path / "store", formula=True)
    drawn = draw(given_.store, given_.run, [], size=8, about=("claim",))
    text = sample_text(drawn, "csv")
    cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    assert not any(cell[:1] in "=+-@" for cell in cells if cell)
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        rows = list(csv.reader(text.splitlines()))
        writer.writerow(rows[0])
        for row in rows[1:]:
            row[rows[0].index("label")] = "Supported "
            writer.writerow(row)
    found = import_verdicts(given_.store, given_.run, path, author="anna", rubric="r")
    assert (found.rows, found.record.valued) == (8, 8)


def test_newer_verdicts_supersede_and_the_older_set_stays(own: Judged, tmp_path: Path) -> None:
    first = import_verdicts(own.store, own.run, filled(own, tmp_path / "a.jsonl", size=20), author="anna", rubric="r")
    changed = filled(own, tmp_path / "b.jsonl", size=20, wrong=20)
    with pytest.raises(UsageError, match="20 verdicts of anna would be replaced"):
        import_verdicts(own.store, own.run, changed, author="anna", rubric="r")
    again = import_verdicts(own.store, own.run, changed, author="anna", rubric="r", reason="misread the rubric")
    (told,) = history(own.store, again.digest)
    assert (told.kind, told.old, told.by, told.reason) == ("judgementset", first.digest, "anna", "misread the rubric")
    assert (again.rows, again.replaced, again.record.asked) == (20, 20, 20)
    assert again.record.supersedes == first.digest
    old = list(own.store.get_lines(Judgement, first.record.judgements))
    new = list(own.store.get_lines(Judgement, again.record.judgements))
    assert [one.key for one in old] == [one.key for one in new]
    assert all(one.label != other.label for one, other in zip(old, new, strict=True))
    run = own.store.get_record(Run, own.run)
    assert of_judges(own.store, run, ["anna"]).judged == {"anna": again.digest}
    same = import_verdicts(own.store, own.run, tmp_path / "b.jsonl", author="anna", rubric="r")
    assert same.digest == again.digest  # nothing new was said
    assert len(supersessions(own.store)) == 1


def test_a_file_without_a_sample_names_items_in_full(own: Judged, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "query_id,about,target,label,comment\nq00,claim,c1,supported,fine\nq01,claim,c2,unsure,\nq02,claim,c1,,\n"
    )
    found = import_verdicts(own.store, own.run, path, author="bo", rubric="r")
    assert (found.rows, found.record.asked, found.record.valued, found.record.sample) == (2, 2, 1, None)
    (one, other) = own.store.get_lines(Judgement, found.record.judgements)
    assert (one.label, one.rationale, other.status, other.reason) == ("supported", "fine", "missing", "unsure")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("query_id,about,target,label\nq00,claim,c1,maybe\n", 2, "'maybe' is no label of support/1"),
        ("query_id,about,target,label\nq00,claim,c9,supported\n", 2, "this run has no item q00 0 claim c9"),
        ("query_id,about,target,label\nq00,claim,c1,supported\nq00,claim,c1,supported\n", 3, "stands twice"),
        ("query_id,repeat,about,target,label\nq00,x,claim,c1,supported\n", 2, "'x' is no repeat"),
        ("sample,item,label\nzz,i-1,supported\n", 2, "'zz' is no sample of this run"),
        ("sample,item,label\n../../run,i-1,supported\n", 2, "is no sample of this run"),
        ("query_id,about,target,verdict\nq00,claim,c1,supported\n", 1, "no column label"),
        ("query_id,about,target,label\nq00,claim,c1,\n", None, "no row is filled in"),
        ("label\nsupported\n", 2, "neither item nor query_id"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(
    made: Judged, tmp_path: Path, text: str, line: int | None, says: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        import_verdicts(made.store, made.run, path, author="anna", rubric="r")
    assert says in error.value.message
    assert error.value.line == line
    assert error.value.file == str(path)


@pytest.mark.parametrize(
    "raw", [b"[]\n", b'{"label": 1.5}\n', b'{"a": 1, "a": 2}\n', b"{\n", b"\xff\n", b'{"label": null}\n']
)
def test_hostile_lines_are_refused(made: Judged, tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(raw)
    with pytest.raises(InputError) as error:
        import_verdicts(made.store, made.run, path, author="anna", rubric="r")
    assert error.value.line == 1


def test_a_judge_that_is_no_person_cannot_be_written_over(made: Judged, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a judge that is no person"):
        import_verdicts(made.store, made.run, tmp_path / "x.csv", author="words", rubric="r")
    for author in ("a b", "../x", "a/b"):
        with pytest.raises(UsageError):
            import_verdicts(made.store, made.run, tmp_path / "x.csv", author=author, rubric="r")


def test_a_calibration_counts_what_people_and_judge_say(own: Judged, tmp_path: Path) -> None:
    import_verdicts(own.store, own.run, filled(own, tmp_path / "a.jsonl", size=120), author="anna", rubric="support/1")
    found = calibrate(own.store, own.run, "words")
    whole = found.record.agreements[0]
    verdicts = {(one.query_id, one.target): one.label for one in own.store.get_lines(Judgement, own.record.judgements)}
    cells = Counter((true, verdicts[key] == "supported") for key, true in own.truth.items())
    assert (whole.about, whole.class_, whole.items, whole.unjudged) == ("claim", None, 120, 0)
    assert whole.sensitivity == cells[True, True] / (cells[True, True] + cells[True, False])
    assert whole.specificity == cells[False, False] / (cells[False, False] + cells[False, True])
    same = sum(verdicts[key] == ("supported" if true else "unsupported") for key, true in own.truth.items())
    assert whole.raw == same / 120
    assert whole.confusion["supported"]["supported"] == cells[True, True]
    assert whole.kappa_interval is not None
    assert whole.kappa_interval.clusters == 60  # questions, not claims
    assert {one.class_ for one in found.record.agreements} == {None, "answerable", "multi_hop"}
    assert sum(one.items for one in found.record.agreements if one.class_) == 120
    assert (found.record.drawn, found.record.raters, found.record.judge) == ("random", 1, own.record.judge)
    assert [(one.amount, one.currency) for one in found.record.cost] == [(60.0, "EUR")]
    names = {one.name: one for one in found.record.biases}
    assert names["length"].value is not None
    assert names["own_phrasing"].absent == "one_generator"
    run = own.store.get_record(Run, own.run)
    assert of_judges(own.store, run, ["words"]).calibrations == {"words": found.digest}


def test_any_change_of_the_judge_expires_its_calibration(own: Judged, tmp_path: Path) -> None:
    import msgspec

    from ragassay.records.judgement import JudgeIdentity
    from ragassay.score.named import judgements_ref

    import_verdicts(own.store, own.run, filled(own, tmp_path / "a.jsonl"), author="anna", rubric="r")
    calibrate(own.store, own.run, "words")
    run = own.store.get_record(Run, own.run)
    other = own.store.put_record(JudgeIdentity(name="words", kind="lexical", settings={"version": "2"}))
    changed = own.store.put_record(msgspec.structs.replace(own.record, judge=other))
    own.store.set_ref(judgements_ref("words", run.identity()), changed, kind=JudgementSet)
    assert of_judges(own.store, run, ["words"]).calibrations == {}


def test_a_threshold_is_chosen_on_one_half_and_reported_on_the_other(own: Judged, tmp_path: Path) -> None:
    import_verdicts(own.store, own.run, filled(own, tmp_path / "a.jsonl", size=120), author="anna", rubric="r")
    found = calibrate(own.store, own.run, "words", fit=True)
    whole = found.record.agreements[0]
    assert found.record.threshold is not None
    assert found.record.fitted is not None
    assert found.record.fitted + whole.items + whole.unjudged == 120
    assert whole.items >= 40
    plain = calibrate(own.store, own.run, "words", threshold=found.record.threshold)
    assert plain.record.agreements[0].items == 120
    assert plain.record.fitted is None


def test_of_several_people_the_majority_counts_and_even_splits_are_left_out(own: Judged, tmp_path: Path) -> None:
    right = filled(own, tmp_path / "a.jsonl", size=40)
    import_verdicts(own.store, own.run, right, author="anna", rubric="r")
    import_verdicts(own.store, own.run, filled(own, tmp_path / "b.jsonl", size=40, wrong=10), author="bo", rubric="r")
    two = calibrate(own.store, own.run, "words")
    assert (two.tied, two.record.agreements[0].items, two.record.raters) == (10, 30, 2)
    import_verdicts(own.store, own.run, right, author="cy", rubric="r")
    three = calibrate(own.store, own.run, "words")
    assert (three.tied, three.record.agreements[0].items, three.record.raters) == (0, 40, 3)
    assert calibrate(own.store, own.run, "words", people=["anna"]).record.agreements[0] == three.record.agreements[0]


def test_without_people_or_judge_nothing_is_calibrated(made: Judged) -> None:
    with pytest.raises(UsageError, match="no person has ruled"):
        calibrate(made.store, made.run, "words")
    with pytest.raises(UsageError, match="ghost has not judged this run"):
        calibrate(made.store, made.run, "ghost")
    with pytest.raises(UsageError, match="ghost has not judged this run"):
        draw(made.store, made.run, ["ghost"], size=3)
    assert Calibration.__doc__
