"""A risk-coverage curve and a reliability diagram as SVG. Computes no figure."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from ragassay.measures import parse
from ragassay.records.score import Estimate
from ragassay.report.refusal.model import Bin, Confident, Point
from ragassay.report.svg import n
from ragassay.report.words import class_name, number

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 460, 260, 64, 38, 12, 14


def coverage_of(one: Estimate) -> float:
    """The coverage that a spelling of selective_risk declares."""
    return float(parse(one.measure).get("coverage") or 0.0)


def _x(value: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * value


def _y(value: float, most: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(1.0, value / most)


def roof(one: Confident) -> float:
    """The top of the axis of risk: a round number that the curve and the intervals stay below."""
    values = [point.risk for point in one.points]
    values += [risk.interval.high for risk in one.risks if risk.interval]
    return next((step for step in (0.1, 0.2, 0.5) if max(values, default=1.0) <= step), 1.0)


def curve(one: Confident) -> Markup:
    """Risk by coverage, and at each declared coverage its risk with the interval.

    A coverage between two thresholds has the risk of the lower one, since equal confidences are never parted.
    """
    if not one.points:
        return Markup("")
    most = roof(one)
    body = _frame(most, "share of all questions answered", "share wrong of those answered")
    first = one.points[0]
    path = f"M{n(_x(0))} {n(_y(first.risk, most))}H{n(_x(first.coverage))}"
    path += "".join(f"V{n(_y(point.risk, most))}H{n(_x(point.coverage))}" for point in one.points[1:])
    body += f'<path class="way" d="{path}"/>'
    if len(one.points) <= 40:
        body += "".join(_dot(point, most) for point in one.points)
    for risk in one.risks:
        body += _declared(risk, most)
    last = one.points[-1]
    told = (
        f"Risk by coverage, {class_name(one.class_)}: {len(one.points)} thresholds; all {last.taken} decisions are "
        f"{last.coverage:.3f} of the questions and {last.risk:.3f} of them are wrong"
    )
    for risk in one.risks:
        told += f"; {_told(risk)}"
    return _svg("curve", told, body)


def _told(risk: Estimate) -> str:
    if risk.value is None:
        return f"at coverage {coverage_of(risk):g} {risk.status}, {(risk.reason or '').replace('_', ' ')}"
    inside = f", {risk.interval.low:.3f} to {risk.interval.high:.3f}" if risk.interval else ""
    return f"at coverage {coverage_of(risk):g} the risk is {risk.value:.3f}{inside}"


def _dot(point: Point, most: float) -> str:
    told = f"confidence {point.threshold:g} or more: {point.taken} answered, {point.wrong} wrong"
    return (
        f'<circle class="at" cx="{n(_x(point.coverage))}" cy="{n(_y(point.risk, most))}" r="2.5">'
        f"<title>{escape(told)}</title></circle>"
    )


def _declared(risk: Estimate, most: float) -> str:
    """A dashed line at the declared coverage, and on it the risk as a square with its interval."""
    x = _x(coverage_of(risk))
    body = f'<line class="cut" x1="{n(x)}" x2="{n(x)}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
    if risk.value is None:
        return body
    if risk.interval is not None:
        low, high = _y(risk.interval.low, most), _y(risk.interval.high, most)
        body += f'<line class="whisk" x1="{n(x)}" x2="{n(x)}" y1="{n(low)}" y2="{n(high)}"/>'
        body += f'<path class="whisk" d="M{n(x - 5)} {n(low)}h10M{n(x - 5)} {n(high)}h10"/>'
    y = _y(risk.value, most)
    return f'{body}<rect class="mark" x="{n(x - 4)}" y="{n(y - 4)}" width="8" height="8"/>'


def reliability(bins: Sequence[Bin], class_: str) -> Markup:
    """Share right against mean confidence of each bin, with the diagonal of perfect calibration; area by n."""
    if not bins:
        return Markup("")
    body = _frame(1.0, "mean confidence", "share right")
    body += f'<line class="cut" x1="{n(_x(0))}" y1="{n(_y(0, 1))}" x2="{n(_x(1))}" y2="{n(_y(1, 1))}"/>'
    most = max(one.n for one in bins)
    for one in bins:
        x, y, level = _x(one.confidence), _y(one.right / one.n, 1), _y(one.confidence, 1)
        told = f"{one.low:.3f} to {one.high:.3f}: {one.n} answers, confidence {one.confidence:.3f}, {one.right} right"
        size = 2.5 + 5 * (one.n / most) ** 0.5
        body += f'<line class="gap" x1="{n(x)}" x2="{n(x)}" y1="{n(level)}" y2="{n(y)}"/>'
        body += f'<circle class="at" cx="{n(x)}" cy="{n(y)}" r="{n(size)}"><title>{escape(told)}</title></circle>'
    return _svg("curve", f"Reliability, {class_name(class_)}: {len(bins)} bins; the table beside says each", body)


def _frame(most: float, across: str, up: str) -> str:
    floor = HEIGHT - BOTTOM
    body = ""
    for part in range(5):
        value = part / 4
        body += f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{n(_y(value * most, most))}" '
        body += f'y2="{n(_y(value * most, most))}"/>'
        body += (
            f'<text x="{LEFT - 6}" y="{n(_y(value * most, most) + 4)}" text-anchor="end">{number(value * most)}</text>'
        )
        body += f'<text x="{n(_x(value))}" y="{floor + 15}" text-anchor="middle">{number(value, 2)}</text>'
    body += f'<path class="axis" d="M{LEFT} {TOP}V{floor}H{WIDTH - RIGHT}"/>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    body += f'<text x="{n(middle)}" y="{HEIGHT - 6}" text-anchor="middle">{escape(across)}</text>'
    side = n((TOP + floor) / 2)
    return f'{body}<text x="11" y="{side}" text-anchor="middle" transform="rotate(-90 11 {side})">{escape(up)}</text>'


def _svg(kind: str, label: str, body: str) -> Markup:
    return Markup(  # noqa: S704  made here from numbers and escaped words
        f'<svg class="{kind}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{escape(label)}">{body}</svg>'
    )
