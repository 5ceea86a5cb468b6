"""A scorecard as an HTML page that needs no script and no network. Computes no number and writes no file."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from ragassay.records.score import CLASS_ORDER, FIGURES, Estimate
from ragassay.report import advised, probed, svg, tied, words
from ragassay.report.data import text as data_text
from ragassay.report.dimensions import base_name, bounded, leading, shown_unit, unit_of
from ragassay.report.grounding.text import doubted
from ragassay.report.grounding.words import FAILURES, TOLD_BY
from ragassay.report.model import Dimension, Flag, Question, RepeatView, RuntimeRow, Scorecard, ScoreView
from ragassay.report.refusal import svg as refusal_svg
from ragassay.report.searches import ended, searches
from ragassay.report.trouble import rank

WARN_BYTES = 20_000_000
SHORT_TEXT = 160
FLAG_WORDS = {
    "lost": "Lost evidence",
    "never_found": "Never found",
    "failed": "Failed",
    "error": "Errors",
    "undefined": "Undefined",
    "missing": "Missing",
    "unjudged": "Unjudged",
    "denied": "Not theirs",
}


class Link(NamedTuple):
    """A page of questions: which ones, where, and whether it is this one."""

    first: int
    last: int
    href: str
    here: bool


class Brief(NamedTuple):
    """A question in few words: what lists, chips and the overview need of it."""

    query_id: str
    text: str
    """The beginning of the question."""
    class_: str
    outcomes: tuple[str, ...]
    flags: tuple[Flag, ...]
    facts: tuple[int, int]
    """Held, needed."""
    rank: int
    """`trouble.rank`."""


class Listing(NamedTuple):
    """The questions that stand on one page, and what a reader can choose among."""

    rows: Sequence[Markup]
    total: int
    """Questions of the whole report."""
    flags: Mapping[str, int]
    outcomes: Mapping[str, int]
    classes: Mapping[str, int]
    denied: Sequence[tuple[str, str]] = ()
    """(address, query_id) of the questions that showed what was not theirs."""
    links: Sequence[Link] = ()
    overview: Markup | None = None
    """All questions in few words as JSON, where some stand on other pages."""

    @property
    def ways(self) -> dict[str, int]:
        """The outcomes to choose among; that the system failed is already among what happened."""
        return {name: count for name, count in self.outcomes.items() if name != "failed"}


def html(scorecard: Scorecard) -> str:
    """One page with every question. Equal scorecards give equal bytes; see `weight_warning` for its size."""
    render = row_renderer(scorecard)
    rows, briefs = [], []
    for number, one in enumerate(scorecard.questions):
        rows.append(render(one, number))
        briefs.append(brief(one))
    denied = [(f"#q{number}", one.query_id) for number, one in enumerate(briefs) if "denied" in one.flags]
    return main_page(scorecard, listing(briefs, rows)._replace(denied=denied))


def row_renderer(scorecard: Scorecard) -> Callable[[Question, int], Markup]:
    """Renders one question as a row that opens; the number is its place in the scorecard and names its anchor."""
    row = _environment().get_template("question.html.j2").module.question  # type: ignore[attr-defined]
    return lambda one, number: row(one, number, scorecard)


def brief(question: Question) -> Brief:
    """A question in few words."""
    text = " ".join(question.query.text[:SHORT_TEXT].split())
    return Brief(
        question.query_id, text, question.class_, outcomes_of(question), question.flags, facts_of(question),
        rank(question),
    )  # fmt: skip


def listing(questions: Sequence[Brief], rows: Sequence[Markup]) -> Listing:
    """The given questions with their counts by what happened, outcome and class."""
    flags: Counter[str] = Counter(flag for one in questions for flag in one.flags)
    return Listing(
        rows=rows,
        total=len(questions),
        flags={name: flags[name] for name in FLAG_WORDS if flags[name] or name not in ("never_found", "denied")},
        outcomes=dict(Counter(name for one in questions for name in one.outcomes)),
        classes=dict(Counter(one.class_ for one in questions)),
    )


def main_page(scorecard: Scorecard, questions: Listing) -> str:
    """The scorecard with a list of questions."""
    return _environment().get_template("page.html.j2").render(card=scorecard, listing=questions, **frame())


def overflow_page(scorecard: Scorecard, questions: Listing, **places: Any) -> str:
    """A sibling page; `places`: first, last, and the addresses before, home and after."""
    template = _environment().get_template("overflow.html.j2")
    return template.render(card=scorecard, listing=questions, **places, **frame())


@cache
def frame() -> dict[str, Any]:
    """Style, script and the policy that allows these two and nothing else."""
    style, script = _asset("page.css"), _asset("page.js")
    return {
        "style": Markup(style),  # noqa: S704  our own files, and the policy holds their hashes
        "script": Markup(script),  # noqa: S704
        "policy": f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
    }


def weight_warning(page: str) -> str | None:
    """A warning for a page of more than WARN_BYTES, with what to do; None for one that mails well."""
    size = len(page.encode("utf-8"))
    if size <= WARN_BYTES:
        return None
    most = f"{WARN_BYTES / 1e6:.0f} MB"
    return f"the page is {size / 1e6:.0f} MB; browsers get slow above {most}: `--layout pages` spreads it over several"


def environment() -> jinja2.Environment:
    """The templates with escaping on; every text that they print passes `words.visible` first."""
    return _environment()


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("ragassay.report", "templates"),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals.update(
        svg=svg,
        refusal_svg=refusal_svg,
        hallmark=svg.HALLMARK,
        matrix=matrix,
        probe_heads=probed.HEADS,
        advice_head=advised.HEAD,
        tied_scores=tied.spread,
        tied_why=tied.why,
        score_grid=score_grid,
        whole_scores=whole_scores,
        searches=searches,
        ended=ended,
        pieces=pieces,
        outcomes_of=outcomes_of,
        why=why,
        track=lambda one: svg.track(one) if bounded(one.measure) else "",
        value=lambda one: words.value_text(one.value, shown_unit(one)),
        unit_of=unit_of,
        shown_unit=shown_unit,
        leading=leading,
        pairs=pairs,
        first_measures=first_measures,
        silent=silent,
        quiet=quiet,
        value_text=words.value_text,
        of=words.of,
        many=words.many,
        number=words.number,
        short=words.short,
        class_name=words.class_name,
        not_measured=words.NOT_MEASURED,
        flag_words=FLAG_WORDS,
        class_words={name: words.class_name(name) for name in CLASS_ORDER},
        fate_words=svg.FATE_WORDS,
        facts_of=facts_of,
        doubted=lambda measure, card: doubted(measure, card.judges),
        failure_words=FAILURES,
        told_words=TOLD_BY,
        unrecorded=lambda card: data_text.unrecorded(card.five),
    )
    return made


def _shown(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return words.visible(value)
    return value


def _asset(name: str) -> str:
    return (files("ragassay.report") / "templates" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def outcomes_of(question: Question) -> tuple[str, ...]:
    """The different outcomes of a question's repeats, in the order they came."""
    return tuple(dict.fromkeys(_did(one) for one in question.repeats))


