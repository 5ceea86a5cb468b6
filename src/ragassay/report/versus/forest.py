"""Paired effects on one axis as an SVG forest plot, and the spread of one effect as a strip. Computes no effect."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from ragassay.records.comparison import Effect
from ragassay.report.dimensions import unit_of
from ragassay.report.svg import n
from ragassay.report.versus.say import apart, better, signed, unit_for
from ragassay.report.words import class_name, visible

WIDTH, LEFT, RIGHT, LINE = 920, 390, 190, 22
MOST = 24
RATIOS = ("ratio", "0 or 1")
NAME = 62
Scale = Callable[[float], float]


def plotted(rows: Sequence[Effect]) -> list[Effect]:
    """Effects that fit one axis: ratios with an interval, the strongest against their width first, MOST of them.

    They stand in the order of `rows`, so that those of one class stay together.
    """
    fit = [one for one in rows if one.interval and one.effect is not None and unit_of(one.measure) in RATIOS]
    fit.sort(key=lambda one: -_strength(one))
    kept = {id(one) for one in fit[:MOST]}
    return [one for one in rows if id(one) in kept]


def _strength(one: Effect) -> float:
    assert one.interval is not None
    return abs(one.effect or 0.0) / ((one.interval.high - one.interval.low) / 2 or 1e-9)


def forest(rows: Sequence[Effect]) -> Markup:
    """A mark an effect, a whisker its interval, and a line where nothing differs. Right is more of the measure.

    An effect that the paired test tells from chance is a filled triangle that points up for better and down for worse,
    and says so in words; any other is a ring. Colour repeats that and adds nothing. The label says all of it in text.
    """
    shown = plotted(rows)
    if not shown:
        return Markup("")
    most = max(max(abs(one.interval.low), abs(one.interval.high)) for one in shown if one.interval) or 0.01
    height = LINE * (len(shown) + 1) + 14
    middle, span = LEFT + (WIDTH - LEFT - RIGHT) / 2, (WIDTH - LEFT - RIGHT) / 2

    def x(value: float) -> float:
        return middle + span * value / most

    foot = height - LINE
    body = f'<text class="ends" x="{n(middle - span)}" y="11" text-anchor="start">less now</text>'
    body += f'<text class="ends" x="{n(middle + span)}" y="11" text-anchor="end">more now</text>'
    for value in ticks(most):
        kind = "axis" if value == 0 else "rule"
        body += f'<line class="{kind}" x1="{n(x(value))}" x2="{n(x(value))}" y1="16" y2="{n(foot)}"/>'
        body += f'<text x="{n(x(value))}" y="{n(foot + 14)}" text-anchor="middle">{_tick(value)}</text>'
    for place, one in enumerate(shown):
        body += _line(one, place * LINE + 32, x)
    told = "; ".join(_told(one) for one in shown)
    label = f"{len(shown)} paired effects with their intervals on one axis. {told}."
    return Markup(  # noqa: S704  made here from numbers and escaped words
        f'<svg class="forest" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(visible(label))}">'
        f"{body}</svg>"
    )


def ticks(most: float) -> list[float]:
    """About seven round values from -most to most, zero among them."""
    step = 10.0 ** math.floor(math.log10(most))
    step *= next(times for times in (0.1, 0.2, 0.5, 1, 2, 5) if most / (step * times) <= 4)
    count = math.floor(most / step + 1e-9)
    return [place * step for place in range(-count, count + 1)]


def _tick(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−") if value else "0"


def _told(one: Effect) -> str:
    assert one.interval is not None
    unit = unit_for(one)
    low, high = signed(one.interval.low, unit), signed(one.interval.high, unit)
    doubt = " (may cover less than its level)" if one.doubt else ""
    return f"{_name(one)}: {signed(one.effect, unit)}, {low} to {high}{doubt}, {_word(one) or 'not told from chance'}"


def _name(one: Effect) -> str:
    return f"{one.measure}{f' at {one.step}' if one.step else ''}, {class_name(one.population.class_)}"


def _word(one: Effect) -> str:
    """What the mark says: better, worse, other (no direction), or nothing."""
    side = better(one)
    return "" if not apart(one) or not one.effect else "other" if side is None else "better" if side else "worse"


def _line(one: Effect, y: float, x: Scale) -> str:
    assert one.interval is not None
    assert one.effect is not None
    word = _word(one)
    low, high, at, level = n(x(one.interval.low)), n(x(one.interval.high)), x(one.effect), n(y - 4)
    name = visible(_name(one))
    name = name if len(name) <= NAME else f"{name[: NAME - 1]}…"
    kind = (f" {word}" if word else "") + (" doubtful" if one.doubt else "")
    value = signed(one.effect, unit_for(one)) + (" ?" if one.doubt else "")
    return (
        f'<text class="name" x="{LEFT - 14}" y="{n(y)}" text-anchor="end">{escape(name)}</text>'
        f'<g class="effect{kind}"><line class="reach" x1="{low}" x2="{high}" y1="{level}" y2="{level}"/>'
        f'<path class="end" d="M{low} {n(y - 8)}v8M{high} {n(y - 8)}v8"/>{_mark(word, at, y - 4)}</g>'
        f'<text class="value" x="{WIDTH - RIGHT + 14}" y="{n(y)}">{value}{f" {word}" if word else ""}</text>'
    )


def _mark(word: str, x: float, y: float) -> str:
    """Triangle up, triangle down, square or ring."""
    if word == "better":
        return f'<path class="mark" d="M{n(x)} {n(y - 6)}l6 10h-12z"/>'
    if word == "worse":
        return f'<path class="mark" d="M{n(x)} {n(y + 6)}l6 -10h-12z"/>'
    if word == "other":
        return f'<rect class="mark" x="{n(x - 4)}" y="{n(y - 4)}" width="8" height="8"/>'
    return f'<circle class="mark ring" cx="{n(x)}" cy="{n(y)}" r="4"/>'


def strip(one: Effect, width: int = 92) -> Markup:
    """The differences of single questions: 5th to 95th percentile, the middle half thick, the median a cut."""
    if len(one.quantiles) != 7:
        return Markup("")
    least, q5, q25, q50, q75, q95, greatest = one.quantiles
    most = max(abs(least), abs(greatest)) or 1.0

    def x(value: float) -> str:
        return n(width / 2 + (width / 2 - 3) * value / most)

    unit = unit_for(one)
    names = ("least", "5 %", "25 %", "median", "75 %", "95 %", "greatest")
    told = ", ".join(f"{name} {signed(value, unit)}" for name, value in zip(names, one.quantiles, strict=True))
    body = f'<line class="axis" x1="{n(width / 2)}" x2="{n(width / 2)}" y1="1" y2="17"/>'
    body += f'<line class="reach" x1="{x(q5)}" x2="{x(q95)}" y1="9" y2="9"/>'
    body += f'<line class="half" x1="{x(q25)}" x2="{x(q75)}" y1="9" y2="9"/>'
    body += "".join(f'<circle class="far" cx="{x(one)}" cy="9" r="1.5"/>' for one in (least, greatest))
    body += f'<line class="middle" x1="{x(q50)}" x2="{x(q50)}" y1="4" y2="14"/>'
    return Markup(  # noqa: S704
        f'<svg class="strip" viewBox="0 0 {width} 18" width="{width}" height="18" role="img" '
        f'aria-label="Differences of single questions: {escape(told)}"><title>{escape(told)}</title>{body}</svg>'
    )
