"""Small pictures as SVG text with presentation attributes and classes only (a strict CSP allows no style attribute)."""

from __future__ import annotations

from markupsafe import Markup, escape

from ragassay.records.score import Estimate
from ragassay.records.text import many
from ragassay.report.model import Distribution, Funnel, FunnelStep
from ragassay.report.words import number, value_text


def n(value: float) -> str:
    """A number of an attribute, with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def _svg(width: int, height: int, label: str, body: str, kind: str) -> Markup:
    return Markup(  # noqa: S704  the body is made here from numbers; the label is escaped
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(label)}">{body}</svg>'
    )


def _rect(x: float, y: float, width: float, height: float, kind: str, extra: str = "") -> str:
    return f'<rect class="{kind}" x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}"{extra}/>'


def track(one: Estimate, width: int = 108) -> Markup:
    """A value between 0 and 1 as a dot on a track, with its interval as a whisker."""
    if one.value is None or not 0 <= one.value <= 1:
        return Markup("")
    span = width - 12

    def at(value: float) -> float:
        return 6 + span * min(1.0, max(0.0, value))

    body = f'<line class="axis" x1="6" x2="{n(6 + span)}" y1="9" y2="9"/>'
    body += "".join(f'<line class="axis" x1="{n(at(x))}" x2="{n(at(x))}" y1="6" y2="12"/>' for x in (0, 0.5, 1))
    told = f"{one.value:.3f} on a scale from 0 to 1"
    if one.interval is not None:
        low, high = at(one.interval.low), at(one.interval.high)
        body += _rect(low, 6, max(1.0, high - low), 6, "whisker", ' rx="3"')
        told += f", interval {one.interval.low:.3f} to {one.interval.high:.3f}"
    body += f'<circle class="dot" cx="{n(at(one.value))}" cy="9" r="4.5"/>'
    return _svg(width, 18, told, body, "track")


def holding_bar(step: FunnelStep, facts: int, width: int = 260) -> Markup:
    """How many of all facts a step's output holds, cannot be told, and does not hold."""
    if not facts:
        return Markup("")
    held, unknown = width * step.held / facts, width * step.unknown / facts
    absent = width * step.absent / facts
    body = _rect(0.5, 0.5, width - 1, 15, "empty", ' rx="2"')
    body += _rect(0, 0, held, 16, "held", ' rx="2"')
    if step.unknown:
        body += _rect(held, 0, unknown, 16, "unknown")
    if step.absent:
        body += _rect(width - absent, 0, absent, 16, "absent")
    told = f"{step.held} of {facts} held, {step.not_held} not held, {step.unknown} unknown, "
    told += f"{step.absent} without this step"
    return _svg(width, 16, told, body, "bar")


FATE_WORDS = {
    "held": "in the context",
    "lost_whole": "lost whole",
    "lost_in_parts": "lost in parts",
    "between": "lost between two steps",
    "never_found": "never found",
    "unknown": "cannot be told",
}


def fates_bar(funnel: Funnel, width: int = 720) -> Markup:
    """All facts of a class in one bar, by what became of them."""
    if not funnel.facts:
        return Markup("")
    body, x = "", 0.0
    for fate, count in funnel.fates.items():
        if count:
            wide = width * count / funnel.facts
            body += _rect(x, 0, max(0.0, wide - 1.5), 22, f"fate-{fate.replace('_', '-')}", ' rx="2"')
            x += wide
    told = ", ".join(f"{count} {FATE_WORDS[fate]}" for fate, count in funnel.fates.items() if count)
    return Markup(  # noqa: S704
        f'<svg class="fates" viewBox="0 0 {width} 22" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(told)}">{body}</svg>'
    )


def histogram(one: Distribution, width: int = 280, height: int = 118) -> Markup:
    """Bars of one distribution with the ends of the scale and the tallest count written on it."""
    top = max((bar.count for bar in one.bars), default=0)
    if not top:
        return Markup("")
    floor, roof = height - 20, 16
    each = width / len(one.bars)
    body = f'<line class="axis" x1="0" x2="{width}" y1="{floor}.5" y2="{floor}.5"/>'
    thick = min(each - 2, 26)
    for place, bar in enumerate(one.bars):
        left = place * each + (each - thick) / 2
        tall = (floor - roof) * bar.count / top
        exact = len(one.bars) > 1 and bar.low == bar.high
        if bar.count:
            name = (
                value_text(bar.low, one.unit)
                if exact
                else f"{value_text(bar.low, one.unit)} to {value_text(bar.high, one.unit)}"
            )
            body += (
                f'<rect class="{"held" if not exact else "exact"}" x="{n(left)}" y="{n(floor - max(1.5, tall))}" '
                f'width="{n(thick)}" height="{n(max(1.5, tall))}" rx="1">'
                f"<title>{escape(name)}: {bar.count}</title></rect>"
            )
            if bar.count == top or exact:
                body += _text(place * each + each / 2, floor - tall - 4, number(bar.count), "middle")
    body += _text(0, height - 5, _end(one.bars[0].low, one.unit), "start")
    body += _text(width, height - 5, _end(one.bars[-1].high, one.unit), "end")
    told = f"{one.measure}, {one.class_}: {many(one.scored, 'value')}, median {value_text(one.median, one.unit)}"
    return _svg(width, height, told, body, "histogram")


def _end(value: float, unit: str) -> str:
    return number(value) if unit in ("ratio", "0 or 1") else value_text(value, unit)


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{n(x)}" y="{n(y)}" text-anchor="{anchor}">{escape(words)}</text>'


HALLMARK = Markup(
    '<svg class="hallmark" viewBox="0 0 34 40" width="34" height="40" aria-hidden="true">'
    '<path d="M2 3h30v20c0 7-6 12-15 15C8 35 2 30 2 23z"/><path class="cut" d="M9 12l8-4 8 4M17 8v22M11 30h12'
    'M9 12l-4 9h8zM25 12l-4 9h8z"/></svg>'
)
