"""The HTML report as files: one page for a run of hundreds; for thousands the scorecard and sibling pages of questions.

Renders one page at a time and writes none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from markupsafe import Markup

from ragassay.report import page
from ragassay.report.model import Scorecard
from ragassay.report.page import Brief
from ragassay.report.words import visible

Layout = Literal["auto", "single", "pages"]
MOST_ON_ONE = 500
"""Questions of a report that is one file, where nothing else is asked for."""
FIRST = 100
"""Questions on the page of the scorecard, where there are sibling pages."""
EACH = 200
"""Questions of a sibling page."""
PAGE_BYTES = 4_000_000
"""Of the questions of one page; a page that has more ends early."""


class File(NamedTuple):
    """A file of the report: its path below the report's folder, with `/`, and its text."""

    path: str
    text: str


class _Place(NamedTuple):
    """Where a page is, and the positions of its questions."""

    path: str
    first: int
    end: int


def folder_of(name: str) -> str:
    """The folder of the sibling pages of `NAME.html`."""
    return f"{name}-questions"


def files(card: Scorecard, *, name: str = "scorecard", layout: Layout = "auto") -> Iterator[File]:
    """The files of a report, its first page last, so that whoever finds that finds all.

    With `auto` a report of up to MOST_ON_ONE questions is one file, in the order of the benchmark. With sibling pages
    the questions are ordered by `trouble.ORDER`, then as in the benchmark; links are relative and hold from a disk.
    Memory is that of one page and of the overview, some hundred bytes a question.
    """
    if layout == "single" or (layout == "auto" and len(card.questions) <= MOST_ON_ONE):
        yield File(f"{name}.html", page.html(card))
        return
    briefs = [page.brief(one) for one in card.questions]
    order = sorted(range(len(briefs)), key=lambda number: briefs[number].rank)
    questions = [briefs[number] for number in order]
    render = page.row_renderer(card)
    places: list[_Place] = []
    opening: list[Markup] = []
    at = 0
    while at < len(order) or not places:
        rows: list[Markup] = []
        size, most = 0, EACH if places else FIRST
        while at + len(rows) < len(order) and len(rows) < most and size < PAGE_BYTES:
            number = order[at + len(rows)]
            rows.append(render(card.questions[number], number))
            size += len(rows[-1])
        path = f"{folder_of(name)}/{len(places):04d}.html" if places else f"{name}.html"
        places.append(_Place(path, at, at + len(rows)))
        at += len(rows)
        if len(places) == 1:
            opening = rows
        else:
            yield File(path, _sibling(card, name, questions, places[-2:], rows))
    yield File(f"{name}.html", _main(card, questions, order, opening, places))


def _sibling(
    card: Scorecard, name: str, questions: Sequence[Brief], places: Sequence[_Place], rows: Sequence[Markup]
) -> str:
    before, here = places
    number = int(here.path.rpartition("/")[2].removesuffix(".html"))
    return page.overflow_page(
        card,
        page.listing(questions[here.first : here.end], rows)._replace(total=len(questions)),
        first=here.first + 1,
        last=here.end,
        home=f"../{name}.html#questions",
        before=f"../{before.path}" if number == 1 else before.path.rpartition("/")[2],
        after=f"{number + 1:04d}.html" if here.end < len(questions) else None,
    )


def _main(
    card: Scorecard,
    questions: Sequence[Brief],
    order: Sequence[int],
    rows: Sequence[Markup],
    places: Sequence[_Place],
) -> str:
    addresses = [
        (order[at], f"{'' if place is places[0] else place.path}#q{order[at]}", questions[at].query_id)
        for place in places
        for at in range(place.first, place.end)
        if "denied" in questions[at].flags
    ]
    found = page.listing(questions, rows)._replace(
        denied=[(address, query_id) for _, address, query_id in sorted(addresses)],
        links=[page.Link(one.first + 1, one.end, one.path, here=one is places[0]) for one in places],
    )
    return page.main_page(card, found._replace(overview=overview(found, questions, order, places)))


def overview(
    listing: page.Listing, questions: Sequence[Brief], order: Sequence[int], places: Sequence[tuple[str, int, int]]
) -> Markup:
    """All questions in few words as JSON that can stand inside a script element: `<`, `>` and `&` are escapes.

    `names` holds what the numbers of a row mean. A row is [anchor, id, text, class, outcomes, flags, facts held, facts
    needed]; outcomes and flags are sums of powers of two.
    """
    classes, outcomes, flags = list(listing.classes), list(listing.outcomes), list(listing.flags)

    def bits(names: list[str], had: Sequence[str]) -> int:
        return sum(1 << names.index(one) for one in had)

    rows = [
        [
            number,
            visible(one.query_id[:64]),
            visible(one.text),
            classes.index(one.class_),
            bits(outcomes, one.outcomes),
            bits(flags, one.flags),
            *one.facts,
        ]
        for number, one in zip(order, questions, strict=True)
    ]
    whole = {
        "names": {
            "class": classes,
            "outcome": [name.replace(" ", "-") for name in outcomes],
            "flag": flags,
        },
        "pages": [list(one)[:2] for one in places],
        "rows": rows,
    }
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    for one in "<>&":
        text = text.replace(one, f"\\u{ord(one):04x}")
    return Markup(text)  # noqa: S704  no character is left in it that ends or opens markup
