"""Questions are unpacked one by one and say the same; lines in any order give the same scorecard."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace

from tests.unit.report import sample
from tests.unit.report.many import many

from ragassay import report
from ragassay.report.packed import Packed, Questions


def test_questions_are_a_sequence_that_compares_like_a_tuple() -> None:
    found = report.build(sample.material()).questions
    assert isinstance(found, Questions)
    wanted = tuple(found)
    assert len(found) == len(wanted) == 11
    assert found == wanted
    assert found[-1] == wanted[-1]
    assert tuple(found[2:5]) == wanted[2:5]
    assert found != wanted[:-1]
    assert Questions([Packed()(one) for one in wanted]) == found


def test_the_order_of_the_lines_changes_nothing() -> None:
    made, chance = sample.material(), random.Random(7)
    first = b"".join(report.json_parts(report.build(made)))
    for _ in range(5):
        rows = {name: list(getattr(made, name)) for name in ("contents", "measurements")}
        for one in rows.values():
            chance.shuffle(one)
        again = b"".join(report.json_parts(report.build(replace(made, **rows))))
        assert again == first


def test_lines_of_questions_that_the_benchmark_does_not_have_are_no_questions() -> None:
    made = sample.material()
    fewer = report.build(replace(made, cases=made.cases[:-1]))
    assert [one.query_id for one in fewer.questions] == [one.query_id for one in made.cases[:-1]]


def test_a_question_takes_a_few_kilobytes() -> None:
    count = 550
    tracemalloc.start()
    card = many(count)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(card.questions) == count
    assert kept / count < 8_000, "about 80 kB each where they are not packed"