def _did(one: RepeatView) -> str:
    if one.failure:
        return "failed"
    return one.outcome or ("empty" if one.answer is not None and not one.answer.text.strip() else "not said")


def facts_of(question: Question) -> tuple[int, int]:
    """(held, needed): required facts of a question over its repeats."""
    fates = [fate.fate for one in question.repeats for fate in one.fates if fate.required]
    return fates.count("held"), len(fates)


def why(reasons: dict[str, int]) -> str:
    """`nothing relevant ×2, timeout ×1`."""
    return ", ".join(f"{name.replace('_', ' ')} ×{count}" for name, count in sorted(reasons.items()))


class GridRow(NamedTuple):
    """A measure of one class (or of one question) at every step."""

    class_: str
    measure: str
    cells: list[Any]


class Pair(NamedTuple):
    """A mean over questions, and beside it the same over items where both are given."""

    row: Estimate
    items: Estimate | None


SHOWN = 3
"""Measures of a dimension that stand in the open; the others are one click away."""


def first_measures(dimension: Dimension) -> set[str]:
    """One spelling each of the first SHOWN measures that have a value."""
    names: dict[str, str] = {}
    for one in dimension.headline:
        if one.status == "value":
            names.setdefault(base_name(one.measure), one.measure)
    return set(list(names.values())[:SHOWN])


