"""Paired effects on one axis as an SVG forest plot; a label outside it names each. Computes no effect."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from ragassay.records.comparison import Effect
from ragassay.report.dimensions import unit_of
from ragassay.report.svg import n
from ragassay.report.words import class_name, visible

WIDTH, LEFT, RIGHT, LINE = 920, 400, 130, 22
MOST = 24
RATIOS = ("ratio", "0 or 1")


def plotted(rows: Sequence[Effect]) -> list[Effect]:
    """Effects that fit one axis: ratios with an interval, the strongest against their width first, MOST of them."""
    fit = [one for one in rows if one.interval and one.effect is not None and unit_of(one.measure) in RATIOS]
    fit.sort(key=lambda one: -_strength(one))
    kept = {id(one) for one in fit[:MOST]}
    return [one for one in rows if id(one) in kept]


def _strength(one: Effect) -> float:
    assert one.interval is not None
    return abs(one.effect or 0.0) / ((one.interval.high - one.interval.low) / 2 or 1e-9)


def forest(rows: Sequence[Effect]) -> Markup:
    """A dot an effect, a whisker its interval, and a line where nothing differs. Right is more of the measure."""
    shown = plotted(rows)
    if not shown:
        return Markup("")
    most = max(max(abs(one.interval.low), abs(one.interval.high)) for one in shown if one.interval) or 0.01
    height = LINE * (len(shown) + 1) + 10
    middle, span = LEFT + (WIDTH - LEFT - RIGHT) / 2, (WIDTH - LEFT - RIGHT) / 2

    def x(value: float) -> float:
        return middle + span * value / most

    body = f'<line class="axis" x1="{n(middle)}" x2="{n(middle)}" y1="4" y2="{n(height - LINE)}"/>'
    for value in (-most, 0.0, most):
        body += f'<text x="{n(x(value))}" y="{n(height - 6)}" text-anchor="middle">{value:+.3f}</text>'
    for place, one in enumerate(shown):
        body += _line(one, place * LINE + 16, x)
    label = f"{len(shown)} paired effects with their intervals on one axis"
    return Markup(  # noqa: S704  made here from numbers and escaped words
        f'<svg class="forest" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">{body}</svg>'
    )


def _line(one: Effect, y: float, x: object) -> str:
    assert callable(x)
    assert one.interval is not None
    assert one.effect is not None
    name = f"{one.measure}{f' at {one.step}' if one.step else ''}, {class_name(one.population.class_)}"
    good = {"higher": one.effect > 0, "lower": one.effect < 0}.get(one.direction)
    sure = one.interval.low > 0 or one.interval.high < 0
    kind = "" if good is None or not sure else " better" if good else " worse"
    ends = f'x1="{n(x(one.interval.low))}" x2="{n(x(one.interval.high))}" y1="{n(y - 4)}" y2="{n(y - 4)}"'
    return (
        f'<text x="{LEFT - 12}" y="{n(y)}" text-anchor="end">{escape(visible(name[:70]))}</text>'
        f'<line class="reach{kind}" {ends}/><circle class="dot{kind}" cx="{n(x(one.effect))}" cy="{n(y - 4)}" r="4"/>'
        f'<text x="{WIDTH - RIGHT + 12}" y="{n(y)}">{one.effect:+.3f}</text>'
    )
