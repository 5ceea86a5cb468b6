"""A report of many questions as several pages: every question once, links that hold, the overview right."""

from __future__ import annotations

import json
import posixpath
import re
import tracemalloc
from pathlib import Path

import pytest
from tests.unit.report import sample
from tests.unit.report.many import many
from tests.unit.report.test_renderings import read

from ragassay import report
from ragassay.cli.report import write_report
from ragassay.report import page, pages
from ragassay.report.trouble import rank

COUNT = 620


@pytest.fixture(scope="module")
def card() -> report.Scorecard:
    return many(COUNT)


@pytest.fixture(scope="module")
def made(card: report.Scorecard) -> dict[str, str]:
    return {one.path: one.text for one in report.files(card)}


def anchors(text: str) -> list[str]:
    return re.findall(r'<details class="q" id="(q\d+)"', text)


def test_every_question_stands_on_one_page_the_worst_first(card: report.Scorecard, made: dict[str, str]) -> None:
    assert list(made)[-1] == "scorecard.html", "who finds the first page finds all"
    order = ["scorecard.html", *sorted(set(made) - {"scorecard.html"})]
    assert order[1:] == [
        "scorecard-questions/0001.html",
        "scorecard-questions/0002.html",
        "scorecard-questions/0003.html",
    ]
    found = [int(one[1:]) for path in order for one in anchors(made[path])]
    assert sorted(found) == list(range(COUNT))
    ranks = [rank(card.questions[number]) for number in found]
    assert ranks == sorted(ranks)
    assert [len(anchors(made[path])) for path in order] == [100, 200, 200, 120]


def test_every_link_leads_to_a_page_and_an_anchor_that_are_there(made: dict[str, str]) -> None:
    for path, text in made.items():
        for tag, attributes in read(text).tags:
            href = attributes.get("href")
            if tag != "a" or href is None:
                continue
            target, _, anchor = href.partition("#")
            assert not re.match("[a-z]+:|/", href), href
            whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            assert whole in made, (path, href)
            assert not anchor or f'id="{anchor}"' in made[whole], (path, href)


def test_pages_have_the_same_strict_policy_and_no_more_scripts(made: dict[str, str]) -> None:
    policies = {re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1] for text in made.values()}  # type: ignore[index]
    assert len(policies) == 1
    assert policies.pop().startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    for path, text in made.items():
        kinds = [attributes.get("type") for tag, attributes in read(text).tags if tag == "script"]
        assert kinds == (["application/json", None] if path == "scorecard.html" else [None])


def test_the_overview_says_of_every_question_what_its_row_says(card: report.Scorecard, made: dict[str, str]) -> None:
    text = made["scorecard.html"]
    stored = re.search(r'<script type="application/json" id="index">(.*?)</script>', text, re.DOTALL)
    assert stored is not None
    assert not set(stored[1]) & set("<>&\u202e\x1b")
    index = json.loads(stored[1])
    names = index["names"]
    assert len(index["rows"]) == COUNT
    for number, query_id, query, class_, outcomes, flags, held, needed in index["rows"]:
        question = card.questions[number]
        assert query_id == question.query_id[:64]
        assert query[:20] in " ".join(page._shown(question.query.text).split())
        assert names["class"][class_] == question.class_
        assert [one for bit, one in enumerate(names["flag"]) if flags >> bit & 1] == [
            one for one in names["flag"] if one in question.flags
        ]
        assert {one for bit, one in enumerate(names["outcome"]) if outcomes >> bit & 1} == {
            one.replace(" ", "-") for one in page.outcomes_of(question)
        }
        assert (held, needed) == page.facts_of(question)
    starts = [start for _, start in index["pages"]]
    assert starts == [0, 100, 300, 500]


def test_small_runs_stay_one_file_in_the_order_of_the_benchmark() -> None:
    card = report.build(sample.material())
    (only,) = report.files(card)
    assert only.path == "scorecard.html"
    assert only.text == report.html(card)
    assert len(list(report.files(card, layout="pages"))) == 1
    (single,) = report.files(many(520), layout="single")
    assert len(anchors(single.text)) == 520


def test_heavy_questions_end_a_page_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE_BYTES", 50_000)
    made = list(report.files(many(60), layout="pages"))
    assert len(made) == 5
    assert sorted(int(one[1:]) for file in made for one in anchors(file.text)) == list(range(60))


def test_pages_of_an_earlier_report_go_and_nothing_else_does(tmp_path: Path) -> None:
    folder = tmp_path / "scorecard-questions"
    folder.mkdir()
    (folder / "0007.html").write_text("old")
    (folder / "mine.txt").write_text("mine")
    write_report(many(310), tmp_path, ("html",), "pages")
    assert sorted(one.name for one in folder.iterdir()) == ["0001.html", "0002.html", "mine.txt"]
    (folder / "mine.txt").unlink()
    write_report(many(11), tmp_path, ("html",))
    assert [one.name for one in tmp_path.iterdir()] == ["scorecard.html"]


def test_json_in_parts_is_the_json() -> None:
    few = many(23)
    assert json.loads(b"".join(report.json_parts(few))) == json.loads(json.dumps(report.to_json(few)))
    none = report.build(sample.material(cases=(), contents=(), measurements=(), observations=(), runtime=(), fates=()))
    assert json.loads(b"".join(report.json_parts(none))) == json.loads(json.dumps(report.to_json(none)))


def test_memory_of_the_pages_does_not_grow_with_their_number() -> None:
    def peak(card: report.Scorecard) -> int:
        tracemalloc.start()
        for _ in report.files(card, layout="pages"):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    small, large = many(330), many(990)
    peak(small)
    assert peak(large) < 1.5 * peak(small)