def pairs(dimension: Dimension) -> list[Pair]:
    """The headline rows that have a value."""
    lead = [one for one in leading(dimension.headline) if one.status == "value"]
    micro = {(one.measure, one.population, one.step): one for one in dimension.headline if one.aggregation == "micro"}
    found = [micro.get((one.measure, one.population, one.step)) for one in lead]
    return [Pair(one, other if other is not one else None) for one, other in zip(lead, found, strict=True)]


class Silent(NamedTuple):
    """Measures of one class that have no value for the same reasons and in the same counts."""

    first: Estimate
    measures: list[str]


def silent(dimension: Dimension) -> list[Silent]:
    """The headline rows without a value, those with equal counts and reasons together."""
    groups: dict[tuple[Any, ...], Silent] = {}
    for one in leading(dimension.headline):
        if one.status != "value":
            counts = (one.attempted, one.undefined, one.missing, one.error)
            key = (one.population.class_, one.status, counts, tuple(sorted(one.reasons.items())))
            groups.setdefault(key, Silent(one, [])).measures.append(one.measure)
    return list(groups.values())


class Quiet(NamedTuple):
    """Runtime measures of one class that nobody reported, in the same counts."""

    first: RuntimeRow
    measures: list[str]


def quiet(scorecard: Scorecard) -> list[Quiet]:
    """The runtime rows without a figure, those with equal counts together."""
    groups: dict[tuple[Any, ...], Quiet] = {}
    for one in scorecard.runtime:
        if not one.figures and not one.at_least:
            key = (one.class_, one.attempted, one.undefined, one.missing, one.error, one.censored)
            groups.setdefault(key, Quiet(one, [])).measures.append(one.measure)
    return list(groups.values())


def matrix(scorecard: Scorecard, dimension: Dimension) -> list[GridRow]:
    """The dimension's measures at every step, by class; None where a step has no measurement."""
    names = {base_name(row.measure) for row in dimension.headline}
    cells: dict[tuple[str, str], dict[str, Estimate]] = {}
    for one in scorecard.estimates:
        if base_name(one.measure) in names and one.population.slice is None and one.step and one.aggregation in FIGURES:
            cells.setdefault((one.population.class_, one.measure), {}).setdefault(one.step, one)
    order = list(dict.fromkeys((row.population.class_, row.measure) for row in dimension.headline))
    rows = [GridRow(*key, [cells[key].get(step) for step in scorecard.steps]) for key in order if key in cells]
    return [row for row in rows if any(cell is not None and cell.status == "value" for cell in row.cells)]


def score_grid(repeat: RepeatView) -> tuple[list[str], list[GridRow]]:
    """(steps, rows) of the scores of one question that belong to a step."""
    own = [one for one in repeat.scores if one.step is not None]
    names = [step.name for step in repeat.steps]
    steps = sorted(
        dict.fromkeys(one.step or "" for one in own),
        key=lambda step: (names.index(step) if step in names else len(names), step),
    )
    rows: dict[str, dict[str, ScoreView]] = {}
    for one in own:
        rows.setdefault(f"{one.measure} {one.target}" if one.target else one.measure, {})[one.step or ""] = one
    return steps, [GridRow("", measure, [cells.get(step) for step in steps]) for measure, cells in rows.items()]


def whole_scores(repeat: RepeatView) -> list[ScoreView]:
    """The scores of one question that concern all of it; those of single claims stand with the claims."""
    return [one for one in repeat.scores if one.step is None and (one.target is None or "by=" not in one.measure)]


class Piece(NamedTuple):
    """A stretch of the answer and the citations that stand after it."""

    text: str
    marks: list[int]


def pieces(repeat: RepeatView) -> list[Piece]:
    """The shown answer cut at its citations."""
    if repeat.answer is None:
        return []
    text = repeat.answer.text
    marks: dict[int, list[int]] = {}
    for one in repeat.citations or ():
        if one.end is not None and one.end <= len(text):
            marks.setdefault(one.end, []).append(one.number)
    made, start = [], 0
    for end in sorted(marks):
        made.append(Piece(text[start:end], marks[end]))
        start = end
    return [*made, Piece(text[start:], [])]
